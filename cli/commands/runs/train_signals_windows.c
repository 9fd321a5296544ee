// train_signals_windows.c: what train_signals.c is, on Windows, which has Ctrl-C and the closing of a window:
// both end the training after its step, and what is to be saved is saved then. A second Ctrl-C ends the
// program.
#include "train_signals.h"

#include <signal.h>
#include <windows.h>

static volatile LONG stopped, over;

// In a thread of its own. Windows ends the program when the handler of a closing window is done.
static BOOL WINAPI hear(DWORD event) {
    if (InterlockedExchange(&stopped, event == CTRL_C_EVENT ? SIGINT : SIGTERM)) return FALSE;
    while (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT && !over) Sleep(50);
    return TRUE;
}

int signals_start(const signals_rules *rules) {
    static int listens;
    (void)rules;
    over = 0;
    if (!listens++) SetConsoleCtrlHandler(hear, TRUE);
    return 0;
}
int signals_stop(void) { return stopped; }
int signals_save_now(void) { return 0; }
void signals_compute(int keep) { (void)keep; }
void signals_rest(void) {}
void signals_lock(void) {}
void signals_unlock(void) {}
void signals_end(void) { over = 1; }
