// arrays.c: see npy.h.
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/core/sizes.h"
#include "model/base/error.h"
#include "model/base/safetensors.h"

enum { MAX_HEADER = 1 << 20, MAX_PATH = 4096 };
static const char npy_ending[] = ".npy", packed_ending[] = ".safetensors";

static int is_there(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

int npy_packed(const char *path, char *file, size_t room, char *tensor, size_t tensor_room) {
    const size_t n = strlen(path), tail = sizeof npy_ending - 1;
    if (n < tail || strcmp(path + n - tail, npy_ending) || is_there(path)) return 0;
    size_t dot = n - tail;
    while (dot > 0 && path[dot - 1] != '.' && path[dot - 1] != '/') dot--;
    if (dot < 2 || path[dot - 1] != '.' || path[dot - 2] == '/') return 0;
    if (snprintf(file, room, "%.*s%s", (int)dot - 1, path, packed_ending) >= (int)room ||
        snprintf(tensor, tensor_room, "%.*s", (int)(n - tail - dot), path + dot) >= (int)tensor_room)
        return 0;
    if (is_there(file)) return 1;
    const char *slash = strrchr(path, '/');
    const size_t at = slash ? (size_t)(slash - path) + 1 : 0;
    if (snprintf(file, room, "%.*sarrays%s", (int)at, path, packed_ending) >= (int)room ||
        snprintf(tensor, tensor_room, "%.*s", (int)(n - tail - at), path + at) >= (int)tensor_room)
        return 0;
    return is_there(file);
}

const char *npy_packed_wrong(int wrong) {
    return wrong == SAFETENSORS_MISSING ? "is not there"
           : wrong == SAFETENSORS_SHAPE ? "must have a shape, a list of at most 8 whole numbers"
                                        : "must have a shape and data_offsets inside the file";
}

// Dtype, shape and count of a tensor of the header, and where its bytes stand in the data.
static int describe(npy *a, size_t *from, const json *header, const char *tensor, size_t data,
                    const char *name, smx_error *error) {
    static const char *const dtypes[] = {
        [NPY_F8] = "F64", [NPY_F4] = "F32", [NPY_F2] = "F16", [NPY_I4] = "I32"};
    safetensor t;
    size_t d = 0;
    const safetensors_wrong wrong = safetensors_find(&t, header, tensor, data);
    if (wrong) return error_say(error, "%s: %s", name, npy_packed_wrong(wrong));
    while (d <= NPY_I4 && strcmp(t.dtype, dtypes[d])) d++;
    if (d > NPY_I4) return error_say(error, "%s: its dtype must be F64, F32, F16 or I32", name);
    a->dtype = (npy_dtype)d;
    a->ndim = t.rank;
    a->count = t.count;
    *from = t.from;
    memcpy(a->shape, t.shape, sizeof a->shape);
    if (size_mul(t.count, npy_item_size(a->dtype)) != t.bytes)
        return error_say(error, "%s: its data_offsets must hold its shape's bytes inside the file", name);
    return 0;
}

static int read_tensor(npy *a, FILE *f, const char *file, const char *tensor, smx_error *error) {
    unsigned char length[SAFETENSORS_LENGTH];
    char name[MAX_PATH];
    struct stat st;
    size_t head = 0, from = 0;
    snprintf(name, sizeof name, "%s: tensor %s", file, tensor);
    if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) return error_say(error, "%s: is not a file", file);
    if (fread(length, 1, sizeof length, f) != sizeof length)
        return error_say(error, "%s: is not a safetensors file", file);
    head = safetensors_header(length, (size_t)st.st_size, MAX_HEADER);
    if (!head)
        return error_say(error, "%s: its header must have 1 to %d bytes, all inside the file", file,
                         MAX_HEADER);
    char *text = malloc(head + 1);
    if (!text) return error_say(error, "%s: not enough memory for its header", file);
    smx_error why;
    json *root = fread(text, 1, head, f) == head ? json_parse(text, head, &why) : NULL;
    free(text);
    if (!root) return error_say(error, "%s: its header is no JSON", file);
    const size_t begin = sizeof length + head;
    int status = describe(a, &from, root, tensor, (size_t)st.st_size - begin, name, error);
    json_free(root);
    if (status) return -1;
    const size_t bytes = a->count * npy_item_size(a->dtype);
    a->data = malloc(bytes + !bytes);
    if (!a->data) return error_say(error, "%s: not enough memory for its %zu bytes", name, bytes);
    if (fseek(f, (long)(begin + from), SEEK_SET) || fread(a->data, 1, bytes, f) != bytes) {
        npy_free(a);
        return error_say(error, "%s: cannot be read to its end", name);
    }
    return 0;
}

int npy_read_packed(npy *a, const char *file, const char *tensor, smx_error *error) {
    memset(a, 0, sizeof *a);
    FILE *f = fopen(file, "rb");
    if (!f) return error_say(error, "%s: cannot be opened: %s", file, strerror(errno));
    int status = read_tensor(a, f, file, tensor, error);
    fclose(f);
    return status;
}

int npy_read(npy *a, const char *path, smx_error *error) {
    char file[MAX_PATH], tensor[256];
    return npy_packed(path, file, sizeof file, tensor, sizeof tensor)
               ? npy_read_packed(a, file, tensor, error)
               : npy_read_file(a, path, error);
}
