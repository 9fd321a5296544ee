// idx.h: the IDX format of the MNIST files (LeCun, Cortes & Burges): big-endian header, then bytes.
#ifndef SMX_IDX_H
#define SMX_IDX_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/run.h>

typedef struct {
    const uint8_t *pixels; // [count][28][28], inside the given bytes
    const uint8_t *labels; // [count], each 0..9
    size_t count;
} idx_set;

enum { IDX_SIDE = 28, IDX_PIXELS = IDX_SIDE * IDX_SIDE };

// Look at the bytes of an image file (magic 0x803, 28x28) and of its label file (magic 0x801): nothing is
// copied. On failure the error names the file and what is wrong with it.
int idx_open(idx_set *set, const uint8_t *images, size_t images_size, const char *images_name,
             const uint8_t *labels, size_t labels_size, const char *labels_name, smx_error *error);

#endif
