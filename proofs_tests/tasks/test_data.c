// test_data.c: the files behind the tasks: shared by threads, regular only.
#include "proofs_tests/support/check.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tasks/files/data.h"
#include <seqmix/run.h>

static char folder[64], text[96];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/seqmix-data-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(text, sizeof text, "%s/text", folder);
    FILE *f = fopen(text, "wb");
    if (!f) return -1;
    for (int i = 0; i < 4000; i++) fputc("Brevis esse laboro. "[i % 20], f);
    return fclose(f);
}
static int remove_folder(void **state) {
    (void)state;
    unlink(text);
    return rmdir(folder);
}

// Every thread opens and closes a file that stays, one that is handed over anew all the time, and one of the
// disk, by themselves and under runs. Without a lock around the list of files the first one's users are
// miscounted, and two threads free one file.
enum { THREADS = 8, ROUNDS = 400000, RUNS = 40 };
static void *open_and_close(void *arg) {
    const size_t thread = (size_t)arg;
    char config[220], bytes[600];
    smx_error e = {0};
    for (size_t i = 0; i < ROUNDS; i++) {
        data_close(data_open("kept", "text", &e));
        memset(bytes, 'a' + (int)((thread + i) % 26), sizeof bytes);
        if (i % 7 == thread % 7 && smx_data_provide("handed", bytes, sizeof bytes, &e)) return "provide";
        data_file *f = data_open(i % 64 ? "handed" : text, "text", &e);
        if (!f) return "open";
        if (i % 64 && f->bytes[0] != f->bytes[f->size - 1]) return "other bytes";
        data_close(f);
    }
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(config, sizeof config, "mixer=cat&task=charlm&length=8&width=8&batch=1&text=%s",
                 i % 2 ? "handed" : text);
        smx_run *r = smx_run_open(config, &e);
        if (!r || smx_run_step(r, 1, &e)) return "a run";
        smx_run_close(r);
    }
    return NULL;
}
static void threads_share_files(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    assert_int_equal(smx_data_provide("handed", (char[600]){0}, 600, NULL), 0);
    assert_int_equal(smx_data_provide("kept", (char[600]){0}, 600, NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        if (failed) fail_msg("thread %zu: %s", i, (const char *)failed);
    }
    data_file *kept = data_open("kept", "text", NULL);
    assert_non_null(kept);
    assert_int_equal(kept->users, 2); // the list, and this
    data_close(kept);
    smx_data_provide("kept", NULL, 0, NULL);
    smx_data_provide("handed", NULL, 0, NULL);
}

// A pipe would be waited for, a device may be endless; a folder is neither.
static void only_regular_files(void **state) {
    (void)state;
    char pipe[96], config[3][220];
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    snprintf(config[0], sizeof config[0], "task=charlm&text=%s", pipe);
    snprintf(config[1], sizeof config[1], "task=charlm&text=%s", folder);
    snprintf(config[2], sizeof config[2], "task=charlm&text=/dev/zero"); // only opened for reading
    alarm(20);
    for (size_t i = 0; i < CHECK_COUNT(config); i++) {
        smx_error e = {0};
        if (smx_run_open(config[i], &e)) fail_msg("%s opens", config[i]);
        if (!strstr(e.message, "no regular file")) fail_msg("%s: %s", config[i], e.message);
        assert_string_equal(e.key, "text");
        assert_null(smx_run_open(config[i], NULL));
    }
    alarm(0);
    unlink(pipe);
}

// A path in a checkpoint is followed only where whoever loads it says it again.
static void paths_in_checkpoints(void **state) {
    (void)state;
    char config[220], again[160];
    snprintf(again, sizeof again, "text=%s", text);
    snprintf(config, sizeof config, "mixer=cat&task=charlm&length=8&width=8&batch=1&%s", again);
    smx_error e = {0};
    smx_run *r = smx_run_open(config, &e);
    if (!r) fail_msg("%s", e.message);
    size_t size;
    void *bytes = smx_run_save(r, &size, &e);
    assert_non_null(bytes);
    const char *const silent[] = {NULL, "", "steps=301", "steps=301&split=tenth"};
    for (size_t i = 0; i < CHECK_COUNT(silent); i++) {
        assert_null(smx_run_load(bytes, size, silent[i], &e));
        assert_string_equal(e.key, "text");
    }
    smx_run *loaded = smx_run_load(bytes, size, again, &e);
    if (!loaded) fail_msg("%s", e.message);
    smx_run_close(loaded);
    smx_run_close(r);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_files),
                                       cmocka_unit_test(only_regular_files),
                                       cmocka_unit_test(paths_in_checkpoints)};
    return cmocka_run_group_tests_name("data", tests, make_folder, remove_folder);
}
