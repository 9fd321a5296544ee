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

// The same cases from another seed, each output array handed to `sink` (n words, valid during the call): to
// compare words rather than hashes. Returns 0, or -1 past the last or without memory.
typedef void smx_digest_sink(void *context, const char *what, const void *words, size_t n);
int smx_digest_run(size_t i, uint64_t seed, smx_digest_sink *sink, void *context);

#ifdef __cplusplus
}
#endif
#endif
