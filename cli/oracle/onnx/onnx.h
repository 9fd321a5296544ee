// onnx.h: cases as ONNX's node tests: a folder test_CASE with model.onnx and test_data_set_0/input_K.pb,
// output_K.pb, for any runner of those. The operators are LinearAttention and CausalConvWithState of opset
// 27, Attention of 23 (24 windows: 25) and, with fewer queries than states or shared keys, com.microsoft's
// LinearAttention.
#ifndef CLI_ONNX_H
#define CLI_ONNX_H

#include "cli/oracle/sets/hard.h"
#include "cli/oracle/oracle_batch.h"

// A case with `heads` is written as [B][H][L][d], not [B][L][H d].
typedef struct {
    hard_case is;
    size_t batch;
    int by_heads;
} onnx_case;
extern const onnx_case onnx_cases[]; // ends with a NULL mechanism

// An array of a case as a tensor of the operator: [B][L][heads d] with the two in the middle exchanged. 0: it
// is the same.
size_t onnx_heads(const onnx_case *is, const oracle_case *sizes, const char *array);

// Which output of the operator the array is; -1: none.
int onnx_output(const onnx_case *is, const char *array);

// Writes the case `name` into folder: its inputs, and the results of the batch that ran. 0, or 2 with the
// sentence printed.
int onnx_write(const char *folder, const char *name, const onnx_case *is, const oracle_batch *ran);

// The K-th output of the case `name` in a folder of results: 1 where there is none.
int onnx_path(char *path, size_t size, const char *folder, const char *name, size_t k);
// A tensor of float, double, float16 or bfloat16 as float64, its `heads` put back; it must then have the
// shape [ndim]. 0, or -1 with one sentence that begins with the path.
int onnx_read(npy *a, const char *path, size_t heads, size_t ndim, const size_t *shape, smx_error *error);

#endif
