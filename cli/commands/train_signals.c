// train_signals.c: see train_signals.h.
#include "train_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATIENCE_MS = 700 }; // that the training has to answer by itself

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    signals_rules rules;
    int stop, save_now, over;
    sigset_t heard;
    void *kept;
    size_t size;
    uint64_t step;
} at = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

// All but those that whoever started the program had it ignore (nohup, a shell's background).
static void find_heard(void) {
    struct sigaction now;
    sigemptyset(&at.heard);
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (!sigaction(numbers[i], NULL, &now) && now.sa_handler != SIG_IGN) sigaddset(&at.heard, numbers[i]);
}

static void forget_kept(void) {
    free(at.kept);
    at.kept = NULL;
}

// With the lock: until *flag is down or the patience is at its end; 1 where it is down.
static int wait_until_down(const int *flag) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (*flag && !at.over)
        if (pthread_cond_timedwait(&at.changed, &at.lock, &until) == ETIMEDOUT) break;
    return !*flag || at.over;
}

// With the lock, in the middle of a step. 0, or the exit status.
static int save_kept(void) {
    const char *save = at.rules.save;
    const int status = save && at.kept ? at.rules.write(save, at.kept, at.size) : 0;
    if (!status && save && at.kept)
        cli_note("in the middle of a step: %s holds step %llu", save, (unsigned long long)at.step);
    forget_kept();
    return status;
}

static void *listen(void *unused) {
    (void)unused;
    for (int number; !sigwait(&at.heard, &number);) {
        pthread_mutex_lock(&at.lock);
        if (number == SIGUSR1 && !at.rules.status) {
            at.save_now = 1;
            if (!wait_until_down(&at.save_now) && !save_kept()) at.save_now = 0;
            pthread_mutex_unlock(&at.lock);
            continue;
        }
        at.stop = number;
        // A second one ends the program, whatever it does.
        pthread_sigmask(SIG_UNBLOCK, &at.heard, NULL);
        const int waiting = 1;
        if (!wait_until_down(&waiting)) {
            const int status = save_kept();
            if (!ftrylockfile(stdout)) fflush(stdout);
            _exit(status ? status : at.rules.status ? at.rules.status : 128 + number);
        }
        pthread_mutex_unlock(&at.lock);
        return NULL;
    }
    return NULL;
}

int signals_start(const signals_rules *rules) {
    pthread_t thread;
    at.rules = *rules;
    signal(SIGPIPE, SIG_IGN);
    find_heard();
    pthread_sigmask(SIG_BLOCK, &at.heard,
                    NULL); // threads made later inherit it; what they do is still the default
    if (pthread_create(&thread, NULL, listen, NULL))
        return cli_fail("there is no thread to hear signals with");
    pthread_detach(thread);
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

void signals_keep(void *bytes, size_t size, uint64_t step) {
    pthread_mutex_lock(&at.lock);
    forget_kept();
    at.kept = bytes;
    at.size = size;
    at.step = step;
    pthread_mutex_unlock(&at.lock);
}

void signals_lock(void) { pthread_mutex_lock(&at.lock); }

void signals_unlock(int saved) {
    if (saved) {
        forget_kept();
        at.save_now = 0;
        pthread_cond_broadcast(&at.changed);
    }
    pthread_mutex_unlock(&at.lock);
}

void signals_end(void) {
    pthread_mutex_lock(&at.lock);
    at.over = 1;
    pthread_cond_broadcast(&at.changed);
    pthread_mutex_unlock(&at.lock);
}
