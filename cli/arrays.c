// arrays.c: see npy.h. A safetensors file: 8 bytes of header length (little-endian), the header in JSON
// {NAME: {dtype, shape, data_offsets: [from, end]}}, then the numbers.
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/base/error.h"
#include "model/base/json.h"

enum { LENGTH = 8, MAX_HEADER = 1 << 20, MAX_PATH = 4096 };
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
    return is_there(file);
}

// Dtype, shape and count of a tensor of the header, and where its bytes stand in the data.
static int describe(npy *a, size_t *from, const json *t, size_t data, const char *name, smx_error *error) {
    static const char *const dtypes[] = {
        [NPY_F8] = "F64", [NPY_F4] = "F32", [NPY_F2] = "F16", [NPY_I4] = "I32"};
    const json *dtype = json_get(t, "dtype"), *shape = json_get(t, "shape"),
               *range = json_get(t, "data_offsets");
    const char *word = dtype && dtype->type == JSON_STRING ? dtype->string : "";
    size_t end, d = 0;
    while (d <= NPY_I4 && strcmp(word, dtypes[d])) d++;
    if (d > NPY_I4) return error_say(error, "%s: its dtype must be F64, F32, F16 or I32", name);
    a->dtype = (npy_dtype)d;
    if (!shape || shape->type != JSON_ARRAY || shape->count > NPY_MAX_DIMS)
        return error_say(error, "%s: its shape must be a list of at most %d sizes", name, NPY_MAX_DIMS);
    a->count = 1;
    for (const json *s = shape->child; s; s = s->next) {
        size_t *to = &a->shape[a->ndim++];
        if (!json_size(s, to) || *to > data || (a->count *= *to) > data)
            return error_say(error, "%s: its shape does not fit into the file", name);
    }
    if (!range || range->type != JSON_ARRAY || range->count != 2 || !json_size(range->child, from) ||
        !json_size(range->child->next, &end) || end > data || *from > end ||
        end - *from != a->count * npy_item_size(a->dtype))
        return error_say(error, "%s: its data_offsets must hold its shape's bytes inside the file", name);
    return 0;
}

static int read_tensor(npy *a, FILE *f, const char *file, const char *tensor, smx_error *error) {
    unsigned char length[LENGTH];
    char name[MAX_PATH];
    struct stat st;
    size_t head = 0, from = 0;
    snprintf(name, sizeof name, "%s: tensor %s", file, tensor);
    if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) return error_say(error, "%s: is not a file", file);
    if (fread(length, 1, LENGTH, f) != LENGTH) return error_say(error, "%s: is not a safetensors file", file);
    for (int i = LENGTH; i-- > 0;) head = head << 8 | length[i];
    if (head > MAX_HEADER || head + LENGTH > (size_t)st.st_size)
        return error_say(error, "%s: its header of %zu bytes must be at most %d and inside the file", file,
                         head, MAX_HEADER);
    char *text = malloc(head + 1);
    if (!text) return error_say(error, "%s: not enough memory for its header", file);
    smx_error why;
    json *root = fread(text, 1, head, f) == head ? json_parse(text, head, &why) : NULL;
    free(text);
    if (!root) return error_say(error, "%s: its header is no JSON", file);
    const json *t = json_get(root, tensor);
    const size_t begin = LENGTH + head;
    int status = t ? describe(a, &from, t, (size_t)st.st_size - begin, name, error)
                   : error_say(error, "%s: is not there", name);
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
