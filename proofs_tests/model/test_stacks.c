// test_stacks.c: a mixer for each block (mixers=a,b) and keys of one block (block1.filter=5): a list of one
// is the mixer itself, each block has its own weights and settings, the complete config says it all again,
// files and states carry it, and what does not fit is refused in a sentence.
#include "proofs_tests/support/check.h"

#include "model/run/run_private.h"
#include <seqmix/state.h>

static smx_run *opened(const char *text) {
    smx_error e;
    smx_run *r = smx_run_open(text, &e);
    if (!r) check_fail("%s: %s", text, e.message);
    return r;
}
static uint64_t digest_after(const char *text, size_t steps) {
    smx_run *r = opened(text);
    smx_error e;
    for (size_t i = 0; i < steps; i++)
        if (smx_run_step(r, 1, &e)) check_fail("%s: %s", text, e.message);
    const uint64_t digest = smx_run_digest(r);
    smx_run_close(r);
    return digest;
}

static void a_list_of_one_is_the_mixer(void **state) {
    (void)state;
    static const char *const mixers[] = {"cat", "gla", "focus", "hyena"};
    for (size_t i = 0; i < CHECK_COUNT(mixers); i++) {
        char one[128], list[128], both[160];
        snprintf(one, sizeof one, "mixer=%s&blocks=2&length=96&width=16&batch=2", mixers[i]);
        snprintf(list, sizeof list, "mixers=%s&blocks=2&length=96&width=16&batch=2", mixers[i]);
        snprintf(both, sizeof both, "mixers=%s,%s&blocks=2&length=96&width=16&batch=2", mixers[i], mixers[i]);
        check_trying("%s", list);
        const uint64_t digest = digest_after(one, 2);
        assert_true(digest_after(list, 2) == digest && digest_after(both, 2) == digest);
    }
}

// The last size of a weight: taps of a filter.
static size_t last_size(const smx_run *r, const char *name) {
    const param *w = params_find(&r->weights, name);
    if (!w) check_fail("there is no weight %s", name);
    return w->shape[w->rank - 1];
}
static void each_block_has_its_own(void **state) {
    (void)state;
    smx_run *r = opened("mixers=cat,gla,cat&blocks=5&filter=5&block2.filter=2&block4.gate_rank=3&width=16");
    assert_int_equal(last_size(r, "block0.mixer.filter_k"), 5);
    assert_int_equal(last_size(r, "block2.mixer.filter_k"), 2);
    assert_int_equal(last_size(r, "block3.mixer.filter_k"), 5);
    assert_int_equal(last_size(r, "block1.mixer.w_g1"), 16);
    assert_int_equal(last_size(r, "block4.mixer.w_g1"), 3);
    assert_null(params_find(&r->weights, "block1.mixer.filter_k"));
    assert_string_equal(smx_run_config_value(r, "filter"), "5"); // read by two of them
    assert_string_equal(smx_run_config_value(r, "block2.filter"), "2");
    assert_null(smx_run_config_value(r, "sliding"));
    assert_null(smx_run_config_value(r, "mixer"));
    smx_run_close(r);
    r = opened("mixer=cat&blocks=2&filter=4&block1.filter=3");
    assert_int_equal(last_size(r, "block0.mixer.filter_k"), 4);
    assert_int_equal(last_size(r, "block1.mixer.filter_k"), 3);
    smx_run_close(r);
}

static void the_complete_config_says_it(void **state) {
    (void)state;
    static const char *const texts[] = {
        "mixers=cat,gated_deltanet,attention&blocks=4&width=16&block2.sliding=9&block0.filter=2",
        "mixer=cat&blocks=3&block1.filter=3&width=16", "mixers=focus,cat&blocks=2&length=96&width=16",
        "mixers=las,cat&task=charlm&blocks=2&width=16&block0.alphas=0.5,0.25&heads=2"};
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        smx_error e;
        check_trying("%s", texts[i]);
        char *all = smx_config_complete(texts[i], &e), *again = all ? smx_config_complete(all, &e) : NULL;
        if (!again) check_fail("%s", e.message);
        assert_string_equal(all, again);
        assert_true(!strstr(all, "mixers=") == !strstr(texts[i], "mixers="));
        assert_true(digest_after(all, 1) == digest_after(texts[i], 1));
        free(all);
        free(again);
    }
}

static void files_and_states(void **state) {
    (void)state;
    smx_error e;
    size_t size;
    smx_run *r = opened("mixers=cat,attention&blocks=2&width=16&block1.sliding=7&batch=2&steps=9");
    if (smx_run_step(r, 2, &e)) check_fail("%s", e.message);
    void *bytes = smx_run_save(r, &size, &e);
    smx_run *loaded = bytes ? smx_run_load(bytes, size, NULL, &e) : NULL;
    if (!loaded) check_fail("%s", e.message);
    if (smx_run_step(r, 1, &e) || smx_run_step(loaded, 1, &e)) check_fail("%s", e.message);
    assert_true(smx_run_digest(r) == smx_run_digest(loaded));
    assert_null(smx_run_load(bytes, size, "mixers=cat,cat", &e));
    assert_non_null(strstr(e.message, "the mixer of block 1"));
    smx_run_state *s = smx_state_open(r, 1, 40, &e);
    if (!s) check_fail("%s", e.message);
    smx_state_close(s);
    smx_run_close(loaded);
    smx_run_close(r);
    free(bytes);
    r = opened("mixers=cat,attention&blocks=2&width=16&block1.causal=0&task=cumsum");
    assert_null(smx_state_open(r, 1, 40, &e)); // one block sees ahead
    assert_non_null(smx_run_warning(r));
    assert_true(strlen(smx_run_warning(r)) > 0);
    smx_run_close(r);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"mixer=cat&mixers=cat,gla&blocks=2", "are both given"},
        {"mixers=cat,foo&blocks=2", "foo is none"},
        {"mixers=cat,foo&blocks=1", "foo is none"},
        {"mixers=cat,,gla&blocks=3", "an empty place"},
        {"mixers=cat,gla", "blocks=1"},
        {"mixers=equations,cat&blocks=2", "stands alone"},
        {"mixers=cat,gla&blocks=2&block1.filter=3", "a key of gla"},
        {"mixer=cat&block1.filter=3", "a block from 0 to 0"},
        {"mixer=cat&block0.heads=2", "no mixer has a key heads"},
        {"mixer=cat&block0.filter=x", "block0.filter"},
        {"mixers=cat,attention&blocks=2&position=alibi&block0.filter_kind=multi_head&heads=3&width=16",
         "heads=3"},
        {"mixers=attention,linear&blocks=2&position=rope", "mixer=linear"},
        {"mixer=cat&block.filter=3", "there is no key block.filter"},
        {"mixer=cat&block99999999999999999999.filter=3", "there is no key"},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        smx_error e = {.message = ""};
        check_trying("%s", cases[i].text);
        smx_run *r = smx_run_open(cases[i].text, &e);
        if (r || !strstr(e.message, cases[i].says)) check_fail("said: %s", r ? "nothing" : e.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_list_of_one_is_the_mixer),
                                       cmocka_unit_test(each_block_has_its_own),
                                       cmocka_unit_test(the_complete_config_says_it),
                                       cmocka_unit_test(files_and_states), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
