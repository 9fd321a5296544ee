// selfcheck.h: one 64-bit digest per kernel and per short training. The same numbers must come out on every
// instruction set, compiler, machine and browser.
#ifndef SMX_SELFCHECK_H
#define SMX_SELFCHECK_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/run.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t smx_selfcheck_count(void);
// "kernel gemm", "train cat", ...; NULL past the last. Valid until the thread's next call.
const char *smx_selfcheck_name(size_t i);
// 0 when it could not be run (out of memory).
uint64_t smx_selfcheck_digest(size_t i);
// The same, its training's pieces given to `hook` as smx_run_parallel says (NULL: none).
// The digest is the same.
uint64_t smx_selfcheck_digest_parallel(size_t i, smx_parallel_for hook, void *pool);

#ifdef __cplusplus
}
#endif
#endif
