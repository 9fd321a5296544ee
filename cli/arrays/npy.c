// npy.c: see npy.h. The bytes of the file are the machine's own: every system that this builds on
// is little-endian.
#include "npy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "model/base/error.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy.c is written for little-endian machines"
#endif

enum { PREFIX = 10 }; // magic, version, header length

size_t npy_item_size(npy_dtype dtype) { return dtype == NPY_F8 ? 8 : dtype == NPY_F2 ? 2 : 4; }

const char *npy_dtype_name(npy_dtype dtype) {
    static const char *const names[] = {"<f8", "<f4", "<f2", "<i4"};
    return names[dtype];
}

// IEEE 754 binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.
double npy_half(uint16_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return h >> 15 ? -size : size;
}

double npy_value(const npy *a, size_t i) {
    switch (a->dtype) {
    case NPY_F8:
        return ((const double *)a->data)[i];
    case NPY_F4:
        return ((const float *)a->data)[i];
    case NPY_F2:
        return npy_half(((const uint16_t *)a->data)[i]);
    default:
        return ((const int32_t *)a->data)[i];
    }
}

const char *npy_shape_text(char *text, size_t length, size_t ndim, const size_t *shape) {
    size_t n = (size_t)snprintf(text, length, ndim ? "" : "[]");
    for (size_t i = 0; i < ndim && n < length; i++)
        n += (size_t)snprintf(text + n, length - n, "[%zu]", shape[i]);
    return text;
}

void npy_free(npy *a) {
    free(a->data);
    a->data = NULL;
}

// ---- The header: a Python dictionary with exactly the keys descr, fortran_order, shape
typedef struct {
    const char *at, *end;
} text;

static void skip_space(text *t) {
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r')) t->at++;
}

static int take(text *t, const char *what) {
    size_t n = strlen(what);
    skip_space(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, what, n)) return 0;
    t->at += n;
    return 1;
}

// A quoted word without escapes.
static int quoted(text *t, char *out, size_t room) {
    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"')) return 0;
    char quote = *t->at++;
    size_t n = 0;
    while (t->at < t->end && *t->at != quote && n + 1 < room) out[n++] = *t->at++;
    out[n] = 0;
    if (t->at == t->end || *t->at != quote) return 0;
    t->at++;
    return 1;
}

static int size_number(text *t, size_t *out) {
    skip_space(t);
    const char *start = t->at;
    size_t v = 0;
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9') {
        if (v > (SIZE_MAX - 9) / 10) return 0;
        v = v * 10 + (size_t)(*t->at++ - '0');
    }
    *out = v;
    return t->at > start;
}

static int shape_tuple(text *t, npy *a) {
    if (!take(t, "(")) return 0;
    a->ndim = 0;
    while (!take(t, ")")) {
        if (a->ndim == NPY_MAX_DIMS || !size_number(t, &a->shape[a->ndim])) return 0;
        a->ndim++;
        if (take(t, ",")) continue;
        if (a->ndim == 1 || !take(t, ")")) return 0; // (3) is no tuple
        break;
    }
    return 1;
}

// Fills dtype, ndim, shape, count; *bytes is the size of the data.
static int header(npy *a, size_t *bytes, const char *start, size_t length, const char *name,
                  smx_error *error) {
    text t = {start, start + length};
    char key[24], descr[24] = "";
    int seen_order = 0, seen_shape = 0, fortran = 0;
    const char *malformed = "%s: its .npy header is malformed";
    if (!take(&t, "{")) return error_say(error, malformed, name);
    while (!take(&t, "}")) {
        if (!quoted(&t, key, sizeof key) || !take(&t, ":")) return error_say(error, malformed, name);
        if (strcmp(key, "descr") == 0 && !descr[0]) {
            if (!quoted(&t, descr, sizeof descr))
                return error_say(
                    error, "%s: its elements are a record or a name too long; <f8, <f4, <f2 and <i4 are read",
                    name);
        } else if (strcmp(key, "fortran_order") == 0 && !seen_order) {
            seen_order = 1;
            fortran = take(&t, "True");
            if (!fortran && !take(&t, "False")) return error_say(error, malformed, name);
        } else if (strcmp(key, "shape") == 0 && !seen_shape) {
            seen_shape = 1;
            if (!shape_tuple(&t, a))
                return error_say(error, "%s: its shape is not a tuple of at most %d sizes", name,
                                 NPY_MAX_DIMS);
        } else {
            return error_say(error, malformed, name);
        }
        if (take(&t, ",")) continue;
        if (!take(&t, "}")) return error_say(error, malformed, name);
        break;
    }
    skip_space(&t);
    if (t.at != t.end || !descr[0] || !seen_order || !seen_shape) return error_say(error, malformed, name);
    if (strcmp(descr, "<f8") == 0)
        a->dtype = NPY_F8;
    else if (strcmp(descr, "<f4") == 0)
        a->dtype = NPY_F4;
    else if (strcmp(descr, "<f2") == 0)
        a->dtype = NPY_F2;
    else if (strcmp(descr, "<i4") == 0)
        a->dtype = NPY_I4;
    else
        return error_say(error, "%s: its elements are '%s'; <f8, <f4, <f2 and <i4 are read", name, descr);
    if (fortran)
        return error_say(
            error, "%s: is in Fortran order; only C order is read, such as numpy.ascontiguousarray gives",
            name);
    int empty = 0;
    for (size_t i = 0; i < a->ndim; i++) empty |= a->shape[i] == 0;
    a->count = !empty;
    for (size_t i = 0; i < a->ndim && !empty; i++) {
        if (a->count > SIZE_MAX / 16 / a->shape[i])
            return error_say(error, "%s: its shape has more elements than fit in memory", name);
        a->count *= a->shape[i];
    }
    *bytes = a->count * npy_item_size(a->dtype);
    return 0;
}

static int prefix(size_t *length, const unsigned char *p, size_t n, const char *name, smx_error *error) {
    if (n < PREFIX || memcmp(p, "\x93NUMPY", 6)) return error_say(error, "%s: is not a .npy file", name);
    if (p[6] != 1 || p[7] != 0)
        return error_say(error, "%s: is .npy format %d.%d; only 1.0 is read", name, p[6], p[7]);
    *length = (size_t)p[8] | (size_t)p[9] << 8;
    return 0;
}

static int wrong_size(const npy *a, size_t have, size_t want, const char *name, smx_error *error) {
    char shape[160];
    return error_say(error, "%s: %s %s needs %zu bytes of data, the file has %zu", name,
                     npy_shape_text(shape, sizeof shape, a->ndim, a->shape), npy_dtype_name(a->dtype), want,
                     have);
}

int npy_decode(npy *a, const unsigned char *bytes, size_t length, const char *name, smx_error *error) {
    size_t head, want;
    memset(a, 0, sizeof *a);
    if (prefix(&head, bytes, length, name, error)) return -1;
    if (length - PREFIX < head) return error_say(error, "%s: ends inside its header", name);
    if (header(a, &want, (const char *)bytes + PREFIX, head, name, error)) return -1;
    if (length - PREFIX - head != want) return wrong_size(a, length - PREFIX - head, want, name, error);
    a->data = malloc(want ? want : 1);
    if (!a->data) return error_say(error, "%s: not enough memory for its %zu bytes", name, want);
    memcpy(a->data, bytes + PREFIX + head, want);
    return 0;
}

static int read_open(npy *a, FILE *f, const char *path, smx_error *error) {
    unsigned char start[PREFIX];
    char head[65536];
    size_t length, want;
    struct stat st;
    if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) return error_say(error, "%s: is not a file", path);
    size_t got = fread(start, 1, PREFIX, f);
    if (prefix(&length, start, got, path, error)) return -1;
    if (fread(head, 1, length, f) != length) return error_say(error, "%s: ends inside its header", path);
    if (header(a, &want, head, length, path, error)) return -1;
    size_t have = (size_t)st.st_size - PREFIX - length;
    if (have != want) return wrong_size(a, have, want, path, error);
    a->data = malloc(want ? want : 1);
    if (!a->data) return error_say(error, "%s: not enough memory for its %zu bytes", path, want);
    if (fread(a->data, 1, want, f) != want) {
        npy_free(a);
        return error_say(error, "%s: cannot be read to its end", path);
    }
    return 0;
}

int npy_read_file(npy *a, const char *path, smx_error *error) {
    memset(a, 0, sizeof *a);
    FILE *f = fopen(path, "rb");
    if (!f) return error_say(error, "%s: cannot be opened: %s", path, strerror(errno));
    int status = read_open(a, f, path, error);
    fclose(f);
    return status;
}

int npy_write(const char *path, npy_dtype dtype, size_t ndim, const size_t *shape, const void *data,
              smx_error *error) {
    char head[512];
    size_t count = 1, n;
    n = (size_t)snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                         npy_dtype_name(dtype));
    for (size_t i = 0; i < ndim; i++) {
        count *= shape[i];
        n += (size_t)snprintf(head + n, sizeof head - n,
                              i || ndim == 1 ? (ndim == 1 ? "%zu," : ", %zu") : "%zu", shape[i]);
    }
    n += (size_t)snprintf(head + n, sizeof head - n, "), }");
    while ((PREFIX + n + 1) % 64) head[n++] = ' '; // data begins at a multiple of 64
    head[n++] = '\n';
    unsigned char start[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)n, (unsigned char)(n >> 8)};
    const cli_piece pieces[] = {{start, PREFIX}, {head, n}, {data, count * npy_item_size(dtype)}};
    char why[sizeof error->message];
    return cli_write_pieces(path, pieces, 3, 0, why, sizeof why) ? error_say(error, "%s", why) : 0;
}
