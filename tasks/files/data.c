// data.c: see data.h. SMX_ZLIB (native builds) adds the disk and gzip.
#include "data.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"

// The list of files, and each file's count of users, are every thread's:
// held for a few instructions, never while a file is read.
static atomic_flag busy = ATOMIC_FLAG_INIT;
static data_file *files; // open or handed over

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    }
}
static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

int data_fail(smx_error *error, const char *key, const char *name, const char *what, ...) {
    char text[sizeof error->allowed];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return error_about(error, key, name, text, "%s: %s", name, text);
}

static data_file *find(const char *name) {
    data_file *f = files;
    while (f && strcmp(f->name, name)) f = f->next;
    return f;
}

// Texts that begin with the byte order mark of UTF-16 (no other file that is read here begins so), as UTF-8
// without it; what is no letter becomes U+FFFD. 0: these are none; -1: no memory.
static int from_utf16(uint8_t **bytes, size_t *size) {
    const uint8_t *in = *bytes;
    const int little = *size >= 2 && in[0] == 0xff && in[1] == 0xfe;
    if (!little && !(*size >= 2 && in[0] == 0xfe && in[1] == 0xff)) return 0;
    uint8_t *out = malloc(*size / 2 * 3 + 1), *to = out;
    if (!out) return -1;
    for (size_t i = 2; i + 1 < *size; i += 2) {
        uint32_t c = (uint32_t)in[i + !little] | (uint32_t)in[i + little] << 8;
        if (c >= 0xd800 && c < 0xdc00 && i + 3 < *size) {
            const uint32_t low = (uint32_t)in[i + 2 + !little] | (uint32_t)in[i + 2 + little] << 8;
            if (low >= 0xdc00 && low < 0xe000) c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00), i += 2;
        }
        if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
        const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
        *to++ = (uint8_t)(first[more] | c >> (6 * more));
        for (int k = more; k-- > 0;) *to++ = (uint8_t)(0x80 | (c >> (6 * k) & 0x3f));
    }
    free(*bytes);
    *bytes = out;
    *size = (size_t)(to - out);
    return 1;
}

// Takes the bytes (malloc'ed) in every case. One user, not in the list.
static data_file *make(const char *name, uint8_t *bytes, size_t size, const char *key, smx_error *error) {
    const int utf16 = from_utf16(&bytes, &size);
    data_file *f = utf16 < 0 ? NULL : malloc(sizeof *f + strlen(name) + 1);
    if (!f) {
        free(bytes);
        data_fail(error, key, name, "there is no memory for it");
        return NULL;
    }
    *f = (data_file){.bytes = bytes, .size = size, .name = (char *)(f + 1), .users = 1, .utf16 = utf16};
    strcpy(f->name, name);
    return f;
}

static void insert(data_file *file) {
    file->next = files;
    files = file;
}

// One user less, the lock held; what nobody uses any more is taken out of the list and returned.
static data_file *leave(data_file *file) {
    if (--file->users) return NULL;
    for (data_file **at = &files; *at; at = &(*at)->next)
        if (*at == file) {
            *at = file->next;
            break;
        }
    return file;
}

static void forget(data_file *file) {
    if (!file) return;
    free((void *)file->bytes);
    free(file);
}

void data_close(data_file *file) {
    if (!file) return;
    lock();
    data_file *unused = leave(file);
    unlock();
    forget(unused);
}

int smx_data_provide(const char *name, const void *bytes, size_t size, smx_error *error) {
    uint8_t *copy = NULL;
    if (bytes) {
        const uint8_t *in = bytes;
        if (size > DATA_MOST)
            return data_fail(error, "", name, "%zu bytes, at most %d are read", size, DATA_MOST);
        if (size > 2 && in[0] == 0x1f && in[1] == 0x8b) {
            if (data_gunzip(&copy, &size, in, size, name, error)) return -1;
        } else {
            copy = malloc(size + 1);
            if (!copy) return data_fail(error, "", name, "there is no memory for its %zu bytes", size);
            memcpy(copy, in, size);
        }
    }
    data_file *file = bytes ? make(name, copy, size, "", error) : NULL, *unused = NULL;
    if (bytes && !file) return -1;
    lock();
    data_file *old = find(name);
    if (old) { // runs that use it keep it, under a name that no one asks for
        old->name[0] = 0;
        if (old->provided) unused = leave(old);
    }
    if (file) {
        file->provided = 1;
        insert(file);
    }
    unlock();
    forget(unused);
    return 0;
}

#ifdef SMX_ZLIB
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static int grow(uint8_t **bytes, size_t *room) {
    size_t more = *room ? 2 * *room : 1 << 16;
    if (more > (size_t)DATA_MOST + 1) more = (size_t)DATA_MOST + 1;
    uint8_t *p = more > *room ? realloc(*bytes, more) : NULL;
    if (!p) return -1;
    *bytes = p;
    *room = more;
    return 0;
}

int data_gunzip(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size, const char *name,
                smx_error *error) {
    z_stream z = {0};
    uint8_t *to = NULL;
    size_t used = 0, room = 0;
    int status = inflateInit2(&z, 16 + MAX_WBITS), ended = 0;
    if (status != Z_OK) return data_fail(error, "", name, "zlib does not start");
    z.next_in = (Bytef *)bytes;
    z.avail_in = (uInt)size; // callers stay below DATA_MOST
    while (!ended) {
        if (used == room && grow(&to, &room)) {
            data_fail(error, "", name, "more than %d bytes when unpacked, or no memory for them", DATA_MOST);
            goto fail;
        }
        z.next_out = to + used;
        z.avail_out = (uInt)(room - used);
        status = inflate(&z, Z_NO_FLUSH);
        used = room - z.avail_out;
        if (status == Z_STREAM_END) { // further members may follow; other bytes behind the last are ignored,
                                      // as gzip does
            ended =
                z.avail_in < 2 || z.next_in[0] != 0x1f || z.next_in[1] != 0x8b || inflateReset(&z) != Z_OK;
        } else if (status == Z_BUF_ERROR) { // nothing more to read, though there is room
            data_fail(error, "", name, "the compressed file is cut short (%zu bytes unpacked so far)", used);
            goto fail;
        } else if (status != Z_OK) {
            data_fail(error, "", name, "the compressed file is damaged after %zu unpacked bytes", used);
            goto fail;
        }
    }
    inflateEnd(&z);
    *out = to;
    *out_size = used;
    return 0;
fail:
    inflateEnd(&z);
    free(to);
    return -1;
}

#ifdef _WIN32
enum { READING = O_RDONLY | O_BINARY | O_NOINHERIT };
#else
enum { READING = O_RDONLY | O_NONBLOCK | O_CLOEXEC }; // a pipe without a writer is refused, not waited for
#endif

// 1: read; 0: there is no such file; -1: it cannot be read.
static int read_disk(uint8_t **out, size_t *out_size, const char *path, smx_error *error) {
    const int at = open(path, READING);
    if (at < 0 && (errno == ENOENT || errno == ENOTDIR)) return 0;
    struct stat st;
    if (at >= 0 && !fstat(at, &st) && !S_ISREG(st.st_mode)) {
        close(at);
        return data_fail(error, "", path, "is no regular file");
    }
    FILE *f = at < 0 ? NULL : fdopen(at, "rb");
    if (!f) {
        data_fail(error, "", path, "cannot be opened: %s", strerror(errno));
        if (at >= 0) close(at);
        return -1;
    }
    uint8_t *bytes = NULL;
    size_t used = 0, room = 0, got = 1;
    while (got) {
        if (used == room && grow(&bytes, &room)) {
            data_fail(error, "", path, "more than %d bytes, or no memory for them", DATA_MOST);
            goto fail;
        }
        got = fread(bytes + used, 1, room - used, f);
        used += got;
    }
    if (ferror(f)) {
        data_fail(error, "", path, "cannot be read: %s", strerror(errno));
        goto fail;
    }
    fclose(f);
    if (used > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        int failed = data_gunzip(out, out_size, bytes, used, path, error);
        free(bytes);
        return failed ? -1 : 1;
    }
    *out = bytes;
    *out_size = used;
    return 1;
fail:
    free(bytes);
    fclose(f);
    return -1;
}

static int search(uint8_t **out, size_t *out_size, const char *name, smx_error *error) {
    const char *folders[] = {getenv("SEQMIX_DATA"), "data"}, *inside[] = {"", "mnist/", "text/"};
    const char *packed[] = {"", ".gz"};
    char path[4096];
    int direct = strchr(name, '/') != NULL;
    for (int f = 0; f < (direct ? 1 : 2); f++)
        for (int i = 0; i < (direct ? 1 : 3); i++)
            for (int p = 0; p < 2; p++) {
                int n;
                if (direct)
                    n = snprintf(path, sizeof path, "%s%s", name, packed[p]);
                else if (folders[f] && folders[f][0])
                    n = snprintf(path, sizeof path, "%s/%s%s%s", folders[f], inside[i], name, packed[p]);
                else
                    continue;
                if (n < 0 || (size_t)n >= sizeof path) continue;
                int status = read_disk(out, out_size, path, error);
                if (status) return status;
            }
    return 0;
}

static int not_found(smx_error *error, const char *key, const char *name) {
    struct stat st;
    if (strchr(name, '/')) return data_fail(error, key, name, "no such file");
    const int here =
        (!strcmp(key, "text") || !strcmp(key, "file")) && stat(name, &st) == 0 && S_ISREG(st.st_mode);
    const int mnist = !strcmp(key, "data"); // the one set that the project fetches
    return data_fail(error, key, name, "not found in $SEQMIX_DATA or data%s%s",
                     here    ? "; the one in this folder is ./"
                     : mnist ? "; `make mnist` fetches it"
                             : "",
                     here ? name : "");
}
#else
int data_gunzip(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size, const char *name,
                smx_error *error) {
    (void)out, (void)out_size, (void)bytes, (void)size;
    return data_fail(error, "", name, "is compressed: unpack it before handing it over");
}

static int search(uint8_t **out, size_t *out_size, const char *name, smx_error *error) {
    (void)out, (void)out_size, (void)name, (void)error;
    return 0;
}

static int not_found(smx_error *error, const char *key, const char *name) {
    return data_fail(error, key, name, strchr(name, '/') ? "no such file" : "has not been loaded");
}
#endif

data_file *data_open(const char *name, const char *key, smx_error *error) {
    lock();
    data_file *f = find(name);
    if (f) f->users++;
    unlock();
    if (f) return f;
    uint8_t *bytes;
    size_t size;
    int status = search(&bytes, &size, name, error);
    if (status > 0) {
        data_file *file = make(name, bytes, size, key, error), *unused = NULL;
        if (!file) return NULL;
        lock();
        f = find(name);
        if (f) { // another thread was first
            f->users++;
            unused = file;
        } else {
            insert(f = file);
        }
        unlock();
        forget(unused);
        return f;
    }
    if (status == 0)
        not_found(error, key, name);
    else if (error)
        snprintf(error->key, sizeof error->key, "%s", key);
    return NULL;
}
