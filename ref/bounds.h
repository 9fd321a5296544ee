// bounds.h: how far a float32 row of seqmix's kernels may be from the exact one: what proofs_tests/rocq
// proves, spelt once. For `seqmix compare` and `judge`, the tests of rows and tiles, and verify.wasm.
//
// A row function gives the exact row (in double) and, number by number, what the kernel's may be off by.
// Where a theorem's premise fails (an input that is no float32, sums that may overflow, a row too flat)
// every bound of the row is INFINITY: nothing is proved. What double itself rounds, here and in the exact
// row, is far below a millionth of a bound; each is given a millionth more.
#ifndef REF_BOUNDS_H
#define REF_BOUNDS_H

#include <stddef.h>

// Zeros that a causal row's tile may have after the diagonal, at most, in a pass over whole sequences. (Rows
// that are pushed may have 23; but zeros add no rounding.)
enum { REF_BOUND_AFTER = 11 };

// TileSums.v (tile_error, dot_error): sum x[i x_step] y[i y_step] of n products, as the tile of gemm.c has
// it, and as row_dot of reduce.h.
void ref_bound_tile(double *exact, double *bound, const double *x, size_t x_step, const double *y,
                    size_t y_step, size_t n);
void ref_bound_dot(double *exact, double *bound, const double *x, const double *y, size_t n);

// SoftmaxRow.v. softmax_row_error: the weights of n scores.
void ref_bound_softmax(double *exact, double *bound, const double *scores, size_t n);
// attention_row_error: one query of d numbers over n rows of keys (d numbers, k_step apart) and of values
// (dv, v_step apart), beside `after` columns of zeros. weights: room for n.
typedef struct {
    size_t n, after, d, dv, k_step, v_step;
    double scale;
} ref_bound_heads;
void ref_bound_attention(double *exact, double *bound, const double *q, const double *k, const double *v,
                         double *weights, const ref_bound_heads *p);

// NormRow.v (unit_norm_error, rms_norm_error, layer_norm_error). gain NULL: all 1.
void ref_bound_unit_norm(double *exact, double *bound, const double *x, size_t n);
void ref_bound_rms_norm(double *exact, double *bound, const double *x, const double *gain, size_t n,
                        double eps);
void ref_bound_layer_norm(double *exact, double *bound, const double *x, const double *gain,
                          const double *bias, size_t n, double eps);

#endif
