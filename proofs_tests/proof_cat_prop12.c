// proof_cat_prop12.c
// Claim: [CAT] Propositions 1 and 2: a landmark finds the block that holds the query's copy when d exceeds 2 sigma^2 B ln(L/B).
// Statement: rows x_t ~ N(0, sigma^2/d I), a query of unit length and one copy of it in an earlier block of B rows. The
//   landmark that is the sum of its block's rows (Prop. 1), or the one filtered with e^{-i/B} (Prop. 2), of the copy's block
//   has the largest product with the query with high probability once d is of the order th = 2 sigma^2 B ln(L/B).
// Needs: success means that the chosen block holds the copy. At sizes that can be tested the transition is soft.
// Model: con_landmark_trials: Philox draws, the landmark filter and the choice by the kernels, or by the oracle.
// Check: Wilson's 99.9 % interval of the success share over fixed seeds: above 0.98 at d = 4 th, between 0.55 and 0.85 at
//   d = th, below 0.42 at th/4, at B = 4, 8, 16, so that the d needed grows in proportion to B; for e^{-i/B} between 0.8 and
//   0.97 at 3 th. Kernels and oracle choose the same block in every trial but those that rounding decides.
#include "proof.h"

#define Z999 3.2905 // 99.9 %

// The interval of the share; figures are its ends.
static void share(double *low, double *high, const con_landmark *m, uint64_t seed, size_t trials) {
    const long hits = con_landmark_trials(m, seed, 0, trials, CON_FLOAT);
    if (hits < 0) fail_msg("no memory");
    proof_wilson(low, high, (double)hits, (double)trials, Z999);
    print_message("L=%zu B=%zu sigma=%g d=%zu (%.2f th)%s: %ld of %zu, %.4f .. %.4f\n", m->L, m->block, m->sigma, m->D,
                  (double)m->D / con_landmark_threshold(m->L, m->block, m->sigma), m->rho ? ", e^(-i/B)" : "", hits, trials,
                  *low, *high);
}
static con_landmark at(size_t L, size_t block, double sigma, double times, int rho) {
    const double d = times * con_landmark_threshold(L, block, sigma);
    return (con_landmark){.L = L, .block = block, .sigma = sigma, .D = (size_t)fmax(1, d + 0.5), .rho = rho};
}

static void box_landmarks(void **state) {
    (void)state;
    static const struct {
        size_t L, block;
        double sigma;
    } cases[] = {{128, 4, 1}, {128, 8, 1}, {256, 16, 0.7}};
    double least4 = 1, least1 = 1, most1 = 0, most_quarter = 0;
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        double low, high;
        con_landmark m = at(cases[i].L, cases[i].block, cases[i].sigma, 4, 0);
        share(&low, &high, &m, 81, 900);
        least4 = fmin(least4, low);
        m = at(cases[i].L, cases[i].block, cases[i].sigma, 1, 0);
        share(&low, &high, &m, 82, 600);
        least1 = fmin(least1, low), most1 = fmax(most1, high);
        m = at(cases[i].L, cases[i].block, cases[i].sigma, 0.25, 0);
        share(&low, &high, &m, 83, 600);
        most_quarter = fmax(most_quarter, high);
    }
    proof_at_least(least4, 0.98, "box, d = 4 th: success, lower end of the 99.9 %% interval");
    proof_at_least(least1, 0.55, "box, d = th: success, lower end");
    proof_at_most(most1, 0.85, "box, d = th: success, upper end");
    proof_at_most(most_quarter, 0.42, "box, d = th/4: success, upper end");
}

// "d grows linearly in B" (Fig. 4): with d fixed at the need of B = 8, half the block succeeds more often, twice the block
// less; with d in proportion all three agree within their intervals' width.
static void width_grows_with_the_block(void **state) {
    (void)state;
    double low[6], high[6];
    const size_t blocks[] = {4, 8, 16};
    const double ratio = 32; // L / B, so that ln(L/B) stays
    for (int i = 0; i < 3; i++) {
        con_landmark m = {.L = blocks[i] * (size_t)ratio, .block = blocks[i], .sigma = 1};
        m.D = 7 * blocks[i]; // about th
        share(&low[i], &high[i], &m, 84, 400);
        m.D = 56;
        share(&low[3 + i], &high[3 + i], &m, 85, 400);
    }
    double top = 0, bottom = 1;
    for (int i = 0; i < 3; i++) {
        top = fmax(top, (low[i] + high[i]) / 2);
        bottom = fmin(bottom, (low[i] + high[i]) / 2);
    }
    proof_at_most(top - bottom, 0.12, "d = 7 B, B = 4, 8, 16: spread of the success");
    proof_at_least(low[3] - high[4], 0.02, "d = 56: success at B = 4 above B = 8, intervals apart by");
    proof_at_least(low[4] - high[5], 0.02, "d = 56: success at B = 8 above B = 16, intervals apart by");
}

static void decaying_landmarks(void **state) {
    (void)state;
    double low, high, low4;
    con_landmark m = at(128, 8, 1, 3, 1);
    share(&low, &high, &m, 86, 1000);
    m = at(128, 8, 1, 8, 1);
    share(&low4, &(double){0}, &m, 87, 400);
    proof_at_least(low, 0.8, "e^(-i/B), d = 3 th: success, lower end of the 99.9 %% interval");
    proof_at_most(high, 0.97, "e^(-i/B), d = 3 th: success, upper end");
    proof_at_least(low4, 0.95, "e^(-i/B), d = 8 th: success, lower end");
}

static void kernels_and_oracle_choose_the_same(void **state) {
    (void)state;
    for (int rho = 0; rho < 2; rho++) {
        const con_landmark m = at(128, 8, 1, 1, rho);
        int differ = 0;
        for (size_t t = 0; t < 150; t++)
            differ += con_landmark_trials(&m, 88, t, 1, CON_FLOAT) != con_landmark_trials(&m, 88, t, 1, CON_DOUBLE);
        proof_at_most(differ, 0, "%s: trials of 150 that kernels and oracle decide differently", rho ? "e^(-i/B)" : "box");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(box_landmarks), cmocka_unit_test(width_grows_with_the_block),
                                       cmocka_unit_test(decaying_landmarks),
                                       cmocka_unit_test(kernels_and_oracle_choose_the_same)};
    return cmocka_run_group_tests_name("cat_prop12", tests, NULL, NULL);
}
