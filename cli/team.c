// team.c: see team.h. Pieces are independent, so who takes which moves no bit. `left` is the round and the
// pieces that nobody has taken, in one word: a thread that comes late cannot take a piece of another round,
// and none has to come at all.
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <seqmix/smx.h>

enum {
    LOOKS = 4000
}; // for the next round before a thread sleeps: some 0.1 ms, more than lies between two operations

struct smx_team {
    int helpers;
    pid_t process;
    smx_piece piece;
    void *context;
    _Atomic uint64_t left; // round << 32 | pieces
    atomic_size_t done;
    atomic_int sleeping, ending;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread[];
};

static void rest(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static void take(smx_piece piece, void *context, size_t i) {
    const uint64_t environment = smx_fpenv_enter();
    piece(context, i);
    smx_fpenv_leave(environment);
}

static void work(smx_team *t) {
    uint64_t left = atomic_load(&t->left);
    while ((uint32_t)left) {
        if (!atomic_compare_exchange_weak(&t->left, &left, left - 1)) continue;
        take(t->piece, t->context, (uint32_t)left - 1);
        atomic_fetch_add(&t->done, 1);
        left = atomic_load(&t->left);
    }
}

static int has_work(smx_team *t) { return (uint32_t)atomic_load(&t->left) || atomic_load(&t->ending); }

static void sleep_until_work(smx_team *t) {
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleeping, 1);
    while (!has_work(t)) pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->sleeping, 1);
    pthread_mutex_unlock(&t->lock);
}

static void wake(smx_team *t) {
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

static void *help(void *team) {
    smx_team *t = team;
    while (!atomic_load(&t->ending)) {
        work(t);
        for (int i = 0; i < LOOKS && !has_work(t); i++) rest();
        if (!has_work(t)) sleep_until_work(t);
    }
    return NULL;
}

smx_team *smx_team_open(int threads) {
    if (threads < 2) return NULL;
    smx_team *t = calloc(1, sizeof *t + (size_t)(threads - 1) * sizeof *t->thread);
    if (!t) return NULL;
    t->process = getpid();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    while (t->helpers < threads - 1 && !pthread_create(&t->thread[t->helpers], NULL, help, t)) t->helpers++;
    if (t->helpers) return t;
    smx_team_close(t);
    return NULL;
}

void smx_team_close(smx_team *t) {
    if (!t) return;
    if (t->process == getpid()) {
        atomic_store(&t->ending, 1);
        wake(t);
        for (int i = 0; i < t->helpers; i++) pthread_join(t->thread[i], NULL);
        pthread_cond_destroy(&t->wake);
        pthread_mutex_destroy(&t->lock);
    }
    free(t);
}

void smx_team_for(void *pool, size_t n, smx_piece piece, void *context) {
    smx_team *t = pool;
    if (!t || n < 2 || n > UINT32_MAX || t->process != getpid()) {
        for (size_t i = 0; i < n; i++) take(piece, context, i);
        return;
    }
    const uint64_t round = (atomic_load(&t->left) >> 32) + 1;
    t->piece = piece;
    t->context = context;
    atomic_store(&t->done, 0);
    atomic_store(&t->left, round << 32 | n);
    if (atomic_load(&t->sleeping)) wake(t);
    work(t);
    for (int i = 0; atomic_load(&t->done) < n; i++) i < LOOKS ? rest() : (void)sched_yield();
}
