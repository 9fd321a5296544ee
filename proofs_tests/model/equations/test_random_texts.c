// test_random_texts.c: texts of equations drawn at random drive the whole engine: float32 against the oracle
// in double, gradients against central differences, the same bits whether arrays share memory or not,
// whatever the order of pieces, on the narrowest and the widest instruction set. A text that fails is made as
// short as it can be and still fail.   SEQMIX_TEXTS=10000 SEQMIX_TEXTS_SEED=7 build/tests/test_random_texts
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/smx.h>

#include "check/check.h"
#include "kernels/core/philox.h"
#include "model/mixers/equations.h"
#include "model/ops/ops.h"
#include "model/run/language/language.h"
#include "proofs_tests/support/check.h"

// ---- Drawing --------------------------------------------------------------------------------------------
// Calls besides the plain ones (`derive`). A equals a tensor as wide as the line's result, B one with a
// column a head, C one of 4 columns; # a number of the line's own; K the width less one. Growing results are
// brought back to size: gradients that only huge numbers make tell nothing of a fault, as the kernels round
// them to the size of their parts (gates that are shut, softmax of huge logits). Long convolutions round each
// row to the size of the largest (their transform), so none is divided by its own size.
static const char *const templates[] = {
    "sigmoid(A)",
    "tanh(A)",
    "softplus(A)",
    "elu1(A)",
    "exp(tanh(A))",
    "log(softplus(tanh(A)))",
    "A + A",
    "A - A",
    "A * tanh(A)",
    "A / softplus(tanh(A))",
    "max(A, A)",
    "offset(A, -0.3) * 0.5",
    "1 - sigmoid(A)",
    "2 * A + 1",
    "1 / softplus(A + 0.5)",
    "power(tanh(A), 3)",
    "tanh(A)^2 - tanh(A)**5",
    "value(n#[K + 1]) * A",
    "A * n#[K + 1] + b_#[K + 1]",
    "(b_#[K + 1] - A) / exp(n#[K + 1] * -1) - n#",
    "relu(A)",
    "sqrt(softplus(A))",
    "abs(A) - 0.3",
    "layernorm_heads(A, n#, m#)",
    "per_head(tanh(sum_heads(A * A)), (K + 1) / heads) * A",
    "per_head(sigmoid(B) + n#[heads], columns=(K + 1) / heads) + A",
    "tanh(cumsum(A))",
    "join(tanh(A)[0:1], (A)[1:K + 1])",
    "join((A)[:1], (A)[1:])",
    "cumsum(relu(A)) / cumsum(softplus(A))",
    "scale(A, -0.7)",
    "A / 3 + b_#",
    "gate(sigmoid(A), A, A)",
    "layernorm(A, n#, m#)",
    "rmsnorm(A, n#)",
    "rms_heads(A)",
    "rms_heads(A, eps=0.01)",
    "rms_heads(A, eps=0)",
    "layernorm(A, n#, m#, eps=0.3)",
    "layernorm_heads(A, n#, m#, 0.000001)",
    "rmsnorm(A, n#, eps=0.02)",
    "unitnorm(A, eps=0.1)",
    "unitnorm_heads(A, 0.000001)",
    "unitnorm(A)",
    "unitnorm_heads(A)",
    "shift(A, 2)",
    "shift(A, 40)",
    "attention(A, A, A, decay=exp, range=2, causal=no)",
    "join(columns(A, 0, 1), columns(A, 1, K))",
    "add(A, mul(A, sigmoid(A)))",
    "linear(A, n#[width], m#) @ o#[K + 1]",
    "divide(A, exp(tanh(A)))",
    "conv(A, n#[3])",
    "conv(A, n#[3], future=1)",
    "conv_each(A, n#[4])",
    "conv_heads(A, n#[2])",
    "unit_projection(A, n#, m#[2])",
    "pool(A)",
    "pool(A, 3, chunk=5, future=1)",
    "attention(A, A, A)",
    "attention(A, A, A, decay=exp, range=2)",
    "attention(A, A, A, decay=alibi, chunk=5)",
    "attention(A, A, A, decay=alibi_scaled, causal=no)",
    "attention(A, A, A, decay=exp, pool=3)",
    "attention(A, A, A, chunk=4)",
    "attention(A, A, A, bias=-softplus(B), chunk=5)",
    "attention(A, A, A, bias=-softplus(B), sink=n#)",
    "attention(A, A, A, cap=1.5, causal=no)",
    "attention(A, A, A, score=sigmoid, cap=2)",
    "attention(A, A @ n#[(K + 1) / heads], A @ m#[(K + 1) / heads], sink=o#, kv_heads=1, causal=no)",
    "sliding_attention(A, A, A, rows=4)",
    "sliding_attention(A, A, A, rows=3, decay=alibi, chunk=5)",
    "rms_heads(retention(A, A, A))",
    "lstm(linear(A, n#[4 * width], m#), o#) @ p#[K + 1]",
    "gru(linear(A, n#[3 * width], m#), o#, p#) @ q#[K + 1]",
    "attention_maps(A, A, A, n#)",
    "attention_maps(A, A, A, n#, decay=alibi)",
    "linear_attention(elu1(A), elu1(A), A, tile=5)",
    "linear_attention(A, A, A, rms)",
    "rms_heads(linear_attention(A, A, A, none, 3))",
    "rms_heads(gla(A, A, A, gates=-softplus(B)))",
    "rms_heads(gla(A, A, A, beta=sigmoid(B), gates=-softplus(A)))",
    "rms_heads(gla(A, A, A))",
    "rms_heads(ssd(C, C, A, softplus(B), decays(softplus(B), n#)))",
    "rms_heads(gla(A, A, A, gates=decays(softplus(B), n#) + decays(softplus(B), n#)))",
    "rms_heads(delta(unitnorm_heads(A), unitnorm_heads(A), A, sigmoid(B)))",
    "rms_heads(delta(unitnorm_heads(A), unitnorm_heads(A), A, sigmoid(B), -softplus(B)))",
    "rms_heads(delta(unitnorm_heads(A), unitnorm_heads(A), A, sigmoid(B), erase=unitnorm_heads(A)))",
    "rms_heads(delta(unitnorm_heads(A), unitnorm_heads(A), A, sigmoid(B), -softplus(A), unitnorm_heads(A)))",
    "landmark_attention(A, A, A, landmark_keys(A, 4, rho, yes), 4)",
    "landmark_attention(A, A, A, landmark_keys(A, 5), 5)",
    "landmark_keys(A, 3, box, yes)",
    "tanh(longconv(A, n#))",
    "tanh(longconv(A, n#[5], m#, squash=0.01))",
    "tanh(s4d(A, n#, m#[4], o#[4], p#[4], q#))",
    "tanh(s4d_real(A, n#, m#[4], o#[4], q#))",
    "rms_heads(ema(A, n#[3], m#[3], o#[3], p#[3], q#))",
    "rms_heads(selective_scan(A, softplus(A), n#[4], C, C, m#))",
    "rms_heads(resonate(A, coefficients(linear(bin_max(A, 4), n#[2], m#)), 4, carry))",
    "rms_heads(resonate(A, coefficients(linear(bin_max(A, 4, 2), n#[4], m#), triangle), 4))",
    "rms_heads(resonate(x, coefficients(repeat_pairs(x, n#, 4), factor=0.45, shift=no), 4, literal) @ r#[K + 1])",
    // Lines before the last stand before the result's.
    "a# = A\nb# = A\nscan h#[a#] over a#, b#\n"
    " h# = tanh(h# * 0.5 + a# + h# @ u#[heads][a#][a#] * 0.3) + b# * 0.2\nh#",
    "q# = A\nk# = unitnorm_heads(A)\nv# = A\ng# = B\nscan S#[k#][v#] over q#, k#, v#, g#\n"
    " R = exp(-softplus(g#)) * S#\n S# = R + outer(k#, v# - k# @ R)\n o# = q# @ S#\nrms_heads(o#)",
    "a# = A\ns# = C\nscan m#, n# over a#, shared s# by columns\n m# = max(m# - 0.1, a#)\n"
    " n# = 0.5 * n# + exp(a# - m#) * sum(s#)\n e# = n# / (1 + abs(m#))\ntanh(e#)",
    "a# = A\nstart(r#, learned)\nscan r#[a#] over a# by one\n"
    " r# = rms(r# * 0.5 + softmax(a#)) + layernorm(a#) * sigmoid(sum(a# * r#))\nr#",
};
enum { TEMPLATES = sizeof templates / sizeof *templates, DERIVED = 100, CALL = 300 };
static char derived[DERIVED][CALL];
static size_t n_derived;

// A call of a function by its row: what it must have; and with all that may be left out, each number and word
// another than usual.
static void derive(const equation_function *f, int all) {
    if (n_derived == DERIVED) fail_msg("more than %d calls are derived", DERIVED);
    char *to = derived[n_derived++];
    size_t n = (size_t)snprintf(to, CALL, "%s(", f->name);
    for (const function_argument *a = f->arguments; a->kind != ARGUMENT_END; a++) {
        const int must = (a->kind == ARGUMENT_TENSOR || a->kind == ARGUMENT_WEIGHT) && !a->optional;
        if (!must && (!all || a->fallback < 0)) continue;
        if (a > f->arguments) n += (size_t)snprintf(to + n, CALL - n, ", ");
        if (!must) n += (size_t)snprintf(to + n, CALL - n, "%s=", a->name);
        const char *word = a->kind == ARGUMENT_WORD ? strchr(a->words, '|') + 1 : "A";
        const double way = a->fallback < a->most ? 1 : -1;
        if (a->kind == ARGUMENT_WEIGHT)
            n += (size_t)snprintf(to + n, CALL - n, "%c#", (char)('a' + (a - f->arguments)));
        else if (a->kind == ARGUMENT_NUMBER || a->kind == ARGUMENT_REAL)
            n += (size_t)snprintf(to + n, CALL - n, "%g",
                                  a->fallback + (a->kind == ARGUMENT_REAL ? 0.25 : 1) * way);
        else
            n += (size_t)snprintf(to + n, CALL - n, "%.*s", (int)strcspn(word, "|"), word);
    }
    snprintf(to + n, CALL - n, f->gives ? ") @ n#[K + 1]" : ")");
}
// Of the functions that no template calls.
static void derive_calls(void) {
    for (const equation_function *f = equation_functions; f->name; f++) {
        char call[64];
        size_t i = 0;
        int more = 0;
        snprintf(call, sizeof call, "%s(", f->name);
        while (i < TEMPLATES && !strstr(templates[i], call)) i++;
        if (i < TEMPLATES) continue;
        for (const function_argument *a = f->arguments; a->kind != ARGUMENT_END; a++)
            more |= a->optional || a->kind > ARGUMENT_WEIGHT;
        for (int all = 0; all <= more; all++) derive(f, all);
    }
}
enum { LENGTH = 16, WIDTH = 8, HEADS = 2, MOST = 10, BODY = 600, TEXT = 8000 };
typedef struct {
    char body[BODY];
    size_t width;
    int used; // by a later line
} line;
typedef struct {
    line lines[MOST];
    size_t n;
} random_text;

static size_t below(smx_rng *r, size_t n) { return (size_t)(rng_uniform(r) * (double)n); }

// A tensor of that width: one that is there, or any through a fresh matrix.
static void write_tensor(random_text *t, smx_rng *r, size_t width, char *to, size_t size, size_t *fresh) {
    size_t fitting[MOST + 1], n = 0;
    if (width == WIDTH) fitting[n++] = MOST; // x
    for (size_t i = 0; i < t->n; i++)
        if (t->lines[i].width == width) fitting[n++] = i;
    const int matrix = !n || rng_uniform(r) < 0.3;
    const size_t from = matrix ? below(r, t->n + 1) : fitting[below(r, n)];
    const int is_x = matrix ? from == t->n : from == MOST;
    char name[16] = "x";
    if (!is_x) {
        snprintf(name, sizeof name, "t%zu", from);
        t->lines[from].used = 1;
    }
    if (matrix)
        snprintf(to, size, "(%s @ w%zu_%zu[%zu])", name, t->n, (*fresh)++, width);
    else
        snprintf(to, size, "%s", name);
}
static void draw_line(random_text *t, smx_rng *r, const char *c) {
    static const size_t widths[] = {WIDTH, WIDTH, 4, 12};
    line l = {.width = widths[below(r, 4)]};
    size_t n = 0, fresh = 0;
    for (; *c; c++) {
        char *to = l.body + n;
        const size_t size = sizeof l.body - n;
        if (*c == 'A' || *c == 'B' || *c == 'C')
            write_tensor(t, r, *c == 'A' ? l.width : *c == 'B' ? HEADS : 4, to, size, &fresh);
        else if (*c == '#')
            snprintf(to, size, "%zu", t->n);
        else if (*c == 'K')
            snprintf(to, size, "%zu", l.width - 1);
        else
            snprintf(to, size, "%c", *c);
        n += strlen(to);
    }
    t->lines[t->n++] = l;
}
static random_text draw(uint64_t seed, uint64_t i) {
    random_text t = {.n = 0};
    smx_rng r = rng_open(seed, RNG_EVAL, i);
    const size_t n = 1 + below(&r, 6);
    while (t.n < n) {
        const size_t which = below(&r, TEMPLATES + n_derived);
        draw_line(&t, &r, which < TEMPLATES ? templates[which] : derived[which - TEMPLATES]);
    }
    return t;
}
// As a text: results that nothing uses are added up in y.
static void write_text(const random_text *t, char *to) {
    int used[MOST] = {0}, terms = 0;
    char name[16], sum[2000] = "";
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < i; k++) {
            snprintf(name, sizeof name, "t%zu", k);
            const char *at = t->lines[i].body;
            while ((at = strstr(at, name)) != NULL) { // t1, not t12 or at1
                const char after = at[strlen(name)], before = at > t->lines[i].body ? at[-1] : ' ';
                if (!(after >= '0' && after <= '9') && strchr("( ,-=", before)) used[k] = 1;
                at++;
            }
        }
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const char *body = t->lines[i].body, *end = strrchr(body, '\n');
        const int before = end ? (int)(end + 1 - body) : 0;
        n += (size_t)snprintf(to + n, TEXT - n, "%.*st%zu = %s\n", before, body, i, body + before);
        if (used[i]) continue;
        snprintf(sum + strlen(sum), sizeof sum - strlen(sum), "%st%zu @ w_y%zu[%d]", terms++ ? " + " : "", i,
                 i, WIDTH);
    }
    snprintf(to + n, TEXT - n, "y = %s\n", sum);
}

// ---- Trying
// ---------------------------------------------------------------------------------------------------
static config *read_text(const char *text, smx_error *error) {
    char all[3 * TEXT + 200];
    size_t n = (size_t)snprintf(
        all, sizeof all, "mixer=equations&task=nar&length=%d&width=%d&heads=%d&eq=", LENGTH, WIDTH, HEADS);
    for (; *text; text++) n += (size_t)snprintf(all + n, sizeof all - n, "%%%02X", (unsigned char)*text);
    return config_parse(all, 0, error);
}

static void backwards(void *pool, size_t n, smx_piece piece, void *context) { // the pieces, from the last on
    (void)pool;
    while (n > 0) piece(context, --n);
}
static uint64_t hash(uint64_t h, const float *x, size_t n) {
    const unsigned char *bytes = (const unsigned char *)x;
    for (size_t i = 0; i < n * sizeof *x; i++) h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}
// Forward and backward of three sequences; the hash of y and all gradients, 0 where it cannot be built.
static uint64_t words(const config *c, int apart, smx_parallel_for parallel, const char *isa) {
    params p = {.seed = 0};
    smx_error error;
    if (smx_isa_choose(isa)) fail_msg("no %s", isa);
    const uint64_t env = smx_fpenv_enter();
    graph *g = graph_new(GRAPH_TRAIN, &p, 3, LENGTH);
    float *values = malloc(3 * LENGTH * WIDTH * sizeof *values);
    smx_rng r = rng_open(5, RNG_EVAL, 0);
    for (size_t i = 0; i < 3 * LENGTH * WIDTH; i++) values[i] = (float)rng_normal(&r);
    g->values = values;
    g->apart = apart;
    g->parallel = parallel;
    tensor *start = graph_param(g, "x", (init){INIT_NORMAL, 1}, 0, 2, (uint32_t[]){LENGTH, WIDTH});
    tensor *x = op_bias(g, op_values(g, WIDTH), start);
    tensor *y = equations_mixer(g, c, x, NULL);
    uint64_t h = 0;
    if (!g->failed && !params_create(&p, 1, &error) && !graph_plan(g, y, &error)) {
        graph_forward(g);
        h = hash(14695981039346656037u, y->data, y->n);
        for (size_t i = 0; i < y->n; i++) y->grad[i] = values[i];
        graph_backward(g);
        for (size_t i = 0; i < p.count; i++) h = hash(h, p.grad + p.list[i]->offset, p.list[i]->n);
    }
    graph_free(g);
    params_free(&p);
    free(values);
    smx_fpenv_leave(env);
    return h;
}

static const char *widest;
// Why the text fails, into `why`; 0: it does not.
static int fails(const char *text, char *why, size_t size) {
    static check_report r;
    smx_error error = {.message = ""};
    config *c = read_text(text, &error);
    if (!c) return snprintf(why, size, "%s", error.message), 1;
    int failed = 0;
    // A choice decided by a hair may fall otherwise in float32: a fault fails on every draw.
    for (uint64_t seed = 1; seed <= 3; seed++) {
        failed = 1;
        if (check_numbers(&r, c, LENGTH, seed, &error)) {
            snprintf(why, size, "%s", error.message);
            break;
        }
        if (r.computes && r.differentiates) {
            failed = 0;
            break;
        }
        for (size_t i = 0; i < r.n_rows; i++)
            if (!r.rows[i].fine)
                snprintf(why, size, "%s: float32 off by %.2g of %.2g, central differences by %.2g",
                         r.rows[i].name, r.rows[i].error, r.rows[i].allowed, r.rows[i].difference);
    }
    const uint64_t usual = failed ? 0 : words(c, 0, NULL, widest);
    if (!failed && (failed = words(c, 1, NULL, widest) != usual))
        snprintf(why, size, "sharing memory changes bits");
    if (!failed && (failed = words(c, 0, backwards, widest) != usual))
        snprintf(why, size, "the order of pieces changes bits");
    if (!failed && (failed = words(c, 0, NULL, "scalar") != usual))
        snprintf(why, size, "scalar and %s differ", widest);
    smx_isa_choose(widest);
    config_free(c);
    return failed;
}

// Lines become plain projections, then go, as long as the text still fails.
static void shrink(random_text *t) {
    char text[TEXT], why[400];
    for (size_t i = t->n; i-- > 0;) {
        random_text smaller = *t;
        snprintf(smaller.lines[i].body, BODY, "x @ s%zu[%zu]", i, smaller.lines[i].width);
        write_text(&smaller, text);
        if (fails(text, why, sizeof why)) *t = smaller;
    }
    for (size_t i = t->n; i-- > 0 && t->n > 1;) {
        random_text smaller = *t;
        smaller.n--; // the last line goes
        write_text(&smaller, text);
        if (!fails(text, why, sizeof why)) break;
        *t = smaller;
    }
}

static size_t number_of(const char *variable, size_t fallback) {
    const char *text = getenv(variable);
    return text && *text ? (size_t)strtoull(text, NULL, 10) : fallback;
}
static void texts_agree(void **state) {
    (void)state;
    const size_t n = number_of("SEQMIX_TEXTS", 300), seed = number_of("SEQMIX_TEXTS_SEED", 1);
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        char text[TEXT], why[400];
        random_text t = draw(seed, i);
        write_text(&t, text);
        if (!fails(text, why, sizeof why)) continue;
        failed++;
        shrink(&t);
        write_text(&t, text);
        fails(text, why, sizeof why);
        print_message("text %zu of seed %zu: %s\n%s\n", i, seed, why, text);
    }
    assert_int_equal(failed, 0);
}
// Each operation of the table is drawn: by some template, or as its row says, which is tried here by itself.
static void every_operation_is_drawn(void **state) {
    (void)state;
    for (size_t i = 0; i < n_derived; i++) {
        char text[TEXT], why[400];
        random_text t = {.n = 0};
        smx_rng r = rng_open(1, RNG_EVAL, i);
        draw_line(&t, &r, derived[i]);
        write_text(&t, text);
        if (fails(text, why, sizeof why))
            fail_msg("%s\n%s(a call of it that cannot be so belongs into `templates`)", why, text);
    }
}
int main(void) {
    widest = smx_isa();
    derive_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_drawn),
        cmocka_unit_test(texts_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
