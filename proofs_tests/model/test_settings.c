// test_settings.c: a config's values arrive in the fields of the structs that run, each its own; clients
// get them by name, as text or as JSON; wrong names lead to the right key.
#include "proofs_tests/support/check.h"

#include "model/base/json.h"
#include "model/base/number.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"
#include <seqmix/run.h>
#include "tasks/task.h"

static size_t count_words(const char *choices) {
    size_t n = 1;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}
static void word_at(char *to, size_t size, const char *choices, size_t i) {
    for (; i; i--) choices = strchr(choices, '|') + 1;
    snprintf(to, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

// A value that the key allows, another for each i where there is room, and what its field is to hold.
static double unlike(const config_key *k, size_t i, char *text, size_t size) {
    if (k->choices) {
        const size_t n = count_words(k->choices), at = n - 1 - i % (n - 1);
        word_at(text, size, k->choices, at);
        return k->type == KEY_FLAG ? *text == '1' : (double)at;
    }
    if (k->type == KEY_TEXT || k->type == KEY_LINES) {
        snprintf(text, size, "text%zu", i);
        return 0;
    }
    const double room = k->max - k->min;
    double x = k->min + (k->type == KEY_REAL ? room * (double)(i + 1) / 64 : (double)(i + 2));
    if (x > k->max) x = k->max;
    char number[NUMBER_TEXT];
    snprintf(text, size, "%s", number_write(number, x));
    return x;
}

typedef struct {
    const config_key *key;
    char text[64];
    double x;
} expected;

static size_t expect(expected *e, size_t n, const config_key *keys) {
    for (; keys && keys->name; keys++) {
        if ((keys->choices && keys->choices[0] == '@') || !strcmp(keys->name, "mixers")) continue;
        e[n].key = keys;
        e[n].x = unlike(keys, n, e[n].text, sizeof e[n].text);
        n++;
    }
    return n;
}

static void check_fields(const expected *e, size_t n, const void *settings, size_t bytes) {
    for (size_t i = 0; i < n; i++) {
        const config_key *k = e[i].key;
        const char *at = (const char *)settings + k->at;
        check_trying("%s=%s", k->name, e[i].text);
        if ((size_t)k->at + k->bytes > bytes) check_fail("outside of its struct of %zu bytes", bytes);
        if (k->type == KEY_TEXT || k->type == KEY_LINES) {
            const char *text;
            memcpy(&text, at, sizeof text);
            assert_string_equal(text, e[i].text);
            continue;
        }
        double x = 0;
        uint64_t large = 0;
        uint32_t small = 0;
        memcpy(k->type == KEY_REAL        ? (void *)&x
               : k->bytes == sizeof large ? (void *)&large
                                          : (void *)&small,
               at, k->bytes);
        const double got = k->type == KEY_REAL ? x : k->bytes == sizeof large ? (double)large : (double)small;
        if (got != e[i].x) check_fail("its field holds %.17g", got);
    }
}

// Every key at once: were two of them kept in one place, one would not read back.
static void every_key_has_its_field(void **state) {
    (void)state;
    size_t pairs = 0;
    for (size_t t = 0; smx_tasks[t]; t++)
        for (size_t m = 0; mixers[m]; m++, pairs++) {
            expected e[128];
            const size_t common = expect(e, 0, common_keys), tasks = expect(e, common, smx_tasks[t]->keys),
                         n = expect(e, tasks, mixers[m]->keys);
            char text[8192];
            size_t at =
                (size_t)snprintf(text, sizeof text, "task=%s&mixer=%s", smx_tasks[t]->name, mixers[m]->name);
            for (size_t i = 0; i < n; i++)
                at += (size_t)snprintf(text + at, sizeof text - at, "&%s=%s", e[i].key->name, e[i].text);
            smx_error error = {0};
            config *c = config_parse(text, 0, &error);
            check_trying("task=%s&mixer=%s", smx_tasks[t]->name, mixers[m]->name);
            if (!c) check_fail("%s", error.message);
            assert_true(smx_task_of(c) == smx_tasks[t] && mixer_of(c) == mixers[m]);
            check_fields(e, common, &c->common, sizeof c->common);
            check_fields(e + common, tasks - common, c->task, smx_tasks[t]->settings);
            check_fields(e + tasks, n - tasks, c->mixer, mixers[m]->settings);
            config_free(c);
        }
    print_message("%zu pairs of task and mixer\n", pairs);
}

// By their names in C, so that a row that names another row's field is noticed.
static void fields_by_name(void **state) {
    (void)state;
    smx_error error = {0};
    config *c = config_parse(
        "length=96&vocab=50&width=24&blocks=3&heads=4&mlp=5&norm=rms&activation=silu&position=rope"
        "&init=xavier&embed_std=0.25&position_std=0.5&seed=9007199254740991&batch=7&steps=11&rate=0.125"
        "&schedule=cosine&warmup=13&decay=0.75&clip=2&pooling=last&beta1=0.5&beta2=0.625&epsilon=0.0625&threads=6&fast=1",
        0, &error);
    if (!c) check_fail("%s", error.message);
    const common_settings *s = &c->common;
    assert_true(s->version == 1 && s->length == 96 && s->vocab == 50 && s->width == 24 && s->blocks == 3);
    assert_true(s->heads == 4 && s->mlp == 5 && s->norm == NORM_RMS && s->activation == ACTIVATION_SILU);
    assert_true(s->position == POSITION_ROPE && s->init == START_XAVIER && s->embed_std == 0.25);
    assert_true(s->position_std == 0.5 && s->seed == 9007199254740991u && s->batch == 7 && s->steps == 11);
    assert_true(s->rate == 0.125 && s->schedule == SCHEDULE_COSINE && s->warmup == 13 && s->decay == 0.75);
    assert_true(s->clip == 2 && s->beta1 == 0.5 && s->beta2 == 0.625 && s->epsilon == 0.0625);
    assert_true(s->threads == 6 && s->fast == 1 && s->pooling == POOLING_LAST);
    config_free(c);
}

static void wrong_names_lead_to_the_key(void **state) {
    (void)state;
    static const struct {
        const char *wrong, *right;
    } names[] = {
        {"lr", "rate"},      {"learning_rate", "rate"}, {"dim", "width"}, {"layers", "blocks"},
        {"epochs", "steps"}, {"widht", "width"},        {"Rate", "rate"}, {"position_sd", "position_std"},
    };
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        char text[80], tail[80];
        smx_error e = {0};
        snprintf(text, sizeof text, "%s=1", names[i].wrong);
        snprintf(tail, sizeof tail, "the nearest is %s", names[i].right);
        check_trying("%s", text);
        if (config_parse(text, 0, &e)) check_fail("was taken");
        if (!strstr(e.message, tail)) check_fail("%s", e.message);
        assert_string_equal(e.key, names[i].wrong);
        assert_string_equal(e.allowed, names[i].right);
    }
}

static void values_of_a_run(void **state) {
    (void)state;
    smx_error e = {0};
    smx_run *r = smx_run_open("mixer=las&task=mqar&alphas=0%2E5&heads=1&rate=2e-3", &e);
    if (!r) check_fail("%s", e.message);
    assert_string_equal(smx_run_config_value(r, "alphas"), "0.5");
    assert_string_equal(smx_run_config_value(r, "rate"), "2e-3");
    assert_string_equal(smx_run_config_value(r, "task"), "mqar");
    assert_string_equal(smx_run_config_value(r, "batch"), "32"); // a recipe's
    assert_null(smx_run_config_value(r, "filters"));             // CAT's
    assert_null(smx_run_config_value(r, "signals"));             // another task's
    assert_null(smx_run_config_value(r, "rat"));
    smx_run_close(r);
}

static void values_as_json(void **state) {
    (void)state;
    const char *text = "mixer=las&task=charlm&text=a%22b%5Cc%26d~mixer=cat&length=32";
    smx_error e = {0};
    char *values = smx_config_values(text, &e);
    if (!values) check_fail("%s", e.message);
    json *all = json_parse(values, strlen(values), &e);
    if (!all) check_fail("%s", e.message);
    assert_int_equal(all->count, 2);
    const json *run = all->child;
    for (size_t i = 0; i < 2; i++, run = run->next) {
        config *c = config_parse(text, i, &e);
        size_t said = 0;
        for (size_t k = 0; k < c->n; k++) {
            const char *name = c->values[k].key->name, *value = config_get(c, name);
            const json *got = json_get(run, name);
            check_trying("run %zu, %s", i, name);
            if (!value != !got || (value && strcmp(got->string, value)))
                check_fail("%s", value ? value : "-");
            said += value != NULL;
        }
        assert_int_equal(run->count, said);
        config_free(c);
    }
    assert_string_equal(json_get(all->child, "text")->string, "a\"b\\c&d");
    json_free(all);
    free(values);
    assert_null(smx_config_values("mixer=cat~width=0", &e));
    assert_string_equal(e.key, "width");
}

// What a byte string spells by the definition of UTF-8: the code, made again as bytes, is these bytes.
static size_t utf8_by_definition(const unsigned char *s, size_t n) {
    for (size_t length = 1; length <= 4 && length <= n; length++) {
        const unsigned lead[] = {0, 0x00, 0xc0, 0xe0, 0xf0}, least[] = {0, 0, 0x80, 0x800, 0x10000};
        unsigned code = s[0] - lead[length];
        int follows = s[0] >= lead[length] && code < (length == 1 ? 128u : 64u >> (length - 1));
        for (size_t i = 1; i < length; i++) {
            follows = follows && s[i] / 64 == 2;
            code = code * 64 + s[i] % 64;
        }
        if (follows && code >= least[length] && code < 0x110000 && code / 0x800 != 0xd800 / 0x800)
            return length;
    }
    return 0;
}

// Every string of two bytes, and of four bytes from those at which rules change: as it stands in JSON, it is
// read back; what is no UTF-8 as U+FFFD.
static void any_bytes_as_json(void **state) {
    (void)state;
    static const unsigned char edges[] = {0x01, 0x1f, '"',  '\\', 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                          0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
                                          0xed, 0xee, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff};
    enum { EDGES = sizeof edges, FOURS = EDGES * EDGES * EDGES * EDGES };
    for (unsigned i = 0; i < 65536 + FOURS; i++) {
        const unsigned f = i - 65536;
        const char text[5] = {(char)(i < 65536 ? i >> 8 : edges[f % EDGES]),
                              (char)(i < 65536 ? i : edges[f / EDGES % EDGES]),
                              (char)(i < 65536 ? 0 : edges[f / EDGES / EDGES % EDGES]),
                              (char)(i < 65536 ? 0 : edges[f / EDGES / EDGES / EDGES])};
        char said[40] = "\"", expected[20] = "", character[8];
        for (const char *at = text; *at; strcat(said, character)) at = json_character(character, at);
        strcat(said, "\"");
        for (const char *at = text; *at;) {
            const size_t n = utf8_by_definition((const unsigned char *)at, strlen(at));
            if (json_utf8(at, strlen(at)) != n)
                check_fail("%s: %zu bytes are %zu", said, json_utf8(at, 4), n);
            strncat(expected, n ? at : "\xef\xbf\xbd", n ? n : 3);
            at += n ? n : 1;
        }
        smx_error e = {0};
        json *read = json_parse(said, strlen(said), &e);
        if (!read) check_fail("%s: %s", said, e.message);
        assert_string_equal(read->string, expected);
        json_free(read);
        for (const char *c = said; *c; c++) // no control in any spelling
            if ((unsigned char)*c < 0x20 || *c == 0x7f || (c[0] == '\xc2' && (unsigned char)c[1] < 0xa0))
                check_fail("%s has a control", said);
    }
}

// A number for each head, none negative, and nothing else.
static void decays_of_heads(void **state) {
    (void)state;
    static const char *const right[] = {"spaced", "0,2.5", "1e30,0"}, *const wrong[] = {
                                                                          "1",    "1,2,3",  "1,",     ",1",
                                                                          "1,,2", "a,b",    "1,b",    "1;2",
                                                                          "-1,1", "1,-0.5", "2e30,1", "nan,1",
                                                                          "1,inf"};
    for (size_t i = 0; i < CHECK_COUNT(right) + CHECK_COUNT(wrong); i++) {
        const int good = i < CHECK_COUNT(right);
        char text[100];
        smx_error e = {0};
        snprintf(text, sizeof text, "mixer=las&heads=2&width=8&alphas=%s",
                 good ? right[i] : wrong[i - CHECK_COUNT(right)]);
        check_trying("%s", text);
        smx_run *r = smx_run_open(text, &e);
        if ((r != NULL) != good) check_fail("%s", good ? e.message : "is taken");
        smx_run_close(r);
        if (good) continue;
        assert_string_equal(e.key, "alphas");
        assert_string_equal(e.allowed, "spaced, or heads=2 non-negative numbers separated by commas");
    }
}

// Every preset's name is said where none is called so.
static void presets_are_named(void **state) {
    (void)state;
    smx_error e = {0};
    char allowed[1000] = "", sentence[1100];
    for (const preset *p = language.presets; p->name; p++)
        snprintf(allowed + strlen(allowed), sizeof allowed - strlen(allowed), "%s%s",
                 *allowed ? ", " : "one of ", p->name);
    assert_in_range(strlen(allowed), 20, sizeof e.allowed - 1); // else the sentence would end in a name
    snprintf(sentence, sizeof sentence, "there is no preset nosuch; it must be %s", allowed);
    assert_null(config_parse("preset=nosuch&width=8", 0, &e));
    assert_string_equal(e.key, "preset");
    assert_string_equal(e.value, "nosuch");
    assert_string_equal(e.allowed, allowed);
    assert_string_equal(e.message, sentence);
}

// A preset lies under every key, and a complete text has them all: as a change it would say nothing.
static void no_preset_among_changes(void **state) {
    (void)state;
    smx_error e = {0};
    smx_evaluation v;
    smx_run *r = smx_run_open("length=32&pairs=4&width=8&batch=2", &e);
    if (!r) check_fail("%s", e.message);
    size_t size;
    void *bytes = smx_run_save(r, &size, &e);
    assert_null(smx_run_load(bytes, size, "steps=5&preset=recall", &e));
    assert_string_equal(e.key, "preset");
    memset(&e, 0, sizeof e);
    assert_int_equal(smx_run_evaluate_as(r, 2, "preset=recall", &v, &e), -1);
    assert_string_equal(e.key, "preset");
    free(bytes);
    smx_run_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_its_field),
        cmocka_unit_test(fields_by_name),
        cmocka_unit_test(wrong_names_lead_to_the_key),
        cmocka_unit_test(values_of_a_run),
        cmocka_unit_test(values_as_json),
        cmocka_unit_test(any_bytes_as_json),
        cmocka_unit_test(decays_of_heads),
        cmocka_unit_test(presets_are_named),
        cmocka_unit_test(no_preset_among_changes),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
