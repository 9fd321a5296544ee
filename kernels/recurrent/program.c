// program.c: runs a recurrence's program (program.h), head by head and row by row, and backward through it;
// where every state is a h + b, many rows at a time (program_columns.h).
#include "program_columns.h"

// States at the end of a row become those before the next.
static void advance(const head *h, float *staged) {
    const program *p = h->p;
    for (size_t i = 0; i < p->n_states && p->values_cross; i++) {
        const program_state *s = &p->states[i];
        memcpy(staged + s->at, h->at[s->out], program_floats(&p->registers[s->out]) * sizeof *staged);
    }
    for (size_t i = 0; i < p->n_states; i++) {
        const program_state *s = &p->states[i];
        const float *from = p->values_cross ? staged + s->at : h->at[s->out];
        if (from != h->at[s->in])
            memcpy(h->at[s->in], from, program_floats(&p->registers[s->in]) * sizeof *from);
    }
}
// What is handed on holds nothing of the registers that padding shared memory with.
static void blank_padding(const program *p, float *states) {
    for (size_t i = 0; i < p->n_states; i++) {
        const program_register *x = &p->registers[p->states[i].in];
        const size_t pitch = program_pitch(x), rest = (pitch - x->cols) * sizeof *states;
        for (size_t r = 0; r < x->rows; r++) memset(states + p->states[i].at + r * pitch + x->cols, 0, rest);
    }
}

SMX_COPY(void, program_fwd)
(float *restrict y, float *restrict saved, float *carried, const float *const *in, void *scratch, size_t at,
 size_t B, size_t L, const smx_program *p) {
    float *fixed = scratch, *values = fixed + p->fixed, *staged = values + program_values(p);
    const size_t segments = (L + p->segment - 1) / p->segment;
    for (size_t b = 0; b < B; b++) {
        const float *rows[PROGRAM_ARRAYS];
        for (size_t i = 0; i < p->n_arrays; i++)
            rows[i] = in[i] + (i < p->n_inputs ? b * L * p->columns[i] : 0);
        for (size_t n = 0; n < p->heads; n++) {
            head h = {.p = p, .in = rows, .head = n};
            float *own = carried ? carried + (b * p->heads + n) * p->state_n : NULL;
            begin_head(&h, fixed);
            for (size_t r = 0; r < p->n_registers; r++)
                if (p->registers[r].kind >= PROGRAM_INPUT) h.at[r] = values + p->registers[r].value;
            for (size_t i = 0; i < p->n_states && PROGRAM_BY_COLUMNS(p); i++)
                h.at[p->states[i].in] = staged + p->states[i].at;
            if (!own || !at) begin_states(&h, staged);
            for (size_t i = 0; i < p->n_states; i++) {
                const program_state *s = &p->states[i];
                memmove(h.at[s->in], (own && at ? own : staged) + s->at,
                        program_floats(&p->registers[s->in]) * sizeof *own);
            }
            for (size_t t = 0; t < L && PROGRAM_BY_COLUMNS(p); t += p->segment) {
                if (saved) keep(&h, saved + ((b * segments + t / p->segment) * p->heads + n) * p->state_n);
                const size_t count = smx_min(p->segment, L - t), next = smx_min(p->segment, L - t - count);
                columns_fwd(&h, y + b * L * p->out_columns, values, t, count, next);
            }
            for (size_t t = 0; t < L && !PROGRAM_BY_COLUMNS(p); t++) {
                if (saved && t % p->segment == 0)
                    keep(&h, saved + ((b * segments + t / p->segment) * p->heads + n) * p->state_n);
                if (t + PREFETCHED_ROWS < L) prefetch_row(&h, t + PREFETCHED_ROWS);
                load_row(&h, t);
                for (size_t k = 0; k < p->n_steps; k++)
                    run_step(p, &p->steps[k], h.at, result_floats(p, &p->steps[k]));
                for (size_t i = 0; i < p->n_outputs; i++) {
                    const program_output *o = &p->outputs[i];
                    const size_t cols = p->registers[o->from].cols;
                    float *to = y + (b * L + t) * p->out_columns + o->column + n * cols;
                    const float *from = h.at[o->from];
                    V16_MAP(to, cols, LOAD(from));
                }
                advance(&h, staged);
            }
            if (own) keep(&h, own), blank_padding(p, own);
        }
    }
}

// ---- Backward -------------------------------------------------------------------------------------------
// Registers of row t of a segment, on its tape; states of the row before are the last row's results, or
// those kept.
static void point_to_row(head *h, float *tape, float *first, size_t t) {
    const program *p = h->p;
    for (size_t r = 0; r < p->n_registers; r++) {
        const program_register *x = &p->registers[r];
        if (x->kind == PROGRAM_INPUT || x->kind == PROGRAM_STEP) h->at[r] = tape + t * p->frame + x->tape;
    }
    for (size_t i = 0; i < p->n_states; i++) {
        const program_state *s = &p->states[i];
        h->at[s->in] = t ? h->at[s->out] - p->frame : first + s->at;
    }
}
// Gradients of the states, as row t leaves them, become those that row t - 1 begins with.
static void carry_back(const reverse *r, float *staged) {
    const program *p = r->p;
    for (size_t i = 0; i < p->n_states && p->grads_cross; i++) {
        const program_state *s = &p->states[i];
        const program_register *x = &p->registers[s->in];
        if (x->grad != UINT32_MAX) memcpy(staged + s->at, r->grad[s->in], program_floats(x) * sizeof *staged);
    }
    for (size_t i = 0; i < p->n_states; i++) {
        const program_state *s = &p->states[i];
        const program_register *x = &p->registers[s->in];
        float *to = r->grad[s->out];
        const float *from = p->grads_cross ? staged + s->at : r->grad[s->in];
        if (x->grad == UINT32_MAX)
            memset(to, 0, program_floats(x) * sizeof *to);
        else if (to != from)
            memcpy(to, from, program_floats(x) * sizeof *to);
    }
}
static void reverse_row(const reverse *r, const head *h, float *const *din, const float *dy, size_t t) {
    const program *p = r->p;
    for (size_t i = 0; i < p->n_outputs; i++) {
        const program_output *o = &p->outputs[i];
        const float *d = dy + t * p->out_columns + o->column + h->head * p->registers[o->from].cols;
        take_output(r->grad[o->from], d, p, o);
    }
    for (size_t k = p->n_steps; k-- > 0;)
        if (p->steps[k].live) reverse_step(r, &p->steps[k], result_floats(p, &p->steps[k]));
    for (size_t i = 0; i < p->n_registers; i++) {
        const program_register *x = &p->registers[i];
        if (x->kind == PROGRAM_INPUT && din[x->of])
            give_input(din[x->of] + t * p->columns[x->of] + column_of(x, h->head), r->grad[i], p, x);
    }
}

SMX_COPY(void, program_bwd)
(float *const *din, const float *dy, const float *const *in, const float *saved, void *scratch, size_t B,
 size_t L, const smx_program *p) {
    const size_t segments = (L + p->segment - 1) / p->segment, longest = smx_min(L, p->segment);
    float *fixed = scratch, *tape = fixed + p->fixed, *first = tape + program_tape(p, longest),
          *staged = first + p->state_n, *grads = staged + p->state_n,
          *temporary = grads + (PROGRAM_BY_COLUMNS(p) ? p->n_registers * program_stride(p) : p->grads);
    float *grad[PROGRAM_REGISTERS];
    for (size_t r = 0; r < p->n_registers; r++)
        grad[r] = PROGRAM_BY_COLUMNS(p)                ? grads + r * program_stride(p)
                  : p->registers[r].grad == UINT32_MAX ? temporary
                                                       : grads + p->registers[r].grad;
    for (size_t b = 0; b < B; b++) {
        const float *rows[PROGRAM_ARRAYS];
        float *drows[PROGRAM_ARRAYS];
        for (size_t i = 0; i < p->n_arrays; i++) {
            const size_t from = i < p->n_inputs ? b * L * p->columns[i] : 0;
            rows[i] = in[i] + from;
            drows[i] = din[i] ? din[i] + from : NULL;
            if (i < p->n_inputs && din[i] && p->summed[i])
                memset(drows[i], 0, L * p->columns[i] * sizeof **rows);
        }
        for (size_t n = 0; n < p->heads; n++) {
            head h = {.p = p, .in = rows, .head = n};
            const reverse r = {p, h.at, grad, temporary};
            begin_head(&h, fixed);
            for (size_t i = 0; i < p->n_registers; i++)
                if (p->registers[i].kind == PROGRAM_WEIGHT)
                    memset(grad[i], 0, program_floats(&p->registers[i]) * sizeof **grad);
            for (size_t i = 0; i < p->n_states; i++)
                memset(grad[p->states[i].out], 0,
                       program_floats(&p->registers[p->states[i].out]) * sizeof **grad);
            if (PROGRAM_BY_COLUMNS(p)) memset(staged, 0, p->state_n * sizeof *staged);
            for (size_t g = segments; g-- > 0 && PROGRAM_BY_COLUMNS(p);) {
                const size_t from = g * p->segment, count = smx_min(p->segment, L - from);
                memcpy(first, saved + ((b * segments + g) * p->heads + n) * p->state_n,
                       p->state_n * sizeof *first);
                columns_bwd(&r, &h, grad, drows, dy + b * L * p->out_columns, tape, first, staged, from,
                            count);
            }
            for (size_t g = segments; g-- > 0 && !PROGRAM_BY_COLUMNS(p);) {
                const size_t from = g * p->segment, count = smx_min(p->segment, L - from);
                memcpy(first, saved + ((b * segments + g) * p->heads + n) * p->state_n,
                       p->state_n * sizeof *first);
                for (size_t t = 0; t < count; t++) {
                    point_to_row(&h, tape, first, t);
                    load_row(&h, from + t);
                    for (size_t k = 0; k < p->n_steps; k++)
                        run_step(p, &p->steps[k], h.at, result_floats(p, &p->steps[k]));
                }
                for (size_t t = count; t-- > 0;) {
                    if (g) prefetch_row(&h, from + t - p->segment);
                    point_to_row(&h, tape, first, t);
                    reverse_row(&r, &h, drows, dy + b * L * p->out_columns, from + t);
                    carry_back(&r, staged);
                }
            }
            for (size_t i = 0; i < p->n_registers; i++) {
                const program_register *x = &p->registers[i];
                if (x->kind == PROGRAM_WEIGHT && drows[x->of])
                    add_back(drows[x->of] + n * x->stride, grad[i], x);
            }
            for (size_t i = 0; i < p->n_states; i++) {
                const program_state *s = &p->states[i];
                const program_register *x = &p->registers[s->in];
                const size_t size = (size_t)x->rows * x->cols;
                if (s->learned >= 0 && drows[s->learned])
                    add_back(drows[s->learned] + (p->columns[s->learned] > size ? n * size : 0), grad[s->out],
                             x);
            }
        }
    }
}
