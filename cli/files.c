// files.c: whole files in and out. A reader of a path that is written here sees the old file or the new one,
// never a part, also after a crash: the bytes go to a temporary beside it (O_EXCL, O_NOFOLLOW, synced), which
// is renamed and its folder synced. A symbolic link stays, and what it points to is written; mode and owner
// of a file stay as they were; a device or a FIFO is written into. A temporary is locked while its writer
// lives, so that the next one can remove what a dead one left.
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 4096, MOST_LINKS = 40 };
#define TEMPORARY ".seqmix-"
#define ENDING ".part"

void *cli_read_file(const char *path, size_t *size) {
    // Not blocking: a FIFO is refused, and does not wait for a writer first.
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        cli_fail("%s cannot be read: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return NULL;
    }
    char *bytes = NULL;
    if (!S_ISREG(st.st_mode) || st.st_size > (off_t)1 << 31) {
        cli_fail("%s is not a file of at most 2 GiB", path);
    } else if (!(bytes = malloc((size_t)st.st_size + 1))) {
        cli_fail("%s cannot be read: out of memory", path);
    } else {
        size_t got = 0;
        while (got < (size_t)st.st_size) {
            const ssize_t n = read(fd, bytes + got, (size_t)st.st_size - got);
            if (n == 0 || (n < 0 && errno != EINTR)) break;
            if (n > 0) got += (size_t)n;
        }
        *size = (size_t)st.st_size;
        if (got < *size) {
            cli_fail("%s cannot be read: it ended early", path);
            free(bytes);
            bytes = NULL;
        } else {
            bytes[*size] = 0;
        }
    }
    close(fd);
    return bytes;
}

// Where a path leads through symbolic links, also to a file that is not there yet; -1 with errno.
static int follow(const char *path, char to[LONGEST]) {
    char link[LONGEST];
    if ((size_t)snprintf(to, LONGEST, "%s", path) >= LONGEST) return errno = ENAMETOOLONG, -1;
    for (int i = 0; i < MOST_LINKS; i++) {
        const ssize_t n = readlink(to, link, sizeof link - 1);
        if (n < 0) return 0; // no link, or nothing there
        link[n] = 0;
        char *slash = strrchr(to, '/');
        if (*link == '/' || !slash) slash = to - 1; // the link alone names it
        const size_t folder = (size_t)(slash + 1 - to);
        if (folder + (size_t)n >= LONGEST) return errno = ENAMETOOLONG, -1;
        memcpy(to + folder, link, (size_t)n + 1);
    }
    return errno = ELOOP, -1;
}

static void folder_of(const char *path, char to[LONGEST]) {
    const char *slash = strrchr(path, '/');
    snprintf(to, LONGEST, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
}

// Temporaries in the folder that nobody holds any more: their writers died.
void cli_sweep_folder(const char *folder) {
    char path[LONGEST];
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        const size_t n = strlen(e->d_name);
        if (strncmp(e->d_name, TEMPORARY, strlen(TEMPORARY)) || n < strlen(ENDING) ||
            strcmp(e->d_name + n - strlen(ENDING), ENDING) ||
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= sizeof path)
            continue;
        struct stat st;
        const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB)) unlink(path);
        close(fd);
    }
    if (d) closedir(d);
}

// A new file in the folder, locked; its descriptor, or -1 with errno.
static int open_temporary(const char *folder, char path[LONGEST]) {
    static unsigned counter;
    for (int i = 0; i < 100; i++) {
        struct stat st;
        if ((size_t)snprintf(path, LONGEST, "%s/" TEMPORARY "%ld-%u" ENDING, folder, (long)getpid(),
                             __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)) >= LONGEST)
            return errno = ENAMETOOLONG, -1;
        const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) return -1;
        if (fd < 0) continue;
        // Where there are no locks, nobody sweeps. A sweeper may have been faster than the lock.
        if ((!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) && !fstat(fd, &st) && st.st_nlink)
            return fd;
        close(fd);
    }
    return errno = EEXIST, -1;
}

static int write_all(int fd, const cli_piece *pieces, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at < pieces[i].size;) {
            const ssize_t k = write(fd, (const char *)pieces[i].bytes + at, pieces[i].size - at);
            if (k < 0 && errno != EINTR) return -1;
            if (k > 0) at += (size_t)k;
        }
    return 0;
}

// As the file was that it replaces. An owner who may not give files away keeps them.
static int dress(int fd, const struct stat *old) {
    struct stat mine;
    if (fstat(fd, &mine)) return -1;
    if ((old->st_uid != mine.st_uid || old->st_gid != mine.st_gid) && fchown(fd, old->st_uid, old->st_gid) &&
        fchown(fd, (uid_t)-1, old->st_gid) && errno != EPERM)
        return -1;
    return fchmod(fd, old->st_mode & 0777);
}

static int sync_folder(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int bad = fd < 0 || (fsync(fd) && errno != EINVAL), why = errno;
    if (fd >= 0) close(fd);
    errno = why;
    return bad ? -1 : 0;
}

static int close_copy(int fd) {
    const int copy = dup(fd);
    return copy < 0 ? -1 : close(copy);
}

// shared: other machines write there, too. 0; or with errno -1, and what stood there stands, or 1: the new
// file stands, and a machine that stops now may lose it.
static int replace(const char *path, const struct stat *old, const cli_piece *pieces, size_t n, int durable,
                   int shared) {
    char folder[LONGEST], temporary[LONGEST];
    folder_of(path, folder);
    if (durable && !shared) cli_sweep_folder(folder);
    const int fd = open_temporary(folder, temporary);
    if (fd < 0) return -1;
    // (What a close would tell, over a network, is asked of a second descriptor: the first holds the lock
    // until the new name stands, and what closing it says comes too late to be true of the file.)
    const int bad = write_all(fd, pieces, n) || (old && dress(fd, old)) || (durable && fsync(fd)) ||
                    close_copy(fd) || rename(temporary, path);
    const int why = errno;
    if (bad) unlink(temporary);
    close(fd);
    errno = why;
    return bad ? -1 : durable && sync_folder(folder);
}

// Opening a FIFO that nobody reads would wait for ever, and hear no signal: a reader has a few seconds to
// come.
static int open_into(const char *path) {
    enum { TRIES = 30 };
    for (int tries = 1;; tries++) {
        const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) return fcntl(fd, F_SETFL, 0) ? close(fd), -1 : fd;
        if (errno != ENXIO || tries == TRIES) return -1;
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
    }
}

static int write_into(const char *path, const cli_piece *pieces, size_t n) {
    const int fd = open_into(path);
    if (fd < 0) return -1;
    const int bad = write_all(fd, pieces, n), why = errno;
    if (close(fd) && !bad) return -1;
    errno = why;
    return bad;
}

// What stands at the path: 0, or -1 with a sentence: nothing that can be written.
static int look(const char *path, char target[LONGEST], struct stat *st, int *there, char *why, size_t size) {
    if (!strcmp(path, "-")) {
        snprintf(why, size,
                 "- cannot be written: a file's name is wanted (./- is one; /dev/stdout is standard "
                 "output)");
        return -1;
    }
    if (follow(path, target)) {
        snprintf(why, size, "%s cannot be written: %s", path, strerror(errno));
        return -1;
    }
    *there = !stat(target, st);
    // The link of /dev/stdout to a pipe names no file, and opens it.
    if (!*there && errno == ENOENT && !stat(path, st) && !S_ISREG(st->st_mode)) {
        *there = 1;
        snprintf(target, LONGEST, "%s", path);
    }
    const int missing = !*there && errno != ENOENT;
    if (missing || (*there && !S_ISDIR(st->st_mode) && access(target, W_OK)))
        snprintf(why, size, "%s cannot be written: %s", path, strerror(errno));
    else if (*there && S_ISDIR(st->st_mode))
        snprintf(why, size, "%s cannot be written: it is a folder; a file's name is wanted", path);
    else if (*there && S_ISSOCK(st->st_mode))
        snprintf(why, size, "%s cannot be written: it is a socket; a file, a device or a FIFO is wanted",
                 path);
    else
        return 0;
    return -1;
}

static int write_pieces(const char *path, const cli_piece *pieces, size_t n, int durable, int shared,
                        char *why, size_t size) {
    char target[LONGEST];
    struct stat st;
    int there;
    if (look(path, target, &st, &there, why, size)) return -1;
    const int bad = there && !S_ISREG(st.st_mode)
                        ? write_into(target, pieces, n)
                        : replace(target, there ? &st : NULL, pieces, n, durable, shared);
    if (bad > 0)
        snprintf(why, size, "%s is written, but a machine that stops now may lose it: syncing its folder: %s",
                 path, strerror(errno));
    else if (bad)
        snprintf(why, size, "%s cannot be written: %s", path,
                 there && S_ISFIFO(st.st_mode) && errno == ENXIO ? "it is a FIFO, and nobody reads it"
                                                                 : strerror(errno));
    return bad;
}

int cli_write_pieces(const char *path, const cli_piece *pieces, size_t n, int durable, char *why,
                     size_t size) {
    return write_pieces(path, pieces, n, durable, 0, why, size);
}

int cli_write_shared(const char *path, const void *bytes, size_t size) {
    char why[LONGEST + 200];
    const cli_piece all = {bytes, size};
    return write_pieces(path, &all, 1, 1, 1, why, sizeof why) ? cli_fail("%s", why) : 0;
}

int cli_write_file(const char *path, const void *bytes, size_t size) {
    char why[LONGEST + 200];
    const cli_piece all = {bytes, size};
    return cli_write_pieces(path, &all, 1, 1, why, sizeof why) ? cli_fail("%s", why) : 0;
}

int cli_can_write(const char *path) {
    char target[LONGEST], folder[LONGEST], temporary[LONGEST], why[LONGEST + 200];
    struct stat st;
    int there;
    if (look(path, target, &st, &there, why, sizeof why)) return cli_fail("%s", why);
    if (there && !S_ISREG(st.st_mode)) return 0;
    folder_of(target, folder);
    // Tried by a file that is gone at once, whatever signal comes meanwhile.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int fd = open_temporary(folder, temporary);
    const int reason = errno;
    if (fd >= 0) {
        unlink(temporary);
        close(fd);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fd < 0 ? cli_fail("%s cannot be written: %s", path, strerror(reason)) : 0;
}
