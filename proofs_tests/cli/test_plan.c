// test_plan.c: who goes on from a rung, of results that are written here: at the limit of ~within and beside
// it, of few seeds and of all, where a seed diverged, and where measures or losses are alike.
#include "proofs_tests/support/check.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/grid/plan/plan.h"
#include "cli/grid/result.h"

enum { SETTINGS = 4, SEEDS = 2, STEPS = 100, FILES = 64 };
static char folder[64], files[FILES][JOB_PATH];
static size_t n_files;

static void begin(plan *p, const char *rungs, const char *keep) {
    *p = (plan){.seeds = SEEDS, .eval = 20};
    strcpy(folder, "/tmp/seqmix-plan-XXXXXX");
    assert_non_null(mkdtemp(folder));
    n_files = 0;
    assert_int_equal(plan_read_rungs(p, rungs, keep, SEEDS), 0);
    for (int i = 0; i < SETTINGS * SEEDS; i++) {
        char config[80], name[JOB_NAME];
        snprintf(config, sizeof config, "mixer=cat&task=mqar&rate=0.00%d&seed=%d", 1 + i / SEEDS,
                 1 + i % SEEDS);
        snprintf(name, sizeof name, "ab%014d", i);
        assert_int_equal(plan_add(p, config, STEPS, name), 0);
    }
    char place[80];
    snprintf(place, sizeof place, "%s/ab", folder);
    assert_int_equal(mkdir(place, 0700), 0);
}
static void end(plan *p) {
    char place[80];
    for (size_t i = 0; i < n_files; i++) unlink(files[i]);
    snprintf(place, sizeof place, "%s/ab", folder);
    assert_int_equal(rmdir(place), 0);
    assert_int_equal(rmdir(folder), 0);
    plan_free(p);
}

// What rival i came to after so many steps. choice NaN: it diverged, so there.
static void came_to(const plan *p, size_t i, uint64_t step, const char *metric, double choice, double loss) {
    job j;
    uint64_t steps;
    const int stopped = isnan(choice);
    result r = {.config = p->rivals[i].config,
                .eval = p->eval,
                .stopped = stopped ? "it diverged" : "",
                .step = step,
                .value = choice,
                .choice = choice,
                .held_out_loss = loss,
                .stride = 1,
                .machine = {.host = "here", .isa = "scalar", .threads = 1}};
    assert_int_equal(plan_job(p, i, &j, &steps), 0);
    memcpy(r.name, j.name, sizeof r.name);
    strcpy(r.metric, metric);
    assert_true(n_files < FILES);
    char *path = files[n_files++];
    assert_int_equal(stopped || step == STEPS ? job_path(&j, folder, ".json", path)
                                              : plan_path(&j, folder, step, path),
                     0);
    size_t size;
    char *text = result_text(&r, &size);
    FILE *f = fopen(path, "wb");
    assert_true(text && f && fwrite(text, 1, size, f) == size && !fclose(f));
    free(text);
    job_free(&j);
}

// The plan is at this rung, where these settings train, in this order ("2 0"); so many results are missing.
static void stands(const plan *p, size_t rung, const char *settings, size_t missing) {
    plan_state s;
    char got[80] = "";
    assert_int_equal(plan_look(p, folder, p->n, &s), 0);
    for (size_t i = 0; i < s.in; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), i ? " %zu" : "%zu", s.settings[i]);
    if (s.rung != rung || strcmp(got, settings) || s.n != missing)
        check_fail("rung %zu: settings %s, %zu missing; expected %zu: %s, %zu", s.rung, got, s.n, rung,
                   settings, missing);
    plan_state_free(&s);
}

// Means of 0.75, 0.5, 0.5 less 1/64, and one whose other seed diverged.
static void at_the_limit(void **state) {
    (void)state;
    static const double choices[2][SETTINGS][SEEDS] = {
        {{0.5 - 1.0 / 64, 0.5 - 1.0 / 64}, {0.25, 0.75}, {0.75, 0.75}, {1, NAN}},
        {{2.5 + 1.0 / 64, 2.5 + 1.0 / 64}, {2.75, 2.25}, {2.25, 2.25}, {1, NAN}}};
    for (int bits = 0; bits < 2; bits++) {
        plan p;
        begin(&p, "1/2~0.25,1", "1/4");
        stands(&p, 0, "0 1 2 3", SETTINGS * SEEDS);
        for (size_t i = 0; i < SETTINGS * SEEDS; i++)
            came_to(&p, i, 50, bits ? "bits" : "accuracy", choices[bits][i / SEEDS][i % SEEDS], 1);
        stands(&p, 1, "2 1", 2 * SEEDS);
        end(&p);
    }
}
// One seed up to the rung: the distance is that of one number.
static void of_few_seeds(void **state) {
    (void)state;
    static const double choices[SETTINGS] = {0.5, 0.75, 0.5 - 1.0 / 64, NAN};
    plan p;
    begin(&p, "1/2:1~0.25,1", "1/4");
    stands(&p, 0, "0 1 2 3", SETTINGS);
    for (size_t s = 0; s < SETTINGS; s++) came_to(&p, s * SEEDS, 50, "accuracy", choices[s], 1);
    stands(&p, 1, "1 0", 2 * SEEDS);
    end(&p);
}
// A share: by the loss at the first rung, by the measure at a later one; of equals in one by the other. A
// whole training that did not diverge says nothing of a rung before its end.
static void by_loss_and_by_measure(void **state) {
    (void)state;
    static const double loss[SETTINGS] = {2, 1, 1, 3}, first[SETTINGS] = {0.9, 0.1, 0.2, 1};
    plan p;
    begin(&p, "1/4,1/2,1", "3/4");
    for (size_t i = 0; i < SETTINGS * SEEDS; i++)
        came_to(&p, i, 25, "accuracy", first[i / SEEDS], loss[i / SEEDS]);
    stands(&p, 1, "2 1 0", 3 * SEEDS);
    for (size_t k = 0; k < SEEDS; k++) came_to(&p, 0 * SEEDS + k, STEPS, "accuracy", 1, 0);
    stands(&p, 1, "2 1 0", 3 * SEEDS);
    for (size_t k = 0; k < SEEDS; k++) {
        came_to(&p, 0 * SEEDS + k, 50, "accuracy", 0.5, 5);
        came_to(&p, 1 * SEEDS + k, 50, "accuracy", 0.5, 4);
        came_to(&p, 2 * SEEDS + k, 50, "accuracy", 0.25, 1);
    }
    stands(&p, 2, "1 0 2", 2 * SEEDS);
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_the_limit), cmocka_unit_test(of_few_seeds),
                                       cmocka_unit_test(by_loss_and_by_measure)};
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
