// test_optimiser.c: what a training step of each optimiser does to the weights, from outside: warm-up and
// schedule, the clip by the global norm, the moments with their corrections, which weights Muon takes,
// and weight decay on matrices only, each recomputed in double by the oracle from the gradients that the
// run shows.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>
#include <seqmix/run.h>

#include "model/settings/common.h"

#define OPTIMISER_NAME(constant, word) word,

enum { MOST = 64, WARMUP = 3 };
typedef struct {
    char name[64];
    size_t n;
    uint32_t rank, shape[4];
    double *p, *m, *v;
} state_of;

// Of a plan of so many steps; beyond its end cosine and line stay at 0. One that ends with the warm-up has
// nothing to fall through.
enum { CONSTANT, COSINE, LINE };
static double expected_rate(int step, int plan, int schedule) { // steps count from 1
    if (step < WARMUP) return 0.02 * step / WARMUP;
    if (schedule == CONSTANT || plan <= WARMUP) return 0.02;
    if (schedule == LINE) return step > plan ? 0 : 0.02 * (plan - step) / (plan - WARMUP);
    return step > plan ? 0 : 0.02 * 0.5 * (1 + cos(3.141592653589793 * (step - WARMUP) / (plan - WARMUP)));
}
// One weight's step by the oracle; how far it may be off at [j].
static double *slack;
static void expected_step(const char *change, state_of *w, double *g, const ref_adamw_opts *o) {
    const double rate = o->lr;
    const int takes = w->rank == 2 && strstr(w->name, ".w_"); // of Muon
    for (size_t j = 0; j < w->n; j++) slack[j] = 0;
    if (strstr(change, "optimizer=muon") && takes) {
        for (size_t j = 0; j < w->n; j++) g[j] *= o->clip, slack[j] = 1e-3 * rate;
        if (ref_muon(w->p, w->m, g, w->shape[0], w->shape[1], rate, o->b1, o->wd)) check_fail("no memory");
    } else if (strstr(change, "optimizer=sgd")) {
        for (size_t j = 0; j < w->n; j++) g[j] *= o->clip;
        ref_sgd(w->p, w->m, g, w->n, rate, o->b1, o->wd);
    } else if (strstr(change, "optimizer=lion")) {
        for (size_t j = 0; j < w->n; j++) { // a sum near 0 has the sign of its rounding
            g[j] *= o->clip;
            const double a = o->b1 * w->m[j], b = (1 - o->b1) * g[j];
            slack[j] = fabs(a + b) < 1e-5 * (fabs(a) + fabs(b)) + 1e-9 ? 2 * rate : 0;
        }
        ref_lion(w->p, w->m, g, w->n, rate, o->b1, o->b2, o->wd);
    } else if (strstr(change, "optimizer=") && !strstr(change, "optimizer=muon")) {
        check_fail("%s: no twin of it is called in expected_step", change);
    } else {
        ref_adamw(w->p, w->m, w->v, g, w->n, o);
        // Steps are at most a few rates long; a gradient that is near 0 has its rounding in the step's
        // direction.
        for (size_t j = 0; j < w->n; j++) slack[j] = sqrt(w->v[j] / o->c2) < 1e-6 ? 3 * rate : 0;
    }
}
// `steps` of them, of a plan of `plan`.
static void steps_are_right(const char *change, int schedule, double clip, int plan, int steps) {
    smx_error e = {0};
    char config[400];
    check_trying("%s", change);
    snprintf(
        config, sizeof config,
        "mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=2&norm=layer&mlp=1&rate=0.02&warmup=3&steps=%d&beta1=0.8&beta2=0.999&%s",
        plan, change);
    smx_run *r = smx_run_open(config, &e);
    if (!r) check_fail("%s", e.message);
    static state_of weights[MOST];
    size_t count = 0, longest = 0;
    for (size_t i = 0; i < smx_run_tensor_count(r); i++) {
        smx_tensor t;
        if (smx_run_tensor_at(r, i, &t) || !t.is_weight || !strncmp(t.name, "grad:", 5)) continue;
        if (count == MOST) check_fail("more than %d weights", MOST);
        state_of *w = &weights[count++];
        snprintf(w->name, sizeof w->name, "%s", t.name);
        w->n = 1, w->rank = t.rank;
        for (uint32_t d = 0; d < t.rank; d++) w->n *= w->shape[d] = t.shape[d];
        if (w->n > longest) longest = w->n;
        w->p = check_widen(t.data, w->n);
        w->m = check_doubles(w->n), w->v = check_doubles(w->n);
        memset(w->m, 0, w->n * sizeof *w->m), memset(w->v, 0, w->n * sizeof *w->v);
    }
    assert_true(count > 8);
    slack = check_doubles(longest);
    int clipped = 0;
    for (int step = 1; step <= steps; step++) {
        smx_metrics metrics;
        if (smx_run_step(r, 1, &e)) check_fail("%s", e.message);
        smx_run_metrics(r, &metrics);
        const double rate = expected_rate(step, plan, schedule);
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
                            (double)0.999f,
                            strstr(change, "epsilon=0.01") ? 0.01 : 1e-8,
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
            expected_step(change, w, gradient, &o);
            for (size_t j = 0; j < w->n; j++) {
                if (!(fabs((double)now.data[j] - w->p[j]) <= 2e-4 * rate + 1e-6 * fabs(w->p[j]) + slack[j]))
                    check_fail("step %d: %s[%zu] is %.9g, expected %.9g", step, w->name, j,
                               (double)now.data[j], w->p[j]);
                w->p[j] = (double)now.data[j]; // errors do not add up
            }
            free(check_blocks[--check_n_blocks].block); // the gradient's copy
        }
    }
    if (clip > 0 && clip < 1 && clipped < steps / 2)
        check_fail("only %d of %d steps were clipped", clipped, steps);
    if (clip > 10 && clipped) check_fail("%d steps were clipped at %g", clipped, clip);
    smx_run_close(r);
    check_done();
}
static void constant_rate(void **state) {
    (void)state;
    steps_are_right("schedule=constant&clip=0", 0, 0, 12, 12);
}
static void cosine_and_clip(void **state) {
    (void)state;
    steps_are_right("schedule=cosine&clip=0.05", 1, 0.05, 12, 12);
    steps_are_right("schedule=cosine&clip=100", 1, 100, 12, 20);
}
static void linear_rate(void **state) {
    (void)state;
    steps_are_right("schedule=linear&clip=0", LINE, 0, 12, 20);
}
static void a_plan_that_is_all_warm_up(void **state) {
    (void)state;
    for (int plan = WARMUP - 1; plan <= WARMUP; plan++) {
        steps_are_right("schedule=cosine&clip=0", COSINE, 0, plan, 6);
        steps_are_right("schedule=linear&clip=0", LINE, 0, plan, 6);
    }
}
static void another_epsilon(void **state) {
    (void)state;
    steps_are_right("schedule=constant&clip=0&epsilon=0.01", 0, 0, 12, 12);
}
static void decay_on_matrices(void **state) {
    (void)state;
    steps_are_right("schedule=constant&clip=1&decay=0.5", 0, 1, 12, 12);
}
// Of each: with and without a clip that bites, with and without decay. mlp=1 is square, the MLP of the
// last tall and wide.
static void each_other_optimiser(void **state) {
    (void)state;
    static const char *const names[] = {OPTIMISERS_BUT_ADAMW(OPTIMISER_NAME)};
    for (size_t i = 0; i < CHECK_COUNT(names); i++) {
        char change[160];
        snprintf(change, sizeof change, "schedule=cosine&clip=0.05&decay=0.5&optimizer=%s", names[i]);
        steps_are_right(change, COSINE, 0.05, 12, 16);
        snprintf(change, sizeof change, "schedule=linear&clip=0&mlp=3&optimizer=%s", names[i]);
        steps_are_right(change, LINE, 0, 12, 12);
    }
}
// Corrections of the moments by powers near 1, step numbers beyond a byte's, a loss curve that grew.
static void a_thousand_steps(void **state) {
    (void)state;
    steps_are_right("schedule=cosine&clip=1&decay=0.5", 1, 1, 1000, 1000);
}

// The words of a tensor in a checkpoint, by its name.
static const float *saved_words(const char *file, const char *name, size_t n) {
    char key[128];
    size_t header = 0, from, to;
    for (int i = 7; i >= 0; i--) header = header << 8 | (unsigned char)file[i];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(file + 8, key);
    if (!at || !(at = strstr(at, "\"data_offsets\":["))) check_fail("no %s in the checkpoint", name);
    assert_int_equal(sscanf(at, "\"data_offsets\":[%zu,%zu]", &from, &to), 2);
    assert_int_equal(to - from, n * sizeof(float));
    float *words = check_floats(n);
    memcpy(words, file + 8 + header + from, to - from);
    return words;
}
// After one step without a clip m is (1 - b1) g and v is (1 - b2) g^2, each under its name, and a loaded run
// writes the same file: were they swapped on one way only, or on both, one of the two would fail.
static void moments_are_saved_by_name(void **state) {
    (void)state;
    smx_error e = {0};
    smx_run *r =
        smx_run_open("mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=2&rate=0.02&warmup=0"
                     "&steps=12&beta1=0.8&beta2=0.999&clip=0",
                     &e);
    if (!r || smx_run_step(r, 1, &e)) check_fail("%s", e.message);
    size_t size, again, weights = 0;
    char *file = smx_run_save(r, &size, &e);
    assert_non_null(file);
    for (size_t i = 0; i < smx_run_tensor_count(r); i++) {
        smx_tensor t, g;
        char name[96];
        if (smx_run_tensor_at(r, i, &t) || !t.is_weight || !strncmp(t.name, "grad:", 5)) continue;
        snprintf(name, sizeof name, "grad:%s", t.name);
        if (smx_run_tensor(r, name, &g, &e)) check_fail("%s", e.message);
        size_t n = 1;
        for (uint32_t d = 0; d < t.rank; d++) n *= t.shape[d];
        double *m = check_doubles(n), *v = check_doubles(n);
        for (size_t j = 0; j < n; j++) {
            m[j] = (1 - (double)0.8f) * (double)g.data[j];
            v[j] = (1 - (double)0.999f) * (double)g.data[j] * (double)g.data[j];
        }
        snprintf(name, sizeof name, "adam.m:%s", t.name);
        check_close(name, saved_words(file, name, n), m, n, 1e-6, 0);
        snprintf(name, sizeof name, "adam.v:%s", t.name);
        check_close(name, saved_words(file, name, n), v, n, 1e-6, 0);
        weights++;
    }
    assert_true(weights > 8);
    smx_run *loaded = smx_run_load(file, size, NULL, &e);
    if (!loaded) check_fail("%s", e.message);
    char *second = smx_run_save(loaded, &again, &e);
    assert_non_null(second);
    assert_int_equal(again, size);
    assert_memory_equal(file, second, size);
    smx_run_close(r), smx_run_close(loaded);
    free(file), free(second);
    check_done();
}
// Each optimiser's moments are in the file by its own names, a loaded run goes on as the saved one does,
// and is no other optimiser's; a weight that is too large is refused before anything moves.
static void each_is_saved_and_goes_on(void **state) {
    (void)state;
    static const struct {
        const char *word, *there, *not_there;
    } each[] = {{"adamw", "\"adam.v:head\"", "sgd.m"},
                {"sgd", "\"sgd.m:head\"", "adam."},
                {"lion", "\"lion.m:head\"", "adam."},
                {"muon", "\"muon.m:block0.mixer.w_q\"", "adam.m:block0.mixer.w_q"},
                {"muon", "\"adam.v:head\"", "muon.m:head"}};
    static const char *const all[] = {OPTIMISERS(OPTIMISER_NAME)};
    for (size_t i = 0; i < CHECK_COUNT(all); i++) {
        int found = 0;
        for (size_t k = 0; k < CHECK_COUNT(each); k++) found |= !strcmp(each[k].word, all[i]);
        if (!found) check_fail("%s: its moment in a checkpoint is a row of `each`", all[i]);
    }
    for (size_t i = 0; i < CHECK_COUNT(each); i++) {
        char config[256], other[32];
        size_t size;
        smx_error e = {0};
        check_trying("%s", each[i].word);
        snprintf(config, sizeof config,
                 "mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=2&mlp=2&optimizer=%s",
                 each[i].word);
        smx_run *r = smx_run_open(config, &e);
        if (!r || smx_run_step(r, 3, &e)) check_fail("%s", e.message);
        char *file = smx_run_save(r, &size, &e);
        size_t header = 0;
        for (int b = 7; b >= 0; b--) header = header << 8 | (unsigned char)file[b];
        char *text = calloc(header + 1, 1);
        memcpy(text, file + 8, header);
        if (!strstr(text, each[i].there)) check_fail("no %s in the checkpoint", each[i].there);
        if (strstr(text, each[i].not_there)) check_fail("%s is in the checkpoint", each[i].not_there);
        snprintf(other, sizeof other, "optimizer=%s", i ? "adamw" : "lion");
        if (smx_run_load(file, size, other, &e)) check_fail("loaded with %s", other);
        if (!strstr(e.message, "as in the checkpoint")) check_fail("refused with: %s", e.message);
        smx_run *loaded = smx_run_load(file, size, NULL, &e);
        if (!loaded || smx_run_step(r, 3, &e) || smx_run_step(loaded, 3, &e)) check_fail("%s", e.message);
        if (smx_run_digest(loaded) != smx_run_digest(r)) check_fail("the loaded run goes on otherwise");
        smx_run_close(loaded), free(file), free(text);
        smx_run_close(r);
        snprintf(config + strlen(config), sizeof config - strlen(config),
                 "&rate=10&decay=10&warmup=0&clip=0");
        r = smx_run_open(config, &e); // |w| grows a hundredfold a step
        int status = 0;
        for (int step = 0; step < 100 && !status; step++) status = smx_run_step(r, 1, &e);
        if (!status || e.kind != SMX_DIVERGED) check_fail("100 steps of rate 10 and decay 10: %s", e.message);
        size_t n;
        for (size_t t = 0; t < smx_run_tensor_count(r); t++) {
            smx_tensor w;
            if (smx_run_tensor_at(r, t, &w) || !w.is_weight || !strncmp(w.name, "grad:", 5)) continue;
            n = 1;
            for (uint32_t d = 0; d < w.rank; d++) n *= w.shape[d];
            for (size_t j = 0; j < n; j++)
                if (!isfinite(w.data[j])) check_fail("%s[%zu] is %g", w.name, j, (double)w.data[j]);
        }
        smx_run_close(r);
        check_done();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_rate),
        cmocka_unit_test(linear_rate),
        cmocka_unit_test(cosine_and_clip),
        cmocka_unit_test(another_epsilon),
        cmocka_unit_test(decay_on_matrices),
        cmocka_unit_test(a_thousand_steps),
        cmocka_unit_test(each_other_optimiser),
        cmocka_unit_test(moments_are_saved_by_name),
        cmocka_unit_test(each_is_saved_and_goes_on),
        cmocka_unit_test(a_plan_that_is_all_warm_up),
    };
    return cmocka_run_group_tests_name("optimiser", tests, NULL, NULL);
}
