// test_usual.c: what names a job: a key that a later build adds moves no name and no state's digest; every
// value that is not usual does; the names of version 0.1.0 are those that it gave.
#include "proofs_tests/support/check.h"

#include "cli/grid/job.h"
#include "cli/grid/plan/usual.h"
#include "model/run/language/language.h"

// ---- The language of a later build: each task and each mixer has a key more, before its others
enum { ROOM = 64 };
static config_key later_keys[2][ROOM][ROOM];
static config_part later(config_part p, int mixer, size_t i) {
    if (!p.name) return p;
    const size_t at = (p.bytes + 7) / 8 * 8;
    config_key *keys = later_keys[mixer][i];
    size_t n = 0;
    *keys++ = (config_key){.name = mixer ? "later_word" : "later_real",
                           .type = mixer ? KEY_WORD : KEY_REAL,
                           .fallback = mixer ? "plain" : "0.25",
                           .max = 9,
                           .choices = mixer ? "plain|twisted" : NULL,
                           .help = "of a later build",
                           .group = mixer ? "mixer" : "task",
                           .at = (uint16_t)at,
                           .bytes = mixer ? sizeof(int) : sizeof(double)};
    for (; p.keys && p.keys[n].name; n++) keys[n] = p.keys[n];
    assert_true(n + 2 < ROOM && i < ROOM);
    keys[n] = (config_key){0};
    p.keys = keys - 1;
    p.bytes = at + 8;
    return p;
}
static config_part later_task(size_t i) { return later(language.task(i), 0, i); }
static config_part later_mixer(size_t i) { return later(language.mixer(i), 1, i); }

static config *read_with(const config_language *l, const char *text) {
    smx_error e = {0};
    config *c = config_read(l, text, 0, &e);
    if (!c) fail_msg("%s: %s", text, e.message);
    return c;
}
// What a config's job is told, by the program of that language.
static char *told_by(const config_language *l, const char *text) {
    config *plain = read_with(l, ""), *c = read_with(l, text);
    char *all = config_text(c), *told = usual_left_out(all, plain);
    assert_non_null(told);
    free(all), config_free(c), config_free(plain);
    return told;
}

static void a_key_more_moves_no_name(void **state) {
    (void)state;
    config_language more = language;
    more.task = later_task, more.mixer = later_mixer;
    size_t tried = 0;
    for (size_t t = 0; language.task(t).name; t++)
        for (size_t m = 0; language.mixer(m).name; m++) {
            char text[200], changed[400];
            snprintf(text, sizeof text, "task=%s&mixer=%s&rate=0.003", language.task(t).name,
                     language.mixer(m).name);
            if (!strcmp(language.mixer(m).name, "equations")) strcat(text, "&eq=r = 0.5%0Ay = x * r");
            char *now = told_by(&language, text), *then = told_by(&more, text);
            assert_string_equal(now, then);
            for (int k = 0; k < 2; k++) { // what is said of the new key does
                snprintf(changed, sizeof changed, "%s&%s", text, k ? "later_word=twisted" : "later_real=1");
                char *other = told_by(&more, changed);
                assert_string_not_equal(now, other);
                free(other);
            }
            tried++;
            free(now), free(then);
        }
    assert_true(tried > 300);
}

static void job_named(const char *text, char name[JOB_NAME], char before[JOB_NAME]) {
    job j;
    config *c = read_with(&language, text);
    assert_int_equal(job_of(&j, c, 10, 0), 0);
    memcpy(name, j.name, JOB_NAME);
    if (before) memcpy(before, j.before, JOB_NAME);
    config_free(c);
    job_free(&j);
}

#define JOB "task=mqar&mixer=cat&steps=1&width=8&length=16&pairs=2&vocab=16&batch=2"
static void names(void **state) {
    (void)state;
    char name[JOB_NAME], before[JOB_NAME], other[JOB_NAME];
    job_named(JOB, name, before);
    // Of the file that version 0.1.0 left of this job; and of another with keys of blocks and a text.
    assert_string_equal(before, "af06b6d1484b0756");
    // The same, with defaults said and numbers spelt otherwise; threads have no say.
    job_named(JOB "&rate=2e-2&heads=1&beta1=0.90&norm=none&filter=3&threads=2", other, NULL);
    assert_string_equal(name, other);
    static const char *const changes[] = {"&rate=0.01",
                                          "&seed=2",
                                          "&fast=1",
                                          "&norm=rms",
                                          "&filter=1",
                                          "&epsilon=1.1e-8",
                                          "&lead=1",
                                          "&mlp=1",
                                          "&mixer=attention",
                                          "&blocks=2&block1.filter=3",
                                          "&blocks=2&block0.filter=1"};
    for (size_t i = 0; i < CHECK_COUNT(changes); i++) {
        char text[400];
        snprintf(text, sizeof text, JOB "%s", changes[i]);
        job_named(text, other, NULL);
        if (!strcmp(name, other)) fail_msg("%s has the name of the job without it", changes[i]);
    }
}

static void what_is_told(void **state) {
    (void)state;
    char *told = usual_left_out("v=1&task=mqar&rate=1e-2&width=16&mixer=cat&filter=5&unheard=3", NULL);
    assert_string_equal(told, "v=1&width=16&filter=5&unheard=3");
    free(told);
    // A text's own number may have the name of another mixer's key: what is not said is always the same.
    char *three = usual_left_out("v=1&mixer=equations&eq=filter = 5&filter=3", NULL);
    char *five = usual_left_out("v=1&mixer=equations&eq=filter = 5&filter=5", NULL);
    assert_string_not_equal(three, five);
    free(three), free(five);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_more_moves_no_name),
        cmocka_unit_test(names),
        cmocka_unit_test(what_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
