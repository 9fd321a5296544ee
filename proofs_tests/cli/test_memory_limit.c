// test_memory_limit.c: what cli_memory makes of control groups, in trees of files like the kernel's: version
// 1 and 2, limits of a group, of one above it, of a container that sees its own group as the root.
#include "proofs_tests/support/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static char root[] = "/tmp/seqmix-groups-XXXXXX";

static void put(const char *file, const char *text) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        mkdir(path, 0777);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void expect(double bytes, int group) {
    int said = -1;
    const double there = cli_memory(root, &said);
    if (there != bytes || said != group)
        fail_msg("%.0f bytes, group %d; expected %.0f, %d", there, said, bytes, group);
}

static void groups(void **state) {
    (void)state;
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    assert_non_null(mkdtemp(root));
    expect(machine, 0); // nothing there: no Linux
    // Version 2: the limit of the group above is the smaller one.
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    expect(machine, 0);
    put("sys/fs/cgroup/a/memory.max", "50000000\n");
    expect(50000000, 1);
    put("sys/fs/cgroup/a/b/memory.max", "40000000\n");
    expect(40000000, 1);
    // In a container: the path is the host's, the limit stands at the root.
    put("proc/self/cgroup", "0::/docker/0123\n");
    expect(machine, 0);
    put("sys/fs/cgroup/memory.max", "30000000\n");
    expect(30000000, 1);
    // Version 1, among hierarchies of other controllers; a limit of theirs says nothing.
    put("proc/self/cgroup", "9:name=systemd:/\n4:memory:/jobs/7\n2:cpuset:/a\n");
    put("sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "9223372036854771712\n");
    expect(machine, 0);
    put("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "20000000\n");
    expect(20000000, 1);
    put("proc/meminfo", "MemTotal: 1 kB\nSwapTotal:  1000 kB\nSwapFree: 5 kB\n");
    expect(20000000 + 1024000, 1); // what does not fit is swapped
    put("proc/self/cgroup", "nonsense\n\n4:memory\n");
    expect(machine + 1024000, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups)};
    const int status = cmocka_run_group_tests_name("memory_limit", tests, NULL, NULL);
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", root);
    return status || (strlen(root) > 20 && system(command));
}
