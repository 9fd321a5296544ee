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
#include "tile.h"
#include "state_layout.h"

enum { ROWS = STATE_ROWS };

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
} block;

static block block_at(const call *c, float *scratch, size_t i, size_t n) {
    const state_layout *l = &c->l;
    float *f = scratch + i * l->block;
    return (block){f + l->q,       f + l->k,    f + l->alpha, f + l->decay, f + l->late,  f + l->reads,
                   f + l->answers, f + l->beta, f + l->miss,  f + l->u,     f + l->state, n};
}

// ---- Where things lie: row of the batch, head
static size_t keys_at(const smx_state *p, size_t row, size_t h) {
    return (p->shared ? row : row * p->H + h) * p->dk;
}
static size_t keys_stride(const smx_state *p) { return p->shared ? p->dk : p->H * p->dk; }

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
static void load_gates(const block *w, const call *c, size_t row, size_t h) {
    const smx_state *p = c->p;
    const size_t dkp = c->l.dkp;
    for (size_t i = 0; i < dkp; i += 16) {
        v16 sum = v16_set(0.0f);
        for (size_t t = 0; t < ROWS; t++) {
            v16 g = v16_set(0.0f);
            if (p->gates && t < w->n) {
                if (p->gates == SMX_GATES_CHANNEL)
                    g = v16_load_n(c->g + ((row + t) * p->H + h) * p->dk + i, smx_min(16, p->dk - i), 0.0f);
                else
                    g = v16_set(c->g[p->gates == SMX_GATES_HEAD ? (row + t) * p->H + h : h]);
                sum = v16_add(sum, g);
            }
            v16_store(w->alpha + t * dkp + i, v16_exp_down(g));
            v16_store(w->decay + t * dkp + i, settled(v16_exp_down(sum)));
        }
    }
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

// reads, answers and late: keys of all 16 rows, one channel after the other, decay as time goes on,
// each from its own row.
static void pairs(const block *w, const call *c) {
    const size_t dkp = c->l.dkp;
    const v16 lane = v16_load(lanes), one = v16_set(1.0f), zero = v16_set(0.0f);
    v16 reads[ROWS], answers[ROWS];
    for (size_t t = 0; t < ROWS; t++) reads[t] = answers[t] = zero;
    turn(w->late, ROWS, w->k, dkp, c->p->dk);
    for (size_t i = 0; i < c->p->dk; i++) {
        v16 k = v16_load(w->late + i * ROWS);
        for (size_t t = 0; t < ROWS; t++) {
            const size_t at = t * dkp + i;
            if (c->p->gates) {
                const m16 before = v16_lt(lane, v16_set((float)t));
                k = settled(v16_mul(k, v16_select(before, v16_set(w->alpha[at]), one)));
            }
            reads[t] = v16_madd(v16_set(w->q[at]), k, reads[t]);
            if (c->delta) answers[t] = v16_madd(v16_set(w->k[at]), k, answers[t]);
        }
        v16_store(w->late + i * ROWS, k);
    }
    for (size_t t = 0; t < ROWS; t++) {
        const v16 row = v16_set((float)t);
        v16_store(w->reads + t * ROWS, v16_select(v16_le(lane, row), reads[t], zero));
        v16_store(w->answers + t * ROWS, v16_select(v16_lt(lane, row), answers[t], zero));
    }
}

// Everything of a block but what it reads: from w->state to the state after it.
static void write_block(const block *w, const call *c, float *after, float *work, size_t row, size_t h) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t at = keys_at(p, row, h), stride = keys_stride(p), dvp = l->dvp;
    load_rows(w->q, c->q + at, stride, w->n, p->dk, l->dkp, p->scale);
    load_rows(w->k, c->k + at, stride, w->n, p->dk, l->dkp, 1.0f);
    load_rows(w->miss, c->v + (row * p->H + h) * p->dv, p->H * p->dv, w->n, p->dv, dvp, 1.0f);
    for (size_t t = 0; t < ROWS; t++)
        w->beta[t] = t >= w->n ? 0.0f : c->beta ? c->beta[(row + t) * p->H + h] : 1.0f;
    load_gates(w, c, row, h);
    pairs(w, c);
    if (c->delta) { // u first holds the state's answers
        times(work, w->k, w->decay, ROWS * l->dkp);
        tile_product(w->u, dvp, work, l->dkp, 1, w->state, dvp, ROWS, dvp, p->dk, 0);
        add_row(w->miss, w->u, -1.0f, ROWS * dvp);
    }
    for (size_t t = 0; t < ROWS; t++) {
        float *miss = w->miss + t * dvp;
        for (size_t i = 0; i < dvp; i += 16) {
            v16 x = v16_load(miss + i);
            for (size_t s = 0; c->delta && s < t; s++)
                x = v16_sub(x, v16_mul(v16_set(w->answers[t * ROWS + s]), v16_load(w->u + s * dvp + i)));
            v16_store(miss + i, x);
            v16_store(w->u + t * dvp + i, v16_mul(x, v16_set(w->beta[t])));
        }
    }
    fade(after, w->state, w->decay + (ROWS - 1) * l->dkp, l, p->dk);
    tile_product(after, dvp, w->late, ROWS, 1, w->u, dvp, p->dk, dvp, ROWS, 1);
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
                    write_block(&w, c, scratch + l->end, work, row, h);
                    times(work, w.q, w.decay, ROWS * l->dkp);
                    tile_product(o, l->dvp, work, l->dkp, 1, w.state, l->dvp, ROWS, l->dvp, p->dk, 0);
                    tile_product(o, l->dvp, w.reads, ROWS, 1, w.u, l->dvp, ROWS, l->dvp, ROWS, 1);
                    memcpy(w.state, scratch + l->end, l->size * sizeof *w.state);
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
static void pairs_bwd(float *dq, float *as_query, float *as_key, const float *dreads, const float *danswers,
                      const block *w, const call *c, size_t i) {
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
    load_rows(dy, d->dy + (row * p->H + h) * p->dv, p->H * p->dv, n, p->dv, dvp, 1.0f);
    tile_product(du, dvp, w->late, 1, ROWS, back, dvp, ROWS, dvp, dk, 0);
    tile_product(du, dvp, w->reads, 1, ROWS, dy, dvp, ROWS, dvp, ROWS, 1);
    memset(dmiss, 0, ROWS * dvp * sizeof *dmiss);
    for (size_t t = n; t-- > 0;) { // the triangular system's transpose, by backward substitution
        const float *got = du + t * dvp;
        float *to = d->x->v + ((row + t) * p->H + h) * p->dv;
        if (d->x->beta) d->x->beta[(row + t) * p->H + h] = row_dot(got, w->miss + t * dvp, dvp);
        add_row(dmiss + t * dvp, got, -w->beta[t], dvp);
        for (size_t s = 0; c->delta && s < t; s++)
            add_row(du + s * dvp, dmiss + t * dvp, w->answers[t * ROWS + s], dvp);
        const v16 beta = v16_set(w->beta[t]);
        V16_MAP(to, p->dv, v16_mul(LOAD(got), beta));
    }
    turn(turned_u, ROWS, w->u, dvp, dvp);
    tile_product(dreads, ROWS, dy, dvp, 1, turned_u, ROWS, ROWS, ROWS, p->dv, 0);
    if (c->delta) tile_product(danswers, ROWS, dmiss, dvp, 1, turned_u, ROWS, ROWS, ROWS, p->dv, 0);
    // What passes through the states before and after: S dy, S dmiss, dS u, with lanes of rows, then turned.
    turn(turned, 2 * ROWS, dy, dvp, dvp);
    turn(turned + ROWS, 2 * ROWS, dmiss, dvp, dvp);
    memset(sides, 0, 2 * dkp * ROWS * sizeof *sides);
    tile_product(sides, 2 * ROWS, w->state, dvp, 1, turned, 2 * ROWS, dk, c->delta ? 2 * ROWS : ROWS, p->dv,
                 0);
    for (size_t i = 0; i < dkp; i += 16)
        for (size_t half = 0; half < 2; half++)
            for (size_t t = 0; t < ROWS; t += 4)
                for (size_t j = 0; j < 16; j += 4)
                    transpose4((half ? as_query : dq) + t * dkp + i + j, dkp,
                               sides + (i + j) * 2 * ROWS + half * ROWS + t, 2 * ROWS);
    tile_product(sides, ROWS, back, dvp, 1, turned_u, ROWS, dk, ROWS, p->dv, 0);
    for (size_t i = 0; i < dkp; i += 4)
        for (size_t t = 0; t < ROWS; t += 4)
            transpose4(as_key + t * dkp + i, dkp, sides + i * ROWS + t, ROWS);
    times(dq, dq, w->decay, all);
    times(as_query, as_query, w->decay, all);
    for (size_t i = 0; i < dkp; i += 16) {
        v16 rest = v16_set(1.0f); // from the row's end to the block's
        for (size_t t = n; t-- > 0;) {
            float *x = as_key + t * dkp + i;
            v16_store(x, v16_mul(v16_load(x), rest));
            rest = settled(v16_mul(rest, v16_load(w->alpha + t * dkp + i)));
        }
        pairs_bwd(dq, as_query, as_key, dreads, danswers, w, c, i);
    }
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
    tile_product(back, dvp, work, 1, dkp, dy, dvp, dk, dvp, ROWS, 1);
    if (c->delta) {
        times(work, w->k, w->decay, all);
        tile_product(back, dvp, work, 1, dkp, dmiss, dvp, dk, dvp, ROWS, 1);
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
                for (size_t i = 0; i < blocks; i++)
                    write_block(&w[i], c, i + 1 < blocks ? w[i + 1].state : scratch + l->end,
                                scratch + l->work, row + i * ROWS, h);
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
