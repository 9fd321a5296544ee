// proof_certificates.c
// Claim: [LaS] Theorem B.1, [CAT] Theorem 1, Corollary 1 and Theorem 3, certified in ball arithmetic.
// Statement: as in proof_las_b1.c, proof_cat_thm1.c, proof_cat_cor1.c and proof_cat_thm3.c.
// Needs: Arb (Debian: libflint-arb-dev; part of FLINT from version 3). Where it is absent this test is
//   skipped and says so.
// Model: the same constructions on exact rational kernels, embeddings, filters and inputs; logarithm,
//   exponential and square root as balls of 256 bits. A ball holds every real number that the exact
//   construction could return.
// Check: the ball of the error lies wholly under the bound. That is a proof of the bound for these inputs,
//   not a sample of rounding; what float32 adds is measured in the other files.
#include "proof.h"

#ifdef SEQMIX_ARB // the Makefile saw the header and links the library
#if __has_include(<arb.h>)
#include <arb.h>
#else
#include <flint/arb.h>
#endif

enum { BITS = 256 };

// Prints the largest upper end of the errors seen and fails where a ball is not wholly at most `bound`.
typedef struct {
    arb_t worst;
    size_t count;
} certificate;
static const char *upper(char text[40], const arb_t x) { // the upper end, rounded up
    arf_t up;
    arb_t exact;
    arf_init(up), arb_init(exact);
    arb_get_ubound_arf(up, x, 30);
    arb_set_arf(exact, up);
    char *digits = arb_get_str(exact, 4, ARB_STR_NO_RADIUS); // a double cannot hold e^-1000
    snprintf(text, 40, "%s", digits);
    flint_free(digits);
    arf_clear(up), arb_clear(exact);
    return text;
}
static void opened(certificate *c) {
    arb_init(c->worst);
    c->count = 0;
}
static void certify(certificate *c, const arb_t error, const arb_t bound, const char *what) {
    char a[40], b[40];
    if (!arb_le(error, bound)) // true only if every number of the one is at most every number of the other
        fail_msg("%s: the error's ball reaches %s, the bound is %s", what, upper(a, error), upper(b, bound));
    arb_max(c->worst, c->worst, error, BITS);
    c->count++;
}
static void closed(certificate *c, const arb_t bound, const char *what) {
    char a[40], b[40];
    print_message("figure: certified over %zu outputs: %s: %s (at most %s)\n", c->count, what,
                  upper(a, c->worst), upper(b, bound));
    assert_true(c->count > 0);
    arb_clear(c->worst);
}
static void ratio(arb_t r, slong p, ulong q) {
    arb_set_si(r, p);
    arb_div_ui(r, r, q, BITS);
}
// weights [n] = softmax of logits [n], largest first taken off
static void softmax(arb_ptr weights, arb_srcptr logits, slong n) {
    arb_t top, sum;
    arb_init(top), arb_init(sum);
    arb_set(top, logits);
    for (slong j = 1; j < n; j++) arb_max(top, top, logits + j, BITS);
    arb_get_mid_arb(top, top); // any number will do
    for (slong j = 0; j < n; j++) {
        arb_sub(weights + j, logits + j, top, BITS);
        arb_exp(weights + j, weights + j, BITS);
        arb_add(sum, sum, weights + j, BITS);
    }
    for (slong j = 0; j < n; j++) arb_div(weights + j, weights + j, sum, BITS);
    arb_clear(top), arb_clear(sum);
}

// ---- [LaS] Theorem B.1: |y - k*x| <= sum|x| e^-900, which is only needed for zero taps, and the balls' ow
static void las_b1(void **state) {
    (void)state;
    enum { L = 24 };
    arb_ptr logits = _arb_vec_init(L + 1), weights = _arb_vec_init(L + 1), k = _arb_vec_init(L),
            x = _arb_vec_init(L);
    arb_t c, rest, y, want, bound, root;
    arb_init(c), arb_init(rest), arb_init(y), arb_init(want), arb_init(bound), arb_init(root);
    certificate one;
    opened(&one);
    arb_set_si(bound, -900);
    arb_exp(bound, bound, BITS);
    arb_set_ui(want, 1);
    arb_mul_2exp_si(want, want, -200);
    arb_add(bound, bound, want, BITS);
    arb_sqrt_ui(root, L + 1, BITS);
    for (int kind = 0; kind < 4; kind++) { // positive; half 0; two heads of a signed kernel: k+, then k-
        proof_seed(70 + (uint64_t)(kind / 2 * 2));
        for (int t = 0; t < L; t++) {
            slong p = (slong)(check_next() % 1000) + 1;
            if (kind == 1 && t % 2) p = 0;
            if (kind >= 2) p = (check_next() % 2 ? 1 : -1) * p;
            if (kind == 2) p = p < 0 ? 0 : p;
            if (kind == 3) p = p > 0 ? 0 : -p;
            ratio(k + t, p, 997);
            ratio(x + t, (slong)(check_next() % 2000) - 1000, 1000);
        }
        ratio(rest, kind >= 2, 4); // slack
        arb_set(c, rest);
        for (int t = 0; t < L; t++) arb_add(c, c, k + t, BITS);
        for (int i = L - 1; i >= 0; i--) {
            for (int j = -1; j <= i; j++) { // -1: the extra token, ln of what is left for t > i
                arb_srcptr mass = j < 0 ? rest : k + (i - j);
                if (arb_is_zero(mass))
                    arb_set_d(logits + j + 1, CON_LOG_ZERO);
                else
                    arb_log(logits + j + 1, mass, BITS);
                arb_mul(logits + j + 1, logits + j + 1, root, BITS); // in W_q
                arb_div(logits + j + 1, logits + j + 1, root, BITS); // the layer's 1/sqrt(d)
            }
            softmax(weights, logits, i + 2);
            arb_zero(y), arb_zero(want);
            for (int j = 0; j <= i; j++) {
                arb_addmul(y, weights + j + 1, x + j, BITS);
                arb_addmul(want, k + (i - j), x + j, BITS);
            }
            arb_mul(y, y, c, BITS);
            arb_sub(y, y, want, BITS);
            arb_abs(y, y);
            certify(&one, y, bound, "B.1");
            arb_add(rest, rest, k + i, BITS);
        }
    }
    closed(&one, bound,
           "[LaS] B.1: |y - k*x| for rational kernels, zero taps and both heads of a signed one");
    _arb_vec_clear(logits, L + 1), _arb_vec_clear(weights, L + 1), _arb_vec_clear(k, L), _arb_vec_clear(x, L);
    arb_clear(c), arb_clear(rest), arb_clear(y), arb_clear(want), arb_clear(bound), arb_clear(root);
}

// ---- [CAT] Theorem 1 and Corollary 1 --------------------------------------------------------------------
enum { V = 3, D = 3, L1 = 6 };
// Rational unit embeddings, not orthogonal.
static const slong embeddings[V][D] = {{3, 4, 0}, {0, 3, 4}, {4, 0, -3}}; // over 5
// u [D] = norm of the N-gram ending at row t (earlier rows are 0); filter[i] / 7
static void ngram(arb_ptr u, const int32_t *x, int t, const slong *filter, int N, int norm) {
    arb_t square;
    arb_init(square);
    for (int c = 0; c < D; c++) {
        slong sum = 0;
        for (int i = 0; i < N && i <= t; i++) sum += filter[i] * embeddings[x[t - i]][c];
        ratio(u + c, sum, 35);
        arb_addmul(square, u + c, u + c, BITS);
    }
    if (norm && !arb_contains_zero(square)) {
        arb_sqrt(square, square, BITS);
        _arb_vec_scalar_div(u, u, D, square, BITS);
    }
    arb_clear(square);
}
static int is_copy(const int32_t *x, int t, int L, int N) {
    return t >= N - 1 && t < L - 1 && !memcmp(x + t - N + 1, x + L - N, (size_t)N * sizeof *x);
}
// Certifies |y - answer|^2 <= eps^2 for every instance of length 2N..6.
// c_0 = 1/(1 - rho) with rho a ball over all pairs.
static void recall(certificate *one, con_delay delay, const slong *filter, int N, const arb_t epsilon,
                   int norm) {
    arb_ptr u = _arb_vec_init(D), v = _arb_vec_init(D), logits = _arb_vec_init(L1),
            weights = _arb_vec_init(L1);
    arb_t rho, dot, c, error, bound, part;
    arb_init(rho), arb_init(dot), arb_init(c), arb_init(error), arb_init(bound), arb_init(part);
    int codes = 1;
    for (int i = 0; i < N; i++) codes *= V;
    for (int a = 0; a < codes; a++) // best wrong cosine, at least 0
        for (int b = 0; b < codes; b++) {
            int32_t x[3], y[3];
            for (int i = 0, p = a, q = b; i < N; i++, p /= V, q /= V) x[i] = p % V, y[i] = q % V;
            ngram(u, x, N - 1, filter, N, norm), ngram(v, y, N - 1, filter, N, norm);
            if (a == b) continue;
            arb_dot(dot, NULL, 0, u, 1, v, 1, D, BITS);
            arb_max(rho, rho, dot, BITS);
        }
    arb_mul(bound, epsilon, epsilon, BITS);
    for (int L = 2 * N; L <= L1; L++) {
        int count = 1;
        for (int t = 0; t < L; t++) count *= V;
        ratio(c, 4 * L, 1);
        arb_div(c, c, epsilon, BITS);
        arb_log(c, c, BITS);
        arb_sub_ui(dot, rho, 1, BITS);
        arb_neg(dot, dot);
        arb_div(c, c, dot, BITS);
        for (int code = 0; code < count; code++) {
            int32_t x[L1];
            int copies = 0, place = 0;
            for (int t = 0, rest = code; t < L; t++, rest /= V) x[t] = rest % V;
            for (int t = 0; t < L; t++)
                if (is_copy(x, t, L, N)) copies++, place = t;
            if (copies != 1) continue;
            ngram(u, x, L - 1, filter, N, norm);
            const int first = N - 1 + (delay == CON_KEY_DELAY); // earlier rows are masked by zero keys
            for (int j = 0; j < L; j++) {
                arb_zero(logits + j);
                if (j < first) continue;
                ngram(v, x, j - (delay == CON_KEY_DELAY), filter, N, norm);
                arb_dot(logits + j, NULL, 0, u, 1, v, 1, D, BITS);
                arb_mul(logits + j, logits + j, c, BITS);
            }
            const int n = delay == CON_STRICT ? L - 1 : L;
            softmax(weights, logits, n);
            arb_zero(error);
            for (int e = 0; e < D; e++) {
                ratio(dot, -embeddings[x[place + 1]][e], 5);
                for (int j = 0; j < n; j++) {
                    const int row = delay == CON_KEY_DELAY ? j : j + 1;
                    if (row >= L) continue;
                    ratio(part, embeddings[x[row]][e] * (delay == CON_VALUE_DELAY ? 2 : 1), 5);
                    arb_addmul(dot, weights + j, part, BITS);
                }
                arb_addmul(error, dot, dot, BITS);
            }
            certify(one, error, bound, "Theorem 1");
        }
    }
    _arb_vec_clear(u, D), _arb_vec_clear(v, D), _arb_vec_clear(logits, L1), _arb_vec_clear(weights, L1);
    arb_clear(rho), arb_clear(dot), arb_clear(c), arb_clear(error), arb_clear(bound), arb_clear(part);
}
static void cat_thm1(void **state) {
    (void)state;
    static const char *const names[] = {"value delay", "key delay", "strict mask"};
    static const slong filters[3][3] = {{7, 0, 0}, {7, -11, 0}, {7, -11, 5}};
    arb_t epsilon, square;
    arb_init(epsilon), arb_init(square);
    ratio(epsilon, 1, 1000000);
    arb_mul(square, epsilon, epsilon, BITS);
    for (con_delay delay = CON_VALUE_DELAY; delay <= CON_STRICT; delay++)
        for (int N = 1; N <= 3; N++) {
            char what[160];
            certificate one;
            opened(&one);
            recall(&one, delay, filters[N - 1], N, epsilon, 1);
            snprintf(what, sizeof what,
                     "[CAT] Theorem 1, %s, N = %d: squared error on every instance of at most 6 tokens",
                     names[delay], N);
            closed(&one, square, what);
        }
    certificate one;
    opened(&one);
    recall(&one, CON_KEY_DELAY, filters[0], 1, epsilon, 0);
    closed(&one, square, "[CAT] Corollary 1, the filter (0,1) on keys, no norm: squared error on the same");
    arb_clear(epsilon), arb_clear(square);
}

// ---- [CAT] Theorem 3: the l1 error of the right answer's row, fed with the right answers; under 1/2 the l
// the right one, so that free-running is certified with it.
static void copy(certificate *one, const int32_t *tokens, size_t length, size_t body, size_t S, slong L,
                 const arb_t epsilon, const arb_t bound) {
    const size_t width = S + 3, K = S + 2;
    arb_ptr q = _arb_vec_init((slong)width), logits = _arb_vec_init((slong)length),
            weights = _arb_vec_init((slong)length);
    arb_t rho, c, error, part;
    arb_init(rho), arb_init(c), arb_init(error), arb_init(part);
    ratio(rho, L - 1, (ulong)L);
    ratio(c, 2 * L, 1);
    arb_div(c, c, epsilon, BITS);
    arb_log(c, c, BITS);
    arb_mul_si(c, c, L, BITS);
    arb_const_e(part, BITS);
    arb_mul(c, c, part, BITS);
    for (size_t i = 0; i < length; i++) {
        for (size_t s = 0; s < width; s++) arb_mul(q + s, q + s, rho, BITS); // the filter rho^i, one row on
        arb_add_ui(q + tokens[i], q + tokens[i], 1, BITS);
        arb_add_ui(q + K, q + K, 1, BITS);
        if (i < body || i + 1 >= length)
            continue; // answers stand at the marker and at all slots but the last
        for (size_t j = 0; j <= i; j++) {
            arb_mul(logits + j, c, tokens[j] < (int32_t)S ? q + tokens[j] : q + K, BITS);
            arb_neg(logits + j, logits + j);
        }
        softmax(weights, logits, (slong)i + 1);
        arb_zero(error); // sum over columns s of |o_s - (s is the answer)|, o_s the weights on tokens s
        for (size_t s = 0; s < S; s++) {
            arb_set_si(part, -(slong)(tokens[i + 1] == (int32_t)s));
            for (size_t j = 0; j <= i; j++)
                if (tokens[j] == (int32_t)s) arb_add(part, part, weights + j, BITS);
            arb_abs(part, part);
            arb_add(error, error, part, BITS);
        }
        certify(one, error, bound, "Theorem 3");
    }
    _arb_vec_clear(q, (slong)width), _arb_vec_clear(logits, (slong)length),
        _arb_vec_clear(weights, (slong)length);
    arb_clear(rho), arb_clear(c), arb_clear(error), arb_clear(part);
}
static void cat_thm3(void **state) {
    (void)state;
    arb_t epsilon, bound;
    arb_init(epsilon), arb_init(bound);
    ratio(epsilon, 1, 100);
    certificate one;
    opened(&one);
    for (size_t rows = 1; rows <= 5; rows++)
        for (int code = 0; code < 1 << (2 * rows); code++) {
            int32_t tokens[16], seen[4] = {0};
            int unique = 1;
            size_t n = 0;
            for (size_t t = 0; t < rows; t++) {
                tokens[t] = code >> (2 * t) & 3;
                if (tokens[t] < 3) unique &= !seen[tokens[t]]++, n++;
            }
            if (!unique || !n) continue;
            tokens[rows] = 4;
            for (size_t t = 0, at = rows + 1; t < rows; t++)
                if (tokens[t] < 3) tokens[at++] = tokens[t];
            copy(&one, tokens, rows + 1 + n, rows, 3, (slong)(rows + 1 + n), epsilon, epsilon);
        }
    closed(&one, epsilon, "[CAT] Theorem 3, every body of at most 5 rows, 3 signals: l1 error");
    int32_t tokens[256];
    enum { N = 16, S = 24, BODY = 256 - N - 1 };
    opened(&one);
    proof_seed(77);
    for (int t = 0; t < BODY; t++) tokens[t] = S;
    for (int i = 0; i < N; i++) {
        int at;
        do at = (int)(check_next() % BODY);
        while (tokens[at] != S);
        tokens[at] = (i * 7) % S; // 7 and 24 have no common factor: no signal twice
    }
    tokens[BODY] = S + 1;
    for (int t = 0, at = BODY + 1; t < BODY; t++)
        if (tokens[t] != S) tokens[at++] = tokens[t];
    ratio(bound, 102, 100 * 100 * 256); // 1.02 eps / L
    copy(&one, tokens, 256, BODY, S, 256, epsilon, bound);
    closed(&one, bound, "[CAT] Theorem 3, L = 256, 16 signals of 24: l1 error");
    arb_clear(epsilon), arb_clear(bound);
}
#define CERTIFICATE(f) f
#define CERTIFICATES_DONE flint_cleanup()
#else
static void absent(void **state) {
    (void)state;
    print_message("Arb is not installed (Debian: libflint-arb-dev)\n");
    skip();
}
#define CERTIFICATE(f) absent
#define CERTIFICATES_DONE (void)0
#endif

int main(void) {
    const struct CMUnitTest tests[] = {{"las_b1", CERTIFICATE(las_b1), NULL, NULL, NULL},
                                       {"cat_thm1", CERTIFICATE(cat_thm1), NULL, NULL, NULL},
                                       {"cat_thm3", CERTIFICATE(cat_thm3), NULL, NULL, NULL}};
    const int failed = cmocka_run_group_tests_name("certificates", tests, NULL, NULL);
    CERTIFICATES_DONE; // Arb keeps constants
    return failed;
}
