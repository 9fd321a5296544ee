// test_landmark.c: landmark attention and its filter against the oracle: blocks of 1 to beyond the sequence,
// the last one shorter, ties, the choices themselves, and that no word of a row depends on a later one.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

// ---- The filter -----------------------------------------------------------------------------------------
static void filter(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 2, 7, 8, 9, 16, 29, 100}, blocks[] = {1, 2, 8, 15, 100, 1000};
    CHECK_EACH_ISA(isa) {
        check_seed(61);
        for (size_t l = 0; l < CHECK_COUNT(lengths); l++)
            for (size_t w = 0; w < CHECK_COUNT(blocks); w++)
                for (int rho = 0; rho < 2; rho++) {
                    const size_t B = 2, L = lengths[l], D = 16 * (w % 3) + 5, block = blocks[w],
                                 n = B * L * D;
                    check_trying("%s filter L=%zu D=%zu block=%zu", rho ? "rho" : "box", L, D, block);
                    const float forget = rho ? (float)-expm1(-1.0 / (double)block) : 0.0f;
                    float *x = check_random(n, -1, 1), *y = check_floats(n), *dx = check_floats(n);
                    double *taps = check_doubles(L), *want = check_doubles(n);
                    for (size_t i = 0; i < L; i++)
                        taps[i] = rho ? exp(-(double)i / (double)block) : i < block;
                    double *xd = check_widen(x, n);
                    ref_conv_fwd(want, xd, taps, B, L, D, 1, L, 0, D, D);
                    smx_block_filter_fwd(y, x, B, L, D, block, forget);
                    check_close("y", y, want, n, 1e-6, sqrt((double)(block < L ? block : L)));
                    ref_conv_bwd(want, NULL, xd, xd, taps, B, L, D, 1, L, 0, D, D);
                    smx_block_filter_bwd(dx, x, B, L, D, block, forget);
                    check_close("dx", dx, want, n, 1e-6, sqrt((double)(block < L ? block : L)));
                    check_done();
                }
    }
}

// ---- Attention ------------------------------------------------------------------------------------------
typedef struct {
    size_t L, d, H, block, pad;
} shape;
static const shape shapes[] = {
    {1, 1, 1, 1, 0},    {1, 4, 2, 4, 0},    {9, 3, 1, 1, 0},   {17, 4, 2, 4, 3},     {64, 4, 4, 8, 0},
    {40, 16, 1, 15, 0}, {50, 17, 1, 16, 0}, {60, 8, 2, 17, 0}, {100, 8, 1, 25, 5},   {130, 32, 1, 33, 0},
    {200, 5, 2, 60, 0}, {30, 8, 2, 30, 0},  {30, 8, 2, 31, 0}, {300, 64, 1, 128, 0},
};
// Plain loops in double over given q, k, v and landmarks; `margin` is by how much the best block wins at
// least.
static void plain(double *o, int32_t *chosen, double *margin, const double *q, const double *k,
                  const double *v, const double *marks, const shape *s, double scale) {
    const size_t L = s->L, d = s->d, D = d * s->H;
    *margin = INFINITY;
    for (size_t h = 0; h < s->H; h++)
        for (size_t i = 0; i < L; i++) {
            const double *qi = q + i * D + h * d;
            double best = -INFINITY, total = 0, *oi = o + i * D + h * d;
            int32_t pick = -1;
            for (size_t b = 0; b < i / s->block; b++) {
                const double score = check_inner(qi, marks + ((b + 1) * s->block - 1) * D + h * d, d);
                if (pick >= 0 && fabs(score - best) < *margin) *margin = fabs(score - best);
                if (score > best) best = score, pick = (int32_t)b;
            }
            chosen[h * L + i] = pick;
            for (size_t c = 0; c < d; c++) oi[c] = 0;
            for (size_t j = 0; j <= i; j++) {
                if (j / s->block != i / s->block && (int32_t)(j / s->block) != pick) continue;
                const double a = exp(scale * check_inner(qi, k + j * D + h * d, d));
                total += a;
                for (size_t c = 0; c < d; c++) oi[c] += a * v[j * D + h * d + c];
            }
            for (size_t c = 0; c < d; c++) oi[c] /= total;
        }
}
typedef struct {
    const shape *s;
    const double *q, *k, *v, *marks, *weights;
    double *o, scale;
    int32_t *chosen;
    int which;
} context;
static double loss(const double *x, void *arg) {
    context *c = arg;
    double margin;
    plain(c->o, c->chosen, &margin, c->which == 0 ? x : c->q, c->which == 1 ? x : c->k,
          c->which == 2 ? x : c->v, c->marks, c->s, c->scale);
    return check_inner(c->weights, c->o, c->s->L * c->s->d * c->s->H);
}

static void one(const shape *s) {
    const size_t L = s->L, D = s->d * s->H, stride = D + s->pad, n = L * stride, m = L * D;
    check_trying("landmark L=%zu d=%zu H=%zu block=%zu", L, s->d, s->H, s->block);
    float *q = check_random(n, -1, 1), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1),
          *marks = check_random(n, -1, 1);
    float *o = check_floats(m), *stats = check_floats(2 * s->H * L), *dout = check_random(m, -1, 1);
    float *dq = check_floats(n), *dk = check_floats(n), *dv = check_floats(n);
    int32_t *chosen = check_ints(s->H * L), *want_chosen = check_ints(s->H * L);
    const smx_landmark p = {1, L, D, s->H, stride, s->block, (float)(1 / sqrt((double)s->d))};
    double *rows[4], *od = check_doubles(m), margin;
    const float *from[4] = {q, k, v, marks};
    for (int a = 0; a < 4; a++) {
        rows[a] = check_doubles(m);
        for (size_t i = 0; i < m; i++) rows[a][i] = from[a][i / D * stride + i % D];
    }
    smx_landmark_fwd(o, stats, chosen, q, k, v, marks, check_scratch(smx_landmark_fwd_scratch_bytes(&p)), &p);
    smx_landmark_bwd(dq, dk, dv, dout, q, k, v, o, stats, chosen,
                     check_scratch(smx_landmark_bwd_scratch_bytes(&p)), &p);
    plain(od, want_chosen, &margin, rows[0], rows[1], rows[2], rows[3], s, p.scale);
    if (margin < 1e-5)
        check_fail("the margin %g of a choice is below float's rounding: take another seed", margin);
    for (size_t i = 0; i < s->H * L; i++)
        if (chosen[i] != want_chosen[i])
            check_fail("query %zu chose %d, expected %d", i, (int)chosen[i], (int)want_chosen[i]);
    check_close("o", o, od, m, 1e-6, 1);
    float *packed[3] = {check_floats(m), check_floats(m), check_floats(m)};
    const float *gradient[3] = {dq, dk, dv};
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < m; i++) packed[a][i] = gradient[a][i / D * stride + i % D];
    float *packed_in = check_floats(m);
    for (int a = 0; a < 3 && L > 1; a++) {
        context c = {s,       rows[0],     rows[1], rows[2], rows[3], check_widen(dout, m), check_doubles(m),
                     p.scale, want_chosen, a};
        for (size_t i = 0; i < m; i++) packed_in[i] = from[a][i / D * stride + i % D];
        check_direction(a == 0 ? "dq" : a == 1 ? "dk" : "dv", loss, &c, packed_in, packed[a], m, 2e-5);
    }
    check_done();
}
static void against_plain(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(62);
        for (size_t i = 0; i < CHECK_COUNT(shapes); i++) one(&shapes[i]);
    }
}

// Equal landmarks: the first block is taken, wherever the equal ones stand in a register.
static void ties(void **state) {
    (void)state;
    enum { L = 90, D = 7, block = 3 };
    CHECK_EACH_ISA(isa) {
        check_seed(63);
        check_trying("ties");
        float *q = check_random(L * D, -1, 1), *k = check_random(L * D, -1, 1),
              *v = check_random(L * D, -1, 1), *marks = check_floats(L * D);
        float *o = check_floats(L * D), *stats = check_floats(2 * L), *mark = check_random(D, -1, 1);
        int32_t *chosen = check_ints(L);
        for (size_t i = 0; i < L * D; i++) marks[i] = mark[i % D];
        const smx_landmark p = {1, L, D, 1, D, block, 0.5f};
        smx_landmark_fwd(o, stats, chosen, q, k, v, marks, check_scratch(smx_landmark_fwd_scratch_bytes(&p)),
                         &p);
        for (size_t i = 0; i < L; i++) assert_int_equal(chosen[i], i < block ? -1 : 0);
        check_done();
    }
}

static void causal_words(void **state) {
    (void)state;
    enum { L = 70, D = 8 };
    CHECK_EACH_ISA(isa) {
        check_seed(64);
        float *x = check_random(4 * L * D, -1, 1), *o = check_floats(L * D), *again = check_floats(L * D),
              *stats = check_floats(2 * L);
        int32_t *chosen = check_ints(L);
        const smx_landmark p = {1, L, D, 1, D, 9, 0.35f};
        void *scratch = check_scratch(smx_landmark_fwd_scratch_bytes(&p));
        smx_landmark_fwd(o, stats, chosen, x, x + L * D, x + 2 * L * D, x + 3 * L * D, scratch, &p);
        for (size_t t = 0; t < L; t += 3) {
            check_trying("row %zu changed", t);
            for (size_t c = 0; c < 4 * D; c++) x[(c / D * L + t) * D + c % D] += 20;
            smx_landmark_fwd(again, stats, chosen, x, x + L * D, x + 2 * L * D, x + 3 * L * D, scratch, &p);
            check_same("earlier rows", again, o, t * D);
            memcpy(o, again, L * D * sizeof *o);
        }
        check_done();
    }
}

// Three sequences at once are each what it is alone: outputs, statistics, choices and gradients, to the word.
// (Every choice is kept by sequence, head and row: an offset that forgets one of these reads another's.)
static void batches(void **state) {
    (void)state;
    enum { B = 3, L = 45, d = 5, H = 2, D = d * H, block = 7, N = L * D, S = H * L };
    CHECK_EACH_ISA(isa) {
        check_seed(65);
        check_trying("three sequences");
        const smx_landmark all = {B, L, D, H, D, block, 0.4f}, alone = {1, L, D, H, D, block, 0.4f};
        float *in[5], *out[2][4],
            *stats[2] = {check_floats(2 * B * S), check_floats(2 * S)}; // q, k, v, marks, do
        int32_t *chosen[2] = {check_ints(B * S), check_ints(S)};
        for (int a = 0; a < 5; a++) in[a] = check_random(B * N, -1, 1);
        for (int w = 0; w < 2; w++)
            for (int a = 0; a < 4; a++) out[w][a] = check_floats((w ? 1 : B) * N); // o, dq, dk, dv
        void *forward = check_scratch(smx_landmark_fwd_scratch_bytes(&all)),
             *backward = check_scratch(smx_landmark_bwd_scratch_bytes(&all));
        smx_landmark_fwd(out[0][0], stats[0], chosen[0], in[0], in[1], in[2], in[3], forward, &all);
        smx_landmark_bwd(out[0][1], out[0][2], out[0][3], in[4], in[0], in[1], in[2], out[0][0], stats[0],
                         chosen[0], backward, &all);
        int differ = 0;
        for (size_t b = 0; b < B; b++) {
            const float *q = in[0] + b * N, *k = in[1] + b * N, *v = in[2] + b * N;
            check_trying("sequence %zu of three", b);
            smx_landmark_fwd(out[1][0], stats[1], chosen[1], q, k, v, in[3] + b * N, forward, &alone);
            smx_landmark_bwd(out[1][1], out[1][2], out[1][3], in[4] + b * N, q, k, v, out[1][0], stats[1],
                             chosen[1], backward, &alone);
            static const char *const names[] = {"o", "dq", "dk", "dv"};
            for (int a = 0; a < 4; a++) check_same(names[a], out[0][a] + b * N, out[1][a], N);
            check_same("stats", stats[0] + 2 * b * S, stats[1], 2 * S);
            for (size_t i = 0; i < S; i++) {
                if (chosen[0][b * S + i] != chosen[1][i]) check_fail("query %zu chose another block", i);
                differ += chosen[0][i] != chosen[1][i];
            }
        }
        assert_true(differ > 10); // the sequences choose differently, so a mix-up shows
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(filter), cmocka_unit_test(against_plain),
                                       cmocka_unit_test(ties), cmocka_unit_test(causal_words),
                                       cmocka_unit_test(batches)};
    return cmocka_run_group_tests_name("landmark", tests, NULL, NULL);
}
