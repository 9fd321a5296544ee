// test_las.c: attention in chunks and with LaS's masked pooling against the oracle, which pools the map as
// printed; windows of 1 to beyond the sequence, chunks around the group of query rows, and that no word of a
// row depends on a later one.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

typedef struct {
    size_t L, d, H, P, chunk;
    ref_decay decay;
    ref_pool pool;
} shape;
static const shape shapes[] = {
    {1, 1, 1, 1, 0, REF_DECAY_NONE, REF_POOL_MASKED},
    {1, 4, 2, 5, 0, REF_DECAY_EXP, REF_POOL_MASKED},
    {2, 3, 1, 3, 0, REF_DECAY_NONE, REF_POOL_MASKED},
    {17, 4, 4, 5, 0, REF_DECAY_EXP, REF_POOL_MASKED},
    {24, 16, 1, 3, 0, REF_DECAY_ALIBI, REF_POOL_MASKED},
    {25, 5, 2, 49, 0, REF_DECAY_EXP, REF_POOL_MASKED},
    {25, 5, 2, 51, 0, REF_DECAY_NONE, REF_POOL_MASKED},
    {25, 5, 2, 53, 0, REF_DECAY_NONE, REF_POOL_MASKED},
    {64, 8, 2, 201, 0, REF_DECAY_EXP, REF_POOL_MASKED},
    {100, 17, 1, 7, 0, REF_DECAY_EXP, REF_POOL_MASKED},
    {100, 8, 2, 63, 0, REF_DECAY_NONE, REF_POOL_MASKED},
    {100, 8, 2, 65, 0, REF_DECAY_EXP, REF_POOL_MASKED},
    {130, 8, 1, 33, 0, REF_DECAY_NONE, REF_POOL_MASKED},
    {64, 3, 4, 5, 16, REF_DECAY_EXP, REF_POOL_MASKED},
    {70, 8, 2, 9, 32, REF_DECAY_EXP, REF_POOL_MASKED},
    {70, 8, 2, 9, 1, REF_DECAY_EXP, REF_POOL_MASKED},
    {30, 8, 2, 3, 64, REF_DECAY_EXP, REF_POOL_MASKED},
    {61, 8, 2, 1, 20, REF_DECAY_EXP, REF_POOL_NONE},
    {61, 8, 2, 1, 25, REF_DECAY_ALIBI_SCALED, REF_POOL_NONE},
};

static void one(const shape *s) {
    const size_t B = 2, L = s->L, D = s->d * s->H, n = B * L * D, T = 2 * L - 1;
    check_trying("L=%zu d=%zu H=%zu P=%zu chunk=%zu decay=%d pool=%d", L, s->d, s->H, s->P, s->chunk,
                 s->decay, s->pool);
    float *q = check_random(n, -1, 1), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1),
          *dout = check_random(n, -1, 1);
    float *o = check_floats(n), *stats = check_floats(B * s->H * L * 2), *dq = check_floats(n),
          *dk = check_floats(n), *dv = check_floats(n);
    double *alphas = check_doubles(s->H), *table = check_doubles(s->H * T);
    float *table_f = check_floats(s->H * T);
    ref_las_alphas(alphas, s->H, 2);
    const double scale = 1 / sqrt((double)s->d);
    if (s->decay == REF_DECAY_EXP)
        ref_las_decay(table, alphas, L, s->H);
    else
        ref_alibi_bias(table, L, s->H, s->decay == REF_DECAY_ALIBI ? 1 : scale);
    for (size_t i = 0; i < s->H * T; i++) table_f[i] = (float)table[i];
    const smx_attention p = {
        .B = B,
        .L = L,
        .D = D,
        .H = s->H,
        .stride = D,
        .causal = 1,
        .scale = (float)scale,
        .decay_table = s->decay == REF_DECAY_EXP ? table_f : NULL,
        .bias = s->decay == REF_DECAY_ALIBI || s->decay == REF_DECAY_ALIBI_SCALED ? table_f : NULL,
        .chunk = s->chunk,
        .pool_window = s->pool == REF_POOL_MASKED ? s->P : 0};
    smx_attention_fwd(o, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
    smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats, check_scratch(smx_attention_bwd_scratch_bytes(&p)),
                      &p);
    const ref_las r = {L, D, s->H, s->P, s->chunk, s->decay, s->pool, alphas, 0};
    double *od = check_doubles(L * D), *dqd = check_doubles(L * D), *dkd = check_doubles(L * D),
           *dvd = check_doubles(L * D);
    for (size_t b = 0; b < B; b++) {
        const size_t at = b * L * D;
        double *qd = check_widen(q + at, L * D), *kd = check_widen(k + at, L * D),
               *vd = check_widen(v + at, L * D);
        assert_int_equal(ref_las_heads_fwd(od, qd, kd, vd, &r), REF_OK);
        assert_int_equal(ref_las_heads_bwd(dqd, dkd, dvd, check_widen(dout + at, L * D), qd, kd, vd, &r),
                         REF_OK);
        // A few roundings of weights and sums that are at most 1; gradients sum over up to L rows.
        check_close("o", o + at, od, L * D, 2e-6, 1);
        check_close("dq", dq + at, dqd, L * D, 4e-6, 1);
        check_close("dk", dk + at, dkd, L * D, 4e-6, 2);
        check_close("dv", dv + at, dvd, L * D, 4e-6, 4);
    }
    check_done();
}
static void against_oracle(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(31);
        for (size_t i = 0; i < CHECK_COUNT(shapes); i++) one(&shapes[i]);
    }
}

// The map that is shown is the one that is used: rows of map times v are the outputs.
static void map_is_used(void **state) {
    (void)state;
    enum { L = 41, D = 6 };
    CHECK_EACH_ISA(isa) {
        check_seed(32);
        check_trying("map of masked pooling in chunks");
        const smx_attention p = {.B = 1,
                                 .L = L,
                                 .D = D,
                                 .H = 1,
                                 .stride = D,
                                 .causal = 1,
                                 .scale = 0.5f,
                                 .chunk = 17,
                                 .pool_window = 7};
        float *x = check_random(3 * L * D, -1, 1), *o = check_floats(L * D), *stats = check_floats(2 * L),
              *map = check_floats(L * L);
        void *scratch = check_scratch(smx_attention_fwd_scratch_bytes(&p));
        smx_attention_fwd(o, stats, x, x + L * D, x + 2 * L * D, scratch, &p);
        smx_attention_map(map, x, x + L * D, scratch, &p, 0, 0);
        double *want = check_doubles(L * D);
        for (size_t i = 0; i < L; i++)
            for (size_t c = 0; c < D; c++) {
                want[i * D + c] = 0;
                for (size_t j = 0; j < L; j++)
                    want[i * D + c] += (double)map[i * L + j] * (double)x[(2 * L + j) * D + c];
            }
        check_close("map times v", o, want, L * D, 1e-6, 1);
        check_done();
    }
}

static void causal_words(void **state) {
    (void)state;
    enum { L = 60, D = 16 };
    CHECK_EACH_ISA(isa)
    for (size_t P = 3; P < 40; P += 12) {
        check_seed(33);
        float *x = check_random(3 * L * D, -1, 1), *o = check_floats(L * D), *again = check_floats(L * D),
              *stats = check_floats(2 * L);
        const smx_attention p = {
            .B = 1, .L = L, .D = D, .H = 1, .stride = D, .causal = 1, .scale = 0.25f, .pool_window = P};
        void *scratch = check_scratch(smx_attention_fwd_scratch_bytes(&p));
        smx_attention_fwd(o, stats, x, x + L * D, x + 2 * L * D, scratch, &p);
        for (size_t t = 0; t < L; t += 5) {
            check_trying("P=%zu, row %zu changed", P, t);
            for (size_t c = 0; c < D; c++)
                for (int which = 0; which < 3; which++) x[(which * L + t) * D + c] += 100;
            smx_attention_fwd(again, stats, x, x + L * D, x + 2 * L * D, scratch, &p);
            check_same("earlier rows", again, o, t * D);
            memcpy(o, again, L * D * sizeof *o);
        }
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_oracle), cmocka_unit_test(map_is_used),
                                       cmocka_unit_test(causal_words)};
    return cmocka_run_group_tests_name("las", tests, NULL, NULL);
}
