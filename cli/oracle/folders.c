// folders.c: makes folders for what the program writes.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "oracle.h"

static int has(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int cli_make_folder(const char *path, const char *option) {
    char part[4096];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part)
        return cli_fail("%s: the path of %zu characters must have 1 to %zu", option, n, sizeof part - 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) && !has(part))
            return cli_fail("%s: %s cannot be made a folder: %s", option, part, strerror(errno));
    }
    return 0;
}
