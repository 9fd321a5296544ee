// test_tasks.c: every promise of the tasks' definitions, on thousands of samples at fixed seeds: what stands
// where, what the answer is, which law was drawn from; that a sample is a pure function of (parameters,
// seed, stream, index); that bad parameters are refused in words. The answers are worked out here again,
// from the tokens alone.
#include "proofs_tests/support/check.h"
#include "model/run/language/language.h"

#include "tasks/files/data.h"
#include "tasks/files/idx.h"
#include "kernels/core/philox.h"
#include <seqmix/run.h>
#include "tasks/task.h"

// ---- A task opened from a config, with room for one sample and a guard behind each array ----

enum { GUARD = 8 };

typedef struct {
    config *c;
    smx_task_instance in;
    smx_task_sample s;
    size_t targets; // entries of the target arrays
} opened;

static void refill(opened *o, int byte) {
    size_t L = o->in.length;
    memset(o->s.tokens, byte, (L + GUARD) * 4);
    memset(o->s.values, byte, (L * o->in.channels + GUARD) * 4);
    memset(o->s.targets, byte, (o->targets + GUARD) * 4);
    memset(o->s.target_values, byte, (o->targets + GUARD) * 4);
}

static int open_at(opened *o, const char *text, size_t length, smx_error *error) {
    memset(o, 0, sizeof *o);
    memset(error, 0, sizeof *error);
    // Recipes may set a task's keys for a mixer: here the task's own defaults hold under what is given.
    char name[32] = "", full[2048];
    sscanf(text, "task=%31[a-z_]", name);
    const smx_task *task = smx_task_find(name);
    if (!task) fail_msg("no task in %s", text);
    int n = snprintf(full, sizeof full, "vocab=64&length=64");
    for (const config_key *k = task->keys; k->name; k++)
        n += snprintf(full + n, sizeof full - (size_t)n, "&%s=%s", k->name, k->fallback);
    snprintf(full + n, sizeof full - (size_t)n, "&%s&%s", task->defaults, text);
    o->c = config_parse(full, 0, error);
    if (!o->c) fail_msg("%s: %s", full, error->message);
    o->in.task = smx_task_of(o->c);
    if (o->in.task->open(&o->in, o->c, length ? length : o->c->common.length, error)) {
        config_free(o->c);
        return -1;
    }
    size_t L = o->in.length;
    o->targets = o->in.per_position ? L : 1;
    o->s.tokens = malloc((L + GUARD) * 4);
    o->s.values = malloc((L * o->in.channels + GUARD) * 4);
    o->s.targets = malloc((o->targets + GUARD) * 4);
    o->s.target_values = malloc((o->targets + GUARD) * 4);
    assert_true(o->s.tokens && o->s.values && o->s.targets && o->s.target_values);
    refill(o, 0xAA);
    return 0;
}

static opened open_task(const char *text) {
    opened o;
    smx_error error;
    if (open_at(&o, text, 0, &error)) fail_msg("%s: %s", text, error.message);
    return o;
}

static void close_task(opened *o) {
    if (o->in.release) o->in.release(o->in.data);
    config_free(o->c);
    free(o->s.tokens);
    free(o->s.values);
    free(o->s.targets);
    free(o->s.target_values);
}

static void draw(opened *o, uint64_t seed, uint32_t stream, uint64_t index) {
    o->in.task->generate(&o->in, seed, stream, index, &o->s);
}

// FNV-1a over what the sample holds.
static uint64_t words(uint64_t h, const void *data, size_t n) {
    const uint32_t *w = data;
    for (size_t i = 0; i < n; i++) h = (h ^ w[i]) * 0x100000001b3;
    return h;
}
static uint64_t sample_digest(const opened *o) {
    uint64_t h = 0xcbf29ce484222325;
    if (o->in.vocab) h = words(h, o->s.tokens, o->in.length);
    h = words(h, o->s.values, o->in.length * o->in.channels);
    return o->in.classes ? words(h, o->s.targets, o->targets) : words(h, o->s.target_values, o->targets);
}

static double chi2(const int *count, const double *expected, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (count[i] - expected[i]) * (count[i] - expected[i]) / expected[i];
    return sum;
}
// 5 standard deviations (Wilson & Hilferty): one false alarm in 3 million, and the seeds are fixed.
static double chi2_limit(double k) {
    double t = 1 - 2 / (9 * k) + 5 * sqrt(2 / (9 * k));
    return k * t * t * t;
}
static void fits(const char *what, const int *count, const double *expected, size_t n) {
    double x = chi2(count, expected, n), most = chi2_limit((double)n - 1);
    if (!(x < most)) fail_msg("%s: chi^2 %.1f with %zu values, allowed %.1f", what, x, n, most);
}

// ---- Every task ----

static void promises_of_the_interface(void **state) {
    (void)state;
    for (size_t k = 0; smx_tasks[k]; k++) {
        const smx_task *t = smx_tasks[k];
        char text[64];
        snprintf(text, sizeof text, "task=%s", t->name);
        assert_ptr_equal(smx_task_find(t->name), t);
        assert_true(t->title && t->help && t->source && t->defaults && t->keys);
        if (t->files) continue; // test_labelled.c
        opened o = open_task(text);
        check_trying("%s", t->name);
        assert_true(o.in.length > 0 && (o.in.vocab > 0) != (o.in.channels > 0));
        assert_true(o.in.max_targets >= 1 && o.in.max_targets <= o.targets);
        for (uint64_t i = 0; i < 200; i++) {
            draw(&o, 3, i % 2 ? RNG_TRAIN : RNG_EVAL, i);
            for (size_t p = 0; o.in.vocab && p < o.in.length; p++)
                assert_in_range(o.s.tokens[p], 0, o.in.vocab - 1);
            for (size_t p = 0; p < o.in.length * o.in.channels; p++) assert_true(isfinite(o.s.values[p]));
            size_t asked = 0;
            for (size_t p = 0; p < o.targets; p++)
                if (o.in.classes) {
                    assert_true(o.s.targets[p] >= -1 && o.s.targets[p] < (int32_t)o.in.classes);
                    asked += o.s.targets[p] >= 0;
                } else {
                    assert_false(isinf(o.s.target_values[p]));
                    asked += !isnan(o.s.target_values[p]);
                }
            assert_true(asked >= 1 && asked <= o.in.max_targets);
            const uint8_t *guards[] = {
                (uint8_t *)(o.s.tokens + o.in.length), (uint8_t *)(o.s.values + o.in.length * o.in.channels),
                (uint8_t *)(o.s.targets + o.targets), (uint8_t *)(o.s.target_values + o.targets)};
            for (size_t g = 0; g < 4; g++)
                for (size_t b = 0; b < GUARD * 4; b++) assert_int_equal(guards[g][b], 0xAA);
        }
        close_task(&o);
    }
    assert_null(smx_task_find("no such task"));
}

static void samples_are_pure(void **state) {
    (void)state;
    for (size_t k = 0; smx_tasks[k]; k++) {
        char text[64];
        snprintf(text, sizeof text, "task=%s", smx_tasks[k]->name);
        if (smx_tasks[k]->files) continue;
        opened o = open_task(text), other = open_task(text);
        check_trying("%s", smx_tasks[k]->name);
        uint64_t first[6], n = 0;
        for (uint64_t i = 0; i < 6; i++) {
            draw(&o, 11, RNG_TRAIN, i);
            first[i] = sample_digest(&o);
            for (uint64_t j = 0; j < i; j++)
                if (first[j] == first[i]) check_fail("samples %d and %d are the same", (int)i, (int)j);
        }
        for (uint64_t i = 6; i-- > 0; n++) { // backwards, into other garbage, by another instance
            refill(&other, n % 2 ? 0x55 : 0x00);
            draw(&other, 11, RNG_TRAIN, i);
            if (sample_digest(&other) != first[i]) check_fail("sample %d differs the second time", (int)i);
        }
        draw(&o, 11, RNG_EVAL, 2);
        if (sample_digest(&o) == first[2]) check_fail("training and evaluation draw the same");
        draw(&o, 12, RNG_TRAIN, 2);
        if (sample_digest(&o) == first[2]) check_fail("seeds 11 and 12 draw the same");
        draw(&o, 11, RNG_TRAIN, ((uint64_t)1 << 32) + 2); // the index is not cut to 32 bits
        if (sample_digest(&o) == first[2]) check_fail("indices 2 and 2^32 + 2 draw the same");
        close_task(&o);
        close_task(&other);
    }
}

// Pinned: data drawn today is the data drawn by every later version.
static void samples_are_pinned(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t digest;
    } known[] = {
        {"task=mqar&vocab=64&length=64&pairs=8", 0x8973ab853d67b6f4},
        {"task=mqar&vocab=64&length=64&pairs=8&nomatch=2&lead=4&filler=random", 0xb01527068e18b289},
        {"task=ar&vocab=64&length=64", 0x4de4717db0f5d0c9},
        {"task=nar&vocab=16&length=64&ngram=2", 0x7ce91963445234f3},
        {"task=mqnar&vocab=64&length=64&pairs=8&ngram=2", 0x5d3260f1739d5fd4},
        {"task=dict_ar&vocab=30&length=31&pairs=8", 0x007220f3353fd55a},
        {"task=sc&vocab=21&length=64&noise=4&signals=8&slots=blank", 0xcfff8e0c49abf9f3},
        {"task=sc_unique&vocab=21&length=64&noise=4&signals=8&slots=emitted", 0x55a4ad907ac955e5},
        {"task=select&length=64&picks=8", 0x07ffc289acce30ad},
        {"task=cumsum&length=64", 0x1b9a330a4229278b},
        {"task=cummax&length=64", 0x5ba57aebd79ffe0b},
        {"task=listops&length=64&least=16&depth=5&arguments=5", 0xd6fd89ba5de2d9db},
        {"task=smnist&data=digits&length=28", 0xf7f512dfd29a8a57},
        {"task=pmnist&data=digits&length=196&permutation=1", 0x29ed516d7afab4e5},
        {"task=charlm&length=64&text=sample&split=tenth", 0x316011adba19287c},
        {"task=own&length=16&channels=3&classes=0&answers=rows", 0x68cfa3a3916cf6bd},
        {"task=own&length=16&channels=0&vocab=9&classes=4&answers=one", 0x20085c7489d94e66},
        {"task=induction&length=64&vocab=16", 0x19a82afa2b10f24d},
        {"task=mad&kind=recall&vocab=16&length=128&trained=all", 0xcb1ee1d917ae889b},
        {"task=mad&kind=fuzzy&vocab=16&length=128&trained=all", 0xda8e955d4a9fc3e5},
        {"task=mad&kind=noisy&vocab=16&length=128&trained=asked&noise_share=0.2", 0x720bbb8c98fee927},
        {"task=mad&kind=copying&vocab=16&length=128&copies=16", 0x7d22ae0b543c4fcc},
        {"task=mad&kind=compression&vocab=16&length=64", 0x0c876e7b4ceabc8c},
        {"task=mad&kind=memorisation&vocab=256&length=32", 0xa55a96dfc2d43a8c},
        {"task=track&machine=parity&length=64", 0x789b6110bc3fd97b},
        {"task=track&machine=sum&modulus=5&length=64", 0x7ed538249a8bd8cd},
        {"task=track&machine=s3&length=64", 0x35b5c9ab2603b350},
        {"task=track&machine=s5&length=64", 0xf46ba9ab77ddbae2},
        {"task=track&machine=dyck&brackets=2&nesting=8&length=64", 0x4cd0d7557d799df7},
        {"task=pathfinder&dashes=6&distractors=8&continuity=1.8", 0x4913763cba7b2dc9},
        {"task=lcat&length=256&lcat_width=64&lcat_block=8&lcat_sigma=1", 0xf3bd4161758afdf6},
    };
    int wrong = 0;
    for (size_t k = 0; k < CHECK_COUNT(known); k++) {
        opened o = open_task(known[k].text);
        uint64_t h = 0;
        for (uint64_t i = 0; i < 50; i++) {
            draw(&o, 1, i % 2 ? RNG_TRAIN : RNG_EVAL, i);
            h = h * 31 + sample_digest(&o);
        }
        close_task(&o);
        if (h != known[k].digest) {
            print_error("{\"%s\", 0x%016llx},\n", known[k].text, (unsigned long long)h);
            wrong = 1;
        }
    }
    assert_false(wrong);
}

// A key declared by several tasks means the same in each.
static void keys_agree(void **state) {
    (void)state;
    for (size_t a = 0; smx_tasks[a]; a++)
        for (const config_key *k = smx_tasks[a]->keys; k->name; k++) {
            assert_non_null(k->help);
            assert_string_equal(k->group, "task");
            for (size_t b = 0; b < a; b++)
                for (const config_key *j = smx_tasks[b]->keys; j->name; j++)
                    if (!strcmp(j->name, k->name)) {
                        assert_true(j->type == k->type && j->min == k->min && j->max == k->max);
                        assert_string_equal(j->fallback, k->fallback);
                        assert_string_equal(j->help, k->help);
                        assert_true((j->choices == NULL) == (k->choices == NULL));
                        if (j->choices) assert_string_equal(j->choices, k->choices);
                    }
        }
}

// ---- The caller's data ----
// Every form that its keys describe, and those that they cannot.
static void own_has_the_form_asked_for(void **state) {
    (void)state;
    for (int channels = 0; channels <= 3; channels += 3)
        for (int classes = 0; classes <= 5; classes += 5)
            for (int rows = 0; rows <= 1; rows++) {
                char text[128];
                snprintf(text, sizeof text, "task=own&length=12&vocab=7&channels=%d&classes=%d&answers=%s",
                         channels, classes, rows ? "rows" : "one");
                opened o = open_task(text);
                assert_int_equal(o.in.length, 12);
                assert_int_equal(o.in.vocab, channels ? 0 : 7);
                assert_int_equal(o.in.channels, channels);
                assert_int_equal(o.in.classes, classes);
                assert_int_equal(o.in.max_targets, rows ? 12 : 1);
                assert_int_equal(o.targets, rows ? 12 : 1);
                int seen[7] = {0}, answers[5] = {0};
                for (uint64_t i = 0; i < 50; i++) {
                    draw(&o, 1, RNG_TRAIN, i);
                    for (size_t t = 0; t < 12 && !channels; t++) seen[o.s.tokens[t]]++;
                    for (size_t t = 0; t < o.targets; t++)
                        if (classes)
                            answers[o.s.targets[t]]++;
                        else
                            assert_true(isfinite(o.s.target_values[t]));
                }
                for (int v = 0; v < 7; v++) assert_true(channels || seen[v] > 0);
                for (int v = 0; v < 5; v++) assert_true(!classes || answers[v] > 0);
                close_task(&o);
            }
    smx_error e = {0};
    assert_null(smx_config_complete("task=own&classes=-1", &e));
    assert_null(smx_run_open("task=own&classes=1", &e));
    assert_string_equal(e.key, "classes");
}

// ---- Recall ----

// Starts p with x[p..p+n-1] = gram, p + n <= end.
static size_t occurrences(const int32_t *x, size_t end, const int32_t *gram, size_t n, size_t *where) {
    size_t found = 0;
    for (size_t p = 0; p + n <= end; p++)
        if (!memcmp(x + p, gram, n * sizeof *x)) {
            *where = p;
            found++;
        }
    return found;
}

static void check_nar(const char *text, size_t n, int samples) {
    opened o = open_task(text);
    size_t L = o.in.length, places = L - 2 * n + 1;
    int *count = calloc(places, sizeof *count);
    double *expected = calloc(places, sizeof *expected);
    assert_true(count && expected);
    check_trying("%s", text);
    for (int i = 0; i < samples; i++) {
        draw(&o, 5, RNG_TRAIN, (uint64_t)i);
        size_t where = 0, found = occurrences(o.s.tokens, L - 1, o.s.tokens + L - n, n, &where);
        if (found != 1) check_fail("sample %d: %zu earlier copies", i, found);
        assert_int_equal(o.s.targets[L - 1], o.s.tokens[where + n]);
        for (size_t p = 0; p + 1 < L; p++) assert_int_equal(o.s.targets[p], -1);
        assert_true(where < places);
        count[where]++;
    }
    if (o.in.vocab >= 16) { // with many kinds of token every place is equally likely
        for (size_t p = 0; p < places; p++) expected[p] = (double)samples / (double)places;
        fits(text, count, expected, places);
    }
    free(count);
    free(expected);
    close_task(&o);
}

static void ar_and_nar(void **state) {
    (void)state;
    check_nar("task=ar", 1, 4000);
    check_nar("task=ar&vocab=2&length=30", 1, 500);
    check_nar("task=ar&vocab=3&length=2", 1, 100);
    check_nar("task=nar&ngram=1&vocab=16", 1, 2000);
    check_nar("task=nar&ngram=2&vocab=32", 2, 4000);
    check_nar("task=nar&ngram=2&vocab=2&length=40", 2, 1000);
    check_nar("task=nar&ngram=3&vocab=2&length=200", 3, 500);
    check_nar("task=nar&ngram=4&vocab=3&length=8", 4, 500);
    check_nar("task=nar&ngram=8&vocab=2&length=64", 8, 500);
}

// mqar and mqnar: pairs, queries and answers, found again from the tokens.
static void check_mqar(const char *text, size_t n, size_t pairs, size_t nomatch, size_t lead, int samples) {
    opened o = open_task(text);
    size_t L = o.in.length, cell = n + 1, slots = (L - lead) / cell - pairs;
    int32_t V = (int32_t)o.in.vocab, half = V / 2;
    int zero = !strcmp(config_get(o.c, "filler"), "zero");
    check_trying("%s", text);
    for (int i = 0; i < samples; i++) {
        draw(&o, 6, RNG_EVAL, (uint64_t)i);
        const int32_t *x = o.s.tokens, *context = x + lead, *query = context + cell * pairs;
        for (size_t p = 0; p < lead; p++) assert_int_equal(x[p], 0);
        for (size_t a = 0; a < pairs; a++) {
            for (size_t k = 0; k < n; k++) assert_in_range(context[a * cell + k], 1, half - 1);
            assert_in_range(context[a * cell + n], half, V - 1);
            for (size_t b = 0; b < a; b++) {
                assert_true(memcmp(context + a * cell, context + b * cell, n * 4) != 0);
                assert_true(context[a * cell + n] != context[b * cell + n]);
            }
        }
        for (size_t p = 0; p < lead + cell * pairs; p++) assert_int_equal(o.s.targets[p], -1);
        size_t asked = 0, unmatched = 0;
        int seen[64] = {0};
        const int32_t *unseen[64];
        for (size_t g = 0; g < slots; g++)
            for (size_t k = 0; k < cell; k++) {
                size_t row = lead + cell * (pairs + g) + k;
                int32_t answer = o.s.targets[row];
                const int32_t *q = query + g * cell;
                if (answer < 0) {
                    if (zero && (k == n || o.s.targets[row - k + n - 1] < 0)) assert_int_equal(x[row], 0);
                    continue;
                }
                assert_int_equal(k, n - 1); // answered at the last token of the key
                asked++;
                size_t a = 0;
                while (a < pairs && memcmp(q, context + a * cell, n * 4)) a++;
                if (a < pairs) {
                    assert_int_equal(answer, context[a * cell + n]);
                    assert_int_equal(seen[a]++, 0); // each key once
                } else {
                    assert_int_equal(answer, 0);
                    for (size_t j = 0; j < n; j++) assert_in_range(q[j], 1, half - 1);
                    for (size_t j = 0; j < unmatched; j++) assert_true(memcmp(q, unseen[j], n * 4) != 0);
                    unseen[unmatched++] = q;
                }
            }
        for (size_t row = lead + cell * (pairs + slots); row < L; row++)
            assert_int_equal(o.s.targets[row], -1);
        assert_int_equal(asked, pairs + nomatch);
        assert_int_equal(unmatched, nomatch);
    }
    close_task(&o);
}

static void mqar_and_mqnar(void **state) {
    (void)state;
    check_mqar("task=mqar", 1, 8, 0, 0, 1000);
    check_mqar("task=mqar&length=32", 1, 8, 0, 0, 300);          // every slot taken
    check_mqar("task=mqar&vocab=18&length=40", 1, 8, 0, 0, 300); // every key used
    check_mqar("task=mqar&vocab=4&length=4&pairs=1", 1, 1, 0, 0, 50);
    check_mqar("task=mqar&pairs=3&nomatch=4&lead=5&length=26", 1, 3, 4, 5, 300);
    check_mqar("task=mqar&filler=random&nomatch=2", 1, 8, 2, 0, 300);
    check_mqar("task=mqnar", 2, 8, 0, 0, 500);
    check_mqar("task=mqnar&ngram=3&vocab=6&pairs=3&length=40&nomatch=1", 3, 3, 1, 0, 300);
    check_mqar("task=mqnar&ngram=1&length=64", 1, 8, 0, 0, 100);
    check_mqar("task=mqnar&ngram=2&vocab=16&lead=3&filler=random", 2, 8, 0, 3, 300);
}

// p(g) ~ (g+1)^{-0.99} for the first key's gap; the second's without the first's slot.
static void gap_law(void **state) {
    (void)state;
    enum { SLOTS = 24, SAMPLES = 40000 };
    opened o = open_task("task=mqar&pairs=8&length=64");
    double p[SLOTS], sum = 0, expected[2][SLOTS] = {{0}};
    int count[2][SLOTS] = {{0}};
    for (int g = 0; g < SLOTS; g++) sum += p[g] = pow(g + 1, 0.01 - 1);
    for (int g = 0; g < SLOTS; g++) p[g] /= sum;
    for (int g = 0; g < SLOTS; g++) {
        expected[0][g] = SAMPLES * p[g];
        for (int h = 0; h < SLOTS; h++)
            if (h != g) expected[1][g] += SAMPLES * p[h] * p[g] / (1 - p[h]);
    }
    for (uint64_t i = 0; i < SAMPLES; i++) {
        draw(&o, 8, RNG_TRAIN, i);
        for (int key = 0; key < 2; key++) {
            int g = 0;
            while (o.s.tokens[16 + 2 * g] != o.s.tokens[2 * key]) g++;
            count[key][g]++;
        }
    }
    fits("gap of the first key", count[0], expected[0], SLOTS);
    fits("gap of the second key", count[1], expected[1], SLOTS);
    close_task(&o);
}

static void dictionary(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t pairs;
    } cases[] = {{"task=dict_ar", 8},
                 {"task=dict_ar&length=128&pairs=14", 14},
                 {"task=dict_ar&length=3&pairs=4", 4},
                 {"task=dict_ar&length=1024&pairs=1", 1}};
    for (size_t k = 0; k < CHECK_COUNT(cases); k++) {
        opened o = open_task(cases[k].text);
        size_t L = o.in.length, lead = (L - 1) % 2;
        int32_t V = (int32_t)o.in.vocab, half = V / 2;
        for (uint64_t i = 0; i < 400; i++) {
            draw(&o, 9, RNG_TRAIN, i);
            int32_t value_of[64] = {0}, owner[64] = {0};
            size_t distinct = 0;
            if (lead) assert_int_equal(o.s.tokens[0], 0);
            for (size_t p = lead; p + 1 < L; p += 2) {
                int32_t key = o.s.tokens[p], value = o.s.tokens[p + 1];
                assert_in_range(key, 1, half - 1);
                assert_in_range(value, half, V - 1);
                distinct += !value_of[key];
                assert_true(!value_of[key] || value_of[key] == value);
                assert_true(!owner[value] || owner[value] == key);
                value_of[key] = value;
                owner[value] = key;
            }
            assert_true(distinct <= cases[k].pairs);
            assert_true(value_of[o.s.tokens[L - 1]] > 0);
            assert_int_equal(o.s.targets[L - 1], value_of[o.s.tokens[L - 1]]);
            for (size_t p = 0; p + 1 < L; p++) assert_int_equal(o.s.targets[p], -1);
        }
        close_task(&o);
    }
}

// absent=1: one dictionary a seed, in training and evaluation, and any of its keys asked for, each as often,
// there or not.
static void dictionary_of_all(void **state) {
    (void)state;
    enum { PAIRS = 8, SAMPLES = 4000 };
    opened o = open_task("task=dict_ar&length=9&absent=1");
    const size_t L = o.in.length;
    int32_t value_of[2][32] = {{0}};
    int asked[32] = {0}, absent = 0, moved = 0;
    for (uint64_t i = 0; i < 2 * SAMPLES; i++) {
        const int other = i >= SAMPLES; // of another seed
        draw(&o, 9 + (uint64_t)other, i % 2 ? RNG_TRAIN : RNG_EVAL, i);
        int there = 0;
        for (size_t p = 0; p < L; p += 2) {
            const int32_t key = o.s.tokens[p], value = p + 1 < L ? o.s.tokens[p + 1] : o.s.targets[p];
            assert_in_range(key, 1, 14);
            assert_in_range(value, 15, 29);
            assert_true(!value_of[other][key] || value_of[other][key] == value);
            value_of[other][key] = value;
            there |= p + 1 < L && key == o.s.tokens[L - 1];
        }
        if (other) continue;
        asked[o.s.tokens[L - 1]]++;
        absent += !there;
    }
    size_t keys = 0;
    for (int k = 0; k < 32; k++) {
        keys += value_of[0][k] > 0;
        moved += value_of[0][k] != value_of[1][k];
        // 500 of each, within 4.5 standard deviations
        if (value_of[0][k] && abs(asked[k] - SAMPLES / PAIRS) > 95) fail_msg("key %d: %d", k, asked[k]);
    }
    assert_int_equal(keys, PAIRS);
    assert_true(moved > 4);
    // (7/8)^4 = 0.586 of the sequences of four pairs do not have it
    if (abs(absent - 2345) > 140) fail_msg("%d of %d keys are absent", absent, SAMPLES);
    close_task(&o);
}

// ---- Copying ----

static void check_signals(const char *text, size_t n, int unique, int emitted) {
    opened o = open_task(text);
    size_t L = o.in.length, C = L - 1 - n;
    int32_t noise = atoi(config_get(o.c, "noise")), V = (int32_t)o.in.vocab;
    int samples = 3000;
    int *count = calloc(C, sizeof *count), kind[64] = {0}; // each place, each kind
    double *expected = calloc(C, sizeof *expected), of_kind[64];
    assert_true(count && expected && V - noise - 1 <= 64);
    check_trying("%s", text);
    for (int i = 0; i < samples; i++) {
        draw(&o, 10, RNG_TRAIN, (uint64_t)i);
        size_t found = 0;
        for (size_t t = 0; t < C; t++) {
            if (o.s.tokens[t] < noise) continue;
            assert_in_range(o.s.tokens[t], noise + 1, V - 1);
            assert_true(found < n);
            assert_int_equal(o.s.targets[C + found], o.s.tokens[t]); // in order, the first at the marker
            count[t]++;
            kind[o.s.tokens[t] - noise - 1]++;
            found++;
        }
        assert_int_equal(found, n);
        assert_int_equal(o.s.tokens[C], noise);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(o.s.tokens[C + 1 + k], emitted ? o.s.targets[C + k] : noise);
        for (size_t t = 0; t < C; t++) assert_int_equal(o.s.targets[t], -1);
        assert_int_equal(o.s.targets[L - 1], -1);
        for (size_t a = 0; unique && a < n; a++)
            for (size_t b = 0; b < a; b++) assert_int_not_equal(o.s.targets[C + a], o.s.targets[C + b]);
    }
    for (size_t t = 0; t < C; t++) expected[t] = samples * (double)n / (double)C;
    if (C > n) fits(text, count, expected, C);
    const size_t kinds = (size_t)(V - noise - 1);
    for (size_t k = 0; k < kinds; k++) of_kind[k] = samples * (double)n / (double)kinds;
    if (kinds > n || (kinds > 1 && !unique)) fits(text, kind, of_kind, kinds);
    free(count);
    free(expected);
    close_task(&o);
}

static void copying(void **state) {
    (void)state;
    check_signals("task=sc&slots=blank", 8, 0, 0);
    check_signals("task=sc&slots=emitted&signals=5&length=30", 5, 0, 1);
    check_signals("task=sc&slots=blank&signals=16&noise=1&vocab=16&length=64", 16, 0, 0);
    check_signals("task=sc&slots=blank&length=400&vocab=9&noise=3&signals=12", 12, 0, 0);
    check_signals("task=sc&slots=blank&vocab=3&noise=1&signals=1&length=3", 1, 0, 0);
    check_signals("task=sc_unique&slots=blank", 8, 1, 0);
    check_signals("task=sc_unique&signals=16&slots=emitted&length=33", 16, 1, 1);
}

// ---- Regression ----

static void regression(void **state) {
    (void)state;
    opened sum = open_task("task=cumsum"), max = open_task("task=cummax"),
           pick = open_task("task=select&picks=5");
    double mean = 0, square = 0, last = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        draw(&sum, 2, RNG_TRAIN, i);
        draw(&max, 2, RNG_TRAIN, i);
        draw(&pick, 2, RNG_TRAIN, i);
        double s = 0, m = -INFINITY;
        for (size_t t = 0; t < 64; t++) {
            s += sum.s.values[t];
            m = fmax(m, max.s.values[t]);
            assert_true(fabs(sum.s.target_values[t] - s / sqrt((double)t + 1)) < 1e-6 * (1 + fabs(s)));
            assert_true(max.s.target_values[t] == (float)m);
            mean += sum.s.values[t];
            square += (double)sum.s.values[t] * sum.s.values[t];
        }
        last += (double)sum.s.target_values[63] * sum.s.target_values[63];
        size_t found = 0;
        for (size_t t = 0; t < 64; t++) {
            float value = pick.s.values[2 * t], mark = pick.s.values[2 * t + 1];
            if (t < 59) {
                assert_true(mark == 0 || mark == 1);
                assert_true(isnan(pick.s.target_values[t]));
                if (mark == 1) assert_true(pick.s.target_values[59 + found++] == value);
            } else {
                assert_true(value == 0 && mark == -1);
            }
        }
        assert_int_equal(found, 5);
    }
    double n = 2000 * 64;
    assert_true(fabs(mean / n) < 5 / sqrt(n) && fabs(square / n - 1) < 5 * sqrt(2 / n));
    assert_true(fabs(last / 2000 - 1) < 5 * sqrt(2.0 / 2000)); // every running sum has variance 1
    close_task(&sum);
    close_task(&max);
    close_task(&pick);
}

// ---- ListOps: an evaluator of its own ----

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int evaluate(const int32_t *x, size_t *at, int depth, int *deepest, int *widest) {
    int token = x[(*at)++];
    if (token >= 1 && token <= 10) return token - 1;
    assert_in_range(token, 11, 14);
    if (++depth > *deepest) *deepest = depth;
    int a[64], n = 0;
    while (x[*at] != 15) a[n++] = evaluate(x, at, depth, deepest, widest);
    (*at)++;
    assert_true(n >= 2);
    if (n > *widest) *widest = n;
    qsort(a, (size_t)n, sizeof *a, by_value);
    int sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    if (token == 11) return a[0];
    if (token == 12) return a[n - 1];
    if (token == 13) return n % 2 ? a[n / 2] : (a[n / 2 - 1] + a[n / 2]) / 2;
    return sum % 10;
}

static void listops(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int least, depth, arguments;
    } cases[] = {
        {"task=listops", 16, 5, 5},
        {"task=listops&length=2000&least=500&depth=10&arguments=10", 500, 10, 10},
        {"task=listops&length=4&least=2", 2, 5, 5},
        {"task=listops&length=40&least=2&depth=1&arguments=2", 2, 1, 2},
        {"task=listops&length=100&least=50&depth=16&arguments=2", 50, 16, 2},
    };
    for (size_t k = 0; k < CHECK_COUNT(cases); k++) {
        opened o = open_task(cases[k].text);
        int count[10] = {0}, longest = 0, operations[4] = {0};
        check_trying("%s", cases[k].text);
        for (uint64_t i = 0; i < 500; i++) {
            draw(&o, 4, RNG_TRAIN, i);
            size_t at = 0;
            int deepest = 0, widest = 0;
            assert_in_range(o.s.tokens[0], 11, 14); // always an operation
            operations[o.s.tokens[0] - 11]++;
            assert_int_equal(evaluate(o.s.tokens, &at, 0, &deepest, &widest), o.s.targets[0]);
            assert_true((int)at >= cases[k].least && at <= o.in.length);
            assert_true(deepest <= cases[k].depth && widest <= cases[k].arguments);
            for (size_t t = at; t < o.in.length; t++) assert_int_equal(o.s.tokens[t], 0);
            count[o.s.targets[0]]++;
            if ((int)at > longest) longest = (int)at;
        }
        for (int d = 0; d < 10; d++) assert_true(count[d] > 0); // all answers occur
        fits("operations", operations, (const double[]){125, 125, 125, 125}, 4);
        if (k == 0) assert_true(longest > 48); // the room is used
        close_task(&o);
    }
    // Where nothing is drawn again, a quarter of the outermost list's arguments are lists.
    opened o = open_task("task=listops&length=200&least=2&depth=2&arguments=5");
    int kinds[2] = {0};
    for (uint64_t i = 0; i < 2000; i++) {
        draw(&o, 4, RNG_TRAIN, i);
        for (size_t at = 1; o.s.tokens[at] != 15; at++) {
            const int list = o.s.tokens[at] > 10;
            kinds[list]++;
            while (list && o.s.tokens[at] != 15) at++;
        }
    }
    const double all = kinds[0] + kinds[1];
    fits("arguments", kinds, (const double[]){0.75 * all, 0.25 * all}, 2);
    close_task(&o);
}

// ---- MAD ----

// The text of a recall, one row longer than the sample: its last token is the last answer.
static void check_mad_recall(const char *text, int V, int motif, double noise, int samples) {
    opened o = open_task(text);
    const int fuzzy = motif > 1, half = (V - fuzzy) / 2, L = (int)o.in.length;
    int sizes[3] = {0}, kinds[3] = {0}, slots = 0, noisy = 0;
    check_trying("%s", text);
    for (int i = 0; i < samples; i++) {
        const int train = i % 2, judged = !train || strstr(text, "trained=asked");
        draw(&o, 6, train ? RNG_TRAIN : RNG_EVAL, (uint64_t)i);
        const int32_t *x = o.s.tokens, *target = o.s.targets;
        if (!judged) { // every next token, the last one an answer where it is not shown
            for (int t = 0; t + 1 < L; t++) assert_int_equal(target[t], x[t + 1]);
        }
        struct {
            int at, k, v;
        } seen[512];
        int n = 0, t = 0, asked = 0;
        while (fuzzy && x[t] == V - 1) t++;
        assert_true(t < 4 * motif);
        const int hidden = fuzzy || L % 2; // whether the last token of the text is
        while (t < L) {
            if (x[t] >= V) { // two of noise
                assert_true(noise > 0 && t + 1 < L && x[t + 1] >= V && x[t + 1] < V + 16);
                noisy += t + 2 < L;
                slots++;
                if (judged) assert_true(target[t] == -1 && target[t + 1] == -1);
                t += 2;
                continue;
            }
            int k = 0, v = 0, old = -1;
            while (t + k < L && x[t + k] < half) k++;
            assert_true(k >= 1 && k <= motif && (train || k == motif));
            while (t + k + v < L && x[t + k + v] >= half && x[t + k + v] < V - fuzzy) v++;
            const int last = t + k + v == L; // the question
            if (last && hidden) v++;
            assert_true(v >= 1 && v <= motif);
            for (int p = 0; p < n; p++)
                if (seen[p].k == k && !memcmp(x + seen[p].at, x + t, (size_t)k * 4)) old = p;
            assert_true(!last || old >= 0);
            if (old >= 0) assert_int_equal(seen[old].v, v);
            for (int a = 0; a < k; a++)
                for (int b = 0; b < a; b++) assert_true(x[t + a] != x[t + b]); // a motif repeats no token
            for (int j = 0; j < v; j++) {
                const int at = t + k + j, right = old < 0 ? -1 : x[seen[old].at + k + j];
                if (old >= 0 && at < L) assert_int_equal(x[at], right);
                if (judged || (last && at == L)) assert_int_equal(target[at - 1], right);
                asked += right >= 0;
            }
            for (int j = 0; j < k && judged && t + j > 0; j++) assert_int_equal(target[t + j - 1], -1);
            if (old < 0) {
                kinds[v - 1]++;
                sizes[k - 1] += train;
            }
            if (n < 512) seen[n].at = t, seen[n].k = k, seen[n].v = v, n++;
            slots += !last;
            t += k + v;
        }
        assert_true(asked >= 1);
        if (judged && !hidden) assert_int_equal(target[L - 1], -1);
    }
    if (fuzzy) { // values of each length are as likely
        const int all = kinds[0] + kinds[1] + kinds[2];
        fits("sizes of values", kinds, (const double[]){all / 3.0, all / 3.0, all / 3.0}, 3);
        assert_true(sizes[1] && sizes[2]);
    }
    if (noise > 0) { // one slot of all but the question is never noise
        const int each = (L + 1) / 2 - 1;
        const double p = noise * (each - 1) / each, most = 5 * sqrt(slots * p * (1 - p));
        if (!(fabs(noisy - slots * p) < most)) check_fail("%d of %d slots are noise", noisy, slots);
    }
    close_task(&o);
}

static void mad_recall(void **state) {
    (void)state;
    check_mad_recall("task=mad&kind=recall", 16, 1, 0, 400);
    check_mad_recall("task=mad&kind=recall&vocab=128&length=1023", 128, 1, 0, 20);
    check_mad_recall("task=mad&kind=recall&vocab=4&length=3", 4, 1, 0, 100);
    check_mad_recall("task=mad&kind=noisy", 16, 1, 0.2, 400);
    check_mad_recall("task=mad&kind=noisy&vocab=32&noise_share=0.8&length=255", 32, 1, 0.8, 200);
    check_mad_recall("task=mad&kind=noisy&noise_share=1&length=8", 16, 1, 1, 200);
    check_mad_recall("task=mad&kind=fuzzy", 16, 3, 0, 600);
    check_mad_recall("task=mad&kind=fuzzy&vocab=7&length=11", 7, 3, 0, 600);
    check_mad_recall("task=mad&kind=fuzzy&trained=asked", 16, 3, 0, 400);
    check_mad_recall("task=mad&kind=fuzzy&vocab=64&length=1024", 64, 3, 0, 20);
    // trained=asked: training sees the targets that are judged.
    opened o = open_task("task=mad&kind=recall&trained=asked");
    for (uint64_t i = 0; i < 50; i++) {
        draw(&o, 1, RNG_TRAIN, i);
        int asked = 0;
        for (size_t t = 0; t < 128; t++) {
            if (o.s.targets[t] < 0) continue;
            asked++;
            assert_true(o.s.tokens[t] < 8 && o.s.targets[t] == o.s.tokens[t + 1]);
        }
        assert_true(asked > 40 && asked < 64);
    }
    close_task(&o);
}

static void mad_copies(void **state) {
    (void)state;
    opened o = open_task("task=mad&kind=copying&length=40&copies=4&vocab=10");
    int before[4] = {0}, tokens[8] = {0};
    for (uint64_t i = 0; i < 2000; i++) {
        draw(&o, 2, RNG_TRAIN, i);
        const int32_t *x = o.s.tokens;
        int n = 0;
        for (int t = 0; t < 35; t++)
            if (x[t] == 8) {
                assert_true(n < 4); // the last one stands before the marker
                before[n]++;
            } else {
                assert_true(x[t] < 8 && n < 4);
                tokens[x[t]]++;
                assert_int_equal(o.s.targets[36 + n++], x[t]);
            }
        assert_true(n == 4 && x[35] == 9);
        for (int t = 36; t < 40; t++) assert_int_equal(x[t], 8);
        for (int t = 0; t < 36; t++) assert_int_equal(o.s.targets[t], -1);
    }
    const double each = 2000 * 31 / 4.0;
    fits("blanks before each", before, (const double[]){each, each, each, each}, 4);
    double of_each[8];
    for (int v = 0; v < 8; v++) of_each[v] = 1000;
    fits("tokens", tokens, of_each, 8);
    close_task(&o);

    o = open_task("task=mad&kind=compression&length=64");
    int seen[15] = {0};
    for (uint64_t i = 0; i < 200; i++) {
        draw(&o, 2, RNG_EVAL, i);
        for (int t = 0; t < 32; t++) {
            assert_in_range(o.s.tokens[t], 0, 14);
            seen[o.s.tokens[t]]++;
            assert_int_equal(o.s.targets[t], -1);
            assert_int_equal(o.s.tokens[32 + t], 15);
            assert_int_equal(o.s.targets[32 + t], o.s.tokens[t]);
        }
    }
    double equal[15];
    for (int v = 0; v < 15; v++) equal[v] = 200 * 32 / 15.0;
    fits("compressed tokens", seen, equal, 15);
    close_task(&o);
}

// One table, the same for every seed and stream; values are of their own tokens, none twice.
static void mad_memorisation(void **state) {
    (void)state;
    opened o = open_task("task=mad&kind=memorisation&vocab=256&length=32");
    int table[127], keys = 0;
    memset(table, -1, sizeof table);
    for (uint64_t i = 0; i < 300; i++) {
        if (i == 200) { // nor does the config's seed change it
            close_task(&o);
            o = open_task("task=mad&kind=memorisation&vocab=256&length=32&seed=77");
        }
        draw(&o, i, i % 2 ? RNG_TRAIN : RNG_EVAL, i);
        for (int t = 0; t < 32; t += 2) {
            const int key = o.s.tokens[t], value = o.s.targets[t + 1];
            assert_in_range(key, 0, 126);
            assert_in_range(value, 127, 254);
            assert_true(o.s.targets[t] == -1 && o.s.tokens[t + 1] == 255);
            assert_true(table[key] == -1 || table[key] == value);
            table[key] = value;
        }
    }
    for (int a = 0; a < 127; a++) {
        keys += table[a] >= 0;
        for (int b = 0; b < a; b++) assert_true(table[a] != table[b]);
    }
    assert_int_equal(keys, 127);
    close_task(&o);
}

// ---- State tracking ----

// The permutations of n in lexicographic order, by the rule that follows one by the next.
static void list_permutations(int n, int list[120][5]) {
    int p[5] = {0, 1, 2, 3, 4};
    for (int count = 0;; count++) {
        memcpy(list[count], p, sizeof p);
        int i = n - 2, j = n - 1;
        while (i >= 0 && p[i] > p[i + 1]) i--;
        if (i < 0) return;
        while (p[j] < p[i]) j--;
        int swap = p[i];
        p[i] = p[j], p[j] = swap;
        for (int a = i + 1, b = n - 1; a < b; a++, b--) swap = p[a], p[a] = p[b], p[b] = swap;
    }
}

static void tracked_groups(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int size, points; // 0: a sum modulo size
    } cases[] = {{"task=track&machine=parity&length=300", 2, 0},
                 {"task=track&machine=sum&modulus=7&length=100", 7, 0},
                 {"task=track&machine=sum&modulus=4096&length=20", 4096, 0},
                 {"task=track&machine=s3&length=200", 6, 3},
                 {"task=track&machine=s5&length=200", 120, 5}};
    for (size_t c = 0; c < CHECK_COUNT(cases); c++) {
        opened o = open_task(cases[c].text);
        const int size = cases[c].size, points = cases[c].points;
        int list[120][5], count[120] = {0};
        check_trying("%s", cases[c].text);
        assert_true((int)o.in.vocab == size && (int)o.in.classes == size);
        if (points) list_permutations(points, list);
        for (uint64_t i = 0; i < 60; i++) {
            draw(&o, 3, RNG_TRAIN, i);
            long sum = 0;
            int place[5] = {0, 1, 2, 3, 4}; // of what began at 0 ... 4
            for (size_t t = 0; t < o.in.length; t++) {
                sum += o.s.tokens[t];
                if (size <= 120) count[o.s.tokens[t]]++;
                if (!points) {
                    assert_int_equal(o.s.targets[t], sum % size);
                    continue;
                }
                for (int j = 0; j < points; j++) place[j] = list[o.s.tokens[t]][place[j]];
                assert_memory_equal(list[o.s.targets[t]], place, (size_t)points * sizeof *place);
            }
        }
        double equal[120];
        for (int v = 0; v < size && size <= 120; v++) equal[v] = 60.0 * (double)o.in.length / size;
        if (size <= 120) fits("tokens", count, equal, (size_t)size);
        close_task(&o);
    }
}

static void tracked_brackets(void **state) {
    (void)state;
    static const int cases[][3] = {{2, 8, 64}, {1, 1, 9}, {3, 2, 100}, {128, 256, 2000}}; // kinds, nesting, L
    for (size_t c = 0; c < CHECK_COUNT(cases); c++) {
        const int kinds = cases[c][0], nesting = cases[c][1], L = cases[c][2];
        char text[96];
        snprintf(text, sizeof text, "task=track&machine=dyck&brackets=%d&nesting=%d&length=%d", kinds,
                 nesting, L);
        check_trying("%s", text);
        opened o = open_task(text);
        assert_true((int)o.in.vocab == 2 * kinds && (int)o.in.classes == kinds + 1);
        int deepest = 0, opens = 0, free = 0;
        for (uint64_t i = 0; i < 100; i++) {
            draw(&o, 5, RNG_EVAL, i);
            // The bracket to close: of the prefix, again and again, pairs that match are taken out.
            int left[2000], n = 0;
            for (int t = 0; t < L; t++) {
                const int x = o.s.tokens[t];
                if (n > 0 && n < nesting) free++, opens += x < kinds;
                left[n++] = x;
                if (x >= kinds) {
                    assert_true(n >= 2 && left[n - 2] == x - kinds); // closes what is open
                    n -= 2;
                }
                assert_true(n <= nesting);
                if (n > deepest) deepest = n;
                assert_int_equal(o.s.targets[t], n ? left[n - 1] + 1 : 0);
            }
        }
        assert_true(nesting > 8 || deepest == nesting); // the depth is reached
        if (free) assert_true(fabs(opens - free / 2.0) < 5 * sqrt(free) / 2);
        close_task(&o);
    }
}

// ---- Induction ----
static void induction(void **state) {
    (void)state;
    static const int lengths[] = {3, 20, 256, 1 << 20};
    for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
        opened o;
        smx_error error;
        const int L = lengths[l], samples = L > 1000 ? 2 : 2000;
        assert_int_equal(open_at(&o, "task=induction", (size_t)L, &error), 0);
        int places[18] = {0};
        for (int i = 0; i < samples; i++) {
            draw(&o, 5, RNG_TRAIN, (uint64_t)i);
            int where = -1;
            for (int t = 0; t + 1 < L; t++) {
                assert_int_equal(o.s.targets[t], -1);
                if (o.s.tokens[t] == 15) {
                    assert_int_equal(where, -1);
                    where = t;
                }
            }
            assert_true(where >= 0 && where + 1 < L - 1 && o.s.tokens[L - 1] == 15);
            assert_int_equal(o.s.targets[L - 1], o.s.tokens[where + 1]);
            if (L == 20) places[where]++;
        }
        double equal[18];
        for (int p = 0; p < 18; p++) equal[p] = samples / 18.0;
        if (L == 20) fits("places", places, equal, 18);
        close_task(&o);
    }
}

// ---- Text ----

static void text(void **state) {
    (void)state;
    smx_error error = {0};
    uint8_t bytes[1000];
    check_seed(1);
    for (int i = 0; i < 1000; i++) bytes[i] = (uint8_t)check_next();
    assert_int_equal(smx_data_provide("a_text", bytes, sizeof bytes, &error), 0);
    opened o = open_task("task=charlm&text=a_text&length=30");
    int low = 1000, high = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        draw(&o, 1, RNG_TRAIN, i);
        int at = -1;
        for (int p = 0; p + 30 < 900 && at < 0; p++) { // inside the first nine tenths
            int k = 0;
            while (k < 30 && o.s.tokens[k] == bytes[p + k] && o.s.targets[k] == bytes[p + k + 1]) k++;
            if (k == 30) at = p;
        }
        assert_true(at >= 0);
        if (at < low) low = at;
        if (at > high) high = at;
    }
    assert_true(low <= 3 && high >= 866); // 900 - 31 is the last place
    for (uint64_t i = 0; i < 7; i++) {    // the last tenth in order: three windows, and again
        draw(&o, 1, RNG_EVAL, i);
        for (size_t k = 0; k < 30; k++) {
            assert_int_equal(o.s.tokens[k], bytes[900 + 30 * (i % 3) + k]);
            assert_int_equal(o.s.targets[k], bytes[900 + 30 * (i % 3) + k + 1]);
        }
    }
    close_task(&o);
    // Too short for any length: the text is to blame, not the length.
    assert_int_equal(smx_data_provide("a_text", bytes, 19, &error), 0);
    assert_int_equal(open_at(&o, "task=charlm&text=a_text", 1, &error), -1);
    assert_string_equal(error.key, "text");
    assert_non_null(strstr(error.message, "at least 20 bytes, and this one has 19"));
    assert_int_equal(smx_data_provide("a_text", bytes, 20, &error), 0);
    assert_int_equal(open_at(&o, "task=charlm&text=a_text", 1, &error), 0);
    draw(&o, 1, RNG_EVAL, 1);
    assert_int_equal(o.s.targets[0], bytes[19]);
    close_task(&o);
    assert_int_equal(smx_data_provide("a_text", NULL, 0, &error), 0);
}

// Mahoney's files: of 100,000,000 bytes the first 90 million train, the next 5 validate, the last 5 test. No
// byte of one part is in another, and each part is reached to its last byte. (The bytes say where they
// stand: 27 of them in a row are a number and a letter that no other place has.)
static void parts_of_a_long_text(void **state) {
    (void)state;
    enum { SIZE = 100000000, L = 64 };
    smx_error error = {0};
    uint8_t *bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i += 8) // eight hexadecimal digits of the place
        for (size_t k = 0; k < 8; k++) bytes[i + k] = (uint8_t) "0123456789abcdef"[i >> (28 - 4 * k) & 15];
    assert_int_equal(smx_data_provide("long_text", bytes, SIZE, &error), 0);
    const struct {
        const char *split;
        size_t from, to;
    } parts[] = {{"text8", 95000000, 100000000}, {"text8_valid", 90000000, 95000000}};
    for (size_t p = 0; p < CHECK_COUNT(parts); p++) {
        char config[96];
        snprintf(config, sizeof config, "task=charlm&text=long_text&length=%d&split=%s", L, parts[p].split);
        opened o = open_task(config);
        size_t least[2] = {SIZE, SIZE}, most[2] = {0, 0};
        const uint32_t streams[2] = {RNG_TRAIN, RNG_EVAL};
        // (The parts that are evaluated follow in order, so that their last window is number 78,124.)
        for (int w = 0; w < 2; w++)
            for (uint64_t i = 0; i < 5000; i++) {
                draw(&o, 1, streams[w], w ? i * 79 % 78125 : i);
                char digits[9] = "";
                size_t skip = 0, at = 0;
                for (skip = 0; skip < 8; skip++) { // the window starts anywhere in a number: which one fits?
                    for (size_t k = 0; k < 8; k++) digits[k] = (char)o.s.tokens[skip + k];
                    at = strtoul(digits, NULL, 16);
                    if (at % 8 == 0 && at >= skip && at + L < SIZE + 8 && at - skip + 8 < SIZE &&
                        !memcmp(bytes + at, digits, 8) && bytes[at - skip] == (uint8_t)o.s.tokens[0] &&
                        bytes[at + 8] == (uint8_t)o.s.tokens[skip + 8] &&
                        bytes[at + 15] == (uint8_t)o.s.tokens[skip + 15])
                        break;
                }
                assert_true(skip < 8);
                const size_t first = at - skip, last = first + L; // the last target is a byte on
                assert_int_equal(o.s.targets[L - 1], bytes[last]);
                if (first < least[w]) least[w] = first;
                if (last > most[w]) most[w] = last;
            }
        if (!(most[0] < 90000000 && most[0] > 89900000 && least[0] < 100000))
            check_fail("%s trains on %zu to %zu", parts[p].split, least[0], most[0]);
        if (!(least[1] == parts[p].from && most[1] < parts[p].to && most[1] > parts[p].to - 10000))
            check_fail("%s evaluates %zu to %zu, expected %zu to %zu", parts[p].split, least[1], most[1],
                       parts[p].from, parts[p].to);
        close_task(&o);
    }
    assert_int_equal(smx_data_provide("long_text", NULL, 0, &error), 0);
    free(bytes);
}

// ---- Pixels ----

enum { TRAIN = 7, TEST = 3 };
static uint8_t train_images[16 + TRAIN * IDX_PIXELS], train_labels[8 + TRAIN];
static uint8_t test_images[16 + TEST * IDX_PIXELS], test_labels[8 + TEST];

static void fill_idx(uint8_t *images, uint8_t *labels, int n, int first) {
    memcpy(images, (const uint8_t[]){0, 0, 8, 3, 0, 0, 0, (uint8_t)n, 0, 0, 0, 28, 0, 0, 0, 28}, 16);
    memcpy(labels, (const uint8_t[]){0, 0, 8, 1, 0, 0, 0, (uint8_t)n}, 8);
    for (int i = 0; i < n; i++) {
        labels[8 + i] = (uint8_t)((first + i) % 10);
        for (int p = 0; p < IDX_PIXELS; p++)
            images[16 + i * IDX_PIXELS + p] = (uint8_t)(p * 31 + p / 17 * (first + i) + 5 * i);
    }
}

static int provide_idx(void **state) {
    (void)state;
    smx_error error = {0};
    fill_idx(train_images, train_labels, TRAIN, 0);
    fill_idx(test_images, test_labels, TEST, TRAIN);
    return smx_data_provide("train-images-idx3-ubyte", train_images, sizeof train_images, &error) |
           smx_data_provide("train-labels-idx1-ubyte", train_labels, sizeof train_labels, &error) |
           smx_data_provide("t10k-images-idx3-ubyte", test_images, sizeof test_images, &error) |
           smx_data_provide("t10k-labels-idx1-ubyte", test_labels, sizeof test_labels, &error);
}

static int forget_idx(void **state) {
    (void)state;
    smx_error error = {0};
    return smx_data_provide("train-images-idx3-ubyte", NULL, 0, &error) |
           smx_data_provide("train-labels-idx1-ubyte", NULL, 0, &error) |
           smx_data_provide("t10k-images-idx3-ubyte", NULL, 0, &error) |
           smx_data_provide("t10k-labels-idx1-ubyte", NULL, 0, &error);
}

static float standard(double level) { return (float)((level / 255 - 0.1307) / 0.3081); }

static void pixels_of_files(void **state) {
    (void)state;
    opened rows = open_task("task=smnist&data=mnist"), one = open_task("task=smnist&data=mnist&length=784");
    opened half = open_task("task=smnist&data=mnist&length=196&input=pixels14");
    assert_true(rows.in.channels == 28 && one.in.channels == 1 && half.in.channels == 1);
    for (uint64_t i = 0; i < 2 * TEST; i++) { // evaluation: the test images in order
        const uint8_t *image = test_images + 16 + i % TEST * IDX_PIXELS;
        draw(&rows, 1, RNG_EVAL, i);
        draw(&one, 2, RNG_EVAL, i);
        draw(&half, 3, RNG_EVAL, i);
        assert_int_equal(rows.s.targets[0], test_labels[8 + i % TEST]);
        for (int p = 0; p < IDX_PIXELS; p++) {
            assert_true(fabsf(rows.s.values[p] - standard(image[p])) < 1e-6f);
            assert_true(rows.s.values[p] == one.s.values[p]);
        }
        for (int y = 0; y < 14; y++)
            for (int x = 0; x < 14; x++) {
                const uint8_t *q = image + 56 * y + 2 * x;
                assert_true(fabsf(half.s.values[14 * y + x] - standard((q[0] + q[1] + q[28] + q[29]) / 4.0)) <
                            1e-6f);
            }
    }
    int same_order = 0, last[TRAIN] = {0, 1, 2, 3, 4, 5, 6};
    for (uint64_t pass = 0; pass < 20; pass++) { // training: every image once a pass, in ever new orders
        int seen[TRAIN] = {0}, repeats = 1;
        for (uint64_t i = 0; i < TRAIN; i++) {
            draw(&one, 4, RNG_TRAIN, pass * TRAIN + i);
            int label = one.s.targets[0];
            seen[label]++;
            repeats &= label == last[i];
            last[i] = label;
            assert_true(one.s.values[300] == standard(train_images[16 + label * IDX_PIXELS + 300]));
        }
        for (int k = 0; k < TRAIN; k++) assert_int_equal(seen[k], 1);
        same_order += repeats;
    }
    assert_true(same_order < 3);
    close_task(&rows);
    close_task(&one);
    close_task(&half);

    opened few = open_task("task=smnist&data=mnist&images=2"),
           own = open_task("task=smnist&data=mnist&test=mnist_train");
    for (uint64_t i = 0; i < 10; i++) {
        draw(&few, 1, RNG_TRAIN, i);
        assert_true(few.s.targets[0] < 2);
        draw(&own, 1, RNG_EVAL, i);
        assert_int_equal(own.s.targets[0], train_labels[8 + i % TRAIN]);
    }
    // After the test images the training images that are not trained on, which may choose; then all again.
    for (uint64_t i = 0; i < 2 * (TEST + TRAIN - 2); i++) {
        const uint64_t at = i % (TEST + TRAIN - 2), other = at - TEST + 2;
        const uint8_t *image =
            (at < TEST ? test_images + at * IDX_PIXELS : train_images + other * IDX_PIXELS);
        draw(&few, 1, RNG_EVAL, i);
        assert_int_equal(few.s.targets[0], at < TEST ? test_labels[8 + at] : train_labels[8 + other]);
        assert_true(few.s.values[300] == standard(image[16 + 300]));
    }
    close_task(&few);
    close_task(&own);

    // Drawn digits are ever new, also where they are judged on MNIST's training images.
    opened drawn = open_task("task=smnist&data=digits"),
           judged = open_task("task=smnist&data=digits&test=mnist_train");
    for (uint64_t i = 0; i < 3 * TRAIN; i++) {
        draw(&drawn, 1, RNG_TRAIN, i);
        draw(&judged, 1, RNG_TRAIN, i);
        assert_int_equal(sample_digest(&drawn), sample_digest(&judged));
    }
    close_task(&drawn);
    close_task(&judged);
}

static void permuted_pixels(void **state) {
    (void)state;
    static const size_t lengths[] = {784, 196, 28};
    for (size_t k = 0; k < 3; k++) {
        char text[80];
        snprintf(text, sizeof text, "task=pmnist&data=mnist&length=%zu", lengths[k]);
        opened p = open_task(text);
        snprintf(text, sizeof text, "task=pmnist&data=mnist&length=%zu&permutation=2", lengths[k]);
        opened q = open_task(text);
        snprintf(text, sizeof text, "task=smnist&data=mnist&length=%zu", lengths[k]);
        opened s = open_task(text);
        size_t n = p.in.length * p.in.channels, moved = 0, differ = 0;
        for (uint64_t i = 0; i < TEST; i++) {
            int balance[4096] = {0};      // the same values in another order
            draw(&p, 1 + i, RNG_EVAL, i); // whatever the seed
            draw(&q, 1, RNG_EVAL, i);
            draw(&s, 1, RNG_EVAL, i);
            for (size_t t = 0; t < n; t++) {
                balance[(int)lround((s.s.values[t] * 0.3081 + 0.1307) * 1020)]++;
                balance[(int)lround((p.s.values[t] * 0.3081 + 0.1307) * 1020)]--;
                moved += p.s.values[t] != s.s.values[t];
                differ += p.s.values[t] != q.s.values[t];
            }
            for (int v = 0; v <= 1020; v++) assert_int_equal(balance[v], 0);
        }
        assert_true(moved > n && differ > n);
        close_task(&p);
        close_task(&q);
        close_task(&s);
    }
}

static void drawn_digits(void **state) {
    (void)state;
    opened o = open_task("task=smnist&data=digits&length=784");
    int count[10] = {0}, darkest = 0;
    double mean = 0, away = 0, expected[10];
    for (uint64_t i = 0; i < 2000; i++) {
        draw(&o, 1, RNG_TRAIN, i);
        count[o.s.targets[0]]++;
        double ink = 0, x = 0, y = 0;
        int left = 28, right = -1, top = 28, bottom = -1;
        for (int p = 0; p < IDX_PIXELS; p++) {
            double v = o.s.values[p] * 0.3081 + 0.1307;
            assert_true(v > -1e-6 && v < 1 + 1e-6);
            ink += v, x += v * (p % 28 + 0.5), y += v * (p / 28 + 0.5);
            darkest += v > 0.999;
            if (v < 0.4) continue;
            left = p % 28 < left ? p % 28 : left, right = p % 28 > right ? p % 28 : right;
            top = p / 28 < top ? p / 28 : top, bottom = p / 28;
        }
        assert_true(ink > 15 && ink < 350);                        // neither blank nor a blot
        double off = fmax(fabs(x / ink - 14), fabs(y / ink - 14)); // centred by mass, nearly, as MNIST's are
        assert_true(off < 2.5);
        int side = right - left > bottom - top ? right - left + 1 : bottom - top + 1;
        assert_in_range(side, 18, 22); // 20 pixels, give or take the soft edge
        away += off;
        mean += ink / IDX_PIXELS;
    }
    for (int d = 0; d < 10; d++) expected[d] = 200;
    fits("drawn digits", count, expected, 10);
    assert_true(darkest > 2000 * 20 && away / 2000 < 0.6);
    assert_true(fabs(mean / 2000 - 0.1307) < 0.03); // as much ink as MNIST's
    close_task(&o);
    o = open_task("task=smnist&data=digits&images=5");
    uint64_t seen[5], n = 0;
    for (uint64_t i = 0; i < 40; i++) { // five images, again and again
        draw(&o, 1, RNG_TRAIN, i);
        uint64_t h = sample_digest(&o), k = 0;
        while (k < n && seen[k] != h) k++;
        assert_true(k < 5);
        if (k == n) seen[n++] = h;
    }
    assert_int_equal(n, 5);
    close_task(&o);
}

// ---- The random context model ----

static double landmark_success(const char *text, size_t block, int samples) {
    opened o = open_task(text);
    size_t L = o.in.length, d = o.in.channels;
    int right = 0;
    for (int i = 0; i < samples; i++) {
        draw(&o, 1, RNG_EVAL, (uint64_t)i);
        const float *query = o.s.values + (L - 1) * d;
        double norm = 0, best = -INFINITY;
        size_t copy = L, chosen = 0;
        for (size_t k = 0; k < d; k++) norm += (double)query[k] * query[k];
        assert_true(fabs(norm - 1) < 1e-5);
        for (size_t t = 0; t + 1 < L; t++)
            if (!memcmp(o.s.values + t * d, query, d * sizeof *query)) {
                assert_int_equal(copy, L); // exactly one copy
                copy = t;
            }
        assert_true(copy < L - block);
        assert_int_equal(o.s.targets[0], copy / block);
        for (size_t b = 0; b + 1 < L / block; b++) { // box landmarks: the sum of the block's rows
            double score = 0;
            for (size_t t = b * block; t < (b + 1) * block; t++)
                for (size_t k = 0; k < d; k++) score += (double)query[k] * o.s.values[t * d + k];
            if (score > best) {
                best = score;
                chosen = b;
            }
        }
        right += chosen == copy / block;
    }
    close_task(&o);
    return right / (double)samples;
}

static void random_context(void **state) {
    (void)state;
    // Prop. 1's threshold: 2 sigma^2 B ln(L/B) = 16 ln 32 = 55.5 at B = 8, L = 256. A soft transition.
    double far = landmark_success("task=lcat&lcat_width=222", 8, 400);
    double below = landmark_success("task=lcat&lcat_width=14", 8, 400);
    double quiet = landmark_success("task=lcat&lcat_width=14&lcat_sigma=0.25", 8, 400);
    check_trying("landmarks");
    if (!(far >= 0.985 && below <= 0.35 && quiet >= 0.985)) check_fail("%.3f %.3f %.3f", far, below, quiet);
}

// ---- Refusals ----

static void bad_parameters(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length; // 0: the config's
        const char *key, *words;
    } cases[] = {
        {"task=ar&length=1", 0, "length", "at least 2"},
        {"task=nar&ngram=5", 9, "length", "at least 10"},
        {"task=mqar&length=63", 0, "length", "length=63 does not fit: it must be an even number"},
        {"task=mqar", 65, "length", "even"},
        {"task=mqar&pairs=17", 0, "length", "at least 68"},
        {"task=mqar&pairs=40000", 0, "pairs", "at most 16 at vocab=64 and length=64"},
        {"task=mqar&pairs=40&length=256", 0, "pairs", "at most 31 at vocab=64 and length=256"},
        {"task=mqar&pairs=32768&vocab=131071&length=262144", 0, "pairs", "at most 32767"},
        {"task=mqar", 30, "length", "at least 32"},
        {"task=mqar&lead=40", 0, "length", "at least 72"},
        {"task=mqar&vocab=16", 0, "pairs", "at most 7"},
        {"task=mqar&vocab=3&pairs=1", 0, "vocab", "at least 4"},
        {"task=mqar&vocab=131072", 0, "vocab", "at most 131071"},
        {"task=mqar&vocab=18&nomatch=1", 0, "nomatch", "at most 0"},
        {"task=mqnar&vocab=8&ngram=2&pairs=5", 0, "pairs", "at most 4"},
        {"task=mqnar&vocab=6&ngram=2&pairs=3&nomatch=2&length=63", 0, "nomatch", "at most 1"},
        {"task=mqnar&ngram=3", 63, "length", "at least 64"},
        {"task=dict_ar&vocab=3&pairs=1", 0, "vocab", "at least 4"},
        {"task=dict_ar&vocab=131072&pairs=1", 0, "vocab", "at most 131071"},
        {"task=dict_ar&vocab=16&pairs=8", 0, "pairs", "at most 7 at vocab=16"},
        {"task=dict_ar&vocab=10000&pairs=6000", 0, "pairs", "at most 2048"},
        {"task=dict_ar", 2, "length", "at least 3"},
        {"task=sc&noise=20", 0, "noise", "19"},
        {"task=sc", 16, "length", "17"},
        {"task=sc_unique&signals=17", 0, "signals", "at most 16"},
        {"task=select", 15, "length", "16"},
        {"task=listops", 3, "length", "at least 4"},
        {"task=listops&least=33", 0, "least", "at most 32 at length 64, depth=5 and arguments=5"},
        {"task=listops&depth=1&arguments=2&least=10", 0, "least",
         "at most 2 at length 64, depth=1 and arguments=2"},
        {"task=mad&vocab=3", 0, "vocab", "4 to 131071"},
        {"task=mad&vocab=131072", 0, "vocab", "4 to 131071"},
        {"task=mad", 2, "length", "at least 3"},
        {"task=mad&kind=fuzzy&vocab=6", 0, "vocab", "at least 7"},
        {"task=mad&kind=fuzzy", 10, "length", "at least 11"},
        {"task=mad&kind=copying", 32, "length", "at least 33"},
        {"task=mad&kind=memorisation", 33, "length", "an even number"},
        {"task=mad&kind=compression", 1, "length", "at least 2"},
        {"task=induction", 2, "length", "at least 3"},
        {"task=smnist", 64, "length", "196"},
        {"task=smnist&input=pixels", 28, "length", "784, with input=pixels"},
        {"task=smnist&input=rows", 784, "length", "28"},
        {"task=smnist&data=mnist&images=8", 0, "images", "at most 7"},
        {"task=charlm&text=/no/such/file", 0, "text", "no such file"},
        {"task=charlm&text=none_of_that_name", 0, "text", "none_of_that_name"},
        {"task=charlm&split=text8", 0, "split", "100,000,000"},
        {"task=charlm", 100000, "length", "1 to 1207"},
        {"task=lcat", 100, "length", "multiple of lcat_block=8"},
        {"task=lcat", 8, "length", "two blocks"},
    };
    for (size_t k = 0; k < CHECK_COUNT(cases); k++) {
        opened o;
        smx_error error;
        check_trying("%s at %zu", cases[k].text, cases[k].length);
        if (open_at(&o, cases[k].text, cases[k].length, &error) == 0) check_fail("is accepted");
        if (strcmp(error.key, cases[k].key)) check_fail("blames \"%s\": %.150s", error.key, error.message);
        if (!strstr(error.message, cases[k].words)) check_fail("says \"%.200s\"", error.message);
        assert_true(error.value[0] && error.allowed[0]);
        assert_null(o.in.data); // nothing left behind
    }
}

// The same task at other lengths, as length generalisation asks for it.
static void other_lengths(void **state) {
    (void)state;
    static const char *const texts[] = {"task=mqar",
                                        "task=ar",
                                        "task=nar",
                                        "task=mqnar",
                                        "task=dict_ar",
                                        "task=sc",
                                        "task=sc_unique",
                                        "task=select",
                                        "task=cumsum",
                                        "task=cummax",
                                        "task=listops",
                                        "task=charlm",
                                        "task=mad",
                                        "task=mad&kind=copying",
                                        "task=track&machine=s5",
                                        "task=induction"};
    static const size_t lengths[] = {48, 128, 1024};
    for (size_t k = 0; k < CHECK_COUNT(texts); k++)
        for (size_t l = 0; l < CHECK_COUNT(lengths); l++) {
            opened o;
            smx_error error;
            if (open_at(&o, texts[k], lengths[l], &error)) fail_msg("%s: %s", texts[k], error.message);
            assert_int_equal(o.in.length, lengths[l]);
            draw(&o, 1, RNG_EVAL, 0);
            close_task(&o);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_of_the_interface),
        cmocka_unit_test(samples_are_pure),
        cmocka_unit_test(samples_are_pinned),
        cmocka_unit_test(keys_agree),
        cmocka_unit_test(own_has_the_form_asked_for),
        cmocka_unit_test(ar_and_nar),
        cmocka_unit_test(mqar_and_mqnar),
        cmocka_unit_test(gap_law),
        cmocka_unit_test(dictionary),
        cmocka_unit_test(dictionary_of_all),
        cmocka_unit_test(copying),
        cmocka_unit_test(regression),
        cmocka_unit_test(listops),
        cmocka_unit_test(mad_recall),
        cmocka_unit_test(mad_copies),
        cmocka_unit_test(mad_memorisation),
        cmocka_unit_test(tracked_groups),
        cmocka_unit_test(tracked_brackets),
        cmocka_unit_test(induction),
        cmocka_unit_test(text),
        cmocka_unit_test(parts_of_a_long_text),
        cmocka_unit_test_setup_teardown(pixels_of_files, provide_idx, forget_idx),
        cmocka_unit_test_setup_teardown(permuted_pixels, provide_idx, forget_idx),
        cmocka_unit_test(drawn_digits),
        cmocka_unit_test(random_context),
        cmocka_unit_test_setup_teardown(bad_parameters, provide_idx, forget_idx),
        cmocka_unit_test(other_lengths),
    };
    return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
