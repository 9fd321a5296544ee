// test_fast.c: fast mode is on where it was asked for, and nowhere else: kernels fuse, runs learn the same,
// and an exact run beside a fast one keeps its bits. The tolerances of every kernel in fast mode: the other
// tests with SMX_FAST=1.
#include "proofs_tests/support/check.h"

#include <pthread.h>

#include "kernels/digest.h"
#include <seqmix/run.h>

static void skip_without(void) {
    smx_isa_choose(smx_isa_name(0));
    if (smx_fast_isa()) return;
    print_message("no copies with fused multiply-add for %s on this machine\n", smx_isa());
    skip();
}

static float product(void) {
    enum { K = 64 };
    float a[K], b[K * 16], c[16];
    _Alignas(SMX_ALIGN) unsigned char scratch[1 << 16];
    assert_true(smx_gemm_scratch_bytes(1, 16, K) <= sizeof scratch);
    check_seed(3);
    for (size_t i = 0; i < K; i++) a[i] = (float)check_uniform(-1, 1);
    for (size_t i = 0; i < K * 16; i++) b[i] = (float)check_uniform(-1, 1);
    smx_gemm(c, a, b, scratch, 1, 16, K, K, 16, 16, 0);
    float sum = 0.0f;
    for (size_t i = 0; i < 16; i++) sum += (float)(i + 1) * c[i];
    return sum;
}
static void *product_of_another_thread(void *to) {
    *(float *)to = product();
    return NULL;
}

static void belongs_to_its_thread(void **state) {
    (void)state;
    skip_without();
    const float exact = product();
    assert_int_equal(smx_fast(1), 0);
    const float fast = product();
    float elsewhere;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, product_of_another_thread, &elsewhere), 0);
    pthread_join(other, NULL);
    assert_int_equal(smx_fast(0), 1);
    assert_true(fast != exact);
    assert_true(fabsf(fast - exact) < 1e-3f);
    assert_true(elsewhere == exact);
    assert_true(product() == exact);
}

static const char config[] = "mixer=cat&task=mqar&vocab=64&length=64&pairs=8&width=32&seed=1";
static smx_run *open_run(int fast) {
    char text[160];
    smx_error error = {0};
    snprintf(text, sizeof text, "%s&fast=%d", config, fast);
    smx_run *r = smx_run_open(text, &error);
    if (!r) fail_msg("%s", error.message);
    return r;
}
static void train(smx_run *r, size_t steps) {
    smx_error error;
    if (smx_run_step(r, steps, &error)) fail_msg("%s", error.message);
}

static void an_exact_run_beside_a_fast_one_keeps_its_bits(void **state) {
    (void)state;
    skip_without();
    smx_run *alone = open_run(0), *beside = open_run(0), *fast = open_run(1);
    train(alone, 20);
    for (size_t i = 0; i < 20; i++) {
        train(fast, 1);
        train(beside, 1);
    }
    assert_true(smx_run_digest(alone) == smx_run_digest(beside));
    assert_true(smx_run_digest(alone) != smx_run_digest(fast));
    size_t n;
    const float *right = smx_run_losses(alone, &n), *near = smx_run_losses(fast, &n);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(near[i] - right[i]) <= 1e-3f * right[i]))
            fail_msg("step %zu: loss %.9g in fast mode, %.9g exactly", i + 1, (double)near[i],
                     (double)right[i]);
    smx_run_close(alone);
    smx_run_close(beside);
    smx_run_close(fast);
}

// Whatever mode the caller's thread is in: looking into an exact run and the digests of the kernels are
// exact.
static void the_callers_mode_is_not_the_runs(void **state) {
    (void)state;
    skip_without();
    smx_error error = {0};
    smx_run *r = smx_run_open("mixer=cat&task=smnist&length=28&width=16&batch=4&seed=1", &error);
    if (!r) fail_msg("%s", error.message);
    train(r, 2);
    uint64_t seen[2], digest[2];
    for (int fast = 0; fast < 2; fast++) {
        const int before = smx_fast(fast);
        smx_sample sample;
        if (smx_run_look(r, 1, 0, 0, &sample, &error)) fail_msg("%s", error.message);
        const float *share = smx_run_saliency(r, -1, &error);
        if (!share) fail_msg("%s", error.message);
        seen[fast] = 14695981039346656037u;
        for (size_t i = 0; i < 28 * 28; i++) {
            uint32_t word;
            memcpy(&word, share + i, 4);
            seen[fast] = (seen[fast] ^ word) * 1099511628211u;
        }
        digest[fast] = smx_digest_kernel(0, NULL);
        smx_fast(before);
    }
    assert_true(seen[0] == seen[1]);
    assert_true(digest[0] == digest[1]);
    smx_run_close(r);
}

// Where nothing is fused, fast=1 is an exact run, and says so.
static void says_where_there_is_none(void **state) {
    (void)state;
    smx_isa_choose("scalar");
    smx_run *exact = open_run(0), *fast = open_run(1);
    assert_string_equal(smx_run_warning(exact), "");
    assert_non_null(strstr(smx_run_warning(fast), "fast=1 runs exactly here: scalar has no"));
    train(exact, 2);
    train(fast, 2);
    assert_true(smx_run_digest(exact) == smx_run_digest(fast));
    smx_run_close(fast);
    smx_run_close(exact);
    skip_without(); // and chooses the best again
    fast = open_run(1);
    assert_string_equal(smx_run_warning(fast), "");
    smx_run_close(fast);
}

static void learns_all_the_same(void **state) {
    (void)state;
    skip_without();
    smx_run *r = open_run(1);
    smx_evaluation e;
    smx_error error;
    train(r, 300);
    assert_int_equal(smx_run_evaluate(r, 200, 0, &e, &error), 0);
    if (e.accuracy < 0.99)
        fail_msg("recall learned in fast mode: %.4f of the answers, at least 0.99 wanted", e.accuracy);
    smx_run_close(r);
}

// Each piece in a thread of its own, so that none inherits the mode of the run's.
typedef struct {
    smx_piece piece;
    void *context;
    size_t i;
} errand;
static void *do_errand(void *context) {
    const errand *e = context;
    e->piece(e->context, e->i);
    return NULL;
}
static void each_in_a_thread(void *pool, size_t n, smx_piece piece, void *context) {
    ++*(size_t *)pool;
    for (size_t i = 0; i < n; i++) {
        errand e = {piece, context, i};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, do_errand, &e), 0);
        pthread_join(thread, NULL);
    }
}
static void reaches_the_threads_of_a_pool(void **state) {
    (void)state;
    skip_without();
    size_t calls = 0;
    smx_run *alone = open_run(1), *pooled = open_run(1);
    smx_run_parallel(pooled, each_in_a_thread, &calls);
    train(alone, 3);
    train(pooled, 3);
    assert_true(calls > 0);
    assert_true(smx_run_digest(alone) == smx_run_digest(pooled));
    smx_run_close(alone);
    smx_run_close(pooled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(belongs_to_its_thread),
        cmocka_unit_test(an_exact_run_beside_a_fast_one_keeps_its_bits),
        cmocka_unit_test(the_callers_mode_is_not_the_runs),
        cmocka_unit_test(says_where_there_is_none),
        cmocka_unit_test(learns_all_the_same),
        cmocka_unit_test(reaches_the_threads_of_a_pool),
    };
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
