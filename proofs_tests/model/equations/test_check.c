// test_check.c: what seqmix check says of a text: every operation's example and every built-in mixer as text
// pass; a leak is found with its equation, growing gradients are told, and an interpreter that computes
// something else is noticed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/interpret.h"
#include "check/twins.h"
#include "cli/texts/texts.h"
#include "model/audit/audit.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"
#include "proofs_tests/support/check.h"

static config *of_text_at(const char *shape, const char *text) {
    char all[3 * 8192 + 100];
    smx_error e = {.message = ""};
    pairs_encode(all + sprintf(all, "mixer=equations&task=nar&%s&eq=", shape), text)[0] = 0;
    config *c = config_parse(all, 0, &e);
    if (!c) fail_msg("%s", e.message);
    return c;
}
static config *of_text(const char *text) { return of_text_at("length=24&width=8&heads=2", text); }
static check_report checked_at(const char *shape, const char *text) {
    smx_error e = {.message = ""};
    check_report r;
    config *c = of_text_at(shape, text);
    if (check_config(&r, c, 1, &e)) fail_msg("%s", e.message);
    config_free(c);
    return r;
}
static check_report checked(const char *text) { return checked_at("length=24&width=8&heads=2", text); }
static void must_compute(const check_report *r) {
    for (size_t i = 0; i < r->n_rows; i++)
        if (!r->rows[i].fine)
            fail_msg("%s: float32 off by %g of %g, differences by %g", r->rows[i].name, r->rows[i].error,
                     r->rows[i].allowed, r->rows[i].difference);
    assert_true(r->computes && r->differentiates && r->n_rows > 1);
}

static void examples_pass(void **state) {
    (void)state;
    for (const equation_function *f = equation_functions; f->name; f++) {
        check_trying("%s", f->name);
        if (!twin_find(f->name)) fail_msg("no twin");
        const check_report r = checked(f->example);
        must_compute(&r);
        assert_int_equal(r.ahead > 0, !strcmp(f->name, "reverse")); // (the one that is for it)
        assert_true(r.cost[0].flops > 0 && r.cost[0].bytes > 0);
    }
}

// A product and a sum are two; of attention each pair of rows costs 4 D.
static void cost_is_counted(void **state) {
    (void)state;
    const double D = 8, L[2] = {1024, 65536};
    const check_report one = checked("y = x @ w_o"),
                       pairs = checked("y = attention(x @ w_q, x @ w_k, x @ w_v) @ w_o");
    for (size_t i = 0; i < 2; i++) {
        assert_true(one.cost[i].flops == 2 * D * D && one.cost[i].length == (size_t)L[i]);
        assert_true(pairs.cost[i].flops == 4 * 2 * D * D + 4 * D * (L[i] + 1) / 2);
    }
}

// Tables by row, sums over rows and what is taken in blocks of them, beyond 2,048. Attention and S4D, whose
// double twins take seconds here, are left to their kernels' tests; what is usually used with attention
// stands alone.
static void examples_pass_at_2100_rows(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
    } others[] = {
        {"attention", NULL},
        {"taylor_attention", NULL},
        {"linear_attention", NULL},
        {"landmark_attention", NULL},
        {"attention_maps", NULL},
        {"s4d", NULL},
        {"s4d_real", NULL},
        {"unitnorm_heads", "y = unitnorm_heads(x @ w_q) @ w_o"},
        {"shift", "y = shift(x @ w_q, 2050) @ w_o"},
        {"conv", "y = conv(x @ w_k, filter_k) @ w_o"},
        {"conv_heads", "y = conv_heads(x @ w_k, f) @ w_o"},
        {"unit_projection", "y = unit_projection(x, w_q, filter_q) @ w_o"},
        {"pool", "y = pool(x @ w_v) @ w_o"},
        {"rope", "y = rope(x @ w_q) @ w_o"},
    };
    static check_report r;
    for (const equation_function *f = equation_functions; f->name; f++) {
        const char *text = f->example;
        for (size_t i = 0; i < CHECK_COUNT(others); i++)
            if (!strcmp(others[i].name, f->name)) text = others[i].text;
        if (!text) continue;
        smx_error e = {.message = ""};
        check_trying("%s", f->name);
        config *c = of_text(text);
        if (check_numbers(&r, c, 2100, 1, &e)) fail_msg("%s", e.message);
        must_compute(&r);
        config_free(c);
    }
}

static void built_in_texts_pass(void **state) {
    (void)state;
    static check_report r;
    for (size_t i = 0; mixers[i]; i++) {
        char text[1024], equations[8192];
        for (size_t mode = 0; audit_mode(text, sizeof text, mixers[i]->name, mode); mode++) {
            smx_error e = {.message = ""};
            check_trying("%s", text);
            config *c = config_parse(text, 0, &e);
            if (!c) fail_msg("%s", e.message);
            if (cli_text(equations, sizeof equations, c, &e)) { // what no text can say
                if (!strstr(e.message, "cannot say") || strcmp(mixers[i]->name, "hyena"))
                    fail_msg("%s", e.message);
                config_free(c);
                continue;
            }
            char *all = cli_text_config(c, equations, 1);
            config *told = config_parse(all, 0, &e);
            if (!told || check_numbers(&r, told, 48, 1, &e)) fail_msg("%s", e.message);
            must_compute(&r);
            config_free(told);
            config_free(c);
            free(all);
        }
    }
}

// Recurrences whose gates are about -8 and -12, and mostly shut: RG-LRU (De et al. 2024), a state a column,
// and RWKV-6 (Peng et al. 2024).
static void shut_gates_pass(void **state) {
    (void)state;
    static const char rg_lru[] = "start(b_a, constant, 2)\n"
                                 "r = sigmoid(x @ w_r)\n"
                                 "a = -8 * r * softplus(x @ w_a + b_a)\n"
                                 "one = exp(x - x)\n"
                                 "i = exp(0.5 * log(one - exp(2 * a))) * sigmoid(x @ w_i)\n"
                                 "y = gla(one, i, x, gates=a) @ w_o";
    static const char rwkv[] = "start(b_d, constant, 2.5)\n"
                               "s = shift(x)\n"
                               "k = gate(sigmoid(x @ w_mk), x, s) @ w_k\n"
                               "w = -exp(tanh(s @ w_d1[8]) @ w_d2[width] + b_d)\n"
                               "y = silu(x @ w_g) * rms_heads(gla(x @ w_r, k, x @ w_v, gates=w)) @ w_o";
    const check_report first = checked_at("length=64&width=16&heads=16", rg_lru);
    must_compute(&first);
    const check_report second = checked_at("length=64&width=16&heads=2", rwkv);
    must_compute(&second);
}

// A long convolution is a transform: rows before its first are rounded to the size of the largest, and a
// norm makes numbers of size 1 of them. That is no fault; without the norm the bound stays that of rounding.
static void transforms_round_to_the_largest(void **state) {
    (void)state;
    static const char late[] = "t = tanh(s4d(shift(x, 2), a, b[4], c[4], d[4], e))\n";
    char text[200];
    snprintf(text, sizeof text, "%sy = unitnorm_heads(t)", late);
    const check_report normed = checked(text);
    must_compute(&normed);
    assert_true(normed.rows[0].error > 0.1); // (the rows that should be 0 are there)
    const check_report filtered = checked("y = longconv(shift(x, 2), k, s)");
    must_compute(&filtered);
    for (size_t i = 0; i < filtered.n_rows; i++) assert_true(filtered.rows[i].allowed < 2e-5);
}

// The mean of the rows so far, of rows about 1,000, in float32 to its last digits however many there are; and
// its gradient, a sum over as many.
static void long_means_keep_their_digits(void **state) {
    (void)state;
    enum { ROWS = 262144, D = 3 };
    params p = {.seed = 0};
    smx_error error = {.message = ""};
    graph *g = graph_new(GRAPH_TRAIN, &p, 1, ROWS);
    float *values = check_random(ROWS * D, 990, 1010), *dy = check_random(ROWS * D, 990, 1010);
    double sums[D] = {0};
    g->values = values;
    tensor *start = graph_param(g, "x", (init){INIT_CONSTANT, 0}, 0, 2, (uint32_t[]){ROWS, D});
    tensor *y = op_mean(g, op_bias(g, op_values(g, D), start));
    if (g->failed || params_create(&p, 1, &error) || graph_plan(g, y, &error)) fail_msg("%s", error.message);
    graph_forward(g);
    check_trying("the mean of rows so far");
    for (size_t i = 0; i < ROWS * D; i++) {
        sums[i % D] += values[i];
        const double want = sums[i % D] / (double)(i / D + 1), got = y->data[i];
        if (!(fabs(got - want) <= 1e-7 * want))
            check_fail("row %zu is %.9g, expected %.9g", i / D, got, want);
    }
    memcpy(y->grad, dy, ROWS * D * sizeof *dy);
    graph_backward(g);
    memset(sums, 0, sizeof sums);
    for (size_t i = ROWS * D; i-- > 0;) {
        sums[i % D] += dy[i] / (double)(i / D + 1);
        const double got = p.grad[p.list[0]->offset + i];
        if (!(fabs(got - sums[i % D]) <= 1e-7 * sums[i % D]))
            check_fail("gradient at row %zu is %.9g, expected %.9g", i / D, got, sums[i % D]);
    }
    graph_free(g);
    params_free(&p);
    check_done();
}

static void leaks_are_blamed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t ahead, says;
        unsigned line;
    } cases[] = {
        {"q = x @ w_q\n# a comment\nk = conv(q, f[5], future=2)\ny = attention(q, k, q) @ w_o", 2, 2, 3},
        {"q = conv(x, f[5], future=2)\ny = shift(q, 2) @ w_o", 0, 0, 0},
        {"y = attention(x, x, x, causal=no, chunk=6) @ w_o", 5, 5, 1},
        {"e = bin_max(x, 4)\nt = coefficients(linear(e, w_e[2], b_e))\ny = resonate(x, t, 4) @ w_o", 0, 0, 0},
        {"e = bin_max(x, 4)\nt = coefficients(linear(e, w_e[2], b_e), shift=no)\ny = resonate(x, t, 4) @ w_o",
         2, 3, 3},
        // No further than to the last row, also before a step back.
        {"q = conv(x, f[40], future=30)\ny = shift(q, 10) @ w_o", 13, 13, 1},
        {"q = unit_projection(x, w_q, f[40], future=30)\ny = shift(q, 10) @ w_o", 13, 13, 1},
        {"q = pool(x, 41, future=30)\ny = shift(q, 10) @ w_o", 13, 13, 1},
        {"q = pool(x, 41, chunk=8, future=30)\ny = shift(q, 3) @ w_o", 4, 4, 1},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        check_trying("%s", cases[i].text);
        const check_report r = checked(cases[i].text);
        assert_int_equal(r.ahead, cases[i].ahead);
        assert_int_equal(r.ahead_line, cases[i].line);
        assert_int_equal(r.says_ahead, cases[i].says);
        assert_int_equal(r.causal, !cases[i].ahead);
    }
}

static void growing_gradients_are_told(void **state) {
    (void)state;
    const check_report grows = checked("k = x @ w_k\ny = gla(gla(k, k, k), k, gla(k, k, k)) @ w_o");
    assert_false(grows.stable);
    assert_false(check_passes(&grows));
    const check_report stays = checked("y = attention(x @ w_q, x @ w_k, x) @ w_o");
    assert_true(stays.stable);
    assert_true(check_passes(&stays));
    // Sums over a head that cancel what comes back: rounding alone is left, and no growth is seen in it.
    static const char *const cancel[] = {"y = softmax_heads(x)", "y = layernorm_heads(x, gain, bias)"};
    for (size_t i = 0; i < CHECK_COUNT(cancel); i++) assert_true(checked(cancel[i]).stable);
}

// sigmoid(z) is 0 below -103: its logarithm is not finite, and where it is multiplied by what is 0 there, y
// is right and the gradient is not.
static void what_large_inputs_break_is_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *not_finite;
    } cases[] = {{"y = exp(-softplus(-(x @ w_a)) / 16) * x", ""},
                 {"y = exp(log(sigmoid(x @ w_a)) / 16) * x", "w_a"},
                 {"y = exp(x @ w_a)", "y"}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        check_trying("%s", cases[i].text);
        const check_report r = checked(cases[i].text);
        assert_string_equal(r.not_finite, cases[i].not_finite);
        assert_true(check_passes(&r));
    }
}

// A text of no step at all.
static void the_input_itself_passes(void **state) {
    (void)state;
    const check_report r = checked("y = x");
    must_compute(&r);
    assert_true(check_passes(&r));
    assert_int_equal(r.weights, 0);
}

// Of each kind of step: a number, a weight, an input changed by a little in the double run alone.
static void another_computation_is_noticed(void **state) {
    (void)state;
    config *c = of_text(
        "q = scale(x @ w_q, 0.5)\ny = attention(q, pool(q, 3), conv(x, f), decay=exp, range=1) @ w_o");
    params p = {.seed = 0};
    equation_trace *t = malloc(sizeof *t);
    graph *g = graph_new(GRAPH_EVAL, &p, 1, 24);
    tensor *x = op_values(g, 8), *y = equations_mixer(g, c, x, t);
    assert_false(g->failed);
    interpreter *i = interpreter_open(g, t, y);
    for (size_t s = 0; s < t->n; s++)
        for (size_t a = 0; a < FUNCTION_ARGUMENTS; a++) {
            tensor *in = t->steps[s].call.tensor[a];
            for (size_t k = 0; in && (in->weight || in == x) && k < in->n; k++)
                interpreter_value(i, in)[k] = sin((double)(k + 7 * s + 1));
        }
    double before[24 * 8];
    assert_int_equal(interpreter_forward(i, 0, 0), 0);
    memcpy(before, interpreter_value(i, y), sizeof before);
    assert_int_equal(interpreter_forward(i, 0, 0), 0);
    assert_memory_equal(before, interpreter_value(i, y), sizeof before);
    size_t tried = 0;
    for (size_t s = 0; s < t->n; s++)
        for (size_t a = 0; a < function_arguments(t->steps[s].function); a++) {
            const function_argument *arg = &t->steps[s].function->arguments[a];
            const function_call was = t->steps[s].call;
            if (arg->kind == ARGUMENT_REAL) t->steps[s].call.real[a] += 0.1;
            if (!strcmp(arg->name, "window") || !strcmp(arg->name, "future")) t->steps[s].call.number[a]++;
            if (!memcmp(&was, &t->steps[s].call, sizeof was)) continue;
            tried++;
            assert_int_equal(interpreter_forward(i, 0, 0), 0);
            double most = 0;
            for (size_t k = 0; k < y->n; k++) most = fmax(most, fabs(before[k] - interpreter_value(i, y)[k]));
            if (!(most > 1e-5))
                fail_msg("%s of %s moves y by %g only", arg->name, t->steps[s].function->name, most);
            t->steps[s].call = was;
        }
    assert_true(tried >= 4);
    interpreter_close(i);
    graph_free(g);
    params_free(&p);
    free(t);
    config_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_pass),
        cmocka_unit_test(cost_is_counted),
        cmocka_unit_test(examples_pass_at_2100_rows),
        cmocka_unit_test(built_in_texts_pass),
        cmocka_unit_test(shut_gates_pass),
        cmocka_unit_test(transforms_round_to_the_largest),
        cmocka_unit_test(long_means_keep_their_digits),
        cmocka_unit_test(leaks_are_blamed),
        cmocka_unit_test(growing_gradients_are_told),
        cmocka_unit_test(what_large_inputs_break_is_told),
        cmocka_unit_test(the_input_itself_passes),
        cmocka_unit_test(another_computation_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
