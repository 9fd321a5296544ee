// job_process.h: another program at work for a job, which hears of the signals that the job hears.
#ifndef CLI_COMMANDS_JOB_PROCESS_H
#define CLI_COMMANDS_JOB_PROCESS_H

// Between these two, HUP, INT, TERM and USR1 are kept for process_stopped, and sent on as TERM, or, where the
// program saves first, as USR1, with TERM after that.
void process_listen(void);
void process_hear_no_more(void);
int process_stopped(void); // the signal heard last, 0: none
// Starts and awaits it: its exit status, 75 where a signal ended it; 2 with the sentence printed where it
// cannot be started. saves: the file that it writes on USR1 (NULL: none); where it has one, its standard
// error is this program's, else what it says goes nowhere. *busy (NULL allowed): processor seconds that it
// took.
int process_run(const char *program, const char *const words[], const char *saves, double *busy);

#endif
