// state.c: gated linear attention (Yang et al. 2023, Eq. 3; Mamba-2's SSD, retention) and the delta rule
// (Yang et al. 2024; gated: Yang, Kautz & Hatamizadeh 2024), a matrix S [dk][dv] carried along each head:
//   R_t = diag(a_t) S_{t-1},  u_t = beta_t v_t  or  beta_t (v_t - R_t^T k_t),
//   S_t = R_t + k_t u_t^T,  y_t = S_t^T q_t,  a = e^g  (or e_t in place of that k_t: another key is erased)
// in blocks of 16 rows. With D_ts the product of a over s+1 .. t, and A_t that from the block's first row
// to t:
//   y_t = (A_t q_t)^T S + sum_{s<=t} reads_ts u_s,  reads_ts = q_t . D_ts k_s;
//   v - u/beta the same with k_t (or e_t) and s < t: a unit lower triangular system, solved by forward
//   substitution.
// D is multiplied up row by row: every factor lies in [0, 1], so a closed gate gives 0, however far the sums
// of g have gone, and no e^-g is ever formed. Lanes are the 16 rows s there, key channels in the gradients of
// q, k and g, else columns of v. Longer than 400 lines: backward runs the blocks of forward again.
#include "kernels/core/tile_narrow.h"
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
    const float *q, *k, *v, *beta, *g, *erase;
} call;
// A block's arrays (state_layout.h), and its rows.
typedef struct {
    float *q, *k, *alpha, *decay, *late, *reads, *answers, *beta, *miss, *written;
    float *erase;           // the keys that v is compared at: k, where there are no others
    const float *u, *state; // u: what is written, or v where it lies
    size_t n, ldu;          // rows; stride of u
    // No key and no query of the block comes below 2^-96 while any of its gates fade it: then there is
    // nothing to settle on the way. (Zeros stay what they are, and a NaN stays NaN either way.)
    int steady;
} block;

/*@ requires LAYOUT(c) && \valid(scratch + (0 .. i * c->l.block + c->l.block - 1));
    requires SIZED(i, c->l.block);
    PURE
    ensures IN_BLOCK(\result, c) && PLACED(\result, scratch + i * c->l.block) && \result.n == n; */
static block block_at(const call *c, float *scratch, size_t i, size_t n) {
    const state_layout *l = &c->l;
    float *f = scratch + i * l->block;
    return (block){.q = f + l->q,
                   .k = f + l->k,
                   .erase = f + (c->erase ? l->erase : l->k),
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
/*@ requires \valid_read(p);
    PURE
    ensures p->shared && row * p->dk <= MOST ==> \result == row * p->dk;
    ensures !p->shared && 0 <= row * p->H && row * p->H + h <= MOST &&
        0 <= (row * p->H + h) * p->dk <= MOST ==> \result == (row * p->H + h) * p->dk; */
static size_t keys_at(const smx_state *p, size_t row, size_t h) {
    /*@ assert computed(row, h, p->H, p->dk); */
    return (p->shared ? row : row * p->H + h) * p->dk;
}
/*@ requires \valid_read(p);
    PURE
    ensures p->shared ==> \result == p->dk;
    ensures !p->shared && p->H * p->dk <= MOST ==> \result == p->H * p->dk; */
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
/*@ requires \valid(a) && a->count < 8;
    assigns a->list[0 .. 7], a->count;
    ensures a->count <= \old(a->count) + 1; */
static void want(wanted *a, const float *x, size_t stride, size_t n, size_t width) {
    a->list[a->count].x = x;
    a->list[a->count].stride = stride;
    a->list[a->count].n = n;
    a->list[a->count].width = width;
    a->count += n > 0;
}
/*@ requires ASKS(a);
    assigns ASKED(a); */
SMX_INLINE void ask(wanted *a, size_t lines) {
    /*@ loop invariant a->count <= 8;
        loop assigns lines, ASKED(a);
        loop variant lines; */
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
// Nothing is asked for where the arrays of a call are small enough to stay near.
#if defined(__wasm__) || SMX_W == 1
#define IF_FAR(a, p) (void)0
#else
#define IF_FAR(a, p)                                                                                         \
    if ((p)->B * (p)->L * (p)->H * ((p)->dk + (p)->dv) < (size_t)1 << 14) (a).count = 0
#endif
// product(), asking between its parts: of 16 columns, and of 16 rows where its sums are long.
/*@ requires m <= MOST && n <= MOST && k <= MOST && k * cx <= MOST && k * rb <= MOST;
    requires in_product: m > 0 && n > 0 ==> IN_PRODUCT(x, rx, cx, m, n, k);
    requires ASKS(a);
    assigns INTO(c), ASKED(a); */
static void asking_product(wanted *a, float *c, size_t ldc, const float *x, size_t rx, size_t cx,
                           const float *b, size_t rb, size_t m, size_t n, size_t k, int add) {
#if defined(__wasm__)
    product(c, ldc, x, rx, cx, b, rb, m, n, k, add), ask(a, AHEAD);
#else
    const size_t rows = k > ROWS ? ROWS : m;
    /*@ loop invariant (i == 0 || 0 <= i < m + rows) && a->count <= 8;
        loop assigns i, INTO(c), ASKED(a);
        loop variant m + rows - i; */
    for (size_t i = 0; i < m; i += rows)
        /*@ loop invariant 0 <= j <= n + 16 && a->count <= 8;
            loop assigns j, INTO(c), ASKED(a);
            loop variant n + 16 - j; */
        for (size_t j = 0; j < n; j += 16) {
            /*@ assert part(i, \min(rows, m - i), m, ldc) && part(i, \min(rows, m - i), m, rx); */
            product(c + i * ldc + j, ldc, x + i * rx, rx, cx, b + j, rb, smx_min(rows, m - i),
                    smx_min(16, n - j), k, add);
            ask(a, AHEAD);
        }
#endif
}
/*@ requires in_part: columns <= 16 && \valid_read(x + (0 .. columns - 1));
    PURE */
SMX_INLINE v16 load_part(const float *x, size_t columns) {
    return columns == 16 ? v16_load(x) : v16_load_n(x, columns, 0.0f);
}
// n rows of `width`, padded with zeros to `padded` columns and to whole blocks of rows.
/*@ requires n <= ROWS && padded == GROUPS(width) && SIZED(ROWS, padded) && SIZED(n, stride);
    requires in_rows: \valid(to + (0 .. ROWS * padded - 1)) && READ_ROWS(from, n, stride, width);
    assigns to[0 .. ROWS * padded - 1]; */
static void load_rows(float *to, const float *from, size_t stride, size_t n, size_t width, size_t padded) {
    /*@ loop invariant 0 <= t <= ROWS; loop assigns t, to[0 .. ROWS * padded - 1]; loop variant ROWS - t; */
    for (size_t t = 0; t < ROWS; t++)
        /*@ assert within(t, padded, ROWS) && (t < n ==> reaches(t, n, stride)); */
        /*@ loop invariant 0 <= c <= padded && c % 16 == 0;
            loop assigns c, to[0 .. ROWS * padded - 1];
            loop variant padded - c; */
        for (size_t c = 0; c < padded; c += 16)
            v16_store(to + t * padded + c,
                      load_part(from + t * stride + c, t < n ? smx_min(16, width - c) : 0));
}
// Keys, queries and gates, the gates by channel or one for all channels of a row: e^g, 1 where there is no
// row; and e to the sum from the first row on, rounded once a block: were it multiplied up, gates that are
// the same in every row would be off by the same in every row.
/*@ requires \valid(w) && BLOCK_AT(w, c) && INPUTS(c, c->p) && ASKS_FOR(ahead, w, c);
    requires 0 < w->n <= ROWS && row + w->n <= c->p->B * c->p->L && h < c->p->H;
    requires (by_channel != 0) <==> c->p->gates == SMX_GATES_CHANNEL;
    assigns INTO(w->q), INTO(w->k), INTO(w->alpha), INTO(w->decay), INTO(w->erase), w->steady;
    assigns ASKED(ahead); */
SMX_LARGE void load_keys(block *w, const call *c, size_t row, size_t h, wanted *ahead, const int by_channel) {
    enum { AT_ONCE = SMX_EXPS > 1 ? SMX_EXPS / 2 : 1 }; // rows whose exponentials go in step
    const smx_state *p = c->p;
    const size_t dkp = c->l.dkp, at = keys_at(p, row, h), stride = keys_stride(p);
    const v16 scale = v16_set(p->scale), one = v16_set(1.0f), zero = v16_set(0.0f);
    float alpha[ROWS] = {0}, decay[ROWS], so_far = 0.0f;
    /*@ HEAD(row, w->n, h, p->H, p->dk) */
    /*@ assert IN_HEAD(row, w->n, 0, 1, p->dk); */
    /*@ assert 0 <= row * p->H && row * p->H + h <= MOST && 0 <= (row * p->H + h) * p->dk <= MOST; */
    /*@ assert !p->shared ==> at == (row * p->H + h) * p->dk && stride == p->H * p->dk; */
    /*@ assert p->shared ==> at == row * p->dk && stride == p->dk; */
    /*@ assert !p->shared ==> 0 <= at &&
            at + (w->n - 1) * (p->H * p->dk) + p->dk <= p->B * p->L * (p->H * p->dk) <= MOST; */
    /*@ assert p->shared ==> 0 <= at &&
            at + (w->n - 1) * p->dk + p->dk <= p->B * p->L * p->dk <= MOST; */
    /*@ assert !p->shared ==> (w->n - 1) * stride == (w->n - 1) * (p->H * p->dk); */
    /*@ assert p->shared ==> (w->n - 1) * stride == (w->n - 1) * p->dk; */
    /*@ assert 0 <= at && at + (w->n - 1) * stride + p->dk <= KEYS(p) <= MOST; */
    /*@ loop invariant 0 <= t <= ROWS;
        loop assigns t, so_far, alpha[0 .. ROWS - 1], decay[0 .. ROWS - 1];
        loop variant ROWS - t; */
    for (size_t t = 0; t < ROWS && !by_channel; t++) {
        /*@ HEAD_OF_ROW */
        if (p->gates && t < w->n) alpha[t] = c->g[p->gates == SMX_GATES_HEAD ? (row + t) * p->H + h : h];
        so_far += alpha[t];
        decay[t] = so_far;
    }
    if (!by_channel) { // lanes are rows
        v16_store(alpha, v16_exp_down(v16_load(alpha)));
        v16_store(decay, settled(v16_exp_down(v16_load(decay))));
    }
    v16 all = one;
    /*@ loop invariant 0 <= i <= dkp && i % 16 == 0 && ahead->count <= 8 && SAME_KEYS;
        loop assigns i, all, INTO(w->q), INTO(w->k), INTO(w->alpha), INTO(w->decay), INTO(w->erase);
        loop assigns ASKED(ahead);
        loop variant dkp - i; */
    for (size_t i = 0; i < dkp; i += 16) {
        /*@ assert i < p->dk && i + 16 <= dkp; */
        const size_t channels = smx_min(16, p->dk - i);
        /*@ assert channels <= 16 && i + channels <= p->dk; */
        v16 sum = zero, least = one, fade = one;
        /*@ loop invariant 0 <= t0 <= ROWS && t0 % AT_ONCE == 0 && ahead->count <= 8 && SAME_KEYS;
            loop assigns t0, sum, least, fade, INTO(w->q), INTO(w->k), INTO(w->alpha), INTO(w->decay),
                INTO(w->erase), ASKED(ahead);
            loop variant ROWS - t0; */
        for (size_t t0 = 0; t0 < ROWS; t0 += AT_ONCE) {
            v16 power[2 * AT_ONCE];
            ask(ahead, 3);
            /*@ assert SAME_KEYS; */
            /*@ SAME_PRODUCTS */
            /*@ loop invariant 0 <= r <= AT_ONCE && t == t0 + r;
                loop assigns r, t, sum, power[0 .. 2 * AT_ONCE - 1];
                loop variant AT_ONCE - r; */
            for (size_t r = 0, t = t0; r < AT_ONCE; r++, t++) {
                /*@ HEAD_OF_ROW */
                /*@ HEAD(row + t, 1, h, p->H, p->dk) */
                /*@ assert p->B * p->L * (p->H * p->dk) <= MOST; */
                /*@ assert t < w->n ==> 0 <= ((row + t) * p->H + h) * p->dk; */
                /*@ assert t < w->n ==>
                        ((row + t) * p->H + h) * p->dk + p->dk <= p->B * p->L * (p->H * p->dk); */
                /*@ assert t < w->n ==>
                        (size_t)((size_t)((size_t)((size_t)(row + t) * p->H) + h) * p->dk) ==
                        ((row + t) * p->H + h) * p->dk; */
                /*@ assert t < w->n ==> ((row + t) * p->H + h) * p->dk + i + channels <=
                        \at(c->p->B * c->p->L * (c->p->H * c->p->dk), Pre); */
                /*@ assert t < w->n && by_channel ==>
                        \valid_read((c->g + (((row + t) * p->H + h) * p->dk + i)) + (0 .. channels - 1)); */
                if (by_channel) {
                    power[2 * r] =
                        load_part(c->g + ((row + t) * p->H + h) * p->dk + i, t < w->n ? channels : 0);
                    power[2 * r + 1] = sum = v16_add(sum, power[2 * r]);
                } else {
                    power[2 * r] = v16_set(alpha[t]);
                    power[2 * r + 1] = v16_set(decay[t]);
                }
            }
            /*@ loop invariant 0 <= r <= 2 * AT_ONCE && r % SMX_EXPS == 0;
                loop assigns r, power[0 .. 2 * AT_ONCE - 1];
                loop variant 2 * AT_ONCE - r; */
            for (size_t r = 0; r < 2 * AT_ONCE && by_channel; r += SMX_EXPS) v16_exps_down(power + r);
            /*@ loop invariant 0 <= r <= AT_ONCE && t == t0 + r;
                loop assigns r, t, least, fade, INTO(w->q), INTO(w->k), INTO(w->alpha), INTO(w->decay),
                    INTO(w->erase);
                loop variant AT_ONCE - r; */
            for (size_t r = 0, t = t0; r < AT_ONCE; r++, t++) {
                /*@ assert within(t, dkp, ROWS) && (t < w->n ==> reaches(t, w->n, stride)); */
                /*@ assert 0 <= t * dkp + i && t * dkp + i + 16 <= ROWS * dkp; */
                /*@ assert t < w->n ==> reaches(t, \at(w->n, Pre), stride); */
                /*@ assert 0 <= at &&
                        at + (\at(w->n, Pre) - 1) * stride + p->dk <= \at(KEYS(c->p), Pre) <= MOST; */
                /*@ assert KEYS(p) == \at(KEYS(c->p), Pre); */
                /*@ assert t < w->n ==> 0 <= t * stride && at + t * stride + p->dk <= KEYS(p) <= MOST; */
                /*@ assert t < w->n ==> (size_t)(t * stride) == t * stride &&
                        (size_t)(at + (size_t)(t * stride)) == at + t * stride &&
                        (size_t)((size_t)(at + (size_t)(t * stride)) + i) == at + t * stride + i; */
                /*@ assert t < w->n ==> at + t * stride + i + channels <= KEYS(p); */
                const size_t to = t * dkp + i, columns = t < w->n ? channels : 0;
                const v16 a = power[2 * r], k = load_part(c->k + at + t * stride + i, columns);
                const v16 q = v16_mul(load_part(c->q + at + t * stride + i, columns), scale);
                v16_store(w->alpha + to, a);
                v16_store(w->decay + to, by_channel ? settled(power[2 * r + 1]) : power[2 * r + 1]);
                v16_store(w->k + to, k);
                v16_store(w->q + to, q);
                v16 e = k;
                if (c->erase)
                    v16_store(w->erase + to, e = load_part(c->erase + at + t * stride + i, columns));
#if !defined(__wasm__) // the module is downloaded
                if (c->erase) least = v16_min(v16_select(v16_eq(e, zero), one, v16_abs(e)), least);
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
/*@ requires padded % 4 == 0 && columns <= padded && SIZED(ROWS, padded) && SIZED(columns, ld);
    requires in_rows: ROWS_OF(to, columns, ld, ROWS) && \valid_read(from + (0 .. ROWS * padded - 1));
    assigns INTO(to); */
static void turn(float *to, size_t ld, const float *from, size_t padded, size_t columns) {
    /*@ loop invariant 0 <= c <= padded && c % 4 == 0; loop assigns c, INTO(to); loop variant padded - c; */
    for (size_t c = 0; c < columns; c += 4) {
        /*@ assert c + 4 <= columns ==> part(c, 4, columns, ld); */
        float last[4 * ROWS];
        const int whole = c + 4 <= columns;
        float *rows = whole ? to + c * ld : last;
        /*@ loop invariant 0 <= t <= ROWS && t % 4 == 0;
            loop assigns t, to[c * ld .. c * ld + 3 * ld + ROWS - 1], last[0 .. 4 * ROWS - 1];
            loop variant ROWS - t; */
        for (size_t t = 0; t < ROWS; t += 4) /*@ assert part(t, 4, ROWS, padded); */
            transpose4(rows + t, whole ? ld : ROWS, from + t * padded + c, padded);
        /*@ loop invariant c <= i && (i <= columns || i == c);
            loop assigns i, INTO(to);
            loop variant columns - i; */
        for (size_t i = c; i < columns && !whole; i++) /*@ assert reaches(i, columns, ld); */
            memcpy(to + i * ld, last + (i - c) * ROWS, ROWS * sizeof *to);
    }
}
// to [ROWS][dkp] = a o b
/*@ requires n % 16 == 0 && n <= MOST && \valid(to + (0 .. n - 1));
    requires \valid_read(a + (0 .. n - 1)) && \valid_read(b + (0 .. n - 1));
    assigns to[0 .. n - 1]; */
static void times(float *to, const float *a, const float *b, size_t n) {
    /*@ GROUP_BY_GROUP(i, n, to) */
    for (size_t i = 0; i < n; i += 16) v16_store(to + i, v16_mul(v16_load(a + i), v16_load(b + i)));
}
// y += s x over a row of whole groups
/*@ requires n % 16 == 0 && n <= MOST && \valid(y + (0 .. n - 1)) && \valid_read(x + (0 .. n - 1));
    assigns y[0 .. n - 1]; */
static void add_row(float *y, const float *x, float s, size_t n) {
    const v16 factor = v16_set(s);
    /*@ GROUP_BY_GROUP(i, n, y) */
    for (size_t i = 0; i < n; i += 16) v16_store(y + i, v16_madd(v16_load(x + i), factor, v16_load(y + i)));
}
// state = diag(decay) state
/*@ requires \valid_read(l) && l->dvp % 16 == 0 && SIZED(dk, l->dvp) && \valid(to + (0 .. dk * l->dvp - 1));
    requires \valid_read(state + (0 .. dk * l->dvp - 1)) && \valid_read(decay + (0 .. dk - 1));
    assigns to[0 .. dk * l->dvp - 1]; */
static void fade(float *to, const float *state, const float *decay, const state_layout *l, size_t dk) {
    /*@ loop invariant 0 <= c <= dk; loop assigns c, to[0 .. dk * l->dvp - 1]; loop variant dk - c; */
    for (size_t c = 0; c < dk; c++) {
        /*@ assert within(c, l->dvp, dk) && one_step(c, 1, l->dvp); */
        const v16 a = v16_set(decay[c]);
        /*@ loop invariant c * l->dvp <= i <= (c + 1) * l->dvp && (i - c * l->dvp) % 16 == 0;
            loop assigns i, to[0 .. dk * l->dvp - 1];
            loop variant (c + 1) * l->dvp - i; */
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
/*@ requires BLOCK_AT(w, c) && t < ROWS && ASKS_FOR(ahead, w, c);
    assigns INTO(w->late), INTO(w->reads), INTO(w->answers), ASKED(ahead); */
SMX_LARGE void decayed_pairs(const block *w, const call *c, size_t t, wanted *ahead, const int delta,
                             const int settles) {
    const size_t dkp = c->l.dkp, rows = AT_ONCE(delta);
    v16 reads[ROWS], answers[ROWS];
    /*@ loop invariant 0 <= r <= rows;
        loop assigns r, reads[0 .. ROWS - 1], answers[0 .. ROWS - 1];
        loop variant rows - r; */
    STATE_UNROLL for (size_t r = 0; r < rows; r++) reads[r] = answers[r] = v16_set(0.0f);
    /*@ assert within(t, dkp, ROWS); */
    const float *a = w->alpha + t * dkp, *q = w->q + t * dkp, *as_query = w->erase + t * dkp;
    /*@ loop invariant 0 <= i <= c->p->dk && ahead->count <= 8;
        loop assigns i, reads[0 .. ROWS - 1], answers[0 .. ROWS - 1], INTO(w->late), ASKED(ahead);
        loop variant c->p->dk - i; */
    for (size_t i = 0; i < c->p->dk; i++) {
        v16 k = v16_load(w->late + i * ROWS);
        ask(ahead, 1);
        /*@ loop invariant 0 <= r <= rows;
            loop assigns r, k, reads[0 .. ROWS - 1], answers[0 .. ROWS - 1];
            loop variant rows - r; */
        STATE_UNROLL for (size_t r = 0; r < rows; r++) {
            const size_t at = r * dkp + i;
            k = v16_scale_below(k, a[at], (int)(t + r));
            if (settles) k = settled(k);
            reads[r] = v16_madd(v16_set(q[at]), k, reads[r]);
            if (delta) answers[r] = v16_madd(v16_set(as_query[at]), k, answers[r]);
        }
        v16_store(w->late + i * ROWS, k);
    }
    /*@ loop invariant 0 <= r <= rows;
        loop assigns r, INTO(w->reads), INTO(w->answers);
        loop variant rows - r; */
    STATE_UNROLL for (size_t r = 0; r < rows; r++) {
        v16_store(w->reads + (t + r) * ROWS, reads[r]);
        if (delta) v16_store(w->answers + (t + r) * ROWS, answers[r]);
    }
}
/*@ requires BLOCK_AT(w, c) && t < ROWS && ASKS_FOR(a, w, c);
    assigns INTO(w->late), INTO(w->reads), INTO(w->answers), ASKED(a); */
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
// [ROWS][ROWS], of which only what lies below the diagonal stays.
/*@ requires \valid(x + (0 .. ROWS * ROWS - 1)) && \valid_read(lanes + (0 .. 15));
    assigns x[0 .. ROWS * ROWS - 1]; */
static void below_diagonal(float *x) {
    /*@ loop invariant 0 <= t <= ROWS; loop assigns t, x[0 .. ROWS * ROWS - 1]; loop variant ROWS - t; */
    for (size_t t = 0; t < ROWS; t++) {
        const m16 below = v16_lt(v16_load(lanes), v16_set((float)t));
        v16_store(x + t * ROWS, v16_select(below, v16_load(x + t * ROWS), v16_set(0.0f)));
    }
}
/*@ requires BLOCK_AT(w, c) && ASKS_FOR(a, w, c) && \valid_read(lanes + (0 .. 15));
    assigns INTO(w->late), INTO(w->reads), INTO(w->answers), ASKED(a); */
static void pairs(const block *w, const call *c, wanted *a) {
    const size_t dk = c->p->dk, dkp = c->l.dkp;
    turn(w->late, ROWS, w->k, dkp, dk);
    if (!c->p->gates) {
        product(w->reads, ROWS, w->q, dkp, 1, w->late, ROWS, ROWS, ROWS, dk, 0);
        if (c->delta) product(w->answers, ROWS, w->erase, dkp, 1, w->late, ROWS, ROWS, ROWS, dk, 0);
#ifdef SMX_NARROW
    } else if (smx_private_narrow && w->steady && !c->delta) {
        narrow_pairs(w, c, a, 0);
        narrow_pairs(w, c, a, 8);
#endif
    } else if (c->delta) {
        /*@ ROW_BY_ROW */
        STATE_UNROLL for (size_t t = 0; t < ROWS; t += AT_ONCE(1)) decayed(w, c, t, a, 1);
    } else {
        /*@ ROW_BY_ROW */
        STATE_UNROLL for (size_t t = 0; t < ROWS; t += AT_ONCE(0)) decayed(w, c, t, a, 0);
    }
    /*@ loop invariant 0 <= t <= ROWS; loop assigns t, INTO(w->reads); loop variant ROWS - t; */
    for (size_t t = 0; t < ROWS; t++) {
        float *reads = w->reads + t * ROWS;
        v16_store(reads,
                  v16_select(v16_le(v16_load(lanes), v16_set((float)t)), v16_load(reads), v16_set(0.0f)));
    }
    if (c->delta) below_diagonal(w->answers);
}

// u and miss, which first is what the state leaves of v: four rows at a time are solved among themselves, and
// taken from those behind.
/*@ requires BLOCK_AT(w, c);
    assigns INTO(w->written), INTO(w->miss); */
static void solve(const block *w, const call *c) {
    const size_t dvp = c->l.dvp;
    /*@ assert dvp % 16 == 0; */
    /*@ loop invariant 0 <= t <= ROWS; loop assigns t, INTO(w->written); loop variant ROWS - t; */
    for (size_t t = 0; t < ROWS && !c->delta && c->beta; t++) {
        /*@ assert within(t, dvp, ROWS) && one_step(t, 1, dvp); */
        const v16 beta = v16_set(w->beta[t]);
        /*@ loop invariant t * dvp <= i <= (t + 1) * dvp && (i - t * dvp) % 16 == 0;
            loop assigns i, INTO(w->written);
            loop variant (t + 1) * dvp - i; */
        for (size_t i = t * dvp; i < (t + 1) * dvp; i += 16) /*@ assert i + 16 <= (t + 1) * dvp; */
            v16_store(w->written + i, v16_mul(v16_load(w->miss + i), beta));
    }
    /*@ loop invariant 0 <= s <= ROWS && s % 4 == 0;
        loop assigns s, INTO(w->written), INTO(w->miss);
        loop variant ROWS - s; */
    for (size_t s = 0; s < ROWS && c->delta; s += 4)
        /*@ loop invariant 0 <= i <= dvp;
            loop assigns i, INTO(w->written), INTO(w->miss);
            loop variant dvp - i; */
        for (size_t i = 0; i < dvp; i += SMX_W) {
            vf u[4];
            /*@ loop invariant 0 <= j <= 4;
                loop assigns j, u[0 .. 3], INTO(w->written), INTO(w->miss);
                loop variant 4 - j; */
            STATE_UNROLL for (size_t j = 0; j < 4; j++) {
                /*@ assert s + j < ROWS; */
                /*@ assert within(s + j, dvp, ROWS); */
                /*@ assert 0 <= (s + j) * dvp + i < ROWS * dvp; */
                const float *answers = w->answers + (s + j) * ROWS + s;
                float *miss = w->miss + (s + j) * dvp + i;
                vf x = vf_load(miss);
                /*@ loop invariant 0 <= r <= 3; loop assigns r, x; loop variant 3 - r; */
                STATE_UNROLL for (size_t r = 0; r < 3; r++) if (r < j) x = x - vf_set(answers[r]) * u[r];
                vf_store(miss, x);
                u[j] = x * vf_set(w->beta[s + j]);
                vf_store(w->written + (s + j) * dvp + i, u[j]);
            }
            /*@ loop invariant s + 4 <= t <= ROWS; loop assigns t, INTO(w->miss); loop variant ROWS - t; */
            for (size_t t = s + 4; t < ROWS; t++) {
                /*@ assert within(t, dvp, ROWS); */
                const float *answers = w->answers + t * ROWS + s;
                vf x = vf_load(w->miss + t * dvp + i);
                /*@ loop invariant 0 <= r <= 4; loop assigns r, x; loop variant 4 - r; */
                STATE_UNROLL for (size_t r = 0; r < 4; r++) x = x - vf_set(answers[r]) * u[r];
                vf_store(w->miss + t * dvp + i, x);
            }
        }
}

// What load_block will read of a block.
/*@ requires CALLED(c) && \valid(a) && \separated(a, c, c->p) && a->count <= 3;
    assigns a->list[0 .. 7], a->count;
    ensures a->count <= \old(a->count) + 5; */
static void want_block(wanted *a, const call *c, size_t row, size_t h, size_t n) {
    const smx_state *p = c->p;
    const size_t at = keys_at(p, row, h), values = p->H * p->dv;
    want(a, c->q + at, keys_stride(p), n, p->dk);
    want(a, c->k + at, keys_stride(p), n, p->dk);
    if (c->erase) want(a, c->erase + at, keys_stride(p), n, p->dk);
    want(a, c->v + row * values + h * p->dv, values, n, p->dv);
    if (p->gates == SMX_GATES_CHANNEL) want(a, c->g + (row * p->H + h) * p->dk, p->H * p->dk, n, p->dk);
}
// One of the parts, as many as a segment has blocks, of a state.
/*@ requires CALLED(c) && \valid(a) && \separated(a, c, c->p) && a->count < 8;
    assigns a->list[0 .. 7], a->count;
    ensures a->count <= \old(a->count) + 1; */
static void want_state(wanted *a, const call *c, const float *state, size_t part) {
    const size_t dk = c->p->dk, rows = (dk + STATE_BLOCKS - 1) / STATE_BLOCKS, at = smx_min(dk, part * rows);
    want(a, state + at * c->l.dvp, c->l.dvp, smx_min(rows, dk - at), c->l.dvp);
}
// Everything of a block but the state after it.
/*@ requires \valid(w) && BLOCK_AT(w, c) && INPUTS(c, c->p) && ASKS_FOR(a, w, c) && OF_KEYS(work);
    requires 0 < w->n <= ROWS && row + w->n <= c->p->B * c->p->L && h < c->p->H;
    requires \valid_read(lanes + (0 .. 15));
    requires c->delta ==> \valid_read(w->state + (0 .. c->p->dk * c->l.dvp - 1));
    assigns LOADED(w), INTO(work), ASKED(a);
    ensures SIZED(ROWS, w->ldu) && READ_ROWS(w->u, ROWS, w->ldu, c->l.dvp); */
static void load_block(block *w, const call *c, float *work, size_t row, size_t h, wanted *a) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t dvp = l->dvp, values = (row * p->H + h) * p->dv, stride = p->H * p->dv;
    const int plain = !c->delta && !c->beta; // u is v
    /*@ HEAD(row, w->n, h, p->H, p->dv) */
    /*@ WHOLE_ROWS */
    /*@ assert product_within(w->n, p->B * p->L, p->H * p->dv); */
    /*@ assert rows: stride == p->H * p->dv && values == (row * p->H + h) * p->dv; */
    /*@ assert rows: w->n * stride <= MOST; */
    /*@ assert rows: values + (w->n - 1) * stride + p->dv <= p->B * p->L * (p->H * p->dv); */
    if (plain && w->n == ROWS && p->dv == dvp) {
        w->u = c->v + values, w->ldu = stride;
        /*@ LOADED_U */
    } else {
        load_rows(w->miss, c->v + values, stride, w->n, p->dv, dvp);
        w->u = plain ? w->miss : w->written, w->ldu = dvp;
        /*@ LOADED_U */
    }
    /*@ LOADING */
    /*@ loop invariant 0 <= t <= ROWS; loop assigns t, w->beta[0 .. ROWS - 1]; loop variant ROWS - t; */
    for (size_t t = 0; t < ROWS; t++) /*@ HEAD_OF_ROW */
        w->beta[t] = t >= w->n ? 0.0f : c->beta ? c->beta[(row + t) * p->H + h] : 1.0f;
    /*@ LOADING_KEYS */
    if (p->gates == SMX_GATES_CHANNEL)
        load_keys(w, c, row, h, a, 1);
    else
        load_keys(w, c, row, h, a, 0);
    /*@ LOADING THEN STILL_SIZED THEN STILL_A_BLOCK */
    pairs(w, c, a);
    /*@ LOADING THEN STILL_SIZED THEN STILL_A_BLOCK */
    /*@ WHOLE_ROWS */
    if (c->delta) { // u first holds the state's answers
        times(work, w->erase, w->decay, ROWS * l->dkp);
        product(w->written, dvp, work, l->dkp, 1, w->state, dvp, ROWS, dvp, p->dk, 0);
        add_row(w->miss, w->written, -1.0f, ROWS * dvp);
    }
    solve(w, c);
}
// The state after a block; in place, too.
/*@ requires BLOCK_AT(w, c) && ASKS_FOR(a, w, c) && \valid(after + (0 .. c->p->dk * c->l.dvp - 1));
    requires \valid_read(w->state + (0 .. c->p->dk * c->l.dvp - 1));
    requires SIZED(ROWS, w->ldu) && READ_ROWS(w->u, ROWS, w->ldu, c->l.dvp);
    assigns INTO(after), ASKED(a); */
static void write_block(float *after, const block *w, const call *c, wanted *a) {
    const state_layout *l = &c->l;
    fade(after, w->state, w->decay + (ROWS - 1) * l->dkp, l, c->p->dk);
    asking_product(a, after, l->dvp, w->late, ROWS, 1, w->u, w->ldu, c->p->dk, l->dvp, ROWS, 1);
}

// States [dk][dv] of the caller and [dk][dvp] of ours; NULL: zeros.
/*@ requires OF_STATES(c) && c->l.size == c->p->dk * c->l.dvp && \valid(to + (0 .. c->l.size - 1));
    requires from != \null ==> \valid_read(from + (0 .. c->p->dk * c->p->dv - 1));
    assigns INTO(to); */
static void load_state(float *to, const float *from, const call *c) {
    memset(to, 0, c->l.size * sizeof *to);
    /*@ loop invariant 0 <= i <= c->p->dk; loop assigns i, INTO(to); loop variant c->p->dk - i; */
    for (size_t i = 0; from && i < c->p->dk; i++)
        /*@ assert within(i, c->l.dvp, c->p->dk) && within(i, c->p->dv, c->p->dk); */
        memcpy(to + i * c->l.dvp, from + i * c->p->dv, c->p->dv * sizeof *to);
}
/*@ requires OF_STATES(c) && \valid_read(from + (0 .. c->p->dk * c->l.dvp - 1));
    requires in_state: to != \null ==> \valid(to + (0 .. c->p->dk * c->p->dv - 1));
    assigns INTO(to); */
static void store_state(float *to, const float *from, const call *c) {
    /*@ loop invariant 0 <= i <= c->p->dk; loop assigns i, INTO(to); loop variant c->p->dk - i; */
    for (size_t i = 0; to && i < c->p->dk; i++)
        /*@ assert within(i, c->l.dvp, c->p->dk) && within(i, c->p->dv, c->p->dk); */
        memcpy(to + i * c->p->dv, from + i * c->l.dvp, c->p->dv * sizeof *to);
}

// One block of one head: its rows of y, stride apart, and the state after it.
/*@ requires \valid(w) && BLOCK_AT(w, c) && INPUTS(c, c->p) && ASKS_FOR(a, w, c) && OF_KEYS(work);
    requires 0 < w->n <= ROWS && row + w->n <= c->p->B * c->p->L && h < c->p->H;
    requires \valid_read(lanes + (0 .. 15)) && ROWS_OF(y, w->n, c->p->H * c->p->dv, c->p->dv);
    requires \valid_read(w->state + (0 .. c->p->dk * c->l.dvp - 1));
    requires \valid(after + (0 .. c->p->dk * c->l.dvp - 1));
    assigns LOADED(w), INTO(work), INTO(y), INTO(after), ASKED(a); */
static void block_fwd(float *y, float *after, block *w, const call *c, float *work, size_t row, size_t h,
                      wanted *a) {
    const smx_state *p = c->p;
    const size_t dkp = c->l.dkp, dvp = c->l.dvp, stride = p->H * p->dv;
    /*@ WHOLE_ROWS_OF(dkp) THEN BLOCK_OF_Y */
    load_block(w, c, work, row, h, a);
    times(work, w->q, w->decay, ROWS * dkp);
    /*@ BLOCK_PRODUCTS */
    asking_product(a, y, stride, work, dkp, 1, w->state, dvp, w->n, p->dv, p->dk, 0);
    asking_product(a, y, stride, w->reads, ROWS, 1, w->u, w->ldu, w->n, p->dv, ROWS, 1);
    write_block(after, w, c, a);
    ask(a, SIZE_MAX);
}
// Rows t0 .. end - 1 of one head, from the state `state`: carried holds those between, kept the one after.
/*@ requires LAYOUT(c) && INPUTS(c, c->p) && \separated(c, c->p) && \valid_read(lanes + (0 .. 15));
    requires b < c->p->B && h < c->p->H && end <= c->p->L;
    requires \valid(y + (0 .. c->p->B * c->p->L * (c->p->H * c->p->dv) - 1));
    requires \valid(scratch + (0 .. c->l.floats - 1)) && \valid_read(state + (0 .. c->l.size - 1));
    requires \valid(carried + (0 .. c->l.size - 1)) && \valid(kept + (0 .. c->l.size - 1));
    assigns INTO(y), INTO(carried), INTO(kept), INTO(scratch); */
static void segment_fwd(float *y, const float *state, float *carried, float *kept, float *scratch,
                        const call *c, size_t b, size_t h, size_t t0, size_t end) {
    const smx_state *p = c->p;
    float *work = scratch + c->l.work;
    block w = block_at(c, scratch, 0, 0);
    w.state = state;
    /*@ SEGMENT_OF_SEQUENCE */
    /*@ loop invariant t0 <= t && (t0 <= end ==> t < end + ROWS) && IN_BLOCK(w, c) && PLACED(w, scratch);
        loop invariant \valid_read(w.state + (0 .. c->l.size - 1));
        loop assigns t, w.n, w.u, w.ldu, w.steady, w.state;
        loop assigns INTO(y), INTO(carried), INTO(kept), INTO(scratch);
        loop variant end + ROWS - t; */
    for (size_t t = t0; t < end; t += ROWS) {
        const size_t row = b * p->L + t;
        float *to = y + (row * p->H + h) * p->dv, *after = t + ROWS < end ? carried : kept;
        wanted a = {0};
        w.n = smx_min(ROWS, p->L - t);
        /*@ BLOCK_OF_SEQUENCE */
        want(&a, to, p->H * p->dv, w.n, p->dv);
        if (kept != carried) want_state(&a, c, kept, (t - t0) / ROWS);
        if (h + 1 < p->H)
            want_block(&a, c, row, h + 1, w.n);
        else if (t + STATE_SEGMENT + ROWS <= p->L)
            want_block(&a, c, row + STATE_SEGMENT, 0, ROWS);
        IF_FAR(a, p);
        block_fwd(to, after, &w, c, work, row, h, &a);
        w.state = after;
    }
}
/*@ requires laid: LAYOUT(c);
    requires INPUTS(c, c->p) && \separated(c, c->p) && \valid_read(lanes + (0 .. 15));
    requires OUTPUTS(c->p, c->l.size) && \valid(scratch + (0 .. c->l.floats - 1));
    assigns INTO(y), INTO(last), INTO(states), INTO(scratch); */
static void forward(float *restrict y, float *restrict last, float *restrict states, const float *start,
                    float *scratch, const call *c) {
    const smx_state *p = c->p;
    const state_layout *l = &c->l;
    const size_t outer = p->dk * p->dv;
    if (!p->L) states = NULL; // no segment, no place for its state
    /*@ assert outer == p->dk * p->dv && reaches(p->H, p->H + 1, l->size); */
    /*@ assert 0 <= p->H * l->size <= MOST; */
    /*@ assert lies(scratch + l->states, scratch, l->states); */
    /*@ loop invariant 0 <= b <= p->B && KEPT(b * SEGMENTS(p->L));
        loop assigns b, states, INTO(y), INTO(last), INTO(\at(states, Pre)), INTO(scratch);
        loop variant p->B - b; */
    for (size_t b = 0; b < p->B; b++) {
        /*@ SEQUENCE */
        /*@ SEGMENT(b * SEGMENTS(p->L)) */
        /*@ loop invariant 0 <= h <= p->H;
            loop assigns h, INTO(\at(states, Pre)), INTO(scratch);
            loop variant p->H - h; */
        for (size_t h = 0; h < p->H; h++) /*@ STATE_OF_HEAD */
            load_state((states ? states : scratch + l->states) + h * l->size,
                       start ? start + (b * p->H + h) * outer : NULL, c);
        /*@ loop invariant 0 <= t0 < p->L + STATE_SEGMENT && t0 % STATE_SEGMENT == 0;
            loop invariant KEPT(b * SEGMENTS(p->L) + t0 / STATE_SEGMENT);
            loop invariant p->L <= t0 ==> KEPT((b + 1) * SEGMENTS(p->L));
            loop assigns t0, states, INTO(y), INTO(\at(states, Pre)), INTO(scratch);
            loop variant p->L + STATE_SEGMENT - t0; */
        for (size_t t0 = 0; t0 < p->L; t0 += STATE_SEGMENT) {
            const size_t end = smx_min(p->L, t0 + STATE_SEGMENT);
            /*@ assert t0 < end <= p->L; */
            /*@ SEGMENT(b * SEGMENTS(p->L) + t0 / STATE_SEGMENT) */
            /*@ loop invariant 0 <= h <= p->H;
                loop assigns h, INTO(y), INTO(\at(states, Pre)), INTO(scratch);
                loop variant p->H - h; */
            for (size_t h = 0; h < p->H; h++) { // heads take turns: whole rows are read while they are near
                /*@ STATE_OF_HEAD */
                float *carried = scratch + l->states + h * l->size;
                /*@ NEXT_SEGMENT(b * SEGMENTS(p->L) + t0 / STATE_SEGMENT) */
                float *kept = states && end < p->L ? states + (p->H + h) * l->size : carried; // at the end
                /*@ assert carried: \valid(carried + (0 .. l->size - 1)); */
                /*@ assert kept: \valid(kept + (0 .. l->size - 1)); */
                /*@ assert into: lies(carried, scratch, l->states + (size_t)(h * l->size)); */
                /*@ assert into: kept == carried || KEPT_AT(kept); */
                segment_fwd(y, states ? states + h * l->size : carried, carried, kept, scratch, c, b, h, t0,
                            end);
            }
            /*@ PAST_SEGMENT(b * SEGMENTS(p->L) + t0 / STATE_SEGMENT) */
            if (states) states += p->H * l->size;
            /*@ NOW_PAST(b * SEGMENTS(p->L) + t0 / STATE_SEGMENT) */
        }
        /*@ PAST_SEQUENCE */
        /*@ loop invariant 0 <= h <= p->H; loop assigns h, INTO(last); loop variant p->H - h; */
        for (size_t h = 0; h < p->H && last; h++) /*@ STATE_OF_HEAD */
            store_state(last + (b * p->H + h) * outer, scratch + l->states + h * l->size, c);
    }
}

// ---- Backward -------------------------------------------------------------------------------------------

typedef struct {
    const smx_state_gradients *x;
    float *dstart;
    const float *dy, *dlast;
} gradients;

// Lanes of key channels: one register, or, where loops stay loops, a group.
#if defined(__wasm__)
typedef v16 some;
#define some_load v16_load
#define some_store v16_store
#define some_set v16_set
#define some_add v16_add
#define some_mul v16_mul
#define some_madd v16_madd
#define some_settled settled
enum { SOME = 16 };
#else
typedef vf some;
#define some_load vf_load
#define some_store vf_store
#define some_set vf_set
#define some_add(a, b) ((a) + (b))
#define some_mul(a, b) ((a) * (b))
#define some_madd vf_madd
#define some_settled(x) vf_select(vf_lt(vf_abs(x), vf_set(0x1p-96f)), vf_set(0.0f), x)
enum { SOME = SMX_W };
#endif
// Without gates: dq, as_query and as_key, which come as what the states before and after the block give.
SMX_INLINE void plain_bwd(float *dq, float *as_query, float *as_key, const float *dreads,
                          const float *danswers, const block *w, size_t dkp, const int delta) {
    const size_t n = w->n;
    const some sign = some_set(delta ? -0.0f : 0.0f); // the delta rule's keeps its zeros' signs
    for (size_t i = 0; i < dkp; i += SOME) {
        for (size_t t = 0; t < n; t++) {
            const size_t at = t * dkp + i;
            some reads = some_load(dq + at), answers = delta ? some_load(as_query + at) : reads;
            for (size_t s = 0; s <= t; s++) {
                const some k = some_load(w->k + s * dkp + i);
                reads = some_madd(some_set(dreads[t * ROWS + s]), k, reads);
                if (delta && s < t) answers = some_madd(some_set(danswers[t * ROWS + s]), k, answers);
            }
            some_store(dq + at, reads);
            if (delta) some_store(as_query + at, answers);
        }
        for (size_t s = 0; s < n; s++) {
            some sum = some_add(some_load(as_key + s * dkp + i), sign);
            for (size_t t = s; t < n; t++) {
                const size_t at = t * dkp + i;
                sum = some_madd(some_set(dreads[t * ROWS + s]), some_load(w->q + at), sum);
                if (delta && t > s)
                    sum = some_madd(some_set(danswers[t * ROWS + s]), some_load(w->erase + at), sum);
            }
            some_store(as_key + s * dkp + i, sum);
        }
    }
}

enum { HALF = ROWS / 2 };

// Gradients of one block through its pairs of rows, [ROWS][dkp] each. `read` comes as what the state before
// the block gives each row, undecayed, as_key as what each row's key gives the state after it, and `held`
// [dkp] is <dS, S>, of the state after and the one before.
typedef struct {
    const float *pairs, *queries; // dreads and q; then danswers and the keys that are erased
    float *read, *as_key, *dg;
    const float *held;
    float *crossing;
    int add; // to as_key and dg, to which nothing comes from outside the block
} pair_gradients;

// Of some channels, rows from.. of half a block. x is what each row has read of what lies before the half,
// `goes` what each row's key gives to what lies after it, `held` what crosses the whole half. From the first
// row on, each row t decays what row r >= t has read so far, and adds what it reads of t. Just before, that
// is what crosses t on its way to r: kept, it meets r's query, decayed back to t. A gate's gradient is a_t
// times the sum of what crosses it, to which nothing is added that is taken away again, and in which a_t
// itself has no part: e^-80 loses nothing. (Other gates below 2^-96 let nothing through.) Then x are the
// queries, decayed back to before the half; returned is what passes through all of it.
SMX_INLINE some half_bwd(some *x, const some *goes, some held, const pair_gradients *d, const block *w,
                         size_t dkp, size_t i, const size_t from, const int add, const int settles) {
    const int beyond = !(add && from);
    const float *pairs = d->pairs + from * ROWS + from;
    some across[HALF], rest = some_set(1.0f);
    STATE_UNROLL for (size_t t = 0; t < HALF; t++) {
        const size_t at = (from + t) * dkp + i;
        const some k = some_load(w->k + at);
        some a = some_load(w->alpha + at);
        if (settles) a = some_settled(a);
        across[t] = held;
        if (beyond) held = some_madd(k, goes[t], some_mul(held, a));
        STATE_UNROLL for (size_t r = 0; r < HALF; r++) {
            if (r < t) continue;
            some_store(d->crossing + (t * HALF + r) * SOME, x[r]);
            x[r] = some_madd(some_set(pairs[r * ROWS + t]), k, some_mul(x[r], a));
        }
        some_store(d->read + at, x[t]);
    }
    STATE_UNROLL for (size_t back = 0; back < HALF; back++) {
        const size_t t = HALF - 1 - back, at = (from + t) * dkp + i;
        const some a = some_load(w->alpha + at);
        some sum = add ? some_load(d->as_key + at) : some_set(0.0f), crossed = some_mul(across[t], rest);
        if (beyond) sum = some_madd(goes[t], rest, sum);
        x[t] = some_load(d->queries + at);
        STATE_UNROLL for (size_t r = 0; r < HALF; r++) {
            if (r < t) continue;
            sum = some_madd(some_set(pairs[r * ROWS + t]), x[r], sum);
            crossed = some_madd(x[r], some_load(d->crossing + (t * HALF + r) * SOME), crossed);
            x[r] = some_mul(x[r], a);
            if (settles) x[r] = some_settled(x[r]);
        }
        some_store(d->as_key + at, sum);
        some_store(d->dg + at, some_madd(a, crossed, add ? some_load(d->dg + at) : some_set(0.0f)));
        rest = some_mul(rest, a);
        if (settles) rest = some_settled(rest);
    }
    return rest;
}
// Some channels i.. of a gated block: what the first half hands on, the second, what it hands back, that one.
SMX_INLINE void channels_bwd(const pair_gradients *d, const block *w, size_t dkp, size_t i, const int add,
                             const int settles) {
    some x[HALF], goes[HALF], before[HALF], k[HALF], through = some_set(1.0f), held = some_set(0.0f);
    STATE_UNROLL for (size_t back = 0; back < HALF; back++) {
        const size_t t = HALF - 1 - back, at = t * dkp + i;
        k[t] = some_mul(some_load(w->k + at), through);
        through = some_mul(through, some_load(w->alpha + at));
        if (settles) k[t] = some_settled(k[t]), through = some_settled(through);
    }
    if (!add) held = some_mul(some_load(d->held + i), through);
    STATE_UNROLL for (size_t t = 0; t < HALF; t++) {
        const size_t at = (HALF + t) * dkp + i;
        const float *pairs = d->pairs + (HALF + t) * ROWS;
        if (!add) held = some_madd(k[t], some_load(d->as_key + t * dkp + i), held);
        goes[t] = add ? some_set(0.0f) : some_load(d->as_key + at);
        before[t] = some_load(d->read + at);
        x[t] = some_mul(before[t], through);
        STATE_UNROLL for (size_t s = 0; s < HALF; s++) x[t] = some_madd(some_set(pairs[s]), k[s], x[t]);
    }
    through = half_bwd(x, goes, held, d, w, dkp, i, HALF, add, settles);
    held = add ? some_set(0.0f) : some_mul(some_load(d->held + i), through);
    STATE_UNROLL for (size_t t = 0; t < HALF; t++) {
        held = some_madd(x[t], before[t], held);
        goes[t] = add ? some_set(0.0f) : some_mul(some_load(d->as_key + t * dkp + i), through);
        STATE_UNROLL for (size_t r = 0; r < HALF; r++) goes[t] =
            some_madd(some_set(d->pairs[(HALF + r) * ROWS + t]), x[r], goes[t]);
    }
    STATE_UNROLL for (size_t t = 0; t < HALF; t++) x[t] = some_load(d->read + t * dkp + i);
    half_bwd(x, goes, held, d, w, dkp, i, 0, add, settles);
}
#if defined(__wasm__)
static void gated_bwd(const pair_gradients *d, const block *w, size_t dkp) {
    for (size_t i = 0; i < dkp; i += SOME) channels_bwd(d, w, dkp, i, d->add, 1);
}
#else
#define GATED_BWD(name, add, settles)                                                                        \
    static void name(const pair_gradients *d, const block *w, size_t dkp) {                                  \
        for (size_t i = 0; i < dkp; i += SOME) channels_bwd(d, w, dkp, i, add, settles);                     \
    }
GATED_BWD(reads_bwd, 0, 1)
GATED_BWD(steady_reads_bwd, 0, 0)
GATED_BWD(answers_bwd, 1, 1)
GATED_BWD(steady_answers_bwd, 1, 0)
static void gated_bwd(const pair_gradients *d, const block *w, size_t dkp) {
    if (d->add)
        (w->steady ? steady_answers_bwd : answers_bwd)(d, w, dkp);
    else
        (w->steady ? steady_reads_bwd : reads_bwd)(d, w, dkp);
}
#endif

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

// One block, back to front: `back`, the gradient of the state after it, becomes that of the state before.
static void block_bwd(const gradients *d, const block *w, float *back, float *scratch, const call *c,
                      size_t row, size_t h, wanted *a) {
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
    if (c->delta) turn_back(as_query, dkp, sides + ROWS, wide);
    asking_product(a, sides, ROWS, back, dvp, 1, turned_u, ROWS, dk, ROWS, p->dv, 0);
    turn_back(as_key, dkp, sides, ROWS);
    if (p->gates) {
        float *held = scratch + l->held, *dg = scratch + l->dg, *crossing = scratch + l->crossing;
        for (size_t i = 0; i < dkp; i++)
            held[i] = i < dk ? row_dot(back + i * dvp, w->state + i * dvp, dvp) : 0.0f;
        gated_bwd(&(pair_gradients){dreads, w->q, dq, as_key, dg, held, crossing, 0}, w, dkp);
        if (c->delta) {
            below_diagonal(danswers);
            gated_bwd(&(pair_gradients){danswers, w->erase, as_query, as_key, dg, held, crossing, 1}, w, dkp);
        }
    } else if (c->delta) {
        plain_bwd(dq, as_query, as_key, dreads, danswers, w, dkp, 1);
    } else {
        plain_bwd(dq, as_query, as_key, dreads, danswers, w, dkp, 0);
    }
    for (size_t t = 0; t < n && p->gates && d->x->g; t++) {
        const float *from = scratch + l->dg + t * dkp;
        if (p->gates == SMX_GATES_CHANNEL)
            store_keys(d->x->g + ((row + t) * p->H + h) * dk, from, 1.0f, dk, 0);
        else if (p->gates == SMX_GATES_HEAD)
            d->x->g[(row + t) * p->H + h] = row_sum(from, dk);
        else
            d->x->g[h] += row_sum(from, dk);
    }
    if (c->delta && !d->x->erase) add_row(as_key, as_query, 1.0f, all); // k in both its roles
    for (size_t t = 0; t < n; t++) {
        const size_t at = keys_at(p, row + t, h);
        store_keys(d->x->q + at, dq + t * dkp, p->scale, dk, p->shared && h);
        store_keys(d->x->k + at, as_key + t * dkp, 1.0f, dk, p->shared && h);
        if (d->x->erase) store_keys(d->x->erase + at, as_query + t * dkp, 1.0f, dk, p->shared && h);
    }
    ask(a, SIZE_MAX);
    fade(back, back, w->decay + (ROWS - 1) * dkp, l, dk);
    times(work, w->q, w->decay, all);
    asking_product(a, back, dvp, work, 1, dkp, dy, ldy, dk, dvp, ROWS, 1);
    if (c->delta) {
        times(work, w->erase, w->decay, all);
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
                for (size_t i = 0; i < blocks; i++) {
                    const size_t first = row + i * ROWS, keys = keys_at(p, first, h);
                    const size_t values = (first * p->H + h) * p->dv;
                    wanted a = {0};
                    want(&a, d->x->q + keys, keys_stride(p), w[i].n, p->dk);
                    want(&a, d->x->k + keys, keys_stride(p), w[i].n, p->dk);
                    want(&a, d->dy + values, p->H * p->dv, w[i].n, p->dv);
                    want(&a, d->x->v + values, p->H * p->dv, w[i].n, p->dv);
                    IF_FAR(a, p);
                    load_block(&w[i], c, scratch + l->work, first, h, &a);
                    if (i + 1 < blocks) {
                        float *after = scratch + l->after + i * l->size;
                        write_block(after, &w[i], c, &a);
                        w[i + 1].state = after;
                    }
                    ask(&a, SIZE_MAX);
                }
                const size_t back = h + 1 < p->H ? 0 : 1, next = back ? 0 : h + 1; // segments; head
                for (size_t i = blocks; i-- > 0;) {
                    const size_t first = row + i * ROWS;
                    wanted a = {0};
                    if (p->gates == SMX_GATES_CHANNEL && d->x->g)
                        want(&a, d->x->g + (first * p->H + h) * p->dk, p->H * p->dk, w[i].n, p->dk);
                    if (back <= segment) {
                        want_block(&a, c, first - back * STATE_SEGMENT, next, back ? ROWS : w[i].n);
                        want_state(&a, c, kept - back * p->H * l->size + next * l->size, i);
                    }
                    IF_FAR(a, p);
                    block_bwd(d, &w[i], scratch + l->states + h * l->size, scratch, c, first, h, &a);
                }
            }
        for (size_t h = 0; h < p->H && d->dstart; h++)
            store_state(d->dstart + (b * p->H + h) * outer, scratch + l->states + h * l->size, c);
    }
}

/*@ requires \valid_read(x) && \valid_read(p) && SIZED_STATES(p);
    PURE
    ensures \result.p == p && \result.delta == delta && \result.q == x->q && \result.k == x->k;
    ensures \result.v == x->v && \result.beta == x->beta && \result.g == x->g && \result.erase == x->erase;
    ensures !backward ==> LAYOUT_OF(\result.l, p) && \result.l.floats == FORWARD_FLOATS(p); */
static call call_of(const smx_state_rows *x, const smx_state *p, int delta, int backward) {
    return (call){p, state_layout_of(p, backward), delta, x->q, x->k, x->v, x->beta, x->g, x->erase};
}
/*@ requires \valid_read(x) && \valid_read(p) && SIZED_STATES(p) && INPUTS(x, p);
    requires OUTPUTS(p, p->dk * GROUPS(p->dv));
    requires \valid(scratch + (0 .. FORWARD_FLOATS(p) - 1));
    assigns INTO(y), INTO(last), INTO(states), INTO(scratch); */
SMX_COPY(void, gla_fwd)
(float *restrict y, float *restrict last, float *restrict states, const smx_state_rows *x, const float *start,
 void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 0, 0);
    /*@ SIZED_CALL */
    forward(y, last, states, start, scratch, &c);
}
SMX_COPY(void, gla_bwd)
(const smx_state_gradients *dx, float *dstart, const float *dy, const float *dlast, const smx_state_rows *x,
 const float *states, void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 0, 1);
    backward(&(gradients){dx, dstart, dy, dlast}, states, scratch, &c);
}
/*@ requires \valid_read(x) && \valid_read(p) && SIZED_STATES(p) && INPUTS(x, p);
    requires OUTPUTS(p, p->dk * GROUPS(p->dv));
    requires \valid(scratch + (0 .. FORWARD_FLOATS(p) - 1));
    assigns INTO(y), INTO(last), INTO(states), INTO(scratch); */
SMX_COPY(void, delta_fwd)
(float *restrict y, float *restrict last, float *restrict states, const smx_state_rows *x, const float *start,
 void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 1, 0);
    /*@ SIZED_CALL */
    forward(y, last, states, start, scratch, &c);
}
SMX_COPY(void, delta_bwd)
(const smx_state_gradients *dx, float *dstart, const float *dy, const float *dlast, const smx_state_rows *x,
 const float *states, void *scratch, const smx_state *p) {
    const call c = call_of(x, p, 1, 1);
    backward(&(gradients){dx, dstart, dy, dlast}, states, scratch, &c);
}
