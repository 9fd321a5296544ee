// posix.c: see posix.h.
#include <windows.h> // first: it has a gethostname, too

#include "posix.h"
#undef fclose

#include "cli/cli.h"

// Lines end with one byte here as they do elsewhere: results have the same bytes on every machine.
__attribute__((constructor)) static void read_and_write_bytes(void) {
    _fmode = _O_BINARY;
    for (int i = 0; i < 3; i++) _setmode(i, _O_BINARY);
}

void *smx_memmem(const void *in, size_t size, const void *what, size_t length) {
    for (const char *at = in; size >= length; at++, size--)
        if (!memcmp(at, what, length)) return (void *)at;
    return NULL;
}

char *smx_stpcpy(char *to, const char *from) {
    const size_t n = strlen(from);
    memcpy(to, from, n + 1);
    return to + n;
}

char *smx_strndup(const char *text, size_t most) {
    const size_t n = strnlen(text, most);
    char *copy = malloc(n + 1);
    if (copy) memcpy(copy, text, n), copy[n] = 0;
    return copy;
}

ssize_t smx_getline(char **line, size_t *room, FILE *from) {
    size_t n = 0;
    for (int c; (c = getc(from)) != EOF;) {
        if (n + 2 > *room) {
            char *larger = realloc(*line, 2 * *room + 256);
            if (!larger) return -1;
            *line = larger;
            *room = 2 * *room + 256;
        }
        (*line)[n++] = (char)c;
        if (c == '\n') break;
    }
    if (n) (*line)[n] = 0;
    return n ? (ssize_t)n : -1;
}

int smx_gethostname(char *to, size_t size) {
    DWORD n = (DWORD)size;
    return GetComputerNameA(to, &n) ? 0 : -1;
}

double smx_physical_memory(void) {
    MEMORYSTATUSEX m = {.dwLength = sizeof m};
    return GlobalMemoryStatusEx(&m) ? (double)m.ullTotalPhys : 0.0;
}

int cli_columns(void) {
    CONSOLE_SCREEN_BUFFER_INFO screen;
    return GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &screen)
               ? screen.srWindow.Right - screen.srWindow.Left + 1
               : 0;
}

// ---- A stream into memory: into a file that is gone when it is closed, and read before that -----------

typedef struct stream {
    FILE *file;
    char **text;
    size_t *size;
    struct stream *next;
} stream;
static stream *streams;
static SRWLOCK lock = SRWLOCK_INIT;

FILE *smx_open_memstream(char **text, size_t *size) {
    char folder[MAX_PATH + 1], path[MAX_PATH + 1];
    stream *s = malloc(sizeof *s);
    if (!s || !GetTempPathA(sizeof folder, folder) || !GetTempFileNameA(folder, "smx", 0, path)) {
        free(s);
        return NULL;
    }
    const int fd = _open(path, _O_RDWR | _O_TRUNC | _O_BINARY | _O_SHORT_LIVED | _O_TEMPORARY | _O_NOINHERIT);
    FILE *file = fd < 0 ? NULL : _fdopen(fd, "w+b");
    if (!file) {
        if (fd >= 0) _close(fd);
        free(s);
        return NULL;
    }
    *text = NULL;
    *size = 0;
    AcquireSRWLockExclusive(&lock);
    *s = (stream){file, text, size, streams};
    streams = s;
    ReleaseSRWLockExclusive(&lock);
    return file;
}

// 0, or EOF: what was written is not all there.
static int read_back(const stream *s) {
    if (fflush(s->file) || ferror(s->file)) return EOF;
    const long long n = _filelengthi64(_fileno(s->file));
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!text) return EOF;
    rewind(s->file);
    if (fread(text, 1, (size_t)n, s->file) != (size_t)n) return free(text), EOF;
    text[n] = 0;
    *s->text = text;
    *s->size = (size_t)n;
    return 0;
}

int smx_fclose(FILE *file) {
    AcquireSRWLockExclusive(&lock);
    stream **at = &streams;
    while (*at && (*at)->file != file) at = &(*at)->next;
    stream *s = *at;
    if (s) *at = s->next;
    ReleaseSRWLockExclusive(&lock);
    const int bad = s ? read_back(s) : 0;
    free(s);
    return fclose(file) || bad ? EOF : 0;
}
