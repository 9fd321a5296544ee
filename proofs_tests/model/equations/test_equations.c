// test_equations.c: mixers as text: each built-in's equations give the very words of its C builder, weights
// bear the same names, and a text that cannot be built is refused with the place and the reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/run.h>

#include "cli/texts/texts.h"
#include "model/audit/audit.h"
#include "model/audit/scan_texts.h"
#include "model/equations/functions.h"
#include "model/equations/syntax.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"
#include "proofs_tests/support/check.h"
#include "tasks/task.h"

#define QKV "q = x @ w_q\nk = x @ w_k\nv = x @ w_v\n"
#define CAT "q = conv(x @ w_q, filter_q)\nk = conv(x @ w_k, filter_k)\nv = conv(x @ w_v, filter_v)\n"
#define MULTI                                                                                                \
    "q = conv_heads(x @ w_q, filter_q)\nk = conv_heads(x @ w_k, filter_k)\nv = conv_heads(x @ w_v, filter_v)\n"
#define UNIT(f)                                                                                              \
    "q = unit_projection(x, w_q, filter_q)\nk = unit_projection(x, w_k, filter_k)\n" f                       \
    "\ny = attention(q, k, v) @ w_o"
#define CHELA                                                                                                \
    "q = affine(z, alpha_q, beta_q)\nk = affine(z, alpha_k, beta_k)\nv = silu(x @ w_v + b_v)\n"              \
    "g = silu(z @ w_g + b_g)\nm = linear_attention(q, k, v, normaliser=rms) * g\n"                           \
    "y = gate(sigmoid(z @ w_o + b_o), m, x)\n"
#define S4D_STARTS "start(log_dt, step, 1)\n"

// A built-in's config, and its equations.
static const struct {
    const char *config, *text;
} pairs[] = {
    {"mixer=attention", QKV "y = attention(q, k, v) @ w_o"},
    {"mixer=attention&chunk=7", QKV "y = attention(q, k, v, chunk=7) @ w_o"},
    {"mixer=attention&position=rope",
     "q = rope(x @ w_q)\nk = rope(x @ w_k)\ny = attention(q, k, x @ w_v) @ w_o"},
    {"mixer=attention&position=alibi", QKV "y = attention(q, k, v, decay=alibi) @ w_o"},
    {"mixer=cat", CAT "y = attention(q, k, v) @ w_o"},
    {"mixer=cat&filters=k", "y = attention(x @ w_q, conv(x @ w_k, filter_k), x @ w_v) @ w_o"},
    {"mixer=cat&filters=none", QKV "y = attention(q, k, v) @ w_o"},
    {"mixer=cat&filter_kind=multi_head", MULTI "y = attention(q, k, v) @ w_o"},
    {"mixer=cat&filter_kind=maps", QKV "y = attention_maps(q, k, v, filter_maps) @ w_o"},
    {"mixer=cat&filter_norm=qkv", UNIT("v = unit_projection(x, w_v, filter_v)")},
    {"mixer=cat&filter_norm=qk", UNIT("v = conv(x @ w_v, filter_v)")},
    {"mixer=lcat", QKV "m = landmark_keys(k)\ny = landmark_attention(q, k, v, m) @ w_o"},
    {"mixer=lcat&landmark=rho&dense_keys=filtered",
     QKV "m = landmark_keys(k, kind=rho, learns=yes)\ny = landmark_attention(q, m, v, m) @ w_o"},
    {"mixer=lincat", CAT "y = linear_attention(elu1(q), elu1(k), v) @ w_o"},
    {"mixer=linear", QKV "y = linear_attention(elu1(q), elu1(k), v) @ w_o"},
    {"mixer=linear&normaliser=rms", QKV "y = linear_attention(q, k, v, normaliser=rms) @ w_o"},
    {"mixer=linear&normaliser=none&tile=5", QKV "y = linear_attention(q, k, v, none, 5) @ w_o"},
    {"mixer=las&decay_range=2", QKV "y = attention(q, k, pool(v, 3), decay=exp, range=2) @ w_o"},
    {"mixer=las&pool=none&las_decay=none", QKV "y = attention(q, k, v) @ w_o"},
    {"mixer=las&pool=masked&las_decay=alibi_scaled",
     QKV "y = attention(q, k, v, decay=alibi_scaled, pool=3) @ w_o"},
    {"mixer=las&pool=trailing&chunk=7&decay_range=1",
     QKV "y = attention(q, k, pool(v, 3, chunk=7), decay=exp, chunk=7) @ w_o"},
    {"mixer=longconv", "y = gelu(longconv(x, conv_k, conv_skip)) @ w_o"},
    {"mixer=longconv&skip=0", "y = gelu(longconv(x, conv_k)) @ w_o"},
    {"mixer=s4d",
     "y = gelu(s4d(x, log_dt, log_a, a_im, c, skip)) @ w_o\n" S4D_STARTS
     "start(log_a, constant, -0.69314718055994530942)\nstart(a_im, count, 3.14159265358979323846)"},
    {"mixer=mamba",
     "u = silu(bias(conv_each(x @ w_x[32], conv_k[4]), conv_b))\n"
     "dt = softplus(u @ w_dt1[1] @ w_dt2[32] + b_dt)\n"
     "y = (selective_scan(u, dt, a_log, u @ w_b[16], u @ w_c[16], skip) * silu(x @ w_z[32])) @ w_o[16]\n"
     "start(conv_k, uniform, 0.5)\nstart(w_dt2, uniform, 1)\nstart(b_dt, step_plus)\nstart(a_log, log_count)"},
    {"mixer=chela&residual=1", "s = silu(conv_each(x, short_3[3]) + conv_each(x, short_n[5]))\n"
                               "z = longconv(s, conv_k, conv_skip)\n" CHELA "start(short_n, normal, 0.1)"},
    {"mixer=chela&residual=1&fused=1&skip=0", "z = longconv(silu(conv_each(x, short[5])), conv_k)\n" CHELA},
};

#define EXPERIMENT                                                                                           \
    "task=mqar&length=40&vocab=32&pairs=4&width=16&heads=2&blocks=2&mlp=2&norm=rms&batch=3&seed=5&"

// The value of a key of a config text, encoded, or NULL; in `to`.
static int is_mixers_own(const char *key) {
    for (const config_key *k = common_keys; k->name; k++)
        if (!strcmp(k->name, key)) return 0;
    for (const config_key *k = smx_task_find("mqar")->keys; k && k->name; k++)
        if (!strcmp(k->name, key)) return 0;
    return 1;
}
// The same experiment with a text for a mixer.
static void with_text(char *to, size_t size, const char *config, const char *text) {
    char copy[4096], *save = NULL;
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", config);
    for (char *pair = strtok_r(copy, "&", &save); pair; pair = strtok_r(NULL, "&", &save)) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        if (is_mixers_own(pair) || !strcmp(pair, "mixer")) continue;
        if (!strcmp(pair, "position")) value = "none"; // the text says what it does with positions
        n += (size_t)snprintf(to + n, size - n, "%s=%s&", pair, value);
    }
    n += (size_t)snprintf(to + n, size - n, "mixer=equations&eq=");
    for (; *text; text++) n += (size_t)snprintf(to + n, size - n, "%%%02X", (unsigned char)*text);
}

static smx_run *opened(const char *config) {
    smx_error error;
    smx_run *r = smx_run_open(config, &error);
    if (!r) fail_msg("%s", error.message);
    return r;
}

static void texts_give_the_builders_words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char config[512], same[16384];
        smx_error error;
        check_trying("%s", pairs[i].config);
        snprintf(config, sizeof config, EXPERIMENT "%s", pairs[i].config);
        smx_run *built = opened(config);
        with_text(same, sizeof same, smx_run_config(built), pairs[i].text);
        smx_run *told = opened(same);
        assert_int_equal(smx_run_step(built, 4, &error), 0);
        assert_int_equal(smx_run_step(told, 4, &error), 0);
        size_t n, m;
        const float *a = smx_run_losses(built, &n), *b = smx_run_losses(told, &m);
        assert_int_equal(n, m);
        if (memcmp(a, b, n * sizeof *a)) fail_msg("other losses: %s", config);
        assert_true(smx_run_digest(built) == smx_run_digest(told));
        for (size_t t = 0; t < smx_run_tensor_count(built); t++) {
            smx_tensor mine, theirs;
            smx_run_tensor_at(built, t, &mine);
            if (mine.is_weight) assert_int_equal(smx_run_tensor(told, mine.name, &theirs, &error), 0);
        }
        smx_run_close(built);
        smx_run_close(told);
    }
}

// Steps of both on few sequences: the same loss words and, at the end, the same bits of state.
static void judge_same_run(const char *config, const char *same) {
    smx_error error;
    size_t n, m;
    smx_run *built = opened(config), *told = opened(same);
    assert_int_equal(smx_run_step(built, 2, &error), 0);
    assert_int_equal(smx_run_step(told, 2, &error), 0);
    const float *a = smx_run_losses(built, &n), *b = smx_run_losses(told, &m);
    assert_int_equal(n, m);
    if (memcmp(a, b, n * sizeof *a)) fail_msg("other losses: %s", same);
    assert_true(smx_run_digest(built) == smx_run_digest(told));
    smx_run_close(built);
    smx_run_close(told);
}
// Every mixer in every mode that it names, as `seqmix equations CONFIG --config` gives it; and how far ahead
// it says it sees.
static void printed_texts_train_the_same_run(void **state) {
    (void)state;
    size_t runs = 0;
    for (size_t i = 0; mixers[i]; i++) {
        char config[1024], text[8192];
        for (size_t mode = 0; audit_mode(config, sizeof config, mixers[i]->name, mode); mode++, runs++) {
            smx_error error = {.message = ""};
            strcat(config, "&blocks=2&mlp=2&batch=2&seed=5");
            check_trying("%s", config);
            struct smx_config *c = config_parse(config, 0, &error), *as_text;
            assert_non_null(c);
            if (cli_text(text, sizeof text, c, &error)) { // what no text can say
                if (!strstr(error.message, "cannot say") || strcmp(mixers[i]->name, "hyena"))
                    fail_msg("%s", error.message);
                config_free(c);
                continue;
            }
            char *same = cli_text_config(c, text, mixers[i]->has_residual && mixers[i]->has_residual(c));
            judge_same_run(config, same);
            as_text = config_parse(same, 0, &error);
            assert_non_null(as_text);
            assert_int_equal(mixer_lookahead(as_text, 48), mixer_lookahead(c, 48));
            assert_int_equal(mixer_lookahead(as_text, 96), mixer_lookahead(c, 96));
            config_free(as_text);
            config_free(c);
            free(same);
        }
    }
    assert_in_range(runs, 60, 1000);
}

// Every operation's example is a text that trains, and its row says all that readers are told.
static void examples_train(void **state) {
    (void)state;
    for (const equation_function *f = equation_functions; f->name; f++) {
        char config[4096];
        smx_error error;
        check_trying("%s", f->name);
        assert_true(f->help && f->formula && f->cost && f->example && f->twin);
        assert_non_null(strstr(f->example, f->name));
        with_text(config, sizeof config, "task=mqar&length=16&vocab=8&pairs=2&width=8&heads=2&batch=2",
                  f->example);
        smx_run *r = opened(config);
        if (smx_run_step(r, 2, &error)) fail_msg("%s", error.message);
        smx_run_close(r);
    }
}

// A number alone on its line is a key of the config: its value reaches the text, and other names are refused
// with the nearest.
static void numbers_are_keys(void **state) {
    (void)state;
#define KEYED                                                                                                \
    "mixer=equations&task=mqar&length=40&width=16&heads=2&batch=2&eq=taps = %s%%0Ay = attention(x @ w_q, conv(x @ w_k, f[taps]), x) @ w_o"
    char config[512], same[512];
    smx_error error;
    snprintf(config, sizeof config, KEYED "&taps=5", "3");
    snprintf(same, sizeof same, KEYED, "5");
    judge_same_run(config, same);
    smx_run *r = opened(config);
    assert_non_null(strstr(smx_run_config(r), "&taps=5"));
    smx_tensor f;
    assert_int_equal(smx_run_tensor(r, "block0.mixer.f", &f, &error), 0);
    assert_int_equal(f.shape[1], 5);
    smx_run_close(r);
    static const struct {
        const char *change, *sentence;
    } refused[] = {{"&tap=5", "there is no key tap (value 5); the nearest is taps"},
                   {"&taps=x", "taps=x is not allowed: taps must be a number"},
                   {"&taps=0", "eq, line 2, column 38: f[0]: the size must be a whole number from 1"},
                   {"&mixer=cat&taps=5", "there is no key taps"}};
    for (size_t i = 0; i < CHECK_COUNT(refused); i++) {
        snprintf(config, sizeof config, KEYED "%s", "3", refused[i].change);
        check_trying("%s", config);
        assert_null(smx_run_open(config, &error));
        if (strncmp(error.message, refused[i].sentence, strlen(refused[i].sentence)))
            fail_msg("says: %s", error.message);
    }
    assert_null(smx_run_open("mixer=equations&eq=heads = 4%0Ay = x @ w", &error));
    assert_string_equal(error.message, "eq: heads = 4 needs another name: there is a key heads already");
    // A key of another mixer's gives way.
    r = opened("mixer=equations&task=nar&eq=window = 4%0Ay = pool(x, window) @ w&window=2");
    smx_run_close(r);
}

// Lines below an if are there for one value of a key, in a scan and outside; a key with words has the first
// by itself.
static void ifs_ask_for_keys(void **state) {
    (void)state;
#define ASKING                                                                                                                \
    "form = plain | soft%0Atwice = 0 | 1%0Ak = x @ w_k%0Aif twice%0A  k = 2 * k%0A"                                           \
    "scan h[k] over k%0A if form=soft%0A    e = tanh(k)%0A    h = tanh(h)%0A if form=plain%0A    e = k%0A h = 0.5 * h + e%0A" \
    "y = h @ w_o"
    static const struct {
        const char *change, *plain;
    } same[] = {
        {"", "k = x @ w_k%0Ascan h[k] over k%0A e = k%0A h = 0.5 * h + e%0Ay = h @ w_o"},
        {"&form=plain&twice=0", "k = x @ w_k%0Ascan h[k] over k%0A e = k%0A h = 0.5 * h + e%0Ay = h @ w_o"},
        {"&form=soft",
         "k = x @ w_k%0Ascan h[k] over k%0A e = tanh(k)%0A h = tanh(h)%0A h = 0.5 * h + e%0Ay = h @ w_o"},
        {"&twice=1", "k = x @ w_k%0Ak = 2 * k%0Ascan h[k] over k%0A e = k%0A h = 0.5 * h + e%0Ay = h @ w_o"}};
    for (size_t i = 0; i < CHECK_COUNT(same); i++) {
        char config[1024], other[1024], text[4096];
        smx_error error = {.message = ""};
        static const char base[] = "mixer=equations&task=mqar&length=40&width=16&heads=2&batch=2&eq=";
        snprintf(config, sizeof config, "%s%s%s", base, ASKING, same[i].change);
        snprintf(other, sizeof other, "%s%s", base, same[i].plain);
        check_trying("%s", config);
        judge_same_run(config, other);
        // And so does the text without ifs that is made of it.
        struct smx_config *c = config_parse(config, 0, &error);
        assert_non_null(c);
        assert_int_equal(cli_text_plain(text, sizeof text, c, &error), 0);
        assert_null(strstr(text, "if "));
        assert_null(strstr(text, "form"));
        char *told = cli_text_config(c, text, 0);
        judge_same_run(config, told);
        free(told);
        config_free(c);
    }
    smx_error error;
    assert_null(smx_run_open("mixer=equations&task=mqar&eq=" ASKING "&form=hard", &error));
    assert_string_equal(error.message, "form=hard is not allowed: form must be one of plain, soft");
}

// A number has its sign, point and power: in a text it is what it is as a key, and no two are the same.
static void numbers_are_what_they_say(void **state) {
    (void)state;
#define SCALED                                                                                               \
    "mixer=equations&task=cumsum&length=12&width=8&blocks=1&batch=2&warmup=0&eq=a = %s%%0Ay = (a * x) @ w%s"
    static const char *const numbers[] = {"2", "-2", "0.25", "-0.25", "25e-3", "-25e-3", "1e2", "1E1", "20"};
    uint64_t digests[CHECK_COUNT(numbers)];
    for (size_t i = 0; i < CHECK_COUNT(numbers); i++) {
        char config[512], same[512], key[32];
        smx_error error;
        snprintf(key, sizeof key, "&a=%s", numbers[i]);
        snprintf(config, sizeof config, SCALED, numbers[i], "");
        snprintf(same, sizeof same, SCALED, "7", key);
        judge_same_run(config, same);
        smx_run *r = opened(config);
        assert_int_equal(smx_run_step(r, 3, &error), 0);
        digests[i] = smx_run_digest(r);
        for (size_t j = 0; j < i; j++)
            if (digests[i] == digests[j]) fail_msg("%s trains as %s", numbers[i], numbers[j]);
        smx_run_close(r);
    }
}

// Blanks may stand between any two words, numbers and signs of a line, and mean nothing.
static size_t token_size(const char *at) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    char *end;
    if (isdigit((unsigned char)*at) || *at == '.') return strtod(at, &end), (size_t)(end - at);
    const size_t word = strspn(at, letters);
    return word ? word : 1 + !strncmp(at, "**", 2);
}
static void spaced(char *to, const char *text, const char *blanks) {
    for (const char *at = text; *at;) {
        for (; *at == ' '; at++) *to++ = *at; // a line's indentation is no blank
        for (int was_word = 0; *at && *at != '\n';) {
            const size_t n = *at == '#' ? strcspn(at, "\n") : token_size(at);
            const int is_word = isalnum((unsigned char)*at) || *at == '_' || *at == '.';
            if (was_word && is_word && !*blanks) *to++ = ' ';
            memcpy(to, at, n);
            to = stpcpy(to + n, blanks);
            was_word = is_word;
            at += n + strspn(at + n, " ");
        }
        if (*at) *to++ = *at++;
    }
    *to = 0;
}
static int same_nodes(const equation_node *a, const equation_node *b) {
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || strcmp(a->name, b->name) || strcmp(a->key, b->key) ||
            memcmp(&a->number, &b->number, sizeof a->number) || !same_nodes(a->first, b->first))
            return 0;
    return !a && !b;
}
static void judge_spaced(const char *text) {
    static const char *const blanks[] = {"", " ", "\t", "  \t "};
    static equations as_it_is, other;
    static char to[8 * EQUATION_TEXT];
    smx_error e;
    if (equations_parse(&as_it_is, text, NULL, &e)) fail_msg("%s: %s", text, e.message);
    for (size_t i = 0; i < CHECK_COUNT(blanks); i++) {
        spaced(to, text, blanks[i]);
        if (strlen(to) >= EQUATION_TEXT) continue;
        if (equations_parse(&other, to, NULL, &e)) fail_msg("%s: %s", to, e.message);
        int same = as_it_is.n_lines == other.n_lines;
        for (size_t l = 0; same && l < other.n_lines; l++) {
            const equation_line *x = &as_it_is.lines[l], *y = &other.lines[l];
            same = !strcmp(x->name, y->name) && x->kind == y->kind && x->by == y->by &&
                   x->depth == y->depth && same_nodes(x->value, y->value) && same_nodes(x->over, y->over);
        }
        if (!same) fail_msg("other equations: %s", to);
    }
}
static void blanks_mean_nothing(void **state) {
    (void)state;
    judge_spaced("# all signs\na = p|q\nr = 2\nif a = p\n  u = (x)@w[2*width]\nif a=q\n  u = x@w[2*width]\n"
                 "t = ((-u[width:]**2)+(u[:width]^2*1.5e-1)/r)-.5\n"
                 "scan S[k][v], h over shared s, grouped(k, heads), v by heads\n"
                 "  repeat j in 2\n    S = power(S, 2)@diag(part(k, j))\n  h = S\n"
                 "y = attention(t, x, x, causal=no, chunk=7)@w_o\nstart(w, normal, 1e-3)");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) judge_spaced(pairs[i].text);
    for (size_t i = 0; i < SCAN_TEXTS; i++) judge_spaced(scan_texts[i]);
}

// A text that something is wrong with, and the beginning of what is said of it.
static const struct {
    const char *text, *sentence;
} wrong[] = {
    {"", "eq holds no equation"},
    {"# nothing", "eq holds no equation"},
    {"y = x @", "eq, line 1, column 8: unexpected end of the line: expected a name, a number or '('"},
    {"y = (x", "eq, line 1, column 7: unexpected end of the line: expected ')'"},
    {"y = x $ 2",
     "eq, line 1, column 7: unexpected '$': expected an operator (@: matrix product) or the end of the line"},
    {"y = x\xff", "eq, line 1, column 6: unexpected byte 255"},
    {"y = 1..2 * x", "eq, line 1, column 5: unexpected '1': expected a number"},
    {"if a\n y = x",
     "eq, line 1, column 4: if a: above it stands a = 1 or a = this | that, a key of the text, and behind if one of its words"},
    {"a = p | q\nif a\n y = x", "eq, line 2, column 4: if a: above it stands a = 1 or a = this | that"},
    {"a = p | q\nif a=r\n y = x", "eq, line 2, column 4: if a=r: above it stands a = 1 or a = this | that"},
    {"a = 1\nif a=1\n y = x", "eq, line 2, column 4: if a=1: above it stands"},
    {"a = p | p\ny = x", "eq, line 1, column 9: p stands there twice"},
    {"a = p |\ny = x", "eq, line 1, column 8: unexpected end of the line: expected a word"},
    {"a = p | q\ny = x", "eq, line 1, column 1: nothing uses a"},
    {"a = 1\nif a\ny = x", "eq, line 2, column 1: nothing stands in this if"},
    {"a = 1\nif a\n  if a\n   y = x", "eq, line 3, column 6: an if cannot stand below an if"},
    {"a = 1\nif a\n  b = 3\ny = x", "eq, line 3, column 3: the key b cannot stand below an if"},
    {"a = 0\nif a\n  scan h over x\ny = x", "eq, line 3, column 3: nothing stands in this scan"},
    {"a = 1\nif a\n    y = x\n  z = x", "eq, line 4, column 3: this line is indented unlike those before it"},
    // (of lines that are left out, too)
    {"a = 0\ny = x\nif a\n  y = x x", "eq, line 4, column 9: unexpected 'x': expected an operator"},
    {"scan h over x\n a = p | q\ny = x", "eq, line 2, column 2: a key with words cannot stand in a scan"},
    {"y = layernorm(x, g, b, eps=2)", "eq, line 1, column 28: eps must be a number from 0 to 1"},
    {"y = atention(x, x, x)",
     "eq, line 1, column 5: there is no function atention; the nearest is attention"},
    {"q = x @ w_q\ny = qq",
     "eq, line 2, column 5: qq was not assigned, and no weight can stand here; the nearest name is q"},
    {"y = x * w",
     "eq, line 1, column 9: w was not assigned, and no weight can stand here; the nearest name is x (@ is the product with a "
     "matrix, conv a filter, * w[width] a gain)"},
    {"y = -att",
     "eq, line 1, column 6: att was not assigned, and no weight can stand here; the nearest name is attention"},
    {"y = att(x, x, x)", "eq, line 1, column 5: there is no function att; the nearest is attention"},
    // Of equally near names the first: assigned, or in the list of functions.
    {"qa = x @ w_q\nqb = x @ w_k\ny = qc + qa + qb",
     "eq, line 3, column 5: qc was not assigned, and no weight can stand here; the nearest name is qa"},
    {"qb = x @ w_q\nqa = x @ w_k\ny = qc + qa + qb",
     "eq, line 3, column 5: qc was not assigned, and no weight can stand here; the nearest name is qb"},
    {"y = softmax(x @ k)",
     "eq, line 1, column 5: there is no function softmax; the nearest is softmax_heads(x), or attention(q, k, v), which"},
    {"y = sum(x)",
     "eq, line 1, column 5: there is no function sum; the nearest is sum_heads(x), or cumsum(x)"},
    {"y = x; z = y",
     "eq, line 1, column 6: unexpected ';': expected an operator (@: matrix product) or the end of the "
     "line; each equation has a line of its own"},
    {"y = x \xc3\x97 x",
     "eq, line 1, column 7: unexpected byte 195: expected an operator (@: matrix product) or the "
     "end of the line; * is the product entry by entry, @ that with a matrix"},
    {"y = x.T @ w",
     "eq, line 1, column 6: unexpected '.': expected an operator (@: matrix product) or the end of the line"
     "; only a scan transposes"},
    {"y = torch.relu(x)",
     "eq, line 1, column 10: unexpected '.': expected an operator (@: matrix product) or the end of the "
     "line; functions have no prefix"},
    {"y = x[:, :8]", "eq, line 1, column 8: unexpected ',': expected ']' (x[:8] is of all rows)"},
    {"y = q * x\nq = x @ w", "eq, line 1, column 5: q is assigned below, in line 2"},
    {"y = gla(x, x, x, gates=sigmoid(x))", "eq, line 1, column 24: gates are logarithms, at most 0"},
    {"g = softplus(x)\ny = gla(x, x, x, gates=g)", "eq, line 2, column 24: gates are logarithms, at most 0"},
    {"k = (x + x) w_k",
     "eq, line 1, column 13: unexpected 'w': expected an operator (@: matrix product) or the end"},
    {"k = (x) (x)", "eq, line 1, column 9: unexpected '(': expected an operator (@: matrix product) or"},
    {"y = x[3:3]", "eq, line 1, column 7: columns are whole numbers from 0 to 16"},
    {"y = x[1:17]", "eq, line 1, column 7: columns are whole numbers from 0 to 16"},
    {"y = (x)[1]", "eq, line 1, column 10: unexpected ']': expected ':' (x[0:4] has the columns"},
    {"y = x ** ", "eq, line 1, column 10: unexpected end of the line: expected a name, a number or '('"},
    {"y = x * s", "eq, line 1, column 9: s was not assigned, and no weight can stand here"},
    {"y = x * s[8]", "eq, line 1, column 7: the sides are 16 and 8 wide"},
    {"y = x * sigmoid(x @ w[heads])",
     "eq, line 1, column 7: the sides are 16 and 2 wide; they must be alike; per_head(s) has a column for each"},
    {"y = x * s[16] * s[16]", "eq, line 1, column 17: s is a tensor: only a new weight takes a size"},
    {"y = x / 0", "eq, line 1, column 7: a division by 0"},
    {"y = conv(x, x)", "eq, line 1, column 13: filter must be the name of a weight"},
    {"y = conv(x, f[3], future=3)", "eq, line 1, column 5: conv: future must be below the 3 taps"},
    {"y = conv(bin_max(x), f)", "eq, line 1, column 5: conv: x has no row for each row of x"},
    {"y = columns(x, 10, 7)", "eq, line 1, column 5: columns: columns up to 16 of 16"},
    {"y = delta(x, x, x, x)", "eq, line 1, column 5: delta: beta must have a column a head"},
    {"y = resonate(x, coefficients(bin_max(x)))", "eq, line 1, column 17: coefficients: it takes pairs"},
    {"y = bin_max(x, 7)", "eq, line 1, column 5: bin_max: bin=7 does not divide the length"},
    {"a = 1\na = 2\ny = x * a", "eq, line 2, column 1: a is assigned already"},
    {"y = x @ w[0.5]", "eq, line 1, column 9: w[0.5]: the size must be a whole number"},
    {"y = x @ w[48]", "eq, line 1, column 1: the result is 48 wide; it must be as wide as x, 16"},
    {"u = x @ w[48]\ny = x + u", "eq, line 2, column 7: the sides are 16 and 48 wide"},
    {"y = join(x, bin_max(x)) @ w", "eq, line 1, column 5: join: a and b must have the same rows"},
    {"y = x - b_o", "eq, line 1, column 9: b_o is a bias: it is added"},
    {"y = 3", "eq, line 1, column 1: the result is a number"},
    {"x = x @ w", "eq, line 1, column 1: x is the input"},
    {"conv = x @ w", "eq, line 1, column 1: conv is a function"},
    {"u = x @ w_u\ny = x @ w_o", "eq, line 1, column 1: nothing uses u"},
    {"y = attention(x, x)", "eq, line 1, column 5: attention is missing argument v"},
    {"y = attention(x, x, x, x)", "eq, line 1, column 24: decay must be one of none|exp|alibi|alibi_scaled"},
    {"y = attention(x, x, x, window=3)", "eq, line 1, column 31: attention has no argument window"},
    {"y = attention(x, x, x, chunk=-1)", "eq, line 1, column 30: chunk must be a whole number"},
    {"y = attention(x, x, x, chunk=0.5)", "eq, line 1, column 30: chunk must be a whole number"},
    {"y = attention(q=x, k=x, v=x, q=x)", "eq, line 1, column 32: q is given twice"},
    {"y = attention(x, x, x, pool=2)", "eq, line 1, column 5: attention: pool must be odd"},
    {"y = attention(x @ w[15], x @ u[15], x @ v[15]) @ w_o[16]",
     "eq, line 1, column 5: attention: heads=2 does not divide"},
    {"y = gelu(x, x)", "eq, line 1, column 13: gelu takes 1 arguments"},
    {"start(w, normal, 1)\ny = x @ v", "eq, line 1, column 7: there is no weight w"},
    {"start(w, gauss, 1)\ny = x @ w", "eq, line 1, column 10: a weight cannot start as gauss"},
    {"start(w)\ny = x @ w", "eq, line 1, column 1: start takes a weight, a kind and a number"},
    {"y = x @ a_name_that_is_too_long",
     "eq, line 1, column 9: the name a_name_that_is_too_long has 23 letters; at most 16"},
    {"y = conv(x @ w[8], f[3]) @ w[8]", "weight block0.mixer.w is 16 x 8"},
};

static void what_is_wrong_is_said(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char config[1024];
        smx_error error = {.message = ""};
        check_trying("%s", wrong[i].text);
        with_text(config, sizeof config, "task=mqar&width=16&heads=2", wrong[i].text);
        smx_run *r = smx_run_open(config, &error);
        if (r) fail_msg("opened");
        if (!strncmp(error.message, wrong[i].sentence, strlen(wrong[i].sentence))) continue;
        fail_msg("says: %s", error.message);
    }
}

// What people type who come from a paper or another language, and how what is said of it ends: with what
// stands here in its place.
static const struct {
    const char *text, *hint;
} typed[] = {
    {"y = x * gain",
     "gain is a function: gain(...) (@ is the product with a matrix, conv a filter, * w[width] a gain)"},
    {"y = x^0.5",
     "a power must be a whole number from 1 to 64; sqrt(x) is a root, 1 / x the power -1, exp(-softplus(-z) / n) "
     "the n-th root of sigmoid(z)"},
    {"y = x ** -1",
     "; sqrt(x) is a root, 1 / x the power -1, exp(-softplus(-z) / n) the n-th root of sigmoid(z)"},
    {"y = max(x, 0)",
     "b is a number; it must be a tensor; max(x, 0) is relu(x), 0 * x + 2 is a tensor of twos"},
    {"y = x @ x",
     "right of @ stands the name of a weight; x is a tensor (two tensors meet in attention, in sum_heads(a * b) or in a scan)"},
    {"y = x @ w(8)", "right of @ stands the name of a weight, perhaps with its columns: x @ w[8]"},
    {"y = w @ x", "column 5: the weight stands right of @: x @ w"},
    {"\xce\xb2 = x @ w", "Greek letters are spelt: beta"},
    {"y = x @ w_\xce\xb8", "Greek letters are spelt: theta"},
    {"y = \xcf\x83(x)", "Greek letters are spelt: sigma"},
    {"y = \xcf\x89 * x", "Greek letters are spelt: omega"},
    {"y = \xce\xa3 x", "Greek letters are spelt: sigma"},
    {"y = \xcf\x95 x", "Greek letters are spelt: phi, epsilon"},
    {"h = x\nh += x", "; a line is name = value, h = h + x for h += x"},
    {"y == x @ w", "; a line is name = value, h = h + x for h += x"},
    {"def f(x):", "; a product needs @ or *, and there is no def, return or for"},
    {"return x @ w", "; a product needs @ or *, and there is no def, return or for"},
    {"y = 2x", "; a product needs @ or *, and there is no def, return or for"},
    {"f(x):", "; lines have no colons, and a text defines no functions"},
    {"y = x[0]", "x[0:4] has columns, shift(x, 1) the row before"},
    {"y = [x, x]", "; join(a, b) has the columns of both"},
    {"y = sqrt(relu(x)) > 0", "; nothing is compared: max(a, b), relu(x), in a scan select(c, a, b)"},
    {"y = x // 2", "; # begins a comment"},
    {"// the mixer", "; # begins a comment"},
    {"y = |x|", "; abs(x)"},
    {"h = a * h_{t-1} + x", "; names have letters, digits and _; shift(x, 1) is the row before"},
    {"y = x'", "; only a scan transposes: transpose(S)"},
    {"y = x^T @ x", "column 7: only a scan transposes: transpose(S)"},
    {"y = x\xc2\xb3", "; powers are x^2, x^3"},
    {"y = x \xe2\x88\x98 x", "; * is the product entry by entry, @ that with a matrix"},
    {"y = x \xe2\x8a\x97 x", "; in a scan outer(a, b)"},
    {"y = \xe2\x88\x91 x", "; sum_heads(x), or cumsum(x) over the rows"},
    {"y = y + x",
     "y is what this line assigns; its value of the row before is a scan's state, shift(x, 1) is that of x"},
    {"y = x @ w + b", "the nearest name is x (a bias begins with b_: x + b_o)"},
    {"y = cat(x, x)", "the nearest is join(a, b)"},
    {"y = matmul(x, w)", "the nearest is x @ w, or attention and sum_heads(a * b) of two tensors"},
    // (two of its three letters are not those of cos)
    {"y = foo(x)", "there is no function foo"},
    {"y = norm(x)", "the nearest is unitnorm_heads(x)"},
    {"y = x - ones(16)", "the nearest is 0 * x + 1"},
    {"y = flip(x)", "the nearest is reverse(x)"},
    {"y = clamp(x, 0, 1)", "the nearest is max(a, b)"},
    {"scan h[x] over x\n h += x\ny = h", "; a line is name = value, h = h + x for h += x"},
    {"scan h[x] over x\n h = h[t-1] + x\ny = h", "; a state holds the row before, part(k, j, n) has columns"},
    {"scan h[x] over x\n h = h + x^0.5\ny = h",
     "; sqrt(x) is a root, 1 / x the power -1, exp(-softplus(-z) / n) the n-th root of sigmoid(z)"},
    {"scan h[x] over x\n h = h + gelu(x)\ny = h",
     "a scan has no function gelu: it stands in a line above; the nearest is relu"},
};
static void what_was_meant_is_said(void **state) {
    (void)state;
    for (size_t i = 0; i < CHECK_COUNT(typed); i++) {
        char config[1024];
        smx_error error = {.message = ""};
        check_trying("%s", typed[i].text);
        with_text(config, sizeof config, "task=mqar&width=16&heads=2", typed[i].text);
        smx_run *r = smx_run_open(config, &error);
        if (r) fail_msg("opened");
        const size_t said = strlen(error.message), hint = strlen(typed[i].hint);
        if (said < hint || strcmp(error.message + said - hint, typed[i].hint))
            fail_msg("says: %s", error.message);
    }
}

static int parsed(const char *text) {
    smx_error error;
    equations *e = malloc(sizeof *e);
    const int status = equations_parse(e, text, NULL, &error);
    free(e);
    return status;
}
// The sizes of the language, at their edges.
static void limits_are_held(void **state) {
    (void)state;
    char *text = malloc(EQUATION_TEXT + 2);
    memset(text, ' ', EQUATION_TEXT + 1);
    text[0] = 'x', text[EQUATION_TEXT] = 0;
    assert_int_equal(parsed(text), 0);
    text[EQUATION_TEXT] = ' ', text[EQUATION_TEXT + 1] = 0;
    assert_int_equal(parsed(text), -1);
    for (int deep = EQUATION_DEPTH - 1; deep <= EQUATION_DEPTH; deep++) {
        memset(text, '(', (size_t)deep);
        text[deep] = 'x';
        memset(text + deep + 1, ')', (size_t)deep);
        text[2 * deep + 1] = 0;
        assert_int_equal(parsed(text), deep < EQUATION_DEPTH ? 0 : -1);
    }
    memset(text, '-', 5000);
    strcpy(text + 5000, "x");
    assert_int_equal(parsed(text), -1);
    for (int lines = EQUATION_LINES; lines <= EQUATION_LINES + 1; lines++) {
        text[0] = 0;
        for (int i = 0; i < lines; i++) strcat(text, "x\n");
        assert_int_equal(parsed(text), lines == EQUATION_LINES ? 0 : -1);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_give_the_builders_words),
        cmocka_unit_test(printed_texts_train_the_same_run),
        cmocka_unit_test(examples_train),
        cmocka_unit_test(numbers_are_keys),
        cmocka_unit_test(ifs_ask_for_keys),
        cmocka_unit_test(numbers_are_what_they_say),
        cmocka_unit_test(blanks_mean_nothing),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(what_was_meant_is_said),
        cmocka_unit_test(limits_are_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
