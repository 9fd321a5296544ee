// folders.c: folders for the sets of files that the program writes. Syncing each of a thousand small files
// would take longer than making them, so a set is synced once.
#define _GNU_SOURCE // syncfs
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int has(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

// Held until the program ends, or writes into another folder.
static int held = -1;
static void take_turns(const char *path) {
    if (held >= 0) close(held);
    held = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (held >= 0 && flock(held, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        cli_note("another seqmix writes into %s: waiting for it", path);
        flock(held, LOCK_EX);
    }
    cli_sweep_folder(path);
}

void cli_finish_folder(void) {
#ifdef __linux__
    if (held >= 0) syncfs(held);
#else
    sync();
#endif
}

int cli_make_folders(const char *path, const char *option) {
    char part[4096];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part)
        return cli_fail("%s: the path of %zu characters must have 1 to %zu", option, n, sizeof part - 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        const int why = mkdir(part, 0777) ? errno : 0;
        if (why && !has(part))
            return cli_fail("%s: %s cannot be made a folder: %s", option, part,
                            why == EEXIST ? "it is not a folder" : strerror(why));
    }
    return 0;
}

int cli_make_folder(const char *path, const char *option) {
    if (cli_make_folders(path, option)) return 2;
    take_turns(path);
    return 0;
}
