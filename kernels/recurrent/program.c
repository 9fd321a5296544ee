// program.c: runs a recurrence's program (program.h), head by head and row by row, and backward through it.
// Entry by entry in lanes; sums of a row's entries in the canonical order of reduce.h, sums over a matrix's
// rows in four parts (row i to part i mod 4). Long because forward and backward of each step stand side by
// side.
#include "kernels/core/kernel.h"
#include "program.h"

// ---- Matrices -------------------------------------------------------------------------------------------
// o (+)= sum over i of a[i] s S[i][..], of nc registers of columns; x != NULL: of x[i][..] S[i][..] instead.
SMX_INLINE void rows_block(float *o, const float *a, const float *x, const float *S, size_t rows,
                           size_t pitch, float sign, int add, const int nc) {
    vf part[4][4];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < nc; c++) part[k][c] = vf_set(0.0f);
    size_t i = 0;
#define ROW(k)                                                                                               \
    SMX_UNROLL for (int c = 0; c < nc; c++) part[k][c] =                                                     \
        vf_madd(x ? vf_load(x + (i + k) * pitch + (size_t)c * SMX_W) : vf_set(a[i + k]),                     \
                vf_load(S + (i + k) * pitch + (size_t)c * SMX_W), part[k][c])
    for (; i + 4 <= rows; i += 4) {
        ROW(0);
        ROW(1);
        ROW(2);
        ROW(3);
    }
    if (i < rows) ROW(0);
    if (i + 1 < rows) ROW(1);
    if (i + 2 < rows) ROW(2);
#undef ROW
    SMX_UNROLL for (int c = 0; c < nc; c++) {
        float *to = o + (size_t)c * SMX_W;
        vf y = (part[0][c] + part[1][c]) + (part[2][c] + part[3][c]);
        if (sign < 0) y = vf_neg(y);
        vf_store(to, add ? vf_load(to) + y : y);
    }
}
enum { COLUMNS = SMX_W == 16 ? 4 : 2 };
SMX_INLINE void sum_rows(float *o, const float *a, const float *x, const float *S, const program_register *m,
                         float sign, int add) {
    const size_t rows = m->rows, cols = m->cols, pitch = program_pitch(m);
    size_t j = 0;
    // (Narrow registers: the padding's columns as well.)
    for (; j + COLUMNS * SMX_W <= (SMX_W < 16 ? pitch : cols); j += COLUMNS * SMX_W)
        rows_block(o + j, a, x ? x + j : NULL, S + j, rows, pitch, sign, add, COLUMNS);
    for (; SMX_W == 16 && j < cols; j += SMX_W)
        rows_block(o + j, a, x ? x + j : NULL, S + j, rows, pitch, sign, add, 1);
}
static void vecmat(float *o, const float *a, const float *S, const program_register *m, float sign, int add) {
    sum_rows(o, a, NULL, S, m, sign, add);
}
// of the columns of x S, entry by entry
static void column_products(float *o, const float *x, const float *S, const program_register *m, int add) {
    sum_rows(o, NULL, x, S, m, 1.0f, add);
}

// One row's products, summed into the 16 lanes.
SMX_INLINE v16 row_products(const float *a, const float *b, size_t n) {
    v16 s = v16_set(0.0f);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) s = v16_madd(v16_load(a + i), v16_load(b + i), s);
    if (i < n) s = v16_madd(v16_load_n(a + i, n - i, 0.0f), v16_load_n(b + i, n - i, 0.0f), s);
    return s;
}
#if SMX_W == 1
SMX_INLINE void four_sums(float *to, const v16 *x) {
    for (int k = 0; k < 4; k++) to[k] = v16_hsum(x[k]);
}
#else
// Four canonical sums at once: lanes i and i + 8 meet, then + 4, + 2, + 1.
SMX_INLINE f4 quarter(v16 x) {
#if SMX_W == 4
    return (f4)((x.r[0] + x.r[2]) + (x.r[1] + x.r[3]));
#else
    const __m256 h = V16_HALVES(x, _mm256_add_ps);
    return (f4)_mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
#endif
}
SMX_INLINE void four_sums(float *to, const v16 *x) {
    const f4 a = quarter(x[0]), b = quarter(x[1]), c = quarter(x[2]), d = quarter(x[3]);
    const f4 ab = F4_SHUFFLE(a, b, 0, 4, 1, 5) + F4_SHUFFLE(a, b, 2, 6, 3, 7);
    const f4 cd = F4_SHUFFLE(c, d, 0, 4, 1, 5) + F4_SHUFFLE(c, d, 2, 6, 3, 7);
    *(f4_u *)to = F4_SHUFFLE(ab, cd, 0, 1, 4, 5) + F4_SHUFFLE(ab, cd, 2, 3, 6, 7);
}
#endif
// o[i] (+)= S[i] . c, or with `step` = the pitch S[i] . c[i]
static void row_dots(float *o, const float *S, const float *c, size_t step, const program_register *m,
                     float sign, int add) {
    const size_t pitch = program_pitch(m), rows = m->rows;
    for (size_t i = 0; i < rows; i += 4) {
        v16 s[4];
        float y[4];
        for (size_t k = 0; k < 4; k++) {
            const size_t row = i + k < rows ? i + k : rows - 1;
            s[k] = row_products(S + row * pitch, c + row * step, m->cols);
        }
        four_sums(y, s);
        for (size_t k = 0; k < 4 && i + k < rows; k++) {
            if (sign < 0) y[k] = -y[k];
            o[i + k] = add ? o[i + k] + y[k] : y[k];
        }
    }
}
// to = from + sign a b^T (from NULL: without)
static void add_outer(float *to, const float *from, const float *a, const float *b, float sign,
                      const program_register *m) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++) {
        const vf x = vf_set(sign < 0 ? -a[i] : a[i]);
        const float *f = from ? from + i * pitch : NULL;
        float *t = to + i * pitch;
        if (f)
            for (size_t j = 0; j < pitch; j += SMX_W)
                vf_store(t + j, vf_madd(x, vf_load(b + j), vf_load(f + j)));
        else
            for (size_t j = 0; j < pitch; j += SMX_W) vf_store(t + j, x * vf_load(b + j));
    }
}
static void scale_rows(float *to, const float *w, const float *S, const program_register *m, int add) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++) {
        const vf x = vf_set(w[i]);
        float *t = to + i * pitch;
        const float *s = S + i * pitch;
        if (add)
            for (size_t j = 0; j < pitch; j += SMX_W) vf_store(t + j, vf_load(t + j) + x * vf_load(s + j));
        else
            for (size_t j = 0; j < pitch; j += SMX_W) vf_store(t + j, x * vf_load(s + j));
    }
}
static void scale_columns(float *to, const float *S, const float *w, const program_register *m, int add) {
    const size_t pitch = program_pitch(m);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < pitch; j += SMX_W) {
            const vf y = vf_load(S + i * pitch + j) * vf_load(w + j);
            vf_store(to + i * pitch + j, add ? vf_load(to + i * pitch + j) + y : y);
        }
}
static void matmul(float *to, const float *a, const float *b, const program_register *x,
                   const program_register *y) {
    for (size_t i = 0; i < x->rows; i++)
        vecmat(to + i * program_pitch(y), a + i * program_pitch(x), b, y, 1.0f, 0);
}
static void transpose(float *to, const float *from, const program_register *m, int add) { // m: of `from`
    const size_t pitch = program_pitch(m), turned = (m->rows + 15u) / 16 * 16;
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++)
            to[j * turned + i] = add ? to[j * turned + i] + from[i * pitch + j] : from[i * pitch + j];
}
// Of all entries, or of their products with those of b; one entry is itself.
static float sum_entries(const float *a, const float *b, const program_register *m) {
    const size_t pitch = program_pitch(m);
    v16 s = v16_set(0.0f);
    if (m->rows == 1 && m->cols == 1) return b ? a[0] * b[0] : a[0];
    for (size_t r = 0; r < m->rows; r++, a += pitch) {
        size_t i = 0;
        for (; i + 16 <= m->cols; i += 16)
            s = b ? v16_madd(v16_load(a + i), v16_load(b + i), s) : v16_add(s, v16_load(a + i));
        const size_t n = m->cols - i;
        if (n && b) s = v16_madd(v16_load_n(a + i, n, 0.0f), v16_load_n(b + i, n, 0.0f), s);
        if (n && !b) s = v16_add(s, v16_load_n(a + i, n, 0.0f));
        if (b) b += pitch;
    }
    return v16_hsum(s);
}

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

static void run_step(const program *p, const program_step *s, float *const *at) {
    const program_register *out = &p->registers[s->out], *ra = &p->registers[s->in[0]],
                           *rb = &p->registers[s->in[1]];
    float *o = at[s->out];
    const float *a = at[s->in[0]], *b = at[s->in[1]], *c = at[s->in[2]];
    const size_t n = out->rows == 1 ? out->cols : program_floats(out);
    switch ((program_op)s->op) {
    case PROGRAM_COPY:
        if (o != a) memcpy(o, a, program_floats(out) * sizeof *o);
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
static void reverse_operand(const reverse *r, const program_step *s, size_t k) {
    const program *p = r->p;
    const program_register *out = &p->registers[s->out], *ra = &p->registers[s->in[0]],
                           *rb = &p->registers[s->in[1]];
    const float *D = r->grad[s->out], *o = r->at[s->out], *a = r->at[s->in[0]], *b = r->at[s->in[1]],
                *c = r->at[s->in[2]];
    float *g = r->grad[s->in[k]];
    const size_t n = out->rows == 1 ? out->cols : program_floats(out);
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
static void reverse_step(const reverse *r, const program_step *s) {
    const int outer = s->op == PROGRAM_OUTER ? 0 : s->op == PROGRAM_ADD_OUTER || s->op == PROGRAM_SUB_OUTER;
    if (s->op == PROGRAM_OUTER || outer)
        give_outer_factors(r, s, (size_t)outer, r->grad[s->out], s->op == PROGRAM_SUB_OUTER ? -1.0f : 1.0f);
    for (size_t n = 0; n < s->operands; n++)
        if (!(outer && s->first[n]) && s->op != PROGRAM_OUTER) reverse_operand(r, s, s->first[n]);
}

// ---- A head ---------------------------------------------------------------------------------------------
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
static void load_row(const head *h, size_t t) {
    const program *p = h->p;
    for (size_t r = 0; r < p->n_registers; r++) {
        const program_register *x = &p->registers[r];
        if (x->kind != PROGRAM_INPUT) continue;
        const float *from = h->in[x->of] + t * p->columns[x->of] + column_of(x, h->head);
        float *to = h->at[r];
        size_t i = 0;
        for (; i + 16 <= x->cols; i += 16) v16_store(to + i, v16_load(from + i));
        if (i < x->cols) v16_store(to + i, v16_load_n(from + i, x->cols - i, 0.0f));
    }
}
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
static void keep(const head *h, float *to) { // the states before a row
    const program *p = h->p;
    for (size_t i = 0; i < p->n_states; i++)
        memcpy(to + p->states[i].at, h->at[p->states[i].in],
               program_floats(&p->registers[p->states[i].in]) * sizeof *to);
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
    float *fixed = scratch, *values = fixed + p->fixed, *staged = values + p->values;
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
            if (!own || !at) begin_states(&h, staged);
            for (size_t i = 0; i < p->n_states; i++) {
                const program_state *s = &p->states[i];
                memcpy(h.at[s->in], (own && at ? own : staged) + s->at,
                       program_floats(&p->registers[s->in]) * sizeof *own);
            }
            for (size_t t = 0; t < L; t++) {
                if (saved && t % p->segment == 0)
                    keep(&h, saved + ((b * segments + t / p->segment) * p->heads + n) * p->state_n);
                load_row(&h, t);
                for (size_t k = 0; k < p->n_steps; k++) run_step(p, &p->steps[k], h.at);
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
        const size_t cols = p->registers[o->from].cols;
        const float *d = dy + t * p->out_columns + o->column + h->head * cols;
        float *g = r->grad[o->from];
        if (o->fresh)
            V16_MAP(g, cols, LOAD(d));
        else
            V16_MAP(g, cols, v16_add(LOAD(g), LOAD(d)));
    }
    for (size_t k = p->n_steps; k-- > 0;)
        if (p->steps[k].live) reverse_step(r, &p->steps[k]);
    for (size_t i = 0; i < p->n_registers; i++) {
        const program_register *x = &p->registers[i];
        if (x->kind != PROGRAM_INPUT || !din[x->of]) continue;
        float *to = din[x->of] + t * p->columns[x->of] + column_of(x, h->head);
        const float *g = r->grad[i];
        if (x->grad == UINT32_MAX) {
            if (!p->summed[x->of]) memset(to, 0, x->cols * sizeof *to);
        } else if (p->summed[x->of])
            V16_MAP(to, x->cols, v16_add(LOAD(to), LOAD(g)));
        else
            V16_MAP(to, x->cols, LOAD(g));
    }
}

SMX_COPY(void, program_bwd)
(float *const *din, const float *dy, const float *const *in, const float *saved, void *scratch, size_t B,
 size_t L, const smx_program *p) {
    const size_t segments = (L + p->segment - 1) / p->segment, longest = smx_min(L, p->segment);
    float *fixed = scratch, *tape = fixed + p->fixed, *first = tape + longest * p->frame,
          *staged = first + p->state_n, *grads = staged + p->state_n, *temporary = grads + p->grads;
    float *grad[PROGRAM_REGISTERS];
    for (size_t r = 0; r < p->n_registers; r++)
        grad[r] = p->registers[r].grad == UINT32_MAX ? temporary : grads + p->registers[r].grad;
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
            for (size_t g = segments; g-- > 0;) {
                const size_t from = g * p->segment, count = smx_min(p->segment, L - from);
                memcpy(first, saved + ((b * segments + g) * p->heads + n) * p->state_n,
                       p->state_n * sizeof *first);
                for (size_t t = 0; t < count; t++) {
                    point_to_row(&h, tape, first, t);
                    load_row(&h, from + t);
                    for (size_t k = 0; k < p->n_steps; k++) run_step(p, &p->steps[k], h.at);
                }
                for (size_t t = count; t-- > 0;) {
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
