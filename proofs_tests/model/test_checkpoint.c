// test_checkpoint.c: what a checkpoint must not be: damaged by one bit, of another model, of a state that no
// training leaves, or slow. (That a loaded run goes on to the same bits is in test_run.c.)
#define _GNU_SOURCE // memmem
#include "proofs_tests/support/check.h"

#include <time.h>

#include <seqmix/run.h>

#define CONFIG "mixer=cat&task=mqar&vocab=8&length=8&pairs=2&width=8&batch=2&steps=20"
enum { STEPS = 7 };

typedef struct {
    char *bytes;
    size_t size, header, data; // the JSON's length; where the words begin
} file;

static file saved_of(const char *config) {
    smx_error e = {0};
    smx_run *r = smx_run_open(config, &e);
    if (!r || smx_run_step(r, STEPS, &e)) fail_msg("%s", e.message);
    file f;
    f.bytes = smx_run_save(r, &f.size, &e);
    assert_non_null(f.bytes);
    smx_run_close(r);
    f.header = 0;
    for (int i = 7; i >= 0; i--) f.header = f.header << 8 | (unsigned char)f.bytes[i];
    f.data = 8 + f.header;
    return f;
}

static file saved(void) { return saved_of(CONFIG); }

// In place of `from` in the header stands `to`; the spaces at the header's end make room, or take it.
static void replace(file *f, const char *from, const char *to) {
    const size_t n = strlen(from), m = strlen(to);
    char *at = memmem(f->bytes + 8, f->header, from, n), *end = f->bytes + f->data;
    if (!at) fail_msg("no %s in the header", from);
    for (size_t i = 0; n + i < m; i++)
        if (end[-1 - (long)i] != ' ') fail_msg("no room for %s", to);
    memmove(at + m, at + n, (size_t)(end - at) - (m > n ? m : n));
    memcpy(at, to, m);
    if (m < n) memset(end - (n - m), ' ', n - m);
}

// As an earlier version wrote it.
static file without_checksum(file f) {
    char sum[] = "\"checksum\":\"0123456789abcdef\",";
    const char *at = memmem(f.bytes, f.size, "\"checksum\":\"", 12);
    assert_non_null(at);
    memcpy(sum, at, sizeof sum - 1);
    replace(&f, sum, "");
    replace(&f, "\"seqmix2\"", "\"seqmix\"");
    return f;
}

static file saved_before_checksums(void) { return without_checksum(saved()); }

static void refused(const file *f, const char *changes, const char *key, const char *words) {
    smx_error e = {0};
    smx_run *r = smx_run_load(f->bytes, f->size, changes, &e);
    if (r) fail_msg("%s: it loads", words);
    if (!strstr(e.message, words)) fail_msg("'%s' is not in: %s", words, e.message);
    assert_string_equal(e.key, key);
}

static smx_run *loads(const file *f, const char *changes) {
    smx_error e = {0};
    smx_run *r = smx_run_load(f->bytes, f->size, changes, &e);
    if (!r) fail_msg("%s", e.message);
    return r;
}

static void every_bit_counts(void **state) {
    (void)state;
    file f = saved();
    smx_error e;
    size_t tried = 0;
    for (size_t i = 0; i < f.size; i += i < f.data ? 1 : 5)
        for (int bit = 0; bit < 8; bit++, tried++) {
            f.bytes[i] ^= (char)(1 << bit);
            e.message[0] = 0;
            if (smx_run_load(f.bytes, f.size, NULL, &e))
                fail_msg("bit %d of byte %zu may be anything", bit, i);
            if (strlen(e.message) < 10) fail_msg("bit %d of byte %zu: '%s'", bit, i, e.message);
            f.bytes[i] ^= (char)(1 << bit);
        }
    print_message("%zu flipped bits of %zu bytes\n", tried, f.size);
    assert_true(tried > 10000);
    smx_run *r = loads(&f, NULL);
    assert_string_equal(smx_run_warning(r), "");
    smx_run_close(r);
    free(f.bytes);
}

static void older_files_load_and_say_so(void **state) {
    (void)state;
    file f = saved_before_checksums(), now = saved();
    smx_run *old = loads(&f, NULL), *new = loads(&now, NULL);
    assert_non_null(strstr(smx_run_warning(old), "no checksum"));
    assert_true(smx_run_digest(old) == smx_run_digest(new));
    smx_run_close(old), smx_run_close(new);
    replace(&now, "\"checksum\"", "\"checksux\""); // a file of today without one is damaged
    refused(&now, NULL, "", "damaged");
    free(f.bytes), free(now.bytes);
}

static void states_that_no_training_leaves(void **state) {
    (void)state;
    const float nan = (float)NAN, inf = (float)INFINITY, negative = -1e-20f;
    file f = saved_before_checksums();
    smx_run *r = loads(&f, NULL);
    smx_metrics m;
    smx_run_metrics(r, &m);
    smx_run_close(r);
    const struct {
        size_t kind, at; // weight, adam.m, adam.v, losses
        float value;
        const char *words;
    } bad[] = {{0, 3, nan, "holds NaN"},
               {0, 0, inf, "holds NaN or an infinity"},
               {1, m.params - 1, nan, "adam.m:"},
               {1, 5, -inf, "adam.m:"},
               {2, 0, nan, "adam.v:"},
               {2, m.params - 1, inf, "adam.v:"},
               {2, 9, negative, "a square below"},
               {3, STEPS - 1, nan, "training:loss"}};
    for (size_t i = 0; i < CHECK_COUNT(bad); i++) {
        char *at = f.bytes + f.data + 4 * (bad[i].kind * m.params + bad[i].at);
        float kept;
        memcpy(&kept, at, 4);
        memcpy(at, &bad[i].value, 4);
        refused(&f, NULL, "", bad[i].words);
        memcpy(at, &kept, 4);
    }
    smx_run_close(loads(&f, NULL));
    replace(&f, "\"adam.v:head\"", "\"adam.w:head\""); // a state with a hole
    refused(&f, NULL, "", "adam.v:head is missing");
    free(f.bytes);
}

// A tensor's entry of which one field is missing, of another kind, or points elsewhere.
static void entries_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } bad[] = {{"\"data_offsets\":[0,", "\"data_offsetz\":[0,"},
               {"\"data_offsets\":[0,", "\"data_offsets\":[4,"},
               {"\"data_offsets\":[0,", "\"data_offsets\":["},
               {"\"data_offsets\":[0,", "\"data_offsets\":[0,0,"},
               {"\"data_offsets\":[0,", "\"data_offsets\":[-4,"},
               {"\"dtype\":\"F32\"", "\"dtype\":\"F64\""},
               {"\"dtype\":\"F32\"", "\"dtype\":32"},
               {"\"dtype\":\"F32\"", "\"dtypf\":\"F32\""},
               {"\"shape\":[", "\"shape\":[1,"},
               {"\"shape\":[", "\"shapf\":["}};
    for (size_t i = 0; i < CHECK_COUNT(bad); i++) {
        file f = saved_before_checksums();
        replace(&f, bad[i].from, bad[i].to);
        refused(&f, NULL, "", "does not fit");
        free(f.bytes);
    }
}

static void another_model_is_refused(void **state) {
    (void)state;
    file f = saved();
    refused(&f, "mixer=attention", "mixer", "cat as in the checkpoint");
    refused(&f, "task=nar", "task", "mqar as in the checkpoint");
    refused(&f, "filters=none", "", "uses the checkpoint's tensor");
    refused(&f, "width=16", "", "does not fit");
    refused(&f, "steps=6", "steps", "at least 7");
    smx_run_close(loads(&f, "mixer=cat&task=mqar&steps=7&batch=4&rate=0.001"));
    free(f.bytes);
    f = saved_before_checksums();
    replace(&f, "\"head_bias\"", "\"head_bia2\"");
    refused(&f, NULL, "", "head_bias is missing");
    free(f.bytes);
    f = saved_before_checksums();
    replace(&f, "\"step\":\"7\"", "\"step\":\"4000000000\"");
    refused(&f, NULL, "steps", "at least 4000000000");
    free(f.bytes);
}

// Time grows with the header's length, not with its keys times the model's weights.
// (Keys of a list, searched one after the other:
// a minute.)
static void junk_is_quick(void **state) {
    (void)state;
    enum { KEYS = 1400000 };
    file f = without_checksum(saved_of(CONFIG "&blocks=64&mlp=1&norm=rms"));
    char *bytes = malloc(f.size + KEYS * 11 + 8), *to = bytes + 8;
    assert_non_null(bytes);
    *to++ = '{';
    for (int i = 0; i < KEYS; i++) to += sprintf(to, "\"%06x\":0,", (unsigned)i * 7919u & 0xffffff);
    memcpy(to, f.bytes + 9, f.header - 1);
    to += f.header - 1;
    const size_t header = (size_t)(to - bytes) - 8;
    for (int i = 0; i < 8; i++) bytes[i] = (char)((uint64_t)header >> (8 * i));
    memcpy(to, f.bytes + f.data, f.size - f.data);
    file junk = {bytes, 8 + header + f.size - f.data, header, 8 + header};
    const clock_t start = clock();
    refused(&junk, NULL, "", "uses the checkpoint's tensor");
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%d keys: %.1f s\n", KEYS, seconds);
    assert_true(seconds < 8);
    free(bytes), free(f.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(older_files_load_and_say_so),
        cmocka_unit_test(states_that_no_training_leaves),
        cmocka_unit_test(entries_that_do_not_fit),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(junk_is_quick),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
