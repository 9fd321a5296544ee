// stored.h: what an earlier `seqmix reproduce` wrote of a table (NAME.jsonl), for one that goes on with it.
#ifndef CLI_STORED_H
#define CLI_STORED_H

#include "model/base/json.h"
#include "reproduction.h"

typedef struct stored {
    size_t rows;
    json **row; // {"row":..., "config":..., "rates":{...}}
} stored;

// Reads the file at `path`: of this table, trained and judged as today. 0, or 2 with the sentence
// printed; stored_free in any case.
int stored_read(stored *s, const reproduction *t, int quick, const char *path);
void stored_free(stored *s);

// What it holds of a row: into those places of `is` that nothing is in yet, with their share of the row's
// seconds. Returns how many.
size_t stored_take(const stored *s, const reproduced_row *row, reproduced *is);

#endif
