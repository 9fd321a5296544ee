// parallel.h: how a caller lends its threads: the library makes none of its own.
#ifndef SMX_PARALLEL_H
#define SMX_PARALLEL_H

#include <stddef.h>

// Independent pieces 0..n-1 of one operation; any order, any thread. NULL hook: one after another.
typedef void (*smx_piece)(void *context, size_t i);
typedef void (*smx_parallel_for)(void *pool, size_t n, smx_piece piece, void *context);

#endif
