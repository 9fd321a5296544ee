// files.c: whole files in and out.
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *cli_read_file(const char *path, size_t *size) {
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &st)) {
        cli_fail("%s cannot be read: %s", path, strerror(errno));
        if (f) fclose(f);
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > (off_t)1 << 31) {
        cli_fail("%s is not a file of at most 2 GiB", path);
        fclose(f);
        return NULL;
    }
    *size = (size_t)st.st_size;
    char *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, f) != *size) {
        cli_fail("%s cannot be read: %s", path, bytes ? "it ended early" : "out of memory");
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    if (bytes) bytes[*size] = 0;
    return bytes;
}

// Where the bytes go first: beside the file, so that renaming it cannot fail half-way.
static FILE *open_temporary(const char *path, char *temporary, size_t size) {
    if ((size_t)snprintf(temporary, size, "%s.%ld.part", path, (long)getpid()) >= size) {
        cli_fail("the path of %zu characters is too long; at most %zu are allowed", strlen(path), size - 32);
        return NULL;
    }
    FILE *f = fopen(temporary, "wb");
    if (!f) cli_fail("%s cannot be written: %s", path, strerror(errno));
    return f;
}

int cli_can_write(const char *path) {
    char temporary[4096];
    struct stat there;
    if (!stat(path, &there) && S_ISDIR(there.st_mode))
        return cli_fail("%s cannot be written: it is a folder; a file's name is wanted", path);
    FILE *f = open_temporary(path, temporary, sizeof temporary);
    if (!f) return 2;
    fclose(f);
    remove(temporary);
    return 0;
}

int cli_write_file(const char *path, const void *bytes, size_t size) {
    char temporary[4096];
    FILE *f = open_temporary(path, temporary, sizeof temporary);
    if (!f) return 2;
    int bad = fwrite(bytes, 1, size, f) != size;
    bad |= fflush(f) != 0 || fsync(fileno(f)) != 0;
    int why = errno;
    bad |= fclose(f) != 0;
    if (!bad && rename(temporary, path)) {
        bad = 1;
        why = errno;
    }
    if (bad) {
        remove(temporary);
        return cli_fail("%s cannot be written: %s", path, strerror(why));
    }
    return 0;
}
