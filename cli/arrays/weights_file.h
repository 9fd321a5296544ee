// weights_file.h: a safetensors file of weights that another program wrote.
#ifndef CLI_WEIGHTS_FILE_H
#define CLI_WEIGHTS_FILE_H

#include "model/base/safetensors.h"

typedef struct {
    const char *path;
    const unsigned char *data;
    size_t size;
    json *header;
    void *bytes;
    char *used; // [header->count]
} weights_file;

int weights_open(weights_file *f, const char *path); // 0, or 2 with the sentence printed
void weights_close(weights_file *f);
void weights_mark(weights_file *f, const char *name); // as used
// The tensor `name` of this shape (F32, F64, F16 or BF16) as floats, which the caller frees; it is used then.
// NULL with the error, in which `whose` is what needs it.
float *weights_read(weights_file *f, const char *name, size_t rank, const size_t *shape, const char *whose,
                    smx_error *e);

#endif
