// conv.c: the short convolutions over time: a filter per group of channels, and the multi-head filter of CAT.
// Lanes run over channels (conv) or over the flattened steps of one head (conv_heads); every output sums its
// taps in order.
#include "kernels/core/kernel.h"
#include "conv_layout.h"

// ---- A filter per group of channels ---------------------------------------------------------------------

// Output rows, and taps, that share registers. Any number gives the same bits.
#define CONV_ROWS (SMX_W == 16 ? 8 : SMX_W == 8 ? 4 : 2)

/*@ PURE ensures a <= \result && b <= \result && (\result == a || \result == b); */
SMX_INLINE ptrdiff_t at_least(ptrdiff_t a, ptrdiff_t b) { return a > b ? a : b; }
/*@ PURE ensures \result <= a && \result <= b && (\result == a || \result == b); */
SMX_INLINE ptrdiff_t at_most(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

// taps [W][Dp] from f [groups][W]
/*@ requires 0 < groups <= MOST && D <= Dp && SIZED(W, Dp) && SIZED(groups, W);
    requires ROWS_OF(taps, W, Dp, Dp) && READ_ROWS(f, groups, W, W);
    assigns INTO(taps); */
static void expand(float *restrict taps, const float *f, size_t D, size_t Dp, size_t groups, size_t W) {
    const size_t d = D / groups;
    /*@ assert 0 <= d * groups <= D; */
    /*@ loop invariant 0 <= w <= W; loop assigns w, INTO(taps); loop variant W - w; */
    for (size_t w = 0; w < W; w++) {
        /*@ assert reaches(w, W, Dp); */
        float *row = taps + w * Dp;
        /*@ loop invariant 0 <= g <= groups; loop assigns g, INTO(taps); loop variant groups - g; */
        for (size_t g = 0; g < groups; g++) /*@ assert within(g, d, groups) && reaches(g, groups, W); */
            /*@ loop invariant 0 <= e <= d; loop assigns e, INTO(taps); loop variant d - e; */
            for (size_t e = 0; e < d; e++) row[g * d + e] = f[g * W + w];
        /*@ loop invariant D <= c <= Dp; loop assigns c, INTO(taps); loop variant Dp - c; */
        for (size_t c = D; c < Dp; c++) row[c] = 0.0f;
    }
}

// T rows of 16 columns: out[t] = sum_w taps[w] in[t + shift + step w], with step 1 or -1, over the w for
// which that row exists. Row r may use w in [lo_r, hi_r): the taps common to all rows run together, those
// before and after row by row, so that w ascends for every row.
/*@ requires 1 <= T <= CONV_ROWS && (step == 1 || step == -1) && 0 <= t && t + T <= L && -W <= shift <= W;
    requires SIZED(L + W, ldi) && SIZED(W, Dp) && SIZED(T, ldo);
    requires READ_ROWS(in, L, ldi, 16) && READ_ROWS(taps, W, Dp, 16) && ROWS_OF(out, T, ldo, 16);
    assigns INTO(out); */
SMX_INLINE void conv_rows(float *out, size_t ldo, const float *in, size_t ldi, const float *taps, size_t Dp,
                          size_t L, size_t W, ptrdiff_t t, ptrdiff_t shift, const int step, const int T) {
    ptrdiff_t lo[CONV_ROWS], hi[CONV_ROWS], a = 0, b = (ptrdiff_t)W;
    v16 s[CONV_ROWS];
    /*@ loop invariant 0 <= r <= T && 0 <= a && b <= W;
        loop invariant \forall integer j; 0 <= j < r ==> TAPS_OF(j) && lo[j] <= a && b <= hi[j];
        loop assigns r, a, b, lo[0 .. CONV_ROWS - 1], hi[0 .. CONV_ROWS - 1], s[0 .. CONV_ROWS - 1];
        loop variant T - r; */
    SMX_UNROLL for (int r = 0; r < T; r++) {
        const ptrdiff_t row = t + r + shift; // of tap 0; row + step w must be in [0, L)
        lo[r] = at_least(0, step > 0 ? -row : row - (ptrdiff_t)L + 1);
        hi[r] = at_most((ptrdiff_t)W, step > 0 ? (ptrdiff_t)L - row : row + 1);
        a = at_least(a, lo[r]);
        b = at_most(b, hi[r]);
        s[r] = v16_set(0.0f);
    }
    if (b < a) b = a;
    const ptrdiff_t line = (ptrdiff_t)ldi;
    /*@ assert product_within(t + shift, L + W, ldi) &&
           same_product((ptrdiff_t)(t + shift), line, t + shift, ldi); */
    in += (t + shift) * line;
    /*@ loop invariant 0 <= r <= T; loop assigns r, s[0 .. CONV_ROWS - 1]; loop variant T - r; */
    SMX_UNROLL for (int r = 0; r < T; r++)
        /*@ assert TAPS_OF(r); */
        /*@ loop invariant lo[r] <= w; loop assigns w, s[0 .. CONV_ROWS - 1]; loop variant W - w; */
        for (ptrdiff_t w = lo[r]; w < at_most(hi[r], a); w++)
        /*@ assert AT_TAP(r, w); */
        s[r] = v16_madd(v16_load(taps + w * (ptrdiff_t)Dp), v16_load(in + (r + step * w) * line), s[r]);
    /*@ loop invariant a <= w; loop assigns w, s[0 .. CONV_ROWS - 1]; loop variant W - w; */
    for (ptrdiff_t w = a; w < b; w++) {
        /*@ assert by_one(step, w) && product_within(step * w, W, ldi) &&
               one_step(t + shift, step * w, ldi); */
        /*@ assert reaches(w, W, Dp); */
        const v16 k = v16_load(taps + w * (ptrdiff_t)Dp);
        const float *p = in + step * w * line;
        /*@ loop invariant 0 <= r <= T; loop assigns r, s[0 .. CONV_ROWS - 1]; loop variant T - r; */
        SMX_UNROLL for (int r = 0; r < T; r++)
            /*@ assert TAPS_OF(r) && one_step(t + shift + step * w, r, ldi) && product_within(r, L, ldi); */
            /*@ assert AT_TAP(r, w); */
            s[r] = v16_madd(k, v16_load(p + r * line), s[r]);
    }
    /*@ loop invariant 0 <= r <= T; loop assigns r, s[0 .. CONV_ROWS - 1], INTO(out); loop variant T - r; */
    SMX_UNROLL for (int r = 0; r < T; r++) {
        /*@ assert TAPS_OF(r) && reaches(r, T, ldo) && product_within(r, T, ldo); */
        /*@ loop invariant b <= w; loop assigns w, s[0 .. CONV_ROWS - 1]; loop variant W - w; */
        for (ptrdiff_t w = b; w < hi[r]; w++) /*@ assert AT_TAP(r, w); */
            s[r] = v16_madd(v16_load(taps + w * (ptrdiff_t)Dp), v16_load(in + (r + step * w) * line), s[r]);
        v16_store(out + r * (ptrdiff_t)ldo, s[r]);
    }
}

#if SMX_W >= 8
// conv_rows of CONV_ROWS rows, each of which has all its taps.
SMX_INLINE void conv_whole_rows(float *out, size_t ldo, const float *in, size_t ldi, const float *taps,
                                size_t Dp, size_t W, const int step) {
    const ptrdiff_t line = (ptrdiff_t)ldi;
    v16 s[CONV_ROWS];
    SMX_UNROLL for (int r = 0; r < CONV_ROWS; r++) s[r] = v16_set(0.0f);
    for (ptrdiff_t w = 0; w < (ptrdiff_t)W; w++) {
        const v16 k = v16_load(taps + w * (ptrdiff_t)Dp);
        const float *p = in + step * w * line;
        SMX_UNROLL for (int r = 0; r < CONV_ROWS; r++) s[r] = v16_madd(k, v16_load(p + r * line), s[r]);
    }
    SMX_UNROLL for (int r = 0; r < CONV_ROWS; r++) v16_store(out + r * (ptrdiff_t)ldo, s[r]);
}
#endif

// Rows t0..end-1, all columns of some rows before the next rows:
// those lie in the cache when their other columns are read.
/*@ requires 16 <= Dp && (step == 1 || step == -1) && t0 <= end <= L && -W <= shift <= W;
    requires SIZED(L + W, ldi) && SIZED(W, Dp) && SIZED(L, ldo);
    requires READ_ROWS(in, L, ldi, Dp) && READ_ROWS(taps, W, Dp, Dp) && ROWS_OF(out, L, ldo, Dp);
    assigns INTO(out); */
SMX_INLINE void conv_block(float *out, size_t ldo, const float *in, size_t ldi, const float *taps, size_t Dp,
                           size_t L, size_t W, ptrdiff_t shift, const int step, size_t t0, size_t end) {
    /*@ loop invariant 0 <= group <= Dp + 15; loop assigns group, INTO(out); loop variant Dp + 15 - group; */
    for (size_t group = 0; group < Dp; group += 16) {
        const size_t c = smx_min(group, Dp - 16);
        size_t t = t0;
        /*@ loop invariant t0 <= t <= end; loop assigns t, INTO(out); loop variant end - t; */
        for (; t + CONV_ROWS <= end; t += CONV_ROWS)
#if SMX_W >= 8
            if ((ptrdiff_t)t + shift >= (step > 0 ? 0 : (ptrdiff_t)W - 1) &&
                (ptrdiff_t)t + shift + CONV_ROWS + (step > 0 ? (ptrdiff_t)W - 1 : 0) <= (ptrdiff_t)L)
                conv_whole_rows(out + t * ldo + c, ldo, in + c + ((ptrdiff_t)t + shift) * (ptrdiff_t)ldi, ldi,
                                taps + c, Dp, W, step);
            else
#endif
                /*@ assert part(t, CONV_ROWS, L, ldo) && product_within(CONV_ROWS, L, ldo); */
                conv_rows(out + t * ldo + c, ldo, in + c, ldi, taps + c, Dp, L, W, (ptrdiff_t)t, shift, step,
                          CONV_ROWS);
        /*@ loop invariant t0 <= t <= end; loop assigns t, INTO(out); loop variant end - t; */
        for (; t < end; t++) /*@ assert part(t, 1, L, ldo) && product_within(1, L, ldo); */
            conv_rows(out + t * ldo + c, ldo, in + c, ldi, taps + c, Dp, L, W, (ptrdiff_t)t, shift, step, 1);
    }
}
/*@ requires 16 <= Dp && -W <= shift <= W && SIZED(L + W, ldi) && SIZED(W, Dp) && SIZED(L, ldo);
    requires READ_ROWS(in, L, ldi, Dp) && READ_ROWS(taps, W, Dp, Dp) && ROWS_OF(out, L, ldo, Dp);
    assigns INTO(out); */
SMX_LARGE void conv_sequence(float *out, size_t ldo, const float *in, size_t ldi, const float *taps,
                             size_t Dp, size_t L, size_t W, ptrdiff_t shift) {
    /*@ loop invariant 0 <= t0 <= L + SMX_KC; loop assigns t0, INTO(out); loop variant L + SMX_KC - t0; */
    for (size_t t0 = 0; t0 < L; t0 += SMX_KC)
        conv_block(out, ldo, in, ldi, taps, Dp, L, W, shift, -1, t0, smx_min(L, t0 + SMX_KC));
}

// K taps of 16 columns: partial[w] (+)= sum_t dy[t] x[t + future - w] over the block of SMX_KC rows at t0, t
// in order.
SMX_INLINE void conv_taps(float *partial, size_t ldp, const float *dy, size_t ldy, const float *x, size_t ldx,
                          size_t L, size_t w0, ptrdiff_t future, size_t t0, const int K) {
    const ptrdiff_t first = (ptrdiff_t)t0, end = (ptrdiff_t)smx_min(L, t0 + SMX_KC);
    ptrdiff_t lo[CONV_ROWS], hi[CONV_ROWS], a = first, b = end;
    v16 s[CONV_ROWS];
    SMX_UNROLL for (int k = 0; k < K; k++) {
        const ptrdiff_t delay = (ptrdiff_t)w0 + k - future;
        lo[k] = at_least(first, delay);
        hi[k] = at_most(end, (ptrdiff_t)L + delay);
        a = at_least(a, lo[k]);
        b = at_most(b, hi[k]);
        s[k] = v16_set(0.0f);
    }
    if (b < a) b = a;
    const ptrdiff_t line = (ptrdiff_t)ldx, row = (ptrdiff_t)ldy;
    const float *xs = x + (future - (ptrdiff_t)w0) * line;
    SMX_UNROLL for (int k = 0; k < K; k++) for (ptrdiff_t t = lo[k]; t < at_most(hi[k], a); t++) s[k] =
        v16_madd(v16_load(dy + t * row), v16_load(xs + (t - k) * line), s[k]);
    for (ptrdiff_t t = a; t < b; t++) {
        const v16 g = v16_load(dy + t * row);
        SMX_UNROLL for (int k = 0; k < K; k++) s[k] = v16_madd(g, v16_load(xs + (t - k) * line), s[k]);
    }
    SMX_UNROLL for (int k = 0; k < K; k++) {
        for (ptrdiff_t t = b; t < hi[k]; t++)
            s[k] = v16_madd(v16_load(dy + t * row), v16_load(xs + (t - k) * line), s[k]);
        float *p = partial + (w0 + (size_t)k) * ldp;
        v16_store(p, t0 ? v16_add(v16_load(p), s[k]) : s[k]);
    }
}

/*@ requires SIZED(L, ldt) && SIZED(L, ldf) && D <= MOST;
    requires ROWS_OF(to, L, ldt, D) && READ_ROWS(from, L, ldf, D);
    assigns INTO(to); */
static void copy_rows(float *restrict to, size_t ldt, const float *from, size_t ldf, size_t L, size_t D) {
    /*@ loop invariant 0 <= t <= L; loop assigns t, INTO(to); loop variant L - t; */
    for (size_t t = 0; t < L; t++) /*@ assert reaches(t, L, ldt) && reaches(t, L, ldf); */
        memcpy(to + t * ldt, from + t * ldf, D * sizeof *to);
}
/*@ requires D <= Dp && SIZED(L, Dp) && SIZED(L, ldf);
    requires ROWS_OF(to, L, Dp, Dp) && READ_ROWS(from, L, ldf, D);
    assigns INTO(to); */
static void copy_padded(float *restrict to, size_t Dp, const float *from, size_t ldf, size_t L, size_t D) {
    /*@ loop invariant 0 <= t <= L; loop assigns t, INTO(to); loop variant L - t; */
    for (size_t t = 0; t < L; t++) {
        /*@ assert reaches(t, L, Dp) && reaches(t, L, ldf); */
        memcpy(to + t * Dp, from + t * ldf, D * sizeof *to);
        memset(to + t * Dp + D, 0, (Dp - D) * sizeof *to);
    }
}

/*@ requires \valid_read(p) && 0 < p->groups && p->future <= p->W && p->B <= MOST;
    requires SIZED(p->L + p->W, p->ldx) && SIZED(p->L + p->W, 16) && SIZED(p->L, p->ldy);
    requires SIZED(p->groups, p->W) && SIZED(p->W, p->D + 32) && SIZED(p->B, p->L);
    requires SIZED(p->B, p->L * p->ldx) && SIZED(p->B, p->L * p->ldy);
    requires READ_ROWS(x, p->B * p->L, p->ldx, p->D) && ROWS_OF(y, p->B * p->L, p->ldy, p->D);
    requires READ_ROWS(f, p->groups, p->W, p->W) && \valid(scratch + (0 .. CONV_FLOATS - 1));
    assigns INTO(y), INTO(scratch); */
SMX_COPY(void, conv_fwd)
(float *restrict y, const float *x, const float *f, void *scratch, const smx_conv *p) {
    const size_t L = p->L, D = p->D, W = p->W, ldx = p->ldx, ldy = p->ldy;
    if (D == 0) return;
    const conv_layout at = conv_layout_of(L, D, W);
    const ptrdiff_t ahead = (ptrdiff_t)p->future;
    float *base = scratch, *taps = base + at.taps;
    /*@ assert product_within(at.Dp, D + 32, W) && product_within(L, L + W, 16); */
    expand(taps, f, D, at.Dp, p->groups, W);
    /*@ loop invariant 0 <= b <= p->B; loop assigns b, INTO(y), INTO(base); loop variant p->B - b; */
    for (size_t b = 0; b < p->B; b++) {
        /*@ assert in_sequence(b, p->B, L, ldx) && in_sequence(b, p->B, L, ldy); */
        /*@ assert same_product((size_t)(b * L), ldx, b * L, ldx); */
        /*@ assert same_product((size_t)(b * L), ldy, b * L, ldy); */
        const float *in = x + b * L * ldx;
        float *out = y + b * L * ldy;
        if (at.Dp == D) {
            conv_sequence(out, ldy, in, ldx, taps, at.Dp, L, W, ahead);
        } else {
            copy_padded(base + at.in, at.Dp, in, ldx, L, D);
            conv_sequence(base + at.out, at.Dp, base + at.in, at.Dp, taps, at.Dp, L, W, ahead);
            copy_rows(out, ldy, base + at.out, at.Dp, L, D);
        }
    }
}

// partial [W][ldp]: 16 columns a group; the last group's overlap those before it where D is no multiple of
// 16.
SMX_INLINE void conv_df_block(float *partial, size_t ldp, const float *dy, size_t ldy, const float *x,
                              size_t ldx, size_t Dp, size_t L, size_t W, ptrdiff_t future, size_t t0) {
    for (size_t group = 0; group < Dp; group += 16) {
        const size_t c = smx_min(group, Dp - 16);
        float *p = partial + group;
        size_t w = 0;
        for (; w + CONV_ROWS <= W; w += CONV_ROWS)
            conv_taps(p, ldp, dy + c, ldy, x + c, ldx, L, w, future, t0, CONV_ROWS);
#if SMX_W >= 8 // the rest of a filter in as few passes as its registers allow: W = 3 is one
        for (; w + 4 <= W; w += 4) conv_taps(p, ldp, dy + c, ldy, x + c, ldx, L, w, future, t0, 4);
        if (w + 3 == W) conv_taps(p, ldp, dy + c, ldy, x + c, ldx, L, w, future, t0, 3);
        if (w + 2 == W) conv_taps(p, ldp, dy + c, ldy, x + c, ldx, L, w, future, t0, 2);
#endif
        if (w + 1 == W) conv_taps(p, ldp, dy + c, ldy, x + c, ldx, L, w, future, t0, 1);
    }
}
static void add_taps(float *restrict df, float *partial, size_t ldp, size_t D, size_t Dp, size_t groups,
                     size_t W) {
    const size_t d = D / groups;
    for (size_t w = 0; w < W; w++) {
        float *row = partial + w * ldp;
        if (ldp > Dp) memmove(row + Dp - 16, row + ldp - 16, 16 * sizeof *row);
        for (size_t g = 0; g < groups; g++) df[g * W + w] += d == 1 ? row[g] : row_sum(row + g * d, d);
    }
}

SMX_COPY(void, conv_bwd)
(float *dx, float *df, const float *dy, const float *x, const float *f, void *scratch, const smx_conv *p) {
    const size_t L = p->L, D = p->D, W = p->W, ldx = p->ldx, ldy = p->ldy;
    if (D == 0 || L == 0) return;
    const conv_layout at = conv_layout_of(L, D, W);
    const ptrdiff_t ahead = (ptrdiff_t)p->future;
    float *base = scratch, *taps = base + at.taps, *partial = base + at.partial;
    if (dx) expand(taps, f, D, at.Dp, p->groups, W);
    for (size_t b = 0; b < p->B; b++) {
        const float *in = x + b * L * ldx, *grad = dy + b * L * ldy;
        float *out = dx ? dx + b * L * ldx : NULL;
        size_t ldi = ldx, ldo = ldx, ldg = ldy;
        if (at.Dp != D) {
            copy_padded(base + at.grad, at.Dp, grad, ldy, L, D);
            if (df) copy_padded(base + at.in, at.Dp, in, ldx, L, D);
            in = base + at.in, grad = base + at.grad, out = base + at.out;
            ldi = ldo = ldg = at.Dp;
        }
        for (size_t t0 = 0; t0 < L; t0 += SMX_KC) {
            if (dx) // dx_s = sum_w f_w dy_{s + w - future}
                conv_block(out, ldo, grad, ldg, taps, at.Dp, L, W, -ahead, 1, t0, smx_min(L, t0 + SMX_KC));
            if (df) conv_df_block(partial, at.ldp, grad, ldg, in, ldi, at.Dp, L, W, ahead, t0);
        }
        if (dx && at.Dp != D) copy_rows(dx + b * L * ldx, ldx, out, at.Dp, L, D);
        if (df) add_taps(df, partial, at.ldp, D, at.Dp, p->groups, W);
    }
}

// ---- The multi-head filter ------------------------------------------------------------------------------

// Outputs that share registers: HEADS_T heads of HEADS_G groups; and of the gradient HEADS_A by HEADS_B
// filters.
#define HEADS_T (SMX_W >= 8 ? 4 : 2)
#define HEADS_G (SMX_W == 16 ? 2 : 1)
#define HEADS_A (SMX_W == 16 ? 4 : SMX_W == 8 ? 2 : 1)
#define HEADS_B (SMX_W == 16 ? 4 : 2)

// to [H][stride] (at offset) from rows x [L][D]: head h's d columns of every step, one after the other; zeros
// elsewhere.
static void split_heads(float *restrict to, size_t stride, size_t offset, const float *x, size_t ldx,
                        size_t L, size_t H, size_t d) {
    for (size_t h = 0; h < H; h++) {
        float *p = to + h * stride;
        memset(p, 0, offset * sizeof *p);
        for (size_t t = 0; t < L; t++)
            for (size_t e = 0; e < d; e++) p[offset + t * d + e] = x[t * ldx + h * d + e];
        memset(p + offset + L * d, 0, (stride - offset - L * d) * sizeof *p);
    }
}
static void join_heads(float *restrict y, size_t ldy, const float *from, size_t stride, size_t L, size_t H,
                       size_t d) {
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < L; t++)
            for (size_t e = 0; e < d; e++) y[t * ldy + h * d + e] = from[h * stride + t * d + e];
}

// out[o][i] = sum_w sum_j f[w H H + o so + j sj] in[j][i + w shift], for T heads o and 16 G elements i.
SMX_INLINE void heads_tile(float *out, size_t stride_out, const float *in, size_t stride_in, const float *f,
                           size_t W, size_t H, size_t so, size_t sj, ptrdiff_t shift, const int T,
                           const int G) {
    v16 s[HEADS_T][HEADS_G];
    SMX_UNROLL for (int o = 0; o < T; o++) SMX_UNROLL for (int g = 0; g < G; g++) s[o][g] = v16_set(0.0f);
    for (size_t w = 0; w < W; w++)
        for (size_t j = 0; j < H; j++) {
            const float *p = in + (ptrdiff_t)(j * stride_in) + (ptrdiff_t)w * shift,
                        *k = f + w * H * H + j * sj;
            v16 x[HEADS_G];
            SMX_UNROLL for (int g = 0; g < G; g++) x[g] = v16_load(p + 16 * g);
            SMX_UNROLL for (int o = 0; o < T; o++) {
                const v16 weight = v16_set(k[(size_t)o * so]);
                SMX_UNROLL for (int g = 0; g < G; g++) s[o][g] = v16_madd(weight, x[g], s[o][g]);
            }
        }
    SMX_UNROLL for (int o = 0; o < T; o++) SMX_UNROLL for (int g = 0; g < G; g++)
        v16_store(out + (size_t)o * stride_out + 16 * g, s[o][g]);
}

SMX_INLINE void heads_sequence(float *out, const float *in, const float *f, const conv_heads_layout *p,
                               size_t L, size_t H, size_t W, size_t so, size_t sj, ptrdiff_t shift) {
    for (size_t i = 0; i < L * p->d; i += 16 * HEADS_G) {
        size_t o = 0;
        for (; o + HEADS_T <= H; o += HEADS_T)
            heads_tile(out + o * p->stride_out + i, p->stride_out, in + i, p->stride_in, f + o * so, W, H, so,
                       sj, shift, HEADS_T, HEADS_G);
        for (; o < H; o++)
            heads_tile(out + o * p->stride_out + i, p->stride_out, in + i, p->stride_in, f + o * so, W, H, so,
                       sj, shift, 1, HEADS_G);
    }
}

SMX_COPY(void, conv_heads_fwd)
(float *restrict y, const float *x, const float *f, void *scratch, const smx_conv_heads *p) {
    const size_t L = p->L, H = p->H, W = p->W, ldx = p->ldx, ldy = p->ldy;
    if (p->D == 0 || L == 0) return;
    const conv_heads_layout at = conv_heads_layout_of(L, p->D, H, W);
    float *in = (float *)scratch + at.in, *out = (float *)scratch + at.out;
    for (size_t b = 0; b < p->B; b++) {
        split_heads(in, at.stride_in, at.pad, x + b * L * ldx, ldx, L, H, at.d);
        heads_sequence(out, in + at.pad, f, &at, L, H, W, H, 1, -(ptrdiff_t)at.d);
        join_heads(y + b * L * ldy, ldy, out, at.stride_out, L, H, at.d);
    }
}

// df[(h + a) H + g + b] += canonical sum over i < n of dy[h + a][i] x[g + b][i], A by B of them.
SMX_INLINE void heads_df_tile(float *df, const float *dy, const float *x, size_t stride, size_t n, size_t H,
                              const int A, const int B) {
    v16 s[HEADS_A][HEADS_B];
    SMX_UNROLL for (int a = 0; a < A; a++) SMX_UNROLL for (int b = 0; b < B; b++) s[a][b] = v16_set(0.0f);
    for (size_t i = 0; i < n; i += 16) {
        v16 v[HEADS_B];
        SMX_UNROLL for (int b = 0; b < B; b++) v[b] = v16_load(x + (size_t)b * stride + i);
        SMX_UNROLL for (int a = 0; a < A; a++) {
            const v16 g = v16_load(dy + (size_t)a * stride + i);
            SMX_UNROLL for (int b = 0; b < B; b++) s[a][b] = v16_madd(g, v[b], s[a][b]);
        }
    }
    SMX_UNROLL for (int a = 0; a < A; a++) SMX_UNROLL for (int b = 0; b < B; b++)
        df[(size_t)a * H + (size_t)b] += v16_hsum(s[a][b]);
}

// df [H][H] of one tap; x already shifted.
static void heads_df(float *df, const float *dy, const float *x, size_t stride, size_t n, size_t H) {
    size_t h = 0;
    for (; h + HEADS_A <= H; h += HEADS_A) {
        size_t g = 0;
        for (; g + HEADS_B <= H; g += HEADS_B)
            heads_df_tile(df + h * H + g, dy + h * stride, x + g * stride, stride, n, H, HEADS_A, HEADS_B);
        for (; g < H; g++)
            heads_df_tile(df + h * H + g, dy + h * stride, x + g * stride, stride, n, H, HEADS_A, 1);
    }
    for (; h < H; h++)
        for (size_t g = 0; g < H; g++)
            heads_df_tile(df + h * H + g, dy + h * stride, x + g * stride, stride, n, H, 1, 1);
}

SMX_COPY(void, conv_heads_bwd)
(float *dx, float *df, const float *dy, const float *x, const float *f, void *scratch,
 const smx_conv_heads *p) {
    const size_t L = p->L, H = p->H, W = p->W, ldx = p->ldx, ldy = p->ldy;
    if (p->D == 0 || L == 0) return;
    const conv_heads_layout at = conv_heads_layout_of(L, p->D, H, W);
    float *base = scratch, *in = base + at.in, *grad = base + at.grad, *out = base + at.out;
    for (size_t b = 0; b < p->B; b++) {
        split_heads(grad, at.stride_in, 0, dy + b * L * ldy, ldy, L, H, at.d);
        if (dx) { // dx_s[g] = sum_{w,h} f[w][h][g] dy_{s+w}[h]
            heads_sequence(out, grad, f, &at, L, H, W, 1, H, (ptrdiff_t)at.d);
            join_heads(dx + b * L * ldx, ldx, out, at.stride_out, L, H, at.d);
        }
        if (df) {
            split_heads(in, at.stride_in, at.pad, x + b * L * ldx, ldx, L, H, at.d);
            for (size_t w = 0; w < W; w++) // dy is 0 past L d, so whole groups may be summed
                heads_df(df + w * H * H, grad, in + at.pad - w * at.d, at.stride_in, L * at.d, H);
        }
    }
}
