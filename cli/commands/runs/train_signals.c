// train_signals.c: see train_signals.h.
#include "train_signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    PATIENCE_MS = 700,    // that the training has to answer by itself
    TRIES = 3,            // to write a file, after which the signal ends the program all the same
    SECONDS_TO_PRINT = 3, // once the training is over
};

// A clock that nobody sets, where waiting can be told to use it.
#ifdef __APPLE__
#define WAITING_CLOCK CLOCK_REALTIME
#else
#define WAITING_CLOCK CLOCK_MONOTONIC
#endif

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    signals_rules rules;
    int stop, save_now, over, listens;
    int computing; // the weights are not to be read
    sigset_t heard;
    int known;  // from before it began to compute there is
    void *kept; // this, NULL: nothing to save
    size_t size;
    uint64_t step;
} at = {.lock = PTHREAD_MUTEX_INITIALIZER, .computing = 1, .known = 1};

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

// All but those that whoever started the program had it ignore (nohup, a shell's background).
static void find_heard(void) {
    struct sigaction now;
    sigemptyset(&at.heard);
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (!sigaction(numbers[i], NULL, &now) && now.sa_handler != SIG_IGN) sigaddset(&at.heard, numbers[i]);
}

// With the lock.
static void forget_kept(void) {
    free(at.kept);
    at.kept = NULL;
    at.known = 0;
}
static void keep(void) {
    forget_kept();
    at.known = !at.rules.checkpoint(at.rules.training, &at.kept, &at.size, &at.step);
}

// With the lock: until the training has answered (*asked is 0, or it is over) or the patience is at its end;
// 1 where it has.
static int wait_for_answer(const int *asked) {
    struct timespec until;
    clock_gettime(WAITING_CLOCK, &until);
    until.tv_nsec += PATIENCE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (*asked && !at.over)
        if (pthread_cond_timedwait(&at.changed, &at.lock, &until)) break;
    return !*asked || at.over;
}

// Whether a few lines can be written there at once: who ends the program waits for no reader.
static int takes(int descriptor) {
    struct pollfd out = {.fd = descriptor, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

// With the lock, and without the training: 0, or the exit status; -1: what there is to save is not known yet.
static int save_without_training(void) {
    const char *const save = at.rules.save;
    const int middle = at.computing;
    if (!save) return 0;
    if (!middle) keep();
    if (!at.known) return -1;
    const int status = at.kept ? at.rules.write(save, at.kept, at.size) : 0;
    if (!status && at.kept && takes(STDERR_FILENO))
        cli_note("%s: %s holds step %llu",
                 middle ? "in the middle of a step or an evaluation" : "nobody takes what is printed", save,
                 (unsigned long long)at.step);
    return status;
}

static void leave(int status) {
    if (at.rules.leave) at.rules.leave();
    _exit(status);
}

// With the lock. A second signal ends the program, whatever it does.
static void stop(int number) {
    const int done = at.rules.status ? at.rules.status : 128 + number;
    at.stop = number;
    pthread_sigmask(SIG_UNBLOCK, &at.heard, NULL);
    for (int tries = 0; !wait_for_answer(&at.stop);) {
        const int status = save_without_training();
        if (status < 0 || (status && ++tries < TRIES)) continue;
        // Not exit(): the training's thread is at work. It may be the one that waits for a reader.
        if (takes(STDOUT_FILENO) && !ftrylockfile(stdout)) fflush(stdout);
        leave(status ? status : done);
    }
    pthread_mutex_unlock(&at.lock);
    sleep(SECONDS_TO_PRINT);
    leave(done);
}

static void *listen(void *unused) {
    (void)unused;
    for (int number; !sigwait(&at.heard, &number);) {
        pthread_mutex_lock(&at.lock);
        if (number != SIGUSR1 || at.rules.status) stop(number);
        at.save_now = 1;
        if (!wait_for_answer(&at.save_now) && save_without_training() == 0) at.save_now = 0;
        pthread_mutex_unlock(&at.lock);
    }
    return NULL;
}

// With the thread of an earlier training.
static void start_again(const signals_rules *rules) {
    pthread_mutex_lock(&at.lock);
    forget_kept();
    at.rules = *rules;
    at.over = 0;
    at.computing = at.known = 1;
    pthread_mutex_unlock(&at.lock);
}

int signals_start(const signals_rules *rules) {
    pthread_t thread;
    pthread_condattr_t clock;
    if (at.listens) return start_again(rules), 0;
    at.rules = *rules;
    pthread_condattr_init(&clock);
#ifndef __APPLE__
    pthread_condattr_setclock(&clock, WAITING_CLOCK);
#endif
    pthread_cond_init(&at.changed, &clock);
    pthread_condattr_destroy(&clock);
    signal(SIGPIPE, SIG_IGN);
    find_heard();
    pthread_sigmask(SIG_BLOCK, &at.heard,
                    NULL); // threads made later inherit it; what they do is still the default
    if (pthread_create(&thread, NULL, listen, NULL))
        return cli_fail("there is no thread to hear signals with");
    pthread_detach(thread);
    at.listens = 1;
    return 0;
}

int signals_stop(void) {
    pthread_mutex_lock(&at.lock);
    const int number = at.stop;
    pthread_mutex_unlock(&at.lock);
    return number;
}

int signals_save_now(void) {
    pthread_mutex_lock(&at.lock);
    const int now = at.save_now;
    pthread_mutex_unlock(&at.lock);
    return now;
}

void signals_compute(int keep_it) {
    pthread_mutex_lock(&at.lock);
    forget_kept(); // it is older than what there is
    if (keep_it && at.rules.save) keep();
    at.computing = 1;
    pthread_mutex_unlock(&at.lock);
}

void signals_rest(void) {
    pthread_mutex_lock(&at.lock);
    at.computing = 0;
    pthread_mutex_unlock(&at.lock);
}

void signals_lock(void) { pthread_mutex_lock(&at.lock); }

void signals_unlock(void) {
    at.save_now = 0;
    pthread_cond_broadcast(&at.changed);
    pthread_mutex_unlock(&at.lock);
}

void signals_end(void) {
    pthread_mutex_lock(&at.lock);
    at.over = 1;
    forget_kept();
    pthread_cond_broadcast(&at.changed);
    pthread_mutex_unlock(&at.lock);
}
