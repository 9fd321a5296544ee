// posix.h: what the program takes from POSIX and Windows' C library has not or calls otherwise. Every file of
// the program is compiled with it there (-include), and is written for POSIX.
#ifndef CLI_WINDOWS_POSIX_H
#define CLI_WINDOWS_POSIX_H

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void *smx_memmem(const void *in, size_t size, const void *what, size_t length);
char *smx_stpcpy(char *to, const char *from);
char *smx_strndup(const char *text, size_t most);
ssize_t smx_getline(char **line, size_t *room, FILE *from);
int smx_gethostname(char *to, size_t size);
FILE *smx_open_memstream(char **text, size_t *size);
int smx_fclose(FILE *file);

#define memmem smx_memmem
#define stpcpy smx_stpcpy
#define strndup smx_strndup
#define getline smx_getline
#define gethostname smx_gethostname
#define open_memstream smx_open_memstream
#define fclose smx_fclose
#define mkdir(path, mode) _mkdir(path)
#define tell cli_tell // <io.h> has another one
// Of the memory that there is, in pages of one byte.
double smx_physical_memory(void);
#define _SC_PHYS_PAGES 0
#define _SC_PAGE_SIZE 1
#define sysconf(which) ((which) == _SC_PHYS_PAGES ? smx_physical_memory() : 1.0)

#endif
