// train_signals.h: what a training hears while it computes. A thread waits for signals, so that one is
// answered within a second however long a step takes: the training itself answers between steps; where it
// does not get there in time, the thread saves what was kept before the step.
#ifndef CLI_TRAIN_SIGNALS_H
#define CLI_TRAIN_SIGNALS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *save;                                               // where to, NULL: nowhere
    int (*write)(const char *path, const void *bytes, size_t size); // cli_write_file, cli_write_shared
    int status; // not 0: USR1 ends the training as well, and this is the exit status after any of them
} signals_rules;
// Before any other thread is made. HUP, INT and TERM end the training (128 + number), USR1 saves; PIPE is
// ignored.
int signals_start(const signals_rules *rules);
int signals_stop(void);     // the signal that ends the training, 0: none
int signals_save_now(void); // was USR1 heard since the last save?
// The checkpoint as it is before the step to come; the bytes are the thread's from here on (freed by it).
void signals_keep(void *bytes, size_t size, uint64_t step);
// Around whatever the training itself saves, so that it and the thread take turns;
// saved: the file holds the newest state.
void signals_lock(void);
void signals_unlock(int saved);
void signals_end(void); // the training is over: what comes is the program's own business

#endif
