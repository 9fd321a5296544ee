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

// ---- By columns -----------------------------------------------------------------------------------------
#if !defined(__wasm__) // (A module that is downloaded runs every program row by row: it is smaller so.)
// The steps whose backward adds to a register's gradient, in order; one that reads it twice stands there
// twice.
typedef struct {
    uint16_t n, from[PROGRAM_STEPS * PROGRAM_OPERANDS];
} gradient_order;
static void add_terms(gradient_order *o, const program *p, size_t k, size_t r) {
    const program_step *s = &p->steps[k];
    for (size_t n = 0; n < s->operands; n++)
        if (s->in[s->first[n]] == r && s->give[s->first[n]] != GIVE_NOTHING) o->from[o->n++] = (uint16_t)k;
}
// Whether a register's gradient is the same sum row by row and by columns. Of a state's result, row by row
// begins with what the next row hands back, and by columns ends with it: the same where there is one other
// term.
static int same_order(const program *p, size_t r) {
    gradient_order rows = {0}, columns = {0};
    for (size_t k = p->n_steps; k-- > 0;) add_terms(&rows, p, k, r);
    for (size_t k = p->n_steps; k-- > 0;)
        if (p->steps[k].phase == PROGRAM_AFTER) add_terms(&columns, p, k, r);
    for (size_t i = p->n_states; i-- > 0;)
        add_terms(&columns, p, p->states[i].gain, r), add_terms(&columns, p, p->states[i].decay, r);
    for (size_t k = p->n_steps; k-- > 0;)
        if (p->steps[k].phase == PROGRAM_BEFORE) add_terms(&columns, p, k, r);
    if (rows.n != columns.n || memcmp(rows.from, columns.from, rows.n * sizeof *rows.from)) return 0;
    size_t terms = rows.n;
    for (size_t i = 0; i < p->n_outputs; i++) terms += p->outputs[i].from == r;
    for (size_t i = 0; i < p->n_states; i++)
        if (p->states[i].out == r) return terms <= 1;
    return 1;
}
static int reads(const program_step *s, size_t r) {
    for (size_t i = 0; i < s->operands; i++)
        if (s->in[i] == r) return 1;
    return 0;
}
// Finds the steps a h and a h + b of a state: nothing else reads h or a h, and a and b depend on no state.
static int find_recurrence(program *p, program_state *s, const uint8_t *depends) {
    size_t decays = 0, gains = 0, old = 0;
    for (size_t k = 0; k < p->n_steps; k++)
        if (reads(&p->steps[k], s->in)) decays++, s->decay = (uint16_t)k;
    if (decays != 1) return 0;
    const program_step *a = &p->steps[s->decay];
    for (size_t k = 0; k < p->n_steps; k++)
        if (reads(&p->steps[k], a->out)) old++, s->gain = (uint16_t)k;
    for (size_t i = 0; i < p->n_outputs; i++)
        old += p->outputs[i].from == a->out || p->outputs[i].from == s->in;
    const program_step *b = &p->steps[s->gain];
    for (size_t i = 0; i < 2; i++) {
        gains += b->in[i] != a->out && !depends[b->in[i]];
        if (a->in[i] != s->in && depends[a->in[i]]) return 0;
    }
    return old == 1 && gains == 1 && a->op == PROGRAM_MUL && b->op == PROGRAM_ADD && b->out == s->out &&
           a->in[0] != a->in[1] && !a->scalar && !b->scalar;
}
static void plan_columns(program *p) {
    uint8_t depends[PROGRAM_REGISTERS] = {0}; // on a state
    p->by_columns = 0;
    if (!p->n_states) return;
    const size_t cols = p->registers[p->states[0].in].cols;
    for (size_t r = 0; r < p->n_registers; r++) {
        const program_register *x = &p->registers[r];
        if (x->rows != 1 || x->kind == PROGRAM_WEIGHT || (x->kind != PROGRAM_NUMBER && x->cols != cols))
            return;
        depends[r] = x->kind == PROGRAM_STATE;
    }
    for (size_t k = 0; k < p->n_steps; k++) {
        program_step *s = &p->steps[k];
        if (s->op > PROGRAM_SELECT) return;
        for (size_t i = 0; i < s->operands; i++) {
            if (p->registers[s->in[i]].kind == PROGRAM_NUMBER && !(s->scalar >> i & 1)) return;
            depends[s->out] |= depends[s->in[i]];
        }
        s->phase = depends[s->out] ? PROGRAM_AFTER : PROGRAM_BEFORE;
    }
    for (size_t i = 0; i < p->n_states; i++) {
        program_state *s = &p->states[i];
        if (!find_recurrence(p, s, depends)) return;
        p->steps[s->decay].phase = p->steps[s->gain].phase = PROGRAM_RECUR;
    }
    for (size_t r = 0; r < p->n_registers; r++)
        if (!same_order(p, r)) return;
    p->by_columns = program_pitch(&p->registers[p->states[0].in]);
    p->segment = 16; // whose registers stay in the first cache
}
#endif

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
#if !defined(__wasm__)
    plan_columns(p);
#endif
}

size_t smx_program_state_floats(const program *p) { return size_fits(size_mul(p->heads, p->state_n)); }
size_t smx_program_saved_floats(size_t L, const program *p) {
    return size_fits(size_mul((L + p->segment - 1) / p->segment, p->heads, p->state_n));
}
size_t smx_program_fwd_scratch_bytes(const program *p) {
    return size_floats((uint64_t)p->fixed + program_values(p) + p->state_n);
}
static size_t largest(const program *p) { // or all states
    size_t most = p->state_n > 16 ? p->state_n : 16;
    for (size_t r = 0; r < p->n_registers; r++)
        if (program_floats(&p->registers[r]) > most) most = program_floats(&p->registers[r]);
    return most;
}
size_t smx_program_bwd_scratch_bytes(size_t L, const program *p) {
    const size_t rows = L < p->segment ? L : p->segment,
                 grads = PROGRAM_BY_COLUMNS(p) ? p->n_registers * program_stride(p) : p->grads;
    return size_floats(p->fixed + program_tape(p, rows) + size_mul(2, p->state_n) + grads + largest(p));
}
