// safetensors.h: what the header of a safetensors file says. The file: 8 bytes of header length
// (little-endian), the header in JSON {NAME: {dtype, shape, data_offsets: [from, end]}}, then the numbers.
#ifndef SMX_SAFETENSORS_H
#define SMX_SAFETENSORS_H

#include "json.h"

enum { SAFETENSORS_LENGTH = 8, SAFETENSORS_DIMS = 8 };
typedef struct {
    const char *dtype; // "F32"; "" where the file names none
    size_t rank, shape[SAFETENSORS_DIMS];
    size_t count;       // product of the shape, 1 for rank 0
    size_t from, bytes; // where its numbers stand in the data, and how many bytes they are
} safetensor;
typedef enum {
    SAFETENSORS_FOUND,
    SAFETENSORS_MISSING,
    SAFETENSORS_SHAPE,
    SAFETENSORS_PLACE
} safetensors_wrong;

// The header's length in a file of so many bytes, from its first 8; 0: none that is inside the file and at
// most `most`.
size_t safetensors_header(const unsigned char *bytes, size_t file, size_t most);
// What the header says of one tensor, its shape counted and its bytes inside the `data` bytes behind the
// header; or what is wrong. (The words for it are arrays.c's in cli/arrays: seqmix-whole.wasm has no room.)
safetensors_wrong safetensors_find(safetensor *t, const json *header, const char *name, size_t data);

#endif
