// weights_file.c: see weights_file.h.
#include "weights_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/base/error.h"
#include "npy.h"

enum { MAX_HEADER = 1 << 26 };

int weights_open(weights_file *f, const char *path) {
    size_t size;
    smx_error why;
    *f = (weights_file){.path = path, .bytes = cli_read_file(path, &size)};
    if (!f->bytes) return 2;
    const size_t n = safetensors_header(f->bytes, size, MAX_HEADER);
    const char *text = (const char *)f->bytes + SAFETENSORS_LENGTH;
    if (!n)
        return cli_fail("%s is no safetensors file: its first 8 bytes must be its header's length (a .pt or "
                        ".bin file of PyTorch: save its state_dict with safetensors.torch.save_file)",
                        path);
    f->header = json_parse(text, n, &why);
    if (!f->header || f->header->type != JSON_OBJECT)
        return cli_fail("%s: its header is no JSON object", path);
    f->data = (const unsigned char *)text + n;
    f->size = size - SAFETENSORS_LENGTH - n;
    f->used = calloc(f->header->count + 1, 1);
    return f->used ? 0 : cli_fail("out of memory");
}
void weights_close(weights_file *f) {
    json_free(f->header);
    free(f->bytes);
    free(f->used);
}
void weights_mark(weights_file *f, const char *name) {
    size_t i = 0;
    for (const json *t = f->header->child; t; t = t->next, i++)
        if (!strcmp(t->key, name)) f->used[i] = 1;
}

static const char *const dtypes[] = {"F32", "F64", "F16", "BF16"};
static float number_at(const unsigned char *at, size_t dtype) {
    float f;
    double d;
    uint16_t half;
    if (dtype == 0) return memcpy(&f, at, 4), f;
    if (dtype == 1) return memcpy(&d, at, 8), (float)d;
    memcpy(&half, at, 2);
    if (dtype == 2) return (float)npy_half(half);
    const uint32_t bits = (uint32_t)half << 16;
    return memcpy(&f, &bits, 4), f;
}

float *weights_read(weights_file *f, const char *name, size_t rank, const size_t *shape, const char *whose,
                    smx_error *e) {
    static const size_t sizes[] = {4, 8, 2, 2};
    safetensor t;
    char is[100], must[100];
    size_t dtype = 0;
    const safetensors_wrong wrong = safetensors_find(&t, f->header, name, f->size);
    if (wrong) {
        error_say(e, "%s: tensor %.100s %s; %.100s needs it", f->path, name, npy_packed_wrong(wrong), whose);
        return NULL;
    }
    while (dtype < 4 && strcmp(t.dtype, dtypes[dtype])) dtype++;
    if (dtype == 4 || t.bytes != t.count * sizes[dtype]) {
        error_say(e, "%s: tensor %.100s is %.20s; it must be F32, F64, F16 or BF16, of its shape's bytes",
                  f->path, name, *t.dtype ? t.dtype : "without a dtype");
        return NULL;
    }
    if (t.rank != rank || memcmp(t.shape, shape, rank * sizeof *shape)) {
        npy_shape_text(is, sizeof is, t.rank, t.shape);
        npy_shape_text(must, sizeof must, rank, shape);
        error_say(e, "%s: tensor %.100s is %s; it must be %s, for %.100s of this config", f->path, name, is,
                  must, whose);
        return NULL;
    }
    float *to = malloc(4 * t.count + 4);
    if (!to) error_say(e, "out of memory for tensor %.100s", name);
    for (size_t i = 0; to && i < t.count; i++) to[i] = number_at(f->data + t.from + i * sizes[dtype], dtype);
    weights_mark(f, name);
    return to;
}
