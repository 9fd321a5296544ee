// npy.h: arrays as NumPy .npy files: format 1.0, C order, little-endian float64, float32, float16 or
// int32; or as tensors of a safetensors file, one file a case or one a folder.
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

enum { NPY_MAX_DIMS = 8 };
typedef enum { NPY_F8, NPY_F4, NPY_F2, NPY_I4 } npy_dtype;

typedef struct {
    npy_dtype dtype;
    size_t ndim;
    size_t shape[NPY_MAX_DIMS];
    size_t count; // product of the shape, 1 for ndim 0
    void *data;   // count elements, owned; free with npy_free
} npy;

// All return 0, or -1 with one sentence in `error` that begins with the file's name (and nothing to
// free). A file whose size is not what its header promises is refused before memory is taken.
int npy_read_file(npy *a, const char *path, smx_error *error);
// The same from bytes in memory; name stands in the errors.
int npy_decode(npy *a, const unsigned char *bytes, size_t length, const char *name, smx_error *error);
// path is either whole or untouched (files.c); it is synced with the rest of its set (cli_finish_folder).
int npy_write(const char *path, npy_dtype dtype, size_t ndim, const size_t *shape, const void *data,
              smx_error *error);
void npy_free(npy *a);

// arrays.c: the same, or, where there is no file CASE.NAME.npy but CASE.safetensors, that file's tensor NAME;
// where neither is there but arrays.safetensors, that file's tensor CASE.NAME.
int npy_read(npy *a, const char *path, smx_error *error);
// 1 where npy_read takes `path` from a safetensors file: that file, and the tensor's name.
int npy_packed(const char *path, char *file, size_t room, char *tensor, size_t tensor_room);
// What is wrong with a tensor of a header, as the end of a sentence about it (model/base/safetensors.h).
const char *npy_packed_wrong(int wrong);
int npy_read_packed(npy *a, const char *file, const char *tensor, smx_error *error);

size_t npy_item_size(npy_dtype dtype);
const char *npy_dtype_name(npy_dtype dtype); // "<f8", "<f4", "<f2", "<i4"
double npy_value(const npy *a, size_t i);
double npy_half(uint16_t bits); // IEEE 754 binary16
// "[3][4]" into text; "[]" for a scalar.
const char *npy_shape_text(char *text, size_t length, size_t ndim, const size_t *shape);

#endif
