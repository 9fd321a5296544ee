// test_ranks.c: one training on several processes (smx_run_share) gives the words of one process: every
// mixer, any number of processes, each on an instruction set of its own. The processes are forks, their
// messages lie in shared memory; the program with MPI is judged by cli/mpi.test.mjs.
#include "proofs_tests/support/check.h"

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/team.h"
#include "kernels/core/hash.h"
#include "model/mixers/mixer.h"
#include <seqmix/run.h>

enum { MOST = 8, BOX = 1 << 24, WORDS = 512 };

// From one process to another: everything that was ever sent, one after another.
typedef struct {
    sem_t there;
    size_t written;
    char data[BOX];
} box;
typedef struct {
    box boxes[MOST][MOST];
    uint64_t digest[MOST], losses[MOST];
    char said[MOST][WORDS];
    int kind[MOST];
} common;
static common *shared;

typedef struct {
    size_t rank, read[MOST];
    long left; // messages until it is gone; < 0: never
} post;
static int post_send(void *context, size_t to, const void *data, size_t bytes) {
    post *p = context;
    box *b = &shared->boxes[p->rank][to];
    if (p->left == 0) _exit(1);
    if (p->left > 0) p->left--;
    if (b->written + bytes > BOX) return -1;
    memcpy(b->data + b->written, data, bytes);
    b->written += bytes;
    return sem_post(&b->there);
}
static int post_receive(void *context, size_t from, void *data, size_t bytes) {
    post *p = context;
    box *b = &shared->boxes[from][p->rank];
    while (sem_wait(&b->there)) {
    }
    if (b->written < p->read[from] + bytes) return -1; // (whoever is gone posts without a message)
    memcpy(data, b->data + p->read[from], bytes);
    p->read[from] += bytes;
    return 0;
}

static uint64_t hash_losses(const smx_run *r) {
    size_t n;
    const float *losses = smx_run_losses(r, &n);
    return hash_words(HASH_START, losses, n);
}

typedef struct {
    const char *config;
    size_t count, steps;
    int mixed, threads; // instruction sets in turns; threads of each process
    long dies_after;    // messages of the last process; < 0: it does not
} trial;

// What a process does; its words are in `said` where it cannot.
static void work(const trial *t, size_t rank) {
    smx_error e = {0};
    size_t isas = 0;
    while (smx_isa_name(isas)) isas++;
    if (t->mixed) smx_isa_choose(smx_isa_name(rank % isas));
    post mine = {.rank = rank, .left = rank + 1 == t->count ? t->dies_after : -1};
    const smx_ranks ranks = {rank, t->count, post_send, post_receive, &mine};
    smx_run *r = smx_run_open(t->config, &e);
    if (r && !smx_run_share(r, &ranks, &e)) {
        if (t->threads > 1) smx_run_parallel(r, smx_team_for, smx_team_open(t->threads));
        smx_run_step(r, t->steps, &e);
        shared->digest[rank] = smx_run_digest(r);
        shared->losses[rank] = hash_losses(r);
    }
    snprintf(shared->said[rank], WORDS, "%s", e.message);
    shared->kind[rank] = e.kind;
}

// All processes to their end. Their memory is taken anew: what was sent before is gone.
static void run_processes(const trial *t) {
    if (shared) munmap(shared, sizeof *shared);
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) fail_msg("no memory to share");
    for (size_t a = 0; a < t->count; a++)
        for (size_t b = 0; b < t->count; b++) sem_init(&shared->boxes[a][b].there, 1, 0);
    pid_t pids[MOST];
    for (size_t rank = 0; rank < t->count; rank++) {
        if ((pids[rank] = fork()) > 0) continue;
        work(t, rank);
        _exit(0);
    }
    for (size_t ended = 0; ended < t->count; ended++) {
        int status;
        const pid_t pid = wait(&status);
        for (size_t gone = 0; gone < t->count; gone++)
            for (size_t to = 0; pids[gone] == pid && to < t->count; to++)
                sem_post(&shared->boxes[gone][to].there);
    }
}

static void gives_the_words_of_one(const char *config, size_t count, size_t steps, int mixed, int threads) {
    check_trying("%s, %zu processes%s, threads=%d", config, count, mixed ? " of mixed instruction sets" : "",
                 threads);
    smx_error e = {0};
    smx_run *one = smx_run_open(config, &e);
    if (!one || smx_run_step(one, steps, &e)) check_fail("%s", e.message);
    run_processes(&(trial){config, count, steps, mixed, threads, -1});
    for (size_t rank = 0; rank < count; rank++) {
        if (*shared->said[rank]) check_fail("process %zu: %s", rank, shared->said[rank]);
        if (shared->losses[rank] != hash_losses(one)) check_fail("process %zu has other losses", rank);
        if (shared->digest[rank] != smx_run_digest(one))
            check_fail("process %zu has digest %016llx, one process has %016llx", rank,
                       (unsigned long long)shared->digest[rank], (unsigned long long)smx_run_digest(one));
    }
    smx_run_close(one);
}

// Rows of a process begin within a block of rows of a weight's gradient, and within a piece.
#define UNEVEN                                                                                               \
    "task=mqar&bins=8&iir=causal&vocab=32&length=40&pairs=4&width=16&heads=2&batch=11&steps=12&warmup=3"

static void every_mixer(void **state) {
    (void)state;
    for (size_t i = 0; mixer_name(i); i++) {
        char config[256];
        snprintf(config, sizeof config, "mixer=%s&" UNEVEN, mixer_name(i));
        gives_the_words_of_one(config, i % 2 ? 3 : 2, 2, 1, 1);
        if (i % 4 == 0) gives_the_words_of_one(config, 8, 2, 1, 1);
    }
}

// Norms, MLPs, positions, heads over all rows and over a few, tied weights, losses of numbers.
static const char *const parts[] = {
    "mixer=cat&norm=layer&mlp=2&position=learned&schedule=cosine&decay=0.1&blocks=2&" UNEVEN,
    "mixer=cat&norm=rms&mlp=1&activation=silu&position=rope&filter_kind=multi_head&" UNEVEN,
    "mixer=attention&position=sinusoidal&init=xavier&" UNEVEN "&task=ar",
    "mixer=cat&task=cumsum&length=50&width=16&batch=9&steps=4",
    // A weight that two nodes give a gradient to.
    "mixer=equations&eq=q = x @ w%0Ak = x @ w%0Ay = attention(q, k, x @ w_v) @ w_o&" UNEVEN,
    "mixer=s4d&task=smnist&width=16&batch=5&steps=4",
    "mixer=focus&share_conv=1&blocks=2&mlp=1&norm=rms&" UNEVEN,
    "mixer=focus&hyper=local_global&oversample=2&" UNEVEN,
    // Filters that are computed.
    "mixer=cat&value_filter=two_sided&value_positive=1&" UNEVEN,
    "mixer=cat&filter_norm=qkv&value_positive=1&" UNEVEN,
    "mixer=cat&mlp=1&dropout=0.3&" UNEVEN,
    // Blocks that are computed again while sums are passed on.
    "mixers=cat,longconv,attention&blocks=3&recompute=1&norm=layer&mlp=1&dropout=0.2&" UNEVEN,
};
static void every_part(void **state) {
    (void)state;
    for (size_t i = 0; i < CHECK_COUNT(parts); i++)
        for (size_t count = 2; count <= 4; count++) gives_the_words_of_one(parts[i], count, 2, 1, 1);
}

// Pieces of more rows than a block has; whole blocks in every process; a sequence each; threads in each.
static void every_size(void **state) {
    (void)state;
#define SIZE "mixer=cat&norm=layer&task=mqar&vocab=32&pairs=4&width=16&steps=4&mlp=1&position=learned&"
    gives_the_words_of_one(SIZE "length=300&batch=16", 3, 1, 1, 1);
    gives_the_words_of_one(SIZE "length=64&batch=32", 8, 1, 1, 1);
    gives_the_words_of_one(SIZE "length=34&batch=8", 8, 1, 1, 1);
    gives_the_words_of_one(SIZE "length=34&batch=3", 3, 1, 1, 1);
    gives_the_words_of_one(SIZE "length=300&batch=16", 2, 1, 1, 2);
}

// A process that is gone is a sentence in the others, and the weights are those before the step.
static void who_is_gone(void **state) {
    (void)state;
    const char *config = "mixer=cat&" UNEVEN;
    smx_error e = {0};
    smx_run *before = smx_run_open(config, &e);
    assert_non_null(before);
    for (long after = 0; after < 4; after++) {
        check_trying("the last of 3 is gone after %ld messages", after);
        run_processes(&(trial){config, 3, 1, 0, 1, after});
        for (size_t rank = 0; rank < 2; rank++) {
            if (shared->kind[rank] != SMX_APART || !strstr(shared->said[rank], "does not answer"))
                check_fail("process %zu says '%s'", rank, shared->said[rank]);
            if (shared->digest[rank] != smx_run_digest(before)) check_fail("process %zu has changed", rank);
        }
    }
    smx_run_close(before);
}

static int send_nothing(void *context, size_t to, const void *data, size_t bytes) {
    return (void)context, (void)to, (void)data, (void)bytes, -1;
}
static int receive_nothing(void *context, size_t from, void *data, size_t bytes) {
    return (void)context, (void)from, (void)data, (void)bytes, -1;
}
static void refusal(const char *config, size_t rank, size_t count, const char *words) {
    smx_error e = {0};
    smx_run *r = smx_run_open(config, &e);
    assert_non_null(r);
    const smx_ranks ranks = {rank, count, send_nothing, receive_nothing, NULL};
    if (!smx_run_share(r, &ranks, &e)) fail_msg("%s is shared by %zu", config, count);
    if (!strstr(e.message, words)) fail_msg("it says '%s'", e.message);
    if (smx_run_step(r, 1, &e)) fail_msg("the run is not what it was: %s", e.message);
    smx_run_close(r);
}
static void what_is_refused(void **state) {
    (void)state;
    refusal("batch=32", 0, 9, "9 processes cannot share batch=32: allowed are 1 to 8");
    refusal("batch=3", 0, 4, "4 processes cannot share batch=3: allowed are 1 to 3");
    refusal("batch=3", 0, 0, "0 processes cannot share");
    refusal("batch=32", 2, 2, "process 2 is not one of 2");
    refusal("batch=32&fast=1", 0, 2, "fast");
    refusal("batch=32&norm=batch", 0, 2, "norm=batch does not fit");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mixer), cmocka_unit_test(every_part),      cmocka_unit_test(every_size),
        cmocka_unit_test(who_is_gone), cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
