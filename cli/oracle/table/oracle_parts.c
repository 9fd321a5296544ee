// oracle_parts.c: what the tables of mechanisms share (oracle_table.h): arrays bound to structs, checks,
// packed sequences.
#include "oracle_table.h"

#include <stdio.h>
#include <string.h>

int oracle_divides(oracle_case *c, const char *part, const char *whole) {
    if (!oracle_size(c, part)) return oracle_fail(c, "the parameter %s is missing", part);
    if (oracle_size(c, whole) % oracle_size(c, part) == 0) return 0;
    return oracle_fail(c, "%s = %zu does not divide %s = %zu", part, oracle_size(c, part), whole,
                       oracle_size(c, whole));
}

int oracle_heads_fit(oracle_case *c) { return oracle_divides(c, "H", "D"); }

void oracle_bind(const oracle_case *c, double *(*get)(const oracle_case *, const char *), const char *names,
                 double **to) {
    char name[24];
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        *to++ = get(c, name);
        at += n;
    }
}

// ---- Packed sequences
static const int32_t *bounds(const oracle_case *c) {
    const oracle_slot *cu = oracle_slot_of(c, ORACLE_INPUT, "cu");
    return cu ? cu->ints : NULL;
}
size_t oracle_sequences(const oracle_case *c) { return bounds(c) ? SIZE(N) : 1; }
void oracle_rows(const oracle_case *c, size_t n, size_t *first, size_t *rows) {
    const int32_t *cu = bounds(c);
    *first = cu ? (size_t)cu[n] : 0;
    *rows = cu ? (size_t)(cu[n + 1] - cu[n]) : SIZE(L);
}
int oracle_packed_fits(oracle_case *c) {
    const int32_t *cu = bounds(c);
    if (!cu) return 0;
    if (cu[0]) return oracle_fail(c, "cu begins with %d; it must begin with 0", (int)cu[0]);
    for (size_t n = 0; n < SIZE(N); n++)
        if (cu[n + 1] < cu[n])
            return oracle_fail(c, "cu falls from %d to %d; it must not", (int)cu[n], (int)cu[n + 1]);
    if ((size_t)cu[SIZE(N)] != SIZE(L))
        return oracle_fail(c, "cu ends with %d; it must end with L = %zu", (int)cu[SIZE(N)], SIZE(L));
    return 0;
}
