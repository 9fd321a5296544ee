// proof_cat_thm3.c
// Claim: [CAT] Theorem 3: one layer with a long filter on its queries solves selective copying of unique
//   signals.
// Statement: there is a one-layer CAT with embedding width |S| + 3 and the query filter rho^i that, on every
//   sequence of up to L tokens made of signals (each at most once), a noise token and the marker, gives out
//   the signals in their order after the marker, each output fed back as the next token. In the paper's
//   order, one layer for all lengths, as well: rho = 1/2, c = 2^(|S|+1).
// Needs: every signal at most once; one noise token (the paper has a set of them: those that share one
//   embedding act as one); embeddings of length sqrt(2), where the paper has 1 (divided by sqrt(2), with W_q,
//   W_k and W_v times sqrt(2), the layer is the same); the slots hold the emitted tokens (in blank slots the
//   first signal would come again).
// Model: con_copy_fwd: signal s: e_s + e_K, noise e_N + e_K, marker e_B + e_K; taps rho^i, rho = 1 - 1/L,
//   W >= L; W_q = c sqrt(d) I; W_k: e_s -> -e_s, e_N, e_B -> -e_K, e_K -> 0; W_v the identity on signals;
//   c = e L ln(2L/eps). Query column s holds rho^age(s): the oldest signal not emitted since has the largest
//   logit, and the next one follows at a gap of c rho^L (1 - rho) >= ln(2L/eps).
// Check: every answer right, free-running, over all short sequences and random ones; at L = 4096, |S| = 64
//   fed with the right answers, which is the same as free-running as long as every answer is right. Distance
//   (l1) of the output from the signal's unit vector at most eps, and sharper, eps/L (float32: times e^(8 c
//   u), the rounding of a logit). Repeated signals fail. Every bound is derived or counted; 61 draws kept
//   each.
#include "proof.h"

enum { MAX_L = 4096, MAX_S = 64 };
#define EPSILON 1e-2

// signals of `tokens`, in order; returns their number
static size_t signals_of(int32_t *signals, const int32_t *tokens, size_t body, size_t S) {
    size_t n = 0;
    for (size_t t = 0; t < body; t++)
        if (tokens[t] < (int32_t)S) signals[n++] = tokens[t];
    return n;
}
static int generated_right(const int32_t *body, size_t rows, const con_copy *m, con_precision p) {
    int32_t tokens[256], want[64];
    memcpy(tokens, body, rows * sizeof *body);
    tokens[rows] = (int32_t)m->S + 1;
    const size_t n = signals_of(want, body, rows, m->S);
    proof_ok(con_copy_generate(tokens, rows, n, m, p));
    return !memcmp(tokens + rows + 1, want, n * sizeof *want);
}

// Every body of up to 5 rows of noise and unique signals from 3; random ones of up to 60 rows and 12 signals.
static void free_running(void **state) {
    (void)state;
    PROOF_EACH_PRECISION(p) {
        size_t tried = 0, wrong = 0;
        for (size_t rows = 1; rows <= 5; rows++)
            for (int code = 0; code < 1 << (2 * rows); code++) {
                int32_t body[5], seen[4] = {0};
                int unique = 1, n = 0;
                for (size_t t = 0; t < rows; t++) {
                    body[t] = code >> (2 * t) & 3;
                    if (body[t] == 3) continue;
                    n++, unique &= !seen[body[t]]++;
                }
                if (!unique || !n) continue;
                const con_copy m = {.S = 3, .L = rows + 1 + (size_t)n, .epsilon = EPSILON};
                tried++, wrong += !generated_right(body, rows, &m, p);
            }
        proof_seed(51);
        for (int trial = 0; trial < 40; trial++) {
            int32_t body[60], order[12];
            const size_t n = 1 + check_next() % 12, rows = n + check_next() % (60 - n);
            for (int i = 0; i < 12; i++) order[i] = i;
            for (size_t i = 0; i < n; i++) { // the first n of a random order
                const size_t j = i + check_next() % (12 - i);
                const int32_t kept = order[i];
                order[i] = order[j], order[j] = kept;
            }
            for (size_t t = 0, placed = 0; t < rows; t++)
                body[t] = check_next() % (rows - t) < n - placed ? order[placed++] : 12;
            const con_copy m = {.S = 12, .L = rows + 1 + n, .epsilon = EPSILON};
            tried++, wrong += !generated_right(body, rows, &m, p);
        }
        proof_at_most((double)wrong, 0, "%s: wrong among %zu free-running copies", proof_short(p), tried);
    }
}

static void long_sequences(void **state) {
    (void)state;
    static int32_t tokens[MAX_L], answer[MAX_L], want[MAX_S];
    static double y[MAX_L * (MAX_S + 3)];
    // `early`: all signals in the first rows, where they are oldest and their logits closest.
    static const struct {
        size_t L, n;
        int early;
    } cases[] = {{256, 64, 0}, {256, 64, 1}, {600, 2, 1}, {MAX_L, 64, 0}};
    PROOF_EACH_PRECISION(p)
    for (size_t l = 0; l < CHECK_COUNT(cases); l++) {
        const size_t L = cases[l].L, S = MAX_S, n = cases[l].n, D = S + 3, body = L - 1 - n;
        const con_copy m = {.S = S, .L = L, .epsilon = EPSILON};
        proof_seed(52 + l);
        for (size_t i = 0; i < S; i++) want[i] = (int32_t)i;
        for (size_t i = 0; i < S; i++) {
            const size_t j = i + check_next() % (S - i);
            const int32_t kept = want[i];
            want[i] = want[j], want[j] = kept;
        }
        for (size_t t = 0, placed = 0; t < body; t++)
            tokens[t] = (cases[l].early ? t < n : check_next() % (body - t) < n - placed) ? want[placed++]
                                                                                          : (int32_t)S;
        tokens[body] = (int32_t)S + 1;
        memcpy(tokens + body + 1, want, n * sizeof *want);
        proof_ok(con_copy_fwd(answer, y, tokens, L, &m, p));
        const char *where = cases[l].early ? " in the first rows" : "";
        size_t wrong = 0;
        double worst = 0;
        for (size_t i = 0; i < n; i++) {
            double e = 0;
            for (size_t c = 0; c < D; c++) e += fabs(y[(body + i) * D + c] - (c == (size_t)want[i]));
            worst = proof_largest(worst, e);
            wrong += answer[body + i] != want[i];
        }
        const double c = exp(1) * (double)L * log(2 * (double)L / EPSILON);
        proof_at_most((double)wrong, 0, "%s, L = %zu, %zu signals%s: wrong answers", proof_short(p), L, n,
                      where);
        // The k-th next signal is k gaps of ln(2L/eps) behind: twice the geometric sum of eps/2L;
        // noise is nowhere.
        const double sharp = 1.01 * EPSILON / (double)L * exp(8 * c * proof_u(p)) + 8 * proof_u(p);
        proof_at_most(worst, sharp, "%s, L = %zu, %zu signals%s: l1 error", proof_short(p), L, n, where);
    }
}

// Why "unique", and why the slots hold what was emitted.
static void what_it_excludes(void **state) {
    (void)state;
    PROOF_EACH_PRECISION(p) {
        // a b a: the two a's add up, so b looks older than a.
        const int32_t body[] = {0, 3, 1, 3, 0};
        int32_t tokens[12];
        const con_copy m = {.S = 3, .L = 9, .epsilon = EPSILON};
        memcpy(tokens, body, sizeof body);
        tokens[5] = 4;
        proof_ok(con_copy_generate(tokens, 5, 3, &m, p));
        print_message("%s: a b a is copied as %c %c %c\n", proof_short(p), 'a' + tokens[6], 'a' + tokens[7],
                      'a' + tokens[8]);
        assert_int_equal(tokens[6], 1);
        size_t tried = 0, wrong = 0;
        for (int code = 0; code < 1 << 10; code++) {
            int32_t b[5], seen[4] = {0};
            int repeated = 0;
            for (int t = 0; t < 5; t++) {
                b[t] = code >> (2 * t) & 3;
                if (b[t] < 3) repeated |= seen[b[t]]++;
            }
            if (!repeated) continue;
            const con_copy n = {.S = 3, .L = 11, .epsilon = EPSILON};
            tried++, wrong += !generated_right(b, 5, &n, p);
        }
        // (all of them: no draw moves it)
        proof_measured_least((double)wrong / (double)tried, 0.87,
                             "%s: share of %zu bodies with a repeated signal copied wrongly", proof_short(p),
                             tried);
        // Blank slots: the marker again in place of the answer.
        int32_t blank[] = {0, 3, 1, 2, 4, 4, 4}, answer[7];
        proof_ok(con_copy_fwd(answer, NULL, blank, 7, &m, p));
        assert_true(answer[4] == 0 && answer[5] == 0 && answer[6] == 0);
        print_message("%s: with blank slots a . b c is answered a a a\n", proof_short(p));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_running), cmocka_unit_test(long_sequences),
                                       cmocka_unit_test(what_it_excludes)};
    return cmocka_run_group_tests_name("cat_thm3", tests, NULL, NULL);
}
