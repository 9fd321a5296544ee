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
    float *q, *k, *alpha, *decay, *late, *reads, *answers, *beta, *miss, *u, *state;
    size_t n;
    int steady; // or ungated: see steady()
} block;

static block block_at(const call *c, float *scratch, size_t i, size_t n) {
    const state_layout *l = &c->l;
    float *f = scratch + i * l->block;
    return (block){f + l->q,
                   f + l->k,
                   f + l->alpha,
                   f + l->decay,
                   f + l->late,
                   f + l->reads,
                   f + l->answers,
                   f + l->beta,
                   f + l->miss,
                   f + l->u,
                   f + l->state,
                   n,
                   0};
}

// ---- Where things lie: row of the batch, head
static size_t keys_at(const smx_state *p, size_t row, size_t h) {
    return (p->shared ? row : row * p->H + h) * p->dk;
}
static size_t keys_stride(const smx_state *p) { return p->shared ? p->dk : p->H * p->dk; }

// Rows wanted soon, into the second cache: those of one head lie apart, and no processor guesses them all.
static void fetch(const float *x, size_t stride, size_t n, size_t width) {
#if defined(__wasm__) // which cannot ask
    (void)x, (void)stride, (void)n, (void)width;
#else
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < width; i += 16) __builtin_prefetch(x + t * stride + i, 0, 2);
#endif
}
// n rows of `width`, times scale, padded with zeros to `padded` columns and to whole blocks of rows.
static void load_rows(float *to, const float *from, size_t stride, size_t n, size_t width, size_t padded,
                      float scale) {
    const v16 s = v16_set(scale);
    for (size_t t = 0; t < ROWS; t++)
        for (size_t c = 0; c < padded; c += 16) {
            const size_t columns = t < n ? smx_min(16, width - c) : 0;
            const float *x = from + t * stride + c;
            v16_store(to + t * padded + c,
                      v16_mul(columns == 16 ? v16_load(x) : v16_load_n(x, columns, 0.0f), s));
        }
}
// e^g of each row and key channel, 1 where there is no row; and e to the sum from the first row on, rounded
// once a block: were it multiplied up, gates that are the same in every row would be off by the same in every
// row.
static void load_channel_gates(const block *w, const call *c, size_t row, size_t h) {
    const smx_state *p = c->p;
    const size_t dkp = c->l.dkp;
    for (size_t i = 0; i < dkp; i += 16) {
        const size_t channels = smx_min(16, p->dk - i);
        v16 sum = v16_set(0.0f);
        for (size_t t = 0; t < ROWS; t++) {
            v16 g = v16_set(0.0f);
            if (t < w->n) {
                const float *x = c->g + ((row + t) * p->H + h) * p->dk + i;
                g = channels == 16 ? v16_load(x) : v16_load_n(x, channels, 0.0f);
                sum = v16_add(sum, g);
            }
            v16_store(w->alpha + t * dkp + i, v16_exp_down(g));
            v16_store(w->decay + t * dkp + i, settled(v16_exp_down(sum)));
        }
    }
}
// The same where all channels of a row have one gate, or none: lanes are rows.
static void load_row_gates(const block *w, const call *c, size_t row, size_t h) {
    const smx_state *p = c->p;
    const size_t dkp = c->l.dkp;
    float g[ROWS] = {0}, sums[ROWS], sum = 0.0f;
    for (size_t t = 0; t < ROWS; t++) {
        if (p->gates && t < w->n) g[t] = c->g[p->gates == SMX_GATES_HEAD ? (row + t) * p->H + h : h];
        sum += g[t];
        sums[t] = sum;
    }
    v16_store(g, v16_exp_down(v16_load(g)));
    v16_store(sums, settled(v16_exp_down(v16_load(sums))));
    for (size_t t = 0; t < ROWS; t++)
        for (size_t i = 0; i < dkp; i += 16) {
            v16_store(w->alpha + t * dkp + i, v16_set(g[t]));
            v16_store(w->decay + t * dkp + i, v16_set(sums[t]));
        }
}
// Whether no key and no query of a block comes below 2^-96 while any of its gates fade it: then there is
// nothing to settle on the way. (Zeros stay what they are, and a NaN stays NaN either way.)
static int steady(const block *w, const call *c) {
#if defined(__wasm__) // the module is downloaded
    return (void)w, (void)c, 0;
#else
    const size_t dkp = c->l.dkp;
    const v16 one = v16_set(1.0f), zero = v16_set(0.0f);
    v16 all = one;
    for (size_t i = 0; i < dkp; i += 16) {
        v16 least = one, fade = one;
        for (size_t at = i; at < ROWS * dkp; at += dkp) {
            const v16 k = v16_abs(v16_load(w->k + at)), q = v16_abs(v16_load(w->q + at));
            least = v16_min(v16_select(v16_eq(k, zero), one, k), least);
            least = v16_min(v16_select(v16_eq(q, zero), one, q), least);
            fade = v16_mul(fade, v16_min(v16_load(w->alpha + at), one));
        }
        all = v16_select(v16_le(v16_set(0x1p-90f), v16_mul(least, fade)), all, zero);
    }
    return v16_hsum(all) == 16.0f;
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
SMX_LARGE void decayed_pairs(const block *w, const call *c, size_t t, const int delta, const int settles) {
    const size_t dkp = c->l.dkp, rows = AT_ONCE(delta);
    v16 reads[ROWS], answers[ROWS];
    STATE_UNROLL for (size_t r = 0; r < rows; r++) reads[r] = answers[r] = v16_set(0.0f);
    const float *a = w->alpha + t * dkp, *q = w->q + t * dkp, *as_query = w->k + t * dkp;
    for (size_t i = 0; i < c->p->dk; i++) {
        v16 k = v16_load(w->late + i * ROWS);
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
SMX_INLINE void decayed(const block *w, const call *c, size_t t, const int delta) {
#if defined(__wasm__)
    (void)delta;
    decayed_pairs(w, c, t, c->delta, 1);
#else
    if (w->steady)
        decayed_pairs(w, c, t, delta, 0);
    else
        decayed_pairs(w, c, t, delta, 1);
#endif
}
static void pairs(const block *w, const call *c) {
    const size_t dk = c->p->dk, dkp = c->l.dkp;
    const v16 lane = v16_load(lanes), zero = v16_set(0.0f);
    turn(w->late, ROWS, w->k, dkp, dk);
    if (!c->p->gates) {
        product(w->reads, ROWS, w->q, dkp, 1, w->late, ROWS, ROWS, ROWS, dk, 0);
        if (c->delta) product(w->answers, ROWS, w->k, dkp, 1, w->late, ROWS, ROWS, ROWS, dk, 0);
    } else if (c->delta) {
        STATE_UNROLL for (size_t t = 0; t < ROWS; t += AT_ONCE(1)) decayed(w, c, t, 1);
    } else {
        STATE_UNROLL for (size_t t = 0; t < ROWS; t += AT_ONCE(0)) decayed(w, c, t, 0);
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
    for (size_t t = 0; t < ROWS && !c->delta; t++) {
        const v16 beta = v16_set(w->beta[t]);
        for (size_t i = t * dvp; i < (t + 1) * dvp; i += 16)
            v16_store(w->u + i, v16_mul(v16_load(w->miss + i), beta));
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
                vf_store(w->u + (s + j) * dvp + i, u[j]);
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
static void fetch_block(const call *c, size_t row, size_t h, size_t n) {
    const smx_state *p = c->p;
    const size_t at = keys_at(p, row, h), values = p->H * p->dv;
    fetch(c->q + at, keys_stride(p), n, p->dk);
    fetch(c->k + at, keys_stride(p), n, p->dk);
    fetch(c->v + row * values + h * p->dv, values, n, p->dv);
    if (p->gates == SMX_GATES_CHANNEL) fetch(c->g + (row * p->H + h) * p->dk, p->H * p->dk, n, p->dk);
}
// Everything of a block but the state after it.
static void load_block(block *w, const call *c, float *work, size_t row, size_t h) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t at = keys_at(p, row, h), stride = keys_stride(p), dvp = l->dvp;
    load_rows(w->q, c->q + at, stride, w->n, p->dk, l->dkp, p->scale);
    load_rows(w->k, c->k + at, stride, w->n, p->dk, l->dkp, 1.0f);
    load_rows(w->miss, c->v + (row * p->H + h) * p->dv, p->H * p->dv, w->n, p->dv, dvp, 1.0f);
    for (size_t t = 0; t < ROWS; t++)
        w->beta[t] = t >= w->n ? 0.0f : c->beta ? c->beta[(row + t) * p->H + h] : 1.0f;
    if (p->gates == SMX_GATES_CHANNEL)
        load_channel_gates(w, c, row, h);
    else
        load_row_gates(w, c, row, h);
    w->steady = p->gates && steady(w, c);
    pairs(w, c);
    if (c->delta) { // u first holds the state's answers
        times(work, w->k, w->decay, ROWS * l->dkp);
        product(w->u, dvp, work, l->dkp, 1, w->state, dvp, ROWS, dvp, p->dk, 0);
        add_row(w->miss, w->u, -1.0f, ROWS * dvp);
    }
    solve(w, c);
}
// The state after a block; in place, too.
static void write_block(float *after, const block *w, const call *c) {
    const state_layout *l = &c->l;
    fade(after, w->state, w->decay + (ROWS - 1) * l->dkp, l, c->p->dk);
    product(after, l->dvp, w->late, ROWS, 1, w->u, l->dvp, c->p->dk, l->dvp, ROWS, 1);
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
    float *work = scratch + l->work, *o = scratch + l->out;
    for (size_t b = 0; b < p->B; b++) {
        for (size_t h = 0; h < p->H; h++)
            load_state(scratch + l->states + h * l->size, start ? start + (b * p->H + h) * outer : NULL, c);
        for (size_t t0 = 0; t0 < p->L; t0 += STATE_SEGMENT)
            for (size_t h = 0; h < p->H;
                 h++) { // heads take turns, so that whole rows are read while they are near
                block w = block_at(c, scratch, 0, 0);
                w.state = scratch + l->states + h * l->size;
                if (states) memcpy(states, w.state, l->size * sizeof *states), states += l->size;
                for (size_t t = t0; t < smx_min(p->L, t0 + STATE_SEGMENT); t += ROWS) {
                    const size_t row = b * p->L + t;
                    w.n = smx_min(ROWS, p->L - t);
                    if (h + 1 < p->H)
                        fetch_block(c, row, h + 1, w.n);
                    else if (t + STATE_SEGMENT + ROWS <= p->L)
                        fetch_block(c, row + STATE_SEGMENT, 0, ROWS);
                    fetch(y + (row * p->H + h) * p->dv, p->H * p->dv, w.n, p->dv);
                    load_block(&w, c, work, row, h);
                    times(work, w.q, w.decay, ROWS * l->dkp);
                    product(o, l->dvp, work, l->dkp, 1, w.state, l->dvp, ROWS, l->dvp, p->dk, 0);
                    product(o, l->dvp, w.reads, ROWS, 1, w.u, l->dvp, ROWS, l->dvp, ROWS, 1);
                    write_block(w.state, &w, c);
                    for (size_t r = 0; r < w.n; r++) {
                        const float *from = o + r * l->dvp;
                        V16_MAP(y + ((row + r) * p->H + h) * p->dv, p->dv, LOAD(from));
                    }
                }
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
        v16 from_reads = v16_load(dq + t * dkp + i), from_answers = v16_load(as_query + t * dkp + i);
        k[t] = v16_load(w->k + t * dkp + i);
        for (size_t s = 0; s <= t; s++) {
            if (gated && s < t) k[s] = settled(v16_mul(k[s], a));
            from_reads = v16_madd(v16_set(dreads[t * ROWS + s]), k[s], from_reads);
            if (c->delta && s < t)
                from_answers = v16_madd(v16_set(danswers[t * ROWS + s]), k[s], from_answers);
        }
        v16_store(dq + t * dkp + i, from_reads);
        v16_store(as_query + t * dkp + i, from_answers);
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
// there and takes away what is written there.
static void gates_bwd(float *dg, const float *dq, const float *as_query, const float *as_key,
                      const float *back, const float *end, const block *w, const call *c) {
    const size_t dkp = c->l.dkp, dk = c->p->dk, dvp = c->l.dvp;
    float across[16];
    for (size_t i = 0; i < dkp; i += 16) {
        for (size_t j = 0; j < 16; j++)
            across[j] = i + j < dk ? row_dot(back + (i + j) * dvp, end + (i + j) * dvp, dvp) : 0.0f;
        v16 sum = v16_load(across);
        for (size_t t = w->n; t-- > 0;) {
            const size_t at = t * dkp + i;
            sum = v16_madd(v16_load(w->q + at), v16_load(dq + at), sum);
            sum = v16_madd(v16_load(w->k + at), v16_sub(v16_load(as_query + at), v16_load(as_key + at)), sum);
            v16_store(dg + at, sum);
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
                      const call *c, size_t row, size_t h) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t dk = p->dk, dkp = l->dkp, dvp = l->dvp, n = w->n, all = ROWS * dkp;
    float *dy = scratch + l->out, *du = scratch + l->written, *dmiss = scratch + l->dmiss;
    float *turned = scratch + l->turned, *turned_u = scratch + l->turned_u, *sides = scratch + l->sides;
    float *dreads = scratch + l->dreads, *danswers = scratch + l->danswers, *work = scratch + l->work;
    float *dq = scratch + l->dq, *as_query = scratch + l->as_query, *as_key = scratch + l->as_key;
    const size_t wide = c->delta ? 2 * ROWS : ROWS; // rows of dy, and of dmiss
    const size_t keys = keys_at(p, row, h), values = p->H * p->dv;
    fetch(d->x->q + keys, keys_stride(p), n, dk);
    fetch(d->x->k + keys, keys_stride(p), n, dk);
    fetch(d->x->v + row * values + h * p->dv, values, n, p->dv);
    if (p->gates == SMX_GATES_CHANNEL && d->x->g) fetch(d->x->g + (row * p->H + h) * dk, p->H * dk, n, dk);
    load_rows(dy, d->dy + (row * p->H + h) * p->dv, p->H * p->dv, n, p->dv, dvp, 1.0f);
    product(du, dvp, w->late, 1, ROWS, back, dvp, ROWS, dvp, dk, 0);
    product(du, dvp, w->reads, 1, ROWS, dy, dvp, ROWS, dvp, ROWS, 1);
    if (c->delta) solve_bwd(dmiss, du, w, dvp);
    for (size_t t = 0; t < n; t++) {
        const float *got = du + t * dvp;
        float *to = d->x->v + ((row + t) * p->H + h) * p->dv;
        if (d->x->beta) d->x->beta[(row + t) * p->H + h] = row_dot(got, w->miss + t * dvp, dvp);
        const v16 beta = v16_set(w->beta[t]);
        V16_MAP(to, p->dv, v16_mul(LOAD(got), beta));
    }
    turn(turned_u, ROWS, w->u, dvp, dvp);
    product(dreads, ROWS, dy, dvp, 1, turned_u, ROWS, ROWS, ROWS, p->dv, 0);
    if (c->delta) product(danswers, ROWS, dmiss, dvp, 1, turned_u, ROWS, ROWS, ROWS, p->dv, 0);
    // What passes through the states before and after: S dy, S dmiss, dS u, with lanes of rows, then turned.
    turn(turned, wide, dy, dvp, dvp);
    if (c->delta) turn(turned + ROWS, wide, dmiss, dvp, dvp);
    memset(sides + dk * wide, 0, (dkp - dk) * wide * sizeof *sides);
    product(sides, wide, w->state, dvp, 1, turned, wide, dk, wide, p->dv, 0);
    turn_back(dq, dkp, sides, wide);
    times(dq, dq, w->decay, all);
    if (c->delta) {
        turn_back(as_query, dkp, sides + ROWS, wide);
        times(as_query, as_query, w->decay, all);
    } else {
        memset(as_query, 0, all * sizeof *as_query);
    }
    product(sides, ROWS, back, dvp, 1, turned_u, ROWS, dk, ROWS, p->dv, 0);
    turn_back(as_key, dkp, sides, ROWS);
    for (size_t i = 0; i < dkp; i += 16) {
        v16 rest = v16_set(1.0f); // from the row's end to the block's
        for (size_t t = n; t-- > 0;) {
            float *x = as_key + t * dkp + i;
            v16_store(x, v16_mul(v16_load(x), rest));
            rest = settled(v16_mul(rest, v16_load(w->alpha + t * dkp + i)));
        }
    }
    pairs_bwd(dq, as_query, as_key, dreads, danswers, w, c);
    if (p->gates && d->x->g) {
        float *dg = scratch + l->dg;
        gates_bwd(dg, dq, as_query, as_key, back, end, w, c);
        for (size_t t = 0; t < n; t++) {
            const float *from = dg + t * dkp;
            if (p->gates == SMX_GATES_CHANNEL)
                V16_MAP(d->x->g + ((row + t) * p->H + h) * dk, dk, LOAD(from));
            else if (p->gates == SMX_GATES_HEAD)
                d->x->g[(row + t) * p->H + h] = row_sum(from, dk);
            else
                d->x->g[h] += row_sum(from, dk);
        }
    }
    add_row(as_key, as_query, 1.0f, all); // k in both its roles
    for (size_t t = 0; t < n; t++) {
        const size_t at = keys_at(p, row + t, h);
        store_keys(d->x->q + at, dq + t * dkp, p->scale, dk, p->shared && h);
        store_keys(d->x->k + at, as_key + t * dkp, 1.0f, dk, p->shared && h);
    }
    fade(back, back, w->decay + (ROWS - 1) * dkp, l, dk);
    times(work, w->q, w->decay, all);
    product(back, dvp, work, 1, dkp, dy, dvp, dk, dvp, ROWS, 1);
    if (c->delta) {
        times(work, w->k, w->decay, all);
        product(back, dvp, work, 1, dkp, dmiss, dvp, dk, dvp, ROWS, 1);
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
                memcpy(scratch + l->state, states + ((b * segments + segment) * p->H + h) * l->size,
                       l->size * sizeof *states);
                for (size_t i = 0; i < blocks; i++) {
                    const size_t first = row + i * ROWS;
                    if (h + 1 < p->H)
                        fetch_block(c, first, h + 1, w[i].n);
                    else if (segment > 0)
                        fetch_block(c, first - STATE_SEGMENT, 0, ROWS);
                    fetch(d->dy + (first * p->H + h) * p->dv, p->H * p->dv, w[i].n, p->dv);
                    load_block(&w[i], c, scratch + l->work, row + i * ROWS, h);
                    write_block(i + 1 < blocks ? w[i + 1].state : scratch + l->end, &w[i], c);
                }
                for (size_t i = blocks; i-- > 0;)
                    block_bwd(d, &w[i], scratch + l->states + h * l->size,
                              i + 1 < blocks ? w[i + 1].state : scratch + l->end, scratch, c, row + i * ROWS,
                              h);
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
