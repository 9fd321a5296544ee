// team.c: only in seqmix-threads.wasm: shares the pieces of an operation with helpers, each an instance of
// the same module in a worker of its own, over the same memory, with a stack of its own
// (wasm/loader/threads.ts). As cli/team.c, with the waits of WebAssembly: who takes which piece moves no bit,
// and no helper has to come at all. One that took a piece and does not finish it is lost, and all that this
// memory holds with it: the caller traps, and lab_lost says why.
#include "wasm/team.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
    LOOKS = 50000, // for the next round before a helper sleeps; an estimate, not measured
    PATIENCE = 60  // waits in a row, of a second each, in which no piece is finished
};
uint32_t team_from;

static smx_piece piece;
static void *context;
static _Atomic uint64_t left;        // round << 32 | pieces that nobody has taken
static _Atomic uint32_t threads = 1; // that may take pieces, the caller's own counted
static _Atomic uint32_t done, sleeping, waiting, lost, helped;
static uint32_t patience = PATIENCE;

// -1: for ever. 2: the time is over.
static int wait(_Atomic uint32_t *at, uint32_t value, int64_t nanoseconds) {
    return __builtin_wasm_memory_atomic_wait32((int *)at, (int)value, nanoseconds);
}
static void wake(_Atomic uint32_t *at) { __builtin_wasm_memory_atomic_notify((int *)at, UINT32_MAX); }
static _Atomic uint32_t *round_word(void) { return (_Atomic uint32_t *)&left + 1; }

// Returns how many pieces it took.
static uint32_t work(void) {
    uint32_t took = 0;
    uint64_t now = left;
    while ((uint32_t)now) {
        if (!atomic_compare_exchange_weak(&left, &now, now - 1)) continue;
        piece(context, (uint32_t)now - 1);
        took++;
        done++;
        if (waiting) wake(&done);
        now = left;
    }
    return took;
}

// What a helper does, from 1 on, until its worker is ended.
void lab_help(uint32_t number) {
    for (;;) {
        const uint32_t most = threads, round = *round_word();
        if (number >= most) {
            wait(&threads, most, -1);
            continue;
        }
        helped += work();
        for (int i = 0; i < LOOKS && !(uint32_t)left; i++) {
        }
        if ((uint32_t)left) continue;
        sleeping++;
        wait(round_word(), round, -1);
        sleeping--;
    }
}

// So many from the next operation on.
void lab_threads(uint32_t count) {
    threads = count;
    wake(&threads);
}
// A helper says that its piece broke.
void lab_lose(void) {
    lost = 1;
    wake(&done);
}
int lab_lost(void) { return (int)lost; }
void lab_team_from(uint32_t flops) { team_from = flops; }
// For tests: pieces that helpers took; how long one may take.
uint32_t lab_helped(void) { return helped; }
void lab_patience(uint32_t seconds) { patience = seconds; }

void team_for(void *pool, size_t n, smx_piece p, void *c) {
    (void)pool;
    if (threads < 2 || n < 2) {
        for (size_t i = 0; i < n; i++) p(c, i);
        return;
    }
    piece = p;
    context = c;
    done = 0;
    left = ((left >> 32) + 1) << 32 | n;
    if (sleeping) wake(round_word());
    work();
    for (int i = 0; i < LOOKS && done < n; i++) {
    }
    uint32_t finished, before = 0, waits = 0;
    while ((finished = done) < n && !lost) {
        waits = finished == before ? waits : 0;
        before = finished;
        waiting = 1;
        if (wait(&done, finished, 1000000000) == 2 && ++waits >= patience) lost = 1;
        waiting = 0;
    }
    if (lost) __builtin_trap();
}
