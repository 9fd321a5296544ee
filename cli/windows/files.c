// files.c: what cli/files.c and cli/folders.c are, on Windows. A reader of a path that is written here sees
// the old file or the new one, never a part: the bytes go to a temporary beside it, flushed, which takes its
// name. While its writer lives, nobody else can remove a temporary: so the next one can remove what a dead
// one left.
#include "cli/cli.h"

#include <direct.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { LONGEST = 4096 };
#define TEMPORARY ".seqmix-"
#define ENDING ".part"

static const char *reason(char to[200]) {
    const DWORD n = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                   GetLastError(), 0, to, 200, NULL);
    to[n] = 0;
    to[strcspn(to, "\r\n")] = 0;
    return to;
}

static int is_folder(const char *path) {
    const DWORD what = GetFileAttributesA(path);
    return what != INVALID_FILE_ATTRIBUTES && what & FILE_ATTRIBUTE_DIRECTORY;
}

void *cli_read_file(const char *path, size_t *size) {
    char why[200];
    HANDLE f = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                           OPEN_EXISTING, 0, NULL);
    LARGE_INTEGER n;
    if (f == INVALID_HANDLE_VALUE) {
        if (is_folder(path)) return cli_fail("%s is not a file of at most 2 GiB", path), NULL;
        return cli_fail("%s cannot be read: %s", path, reason(why)), NULL;
    }
    char *bytes = NULL;
    DWORD got = 0;
    if (GetFileType(f) != FILE_TYPE_DISK || !GetFileSizeEx(f, &n) || n.QuadPart > 1LL << 31) {
        cli_fail("%s is not a file of at most 2 GiB", path);
    } else if (!(bytes = malloc((size_t)n.QuadPart + 1))) {
        cli_fail("%s cannot be read: out of memory", path);
    } else if (!ReadFile(f, bytes, (DWORD)n.QuadPart, &got, NULL) || got < n.QuadPart) {
        cli_fail("%s cannot be read: it ended early", path);
        free(bytes);
        bytes = NULL;
    } else {
        *size = (size_t)n.QuadPart;
        bytes[*size] = 0;
    }
    CloseHandle(f);
    return bytes;
}

static void folder_of(const char *path, char to[LONGEST]) {
    size_t n = strlen(path);
    while (n && path[n - 1] != '/' && path[n - 1] != '\\' && path[n - 1] != ':') n--;
    snprintf(to, LONGEST, "%.*s", (int)n, path);
}

void cli_sweep_folder(const char *folder) {
    char path[LONGEST];
    WIN32_FIND_DATAA e;
    if ((size_t)snprintf(path, sizeof path, "%s/" TEMPORARY "*" ENDING, folder) >= sizeof path) return;
    HANDLE d = FindFirstFileA(path, &e);
    if (d == INVALID_HANDLE_VALUE) return;
    do {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, e.cFileName) < sizeof path)
            DeleteFileA(path);
    } while (FindNextFileA(d, &e));
    FindClose(d);
}

static HANDLE open_temporary(const char *folder, char path[LONGEST]) {
    static unsigned counter;
    for (int i = 0; i < 100; i++) {
        if ((size_t)snprintf(path, LONGEST, "%s" TEMPORARY "%lu-%u" ENDING, folder, GetCurrentProcessId(),
                             __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)) >= LONGEST)
            break;
        // (shared with nobody: who sweeps cannot remove it)
        HANDLE f = CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        if (f != INVALID_HANDLE_VALUE || GetLastError() != ERROR_FILE_EXISTS) return f;
    }
    SetLastError(ERROR_FILENAME_EXCED_RANGE);
    return INVALID_HANDLE_VALUE;
}

static int write_all(HANDLE f, const cli_piece *pieces, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at < pieces[i].size;) {
            DWORD k;
            const size_t left = pieces[i].size - at;
            if (!WriteFile(f, (const char *)pieces[i].bytes + at, left < 1 << 30 ? (DWORD)left : 1 << 30, &k,
                           NULL))
                return -1;
            at += k;
        }
    return 0;
}

// A device (NUL, CON) is written into.
static int write_into(const char *path, const cli_piece *pieces, size_t n, int *is_device) {
    HANDLE f =
        CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    *is_device = f != INVALID_HANDLE_VALUE && GetFileType(f) != FILE_TYPE_DISK;
    const int bad = *is_device && write_all(f, pieces, n);
    if (f != INVALID_HANDLE_VALUE) CloseHandle(f);
    return bad;
}

static int refuse(const char *path, char *why, size_t size) {
    char text[200];
    snprintf(why, size, "%s cannot be written: %s", path, reason(text));
    return -1;
}

// Whether a file can be written there; with a sentence where not.
static int look(const char *path, char *why, size_t size) {
    const DWORD what = GetFileAttributesA(path);
    if (!strcmp(path, "-"))
        snprintf(why, size, "- cannot be written: a file's name is wanted (./- is one)");
    else if (is_folder(path))
        snprintf(why, size, "%s cannot be written: it is a folder; a file's name is wanted", path);
    else if (what != INVALID_FILE_ATTRIBUTES && what & FILE_ATTRIBUTE_READONLY)
        snprintf(why, size, "%s cannot be written: it is read only", path);
    else
        return 0;
    return -1;
}

int cli_write_pieces(const char *path, const cli_piece *pieces, size_t n, int durable, char *why,
                     size_t size) {
    char folder[LONGEST], temporary[LONGEST];
    int is_device;
    if (look(path, why, size)) return -1;
    if (write_into(path, pieces, n, &is_device)) return refuse(path, why, size);
    if (is_device) return 0;
    folder_of(path, folder);
    if (durable) cli_sweep_folder(*folder ? folder : ".");
    HANDLE f = open_temporary(folder, temporary);
    if (f == INVALID_HANDLE_VALUE) return refuse(path, why, size);
    int bad = write_all(f, pieces, n) || !FlushFileBuffers(f);
    if (bad) refuse(path, why, size);
    CloseHandle(f);
    // A reader that has the old file open (a scanner of viruses, say) keeps its name for a moment.
    for (int tries = 0;
         !bad && !MoveFileExA(temporary, path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);) {
        if (GetLastError() != ERROR_ACCESS_DENIED && GetLastError() != ERROR_SHARING_VIOLATION) tries = 100;
        if (tries++ >= 100) bad = refuse(path, why, size);
        Sleep(20);
    }
    if (bad) DeleteFileA(temporary);
    return bad ? -1 : 0;
}

int cli_write_file(const char *path, const void *bytes, size_t size) {
    char why[LONGEST + 300];
    const cli_piece all = {bytes, size};
    return cli_write_pieces(path, &all, 1, 1, why, sizeof why) ? cli_fail("%s", why) : 0;
}
int cli_write_shared(const char *path, const void *bytes, size_t size) {
    return cli_write_file(path, bytes, size);
}

int cli_can_write(const char *path) {
    char folder[LONGEST], temporary[LONGEST], why[LONGEST + 300];
    int is_device;
    if (look(path, why, sizeof why)) return cli_fail("%s", why);
    if (write_into(path, NULL, 0, &is_device) || is_device) return 0;
    folder_of(path, folder);
    HANDLE f = open_temporary(folder, temporary);
    if (f == INVALID_HANDLE_VALUE) return refuse(path, why, sizeof why), cli_fail("%s", why);
    CloseHandle(f);
    DeleteFileA(temporary);
    return 0;
}

// ---- Folders ----

int cli_make_folders(const char *path, const char *option) {
    char part[LONGEST];
    const size_t n = strlen(path);
    if (n == 0 || n >= sizeof part)
        return cli_fail("%s: the path of %zu characters must have 1 to %zu", option, n, sizeof part - 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] && path[i] != '/' && path[i] != '\\') continue;
        memcpy(part, path, i);
        part[i] = 0;
        const int why = part[i - 1] == ':' || !_mkdir(part) ? 0 : errno;
        if (why && !is_folder(part))
            return cli_fail("%s: %s cannot be made a folder: %s", option, part,
                            why == EEXIST ? "it is not a folder" : strerror(why));
    }
    return 0;
}

// A file that is held open, and with it the folder, until the program ends or writes into another one.
static HANDLE held = INVALID_HANDLE_VALUE;
int cli_make_folder(const char *path, const char *option) {
    char lock[LONGEST];
    if (cli_make_folders(path, option)) return 2;
    if (held != INVALID_HANDLE_VALUE) CloseHandle(held);
    snprintf(lock, sizeof lock, "%s/.seqmix-lock", path);
    for (int said = 0;; Sleep(200)) {
        held = CreateFileA(lock, GENERIC_WRITE, 0, NULL, OPEN_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
        if (held != INVALID_HANDLE_VALUE || GetLastError() != ERROR_SHARING_VIOLATION) break;
        if (!said++) cli_note("another seqmix writes into %s: waiting for it", path);
    }
    cli_sweep_folder(path);
    return 0;
}

// (Each of its files was flushed when it was written.)
void cli_finish_folder(void) {}
