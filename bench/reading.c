// reading.c: rows that read on: one row at a time through a state (seqmix/state.h), at positions up to
// 64 times apart. A model of 64 columns takes 64 numbers a row through one block and answers with 64, so that
// another program can be asked for the same (bench/peers).
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"
#include "kernels/core/philox.h"
#include "model/base/error.h"

enum { WIDTH = 64, TILE = 64 }; // rows of a run: whole tiles of what has any
enum { POSITION, SEQUENCES, ROWS, WINDOW };

// A state as if it had read so many rows: docs/STATES.md's bytes with seeded numbers in 0..1, another
// position and the checksum anew. Reading them instead would take attention a minute.
static smx_run_state *as_if_read(smx_run *run, const smx_run_state *empty, uint64_t rows, smx_error *error) {
    enum { MAGIC = 8, WORDS = 6, AT_ROWS = MAGIC + 8 * 4, FLOATS = MAGIC + 8 * WORDS };
    size_t size;
    unsigned char *bytes = smx_state_save(empty, &size, error);
    if (!bytes) return NULL;
    smx_rng rng = rng_open(rows, RNG_START, 0);
    for (int i = 0; i < 8; i++) bytes[AT_ROWS + i] = (unsigned char)(rows >> (8 * i));
    for (size_t i = FLOATS; i + 8 < size; i += 4) {
        const float x = (float)rng_uniform(&rng);
        memcpy(bytes + i, &x, 4);
    }
    uint64_t hash = hash_bytes(HASH_START, bytes, size - 8);
    for (int i = 0; i < 8; i++) bytes[size - 8 + (size_t)i] = (unsigned char)(hash >> (8 * i));
    smx_run_state *state = smx_state_load(run, bytes, size, error);
    free(bytes);
    return state;
}

// What grows reads the rows around the position, so that their mean cost is the cost there, then begins anew.
static int open_reading(bench_row *r, smx_error *error) {
    const size_t P = r->a[POSITION], B = r->a[SEQUENCES];
    r->lab = smx_run_open(r->config, error);
    if (!r->lab) return -1;
    const int grows = !smx_state_bytes(r->lab, B, 0, error);
    const size_t window = P / 4 < 1024 ? P / 4 : 1024;
    r->a[WINDOW] = grows ? window : 0;
    smx_run_state *empty = smx_state_open(r->lab, B, grows ? P + window / 2 : 0, error);
    if (!empty) return -1;
    r->filled = as_if_read(r->lab, empty, grows ? P - window / 2 : P, error);
    smx_state_close(empty);
    if (!r->filled) return -1;
    r->state = smx_state_copy(r->filled, error);
    if (!r->state || !bench_floats(r, 0, B * WIDTH * TILE)) return -1;
    smx_state_form form;
    smx_state_look(r->state, &form);
    r->bytes = (size_t)form.bytes;
    // of what grows each row reads what is kept of those before it
    r->moved = grows ? (double)form.bytes * (double)P / (double)form.most * (double)r->a[ROWS] : 0.0;
    return 0;
}
// A state without room for another run begins anew, which is not reading.
static void begin_anew(bench_row *r) {
    smx_error error;
    smx_state_form form;
    if (!r->state) return; // it failed before
    smx_state_look(r->state, &form);
    if (!form.most || form.rows + r->a[ROWS] <= form.most) return;
    smx_state_close(r->state);
    r->state = smx_state_copy(r->filled, &error);
}
static void run_reading(bench_row *r) {
    smx_error error;
    begin_anew(r); // nothing to do where it was made ready
    for (size_t t = 0; t < r->a[ROWS]; t++) {
        const float *row = r->x[0] + t % TILE * r->a[SEQUENCES] * WIDTH;
        if (!r->state || smx_state_push(r->state, NULL, row, 1, NULL, &error)) {
            r->check = NAN;
            return;
        }
    }
    r->check = (double)*smx_state_answers(r->state);
}

#define FLAT "per token within 1.1 x of 1,024"
#define KEPT "what it keeps at the speed of memory"
void bench_add_reading(void) {
    static const struct {
        const char *mixer;
        const char *target;
        size_t most, most_of_16, rows; // positions up to, with 16 sequences too; rows of a run
    } list[] = {
        {"attention", KEPT, 65536, 65536, TILE},
        {"cat", KEPT, 65536, 65536, TILE},
        {"las", KEPT, 65536, 65536, TILE},
        {"attention&chunk=64", FLAT, 65536, 65536, TILE},
        {"attention&sliding=64", FLAT, 65536, 65536, TILE},
        {"linear", FLAT, 65536, 65536, TILE},
        {"lincat", FLAT, 65536, 65536, TILE},
        {"based", FLAT, 65536, 65536, TILE},
        {"retnet", FLAT, 65536, 65536, TILE},
        {"gla", FLAT, 65536, 65536, TILE},
        {"deltanet", FLAT, 65536, 65536, TILE},
        {"gated_deltanet", FLAT, 65536, 65536, TILE},
        {"mamba", FLAT, 65536, 65536, TILE},
        {"mamba2", FLAT, 65536, 65536, TILE},
        {"ema", FLAT, 65536, 65536, TILE},
        {"lstm", FLAT, 65536, 65536, TILE},
        {"gru", FLAT, 65536, 65536, TILE},
        {"longconv", KEPT, 65536, 8192, TILE},
        {"s4d", KEPT, 65536, 8192, TILE},
        {"chela", KEPT, 65536, 8192, TILE},
        {"focus", KEPT, 65536, 8192, TILE},
        {"focus_h", KEPT, 65536, 8192, TILE},
        {"hyena", KEPT, 65536, 8192, TILE},
        {"lcat", NULL, 8192, 1024, 1}, // every row runs all rows again
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (size_t B = 1; B <= 16; B *= 16)
            for (size_t P = 1024; P <= (B > 1 ? list[i].most_of_16 : list[i].most); P *= 8) {
                char name[96], text[256], key[64];
                snprintf(key, sizeof key, "%s", list[i].mixer);
                for (char *c = key; *c; c++) *c = *c == '&' ? ',' : *c;
                snprintf(name, sizeof name, "read%s/%s %zu", B > 1 ? "16" : "", key, P);
                snprintf(text, sizeof text,
                         "mixer=%s&task=own&channels=%d&classes=%d&width=%d&heads=4&blocks=1&norm=none"
                         "&length=%zu&batch=1",
                         list[i].mixer, WIDTH, WIDTH, WIDTH, P);
                bench_row *r = bench_add(name, open_reading, run_reading);
                r->ready = begin_anew;
                r->config = malloc(strlen(text) + 1);
                if (r->config) strcpy(r->config, text);
                r->target = list[i].target;
                r->a[POSITION] = P;
                r->a[SEQUENCES] = B;
                r->a[ROWS] = list[i].rows;
                r->tokens = (double)(list[i].rows * B);
                r->work = 1.0;
            }
}
