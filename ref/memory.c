// memory.c: the oracle's temporaries: one zeroed block per call, cut into arrays. No other file of ref/
// allocates more than a few small arrays.
#include <seqmix/ref.h>

#include <stdarg.h>
#include <stdlib.h>

void *ref_carve(double **first, size_t count, ...) {
    va_list args;
    size_t total = 0;
    double **where = first;
    size_t n = count;
    va_start(args, count);
    while (where) {
        if (n > SIZE_MAX / sizeof(double) - 1 - total) {
            va_end(args);
            return NULL;
        }
        total += n;
        where = va_arg(args, double **);
        if (where) n = va_arg(args, size_t);
    }
    va_end(args);

    double *block = calloc(total + 1, sizeof(double)); // + 1: never a NULL for an empty request
    if (!block) return NULL;

    double *next = block;
    where = first;
    n = count;
    va_start(args, count);
    while (where) {
        *where = next;
        next += n;
        where = va_arg(args, double **);
        if (where) n = va_arg(args, size_t);
    }
    va_end(args);
    return block;
}
