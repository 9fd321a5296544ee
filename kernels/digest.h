// digest.h: every kernel run on seeded inputs, its output words hashed: one number per kernel that must be
// the same on every instruction set, compiler and machine. For self-checks and tests, not for training.
#ifndef SMX_DIGEST_H
#define SMX_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One for each kernel of kernels.txt, in that order.
size_t smx_digest_count(void);
// NULL past the last.
const char *smx_digest_name(size_t i);
// FNV-1a over the output words of the kernel's cases, any NaN taken as 0x7fc00000; `name` may be NULL. 0 past
// the last, or when there is not enough memory (a megabyte).
uint64_t smx_digest_kernel(size_t i, const char **name);

// How a kernel meets its memory: arrays start `offset` bytes past a multiple of 64; results, scratch and
// whatever else is to be written hold bytes `fill` before; in_place: 0, or which of the row's `in place`
// pairs are one array.
typedef struct {
    unsigned offset, fill;
    int in_place;
} smx_digest_memory;

// The same cases from another seed, each output array handed to `sink` (n words, valid during the call): to
// compare words rather than hashes. Returns 0; -1 past the last or without memory; -2 where bytes beside an
// array or beyond the scratch were written; 1 where the row has no such pair.
typedef void smx_digest_sink(void *context, const char *what, const void *words, size_t n);
int smx_digest_run(size_t i, uint64_t seed, const smx_digest_memory *memory, smx_digest_sink *sink,
                   void *context);

#ifdef __cplusplus
}
#endif
#endif
