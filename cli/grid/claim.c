// claim.c: see claim.h.
#include "claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "job.h"

enum { TOUCH_SECONDS = 15, STALE_SECONDS = 120, ALL = CLAIM_LINE + 2100 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int fd, held, lost, over;
    char path[JOB_PATH];
    struct stat made;
    uint64_t step, steps;
    char line[CLAIM_LINE]; // its first
    char about[2000];
} at = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .fd = -1};

// ---- Which process, of which machine --------------------------------------------------------------------

static void read_line(const char *path, char *to, size_t size) {
    FILE *f = fopen(path, "re");
    *to = 0;
    if (!f) return;
    if (!fgets(to, (int)size, f)) *to = 0;
    to[strcspn(to, "\n")] = 0;
    fclose(f);
}

// What two processes share that can see each other: the boot of a machine and its numbers of processes.
static void machine_here(char to[160]) {
    char boot[64], space[64];
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    const ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = 0;
    snprintf(to, 160, "%s/%s", *boot ? boot : "-", *space ? space : "-");
}

// When a process began, in its machine's ticks: numbers of processes come again. "" where that is unknown.
static void started(long pid, char to[32]) {
    char path[64], text[1024];
    *to = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_line(path, text, sizeof text);
    const char *p = strrchr(text, ')'); // its name may have spaces
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    if (p) snprintf(to, 32, "%.*s", (int)strcspn(p + 1, " "), p + 1);
}

// A claim that is being written has no first line yet: then only its time says something.
void claim_parse(const char *text, claim_content *c) {
    unsigned long long step, steps;
    *c = (claim_content){0};
    const char *second = strchr(text, '\n');
    if (second && sscanf(second, " step %llu of %llu", &step, &steps) == 2) {
        c->state.step = step;
        c->state.steps = steps;
    }
    const char *third = second ? strchr(second + 1, '\n') : NULL;
    if (third)
        snprintf(c->state.about, sizeof c->state.about, "%.*s", (int)strcspn(third + 1, "\n"), third + 1);
    snprintf(c->line, sizeof c->line, "%.*s", (int)strcspn(text, "\n"), text);
    if (sscanf(c->line, "%255s %18ld %159s %31s", c->state.host, &c->state.pid, c->machine, c->began) < 3 ||
        c->state.pid < 0 || c->state.pid > INT_MAX)
        c->state.pid = 0;
}

static int read_content(int fd, claim_content *c) {
    char text[ALL];
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n < 0) return *c = (claim_content){0}, -1;
    text[n] = 0;
    claim_parse(text, c);
    return 0;
}

static int is_here(const claim_content *c) {
    char machine[160];
    machine_here(machine);
    return c->state.pid > 0 && *machine != '-' && !strcmp(machine, c->machine);
}
static int runs_here(const claim_content *c) {
    char began[32];
    if (kill((pid_t)c->state.pid, 0) && errno == ESRCH) return 0;
    started(c->state.pid, began);
    return !*began || !strcmp(began, c->began);
}

// ---- The file system's clock ----------------------------------------------------------------------------

time_t claim_time_there(const char *path) {
    char probe[JOB_PATH + 64];
    struct stat st;
    snprintf(probe, sizeof probe, "%s.%ld.%lx.part", path, (long)getpid(), (unsigned long)time(NULL));
    const int fd = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return time(NULL); // a folder that may be read only
    const time_t now = fstat(fd, &st) ? time(NULL) : st.st_mtime;
    close(fd);
    unlink(probe);
    return now;
}

static int judge(const char *path, claim_content *c, struct stat *st) {
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC); // NFS asks anew when it opens
    if (fd < 0) return -1;
    const int bad = read_content(fd, c) || fstat(fd, st);
    close(fd);
    if (bad) return -1;
    c->state.touched = (double)(claim_time_there(path) - st->st_mtime);
    const int fresh = c->state.touched < STALE_SECONDS && c->state.touched > -STALE_SECONDS;
    c->state.lives = is_here(c) ? runs_here(c) : fresh;
    return 0;
}

int claim_read(const char *path, claim_state *state) {
    claim_content c;
    struct stat st;
    if (judge(path, &c, &st)) return -1;
    *state = c.state;
    return 0;
}

// ---- Taking ---------------------------------------------------------------------------------------------

// With the lock.
static void write_claim(void) {
    char text[ALL];
    const int n = snprintf(text, sizeof text, "%s\nstep %20llu of %20llu\n%s\n", at.line,
                           (unsigned long long)at.step, (unsigned long long)at.steps, at.about);
    if (pwrite(at.fd, text, (size_t)n, 0) != n) return; // a full disk: its time alone says that it lives
}

static int is_mine(void) {
    struct stat st;
    return !stat(at.path, &st) && st.st_ino == at.made.st_ino && st.st_dev == at.made.st_dev;
}

// Until `changed`, or TOUCH_SECONDS by a clock that nobody sets: by the time of day a clock set back would
// leave the claim untouched for as long.
static void wait_for_change(void) {
#ifdef __APPLE__
    const struct timespec most = {TOUCH_SECONDS, 0};
    pthread_cond_timedwait_relative_np(&at.changed, &at.lock, &most);
#else
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TOUCH_SECONDS;
    pthread_cond_timedwait(&at.changed, &at.lock, &until);
#endif
}

// Touches the claim until it is over, or somebody else has it.
static void *touch(void *unused) {
    (void)unused;
    pthread_mutex_lock(&at.lock);
    while (!at.over && !at.lost) {
        wait_for_change();
        if (at.over) break;
        write_claim();
        futimens(at.fd, NULL); // the file system's time
        at.lost = !is_mine();
    }
    pthread_mutex_unlock(&at.lock);
    return NULL;
}

static int hold(const char *path, const char *about, int fd) {
    char host[256] = "", machine[160], began[32];
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (*c <= ' ') *c = '_';
    machine_here(machine);
    started((long)getpid(), began);
    at.fd = fd;
    at.over = at.lost = 0;
    snprintf(at.path, sizeof at.path, "%s", path);
    snprintf(at.about, sizeof at.about, "%s", about);
    snprintf(at.line, sizeof at.line, "%s %ld %s %s %lx", *host ? host : "-", (long)getpid(), machine,
             *began ? began : "-", (unsigned long)time(NULL));
    if (fstat(fd, &at.made)) return cli_fail("%s cannot be read: %s", path, strerror(errno));
    write_claim();
#ifndef __APPLE__
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_destroy(&at.changed);
    pthread_cond_init(&at.changed, &steady);
    pthread_condattr_destroy(&steady);
#endif
    sigset_t all, before; // the thread hears no signal
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    at.held = !pthread_create(&at.thread, NULL, touch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return at.held ? 0 : cli_fail("there is no thread to keep %s alive with", path);
}

// Away with a claim of the dead, and only with that one: who was faster may have made a new one under the
// name meanwhile, which is put back.
static void remove_dead(const char *path, const char *line) {
    char aside[JOB_PATH + 64];
    claim_content c = {0};
    snprintf(aside, sizeof aside, "%s.%ld.part", path, (long)getpid());
    if (rename(path, aside)) return;
    const int fd = open(aside, O_RDONLY | O_CLOEXEC);
    const int other = fd >= 0 && !read_content(fd, &c) && strcmp(c.line, line);
    if (fd >= 0) close(fd);
    if (other && link(aside, path) && errno != EEXIST) cli_note("%s: %s", path, strerror(errno));
    unlink(aside);
}

int claim_take(const char *path, const char *about, char who[CLAIM_WHO]) {
    enum { TRIES = 20 };
    for (int tries = 0; tries < TRIES; tries++) {
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) return hold(path, about, fd);
        if (errno != EEXIST) return cli_fail("%s cannot be made: %s", path, strerror(errno));
        claim_content c;
        struct stat st;
        if (judge(path, &c, &st)) continue; // gone meanwhile
        if (c.state.lives) {
            char step[80] = "";
            if (c.state.steps)
                snprintf(step, sizeof step, ", step %llu of %llu", (unsigned long long)c.state.step,
                         (unsigned long long)c.state.steps);
            snprintf(who, CLAIM_WHO, "%s (process %ld%s)", *c.state.host ? c.state.host : "another worker",
                     c.state.pid, step);
            return 1;
        }
        remove_dead(path, c.line);
    }
    snprintf(who, CLAIM_WHO, "another worker");
    return 1;
}

void claim_progress(uint64_t step, uint64_t steps) {
    pthread_mutex_lock(&at.lock);
    const int first = !at.steps;
    at.step = step;
    at.steps = steps;
    if (first && at.held) write_claim();
    pthread_mutex_unlock(&at.lock);
}

int claim_lost(void) {
    pthread_mutex_lock(&at.lock);
    const int lost = at.lost;
    pthread_mutex_unlock(&at.lock);
    return lost;
}

void claim_release(void) {
    pthread_mutex_lock(&at.lock);
    const int held = at.held;
    at.over = 1;
    at.held = 0;
    pthread_cond_broadcast(&at.changed);
    pthread_mutex_unlock(&at.lock);
    if (!held) return;
    pthread_join(at.thread, NULL);
    if (is_mine()) unlink(at.path);
    close(at.fd);
    at.fd = -1;
    at.step = at.steps = 0;
}
