// allocations.h: the library's malloc, calloc, realloc and free in a program that is linked with --wrap
// (proofs_tests/tests.mk): counted, and the one after `until_failure` others fails.
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stddef.h>

static long until_failure = -1, held;
#ifdef __linux__
#include <malloc.h>

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
static long bytes, most_bytes;
static int fails(void) { return until_failure >= 0 && until_failure-- == 0; }
static void *took(void *p) {
    held += p != NULL;
    bytes += p ? (long)malloc_usable_size(p) : 0;
    if (bytes > most_bytes) most_bytes = bytes;
    return p;
}
static void gives(void *p) {
    held -= p != NULL;
    bytes -= p ? (long)malloc_usable_size(p) : 0;
}
void *__wrap_malloc(size_t n) { return fails() ? NULL : took(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : took(__real_calloc(n, size)); }
void *__wrap_realloc(void *old, size_t n) {
    if (fails()) return NULL;
    const long before = old ? (long)malloc_usable_size(old) : 0;
    void *p = __real_realloc(old, n);
    if (!p) return NULL;
    held -= old != NULL;
    bytes -= before;
    return took(p);
}
void __wrap_free(void *p) {
    gives(p);
    __real_free(p);
}
#endif

#endif
