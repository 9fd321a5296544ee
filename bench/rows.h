// rows.h: what `seqmix bench` and bench/wasm.mjs measure: ceilings of the machine, kernels, and whole
// training steps. A row is opened, run as often as the measurement wants, and closed; timing is the caller's.
#ifndef SMX_BENCH_ROWS_H
#define SMX_BENCH_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/run.h>
#include <seqmix/state.h>

typedef struct bench_row bench_row;
struct bench_row {
    char name[96];
    const char *isa;                             // kernels of this instruction set; NULL: the one chosen
    int fast;                                    // with fused multiply-add
    const char *target;                          // what the project aims at, or NULL
    int (*open)(bench_row *r, smx_error *error); // 0, or -1 with a sentence
    void (*ready)(bench_row *r);                 // before a run, and not part of it; or NULL
    void (*run)(bench_row *r);                   // once
    size_t a[6];                                 // sizes
    int threads;  // more than one: each sample once without and once with them, wall time counts
    char *config; // of whole runs
    double tokens,
        work; // of rows that compare lengths or positions: tokens of a run, what one's cost is divided by
    // set by open and run
    double flops; // of one run: products, and additions where they are counted
    double moved; // bytes that one run must read and write, or 0: not said
    double check; // what was computed: a loss, a sum of outputs, a number of steps; NaN: it failed
    size_t bytes; // memory held
    float *x[13];
    void *scratch;
    smx_run *lab;
    smx_run_state *state, *filled; // of rows that read on: the one that reads, and as it was at the start
};

// list.c: the list, made at the first call.
size_t bench_count(void);
bench_row *bench_at(size_t i);
int bench_open(bench_row *r, smx_error *error); // chooses the row's instruction set
void bench_close(bench_row *r);                 // and goes back to the one before

// n rounds of independent multiply-then-add chains in registers of that instruction set; returns their FLOPs.
// Names may end in "fma": the same with fused instructions. 0: unknown.
double bench_ceiling(const char *isa, size_t n);
// a = b + s c over n floats.
void bench_triad(const char *isa, float *a, const float *b, const float *c, float s, size_t n);

// For the files that add rows, each at the end of the list so far.
bench_row *bench_add(const char *name, int (*open)(bench_row *, smx_error *), void (*run)(bench_row *));
// The row of that name once more, with keys added to its config; "fast=1" also for kernels.
bench_row *bench_add_variant(const char *of, const char *keys, const char *target);
void bench_add_ceilings(void);
void bench_add_kernels(void);
void bench_add_scans(void);
void bench_add_reading(void);
void bench_add_workloads(void);
size_t bench_made(void); // rows so far
bench_row *bench_row_at(size_t i);
float *bench_floats(bench_row *r, size_t slot, size_t n); // n seeded values in -1..1
int bench_scratch(bench_row *r, size_t bytes);            // 0, or -1: out of memory

#endif
