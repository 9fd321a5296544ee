// failing.c: a library to preload (LD_PRELOAD): the call number FAIL_AT of the kind FAIL_CALL (alloc, read,
// write, sync, rename, open, close, list) fails once, with FAIL_ERRNO; every other goes through. Counted from
// 0. At the end FAIL_SAYS, a file, has the number of such calls; FAIL_TRACE, another, one line for each call
// but alloc and list. By FAIL_CLOCK seconds the time of day is ahead. For glibc.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static const char *call;
static long fail_at = -1, calls, ahead;
static int why, trace = -1;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("FAIL_AT"), *number = getenv("FAIL_ERRNO"), *to = getenv("FAIL_TRACE");
    fail_at = at ? atol(at) : -1;
    why = number ? atoi(number) : EIO;
    ahead = getenv("FAIL_CLOCK") ? atol(getenv("FAIL_CLOCK")) : 0;
    if (to) trace = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    call = getenv("FAIL_CALL");
}

static void say(int to, const char *text) {
    if (syscall(SYS_write, to, text, strlen(text)) < 0) abort();
}

static void tell(void) {
    char text[32];
    const char *to = getenv("FAIL_SAYS");
    const int fd = to ? (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0) return;
    snprintf(text, sizeof text, "%ld\n", calls);
    say(fd, text);
    syscall(SYS_close, fd);
}
__attribute__((destructor)) static void end(void) { tell(); }

static int fails(const char *kind) {
    if (!call || strcmp(kind, call)) return 0;
    if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) != fail_at) return 0;
    errno = why;
    return 1;
}
static int fails_on(const char *kind, const char *path) {
    if (trace >= 0) {
        char text[4400];
        snprintf(text, sizeof text, "%s %s\n", kind, path);
        say(trace, text);
    }
    return fails(kind);
}
static int fails_at(const char *kind, int fd) {
    char link[64], path[4096] = "";
    if (trace < 0) return fails(kind);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0) *path = 0;
    return fails_on(kind, path);
}

void *malloc(size_t n) { return fails("alloc") ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails("alloc") ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return fails("alloc") ? NULL : __libc_realloc(old, n); }

#define NEXT(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)
ssize_t read(int fd, void *to, size_t n) { return fails_at("read", fd) ? -1 : NEXT(read, fd, to, n); }
ssize_t write(int fd, const void *from, size_t n) {
    return fails_at("write", fd) ? -1 : NEXT(write, fd, from, n);
}
int close(int fd) {
    const int bad = fails_at("close", fd); // the descriptor is gone in any case
    return NEXT(close, fd) || bad ? (bad ? (errno = why, -1) : -1) : 0;
}
int fsync(int fd) { return fails_at("sync", fd) ? -1 : NEXT(fsync, fd); }
int syncfs(int fd) { return fails_at("sync", fd) ? -1 : NEXT(syncfs, fd); }
int rename(const char *from, const char *to) { return fails_on("rename", to) ? -1 : NEXT(rename, from, to); }
int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const int mode = va_arg(list, int); // what is not given is not looked at
    va_end(list);
    return fails_on("open", path) ? -1 : NEXT(open, path, flags, mode);
}
struct dirent *readdir(DIR *d) {
    return fails("list") ? NULL : NEXT(readdir, d);
}
size_t fread(void *to, size_t size, size_t n, FILE *from) {
    return fails_at("read", fileno(from)) ? 0 : NEXT(fread, to, size, n, from);
}

int clock_gettime(clockid_t clock, struct timespec *to) {
    const int bad = NEXT(clock_gettime, clock, to);
    if (!bad && clock == CLOCK_REALTIME) to->tv_sec += ahead;
    return bad;
}

// The program's own end by _exit() passes no destructor.
void _exit(int status) {
    tell();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
