// error.h: how a function that can fail says why: one sentence,
// and its parts for whoever shows them beside a field.
#ifndef SMX_ERROR_H
#define SMX_ERROR_H

// What a program may want to tell apart; the sentence says which of its kind.
enum {
    SMX_REFUSED = 0,  // what was asked for is not allowed, or there is no memory or data for it
    SMX_DIVERGED = 1, // a loss, a gradient or weights stopped being finite: the same on any machine
    SMX_APART = 2,    // another process of a shared run does not answer (smx_run_share)
    SMX_STOPPED = 3   // the caller's flag was set meanwhile (smx_run_stop)
};
typedef struct {
    char message[512]; // one sentence: the thing, the value given, what is allowed
    char key[64];      // the config key it is about, or ""
    char value[128];   // the value given, or ""
    char allowed[256]; // what is allowed, or ""
    int kind;          // SMX_REFUSED, SMX_DIVERGED, SMX_APART, SMX_STOPPED
} smx_error;

#endif
