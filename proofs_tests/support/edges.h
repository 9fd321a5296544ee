// edges.h: the library's malloc, calloc, realloc and free in a program that is linked with --wrap
// (proofs_tests/tests.mk): a block ends where a page begins that nobody may touch, so that who writes or
// reads past its end ends the test. (With AddressSanitizer: its own, which do so too. On Linux: other
// linkers have no --wrap.)
#ifndef EDGES_H
#define EDGES_H

#include "proofs_tests/support/check.h"

#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);

#ifdef CHECK_ASAN
void *__wrap_malloc(size_t n) { return __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return __real_calloc(n, size); }
void *__wrap_realloc(void *old, size_t n) { return __real_realloc(old, n); }
void __wrap_free(void *p) { __real_free(p); }
#else
enum { EDGE_BLOCKS = 4096, EDGE_ALIGN = 16 };
static struct edge {
    unsigned char *map, *block;
    size_t n, mapped;
} edges[EDGE_BLOCKS];
static size_t n_edges;
static struct edge *edge_of(const void *p) {
    for (size_t i = n_edges; i-- > 0;)
        if (edges[i].block == p) return &edges[i];
    return NULL;
}
// What alignment leaves between a block and the page is filled, and looked at when the block is given back.
void *__wrap_malloc(size_t n) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + EDGE_ALIGN - 1) / EDGE_ALIGN * EDGE_ALIGN,
                 room = (size + page - 1) / page * page;
    if (n > SIZE_MAX / 4 || n_edges == EDGE_BLOCKS) return NULL;
    unsigned char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE)) return NULL;
    edges[n_edges++] = (struct edge){map, map + room - size, n, room + page};
    memset(map, CHECK_GUARD, room);
    return map + room - size;
}
void __wrap_free(void *p) {
    struct edge *e = p ? edge_of(p) : NULL;
    if (!e) {
        __real_free(p);
        return;
    }
    for (const unsigned char *c = e->block + e->n; c < e->map + e->mapped && (c - e->block) % EDGE_ALIGN; c++)
        if (*c != CHECK_GUARD) check_fail("%zu bytes, and the one behind them is written", e->n);
    munmap(e->map, e->mapped);
    *e = edges[--n_edges];
}
void *__wrap_calloc(size_t n, size_t size) {
    void *p = size && n > SIZE_MAX / size ? NULL : __wrap_malloc(n * size);
    return p ? memset(p, 0, n * size) : NULL;
}
void *__wrap_realloc(void *old, size_t n) {
    const struct edge *e = old ? edge_of(old) : NULL;
    if (old && !e) return __real_realloc(old, n);
    void *p = __wrap_malloc(n);
    if (p && e) memcpy(p, e->block, e->n < n ? e->n : n);
    if (p) __wrap_free(old);
    return p;
}
#endif
#endif

#endif
