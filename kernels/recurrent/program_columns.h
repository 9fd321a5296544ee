// program_columns.h: runs a program whose steps work entry by entry and whose states are h_t = a_t h_{t-1} +
// b_t, where a and b do not depend on a state (minGRU, RG-LRU), a segment of rows at a time: first the steps
// that a and b come from, each for all rows; then the states, column by column in registers; then the steps
// that read them. Backward in the opposite order. The bits are those of row by row: program_plan.c accepts no
// other programs.
#ifndef SMX_PROGRAM_COLUMNS_H
#define SMX_PROGRAM_COLUMNS_H

#include "program_head.h"

// Whether a register's rows can stay in the array: it is all of it, without padding.
SMX_INLINE int in_place(const program *p, const program_register *x) {
    return x->kind == PROGRAM_INPUT && x->cols == p->columns[x->of] && x->cols == p->by_columns;
}
// Points to each register's rows from row t of the sequence on: an input's in its array, or copied to the
// tape.
static void columns_at(head *h, float *tape, size_t t, size_t count) {
    const program *p = h->p;
    const size_t pitch = p->by_columns, stride = program_stride(p);
    for (size_t r = 0; r < p->n_registers; r++) {
        const program_register *x = &p->registers[r];
        if (x->kind != PROGRAM_INPUT && x->kind != PROGRAM_STEP) continue;
        h->at[r] = tape + x->tape / pitch * stride;
        if (x->kind == PROGRAM_STEP) continue;
        const float *from = h->in[x->of] + t * p->columns[x->of] + column_of(x, h->head);
        if (in_place(p, x))
            h->at[r] = (float *)(uintptr_t)from; // (read only)
        else
            for (size_t i = 0; i < count; i++, from += p->columns[x->of])
                copy_row(h->at[r] + i * pitch, from, x->cols);
    }
}
// Prefetches the rows that the next segment reads and writes, a few lines at a time while the states are
// computed: the processor does not predict them (backward they lie below the present ones) and can wait for
// few lines at once.
typedef struct {
    size_t n, now, at, lines; // lines: of a call
    struct {
        const float *x;
        size_t floats;
    } list[2 * PROGRAM_INPUTS + 1];
} prefetch;
static void prefetch_rows(prefetch *f, const float *x, size_t t, size_t rows, size_t columns) {
    f->list[f->n].x = x + t * columns;
    f->list[f->n++].floats = rows * columns;
    f->lines += rows * columns / 16;
}
static void prefetch_inputs(prefetch *f, const program *p, const float *const *in, size_t t, size_t rows) {
    for (size_t i = 0; i < p->n_inputs; i++) prefetch_rows(f, in[i], t, rows, p->columns[i]);
}
SMX_INLINE void prefetch_some(prefetch *f) {
    for (size_t k = 0; k < f->lines && f->now < f->n; k++) {
        __builtin_prefetch(f->list[f->now].x + f->at, 0, 2);
        f->at += 16;
        if (f->at >= f->list[f->now].floats) f->at = 0, f->now++;
    }
}
// steps: calls of prefetch_some until the segment ends
static void prefetch_over(prefetch *f, size_t steps) {
    f->lines = smx_private_ahead ? f->lines / (steps ? steps : 1) + 1 : 0;
}
static size_t recurrence_steps(const program *p, size_t rows) {
    const size_t pitch = p->by_columns, blocks = pitch / (4 * SMX_W) + pitch % (4 * SMX_W) / SMX_W;
    return p->n_states * blocks * rows;
}
typedef struct {
    uint16_t decay, gain;          // registers a and b
    uint8_t decay_give, gain_give; // what backward does with their gradients
} recurrence;
static recurrence recurrence_of(const program *p, const program_state *s) {
    const program_step *a = &p->steps[s->decay], *b = &p->steps[s->gain];
    const int i = a->in[0] == s->in, k = b->in[0] == a->out;
    return (recurrence){a->in[i], b->in[k], a->give[i], b->give[k]};
}

// h_t = a_t h_{t-1} + b_t for nc registers of columns, of rows that lie `pitch` floats apart; h is the state
// before and becomes the one after.
SMX_INLINE void recur_block(float *to, float *h, const float *a, const float *b, size_t rows, size_t pitch,
                            prefetch *f, const int nc) {
    vf state[4];
    SMX_UNROLL for (int c = 0; c < nc; c++) state[c] = vf_load(h + c * SMX_W);
    for (size_t t = 0; t < rows; t++, to += pitch, a += pitch, b += pitch) {
        prefetch_some(f);
        SMX_UNROLL for (int c = 0; c < nc; c++) {
            const vf faded = vf_load(a + c * SMX_W) * state[c];
            state[c] = faded + vf_load(b + c * SMX_W);
            vf_store(to + c * SMX_W, state[c]);
        }
    }
    SMX_UNROLL for (int c = 0; c < nc; c++) vf_store(h + c * SMX_W, state[c]);
}
static void run_columns(const head *h, size_t count, prefetch *f) {
    const program *p = h->p;
    const size_t pitch = p->by_columns;
    for (size_t k = 0; k < p->n_steps; k++)
        if (p->steps[k].phase == PROGRAM_BEFORE) run_step(p, &p->steps[k], h->at, count * pitch);
    for (size_t i = 0; i < p->n_states; i++) {
        const program_state *s = &p->states[i];
        const recurrence q = recurrence_of(p, s);
        float *to = h->at[s->out], *state = h->at[s->in];
        const float *a = h->at[q.decay], *b = h->at[q.gain];
        size_t j = 0;
        for (; j + 4 * SMX_W <= pitch; j += 4 * SMX_W)
            recur_block(to + j, state + j, a + j, b + j, count, pitch, f, 4);
        for (; j < pitch; j += SMX_W) recur_block(to + j, state + j, a + j, b + j, count, pitch, f, 1);
    }
    for (size_t k = 0; k < p->n_steps; k++)
        if (p->steps[k].phase == PROGRAM_AFTER) run_step(p, &p->steps[k], h->at, count * pitch);
}
static void columns_fwd(head *h, float *y, float *tape, size_t t, size_t count, size_t next) {
    const program *p = h->p;
    prefetch f = {0};
    columns_at(h, tape, t, count);
    if (next) {
        prefetch_inputs(&f, p, h->in, t + count, next);
        prefetch_rows(&f, y, t + count, next, p->out_columns);
    }
    prefetch_over(&f, recurrence_steps(p, count));
    run_columns(h, count, &f);
    for (size_t i = 0; i < p->n_outputs; i++) {
        const program_output *o = &p->outputs[i];
        const size_t cols = p->registers[o->from].cols;
        const float *from = h->at[o->from];
        float *to = y + t * p->out_columns + o->column + h->head * cols;
        for (size_t k = 0; k < count; k++, from += p->by_columns, to += p->out_columns)
            V16_MAP(to, cols, LOAD(from));
    }
}

// ---- Backward -------------------------------------------------------------------------------------------
// dh_t = what reads h_t, and a_{t+1} dh_{t+1}; db = dh, da_t = dh_t h_{t-1}.
SMX_INLINE void give_register(float *to, vf x, int give) {
    vf_store(to, give == GIVE_ADD ? vf_load(to) + x : x);
}
// The term of dh_t beside a_{t+1} dh_{t+1}, row after row; there is at most one (program_plan.c). Of an
// output without padding it is dy itself; else it is added to the result's gradient, which begins as -0: -0 +
// x is x, whatever the sign of a zero.
typedef struct {
    const float *rows;
    size_t pitch;
} term;
typedef struct {
    float *da, *db, *carry;      // carry: a_{t+1} dh_{t+1}, and afterwards that of the row before
    const float *a, *h, *before; // before: h of the row before the first
    term dh;
} recurrence_rows;
SMX_INLINE void recur_back(const recurrence_rows *x, const recurrence *q, size_t j, size_t rows, size_t pitch,
                           prefetch *f, const int nc) {
    vf carry[4];
    SMX_UNROLL for (int c = 0; c < nc; c++) carry[c] = vf_load(x->carry + j + c * SMX_W);
    for (size_t t = rows; t-- > 0;) {
        const size_t i = t * pitch + j;
        const float *before = t ? x->h + i - pitch : x->before + j, *dh = x->dh.rows + t * x->dh.pitch + j;
        prefetch_some(f);
        SMX_UNROLL for (int c = 0; c < nc; c++) {
            const size_t k = i + (size_t)c * SMX_W;
            const vf d = vf_load(dh + c * SMX_W) + carry[c];
            give_register(x->db + k, d, q->gain_give);
            give_register(x->da + k, none_where_zero(d, d * vf_load(before + c * SMX_W)), q->decay_give);
            carry[c] = none_where_zero(d, d * vf_load(x->a + k));
        }
    }
    SMX_UNROLL for (int c = 0; c < nc; c++) vf_store(x->carry + j + c * SMX_W, carry[c]);
}
static const program_state *state_ending_as(const program *p, size_t r) {
    for (size_t i = 0; i < p->n_states; i++)
        if (p->states[i].out == r) return &p->states[i];
    return NULL;
}
static void find_terms(term *terms, const reverse *r, const head *h, const float *dy, size_t t,
                       size_t count) {
    const program *p = r->p;
    for (size_t i = 0; i < p->n_states; i++) {
        float *g = r->grad[p->states[i].out];
        terms[i] = (term){g, p->by_columns};
        for (size_t k = 0; k < count * p->by_columns; k += SMX_W) vf_store(g + k, vf_set(-0.0f));
    }
    for (size_t i = 0; i < p->n_outputs; i++) {
        const program_output *o = &p->outputs[i];
        const program_state *s = state_ending_as(p, o->from);
        const size_t cols = p->registers[o->from].cols;
        const float *d = dy + t * p->out_columns + o->column + h->head * cols;
        float *g = r->grad[o->from];
        if (s && cols == p->by_columns) {
            terms[s - p->states] = (term){d, p->out_columns};
            continue;
        }
        for (size_t k = 0; k < count; k++, d += p->out_columns, g += p->by_columns) take_output(g, d, p, o);
    }
}
static void reverse_phase(const reverse *r, program_phase phase, size_t n) {
    for (size_t k = r->p->n_steps; k-- > 0;) {
        const program_step *s = &r->p->steps[k];
        if (s->live && s->phase == phase) reverse_step(r, s, n);
    }
}
// Whether an input's gradient can be written to its array directly.
SMX_INLINE int gradient_in_place(const program *p, const program_register *x, float *const *din) {
    return in_place(p, x) && din[x->of] && !p->summed[x->of] && x->grad != UINT32_MAX;
}
// Rows from `t` on, whose states begin as `first`; carry: the gradients of the states after them, then of
// `first`.
static void columns_bwd(const reverse *r, head *h, float **grad, float *const *din, const float *dy,
                        float *tape, const float *first, float *carry, size_t t, size_t count) {
    const program *p = r->p;
    const size_t pitch = p->by_columns, n = count * pitch;
    term terms[PROGRAM_STATES];
    for (size_t i = 0; i < p->n_registers; i++) {
        const program_register *x = &p->registers[i];
        if (gradient_in_place(p, x, din)) grad[i] = din[x->of] + t * pitch;
    }
    columns_at(h, tape, t, count);
    prefetch f = {0};
    if (t) {
        prefetch_inputs(&f, p, h->in, t - p->segment, p->segment);
        prefetch_rows(&f, dy, t - p->segment, p->segment, p->out_columns);
        for (size_t i = 0; i < p->n_inputs; i++)
            if (din[i]) prefetch_rows(&f, din[i], t - p->segment, p->segment, p->columns[i]);
    }
    prefetch_over(&f, 2 * recurrence_steps(p, count));
    memcpy(r->temporary, first, p->state_n * sizeof *first);
    for (size_t i = 0; i < p->n_states; i++) h->at[p->states[i].in] = r->temporary + p->states[i].at;
    run_columns(h, count, &f);
    find_terms(terms, r, h, dy, t, count);
    reverse_phase(r, PROGRAM_AFTER, n);
    for (size_t i = p->n_states; i-- > 0;) {
        const program_state *s = &p->states[i];
        const recurrence q = recurrence_of(p, s);
        const recurrence_rows x = {.da = r->grad[q.decay],
                                   .db = r->grad[q.gain],
                                   .carry = carry + s->at,
                                   .a = h->at[q.decay],
                                   .h = h->at[s->out],
                                   .before = first + s->at,
                                   .dh = terms[i]};
        size_t j = 0;
        for (; j + 4 * SMX_W <= pitch; j += 4 * SMX_W) recur_back(&x, &q, j, count, pitch, &f, 4);
        for (; j < pitch; j += SMX_W) recur_back(&x, &q, j, count, pitch, &f, 1);
    }
    reverse_phase(r, PROGRAM_BEFORE, n);
    for (size_t i = 0; i < p->n_registers; i++) {
        const program_register *x = &p->registers[i];
        if (x->kind != PROGRAM_INPUT || !din[x->of] || gradient_in_place(p, x, din)) continue;
        const float *g = r->grad[i];
        float *to = din[x->of] + t * p->columns[x->of] + column_of(x, h->head);
        for (size_t k = 0; k < count; k++, g += pitch, to += p->columns[x->of]) give_input(to, g, p, x);
    }
    for (size_t i = 0; i < p->n_states; i++)
        memcpy(r->grad[p->states[i].out], carry + p->states[i].at, pitch * sizeof *carry);
}

#endif
