// state.c: gated linear attention (Yang et al. 2023, Eq. 3; Mamba-2's SSD, retention) and the delta rule
// (Yang et al. 2024; gated: Yang, Kautz & Hatamizadeh 2024), a matrix S [dk][dv] carried along each head:
//   R_t = diag(a_t) S_{t-1},  u_t = beta_t v_t  or  beta_t (v_t - R_t^T k_t),
//   S_t = R_t + k_t u_t^T,  y_t = S_t^T q_t,  a = e^g
// in blocks of 16 rows. With D_ts the product of a over s+1 .. t, and A_t that from the block's first row
// to t:
//   y_t = (A_t q_t)^T S + sum_{s<=t} reads_ts u_s,  reads_ts = q_t . D_ts k_s;
//   v - u/beta the same with k_t and s < t: a unit lower triangular system, solved by forward substitution
// D is multiplied up row by row: every factor lies in [0, 1], so a closed gate gives 0, however far the sums
// of g have gone, and no e^-g is ever formed. Lanes are the 16 rows s there, key channels in the gradients of
// q, k and g, else columns of v. Longer than 400 lines: backward runs the blocks of forward again.
#include "tile_narrow.h"
#include "state_layout.h"

enum { ROWS = STATE_ROWS };
#if defined(__wasm__) // the module is downloaded
#define STATE_UNROLL
#else
#define STATE_UNROLL SMX_UNROLL
#endif

typedef struct {
    const smx_state *p;
    state_layout l;
    int delta;
    const float *q, *k, *v, *beta, *g;
} call;
// A block's arrays (state_layout.h), and its rows.
typedef struct {
    float *q, *k, *alpha, *decay, *late, *reads, *answers, *beta, *miss, *written;
    const float *u, *state; // u: what is written, or v where it lies
    size_t n, ldu;          // rows; stride of u
    // No key and no query of the block comes below 2^-96 while any of its gates fade it: then there is
    // nothing to settle on the way. (Zeros stay what they are, and a NaN stays NaN either way.)
    int steady;
} block;

static block block_at(const call *c, float *scratch, size_t i, size_t n) {
    const state_layout *l = &c->l;
    float *f = scratch + i * l->block;
    return (block){.q = f + l->q,
                   .k = f + l->k,
                   .alpha = f + l->alpha,
                   .decay = f + l->decay,
                   .late = f + l->late,
                   .reads = f + l->reads,
                   .answers = f + l->answers,
                   .beta = f + l->beta,
                   .miss = f + l->miss,
                   .written = f + l->u,
                   .n = n};
}

// ---- Where things lie: row of the batch, head
static size_t keys_at(const smx_state *p, size_t row, size_t h) {
    return (p->shared ? row : row * p->H + h) * p->dk;
}
static size_t keys_stride(const smx_state *p) { return p->shared ? p->dk : p->H * p->dk; }

// Rows wanted soon, into the second cache: those of one head lie apart, and no processor guesses them all.
// Their lines are asked for a few at a time, between and within what is computed: a processor waits for no
// more than AHEAD of them (Zen 4), and beyond that everything waits.
enum { AHEAD = 24 };
#if defined(__wasm__) // which cannot ask
typedef struct {
    int none;
} wanted;
SMX_INLINE void want(wanted *a, const float *x, size_t stride, size_t n, size_t width) {
    (void)a, (void)x, (void)stride, (void)n, (void)width;
}
SMX_INLINE void ask(wanted *a, size_t lines) { (void)a, (void)lines; }
#else
typedef struct {
    struct {
        const float *x;
        size_t stride, n, width;
    } list[8];
    size_t count, now, column;
} wanted;
static void want(wanted *a, const float *x, size_t stride, size_t n, size_t width) {
    a->list[a->count].x = x;
    a->list[a->count].stride = stride;
    a->list[a->count].n = n;
    a->list[a->count].width = width;
    a->count += n > 0;
}
SMX_INLINE void ask(wanted *a, size_t lines) {
    for (; lines && a->now < a->count; lines--) {
        __builtin_prefetch(a->list[a->now].x + a->column, 0, 2);
        a->column += 16;
        if (a->column < a->list[a->now].width) continue;
        a->column = 0;
        a->list[a->now].x += a->list[a->now].stride;
        if (!--a->list[a->now].n) a->now++;
    }
}
#endif
// product(), asking between its parts: of 16 columns, and of 16 rows where its sums are long.
static void asking_product(wanted *a, float *c, size_t ldc, const float *x, size_t rx, size_t cx,
                           const float *b, size_t rb, size_t m, size_t n, size_t k, int add) {
#if defined(__wasm__)
    product(c, ldc, x, rx, cx, b, rb, m, n, k, add), ask(a, AHEAD);
#else
    const size_t rows = k > ROWS ? ROWS : m;
    for (size_t i = 0; i < m; i += rows)
        for (size_t j = 0; j < n; j += 16) {
            product(c + i * ldc + j, ldc, x + i * rx, rx, cx, b + j, rb, smx_min(rows, m - i),
                    smx_min(16, n - j), k, add);
            ask(a, AHEAD);
        }
#endif
}
SMX_INLINE v16 load_part(const float *x, size_t columns) {
    return columns == 16 ? v16_load(x) : v16_load_n(x, columns, 0.0f);
}
// n rows of `width`, padded with zeros to `padded` columns and to whole blocks of rows.
static void load_rows(float *to, const float *from, size_t stride, size_t n, size_t width, size_t padded) {
    for (size_t t = 0; t < ROWS; t++)
        for (size_t c = 0; c < padded; c += 16)
            v16_store(to + t * padded + c,
                      load_part(from + t * stride + c, t < n ? smx_min(16, width - c) : 0));
}
// Keys, queries and gates, the gates by channel or one for all channels of a row: e^g, 1 where there is no
// row; and e to the sum from the first row on, rounded once a block: were it multiplied up, gates that are
// the same in every row would be off by the same in every row.
SMX_LARGE void load_keys(block *w, const call *c, size_t row, size_t h, wanted *ahead, const int by_channel) {
    enum { AT_ONCE = SMX_EXPS > 1 ? SMX_EXPS / 2 : 1 }; // rows whose exponentials go in step
    const smx_state *p = c->p;
    const size_t dkp = c->l.dkp, at = keys_at(p, row, h), stride = keys_stride(p);
    const v16 scale = v16_set(p->scale), one = v16_set(1.0f), zero = v16_set(0.0f);
    float alpha[ROWS] = {0}, decay[ROWS], so_far = 0.0f;
    for (size_t t = 0; t < ROWS && !by_channel; t++) {
        if (p->gates && t < w->n) alpha[t] = c->g[p->gates == SMX_GATES_HEAD ? (row + t) * p->H + h : h];
        so_far += alpha[t];
        decay[t] = so_far;
    }
    if (!by_channel) { // lanes are rows
        v16_store(alpha, v16_exp_down(v16_load(alpha)));
        v16_store(decay, settled(v16_exp_down(v16_load(decay))));
    }
    v16 all = one;
    for (size_t i = 0; i < dkp; i += 16) {
        const size_t channels = smx_min(16, p->dk - i);
        v16 sum = zero, least = one, fade = one;
        for (size_t t0 = 0; t0 < ROWS; t0 += AT_ONCE) {
            v16 e[2 * AT_ONCE];
            ask(ahead, 3);
            for (size_t r = 0, t = t0; r < AT_ONCE; r++, t++) {
                if (by_channel) {
                    e[2 * r] = load_part(c->g + ((row + t) * p->H + h) * p->dk + i, t < w->n ? channels : 0);
                    e[2 * r + 1] = sum = v16_add(sum, e[2 * r]);
                } else {
                    e[2 * r] = v16_set(alpha[t]);
                    e[2 * r + 1] = v16_set(decay[t]);
                }
            }
            for (size_t r = 0; r < 2 * AT_ONCE && by_channel; r += SMX_EXPS) v16_exps_down(e + r);
            for (size_t r = 0, t = t0; r < AT_ONCE; r++, t++) {
                const size_t to = t * dkp + i, columns = t < w->n ? channels : 0;
                const v16 a = e[2 * r], k = load_part(c->k + at + t * stride + i, columns);
                const v16 q = v16_mul(load_part(c->q + at + t * stride + i, columns), scale);
                v16_store(w->alpha + to, a);
                v16_store(w->decay + to, by_channel ? settled(e[2 * r + 1]) : e[2 * r + 1]);
                v16_store(w->k + to, k);
                v16_store(w->q + to, q);
#if !defined(__wasm__) // the module is downloaded
                least = v16_min(v16_select(v16_eq(k, zero), one, v16_abs(k)), least);
                least = v16_min(v16_select(v16_eq(q, zero), one, v16_abs(q)), least);
                fade = v16_mul(fade, v16_min(a, one));
#endif
            }
        }
        all = v16_select(v16_le(v16_set(0x1p-90f), v16_mul(least, fade)), all, zero);
    }
#if defined(__wasm__)
    w->steady = 0, (void)all;
#else
    w->steady = p->gates && v16_hsum(all) == 16.0f;
#endif
}
// to [columns][ld] = from [ROWS][padded], transposed; padded is a multiple of 4.
static void turn(float *to, size_t ld, const float *from, size_t padded, size_t columns) {
    for (size_t c = 0; c < columns; c += 4) {
        float last[4 * ROWS];
        const int whole = c + 4 <= columns;
        float *rows = whole ? to + c * ld : last;
        for (size_t t = 0; t < ROWS; t += 4)
            transpose4(rows + t, whole ? ld : ROWS, from + t * padded + c, padded);
        for (size_t i = c; i < columns && !whole; i++)
            memcpy(to + i * ld, last + (i - c) * ROWS, ROWS * sizeof *to);
    }
}
// to [ROWS][dkp] = a o b
static void times(float *to, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i += 16) v16_store(to + i, v16_mul(v16_load(a + i), v16_load(b + i)));
}
// y += s x over a row of whole groups
static void add_row(float *y, const float *x, float s, size_t n) {
    const v16 factor = v16_set(s);
    for (size_t i = 0; i < n; i += 16) v16_store(y + i, v16_madd(v16_load(x + i), factor, v16_load(y + i)));
}
// state = diag(decay) state
static void fade(float *to, const float *state, const float *decay, const state_layout *l, size_t dk) {
    for (size_t c = 0; c < dk; c++) {
        const v16 a = v16_set(decay[c]);
        for (size_t i = c * l->dvp; i < (c + 1) * l->dvp; i += 16)
            v16_store(to + i, settled(v16_mul(v16_load(state + i), a)));
    }
}

// ---- Forward --------------------------------------------------------------------------------------------

static const float lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// Rows whose sums share the registers.
#define AT_ONCE(delta) (SMX_W == 16 ? ROWS >> (delta) : SMX_W == 1 ? 1 : SMX_W / 2 >> (delta))
// Of rows t.., reads and answers, and late, which holds keys of all 16 rows, one channel after the other, as
// they have decayed by the row before t: each from its own row on.
SMX_LARGE void decayed_pairs(const block *w, const call *c, size_t t, wanted *ahead, const int delta,
                             const int settles) {
    const size_t dkp = c->l.dkp, rows = AT_ONCE(delta);
    v16 reads[ROWS], answers[ROWS];
    STATE_UNROLL for (size_t r = 0; r < rows; r++) reads[r] = answers[r] = v16_set(0.0f);
    const float *a = w->alpha + t * dkp, *q = w->q + t * dkp, *as_query = w->k + t * dkp;
    for (size_t i = 0; i < c->p->dk; i++) {
        v16 k = v16_load(w->late + i * ROWS);
        ask(ahead, 1);
        STATE_UNROLL for (size_t r = 0; r < rows; r++) {
            const size_t at = r * dkp + i;
            k = v16_scale_below(k, a[at], (int)(t + r));
            if (settles) k = settled(k);
            reads[r] = v16_madd(v16_set(q[at]), k, reads[r]);
            if (delta) answers[r] = v16_madd(v16_set(as_query[at]), k, answers[r]);
        }
        v16_store(w->late + i * ROWS, k);
    }
    STATE_UNROLL for (size_t r = 0; r < rows; r++) {
        v16_store(w->reads + (t + r) * ROWS, reads[r]);
        if (delta) v16_store(w->answers + (t + r) * ROWS, answers[r]);
    }
}
SMX_INLINE void decayed(const block *w, const call *c, size_t t, wanted *a, const int delta) {
#if defined(__wasm__)
    (void)delta;
    decayed_pairs(w, c, t, a, c->delta, 1);
#else
    if (w->steady)
        decayed_pairs(w, c, t, a, delta, 0);
    else
        decayed_pairs(w, c, t, a, delta, 1);
#endif
}
#ifdef SMX_NARROW
// reads of a steady block in registers of 256 bits (tile_narrow.h): rows first.. meet the keys of eight rows,
// so that those above the diagonal are passed over.
SMX_INLINE void narrow_pairs(const block *w, const call *c, wanted *ahead, const size_t first) {
    const size_t dkp = c->l.dkp, alpha = (size_t)(w->alpha - w->q);
    narrow reads[ROWS];
    SMX_UNROLL for (size_t t = 0; t < ROWS; t++) reads[t] = (narrow){0};
    for (size_t i = 0; i < c->p->dk; i++) {
        float *late = w->late + i * ROWS + first;
        const float *q = w->q + first * dkp + i;
        narrow k = *(narrow_u *)late;
        ask(ahead, 1);
        SMX_UNROLL for (size_t r = 0; r < ROWS; r++) {
            if (first + r >= ROWS) continue;
            const narrow a = (narrow)_mm256_set1_ps(q[alpha]);
            k = r < 8 ? (narrow)_mm256_mask_mul_ps((__m256)k, (__mmask8)((1u << r) - 1), (__m256)k, (__m256)a)
                      : k * a;
            reads[r] = reads[r] + q[0] * k;
            q += dkp;
            SMX_OPAQUE(q);
        }
        *(narrow_u *)late = k;
    }
    SMX_UNROLL for (size_t r = 0; r < ROWS; r++) if (first + r < ROWS) *
        (narrow_u *)(w->reads + (first + r) * ROWS + first) = reads[r];
}
#endif
static void pairs(const block *w, const call *c, wanted *a) {
    const size_t dk = c->p->dk, dkp = c->l.dkp;
    const v16 lane = v16_load(lanes), zero = v16_set(0.0f);
    turn(w->late, ROWS, w->k, dkp, dk);
    if (!c->p->gates) {
        product(w->reads, ROWS, w->q, dkp, 1, w->late, ROWS, ROWS, ROWS, dk, 0);
        if (c->delta) product(w->answers, ROWS, w->k, dkp, 1, w->late, ROWS, ROWS, ROWS, dk, 0);
#ifdef SMX_NARROW
    } else if (smx_private_narrow && w->steady && !c->delta) {
        narrow_pairs(w, c, a, 0);
        narrow_pairs(w, c, a, 8);
#endif
    } else if (c->delta) {
        STATE_UNROLL for (size_t t = 0; t < ROWS; t += AT_ONCE(1)) decayed(w, c, t, a, 1);
    } else {
        STATE_UNROLL for (size_t t = 0; t < ROWS; t += AT_ONCE(0)) decayed(w, c, t, a, 0);
    }
    for (size_t t = 0; t < ROWS; t++) {
        const v16 row = v16_set((float)t);
        float *reads = w->reads + t * ROWS, *answers = w->answers + t * ROWS;
        v16_store(reads, v16_select(v16_le(lane, row), v16_load(reads), zero));
        if (c->delta) v16_store(answers, v16_select(v16_lt(lane, row), v16_load(answers), zero));
    }
}

// u and miss, which first is what the state leaves of v: four rows at a time are solved among themselves, and
// taken from those behind.
static void solve(const block *w, const call *c) {
    const size_t dvp = c->l.dvp;
    for (size_t t = 0; t < ROWS && !c->delta && c->beta; t++) {
        const v16 beta = v16_set(w->beta[t]);
        for (size_t i = t * dvp; i < (t + 1) * dvp; i += 16)
            v16_store(w->written + i, v16_mul(v16_load(w->miss + i), beta));
    }
    for (size_t s = 0; s < ROWS && c->delta; s += 4)
        for (size_t i = 0; i < dvp; i += SMX_W) {
            vf u[4];
            STATE_UNROLL for (size_t j = 0; j < 4; j++) {
                const float *answers = w->answers + (s + j) * ROWS + s;
                float *miss = w->miss + (s + j) * dvp + i;
                vf x = vf_load(miss);
                STATE_UNROLL for (size_t r = 0; r < 3; r++) if (r < j) x = x - vf_set(answers[r]) * u[r];
                vf_store(miss, x);
                u[j] = x * vf_set(w->beta[s + j]);
                vf_store(w->written + (s + j) * dvp + i, u[j]);
            }
            for (size_t t = s + 4; t < ROWS; t++) {
                const float *answers = w->answers + t * ROWS + s;
                vf x = vf_load(w->miss + t * dvp + i);
                STATE_UNROLL for (size_t r = 0; r < 4; r++) x = x - vf_set(answers[r]) * u[r];
                vf_store(w->miss + t * dvp + i, x);
            }
        }
}

// What load_block will read of a block.
static void want_block(wanted *a, const call *c, size_t row, size_t h, size_t n) {
    const smx_state *p = c->p;
    const size_t at = keys_at(p, row, h), values = p->H * p->dv;
    want(a, c->q + at, keys_stride(p), n, p->dk);
    want(a, c->k + at, keys_stride(p), n, p->dk);
    want(a, c->v + row * values + h * p->dv, values, n, p->dv);
    if (p->gates == SMX_GATES_CHANNEL) want(a, c->g + (row * p->H + h) * p->dk, p->H * p->dk, n, p->dk);
}
// One of the parts, as many as a segment has blocks, of a state.
static void want_state(wanted *a, const call *c, const float *state, size_t part) {
    const size_t dk = c->p->dk, rows = (dk + STATE_BLOCKS - 1) / STATE_BLOCKS, at = smx_min(dk, part * rows);
    want(a, state + at * c->l.dvp, c->l.dvp, smx_min(rows, dk - at), c->l.dvp);
}
// Everything of a block but the state after it.
static void load_block(block *w, const call *c, float *work, size_t row, size_t h, wanted *a) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t dvp = l->dvp, values = (row * p->H + h) * p->dv, stride = p->H * p->dv;
    const int plain = !c->delta && !c->beta; // u is v
    if (plain && w->n == ROWS && p->dv == dvp) {
        w->u = c->v + values, w->ldu = stride;
    } else {
        load_rows(w->miss, c->v + values, stride, w->n, p->dv, dvp);
        w->u = plain ? w->miss : w->written, w->ldu = dvp;
    }
    for (size_t t = 0; t < ROWS; t++)
        w->beta[t] = t >= w->n ? 0.0f : c->beta ? c->beta[(row + t) * p->H + h] : 1.0f;
    if (p->gates == SMX_GATES_CHANNEL)
        load_keys(w, c, row, h, a, 1);
    else
        load_keys(w, c, row, h, a, 0);
    pairs(w, c, a);
    if (c->delta) { // u first holds the state's answers
        times(work, w->k, w->decay, ROWS * l->dkp);
        product(w->written, dvp, work, l->dkp, 1, w->state, dvp, ROWS, dvp, p->dk, 0);
        add_row(w->miss, w->written, -1.0f, ROWS * dvp);
    }
    solve(w, c);
}
// The state after a block; in place, too.
static void write_block(float *after, const block *w, const call *c, wanted *a) {
    const state_layout *l = &c->l;
    fade(after, w->state, w->decay + (ROWS - 1) * l->dkp, l, c->p->dk);
    asking_product(a, after, l->dvp, w->late, ROWS, 1, w->u, w->ldu, c->p->dk, l->dvp, ROWS, 1);
}

// States [dk][dv] of the caller and [dk][dvp] of ours; NULL: zeros.
static void load_state(float *to, const float *from, const call *c) {
    memset(to, 0, c->l.size * sizeof *to);
    for (size_t i = 0; from && i < c->p->dk; i++)
        memcpy(to + i * c->l.dvp, from + i * c->p->dv, c->p->dv * sizeof *to);
}
static void store_state(float *to, const float *from, const call *c) {
    for (size_t i = 0; to && i < c->p->dk; i++)
        memcpy(to + i * c->p->dv, from + i * c->l.dvp, c->p->dv * sizeof *to);
}

static void forward(float *restrict y, float *restrict last, float *restrict states, const float *start,
                    float *scratch, const call *c) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t outer = p->dk * p->dv;
    float *work = scratch + l->work;
    if (!p->L) states = NULL; // no segment, no place for its state
    for (size_t b = 0; b < p->B; b++) {
        for (size_t h = 0; h < p->H; h++)
            load_state((states ? states : scratch + l->states) + h * l->size,
                       start ? start + (b * p->H + h) * outer : NULL, c);
        for (size_t t0 = 0; t0 < p->L; t0 += STATE_SEGMENT) {
            const size_t end = smx_min(p->L, t0 + STATE_SEGMENT);
            for (size_t h = 0; h < p->H; h++) { // heads take turns: whole rows are read while they are near
                float *carried = scratch + l->states + h * l->size;
                float *kept = states && end < p->L ? states + (p->H + h) * l->size : carried; // at the end
                block w = block_at(c, scratch, 0, 0);
                w.state = states ? states + h * l->size : carried;
                for (size_t t = t0; t < end; t += ROWS) {
                    const size_t row = b * p->L + t;
                    wanted a = {0};
                    w.n = smx_min(ROWS, p->L - t);
                    want(&a, y + (row * p->H + h) * p->dv, p->H * p->dv, w.n, p->dv);
                    if (kept != carried) want_state(&a, c, kept, (t - t0) / ROWS);
                    if (h + 1 < p->H)
                        want_block(&a, c, row, h + 1, w.n);
                    else if (t + STATE_SEGMENT + ROWS <= p->L)
                        want_block(&a, c, row + STATE_SEGMENT, 0, ROWS);
                    load_block(&w, c, work, row, h, &a);
                    times(work, w.q, w.decay, ROWS * l->dkp);
                    float *to = y + (row * p->H + h) * p->dv;
                    asking_product(&a, to, p->H * p->dv, work, l->dkp, 1, w.state, l->dvp, w.n, p->dv, p->dk,
                                   0);
                    asking_product(&a, to, p->H * p->dv, w.reads, ROWS, 1, w.u, w.ldu, w.n, p->dv, ROWS, 1);
                    float *after = t + ROWS < end ? carried : kept;
                    write_block(after, &w, c, &a);
                    w.state = after;
                    ask(&a, SIZE_MAX);
                }
            }
            if (states) states += p->H * l->size;
        }
        for (size_t h = 0; h < p->H && last; h++)
            store_state(last + (b * p->H + h) * outer, scratch + l->states + h * l->size, c);
    }
}

// ---- Backward -------------------------------------------------------------------------------------------

typedef struct {
    const smx_state_gradients *x;
    float *dstart;
    const float *dy, *dlast;
} gradients;

// Of 16 key channels i.. of one block, gradients of q and k through what lies in the block. dreads and
// danswers [ROWS][ROWS] are those of reads and answers. Keys decay forward in time, queries backward.
static void channels_bwd(float *dq, float *as_query, float *as_key, const float *dreads,
                         const float *danswers, const block *w, const call *c, size_t i) {
    const size_t dkp = c->l.dkp, n = w->n;
    const int gated = c->p->gates != SMX_GATES_NONE;
    v16 k[ROWS], q[ROWS]; // of rows s < t decayed to t; of rows t > s, back to s
    for (size_t t = 0; t < n; t++) {
        const v16 a = v16_load(w->alpha + t * dkp + i);
        v16 from_reads = v16_load(dq + t * dkp + i);
        v16 from_answers = c->delta ? v16_load(as_query + t * dkp + i) : v16_set(0.0f);
        k[t] = v16_load(w->k + t * dkp + i);
        for (size_t s = 0; s <= t; s++) {
            if (gated && s < t) k[s] = settled(v16_mul(k[s], a));
            from_reads = v16_madd(v16_set(dreads[t * ROWS + s]), k[s], from_reads);
            if (c->delta && s < t)
                from_answers = v16_madd(v16_set(danswers[t * ROWS + s]), k[s], from_answers);
        }
        v16_store(dq + t * dkp + i, from_reads);
        if (c->delta) v16_store(as_query + t * dkp + i, from_answers);
    }
    for (size_t s = n; s-- > 0;) {
        const v16 a = s + 1 < n ? v16_load(w->alpha + (s + 1) * dkp + i) : v16_set(1.0f);
        v16 sum = v16_load(as_key + s * dkp + i);
        q[s] = v16_load(w->q + s * dkp + i);
        k[s] = v16_load(w->k + s * dkp + i);
        for (size_t t = s; t < n; t++) {
            if (gated && t > s) {
                q[t] = settled(v16_mul(q[t], a));
                if (c->delta) k[t] = settled(v16_mul(k[t], a));
            }
            sum = v16_madd(v16_set(dreads[t * ROWS + s]), q[t], sum);
            if (c->delta && t > s) sum = v16_madd(v16_set(danswers[t * ROWS + s]), k[t], sum);
        }
        v16_store(as_key + s * dkp + i, sum);
    }
}

#if !defined(__wasm__)
// The same of a whole block in which nothing is to be settled: channels i.. of one register, keys and queries
// of a span of rows in registers all the while. A row's sum goes on from one span to the next.
SMX_INLINE void span_bwd(float *dq, float *as_query, float *as_key, const float *dreads,
                         const float *danswers, const block *w, size_t dkp, size_t i, const size_t from,
                         const size_t span, const int gated, const int delta) {
    vf x[ROWS], z[ROWS];
    SMX_UNROLL for (size_t t = 0; t < ROWS; t++) {
        if (t < from) continue;
        const size_t at = t * dkp + i;
        const vf a = vf_load(w->alpha + at);
        vf reads = vf_load(dq + at), answers = vf_load(as_query + at);
        if (t < from + span) x[t - from] = vf_load(w->k + at);
        SMX_UNROLL for (size_t j = 0; j < span; j++) {
            if (from + j > t) continue;
            if (gated && from + j < t) x[j] = x[j] * a;
            reads = vf_madd(vf_set(dreads[t * ROWS + from + j]), x[j], reads);
            if (delta && from + j < t)
                answers = vf_madd(vf_set(danswers[t * ROWS + from + j]), x[j], answers);
        }
        vf_store(dq + at, reads);
        if (delta) vf_store(as_query + at, answers);
    }
    SMX_UNROLL for (size_t back = 0; back < ROWS; back++) {
        const size_t s = ROWS - 1 - back, at = s * dkp + i;
        if (s >= from + span) continue;
        const vf a = s + 1 < ROWS ? vf_load(w->alpha + at + dkp) : vf_set(1.0f);
        vf sum = vf_load(as_key + at);
        if (s >= from) {
            x[s - from] = vf_load(w->q + at);
            z[s - from] = vf_load(w->k + at);
        }
        SMX_UNROLL for (size_t j = 0; j < span; j++) {
            const size_t t = from + j;
            if (t < s) continue;
            if (gated && t > s) {
                x[j] = x[j] * a;
                if (delta) z[j] = z[j] * a;
            }
            sum = vf_madd(vf_set(dreads[t * ROWS + s]), x[j], sum);
            if (delta && t > s) sum = vf_madd(vf_set(danswers[t * ROWS + s]), z[j], sum);
        }
        vf_store(as_key + at, sum);
    }
}
#define WHOLE_BWD(name, gated, delta)                                                                        \
    static void name(float *dq, float *as_query, float *as_key, const float *dreads, const float *danswers,  \
                     const block *w, size_t dkp) {                                                           \
        enum { span = (SMX_W == 16 ? ROWS : ROWS / 2) >> delta };                                            \
        for (size_t i = 0; i < dkp; i += SMX_W)                                                              \
            SMX_UNROLL for (size_t from = 0; from < ROWS; from += span)                                      \
                span_bwd(dq, as_query, as_key, dreads, danswers, w, dkp, i, from, span, gated, delta);       \
    }
WHOLE_BWD(whole_gla_bwd, 1, 0)
WHOLE_BWD(whole_plain_gla_bwd, 0, 0)
WHOLE_BWD(whole_delta_bwd, 0, 1)
WHOLE_BWD(whole_gated_delta_bwd, 1, 1)
#endif

static void pairs_bwd(float *dq, float *as_query, float *as_key, const float *dreads, const float *danswers,
                      const block *w, const call *c) {
    const size_t dkp = c->l.dkp;
#if !defined(__wasm__)
    const int gated = c->p->gates != SMX_GATES_NONE;
    if (w->n == ROWS && (w->steady || !gated)) {
        if (c->delta)
            (gated ? whole_gated_delta_bwd : whole_delta_bwd)(dq, as_query, as_key, dreads, danswers, w, dkp);
        else
            (gated ? whole_gla_bwd : whole_plain_gla_bwd)(dq, as_query, as_key, dreads, danswers, w, dkp);
        return;
    }
#endif
    for (size_t i = 0; i < dkp; i += 16) channels_bwd(dq, as_query, as_key, dreads, danswers, w, c, i);
}

// d log a at each row: what crosses it. From the block's end, where that is <dS, S>, each row adds what reads
// there and takes away what is written there. dg [ROWS][stride]: gates by channel are the caller's rows.
static void gates_bwd(float *dg, size_t stride, const float *dq, const float *as_query, const float *as_key,
                      const float *back, const float *end, const block *w, const call *c) {
    const size_t dkp = c->l.dkp, dk = c->p->dk, dvp = c->l.dvp;
    const size_t width = c->p->gates == SMX_GATES_CHANNEL ? dk : dkp;
    float across[16];
    for (size_t i = 0; i < dkp; i += 16) {
        const size_t channels = smx_min(16, width - i);
        for (size_t j = 0; j < 16; j++)
            across[j] = i + j < dk ? row_dot(back + (i + j) * dvp, end + (i + j) * dvp, dvp) : 0.0f;
        v16 sum = v16_load(across);
        for (size_t t = w->n; t-- > 0;) {
            const size_t at = t * dkp + i;
            const v16 answers = c->delta ? v16_load(as_query + at) : v16_set(0.0f);
            sum = v16_madd(v16_load(w->q + at), v16_load(dq + at), sum);
            sum = v16_madd(v16_load(w->k + at), v16_sub(answers, v16_load(as_key + at)), sum);
            if (channels == 16)
                v16_store(dg + t * stride + i, sum);
            else
                v16_store_n(dg + t * stride + i, sum, channels);
        }
    }
}

// A gradient row of keys or queries: the first of heads that share them overwrites, the others add.
static void store_keys(float *to, const float *from, float scale, size_t dk, int add) {
    const v16 s = v16_set(scale);
    if (add)
        V16_MAP(to, dk, v16_madd(LOAD(from), s, LOAD(to)));
    else
        V16_MAP(to, dk, v16_mul(LOAD(from), s));
}

// to [ROWS][dkp] = from [dkp][ld], transposed
static void turn_back(float *to, size_t dkp, const float *from, size_t ld) {
    for (size_t i = 0; i < dkp; i += 4)
        for (size_t t = 0; t < ROWS; t += 4) transpose4(to + t * dkp + i, dkp, from + i * ld + t, ld);
}

// The triangular system's transpose, by backward substitution: dmiss, negative, and du without what later
// rows' answers say of it. Four rows at a time, as forward.
static void solve_bwd(float *dmiss, float *du, const block *w, size_t dvp) {
    for (size_t t = ROWS; t > 0; t -= 4)
        for (size_t i = 0; i < dvp; i += SMX_W) {
            vf later[4]; // of rows t - 1, t - 2 ..
            STATE_UNROLL for (size_t j = 0; j < 4; j++) {
                const size_t s = t - 1 - j, at = s * dvp + i;
                vf x = vf_load(du + at);
                STATE_UNROLL for (size_t r = 0; r < 3; r++) if (r < j) x =
                    vf_madd(later[r], vf_set(w->answers[(t - 1 - r) * ROWS + s]), x);
                vf_store(du + at, x);
                later[j] = vf_madd(x, vf_set(-w->beta[s]), vf_set(0.0f));
                vf_store(dmiss + at, later[j]);
            }
            for (size_t s = 0; s < t - 4; s++) {
                vf x = vf_load(du + s * dvp + i);
                STATE_UNROLL for (size_t r = 0; r < 4; r++) x =
                    vf_madd(later[r], vf_set(w->answers[(t - 1 - r) * ROWS + s]), x);
                vf_store(du + s * dvp + i, x);
            }
        }
}

// One block, back to front: `back` is the gradient of the state after it (`end`) and becomes that of the
// state before.
static void block_bwd(const gradients *d, const block *w, float *back, const float *end, float *scratch,
                      const call *c, size_t row, size_t h, wanted *a) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t dk = p->dk, dkp = l->dkp, dvp = l->dvp, n = w->n, all = ROWS * dkp;
    float *du = scratch + l->written, *dmiss = scratch + l->dmiss;
    float *turned = scratch + l->turned, *turned_u = scratch + l->turned_u, *sides = scratch + l->sides;
    float *dreads = scratch + l->dreads, *danswers = scratch + l->danswers, *work = scratch + l->work;
    float *dq = scratch + l->dq, *as_query = scratch + l->as_query, *as_key = scratch + l->as_key;
    const size_t wide = c->delta ? 2 * ROWS : ROWS; // rows of dy, and of dmiss
    const size_t values = (row * p->H + h) * p->dv, stride = p->H * p->dv;
    const float *dy = d->dy + values;
    size_t ldy = stride, ldu = dvp;
    if (n < ROWS || p->dv < dvp) {
        load_rows(scratch + l->dy, dy, stride, n, p->dv, dvp);
        dy = scratch + l->dy, ldy = dvp;
    }
    const int plain = !c->delta && !c->beta; // then that of u is the gradient of v
    if (plain) du = d->x->v + values, ldu = stride;
    const size_t rows = plain ? n : ROWS, columns = plain ? p->dv : dvp;
    asking_product(a, du, ldu, w->late, 1, ROWS, back, dvp, rows, columns, dk, 0);
    asking_product(a, du, ldu, w->reads, 1, ROWS, dy, ldy, rows, columns, ROWS, 1);
    if (c->delta) solve_bwd(dmiss, du, w, dvp);
    for (size_t t = 0; t < n; t++) {
        const float *got = du + t * ldu, *miss = plain ? w->u + t * w->ldu : w->miss + t * dvp;
        float *to = d->x->v + values + t * stride;
        if (d->x->beta) d->x->beta[(row + t) * p->H + h] = row_dot(got, miss, p->dv);
        const v16 beta = v16_set(w->beta[t]);
        if (got != to) V16_MAP(to, p->dv, v16_mul(LOAD(got), beta));
    }
    turn(turned_u, ROWS, w->u, w->ldu, dvp);
    asking_product(a, dreads, ROWS, dy, ldy, 1, turned_u, ROWS, ROWS, ROWS, p->dv, 0);
    if (c->delta) asking_product(a, danswers, ROWS, dmiss, dvp, 1, turned_u, ROWS, ROWS, ROWS, p->dv, 0);
    // What passes through the states before and after: S dy, S dmiss, dS u, with lanes of rows, then turned.
    turn(turned, wide, dy, ldy, dvp);
    if (c->delta) turn(turned + ROWS, wide, dmiss, dvp, dvp);
    memset(sides + dk * wide, 0, (dkp - dk) * wide * sizeof *sides);
    asking_product(a, sides, wide, w->state, dvp, 1, turned, wide, dk, wide, p->dv, 0);
    turn_back(dq, dkp, sides, wide);
    times(dq, dq, w->decay, all);
    if (c->delta) {
        turn_back(as_query, dkp, sides + ROWS, wide);
        times(as_query, as_query, w->decay, all);
    }
    asking_product(a, sides, ROWS, back, dvp, 1, turned_u, ROWS, dk, ROWS, p->dv, 0);
    turn_back(as_key, dkp, sides, ROWS);
    const v16 sign = v16_set(c->delta ? -0.0f : 0.0f); // the delta rule's keeps its zeros' signs
    for (size_t i = 0; i < dkp; i += 16) {
        v16 rest = v16_set(1.0f); // from the row's end to the block's
        for (size_t t = n; t-- > 0;) {
            float *x = as_key + t * dkp + i;
            v16_store(x, v16_madd(v16_load(x), rest, sign));
            rest = settled(v16_mul(rest, v16_load(w->alpha + t * dkp + i)));
        }
    }
    pairs_bwd(dq, as_query, as_key, dreads, danswers, w, c);
    if (p->gates && d->x->g) {
        const int by_channel = p->gates == SMX_GATES_CHANNEL;
        float *dg = by_channel ? d->x->g + (row * p->H + h) * dk : scratch + l->dg;
        gates_bwd(dg, by_channel ? p->H * dk : dkp, dq, as_query, as_key, back, end, w, c);
        for (size_t t = 0; t < n && !by_channel; t++) {
            const float *from = dg + t * dkp;
            if (p->gates == SMX_GATES_HEAD)
                d->x->g[(row + t) * p->H + h] = row_sum(from, dk);
            else
                d->x->g[h] += row_sum(from, dk);
        }
    }
    if (c->delta) add_row(as_key, as_query, 1.0f, all); // k in both its roles
    for (size_t t = 0; t < n; t++) {
        const size_t at = keys_at(p, row + t, h);
        store_keys(d->x->q + at, dq + t * dkp, p->scale, dk, p->shared && h);
        store_keys(d->x->k + at, as_key + t * dkp, 1.0f, dk, p->shared && h);
    }
    ask(a, SIZE_MAX);
    fade(back, back, w->decay + (ROWS - 1) * dkp, l, dk);
    times(work, w->q, w->decay, all);
    asking_product(a, back, dvp, work, 1, dkp, dy, ldy, dk, dvp, ROWS, 1);
    if (c->delta) {
        times(work, w->k, w->decay, all);
        asking_product(a, back, dvp, work, 1, dkp, dmiss, dvp, dk, dvp, ROWS, 1);
    }
}

static void backward(const gradients *d, const float *states, float *scratch, const call *c) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t outer = p->dk * p->dv, segments = (p->L + STATE_SEGMENT - 1) / STATE_SEGMENT;
    for (size_t b = 0; b < p->B; b++) {
        for (size_t h = 0; h < p->H; h++)
            load_state(scratch + l->states + h * l->size, d->dlast ? d->dlast + (b * p->H + h) * outer : NULL,
                       c);
        for (size_t segment = segments; segment-- > 0;)
            for (size_t h = 0; h < p->H; h++) {
                const size_t t0 = segment * STATE_SEGMENT, rows = smx_min(STATE_SEGMENT, p->L - t0);
                const size_t blocks = (rows + ROWS - 1) / ROWS, row = b * p->L + t0;
                block w[STATE_BLOCKS];
                for (size_t i = 0; i < blocks; i++)
                    w[i] = block_at(c, scratch, i, smx_min(ROWS, rows - i * ROWS));
                const float *kept = states + (b * segments + segment) * p->H * l->size;
                w[0].state = kept + h * l->size;
                const float *end = kept + (p->H + h) * l->size; // or, of the last segment, computed again
                for (size_t i = 0; i < blocks; i++) {
                    const size_t first = row + i * ROWS, keys = keys_at(p, first, h);
                    const size_t values = (first * p->H + h) * p->dv;
                    wanted a = {0};
                    want(&a, d->x->q + keys, keys_stride(p), w[i].n, p->dk);
                    want(&a, d->x->k + keys, keys_stride(p), w[i].n, p->dk);
                    want(&a, d->dy + values, p->H * p->dv, w[i].n, p->dv);
                    want(&a, d->x->v + values, p->H * p->dv, w[i].n, p->dv);
                    load_block(&w[i], c, scratch + l->work, first, h, &a);
                    float *after = scratch + l->after + i * l->size;
                    if (i + 1 < blocks || segment + 1 == segments) write_block(after, &w[i], c, &a);
                    if (i + 1 < blocks)
                        w[i + 1].state = after;
                    else if (segment + 1 == segments)
                        end = after;
                    ask(&a, SIZE_MAX);
                }
                const size_t back = h + 1 < p->H ? 0 : 1, next = back ? 0 : h + 1; // segments; head
                for (size_t i = blocks; i-- > 0; end = w[i].state) {
                    const size_t first = row + i * ROWS;
                    wanted a = {0};
                    if (p->gates == SMX_GATES_CHANNEL && d->x->g)
                        want(&a, d->x->g + (first * p->H + h) * p->dk, p->H * p->dk, w[i].n, p->dk);
                    if (back <= segment) {
                        want_block(&a, c, first - back * STATE_SEGMENT, next, back ? ROWS : w[i].n);
                        want_state(&a, c, kept - back * p->H * l->size + next * l->size, i);
                    }
                    block_bwd(d, &w[i], scratch + l->states + h * l->size, end, scratch, c, first, h, &a);
                }
            }
        for (size_t h = 0; h < p->H && d->dstart; h++)
            store_state(d->dstart + (b * p->H + h) * outer, scratch + l->states + h * l->size, c);
    }
}

static call call_of(const smx_state_rows *x, const smx_state *p, int delta, int backward) {
    return (call){p, state_layout_of(p, backward), delta, x->q, x->k, x->v, x->beta, x->g};
}
void SMX_FN(gla_fwd)(float *restrict y, float *restrict last, float *restrict states, const smx_state_rows *x,
                     const float *start, void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 0, 0);
    forward(y, last, states, start, scratch, &c);
}
void SMX_FN(gla_bwd)(const smx_state_gradients *dx, float *dstart, const float *dy, const float *dlast,
                     const smx_state_rows *x, const float *states, void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 0, 1);
    backward(&(gradients){dx, dstart, dy, dlast}, states, scratch, &c);
}
void SMX_FN(delta_fwd)(float *restrict y, float *restrict last, float *restrict states,
                       const smx_state_rows *x, const float *start, void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 1, 0);
    forward(y, last, states, start, scratch, &c);
}
void SMX_FN(delta_bwd)(const smx_state_gradients *dx, float *dstart, const float *dy, const float *dlast,
                       const smx_state_rows *x, const float *states, void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 1, 1);
    backward(&(gradients){dx, dstart, dy, dlast}, states, scratch, &c);
}
