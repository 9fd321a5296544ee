// program_head.h: one head of a sequence whose program (program.h) runs: where its registers stand.
#ifndef SMX_PROGRAM_HEAD_H
#define SMX_PROGRAM_HEAD_H

#include "kernels/core/ahead.h"
#include "program_steps.h"

typedef struct {
    const program *p;
    const float *const *in; // [n_arrays], of this sequence
    size_t head;
    float *at[PROGRAM_REGISTERS];
} head;

// Rows of `cols` floats that lie close together, to rows a pitch apart; and added back.
static void spread(float *to, const float *from, const program_register *m) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++) {
        memcpy(to + i * pitch, from + i * m->cols, m->cols * sizeof *to);
        memset(to + i * pitch + m->cols, 0, (pitch - m->cols) * sizeof *to);
    }
}
static void add_back(float *to, const float *from, const program_register *m) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++) {
        float *t = to + i * m->cols;
        const float *f = from + i * pitch;
        V16_MAP(t, m->cols, v16_add(LOAD(t), LOAD(f)));
    }
}
// Numbers and weights, once a head.
static void begin_head(head *h, float *fixed) {
    const program *p = h->p;
    for (size_t r = 0; r < p->n_registers; r++) {
        const program_register *x = &p->registers[r];
        if (x->kind != PROGRAM_NUMBER && x->kind != PROGRAM_WEIGHT) continue;
        h->at[r] = fixed + x->value;
        if (x->kind == PROGRAM_NUMBER)
            for (size_t i = 0; i < program_floats(x); i++) h->at[r][i] = x->number;
        else
            spread(h->at[r], h->in[x->of] + h->head * x->stride, x);
    }
}
static void begin_states(const head *h, float *states) {
    const program *p = h->p;
    for (size_t i = 0; i < p->n_states; i++) {
        const program_state *s = &p->states[i];
        const program_register *x = &p->registers[s->in];
        const size_t n = (size_t)x->rows * x->cols, all = p->columns[s->learned < 0 ? 0 : s->learned];
        float *to = states + s->at;
        if (s->learned >= 0)
            spread(to, h->in[s->learned] + (all > n ? h->head * n : 0), x);
        else
            for (size_t k = 0; k < program_floats(x); k++) to[k] = s->start;
    }
}
static size_t column_of(const program_register *x, size_t head) {
    return x->column + head / x->group * x->stride;
}
// With zeros as padding.
SMX_INLINE void copy_row(float *to, const float *from, size_t cols) {
    size_t i = 0;
    for (; i + 16 <= cols; i += 16) v16_store(to + i, v16_load(from + i));
    if (i < cols) v16_store(to + i, v16_load_n(from + i, cols - i, 0.0f));
}
// The processor does not predict them: a head reads a part of each row, and backward goes down. (Inline: gcc
// drops calls of a function that does nothing but prefetch.)
enum { PREFETCHED_ROWS = 8 };
SMX_INLINE void prefetch_row(const head *h, size_t t) {
#if !defined(__wasm__)
    const program *p = h->p;
    for (size_t r = 0; r < p->n_registers && smx_private_ahead; r++) {
        const program_register *x = &p->registers[r];
        if (x->kind != PROGRAM_INPUT) continue;
        const float *from = h->in[x->of] + t * p->columns[x->of] + column_of(x, h->head);
        for (size_t i = 0; i < x->cols; i += 16) __builtin_prefetch(from + i);
    }
#else
    (void)h, (void)t;
#endif
}
static void load_row(const head *h, size_t t) {
    const program *p = h->p;
    for (size_t r = 0; r < p->n_registers; r++) {
        const program_register *x = &p->registers[r];
        if (x->kind != PROGRAM_INPUT) continue;
        const float *from = h->in[x->of] + t * p->columns[x->of] + column_of(x, h->head);
        copy_row(h->at[r], from, x->cols);
    }
}
static void keep(const head *h, float *to) { // the states before a row
    const program *p = h->p;
    for (size_t i = 0; i < p->n_states; i++)
        memcpy(to + p->states[i].at, h->at[p->states[i].in],
               program_floats(&p->registers[p->states[i].in]) * sizeof *to);
}

// Backward: a row of dy into its register's gradient; a register's gradient of a row into its array's.
static void take_output(float *g, const float *dy, const program *p, const program_output *o) {
    const size_t cols = p->registers[o->from].cols;
    if (o->fresh)
        copy_row(g, dy, cols);
    else
        V16_MAP(g, cols, v16_add(LOAD(g), LOAD(dy)));
}
static void give_input(float *to, const float *g, const program *p, const program_register *x) {
    if (x->grad == UINT32_MAX) {
        if (!p->summed[x->of]) memset(to, 0, x->cols * sizeof *to);
    } else if (p->summed[x->of])
        V16_MAP(to, x->cols, v16_add(LOAD(to), LOAD(g)));
    else
        V16_MAP(to, x->cols, LOAD(g));
}

#endif
