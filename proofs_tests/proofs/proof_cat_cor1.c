// proof_cat_cor1.c
// Claim: [CAT] Corollary 1: attention with the filter (0,1) on its keys alone solves associative recall in
//   one layer.
// Statement: with K = (X*F_k) W_k, F_k = D_1 = (0, 1, 0, ..), unfiltered queries and values, one layer of
//   causal softmax attention returns what followed the earlier occurrence of the current token.
// Needs: unit embeddings, best cosine rho < 1 between two of them; exactly one earlier occurrence. Causal, so
//   the answer stands at every such row (multi-query recall), not only at the last.
// Model: con_recall_fwd with N = 1, F = (1), key delay, no norm; W_q = c sqrt(d) I,
//   c = log(4L/eps) / (1 - max(rho, 0)).
// Check: |y - answer| <= eps/2 at every row whose token has exactly one earlier occurrence, over all
//   sequences of up to 7 tokens from 4: the wrong rows weigh at most L e^(-c (1 - rho)) = eps/4 together,
//   times what the roundings of two logits can do (proof_logits). On the project's own `mqar` and `ar`
//   samples every target is the nearest embedding, too. Without the delay the row returns its own
//   embedding, at both its occurrences: the error is its distance from the answer's, at least sqrt(2 - 2
//   rho), less eps/4.
#include "proof.h"

#include "model/run/language/language.h"
#include "tasks/task.h"

enum { MAX_V = 64, MAX_D = 64, MAX_L = 1024 };
#define EPSILON 1e-3
static double table[MAX_V * MAX_D], one_tap[1] = {1};

static void make_table(size_t V, size_t D) {
    proof_seed(41);
    for (size_t v = 0; v < V; v++) {
        double square = 0;
        for (size_t c = 0; c < D; c++) {
            table[v * D + c] = (float)proof_normal();
            square += table[v * D + c] * table[v * D + c];
        }
        for (size_t c = 0; c < D; c++) table[v * D + c] = (float)(table[v * D + c] / sqrt(square));
    }
}
static con_recall model(size_t L, size_t V, size_t D) {
    const double rho = con_wrong_cosine(table, V, D, one_tap, 1, 0);
    return (con_recall){.L = L,
                        .D = D,
                        .N = 1,
                        .filter = one_tap,
                        .delay = CON_KEY_DELAY,
                        .no_norm = 1,
                        .c = log(4 * (double)L / EPSILON) / (1 - proof_largest(rho, 0))};
}
static double allowed(const con_recall *m, con_precision p) { return EPSILON / 2 * proof_logits(m, p); }
static double x[MAX_L * MAX_D], y[MAX_L * MAX_D];
static void run(const int32_t *tokens, const con_recall *m, con_precision p) {
    for (size_t t = 0; t < m->L; t++)
        memcpy(x + t * m->D, table + (size_t)tokens[t] * m->D, m->D * sizeof *x);
    proof_ok(con_recall_fwd(y, NULL, x, m, p));
}
static double distance(size_t row, int32_t token, size_t D) {
    double e = 0;
    for (size_t c = 0; c < D; c++) {
        const double d = y[row * D + c] - table[(size_t)token * D + c];
        e += d * d;
    }
    return sqrt(e);
}

static void all_short_sequences(void **state) {
    (void)state;
    enum { V = 4, D = 6, L = 7 };
    make_table(V, D);
    const con_recall m = model(L, V, D);
    PROOF_EACH_PRECISION(p) {
        double worst = 0, least = INFINITY;
        size_t rows = 0;
        for (int code = 0; code < 1 << (2 * L); code++) {
            int32_t tokens[L];
            for (int t = 0; t < L; t++) tokens[t] = code >> (2 * t) & 3;
            run(tokens, &m, p);
            for (int i = 1; i < L; i++) {
                int count = 0, place = 0;
                for (int t = 0; t < i; t++)
                    if (tokens[t] == tokens[i]) count++, place = t;
                if (count != 1) continue;
                worst = proof_largest(worst, distance((size_t)i, tokens[place + 1], D));
                rows++;
                // With the identity filter the row's best match is itself, and it returns its own embedding.
                if (code % 997 || tokens[place + 1] == tokens[i]) continue;
                double plain[L * D], q[L * D];
                for (int n = 0; n < L * D; n++) q[n] = m.c * sqrt((double)D) * x[n];
                proof_ok(con_attention(plain, NULL, q, x, x, NULL, L, D, 1, p));
                double e = 0;
                for (int c = 0; c < D; c++) {
                    const double d = plain[i * D + c] - table[tokens[place + 1] * D + c];
                    e += d * d;
                }
                least = proof_smallest(least, sqrt(e));
            }
        }
        proof_at_most(worst, allowed(&m, p), "%s: error over %zu rows of all sequences of 7 from 4 tokens",
                      proof_short(p), rows);
        const double rho = con_wrong_cosine(table, V, D, one_tap, 1, 0);
        proof_at_least(least, sqrt(2 - 2 * rho) - allowed(&m, p) / 2, "%s: least error without the delay",
                       proof_short(p));
    }
}

// Samples of the project's own generators, every target of them.
static void own_tasks(void **state) {
    (void)state;
    static const char *const texts[] = {"task=mqar&length=64&vocab=64&pairs=8",
                                        "task=mqar&length=512&vocab=64&pairs=31",
                                        "task=ar&length=1024&vocab=64"};
    make_table(64, 48);
    for (size_t n = 0; n < CHECK_COUNT(texts); n++) {
        smx_error e = {0};
        config *c = config_parse(texts[n], 0, &e);
        if (!c) fail_msg("%s: %s", texts[n], e.message);
        smx_task_instance in = {0};
        in.task = smx_task_of(c);
        const size_t L = c->common.length;
        if (in.task->open(&in, c, L, &e)) fail_msg("%s: %s", texts[n], e.message);
        const con_recall m = model(L, 64, 48);
        int32_t tokens[MAX_L], targets[MAX_L];
        size_t asked = 0, wrong = 0;
        double worst = 0;
        for (uint64_t index = 0; index < 6; index++) {
            smx_task_sample sample = {.tokens = tokens, .targets = targets};
            in.task->generate(&in, 1, 2, index, &sample);
            run(tokens, &m, index ? CON_FLOAT : CON_DOUBLE);
            for (size_t t = 0; t < L; t++) {
                if (targets[t] < 0) continue;
                int32_t best = 0;
                for (int32_t v = 1; v < 64; v++)
                    if (distance(t, v, 48) < distance(t, best, 48)) best = v;
                asked++, wrong += best != targets[t];
                worst = proof_largest(worst, distance(t, targets[t], 48));
            }
        }
        if (in.release) in.release(in.data);
        config_free(c);
        proof_at_most((double)wrong, 0, "%s: wrong answers of %zu", texts[n], asked);
        proof_at_most(worst, allowed(&m, CON_FLOAT), "%s: error", texts[n]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_short_sequences), cmocka_unit_test(own_tasks)};
    return cmocka_run_group_tests_name("cat_cor1", tests, NULL, NULL);
}
