// fuzz_table.c: libFuzzer target for tables: whatever the bytes, the reader refuses them in a sentence or
// gives cells that are texts; and the task opens over them, or says why not, with samples that are numbers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/data.h>
#include <seqmix/run.h>

#include "tasks/files/table.h"

static void check_error(const smx_error *e) {
    if (!e->message[0] || !memchr(e->message, 0, sizeof e->message)) abort();
}

static void read_cells(const uint8_t *bytes, size_t size) {
    uint8_t *copy =
        malloc(size + !size); // of exactly the right size, so that the sanitizer sees a read beyond
    if (!copy) abort();
    if (size) memcpy(copy, bytes, size);
    table_file t;
    smx_error e = {0};
    if (table_open(&t, copy, size, "it", &e)) {
        check_error(&e);
    } else {
        char cell[TABLE_CELL];
        double x;
        for (size_t i = 0; i < t.columns; i++) {
            table_column(&t, i, cell);
            if (table_find(&t, cell) > i && !table_number(cell, &x)) abort();
        }
        for (size_t r = 0; r < t.rows; r++)
            for (size_t i = 0; i < t.columns; i++) {
                table_cell(&t, r, i, cell);
                if (!memchr(cell, 0, sizeof cell)) abort();
                if (table_number(cell, &x) && isnan(x))
                    abort(); // (1e400 is infinite: who reads a column refuses it)
            }
        table_close(&t);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const unsigned ways = data[0] | (unsigned)data[1] << 8;
    read_cells(data + 2, size - 2);
    static const char *const missing[] = {"refuse", "drop", "last", "mean"};
    static const char *const predict[] = {"auto", "class", "number", "auto"};
    char config[256];
    snprintf(
        config, sizeof config,
        "mixer=ema&task=table&file=it.csv&width=4&batch=1&length=%u&missing=%s&predict=%s&ahead=%u&answers=%s&held=%s",
        1 + ways % 4, missing[ways >> 2 & 3], predict[ways >> 4 & 3], ways >> 6 & 1,
        ways >> 7 & 1 ? "one" : "rows", ways >> 8 & 1 ? "windows" : "end");
    smx_error e = {0};
    if (smx_data_provide("it.csv", data + 2, size - 2, &e)) return check_error(&e), 0;
    smx_run *run = smx_run_open(config, &e);
    if (!run) {
        check_error(&e);
    } else {
        if (smx_run_step(run, 1, &e)) check_error(&e);
        smx_run_close(run);
    }
    smx_data_provide("it.csv", NULL, 0, &e);
    return 0;
}
