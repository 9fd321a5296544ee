// test_attention.c: softmax attention against the oracle: causal and not, decay and bias by distance, in
// chunks of which the last is shorter, strided rows, lengths around the block of query rows, rows with
// nothing to see, huge logits, and the cheap gradient check.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

typedef struct {
    size_t B, L, d, H, stride_pad;
    int causal, mult, bias;
    double size; // of q and k
    size_t chunk;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 0, 1, 0, 0, 1, 0},    {2, 2, 3, 1, 0, 1, 0, 0, 1, 0},    {1, 15, 4, 2, 0, 0, 0, 0, 1, 0},
    {2, 16, 8, 2, 5, 1, 1, 0, 1, 0},   {1, 17, 16, 1, 0, 1, 0, 1, 1, 0},  {1, 23, 5, 3, 0, 0, 1, 1, 1, 0},
    {2, 24, 16, 2, 0, 1, 0, 0, 1, 0},  {1, 25, 17, 1, 3, 1, 1, 1, 1, 0},  {1, 31, 8, 1, 0, 1, 0, 0, 1, 0},
    {2, 33, 32, 1, 64, 1, 0, 0, 1, 0}, {1, 48, 33, 1, 0, 0, 0, 0, 1, 0},  {1, 64, 16, 4, 0, 1, 1, 0, 1, 0},
    {1, 100, 8, 2, 0, 1, 0, 1, 1, 0},  {1, 300, 16, 1, 0, 1, 0, 0, 1, 0}, {1, 70, 8, 1, 0, 1, 0, 0, 60, 0},
    {2, 40, 8, 2, 3, 1, 0, 1, 1, 7},   {1, 61, 16, 2, 0, 1, 1, 1, 1, 27}, {2, 33, 5, 3, 0, 0, 1, 0, 1, 10},
    {1, 130, 8, 2, 0, 0, 0, 1, 1, 48},
};

typedef struct {
    ref_attention p;
    double *q, *k, *v, *o, *stats, *weights;
    int which; // 0 q, 1 k, 2 v varies
} context;
static double loss(const double *x, void *arg) {
    context *c = arg;
    ref_attention_fwd(c->o, c->stats, c->which == 0 ? x : c->q, c->which == 1 ? x : c->k,
                      c->which == 2 ? x : c->v, &c->p);
    return check_inner(c->weights, c->o, c->p.B * c->p.L * c->p.D);
}

static void one(const shape *s) {
    const size_t D = s->d * s->H, stride = D + s->stride_pad, n = s->B * s->L * stride, no = s->B * s->L * D;
    check_trying("attention B=%zu L=%zu d=%zu H=%zu causal=%d mult=%d bias=%d size=%g chunk=%zu", s->B, s->L,
                 s->d, s->H, s->causal, s->mult, s->bias, s->size, s->chunk);
    float *q = check_random(n, -s->size, s->size), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1);
    float *table_m = check_random(s->H * (2 * s->L - 1), 0.2, 1),
          *table_b = check_random(s->H * (2 * s->L - 1), -2, 0);
    float *o = check_floats(no), *stats = check_floats(s->B * s->H * s->L * 2),
          *dout = check_random(no, -1, 1);
    float *dq = check_floats(n), *dk = check_floats(n), *dv = check_floats(n);
    smx_attention p = {s->B,
                       s->L,
                       D,
                       s->H,
                       stride,
                       s->causal,
                       (float)(1 / sqrt((double)s->d)),
                       s->mult ? table_m : NULL,
                       s->bias ? table_b : NULL,
                       s->chunk,
                       0,
                       0,
                       0,
                       0};
    ref_attention r = {.B = s->B,
                       .L = s->L,
                       .D = D,
                       .H = s->H,
                       .stride = stride,
                       .causal = s->causal,
                       .scale = p.scale,
                       .decay_table = s->mult ? check_widen(table_m, s->H * (2 * s->L - 1)) : NULL,
                       .bias = s->bias ? check_widen(table_b, s->H * (2 * s->L - 1)) : NULL,
                       .chunk = s->chunk};
    double *qd = check_widen(q, n), *kd = check_widen(k, n), *vd = check_widen(v, n), *od = check_doubles(no);
    double *sd = check_doubles(s->B * s->H * s->L * 2), *gd = check_widen(dout, no);
    double *dqd = check_doubles(n), *dkd = check_doubles(n), *dvd = check_doubles(n);
    ref_attention_fwd(od, sd, qd, kd, vd, &r);
    ref_attention_bwd(dqd, dkd, dvd, gd, qd, kd, vd, od, sd, &r);
    smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
    smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats, check_scratch(smx_attention_bwd_scratch_bytes(&p)),
                      &p);
    // The rounding of a logit of size s moves its weight by the relative error s 2^-24.
    const double tolerance = 4e-6 * s->size;
    check_close("o", o, od, no, tolerance, 1);
    // Columns between rows belong to others: they keep the NaN they started with, on both sides.
    for (size_t t = 0; t < s->B * s->L; t++) {
        check_close("dq", dq + t * stride, dqd + t * stride, D, tolerance, 1 * s->size);
        check_close("dk", dk + t * stride, dkd + t * stride, D, tolerance, 4 * s->size);
        check_close("dv", dv + t * stride, dvd + t * stride, D, tolerance, 4);
        for (size_t c = D; c < stride; c++)
            assert_true(isnan(dq[t * stride + c]) && isnan(dk[t * stride + c]) && isnan(dv[t * stride + c]));
    }
    float *map = check_floats(s->L * s->L);
    double *map_d = check_doubles(s->L * s->L);
    for (size_t h = 0; h < s->H; h++) {
        smx_attention_map(map, q, k, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p, s->B - 1, h);
        ref_attention_map(map_d, qd, kd, &r, s->B - 1, h);
        check_close("map", map, map_d, s->L * s->L, tolerance, 1);
    }
    if (!s->stride_pad && s->size == 1) {
        context c = {r, qd, kd, vd, od, sd, gd, 0};
        check_direction("dq", loss, &c, q, dq, n, 2e-5);
        c.which = 1;
        check_direction("dk", loss, &c, k, dk, n, 2e-5);
        c.which = 2;
        check_direction("dv", loss, &c, v, dv, n, 2e-5);
    }
    check_done();
}

static void against_oracle(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(21);
        for (size_t i = 0; i < CHECK_COUNT(shapes); i++) one(&shapes[i]);
    }
}

// A window that slides: against the oracle, alone, with tables and in chunks; row by row the same words.
static void sliding(void **state) {
    (void)state;
    static const struct {
        size_t L, d, H, W, chunk;
        int tables;
    } cases[] = {{1, 4, 1, 1, 0, 0},     {40, 8, 2, 1, 0, 0},   {130, 16, 1, 33, 0, 0}, {97, 5, 2, 24, 0, 1},
                 {200, 8, 1, 150, 0, 0}, {60, 8, 1, 100, 0, 1}, {120, 4, 2, 20, 50, 0}, {500, 8, 2, 40, 0, 0},
                 {700, 5, 1, 190, 0, 0}}; // the last two past what is kept of a window
    CHECK_EACH_ISA(isa) {
        check_seed(28);
        for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
            const size_t L = cases[i].L, H = cases[i].H, D = cases[i].d * H, n = L * D,
                         spans = H * (2 * L - 1);
            check_trying("sliding=%zu over %zu rows, chunk=%zu", cases[i].W, L, cases[i].chunk);
            float *q = check_random(n, -1, 1), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1);
            float *decay = check_random(spans, 0.2, 1), *bias = check_random(spans, -2, 0);
            float *dout = check_random(n, -1, 1), *o = check_floats(n), *stats = check_floats(2 * H * L);
            float *dq = check_floats(n), *dk = check_floats(n), *dv = check_floats(n);
            const smx_attention p = {.B = 1,
                                     .L = L,
                                     .D = D,
                                     .H = H,
                                     .stride = D,
                                     .causal = 1,
                                     .scale = 0.5f,
                                     .decay_table = cases[i].tables ? decay : NULL,
                                     .bias = cases[i].tables ? bias : NULL,
                                     .chunk = cases[i].chunk,
                                     .sliding = cases[i].W};
            const ref_attention r = {.B = 1,
                                     .L = L,
                                     .D = D,
                                     .H = H,
                                     .stride = D,
                                     .causal = 1,
                                     .scale = 0.5,
                                     .decay_table = cases[i].tables ? check_widen(decay, spans) : NULL,
                                     .bias = cases[i].tables ? check_widen(bias, spans) : NULL,
                                     .chunk = cases[i].chunk,
                                     .sliding = cases[i].W};
            double *qd = check_widen(q, n), *kd = check_widen(k, n), *vd = check_widen(v, n);
            double *od = check_doubles(n), *sd = check_doubles(2 * H * L), *gd = check_widen(dout, n);
            double *dqd = check_doubles(n), *dkd = check_doubles(n), *dvd = check_doubles(n);
            ref_attention_fwd(od, sd, qd, kd, vd, &r);
            ref_attention_bwd(dqd, dkd, dvd, gd, qd, kd, vd, od, sd, &r);
            smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
            smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats,
                              check_scratch(smx_attention_bwd_scratch_bytes(&p)), &p);
            check_close("o", o, od, n, 4e-6, 1);
            check_close("dq", dq, dqd, n, 4e-6, 1);
            check_close("dk", dk, dkd, n, 4e-6, 1);
            check_close("dv", dv, dvd, n, 4e-6, 1);
            float *map = check_floats(L * L);
            double *map_d = check_doubles(L * L);
            smx_attention_map(map, q, k, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p, 0, H - 1);
            ref_attention_map(map_d, qd, kd, &r, 0, H - 1);
            check_close("map", map, map_d, L * L, 4e-6, 1);
            float *again = check_floats(n), *kept = check_filled(smx_attention_kept_floats(&p), 0);
            void *scratch = check_scratch(smx_attention_push_scratch_bytes(&p));
            for (size_t most = 1; most <= 30; most += 29) { // row by row; in pieces
                for (size_t t = 0, rows; t < L; t += rows) {
                    rows = 1 + t % most < L - t ? 1 + t % most : L - t;
                    smx_attention_push(again + t * D, kept, q + t * D, k + t * D, v + t * D, scratch, t, rows,
                                       &p);
                }
                check_same("row by row", again, o, n);
            }
            check_done();
        }
    }
}

// Rows that come one at a time, or a few, give the words of all at once: several sequences and heads, strided
// rows, widths that fill no register or take two blocks of a sum, chunks, tables, columns that a bias of -inf
// hides (at first all of them). One row alone has loops of its own, in which a head's exponentials and values
// wait for the keys of the next.
static void row_by_row(void **state) {
    (void)state;
    static const struct {
        size_t B, L, d, H, pad, chunk;
        int tables;
    } cases[] = {{1, 1, 4, 1, 0, 0, 0},     {2, 300, 16, 4, 0, 0, 0}, {3, 140, 5, 3, 7, 0, 1},
                 {1, 600, 7, 2, 0, 0, 0},   {2, 330, 24, 2, 0, 0, 1}, {2, 300, 8, 3, 3, 150, 0},
                 {2, 140, 260, 2, 0, 0, 0}, {1, 620, 16, 3, 0, 0, 1}, {1, 530, 8, 2, 5, 0, 0},
                 {1, 270, 32, 3, 0, 0, 0},  {1, 540, 64, 2, 0, 0, 1}};
    CHECK_EACH_ISA(isa) {
        check_seed(29);
        for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
            const size_t B = cases[i].B, L = cases[i].L, H = cases[i].H, D = cases[i].d * H, n = B * L * D;
            const size_t span = 2 * L - 1, stride = D + cases[i].pad, all = B * L * stride;
            check_trying("%zu x %zu rows, %zu heads of %zu, chunk=%zu", B, L, H, cases[i].d, cases[i].chunk);
            float *q = check_random(all, -1, 1), *k = check_random(all, -1, 1), *v = check_random(all, -1, 1);
            float *decay = check_random(H * span, 0.2, 1), *bias = check_random(H * span, -2, 0);
            for (size_t h = 0; h < H; h++)
                for (size_t back = 0; back < 5 && back < L; back++) bias[h * span + L - 1 - back] = -INFINITY;
            const smx_attention p = {.B = B,
                                     .L = L,
                                     .D = D,
                                     .H = H,
                                     .stride = stride,
                                     .causal = 1,
                                     .scale = 0.5f,
                                     .decay_table = cases[i].tables ? decay : NULL,
                                     .bias = cases[i].tables ? bias : NULL,
                                     .chunk = cases[i].chunk};
            float *o = check_floats(n), *stats = check_floats(2 * B * H * L);
            smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
            void *scratch = check_scratch(smx_attention_push_scratch_bytes(&p));
            for (size_t most = 1; most <= 3; most += 2) {
                float *again = check_floats(n), *kept = check_filled(smx_attention_kept_floats(&p), 0);
                float *pieces[4];
                for (size_t x = 0; x < 4; x++) pieces[x] = check_floats(B * most * stride);
                for (size_t t = 0, rows; t < L; t += rows) {
                    rows = 1 + t % most < L - t ? 1 + t % most : L - t;
                    const float *rows_of[3] = {q, k, v};
                    for (size_t x = 0; x < 3; x++)
                        for (size_t b = 0; b < B; b++)
                            memcpy(pieces[x] + b * rows * stride, rows_of[x] + (b * L + t) * stride,
                                   rows * stride * sizeof *q);
                    smx_attention_push(pieces[3], kept, pieces[0], pieces[1], pieces[2], scratch, t, rows,
                                       &p);
                    for (size_t b = 0; b < B; b++)
                        memcpy(again + (b * L + t) * D, pieces[3] + b * rows * D, rows * D * sizeof *q);
                }
                check_same("row by row", again, o, n);
            }
            check_done();
        }
    }
}

// A weight below 2^-60 is 0, however large its value, forward, backward and one row at a time; one above
// counts.
static void faded(void **state) {
    (void)state;
    enum { L = 150, D = 16, N = L * D };
    CHECK_EACH_ISA(isa)
    for (int kept = 0; kept < 2; kept++) {
        check_trying("weights of e^-%d", kept ? 41 : 42);
        float *q = check_filled(N, 0), *k = check_filled(N, 0), *v = check_filled(N, 0x1p70f);
        for (size_t t = 0; t < L; t++) q[t * D] = 1, k[t * D] = t + 1 < L ? (kept ? -41 : -42) : 0;
        for (size_t c = 0; c < D; c++) v[(L - 1) * D + c] = 1;
        const smx_attention p = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .causal = 1, .scale = 1};
        float *o = check_floats(N), *stats = check_floats(2 * L), *dout = check_filled(N, 0);
        float *dq = check_floats(N), *dk = check_floats(N), *dv = check_floats(N);
        for (size_t c = 0; c < D; c++) dout[(L - 1) * D + c] = 1;
        smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
        smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats,
                          check_scratch(smx_attention_bwd_scratch_bytes(&p)), &p);
        float *last = check_floats(D), *rows = check_filled(smx_attention_kept_floats(&p), 0);
        void *scratch = check_scratch(smx_attention_push_scratch_bytes(&p));
        for (size_t t = 0; t < L; t++)
            smx_attention_push(last, rows, q + t * D, k + t * D, v + t * D, scratch, t, 1, &p);
        for (size_t c = 0; c < D; c++) {
            const float forward = o[(L - 1) * D + c], one = last[c];
            if ((forward != 1) != kept || (one != 1) != kept)
                check_fail("o is %g, one row at a time %g", (double)forward, (double)one);
            for (size_t t = 0; t + 1 < L; t++)
                if ((dv[t * D + c] != 0) != kept) check_fail("dv[%zu] is %g", t, (double)dv[t * D + c]);
        }
        check_done();
    }
}

// A bias of -inf hides a column; a row in which every column is hidden gives 0 and no gradient.
static void hidden(void **state) {
    (void)state;
    enum { L = 30, D = 8 };
    CHECK_EACH_ISA(isa) {
        check_seed(22);
        check_trying("hidden columns");
        float *q = check_random(L * D, -1, 1), *k = check_random(L * D, -1, 1),
              *v = check_random(L * D, -1, 1);
        float *bias = check_filled(2 * L - 1, 0), *o = check_floats(L * D), *stats = check_floats(2 * L);
        float *dout = check_random(L * D, -1, 1), *dq = check_floats(L * D), *dk = check_floats(L * D),
              *dv = check_floats(L * D);
        // Nothing within 5 rows back is seen, so rows 0..4 see nothing at all.
        for (size_t back = 0; back < 5; back++) bias[L - 1 - back] = -INFINITY;
        smx_attention p = {1, L, D, 1, D, 1, 0.5f, NULL, bias, 0, 0, 0, 0, 0};
        ref_attention r = {.B = 1,
                           .L = L,
                           .D = D,
                           .H = 1,
                           .stride = D,
                           .causal = 1,
                           .scale = 0.5,
                           .bias = check_widen(bias, 2 * L - 1)};
        double *od = check_doubles(L * D), *sd = check_doubles(2 * L), *dqd = check_doubles(L * D),
               *dkd = check_doubles(L * D), *dvd = check_doubles(L * D);
        double *qd = check_widen(q, L * D), *kd = check_widen(k, L * D), *vd = check_widen(v, L * D);
        ref_attention_fwd(od, sd, qd, kd, vd, &r);
        ref_attention_bwd(dqd, dkd, dvd, check_widen(dout, L * D), qd, kd, vd, od, sd, &r);
        smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
        smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats,
                          check_scratch(smx_attention_bwd_scratch_bytes(&p)), &p);
        check_close("o", o, od, L * D, 1e-6, 1);
        check_close("dq", dq, dqd, L * D, 1e-6, 1);
        check_close("dk", dk, dkd, L * D, 1e-6, 1);
        check_close("dv", dv, dvd, L * D, 1e-6, 1);
        for (size_t i = 0; i < 5 * D; i++) assert_true(o[i] == 0 && dq[i] == 0);
        check_done();
    }
}

// A causal row does not feel what comes after it, not even through rounding.
static void causal_words(void **state) {
    (void)state;
    enum { L = 50, D = 16 };
    CHECK_EACH_ISA(isa) {
        check_seed(23);
        float *x = check_random(3 * L * D, -1, 1), *o = check_floats(L * D), *again = check_floats(L * D),
              *stats = check_floats(2 * L);
        smx_attention p = {1, L, D, 1, D, 1, 0.25f, NULL, NULL, 0, 0, 0, 0, 0};
        void *scratch = check_scratch(smx_attention_fwd_scratch_bytes(&p));
        smx_attention_fwd(o, stats, x, x + L * D, x + 2 * L * D, scratch, &p);
        for (size_t t = 0; t < L; t += 7) {
            check_trying("row %zu changed", t);
            for (size_t c = 0; c < D; c++)
                for (int which = 0; which < 3; which++) x[(which * L + t) * D + c] += 1;
            smx_attention_fwd(again, stats, x, x + L * D, x + 2 * L * D, scratch, &p);
            check_same("earlier rows", again, o, t * D);
            memcpy(o, again, L * D * sizeof *o);
        }
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_oracle), cmocka_unit_test(sliding),
                                       cmocka_unit_test(row_by_row),     cmocka_unit_test(faded),
                                       cmocka_unit_test(hidden),         cmocka_unit_test(causal_words)};
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
