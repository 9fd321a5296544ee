// test_attention_maps.c: attention whose maps are mixed across heads, against the oracle,
// gradient of the mix included.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

typedef struct {
    size_t L, d, H, chunk;
    int causal, bias;
} shape;
static const shape shapes[] = {
    {1, 1, 1, 0, 1, 0},   {1, 3, 4, 0, 1, 0},   {15, 4, 2, 0, 0, 1},  {16, 16, 2, 0, 1, 0},
    {24, 5, 3, 0, 1, 1},  {25, 17, 2, 0, 1, 0}, {64, 8, 4, 0, 0, 0},  {70, 8, 3, 0, 1, 1},
    {130, 4, 8, 0, 1, 0}, {23, 5, 2, 7, 1, 1},  {64, 8, 3, 27, 0, 1}, {70, 16, 2, 48, 1, 0},
    {40, 4, 3, 20, 0, 0},
};
static void one(const shape *s) {
    const size_t B = 2, L = s->L, D = s->d * s->H, n = B * L * D;
    check_trying("maps L=%zu d=%zu H=%zu causal=%d bias=%d chunk=%zu", L, s->d, s->H, s->causal, s->bias,
                 s->chunk);
    float *q = check_random(n, -1, 1), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1),
          *dout = check_random(n, -1, 1);
    float *mix = check_random(s->H * s->H, -1, 1), *dmix = check_random(s->H * s->H, -1, 1),
          *bias_f = check_floats(s->H * (2 * L - 1));
    float *o = check_floats(n), *stats = check_floats(B * s->H * L * 2), *dq = check_floats(n),
          *dk = check_floats(n), *dv = check_floats(n);
    double *bias = check_doubles(s->H * (2 * L - 1)), *dmix_d = check_widen(dmix, s->H * s->H),
           *mix_d = check_widen(mix, s->H * s->H);
    ref_alibi_bias(bias, L, s->H, 1);
    for (size_t i = 0; i < s->H * (2 * L - 1); i++) bias_f[i] = (float)bias[i];
    const smx_attention p = {.B = B,
                             .L = L,
                             .D = D,
                             .H = s->H,
                             .stride = D,
                             .causal = s->causal,
                             .scale = (float)(1 / sqrt((double)s->d)),
                             .bias = s->bias ? bias_f : NULL,
                             .chunk = s->chunk};
    smx_attention_maps_fwd(o, stats, q, k, v, mix, check_scratch(smx_attention_maps_fwd_scratch_bytes(&p)),
                           &p);
    smx_attention_maps_bwd(dq, dk, dv, dmix, dout, q, k, v, mix, stats,
                           check_scratch(smx_attention_maps_bwd_scratch_bytes(&p)), &p);
    double *od = check_doubles(L * D), *dqd = check_doubles(L * D), *dkd = check_doubles(L * D),
           *dvd = check_doubles(L * D);
    const double h = (double)s->H;
    // The oracle has no chunks: each is a sequence of its own.
    const size_t chunk = s->chunk ? s->chunk : L;
    for (size_t row = 0; row < B * L;) {
        const size_t at = row * D, rows = L - row % L < chunk ? L - row % L : chunk, m = rows * D;
        const ref_heads r = {rows, D, s->H, s->causal, s->bias ? REF_POS_ALIBI : REF_POS_NONE, 10000};
        double *qd = check_widen(q + at, m), *kd = check_widen(k + at, m), *vd = check_widen(v + at, m);
        assert_int_equal(ref_heads_fwd(od, qd, kd, vd, mix_d, &r), REF_OK);
        assert_int_equal(
            ref_heads_bwd(dqd, dkd, dvd, dmix_d, check_widen(dout + at, m), qd, kd, vd, mix_d, &r), REF_OK);
        check_close("o", o + at, od, m, 1e-6, h);
        check_close("dq", dq + at, dqd, m, 4e-6, h);
        check_close("dk", dk + at, dkd, m, 4e-6, 2 * h);
        check_close("dv", dv + at, dvd, m, 4e-6, 4 * h);
        row += rows;
    }
    // Sums over every pair of B L rows.
    check_close("dmix", dmix, dmix_d, s->H * s->H, 2e-6, sqrt((double)(B * L)) * 4);
    check_done();
}
static void against_oracle(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(51);
        for (size_t i = 0; i < CHECK_COUNT(shapes); i++) one(&shapes[i]);
    }
}

// The unit matrix mixes nothing: the same as plain attention, also in chunks and with decay.
static void unit_mix(void **state) {
    (void)state;
    enum { L = 61, D = 12, H = 3, N = L * D };
    CHECK_EACH_ISA(isa) {
        check_seed(52);
        check_trying("unit mix");
        float *q = check_random(N, -1, 1), *k = check_random(N, -1, 1), *v = check_random(N, -1, 1),
              *dout = check_random(N, -1, 1);
        float *mult = check_random(H * (2 * L - 1), 0.2, 1), *mix = check_filled(H * H, 0),
              *dmix = check_filled(H * H, 0);
        for (size_t h = 0; h < H; h++) mix[h * H + h] = 1;
        float *o = check_floats(N), *stats = check_floats(2 * H * L), *dq = check_floats(N),
              *dk = check_floats(N), *dv = check_floats(N);
        float *o1 = check_floats(N), *dq1 = check_floats(N), *dk1 = check_floats(N), *dv1 = check_floats(N);
        const smx_attention p = {.B = 1,
                                 .L = L,
                                 .D = D,
                                 .H = H,
                                 .stride = D,
                                 .causal = 1,
                                 .scale = 0.5f,
                                 .decay_table = mult,
                                 .chunk = 27};
        smx_attention_maps_fwd(o, stats, q, k, v, mix,
                               check_scratch(smx_attention_maps_fwd_scratch_bytes(&p)), &p);
        smx_attention_maps_bwd(dq, dk, dv, dmix, dout, q, k, v, mix, stats,
                               check_scratch(smx_attention_maps_bwd_scratch_bytes(&p)), &p);
        smx_attention_fwd(o1, stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(&p)), &p);
        smx_attention_bwd(dq1, dk1, dv1, dout, q, k, v, o1, stats,
                          check_scratch(smx_attention_bwd_scratch_bytes(&p)), &p);
        check_close("o", o, check_widen(o1, N), N, 5e-7, 1);
        check_close("dq", dq, check_widen(dq1, N), N, 1e-6, 1);
        check_close("dk", dk, check_widen(dk1, N), N, 1e-6, 1);
        check_close("dv", dv, check_widen(dv1, N), N, 1e-6, 4);
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_oracle), cmocka_unit_test(unit_mix)};
    return cmocka_run_group_tests_name("attention_maps", tests, NULL, NULL);
}
