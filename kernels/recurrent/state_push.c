// state_push.c: gated linear attention and the delta rule row by row: the words that state.c gives of the
// whole sequence, at the cost of a row instead of its block. Of the block so far each head carries what
// state.c makes on its way down: keys as they have decayed, u, the sum of the gates. Whole blocks go there.
#include "state_layout.h"
#include "kernels/core/tile.h"

SMX_USES(delta_fwd)
SMX_USES(gla_fwd)

enum { ROWS = STATE_ROWS };

static const float lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

typedef struct {
    float *q, *k, *alpha; // of the row, [dkp]; then q and k times the decay since the block's first row
    float *late_q, *late_k, *decay, *erase, *reads, *answers; // late_k: of the key that is erased
} row_scratch;
static row_scratch split_scratch(float *f, const state_push_layout *l) {
    return (row_scratch){f,
                         f + l->dkp,
                         f + 2 * l->dkp,
                         f + 3 * l->dkp,
                         f + 4 * l->dkp,
                         f + 5 * l->dkp,
                         f + 6 * l->dkp,
                         f + 7 * l->dkp,
                         f + 7 * l->dkp + ROWS};
}

// q, k, their gates and the decay since the block's first row, whose sum is carried; first: of the block.
static void load_row(const row_scratch *w, float *sums, const smx_state_rows *x, size_t row, size_t h,
                     const smx_state *p, int first) {
    const size_t keys = (p->shared ? row : row * p->H + h) * p->dk;
    for (size_t i = 0; i < p->dk; i += 16) {
        const size_t n = smx_min(16, p->dk - i);
        const v16 q = v16_mul(v16_load_n(x->q + keys + i, n, 0.0f), v16_set(p->scale));
        const v16 k = v16_load_n(x->k + keys + i, n, 0.0f);
        v16 g = v16_set(0.0f), sum = first ? g : v16_load(sums + i);
        if (p->gates == SMX_GATES_CHANNEL)
            g = v16_load_n(x->g + (row * p->H + h) * p->dk + i, n, 0.0f);
        else if (p->gates)
            g = v16_set(x->g[p->gates == SMX_GATES_HEAD ? row * p->H + h : h]);
        sum = v16_add(sum, g);
        v16_store(sums + i, v16_max(sum, v16_set(-3.4e38f))); // what is carried may be saved: finite
        const v16 decay = settled(v16_exp_down(sum));
        v16_store(w->q + i, q);
        v16_store(w->k + i, k);
        v16_store(w->alpha + i, v16_exp_down(g));
        v16_store(w->decay + i, decay);
        v16_store(w->late_q + i, v16_mul(q, decay));
        const v16 erase = x->erase ? v16_load_n(x->erase + keys + i, n, 0.0f) : k;
        v16_store(w->erase + i, erase);
        v16_store(w->late_k + i, v16_mul(erase, decay));
    }
}

// The block's keys, lanes of late [dk][ROWS], decay by one row and take in row r; what it reads of them, and,
// delta, what they answer to its key. Lanes after r are of the block before.
static void meet_keys(const row_scratch *w, float *late, size_t r, const smx_state *p, int delta) {
    const v16 lane = v16_load(lanes), row = v16_set((float)r), one = v16_set(1.0f), zero = v16_set(0.0f);
    const m16 before = v16_lt(lane, row), now = v16_le(lane, row);
    v16 reads = zero, answers = zero;
    for (size_t i = 0; i < p->dk; i++) {
        const v16 own = v16_set(w->k[i]);
        v16 k = v16_select(now, v16_select(before, v16_load(late + i * ROWS), own), zero);
        if (p->gates) k = settled(v16_mul(k, v16_select(before, v16_set(w->alpha[i]), one)));
        v16_store(late + i * ROWS, k);
        reads = v16_madd(v16_set(w->q[i]), k, reads);
        if (delta) answers = v16_madd(v16_set(w->erase[i]), k, answers);
    }
    v16_store(w->reads, v16_select(now, reads, zero));
    v16_store(w->answers, v16_select(before, answers, zero));
}

// u_r of row r, v its values, in u [ROWS][dv].
static void write_row(const row_scratch *w, float *u, const float *state, const float *v, float beta,
                      size_t r, size_t dk, size_t dv, int delta) {
    float *to = u + r * dv;
    const v16 minus = v16_set(-1.0f), factor = v16_set(beta);
    if (!delta) {
        V16_MAP(to, dv, v16_mul(LOAD(v), factor));
        return;
    }
    tile_product(to, dv, w->late_k, dk, 1, state, dv, 1, dv, dk, 0);
    V16_MAP(to, dv, v16_madd(LOAD(to), minus, LOAD(v)));
    for (size_t s = 0; s < r; s++) {
        const v16 answer = v16_set(w->answers[s]);
        const float *from = u + s * dv;
        V16_MAP(to, dv, v16_sub(LOAD(to), v16_mul(answer, LOAD(from))));
    }
    V16_MAP(to, dv, v16_mul(LOAD(to), factor));
}

// Row r of a block of one head, row `row` of what was pushed.
static void push_row(float *restrict y, float *state, float *own, const smx_state_rows *x, float *scratch,
                     const state_push_layout *l, size_t row, size_t h, size_t r, const smx_state *p,
                     int delta) {
    const size_t dk = p->dk, dv = p->dv, values = (row * p->H + h) * dv;
    const row_scratch w = split_scratch(scratch, l);
    float *u = own + l->u, *late = own + l->late;
    load_row(&w, own + l->sums, x, row, h, p, r == 0);
    meet_keys(&w, late, r, p, delta);
    write_row(&w, u, state, x->v + values, x->beta ? x->beta[row * p->H + h] : 1.0f, r, dk, dv, delta);
    tile_product(y + values, dv, w.late_q, dk, 1, state, dv, 1, dv, dk, 0);
    tile_product(y + values, dv, w.reads, ROWS, 1, u, dv, 1, dv, r + 1, 1);
    if (r + 1 < ROWS) return;
    for (size_t i = 0; i < dk; i++) {
        const v16 decay = v16_set(w.decay[i]);
        float *to = state + i * dv;
        V16_MAP(to, dv, settled(v16_mul(LOAD(to), decay)));
    }
    tile_product(state, dv, late, ROWS, 1, u, dv, dk, dv, ROWS, 1);
}

// The same rows from `row` on, as sequences of their own.
static smx_state_rows rows_from(const smx_state_rows *x, size_t row, const smx_state *p) {
    const size_t keys = row * p->dk * (p->shared ? 1 : p->H), heads = row * p->H;
    const size_t gates = p->gates == SMX_GATES_CHANNEL ? heads * p->dk
                         : p->gates == SMX_GATES_HEAD  ? heads
                                                       : 0;
    return (smx_state_rows){x->q + keys,
                            x->k + keys,
                            x->v + heads * p->dv,
                            x->beta ? x->beta + heads : NULL,
                            x->g ? x->g + gates : NULL,
                            x->erase ? x->erase + keys : NULL};
}

static void push(float *restrict y, float *restrict carried, const smx_state_rows *x, float *scratch,
                 size_t at, const smx_state *p, int delta) {
    const state_push_layout l = state_push_layout_of(p);
    for (size_t b = 0; b < p->B; b++) {
        float *states = carried + b * l.states, *own = carried + p->B * l.states + b * p->H * l.head;
        for (size_t t = 0, n; t < p->L; t += n) {
            const size_t r = (at + t) % ROWS, row = b * p->L + t;
            n = r ? 1 : (p->L - t) / ROWS * ROWS;
            if (r == 0 && n) {
                const smx_state whole = {1, n, p->H, p->dk, p->dv, p->gates, p->shared, p->scale};
                const smx_state_rows from = rows_from(x, row, p);
                float *last = scratch, *work = scratch + l.last;
                (delta ? SMX_FN(delta_fwd) : SMX_FN(gla_fwd))(y + row * p->H * p->dv, last, NULL, &from,
                                                              states, work, &whole);
                memcpy(states, last, l.states * sizeof *states);
                continue;
            }
            n = 1;
            for (size_t h = 0; h < p->H; h++)
                push_row(y, states + h * p->dk * p->dv, own + h * l.head, x, scratch, &l, row, h, r, p,
                         delta);
        }
    }
}
SMX_COPY(void, gla_push)
(float *restrict y, float *restrict carried, const smx_state_rows *x, void *scratch, size_t at,
 const smx_state *p) {
    push(y, carried, x, scratch, at, p, 0);
}
SMX_COPY(void, delta_push)
(float *restrict y, float *restrict carried, const smx_state_rows *x, void *scratch, size_t at,
 const smx_state *p) {
    push(y, carried, x, scratch, at, p, 1);
}
