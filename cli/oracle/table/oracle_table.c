// oracle_table.c: the list of the oracle's mechanisms: the tables of this folder, of parameters, arrays with
// shapes, and the function of ref/ that each runs. A new mechanism is one entry and the few lines that
// unpack its arrays.
#include "oracle_table.h"

#include <string.h>

const oracle_mechanism *oracle_next(const oracle_mechanism *m) {
    static const oracle_mechanism *const tables[] = {oracle_attention, oracle_filters, oracle_usual,
                                                     oracle_states,    oracle_cores,   oracle_layers};
    if (!m) return tables[0];
    if ((++m)->name) return m;
    for (size_t i = 0; i + 1 < sizeof tables / sizeof *tables; i++) {
        const oracle_mechanism *end = tables[i];
        while (end->name) end++;
        if (m == end) return tables[i + 1];
    }
    return NULL;
}

const oracle_mechanism *oracle_find(const char *name) {
    for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m))
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}
