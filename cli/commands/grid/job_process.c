// job_process.c: see job_work.h.
#include "job_work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

static volatile sig_atomic_t stopped;
static volatile pid_t child;
static volatile sig_atomic_t sent = SIGTERM;
static void hear(int number) {
    stopped = number;
    if (child > 0) kill(child, sent);
}

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };
static struct sigaction before[N_NUMBERS];
void process_listen(void) {
    struct sigaction now = {.sa_handler = hear};
    sigemptyset(&now.sa_mask);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        sigaction(numbers[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(numbers[i], &now, NULL);
    }
}
void process_hear_no_more(void) {
    for (size_t i = 0; i < N_NUMBERS; i++) sigaction(numbers[i], &before[i], NULL);
}
int process_stopped(void) { return stopped; }

static long long changed(const char *path) {
    struct stat st;
    return stat(path, &st) ? 0 : (long long)st.st_ino << 20 ^ (long long)st.st_mtim.tv_nsec;
}

// Asked to save, it is given ten seconds to do so.
static void end_when_saved(pid_t pid, const char *saves, long long before) {
    for (int i = 0; i < 100 && changed(saves) == before && !kill(pid, 0); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    kill(pid, SIGTERM);
}

int process_run(const char *program, const char *const words[], const char *saves, double *busy) {
    pid_t pid;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    struct rusage used = {0};
    sigemptyset(&none); // a job that trains has blocked those that it waits for
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files); // its result is not this job's
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!saves) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int bad = posix_spawnp(&pid, program, &files, &attributes, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (bad) return cli_fail("%s cannot be started: %s", program, strerror(bad));
    const long long before = saves ? changed(saves) : 0;
    sent = saves ? SIGUSR1 : SIGTERM;
    child = pid;
    if (stopped) kill(pid, SIGTERM);
    int status = 0, asked = 0;
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
        if (saves && stopped && !asked++) end_when_saved(pid, saves, before);
    child = 0;
    if (busy)
        *busy = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 75; // killed: somebody tries again
}
