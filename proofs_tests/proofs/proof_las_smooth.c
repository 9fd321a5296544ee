// proof_las_smooth.c
// Claim: [LaS] Eq. 4: pooling the attention map over its columns is a box filter on the values, so smoothing
//   costs O(L P d).
// Statement: for any map A, average pooling of every row over P columns (stride 1, zero padding, divisor P)
//   satisfies AP(A) V = A (T V), (T V)_j = (1/P) sum_{|r| <= p} V_{j+r}, p = (P-1)/2: S-attention is CAT with
//   a fixed box filter on v.
// Needs: P odd and divisor P also at the borders. It does not hold for pooling that is cut at the
//   diagonal afterwards: there column c of row i counts (1/P) sum V over rows c-p .. min(i, c+p), which no
//   fixed T gives.
// Model: con_attention on con_conv(V) with P taps 1/P, p of them ahead (centred) or none (trailing), against
//   the map pooled entry by entry.
// Check: |difference| in u, measured over 1,000 draws: weights that sum to 1 and values below 1; the
//   weights of both sides, their sums and the filter each round to a few u. For the cut map its own form,
//   equality at the last row, which has no future, and elsewhere a distance from the fixed filter that is
//   seen.
#include "proof.h"

enum { L = 60, D = 5, MAX_P = 9 };

static void pooling_is_a_filter_on_the_values(void **state) {
    (void)state;
    static double q[L * D], k[L * D], v[L * D], filtered[L * D], plain[L * D], got[L * D], map[L * L],
        again[L * L];
    proof_seed(121);
    for (int i = 0; i < L * D; i++)
        q[i] = (float)(2 * proof_normal()), k[i] = (float)(2 * proof_normal()),
        v[i] = (float)check_uniform(-1, 1);
    PROOF_EACH_PRECISION(p)
    for (int trailing = 0; trailing < 2; trailing++) {
        double worst = 0;
        for (int P = 1; P <= MAX_P; P += 2) {
            const int half = (P - 1) / 2, from = trailing ? P - 1 : half, to = trailing ? 0 : half;
            double taps[MAX_P];
            for (int r = 0; r < P; r++) taps[r] = p == CON_FLOAT ? (double)(float)(1.0 / P) : 1.0 / P;
            proof_ok(con_attention(plain, map, q, k, v, NULL, L, D, 1, p));
            proof_ok(con_conv(filtered, v, taps, L, D, (size_t)P, (size_t)to, p));
            proof_ok(con_attention(got, again, q, k, filtered, NULL, L, D, 1, p));
            for (int i = 0; i < L; i++)
                for (int c = 0; c < D; c++) {
                    double want =
                        0; // sum over pooled columns j of row i: (1/P) sum of A at j - to .. j + from
                    for (int j = 0; j < L; j++) {
                        double pooled = 0;
                        for (int s = j - to; s <= j + from; s++)
                            pooled += s >= 0 && s < L ? map[i * L + s] / P : 0;
                        want += pooled * v[j * D + c];
                    }
                    worst = proof_largest(worst, fabs(got[i * D + c] - want));
                }
        }
        proof_measured(worst / proof_u(p), 16, "%s, P = 1 .. %d, %s: |A (TV) - AP(A) V| in u", proof_short(p),
                       MAX_P, trailing ? "trailing" : "centred");
    }
}

// Pooled, then cut at j <= i.
static void a_cut_map_is_no_fixed_filter(void **state) {
    (void)state;
    enum { P = 5, HALF = 2 };
    static double q[L * D], k[L * D], v[L * D], o[L * D], map[L * L];
    proof_seed(122);
    for (int i = 0; i < L * D; i++)
        q[i] = (float)proof_normal(), k[i] = (float)proof_normal(), v[i] = (float)check_uniform(-1, 1);
    proof_ok(con_attention(o, map, q, k, v, NULL, L, D, 1, CON_DOUBLE));
    double off = 0, centred_off = 0, moved = 0;
    for (int i = 0; i < L; i++)
        for (int c = 0; c < D; c++) {
            double cut = 0, centred = 0, form = 0;
            for (int j = 0; j < L; j++) {
                double pooled = 0;
                for (int s = j - HALF; s <= j + HALF; s++) pooled += s >= 0 && s < L ? map[i * L + s] / P : 0;
                centred += pooled * v[j * D + c];
                if (j <= i) cut += pooled * v[j * D + c];
            }
            for (int s = 0; s <= i; s++)
                for (int j = s - HALF < 0 ? 0 : s - HALF; j <= (s + HALF < i ? s + HALF : i); j++)
                    form += map[i * L + s] / P * v[j * D + c];
            off = proof_largest(off, fabs(cut - form));
            centred_off = proof_largest(centred_off, fabs(cut - centred));
            if (i == L - 1)
                moved = proof_largest(moved, fabs(cut - centred)); // nothing lies beyond the last row
        }
    proof_measured(off, 1.8e-15, "pooled and cut: distance from its own form");
    proof_measured_least(centred_off, 0.07, "pooled and cut: distance from the box filter, which sees ahead");
    proof_at_most(moved, 0, "pooled and cut: the same at the last row, which has no future");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pooling_is_a_filter_on_the_values),
                                       cmocka_unit_test(a_cut_map_is_no_fixed_filter)};
    return cmocka_run_group_tests_name("las_smooth", tests, NULL, NULL);
}
