// test_optimiser.c: what a training step does to the weights, from outside: warm-up and schedule, the clip by
// the global norm, both moments with their corrections, and weight decay on matrices only, each recomputed in
// double by the oracle from the gradients that the run shows.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>
#include <seqmix/run.h>

enum { MOST = 64, STEPS = 12, WARMUP = 3 };
typedef struct {
    char name[64];
    size_t n;
    uint32_t rank;
    double *p, *m, *v;
} state_of;

static double expected_rate(int step, int cosine) { // steps count from 1
    if (step < WARMUP) return 0.02 * step / WARMUP;
    return cosine ? 0.02 * 0.5 * (1 + cos(3.141592653589793 * (step - WARMUP) / (STEPS - WARMUP))) : 0.02;
}
static void steps_are_adamw(const char *change, int cosine, double clip) {
    smx_error e = {0};
    char config[400];
    check_trying("%s", change);
    snprintf(
        config, sizeof config,
        "mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=2&norm=layer&mlp=1&rate=0.02&warmup=3&steps=12&beta1=0.8&beta2=0.95&%s",
        change);
    smx_run *r = smx_run_open(config, &e);
    if (!r) check_fail("%s", e.message);
    static state_of weights[MOST];
    size_t count = 0;
    for (size_t i = 0; i < smx_run_tensor_count(r); i++) {
        smx_tensor t;
        if (smx_run_tensor_at(r, i, &t) || !t.is_weight || !strncmp(t.name, "grad:", 5)) continue;
        if (count == MOST) check_fail("more than %d weights", MOST);
        state_of *w = &weights[count++];
        snprintf(w->name, sizeof w->name, "%s", t.name);
        w->n = 1, w->rank = t.rank;
        for (uint32_t d = 0; d < t.rank; d++) w->n *= t.shape[d];
        w->p = check_widen(t.data, w->n);
        w->m = check_doubles(w->n), w->v = check_doubles(w->n);
        memset(w->m, 0, w->n * sizeof *w->m), memset(w->v, 0, w->n * sizeof *w->v);
    }
    assert_true(count > 8);
    int clipped = 0;
    for (int step = 1; step <= STEPS; step++) {
        smx_metrics metrics;
        if (smx_run_step(r, 1, &e)) check_fail("%s", e.message);
        smx_run_metrics(r, &metrics);
        const double rate = expected_rate(step, cosine);
        if (!(fabs(metrics.rate - rate) <= 1e-9))
            check_fail("step %d has the rate %g, expected %g", step, metrics.rate, rate);
        double square = 0;
        for (size_t i = 0; i < count; i++) {
            char name[80];
            smx_tensor g;
            snprintf(name, sizeof name, "grad:%s", weights[i].name);
            if (smx_run_tensor(r, name, &g, &e)) check_fail("%s", e.message);
            for (size_t j = 0; j < weights[i].n; j++) square += (double)g.data[j] * (double)g.data[j];
        }
        if (!(fabs(metrics.gradient_norm - sqrt(square)) <= 1e-5 * sqrt(square)))
            check_fail("step %d: the gradient's norm is %g, expected %g", step, metrics.gradient_norm,
                       sqrt(square));
        ref_adamw_opts o = {rate,
                            (double)0.8f,
                            (double)0.95f,
                            1e-8,
                            0,
                            0,
                            0,
                            clip > 0 && sqrt(square) > clip ? clip / sqrt(square) : 1};
        o.c1 = 1 - pow(o.b1, step), o.c2 = 1 - pow(o.b2, step);
        clipped += o.clip < 1;
        for (size_t i = 0; i < count; i++) {
            state_of *w = &weights[i];
            char name[80];
            smx_tensor g, now;
            snprintf(name, sizeof name, "grad:%s", w->name);
            if (smx_run_tensor(r, name, &g, &e)) check_fail("%s", e.message);
            double *gradient = check_widen(g.data, w->n);
            o.wd = strstr(change, "decay=0.5") && w->rank >= 2 && !strstr(w->name, "filter") ? 0.5 : 0;
            if (smx_run_tensor(r, w->name, &now, &e)) check_fail("%s", e.message);
            ref_adamw(w->p, w->m, w->v, gradient, w->n, &o);
            for (size_t j = 0; j < w->n; j++) {
                // Steps are at most a few rates long; a gradient that is near 0 has its rounding in the
                // step's direction.
                const double unsure = sqrt(w->v[j] / o.c2) < 1e-6 ? 3 * rate : 0;
                if (!(fabs((double)now.data[j] - w->p[j]) <= 2e-4 * rate + 1e-6 * fabs(w->p[j]) + unsure))
                    check_fail("step %d: %s[%zu] is %.9g, expected %.9g", step, w->name, j,
                               (double)now.data[j], w->p[j]);
                w->p[j] = (double)now.data[j]; // errors do not add up
            }
            free(check_blocks[--check_n_blocks].block); // the gradient's copy
        }
    }
    if (clip > 0 && clip < 1 && clipped < STEPS / 2)
        check_fail("only %d of %d steps were clipped", clipped, STEPS);
    if (clip > 10 && clipped) check_fail("%d steps were clipped at %g", clipped, clip);
    smx_run_close(r);
    check_done();
}
static void constant_rate(void **state) {
    (void)state;
    steps_are_adamw("schedule=constant&clip=0", 0, 0);
}
static void cosine_and_clip(void **state) {
    (void)state;
    steps_are_adamw("schedule=cosine&clip=0.05", 1, 0.05);
    steps_are_adamw("schedule=cosine&clip=100", 1, 100);
}
static void decay_on_matrices(void **state) {
    (void)state;
    steps_are_adamw("schedule=constant&clip=1&decay=0.5", 0, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constant_rate), cmocka_unit_test(cosine_and_clip),
                                       cmocka_unit_test(decay_on_matrices)};
    return cmocka_run_group_tests_name("optimiser", tests, NULL, NULL);
}
