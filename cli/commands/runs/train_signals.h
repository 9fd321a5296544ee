// train_signals.h: what a training hears while it computes. A thread waits for signals, so that one is
// answered within a second however long a step or an evaluation takes: the training itself answers between
// steps; where it does not get there in time, the thread saves: the state as it is while the training rests
// (it may wait for whoever reads its output), else what was kept before it began to compute. Where nothing
// was kept, the thread waits: to be late is better than to lose what was learnt.
#ifndef CLI_TRAIN_SIGNALS_H
#define CLI_TRAIN_SIGNALS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *save;                                               // where to, NULL: nowhere
    int (*write)(const char *path, const void *bytes, size_t size); // cli_write_file, cli_write_shared
    int status; // not 0: USR1 ends the training as well, and this is the exit status after any of them
    // The training's checkpoint as it is now, malloc'ed, and its step; *bytes NULL: there is nothing to save.
    // 0, or -1: no memory.
    int (*checkpoint)(const void *training, void **bytes, size_t *size, uint64_t *step);
    const void *training;
    void (*leave)(void); // before a signal ends the program from elsewhere than main; NULL: nothing
} signals_rules;
// Before any other thread is made, and again for each training after the first. HUP, INT and TERM end the
// training (128 + number), USR1 saves; PIPE is ignored. Until the first signals_compute there is nothing to
// save.
int signals_start(const signals_rules *rules);
int signals_stop(void);     // the signal that ends the training, 0: none
int signals_save_now(void); // was USR1 heard since the last save?
// Around whatever changes or reads the weights for long; elsewhere the thread may read them. keep: a
// checkpoint is kept before.
void signals_compute(int keep);
void signals_rest(void);
// Around whatever the training itself saves, so that it and the thread take turns. USR1 is answered with it,
// also where it failed.
void signals_lock(void);
void signals_unlock(void);
void signals_end(
    void); // the training is over: after a signal there are seconds left to print what came of it

#endif
