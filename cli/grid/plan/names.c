// names.c: see names.h. Open addressing; the names are hashes already.
#include "names.h"

#include <stdlib.h>

static size_t place_of(const uint64_t *at, size_t room, uint64_t name) {
    size_t i = (size_t)(name ^ name >> 32) & (room - 1);
    while (at[i] && at[i] != name) i = (i + 1) & (room - 1);
    return i;
}

static int grow(names *s) {
    const size_t room = s->room ? 2 * s->room : 1024;
    uint64_t *at = calloc(room, sizeof *at);
    if (!at) return -1;
    for (size_t i = 0; i < s->room; i++)
        if (s->at[i]) at[place_of(at, room, s->at[i])] = s->at[i];
    free(s->at);
    s->at = at;
    s->room = room;
    return 0;
}

int names_add(names *s, uint64_t name) {
    if (!name) name = 1;
    if (2 * s->n >= s->room && grow(s)) return -1;
    const size_t i = place_of(s->at, s->room, name);
    if (s->at[i]) return 0;
    s->at[i] = name;
    s->n++;
    return 1;
}

int names_have(const names *s, uint64_t name) {
    if (!name) name = 1;
    return s->room && s->at[place_of(s->at, s->room, name)] == name;
}

void names_free(names *s) {
    free(s->at);
    *s = (names){0};
}
