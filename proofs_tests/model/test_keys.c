// test_keys.c: no key is without effect: of each key of every mixer, every task and the common table there
// are two values after which a short training, or its evaluation, is another; of a key with words each word
// can be run, and differs from each that can be run in its place. Where a key acts only beside another one,
// that one is changed as well.
#include "proofs_tests/support/check.h"

#include <seqmix/run.h>

#include "model/audit/audit.h"
#include "model/mixers/mixer.h"
#include "tasks/task.h"

// In what the keys of a table are tried, one after the other until a difference is found: configs to which
// "&key=value" is added.
enum { MOST_CONTEXTS = 64, MOST_WORDS = 16, TEXT = 1200 };
typedef struct {
    char text[MOST_CONTEXTS][TEXT];
    size_t n;
} contexts;

static __attribute__((format(printf, 2, 3))) void add_context(contexts *c, const char *format, ...) {
    va_list arguments;
    assert_true(c->n < MOST_CONTEXTS);
    va_start(arguments, format);
    assert_true(vsnprintf(c->text[c->n++], TEXT, format, arguments) < TEXT);
    va_end(arguments);
}

static uint64_t mixed(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}
// Weights after some steps and what an evaluation says; 0 where the config cannot be run.
static uint64_t result_of(const char *config) {
    smx_error e = {0};
    smx_run *run = smx_run_open(config, &e);
    uint64_t h = 0;
    smx_evaluation found;
    if (run && !smx_run_step(run, 4, &e) && !smx_run_evaluate(run, 8, 0, &found, &e)) {
        h = smx_run_digest(run);
        h = mixed(h, &found.loss, sizeof found.loss);
        h = mixed(h, &found.accuracy, sizeof found.accuracy);
    }
    smx_run_close(run);
    return h;
}
static uint64_t with(const char *context, const char *key, const char *value) {
    char text[TEXT + 128];
    assert_true(snprintf(text, sizeof text, "%s&%s=%s", context, key, value) < (int)sizeof text);
    return result_of(text);
}

// The words of a key, or numbers about its fallback.
static size_t values_of(const config_key *k, char values[MOST_WORDS][32]) {
    size_t n = 0;
    if (k->choices) {
        for (const char *at = k->choices; at && n < MOST_WORDS; at = strchr(at, '|')) {
            at += *at == '|';
            snprintf(values[n++], 32, "%.*s", (int)strcspn(at, "|"), at);
        }
        return n;
    }
    const double x = atof(k->fallback);
    const double tried[] = {x, 2 * x, x / 2, x + 1, x + 2, x - 1, 0.25, 0.01, 4, 8, 1, 3, 0};
    for (size_t i = 0; i < CHECK_COUNT(tried); i++) {
        if (!(tried[i] >= k->min && tried[i] <= k->max)) continue;
        if (k->type == KEY_INT && tried[i] != floor(tried[i])) continue;
        snprintf(values[n++], 32, "%.9g", tried[i]);
    }
    return n;
}
// Of these a training's words know nothing, or not on every machine.
static const char *const without_effect[] = {"v", "threads", "fast", "recompute"};

// Words that choose what another word is by the length or by another key, and of mixers that refuse one.
static const char *const same_as_another[] = {"input=auto", "test=same"}, *const refused[] = {
                                                                              "lincat filter_kind=maps"};
static int is_listed(const char *const *list, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], text)) return 1;
    return 0;
}

static void try_key(const char *of, const config_key *k, const contexts *in, size_t *tried) {
    if (is_listed(without_effect, CHECK_COUNT(without_effect), k->name)) return;
    if (k->type == KEY_TEXT || k->type == KEY_LINES || (k->choices && *k->choices == '@')) return;
    char values[MOST_WORDS][32];
    const size_t n = values_of(k, values);
    // together: in so many contexts both could be run; apart: in one of them they differed.
    int together[MOST_WORDS][MOST_WORDS] = {{0}}, apart[MOST_WORDS][MOST_WORDS] = {{0}},
        opened[MOST_WORDS] = {0};
    int any = 0, left = 1;
    ++*tried;
    for (size_t c = 0; c < in->n && left; c++) {
        uint64_t seen[MOST_WORDS];
        left = 0;
        for (size_t i = 0; i < n && (k->choices || !any); i++) {
            opened[i] |= (seen[i] = with(in->text[c], k->name, values[i])) != 0;
            for (size_t j = 0; j < i; j++) {
                together[i][j] |= seen[i] && seen[j];
                apart[i][j] |= seen[i] && seen[j] && seen[i] != seen[j];
                any |= apart[i][j];
                left |= !apart[i][j];
            }
        }
        if (!k->choices) left = !any;
    }
    check_trying("%s: %s", of, k->name);
    if (!any && !k->choices) check_fail("makes no difference between any two of its %zu values", n);
    for (size_t i = 0; k->choices && i < n; i++) {
        char word[96];
        snprintf(word, sizeof word, "%s %s=%s", of, k->name, values[i]);
        if (is_listed(refused, CHECK_COUNT(refused), word) || strstr(values[i], "mnist")) continue; // files
        if (!opened[i]) check_fail("%s is run in no context", values[i]);
        for (size_t j = 0; j < i; j++) {
            snprintf(word, sizeof word, "%s=%s", k->name, values[j]);
            if (together[i][j] && !apart[i][j] &&
                !is_listed(same_as_another, CHECK_COUNT(same_as_another), word))
                check_fail("%s and %s make no difference", values[j], values[i]);
        }
    }
}
// Contexts in which every other word of the table is chosen, one at a time.
static void add_words(contexts *in, const char *base, const config_key *keys) {
    for (const config_key *k = keys; k && k->name; k++) {
        char values[MOST_WORDS][32];
        if (!k->choices || *k->choices == '@') continue;
        for (size_t i = 0, n = values_of(k, values); i < n; i++)
            if (strcmp(values[i], k->fallback)) add_context(in, "%s&%s=%s", base, k->name, values[i]);
    }
}

#define SMALL "&batch=6&steps=4&warmup=0&width=12&heads=2&blocks=2"
static void of_mixers(void **state) {
    (void)state;
    size_t tried = 0;
    static contexts in;
    char mode[1024];
    for (size_t m = 0; mixers[m]; m++) {
        in.n = 0;
        const char *const name = mixers[m]->name;
        if (!strcmp(name, "equations")) continue; // its keys are its text's
        for (size_t i = 0; i < 1 || audit_mode(mode, sizeof mode, name, i); i++) {
            audit_mode(mode, sizeof mode, name, i);
            add_context(&in, "task=track&machine=s5&length=40&mixer=%s" SMALL "%s%s", name, i ? "&" : "",
                        i ? audit_mode_change(mode) : "");
        }
        char base[TEXT];
        snprintf(base, sizeof base, "%s", in.text[0]);
        add_words(&in, base, mixers[m]->keys);
        for (const config_key *k = mixers[m]->keys; k && k->name; k++) try_key(name, k, &in, &tried);
    }
    print_message("%zu keys\n", tried);
    assert_true(tried > 60);
}

// Their data are files or the caller's: test_table, test_labelled, test_data, test_user_data.
static const char *const of_files[] = {"charlm", "table", "cifar", "texts", "speech", "own"};
static void of_tasks(void **state) {
    (void)state;
    size_t tried = 0;
    static contexts in;
    for (size_t t = 0; smx_tasks[t]; t++) {
        const smx_task *task = smx_tasks[t];
        if (is_listed(of_files, CHECK_COUNT(of_files), task->name)) continue;
        in.n = 0;
        char base[TEXT];
        snprintf(base, sizeof base, "task=%s&mixer=lincat&batch=6&steps=4&warmup=0&width=12&norm=rms",
                 task->name);
        add_context(&in, "%s", base);
        add_words(&in, base, task->keys);
        if (strstr(task->name, "mnist")) // the length says what a row is
            for (size_t i = 0; i < 3; i++)
                add_context(&in, "%s&length=%s", base, (const char *const[]){"28", "196", "784"}[i]);
        for (const config_key *k = task->keys; k && k->name; k++) try_key(task->name, k, &in, &tried);
    }
    print_message("%zu keys\n", tried);
    assert_true(tried > 30);
}

static void of_every_run(void **state) {
    (void)state;
    size_t tried = 0;
    static contexts in;
    const char base[] =
        "task=mqar&mixer=attention&length=24&vocab=24&pairs=3&batch=6&steps=4&width=12&heads=2";
    in.n = 0;
    add_context(&in, "%s", base);
    add_context(&in,
                "%s&mlp=2&norm=rms&schedule=cosine&position=learned&decay=0.1&clip=0.01&dropout=0.2&warmup=0",
                base);
    add_context(&in, "task=listops&mixer=lincat&length=40&batch=6&steps=4&warmup=0&width=12");
    add_context(&in, "task=listops&mixer=attention&causal=0&length=40&batch=6&steps=4&warmup=0&width=12");
    add_words(&in, base, common_keys);
    for (const config_key *k = common_keys; k->name; k++) try_key("every run", k, &in, &tried);
    print_message("%zu keys\n", tried);
    assert_true(tried > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_mixers), cmocka_unit_test(of_tasks),
                                       cmocka_unit_test(of_every_run)};
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
