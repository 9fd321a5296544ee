// data.h: the bytes behind a task: a file found on disk (native programs) or handed over in memory (the page,
// which has no disk). Any thread may open and close files at any time; the bytes of an open file never
// change.
#ifndef SMX_DATA_FILES_H
#define SMX_DATA_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <seqmix/data.h>

typedef struct data_file {
    const uint8_t *bytes; // uncompressed; a text in UTF-16 as UTF-8
    size_t size;
    char *name;
    int users;
    int utf16;    // it was UTF-16
    int provided; // handed over: one of the users is the list itself
    struct data_file *next;
} data_file;

enum { DATA_MOST = 1 << 28 }; // bytes of a file, uncompressed

// A file handed over, or natively found on disk, as itself or as name.gz: a name with a slash as it stands;
// others in $SEQMIX_DATA and data, there also in mnist/ and text/. key: the config key that
// errors are about. The same name opened twice is one file.
data_file *data_open(const char *name, const char *key, smx_error *error);
void data_close(data_file *file); // NULL allowed
// Whether data_open takes the name for a path on disk.
static inline int data_is_path(const char *name) {
#ifdef __wasm__
    (void)name; // there is none
    return 0;
#else
    return strchr(name, '/') != NULL;
#endif
}

// Unpack gzip bytes (all members): *out is malloc'ed. Without zlib (SMX_ZLIB not defined) it fails in words.
int data_gunzip(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size, const char *name,
                smx_error *error);

// message "name: ...", about `key`. Always -1.
int data_fail(smx_error *error, const char *key, const char *name, const char *what, ...)
    __attribute__((format(printf, 4, 5)));

#endif
