// team.h: what exports.c lends to a run in seqmix-threads.wasm (include/seqmix/parallel.h).
#ifndef WASM_TEAM_H
#define WASM_TEAM_H

#include <stdint.h>

#include <seqmix/parallel.h>

extern uint32_t team_from; // flops of a step: one of fewer is sooner done by one thread
void team_for(void *pool, size_t n, smx_piece piece, void *context);

#endif
