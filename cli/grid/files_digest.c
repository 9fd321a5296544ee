// files_digest.c: see files_digest.h.
#define _GNU_SOURCE // nftw
#include "files_digest.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"
#include "model/base/error.h"
#include "tasks/files/data.h"
#include "tasks/files/labelled.h"

// Eight bytes at a time: a text of 100 MB must not hold up a job that is done. Each step can be undone, so
// that no change of a word is lost.
static uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * HASH_PRIME;
    return h ^ h >> 32;
}
static uint64_t hash_fast(uint64_t h, const uint8_t *bytes, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word = 0;
        for (int k = 0; k < 8; k++) word |= (uint64_t)bytes[i + (size_t)k] << 8 * k;
        h = mix(h, word);
    }
    return mix(hash_bytes(h, bytes + i, n - i), n);
}

static int add_file(uint64_t *h, const char *name, const char *key, smx_error *error) {
    data_file *file = data_open(name, key, error);
    if (!file) return -1;
    *h = hash_fast(*h, file->bytes, file->size);
    data_close(file);
    return 0;
}

// A folder's files come in no order: their hashes are added. nftw takes no context.
static uint64_t walked;
static size_t root_length;
static int walk_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
    uint8_t bytes[1 << 16];
    (void)st, (void)where;
    if (kind != FTW_F) return kind == FTW_DNR || kind == FTW_NS ? -1 : 0;
    FILE *f = fopen(path, "rbe");
    if (!f) return -1;
    uint64_t h = hash_bytes(HASH_START, path + root_length, strlen(path + root_length) + 1);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;) h = hash_fast(h, bytes, n);
    const int bad = ferror(f);
    fclose(f);
    walked += mix(h, 1);
    return bad ? -1 : 0;
}
static int add_folder(uint64_t *h, const char *name, smx_error *error) {
    char path[4096];
    if (labelled_place(path, sizeof path, name, error)) return -1;
    walked = 0;
    root_length = strlen(path);
    if (nftw(path, walk_one, 32, 0)) return data_fail(error, "folder", name, "a file of it cannot be read");
    *h = mix(*h, walked);
    return 0;
}

static int says(const config *c, const char *key, const char *value) {
    const char *now = config_get(c, key);
    return now && !strcmp(now, value);
}
static int add_images(uint64_t *h, const config *c, smx_error *error) {
    const int mnist = says(c, "data", "mnist"), of_train = says(c, "test", "mnist_train");
    if ((mnist || of_train) && (add_file(h, "train-images-idx3-ubyte", "data", error) ||
                                add_file(h, "train-labels-idx1-ubyte", "data", error)))
        return -1;
    if (!says(c, "test", "mnist") && !(mnist && says(c, "test", "same"))) return 0;
    return add_file(h, "t10k-images-idx3-ubyte", "data", error) ||
                   add_file(h, "t10k-labels-idx1-ubyte", "data", error)
               ? -1
               : 0;
}

int files_digest_now(const config *c, uint64_t *digest, smx_error *error) {
    uint64_t h = HASH_START;
    *digest = 0;
    static const char *const names[] = {"text", "file"};
    for (int i = 0; i < 2; i++) {
        const char *name = config_get(c, names[i]);
        if (name && *name && strcmp(name, "sample") && add_file(&h, name, names[i], error)) return -1;
    }
    const char *folder = config_get(c, "folder");
    if ((folder && *folder && add_folder(&h, folder, error)) || add_images(&h, c, error)) return -1;
    *digest = h == HASH_START ? 0 : h ? h : 1;
    return 0;
}

static const char *const keys[] = {"text", "file", "folder", "data", "test"};
enum { KEYS = sizeof keys / sizeof *keys };
int files_are_named_by(const char *key) {
    for (size_t i = 0; i < KEYS; i++)
        if (!strcmp(keys[i], key)) return 1;
    return 0;
}

int files_digest(const config *c, uint64_t *digest, smx_error *error) {
    // A grid asks for one text ten thousand times.
    static char last[4096];
    static uint64_t of_last;
    char now[sizeof last];
    int n = 0;
    *digest = 0;
    for (size_t i = 0; i < KEYS && n < (int)sizeof now; i++) {
        const char *value = config_get(c, keys[i]);
        n += snprintf(now + n, sizeof now - (size_t)n, "%s\n", value ? value : "");
    }
    if (n < (int)sizeof now && !strcmp(now, last)) return *digest = of_last, 0;
    if (files_digest_now(c, digest, error)) return -1;
    if (n < (int)sizeof now) {
        of_last = *digest;
        strcpy(last, now);
    }
    return 0;
}
