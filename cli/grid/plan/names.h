// names.h: a set of 64-bit names.
#ifndef CLI_GRID_NAMES_H
#define CLI_GRID_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t *at; // [room], a power of two; 0: free
    size_t n, room;
} names;

int names_add(names *s, uint64_t name); // 1: added, 0: it was there, -1: out of memory
int names_have(const names *s, uint64_t name);
void names_free(names *s);

#endif
