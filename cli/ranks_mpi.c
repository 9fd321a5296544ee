// ranks_mpi.c: the processes that mpirun started (MPI 3.1: Open MPI, MPICH). See ranks.h. Only messages:
// every sum of floats is the library's own. An MPI reduction adds in an order that it does not promise.
#include "ranks.h"

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum {
    TESTS = 64,
    TAG = 1,
    AT_ONCE = 1 << 30,
    SECONDS_TO_SAVE = 3
};                                  // tests between two yields; bytes of a message
static const double patience = 0.3; // seconds that a message may still take once asked to give up

// A message under way, its bytes behind it.
typedef struct message {
    struct message *next;
    MPI_Request request;
} message;

static struct {
    smx_ranks ranks;
    message *first, **end; // oldest first
    int (*give_up)(void);
    int apart; // a process does not answer
    int said;  // standard error as it was
    unsigned long long sent;
    double waited;
} at = {.end = &at.first, .said = STDERR_FILENO};

// Forgets the messages that have arrived, in order; all: waits for every one.
static void reap(int all) {
    for (message *m; (m = at.first); free(m)) {
        int done = 0;
        if (all ? MPI_Wait(&m->request, MPI_STATUS_IGNORE) : MPI_Test(&m->request, &done, MPI_STATUS_IGNORE))
            at.apart = 1;
        if (!all && !done) return;
        if (!(at.first = m->next)) at.end = &at.first;
    }
}

static int send_bytes(void *context, size_t to, const void *data, size_t bytes) {
    (void)context;
    reap(0);
    for (size_t from = 0, n; from < bytes; from += n) {
        n = bytes - from < AT_ONCE ? bytes - from : AT_ONCE;
        message *m = malloc(sizeof *m + n);
        if (!m) return -1;
        memcpy(m + 1, (const char *)data + from, n);
        m->next = NULL;
        if (MPI_Isend(m + 1, (int)n, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &m->request)) {
            free(m);
            at.apart = 1;
            return -1;
        }
        *at.end = m;
        at.end = &m->next;
    }
    at.sent += bytes;
    return 0;
}

static int await_message(MPI_Request *request) {
    double asked = 0.0;
    for (int done = 0;;) {
        for (int i = 0; i < TESTS && !done; i++)
            if (MPI_Test(request, &done, MPI_STATUS_IGNORE)) return -1;
        if (done) return 0;
        if (at.give_up && at.give_up()) {
            const double now = cli_seconds();
            if (asked == 0.0) asked = now;
            if (now - asked > patience) return -1;
        }
        sched_yield();
    }
}

static int await(MPI_Request *request) {
    const double begun = cli_processor_seconds();
    const int bad = await_message(request);
    at.waited += cli_processor_seconds() - begun;
    return bad;
}

double ranks_waited(void) { return at.waited; }

static int receive_bytes(void *context, size_t from, void *data, size_t bytes) {
    (void)context;
    for (size_t at_byte = 0, n; at_byte < bytes; at_byte += n) {
        MPI_Request request;
        n = bytes - at_byte < AT_ONCE ? bytes - at_byte : AT_ONCE;
        if (MPI_Irecv((char *)data + at_byte, (int)n, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &request) ||
            await(&request)) {
            at.apart = 1;
            return -1;
        }
    }
    return 0;
}

// Standard output and error of all but the first go nowhere: they would say the same once more.
static void be_silent(void) {
    const int nowhere = open("/dev/null", O_WRONLY);
    at.said = dup(STDERR_FILENO);
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

void ranks_start(int *argc, char ***argv) {
    int given, rank, count;
    sigset_t all, before; // MPI's own threads hear no signal: a training answers them (train_signals.c)
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given); // a team's threads send nothing
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    at.ranks = (smx_ranks){(size_t)rank, (size_t)count, send_bytes, receive_bytes, NULL};
    if (rank) be_silent();
}

int ranks_end(int status) {
    fflush(stdout);
    if (at.apart) { // who waits for this process waits in vain; the first one has saved by then
        if (at.ranks.rank) sleep(SECONDS_TO_SAVE);
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    reap(1);
    MPI_Finalize();
    return status;
}

const smx_ranks *ranks_all(void) { return at.ranks.count > 1 ? &at.ranks : NULL; }
int ranks_first(void) { return at.ranks.rank == 0; }
void ranks_give_up(int (*asked)(void)) { at.give_up = asked; }

int ranks_any(int yes) {
    int any = yes;
    MPI_Request request;
    if (at.ranks.count < 2) return yes;
    if (at.apart) return 1;
    if (!MPI_Iallreduce(&yes, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request) && !await(&request))
        return any;
    return at.apart = 1;
}

void ranks_say(const char *text) {
    if (ranks_first()) return;
    dprintf(at.said, "seqmix: process %zu of %zu: %s\n", at.ranks.rank, at.ranks.count, text);
}

unsigned long long ranks_sent(void) {
    unsigned long long all = at.sent;
    if (at.ranks.count > 1 && !at.apart)
        MPI_Allreduce(&at.sent, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}
