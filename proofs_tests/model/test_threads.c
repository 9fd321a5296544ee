// test_threads.c: what run.h says of threads: eight of them open, train, save, load and close runs of their
// own at the same time, some with a team of threads of their own, some on the same files, and each gets the
// bits that it would get alone. SEQMIX_SECONDS: how long (1); `make tsan` takes a minute under
// ThreadSanitizer, which looks for races.
#include "proofs_tests/support/check.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "cli/team.h"
#include "model/mixers/mixer.h"
#include <seqmix/data.h>
#include <seqmix/run.h>

enum { THREADS = 8, TEAM = 3, MOST = 64, STEPS = 3 };

static char text_file[] = "/tmp/seqmix-threads-XXXXXX";
static char texts[MOST][256];
static uint64_t alone[MOST];
static size_t n_texts;

// Opens, trains, evaluates, saves, loads, goes on, closes: the digest of the weights, 0 with the sentence.
static uint64_t life_of_a_run(const char *config, smx_team *team, smx_error *e) {
    uint64_t digest = 0;
    size_t size = 0;
    smx_evaluation evaluation;
    void *bytes = NULL;
    smx_run *again = NULL, *r = smx_run_open(config, e);
    char *full = r ? smx_config_complete(config, e) : NULL;
    if (!full) goto end;
    if (team) smx_run_parallel(r, smx_team_for, team);
    if (smx_run_step(r, STEPS - 1, e) || smx_run_evaluate(r, 2, 0, &evaluation, e)) goto end;
    // A path in a checkpoint is given again.
    const char *const path = strstr(config, "text=/");
    bytes = smx_run_save(r, &size, e);
    again = bytes ? smx_run_load(bytes, size, path, e) : NULL;
    if (!again) goto end;
    if (team) smx_run_parallel(again, smx_team_for, team);
    if (!smx_run_step(again, 1, e)) digest = smx_run_digest(again);
end:
    free(bytes);
    free(full);
    smx_run_close(r);
    smx_run_close(again);
    return digest;
}

typedef struct {
    pthread_t thread;
    size_t number;
    double until;
    size_t runs;
    const char *table;
    char wrong[1000];
} worker;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *of) {
    worker *w = of;
    // All at once, and nobody before them: it is made by the first.
    w->table = smx_config_json();
    smx_team *team = smx_team_open(TEAM);
    // Neighbours begin at the same config, which is where they would meet.
    for (size_t i = w->number / 4 * 5; !*w->wrong && (now() < w->until || w->runs < 4); i++, w->runs++) {
        const size_t at = i % n_texts;
        smx_error e = {0};
        const uint64_t digest = life_of_a_run(texts[at], (i + w->number) % 2 ? team : NULL, &e);
        if (digest != alone[at])
            snprintf(w->wrong, sizeof w->wrong, "%s: %016llx, alone %016llx. %s", texts[at],
                     (unsigned long long)digest, (unsigned long long)alone[at], e.message);
    }
    smx_team_close(team);
    return NULL;
}

static void eight_at_once(void **state) {
    (void)state;
    const char *seconds = getenv("SEQMIX_SECONDS");
    static worker workers[THREADS];
    for (size_t i = 0; i < n_texts; i++) {
        smx_error e = {0};
        check_trying("%s", texts[i]);
        alone[i] = life_of_a_run(texts[i], NULL, &e);
        if (!alone[i]) check_fail("%s", e.message);
    }
    const double until = now() + (seconds ? atof(seconds) : 1.0);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].until = until;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    size_t runs = 0;
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        runs += workers[i].runs;
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (*workers[i].wrong) fail_msg("%s", workers[i].wrong);
        assert_ptr_equal(workers[i].table, workers[0].table);
    }
    print_message("%zu runs of %zu configs in %d threads\n", runs, n_texts, THREADS);
}

static void add(const char *format, const char *name) {
    assert_true(n_texts < MOST);
    snprintf(texts[n_texts++], sizeof *texts, format, name);
}

static int prepare(void **state) {
    (void)state;
    static char words[4000], provided[] = "shared";
    smx_error e;
    for (size_t i = 0; i < sizeof words; i++) words[i] = (char)('a' + i * i % 23);
    const int fd = mkstemp(text_file);
    if (fd < 0 || write(fd, words, sizeof words) != sizeof words || close(fd)) return -1;
    if (smx_data_provide(provided, words, sizeof words, &e)) return -1;
#define SMALL "&width=8&batch=3&steps=9&heads=2&warmup=0"
    for (size_t i = 0; i < 4; i++) {
        add("mixer=cat&task=charlm&length=16" SMALL "&text=%s", text_file);
        add("mixer=attention&task=charlm&length=16" SMALL "&text=%s", provided);
    }
    for (size_t i = 0; mixers[i]; i++)
        add(strncmp(mixers[i]->name, "focus", 5) ? "mixer=%s&task=cumsum&length=16" SMALL
                                                 : "mixer=%s&task=cumsum&length=16" SMALL "&bins=2",
            mixers[i]->name);
    add("mixer=equations&task=mqar&length=16&vocab=16&pairs=2" SMALL "%s", "&fast=1");
    return 0;
}

static int clean(void **state) {
    (void)state;
    return unlink(text_file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_at_once)};
    return cmocka_run_group_tests_name("threads", tests, prepare, clean);
}
