// parallel.h: how a caller lends its threads, and its messages to other processes: the library makes none of
// its own.
#ifndef SMX_PARALLEL_H
#define SMX_PARALLEL_H

#include <stddef.h>

// Independent pieces 0..n-1 of one operation; any order, any thread. NULL hook: one after another.
typedef void (*smx_piece)(void *context, size_t i);
typedef void (*smx_parallel_for)(void *pool, size_t n, smx_piece piece, void *context);

// One process of `count` (MPI's rank and size), and how it reaches the others: bytes as they lie in memory,
// so all have one byte order. Both return 0, or -1 once the other does not answer. send may return before
// the other receives, and has then taken a copy; two sends to the same process arrive in order.
typedef int (*smx_send)(void *context, size_t to, const void *data, size_t bytes);
typedef int (*smx_receive)(void *context, size_t from, void *data, size_t bytes);
typedef struct {
    size_t rank, count;
    smx_send send;
    smx_receive receive;
    void *context;
} smx_ranks;

#endif
