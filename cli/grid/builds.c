// builds.c: see builds.h. A build's self-check takes a tenth of a second: once for each machine and folder.
#define _GNU_SOURCE // memmem
#include "builds.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.inc" // made by the Makefile: BUILD_SOURCES, BUILD_COMPILER, BUILD_FLAGS
#include "cli/cli.h"
#include "job.h"
#include "kernels/core/hash.h"
#include "model/audit/selfcheck.h"
#include "model/base/json.h"

static const char all[] = BUILD_SOURCES "\n" BUILD_COMPILER "\n" BUILD_FLAGS;

const char *build_name(void) {
    static char name[17];
    if (!*name)
        snprintf(name, sizeof name, "%016llx",
                 (unsigned long long)hash_bytes(HASH_START, all, sizeof all - 1));
    return name;
}

static uint64_t self_check(void) {
    uint64_t h = HASH_START;
    for (size_t i = 0; i < smx_selfcheck_count(); i++) {
        const uint64_t digest = smx_selfcheck_digest(i);
        h = hash_bytes(h, &digest, sizeof digest);
    }
    return h;
}

void builds_leave(const char *folder) {
    char path[JOB_PATH], host[256] = "", *text = NULL, why[JOB_PATH];
    size_t size;
    struct stat st;
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (*c == '/' || *c <= ' ') *c = '_';
    if (snprintf(path, sizeof path, "%s/builds/%s.%s.%s.json", folder, build_name(), *host ? host : "-",
                 smx_isa()) >= (int)sizeof path ||
        !stat(path, &st))
        return;
    FILE *to = open_memstream(&text, &size);
    if (!to) return;
    fprintf(to,
            "{\"build\":\"%s\",\"version\":\"" SMX_VERSION "\",\"sources\":\"" BUILD_SOURCES
            "\",\"compiler\":",
            build_name());
    cli_put_json_text(to, BUILD_COMPILER);
    fputs(",\"flags\":", to);
    cli_put_json_text(to, BUILD_FLAGS);
    fputs(",\"host\":", to);
    cli_put_json_text(to, host);
    fprintf(to, ",\"isa\":\"%s\",\"selfcheck\":\"%016llx\"}\n", smx_isa(), (unsigned long long)self_check());
    char place[JOB_PATH];
    snprintf(place, sizeof place, "%s/builds", folder);
    if (!fclose(to) && (!mkdir(place, 0777) || !stat(place, &st)))
        (void)!cli_write_pieces(path, &(cli_piece){text, size}, 1, 0, why, sizeof why);
    free(text);
}

static void add_machine(build_facts *f, const char *path) {
    size_t size;
    char *text = cli_read_file(path, &size);
    json *j = text ? json_parse(text, size, NULL) : NULL;
    const char *check = json_text(j, "selfcheck");
    if (j && *check) {
        if (f->machines++ && strcmp(f->check, check)) f->differing = 1;
        snprintf(f->check, sizeof f->check, "%s", check);
        snprintf(f->sources, sizeof f->sources, "%s", json_text(j, "sources"));
        snprintf(f->compiler, sizeof f->compiler, "%s", json_text(j, "compiler"));
    }
    json_free(j);
    free(text);
}

void builds_find(const char *folder, const char *name, build_facts *facts) {
    char path[2 * JOB_PATH];
    *facts = (build_facts){0};
    snprintf(facts->name, sizeof facts->name, "%s", name);
    snprintf(path, sizeof path, "%s/builds", folder);
    DIR *d = *name ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, name, strlen(name)) || !strstr(e->d_name, ".json")) continue;
        snprintf(path, sizeof path, "%s/builds/%s", folder, e->d_name);
        add_machine(facts, path);
    }
    if (d) closedir(d);
    if (facts->differing) *facts->check = 0;
}

size_t builds_list(const char *folder, char names[][17], size_t most) {
    char path[JOB_PATH], name[17];
    size_t n = 0;
    if (snprintf(path, sizeof path, "%s/builds", folder) >= (int)sizeof path) return 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && n < most && (e = readdir(d));) {
        if (strspn(e->d_name, "0123456789abcdef") != sizeof name - 1 || e->d_name[16] != '.') continue;
        snprintf(name, sizeof name, "%.16s", e->d_name);
        size_t k = 0;
        while (k < n && strcmp(names[k], name)) k++;
        if (k == n) memcpy(names[n++], name, sizeof name);
    }
    if (d) closedir(d);
    return n;
}

int build_is_of(const char *program) {
    size_t size;
    char *bytes = cli_read_file(program, &size);
    const int same = bytes && memmem(bytes, size, all, sizeof all);
    free(bytes);
    return same;
}
