// program_plan.c: where the registers of a program lie, forward and backward, and how much memory it
// takes. The same for every instruction set.
#include "program.h"
#include "kernels/core/sizes.h"

#include <string.h>

#include <seqmix/smx.h>

// ---- Memory that steps hand on: pieces of one size come back to who needs that size ---------------------
typedef struct {
    size_t top, n;
    struct {
        uint32_t at, size;
    } spare[PROGRAM_REGISTERS];
} pool;
static uint32_t take(pool *m, size_t size) {
    for (size_t i = m->n; i-- > 0;)
        if (m->spare[i].size == size) {
            const uint32_t at = m->spare[i].at;
            m->spare[i] = m->spare[--m->n];
            return at;
        }
    m->top += size;
    return (uint32_t)(m->top - size);
}
static void give_back(pool *m, uint32_t at, size_t size) {
    if (m->n == PROGRAM_REGISTERS) return; // (never: there are no more pieces than registers)
    m->spare[m->n].at = at;
    m->spare[m->n++].size = (uint32_t)size;
}
static int alike(const program_register *a, const program_register *b) {
    return a->rows == b->rows && a->cols == b->cols;
}

// ---- Forward --------------------------------------------------------------------------------------------
// Whether the result may be written over operand i as it is read.
static int over(const program_step *s, size_t i) {
    switch ((program_op)s->op) {
    case PROGRAM_ROWS:
        return i == 1;
    case PROGRAM_COLUMNS:
    case PROGRAM_ADD_OUTER:
    case PROGRAM_SUB_OUTER:
        return i == 0;
    default:
        return s->op <= PROGRAM_SELECT;
    }
}
static void plan_values(program *p) {
    enum { AT_END = PROGRAM_STEPS };
    size_t last[PROGRAM_REGISTERS] = {0};
    pool m = {0};
    for (size_t k = 0; k < p->n_steps; k++)
        for (size_t i = 0; i < p->steps[k].operands; i++) last[p->steps[k].in[i]] = k;
    for (size_t i = 0; i < p->n_outputs; i++) last[p->outputs[i].from] = AT_END;
    for (size_t i = 0; i < p->n_states; i++) last[p->states[i].out] = AT_END;
    p->fixed = p->frame = p->state_n = 0;
    for (size_t r = 0; r < p->n_registers; r++) {
        program_register *x = &p->registers[r];
        const size_t size = program_floats(x);
        if (x->kind == PROGRAM_NUMBER || x->kind == PROGRAM_WEIGHT)
            x->value = (uint32_t)p->fixed, p->fixed += size;
        if (x->kind == PROGRAM_INPUT || x->kind == PROGRAM_STATE) x->value = take(&m, size);
        if (x->kind == PROGRAM_INPUT || x->kind == PROGRAM_STEP)
            x->tape = (uint32_t)p->frame, p->frame += size;
    }
    for (size_t i = 0; i < p->n_states; i++) {
        p->states[i].at = (uint32_t)p->state_n;
        p->state_n += program_floats(&p->registers[p->states[i].in]);
    }
    for (size_t k = 0; k < p->n_steps; k++) {
        const program_step *s = &p->steps[k];
        program_register *out = &p->registers[s->out];
        size_t taken = PROGRAM_OPERANDS;
        for (size_t i = 0; i < s->operands && taken == PROGRAM_OPERANDS; i++) {
            const program_register *x = &p->registers[s->in[i]];
            if (x->kind >= PROGRAM_INPUT && last[s->in[i]] == k && alike(x, out) && over(s, i)) taken = i;
        }
        out->value =
            taken < PROGRAM_OPERANDS ? p->registers[s->in[taken]].value : take(&m, program_floats(out));
        for (size_t i = 0; i < s->operands; i++) {
            const program_register *x = &p->registers[s->in[i]];
            int again = 0; // the same operand twice is given back once
            for (size_t j = 0; j < i; j++) again |= s->in[j] == s->in[i];
            if (x->kind >= PROGRAM_INPUT && last[s->in[i]] == k && !again && x->value != out->value)
                give_back(&m, x->value, program_floats(x));
        }
    }
    p->values = m.top;
    p->values_cross = 0;
    for (size_t i = 0; i < p->n_states; i++)
        for (size_t j = 0; j < p->n_states; j++)
            p->values_cross |=
                i != j && p->registers[p->states[i].out].value == p->registers[p->states[j].in].value;
}

// ---- Backward -------------------------------------------------------------------------------------------
// Whether operand i's gradient may stand where the result's stood: it is that, or a multiple entry by entry.
static int takes_over(const program_step *s, size_t i) {
    switch ((program_op)s->op) {
    case PROGRAM_ADD:
    case PROGRAM_MUL:
        return !(s->scalar >> i & 1);
    case PROGRAM_COPY:
    case PROGRAM_NEGATE:
    case PROGRAM_SUB:
    case PROGRAM_DIV:
    case PROGRAM_ADD_OUTER:
    case PROGRAM_SUB_OUTER:
    case PROGRAM_COLUMNS:
        return i == 0 && !(s->scalar & 1);
    case PROGRAM_ROWS:
        return i == 1;
    default:
        return 0;
    }
}
static void plan_gradients(program *p) {
    uint8_t has[PROGRAM_REGISTERS] = {0};
    pool m = {0};
    for (size_t r = 0; r < p->n_registers; r++)
        if (p->registers[r].kind == PROGRAM_WEIGHT) {
            p->registers[r].grad = take(&m, program_floats(&p->registers[r]));
            has[r] = 1;
        }
    for (size_t i = 0; i < p->n_states; i++) {
        program_register *out = &p->registers[p->states[i].out];
        p->states[i].grad = out->grad = take(&m, program_floats(out));
        has[p->states[i].out] = 1;
    }
    for (size_t i = 0; i < p->n_outputs; i++) {
        program_output *o = &p->outputs[i];
        o->fresh = !has[o->from];
        if (o->fresh) p->registers[o->from].grad = take(&m, program_floats(&p->registers[o->from]));
        has[o->from] = 1;
    }
    for (size_t k = p->n_steps; k-- > 0;) {
        program_step *s = &p->steps[k];
        program_register *out = &p->registers[s->out];
        s->live = has[s->out];
        size_t taken = PROGRAM_OPERANDS, n = 0;
        for (size_t i = 0; i < s->operands && s->live; i++) {
            const size_t r = s->in[i];
            int twice = 0;
            for (size_t j = 0; j < s->operands; j++) twice |= j != i && s->in[j] == r;
            if (taken == PROGRAM_OPERANDS && !has[r] && !twice && takes_over(s, i) &&
                p->registers[r].kind != PROGRAM_NUMBER && alike(out, &p->registers[r]))
                taken = i;
        }
        for (size_t i = 0; i < s->operands; i++)
            if (i != taken) s->first[n++] = (uint8_t)i;
        if (taken < PROGRAM_OPERANDS) s->first[n] = (uint8_t)taken;
        for (n = 0; n < s->operands; n++) {
            const size_t i = s->first[n], r = s->in[i];
            s->give[i] = GIVE_NOTHING;
            if (!s->live || p->registers[r].kind == PROGRAM_NUMBER || s->op == PROGRAM_LARGEST) continue;
            s->give[i] = has[r] ? GIVE_ADD : GIVE_SET;
            if (!has[r])
                p->registers[r].grad = i == taken ? out->grad : take(&m, program_floats(&p->registers[r]));
            has[r] = 1;
        }
        if (s->live && taken == PROGRAM_OPERANDS) give_back(&m, out->grad, program_floats(out));
    }
    p->grads_cross = 0;
    for (size_t r = 0; r < p->n_registers; r++) // what nothing hangs on
        if (!has[r]) p->registers[r].grad = UINT32_MAX;
    for (size_t i = 0; i < p->n_states; i++)
        for (size_t j = 0; j < p->n_states; j++)
            p->grads_cross |= i != j && p->registers[p->states[i].in].grad == p->states[j].grad;
    p->grads = m.top;
}

static size_t products_of(const program *p, const program_step *s) {
    const program_register *out = &p->registers[s->out], *a = &p->registers[s->in[0]];
    switch ((program_op)s->op) {
    case PROGRAM_VECMAT:
    case PROGRAM_MATVEC:
        return program_floats(&p->registers[s->in[s->op == PROGRAM_VECMAT]]);
    case PROGRAM_MATMUL:
        return (size_t)a->cols * out->rows * out->cols;
    case PROGRAM_DOT:
    case PROGRAM_SUM:
        return a->cols;
    default:
        return (size_t)out->rows * out->cols;
    }
}
void smx_program_plan(program *p) {
    plan_values(p);
    plan_gradients(p);
    p->products = 0;
    for (size_t k = 0; k < p->n_steps; k++) p->products += products_of(p, &p->steps[k]);
    // A tape of a segment stays near the processor, and the states that are kept are few.
    p->segment = 64;
    while (p->segment > 8 && p->segment * p->frame > (size_t)1 << 20) p->segment /= 2;
}

size_t smx_program_state_floats(const program *p) { return size_fits(size_mul(p->heads, p->state_n)); }
size_t smx_program_saved_floats(size_t L, const program *p) {
    return size_fits(size_mul((L + p->segment - 1) / p->segment, p->heads, p->state_n));
}
size_t smx_program_fwd_scratch_bytes(const program *p) {
    return size_floats((uint64_t)p->fixed + p->values + p->state_n);
}
static size_t largest(const program *p) {
    size_t most = 16;
    for (size_t r = 0; r < p->n_registers; r++)
        if (program_floats(&p->registers[r]) > most) most = program_floats(&p->registers[r]);
    return most;
}
size_t smx_program_bwd_scratch_bytes(size_t L, const program *p) {
    const size_t rows = L < p->segment ? L : p->segment;
    return size_floats(p->fixed + size_mul(rows, p->frame) + size_mul(2, p->state_n) + p->grads + largest(p));
}
