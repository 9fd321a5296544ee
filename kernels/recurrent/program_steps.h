// program_steps.h: what each step of a program (program.h) computes, and the gradients of its operands.
#ifndef SMX_PROGRAM_STEPS_H
#define SMX_PROGRAM_STEPS_H

#include "program_matrices.h"

// ---- Entry by entry -------------------------------------------------------------------------------------
// (As in activation.c and gate.c. The module that is downloaded has each of these once.)
#if defined(__wasm__)
#define ONCE static __attribute__((noinline))
#else
#define ONCE SMX_INLINE
#endif
ONCE vf exp_of(vf x) { return vf_exp(x); }
ONCE vf log_of(vf x) { return vf_log(x); }
ONCE vf sigmoid_of(vf x) { return vf_sigmoid(x); }
SMX_INLINE vf of_log1p(vf e) { // ln(1 + e), 0 <= e <= 1, by what 1 + e rounds to
    const vf one = vf_set(1.0f), u = one + e;
    return vf_select(vf_eq(u, one), e, log_of(u) * (e / vf_select(vf_eq(u, one), one, u - one)));
}
SMX_INLINE vf or_nan(vf x, vf y) { return vf_select(vf_eq(x, x), y, x); } // y, x where that is NaN
SMX_INLINE vf softplus_of(vf x) { return vf_max(x, vf_set(0.0f)) + of_log1p(exp_of(vf_neg(vf_abs(x)))); }
SMX_INLINE vf silu_of(vf x) { return vf_max(vf_set(-100.0f), x) * sigmoid_of(x); }
SMX_INLINE vf silu_slope(vf x) {
    const vf c = vf_max(vf_set(-100.0f), vf_min(vf_set(100.0f), x));
    const vf e = exp_of(vf_neg(vf_max(vf_set(-80.0f), c))), s = vf_set(1.0f) / (vf_set(1.0f) + e);
    return c * (s * (e * s)) + s;
}
SMX_INLINE vf where(vi mask, vf x) { return vi_float(vf_bits(x) & mask); }
SMX_INLINE vf none_where_zero(vf d, vf x) { return vi_float(vf_bits(x) & ~vf_eq(d, vf_set(0.0f))); }

#define EACH for (size_t i = 0; i < n; i += SMX_W)
#define LEFT vf_load(a + i)
#define RIGHT vf_load(b + i)
#define UNARY(OP, EXPRESSION)                                                                                \
    case OP:                                                                                                 \
        EACH {                                                                                               \
            const vf x = LEFT;                                                                               \
            vf_store(o + i, EXPRESSION);                                                                     \
        }                                                                                                    \
        break;
#if defined(__wasm__)
#define BINARY(OP, EXPRESSION)                                                                               \
    case OP:                                                                                                 \
        EACH {                                                                                               \
            const vf x = ENTRY(0, a), y = ENTRY(1, b);                                                       \
            vf_store(o + i, EXPRESSION);                                                                     \
        }                                                                                                    \
        break;
#else
#define BINARY(OP, EXPRESSION)                                                                               \
    case OP:                                                                                                 \
        if (s->scalar == 1) {                                                                                \
            const vf x = vf_set(a[0]);                                                                       \
            EACH {                                                                                           \
                const vf y = RIGHT;                                                                          \
                vf_store(o + i, EXPRESSION);                                                                 \
            }                                                                                                \
        } else if (s->scalar == 2) {                                                                         \
            const vf y = vf_set(b[0]);                                                                       \
            EACH {                                                                                           \
                const vf x = LEFT;                                                                           \
                vf_store(o + i, EXPRESSION);                                                                 \
            }                                                                                                \
        } else {                                                                                             \
            EACH {                                                                                           \
                const vf x = LEFT, y = RIGHT;                                                                \
                vf_store(o + i, EXPRESSION);                                                                 \
            }                                                                                                \
        }                                                                                                    \
        break;
#endif
// An operand entry by entry, a scalar for all of them.
#define ENTRY(k, p) (s->scalar >> k & 1 ? vf_set(p[0]) : vf_load(p + i))

// Floats of a result that are computed: a row's, without its padding.
SMX_INLINE size_t result_floats(const program *p, const program_step *s) {
    const program_register *out = &p->registers[s->out];
    return out->rows == 1 ? out->cols : program_floats(out);
}
// n: result_floats, or those of many rows of a step that works entry by entry.
static void run_step(const program *p, const program_step *s, float *const *at, size_t n) {
    const program_register *out = &p->registers[s->out], *ra = &p->registers[s->in[0]],
                           *rb = &p->registers[s->in[1]];
    float *o = at[s->out];
    const float *a = at[s->in[0]], *b = at[s->in[1]], *c = at[s->in[2]];
    switch ((program_op)s->op) {
    case PROGRAM_COPY:
        if (o != a) memcpy(o, a, n * sizeof *o);
        break;
        UNARY(PROGRAM_NEGATE, vf_neg(x))
        UNARY(PROGRAM_EXP, exp_of(x))
        UNARY(PROGRAM_LOG, log_of(x))
        UNARY(PROGRAM_SQRT, vf_sqrt(x))
        UNARY(PROGRAM_TANH, vf_tanh(x))
        UNARY(PROGRAM_SIGMOID, sigmoid_of(x))
        UNARY(PROGRAM_SILU, silu_of(x))
        UNARY(PROGRAM_SOFTPLUS, softplus_of(x))
        UNARY(PROGRAM_RELU, vf_select(vf_le(x, vf_set(0.0f)), vf_set(0.0f), x))
        UNARY(PROGRAM_ABS, vf_abs(x))
        BINARY(PROGRAM_ADD, x + y)
        BINARY(PROGRAM_SUB, x - y)
        BINARY(PROGRAM_MUL, x * y)
        BINARY(PROGRAM_DIV, x / y)
        BINARY(PROGRAM_MAX, or_nan(x, vf_max(x, y)))
        BINARY(PROGRAM_MIN, or_nan(x, vf_min(x, y)))
    case PROGRAM_SELECT:
        EACH vf_store(o + i, vf_select(vf_lt(vf_set(0.0f), ENTRY(0, a)), ENTRY(1, b), ENTRY(2, c)));
        break;
    case PROGRAM_SUM:
        o[0] = sum_entries(a, NULL, ra);
        break;
    case PROGRAM_LARGEST:
        o[0] = row_max(a, ra->cols);
        break;
    case PROGRAM_DOT:
        o[0] = sum_entries(a, b, ra);
        break;
    case PROGRAM_VECMAT:
        vecmat(o, a, b, rb, 1.0f, 0);
        break;
    case PROGRAM_MATVEC:
        row_dots(o, a, b, 0, ra, 1.0f, 0);
        break;
    case PROGRAM_MATMUL:
        matmul(o, a, b, ra, rb);
        break;
    case PROGRAM_OUTER:
        add_outer(o, NULL, a, b, 1.0f, out);
        break;
    case PROGRAM_ADD_OUTER:
    case PROGRAM_SUB_OUTER:
        add_outer(o, a, b, c, s->op == PROGRAM_SUB_OUTER ? -1.0f : 1.0f, out);
        break;
    case PROGRAM_ROWS:
        scale_rows(o, a, b, out, 0);
        break;
    case PROGRAM_COLUMNS:
        scale_columns(o, a, b, out, 0);
        break;
    case PROGRAM_TRANSPOSE:
        transpose(o, a, ra, 0);
        break;
    }
}

// What backward has beside the values: each register's gradient, and room for one.
typedef struct {
    const program *p;
    float *const *at, *const *grad;
    float *temporary;
} reverse;
#define GIVES(k) (s->give[k] != GIVE_NOTHING)
#define ADDS(k) (s->give[k] == GIVE_ADD)
// Operand k gets EXPRESSION, in which d is the result's gradient at i; a scalar gets the sum. Of the module
// that is downloaded each expression fills the temporary, and one function hands it on.
#if defined(__wasm__)
static void hand_on(const reverse *r, const program_step *s, size_t k, size_t n) {
    const program_register *out = &r->p->registers[s->out];
    float *g = r->grad[s->in[k]];
    if (s->scalar >> k & 1) {
        const float sum = sum_entries(r->temporary, NULL, out);
        g[0] = ADDS(k) ? g[0] + sum : sum;
    } else if (ADDS(k)) {
        EACH vf_store(g + i, vf_load(g + i) + vf_load(r->temporary + i));
    } else {
        EACH vf_store(g + i, vf_load(r->temporary + i));
    }
}
#define GIVE(k, EXPRESSION)                                                                                  \
    {                                                                                                        \
        EACH {                                                                                               \
            const vf d = vf_load(D + i);                                                                     \
            vf_store(r->temporary + i, (EXPRESSION));                                                        \
        }                                                                                                    \
        hand_on(r, s, k, n);                                                                                 \
    }
#else
#define GIVE(k, EXPRESSION)                                                                                  \
    {                                                                                                        \
        const int whole = !(s->scalar >> k & 1), add = ADDS(k) && whole;                                     \
        float *to = whole ? g : r->temporary;                                                                \
        EACH {                                                                                               \
            const vf d = vf_load(D + i), y = (EXPRESSION);                                                   \
            vf_store(to + i, add ? vf_load(to + i) + y : y);                                                 \
        }                                                                                                    \
        if (!whole) {                                                                                        \
            const float sum = sum_entries(to, NULL, out);                                                    \
            g[0] = ADDS(k) ? g[0] + sum : sum;                                                               \
        }                                                                                                    \
    }
#endif
// Where the result's gradient is 0, so is the operand's: what is not chosen may be infinite.
#define SLOPE(k, EXPRESSION) GIVE(k, none_where_zero(d, EXPRESSION))
static void give_outer(const reverse *r, const program_step *s, size_t k, const float *a, const float *b,
                       float sign) {
    float *g = r->grad[s->in[k]];
    if (GIVES(k)) add_outer(g, ADDS(k) ? g : NULL, a, b, sign, &r->p->registers[s->in[k]]);
}
static void give_number(const reverse *r, const program_step *s, size_t k, float x) {
    float *g = r->grad[s->in[k]];
    if (GIVES(k)) g[0] = ADDS(k) ? g[0] + x : x;
}
static void give_outer_factors(const reverse *r, const program_step *s, size_t k, const float *D,
                               float sign) {
    const program_register *out = &r->p->registers[s->out];
    if (GIVES(k)) row_dots(r->grad[s->in[k]], D, r->at[s->in[k + 1]], 0, out, sign, ADDS(k));
    if (GIVES(k + 1)) vecmat(r->grad[s->in[k + 1]], r->at[s->in[k]], D, out, sign, ADDS(k + 1));
}

// Gradients of the operands; what is taken over (program_step.first) comes last.
static void reverse_operand(const reverse *r, const program_step *s, size_t k, size_t n) {
    const program *p = r->p;
    const program_register *out = &p->registers[s->out], *ra = &p->registers[s->in[0]],
                           *rb = &p->registers[s->in[1]];
    const float *D = r->grad[s->out], *o = r->at[s->out], *a = r->at[s->in[0]], *b = r->at[s->in[1]],
                *c = r->at[s->in[2]];
    float *g = r->grad[s->in[k]];
    const vf zero = vf_set(0.0f), one = vf_set(1.0f);
    if (!GIVES(k)) return;
    switch ((program_op)s->op) {
    case PROGRAM_COPY:
    case PROGRAM_ADD:
    case PROGRAM_NEGATE:
    case PROGRAM_SUB:
    case PROGRAM_ADD_OUTER:
    case PROGRAM_SUB_OUTER:
        if (s->op == PROGRAM_NEGATE || (s->op == PROGRAM_SUB && k))
            GIVE(k, vf_neg(d))
        else if (g != D)
            GIVE(k, d)
        break;
    case PROGRAM_EXP:
        SLOPE(0, d * vf_load(o + i))
        break;
    case PROGRAM_LOG:
        SLOPE(0, d / LEFT)
        break;
    case PROGRAM_SQRT:
        SLOPE(0, where(~vf_eq(LEFT, zero), (d * vf_set(0.5f)) / vf_load(o + i)))
        break;
    case PROGRAM_TANH:
        GIVE(0, d * ((one - vf_load(o + i)) * (one + vf_load(o + i))))
        break;
    case PROGRAM_SIGMOID:
        GIVE(0, d * (vf_load(o + i) * (one - vf_load(o + i))))
        break;
    case PROGRAM_SILU:
        GIVE(0, d * silu_slope(LEFT))
        break;
    case PROGRAM_SOFTPLUS:
        GIVE(0, d * sigmoid_of(LEFT))
        break;
    case PROGRAM_RELU:
        GIVE(0, where(~vf_le(LEFT, zero), d))
        break;
    case PROGRAM_ABS:
        GIVE(0,
             where(~vf_eq(LEFT, zero), vi_float(vf_bits(d) ^ (vf_bits(LEFT) & vi_set((int32_t)0x80000000u)))))
        break;
    case PROGRAM_MUL: {
        const float *other = k ? a : b;
        if (s->scalar >> k & 1)
            give_number(r, s, k, sum_entries(D, other, out));
        else
            SLOPE(k, d * ENTRY((1 - k), other))
        break;
    }
    case PROGRAM_DIV:
        if (k == 0)
            SLOPE(0, d / ENTRY(1, b))
        else
            SLOPE(1, vf_neg((d * vf_load(o + i)) / ENTRY(1, b)))
        break;
    case PROGRAM_MAX:
        GIVE(k, where(vf_lt(ENTRY(1, b), ENTRY(0, a)) ^ vi_set(-(int32_t)k), d))
        break;
    case PROGRAM_MIN:
        GIVE(k, where(vf_lt(ENTRY(0, a), ENTRY(1, b)) ^ vi_set(-(int32_t)k), d))
        break;
    case PROGRAM_SELECT:
        GIVE(k, where((vf_lt(zero, ENTRY(0, a)) ^ vi_set(k == 2 ? -1 : 0)) & vi_set(k ? -1 : 0), d))
        break;
    case PROGRAM_SUM: {
        const size_t all = program_floats(ra);
        for (size_t i = 0; i < all; i += SMX_W)
            vf_store(g + i, ADDS(0) ? vf_load(g + i) + vf_set(D[0]) : vf_set(D[0]));
        break;
    }
    case PROGRAM_DOT: {
        const float *other = k ? a : b;
        const vf d = vf_set(D[0]);
        for (size_t i = 0; i < ra->cols; i += SMX_W) {
            const vf y = d * vf_load(other + i);
            vf_store(g + i, ADDS(k) ? vf_load(g + i) + y : y);
        }
        break;
    }
    case PROGRAM_LARGEST:
        break;
    case PROGRAM_VECMAT:
        if (k == 0) row_dots(g, b, D, 0, rb, 1.0f, ADDS(0));
        if (k == 1) give_outer(r, s, 1, a, D, 1.0f);
        break;
    case PROGRAM_MATVEC:
        if (k == 0) give_outer(r, s, 0, D, b, 1.0f);
        if (k == 1) vecmat(g, D, a, ra, 1.0f, ADDS(1));
        break;
    case PROGRAM_MATMUL:
        if (k == 1 && !ADDS(1)) memset(g, 0, program_floats(rb) * sizeof *g);
        for (size_t row = 0; row < out->rows; row++) {
            const float *d = D + row * program_pitch(out);
            if (k == 0) row_dots(g + row * program_pitch(ra), b, d, 0, rb, 1.0f, ADDS(0));
            if (k == 1) add_outer(g, g, a + row * program_pitch(ra), d, 1.0f, rb);
        }
        break;
    case PROGRAM_OUTER:
        if (k == 0) give_outer_factors(r, s, 0, D, 1.0f);
        break;
    case PROGRAM_ROWS:
        if (k == 0) row_dots(g, D, b, program_pitch(out), out, 1.0f, ADDS(0));
        if (k == 1) scale_rows(g, a, D, out, ADDS(1));
        break;
    case PROGRAM_COLUMNS:
        if (k == 0) scale_columns(g, D, b, out, ADDS(0));
        if (k == 1) column_products(g, D, a, out, ADDS(1));
        break;
    case PROGRAM_TRANSPOSE:
        transpose(g, D, out, ADDS(0));
        break;
    }
    (void)c;
}
static void reverse_step(const reverse *r, const program_step *s, size_t n) {
    const int outer = s->op == PROGRAM_OUTER ? 0 : s->op == PROGRAM_ADD_OUTER || s->op == PROGRAM_SUB_OUTER;
    if (s->op == PROGRAM_OUTER || outer)
        give_outer_factors(r, s, (size_t)outer, r->grad[s->out], s->op == PROGRAM_SUB_OUTER ? -1.0f : 1.0f);
    for (size_t i = 0; i < s->operands; i++)
        if (!(outer && s->first[i]) && s->op != PROGRAM_OUTER) reverse_operand(r, s, s->first[i], n);
}

#endif
