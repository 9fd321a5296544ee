// exports.c: the flat functions that JavaScript calls, over include/seqmix/run.h: pointers, 32-bit sizes and
// doubles only (no structs, no 64-bit integers). All of them are exported; wasm/loader is their only caller.
// The kernels of smx.h are flat as they are: those of kernels.txt are exported too, and kernels.ts calls
// them. Nothing is computed here.
//
// A function that can fail returns 0 (or -1 where 0 is a result) and leaves the error for lab_error. Results
// that do not fit a return value lie in static arrays of this file, valid until the next call of the same
// function.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/files/data.h"
#include "tasks/files/table.h"
#include "model/mixers/mixer.h"
#include "model/ops/attention/distance.h"
#include "wasm/team.h"
#include <seqmix/run.h>
#include <seqmix/state.h>

// kernels.ts calls the kernels, and fills their structs word by word, as kernels.txt says.
#define SMX_KERNEL(result, name, parameters, arguments) result smx_##name parameters;
#define SMX_FIELD(type, field, place, kind)                                                                  \
    _Static_assert(sizeof(kind) == 4 && offsetof(type, field) == 4 * (place),                                \
                   "kernels.txt has " #type "." #field " in another place");
#define SMX_STRUCT(type, fields)                                                                             \
    _Static_assert(sizeof(type) == 4 * (fields), "kernels.txt has not every field of " #type);
#include "build/kernels.def"

static smx_error failure;

// Records: structs of run.h as arrays, their fields in the order of records.def.
enum { RECORD_MOST = 16 };
#define NUMBER(x) (x)
#define FLAG(x) ((x) != 0)
#define ADDRESS(x) ((uintptr_t)(x))

void *lab_alloc(size_t bytes) { return malloc(bytes ? bytes : 1); }
void lab_free(void *memory) { free(memory); }

// Field of the last failure: 0 message, 1 key, 2 value, 3 allowed.
const char *lab_error(int field) {
    const char *fields[] = {failure.message, failure.key, failure.value, failure.allowed};
    return field >= 0 && field < 4 ? fields[field] : "";
}

const char *lab_version(void) { return SMX_VERSION; }
const char *lab_isa(void) { return smx_isa(); }
const char *lab_config_json(void) { return smx_config_json(); }
char *lab_config_complete(const char *config) {
    return smx_config_complete(config, &failure);
} // free with lab_free
char *lab_config_values(const char *config) { return smx_config_values(config, &failure); } // the same

// ---- Runs -----------------------------------------------------------------------------------------------

#ifdef SMX_TEAM
static smx_run *with_team(smx_run *run) {
    smx_metrics m = {0};
    if (run) smx_run_metrics(run, &m);
    if (run && m.flops >= team_from) smx_run_parallel(run, team_for, NULL);
    return run;
}
#else
#define with_team(run) (run)
#endif
smx_run *lab_open(const char *config) { return with_team(smx_run_open(config, &failure)); }
smx_run *lab_load(const void *bytes, size_t size, const char *changes) {
    return with_team(smx_run_load(bytes, size, changes, &failure));
}
void lab_close(smx_run *run) { smx_run_close(run); }
int lab_step(smx_run *run, size_t n) { return smx_run_step(run, n, &failure); }
// Addresses of a batch's arrays, 0 those that the task does not use;
// its sequences, 0: as many as the config's batch.
int lab_step_on(smx_run *run, const int32_t *tokens, const float *values, const int32_t *targets,
                const float *target_values, size_t sequences) {
    return smx_run_step_on(run,
                           &(smx_batch){.tokens = tokens,
                                        .values = values,
                                        .targets = targets,
                                        .target_values = target_values,
                                        .sequences = sequences},
                           &failure);
}
const uint32_t *lab_batch(const smx_run *run) {
    static uint32_t out[RECORD_MOST];
    smx_batch_form form, *from = &form;
    smx_run_batch(run, from);
    uint32_t *to = out;
#define BATCH_FORM(kind, member) *to++ = (uint32_t)kind(from->member);
#include "records.def"
    return out;
}
const char *lab_config(const smx_run *run) { return smx_run_config(run); }
const char *lab_config_value(const smx_run *run, const char *key) { return smx_run_config_value(run, key); }

const char *lab_warning(smx_run *run) { return smx_run_warning(run); }

static const double *flat_evaluation(const smx_evaluation *from) {
    static double out[RECORD_MOST];
    double *to = out;
#define EVALUATION(kind, member) *to++ = (double)kind(from->member);
#include "records.def"
    return out;
}
const double *lab_evaluate(smx_run *run, size_t count,
                           const char *changes) { // changes: "" or keys of the task
    smx_evaluation e;
    return smx_run_evaluate_as(run, count, changes, &e, &failure) ? NULL : flat_evaluation(&e);
}
const double *lab_evaluate_on(smx_run *run, const int32_t *tokens, const float *values,
                              const int32_t *targets, const float *target_values, size_t sequences) {
    smx_evaluation e;
    const smx_batch batch = {.tokens = tokens,
                             .values = values,
                             .targets = targets,
                             .target_values = target_values,
                             .sequences = sequences};
    return smx_run_evaluate_on(run, &batch, &e, &failure) ? NULL : flat_evaluation(&e);
}
// Of the last evaluation: number of classes, then how often row was wanted and column answered;
// NULL: there is none.
const double *lab_confusion(const smx_run *run) {
    static double *out;
    size_t classes;
    const uint64_t *counts = smx_run_confusion(run, &classes);
    double *longer = counts ? realloc(out, (classes * classes + 1) * sizeof *out) : NULL;
    if (!longer) return NULL;
    out = longer;
    out[0] = (double)classes;
    for (size_t i = 0; i < classes * classes; i++) out[i + 1] = (double)counts[i];
    return out;
}

const double *lab_metrics(const smx_run *run) {
    static double out[RECORD_MOST];
    smx_metrics metrics, *from = &metrics;
    smx_run_metrics(run, from);
    double *to = out;
#define METRICS(kind, member) *to++ = (double)kind(from->member);
#include "records.def"
    return out;
}

size_t lab_loss_count(const smx_run *run) {
    size_t count = 0;
    smx_run_losses(run, &count);
    return count;
}
const float *lab_losses(const smx_run *run) {
    size_t count = 0;
    return smx_run_losses(run, &count);
}

static const char *hex(uint64_t word) {
    static char text[17];
    for (int i = 15; i >= 0; i--, word >>= 4) text[i] = "0123456789abcdef"[word & 15];
    return text;
}
const char *lab_digest(const smx_run *run) { return hex(smx_run_digest(run)); }

// ---- Tensors --------------------------------------------------------------------------------------------

static const uint32_t *flat_tensor(const smx_tensor *from) {
    static uint32_t out[RECORD_MOST];
    uint32_t *to = out;
#define TENSOR(kind, member) *to++ = (uint32_t)kind(from->member);
#include "records.def"
    return out;
}
size_t lab_tensor_count(const smx_run *run) { return smx_run_tensor_count(run); }
const uint32_t *lab_tensor_at(const smx_run *run, size_t i) {
    smx_tensor t;
    return smx_run_tensor_at(run, i, &t) ? NULL : flat_tensor(&t);
}
const uint32_t *lab_tensor(const smx_run *run, const char *name) {
    smx_tensor t;
    return smx_run_tensor(run, name, &t, &failure) ? NULL : flat_tensor(&t);
}

int lab_override(smx_run *run, const char *name, size_t at, const float *data, size_t count) {
    return smx_run_override(run, name, at, data, count, &failure);
}

// ---- Samples --------------------------------------------------------------------------------------------

static const uint32_t *flat_sample(const smx_sample *from) {
    static uint32_t out[RECORD_MOST];
    uint32_t *to = out;
#define SAMPLE(kind, member) *to++ = (uint32_t)kind(from->member);
#include "records.def"
    return out;
}
const uint32_t *lab_look(smx_run *run, int stream, double index, size_t length) {
    smx_sample s;
    return smx_run_look(run, stream, (uint64_t)index, length, &s, &failure) ? NULL : flat_sample(&s);
}
// Of tokens, values and an image [28][28] the one that is there.
const uint32_t *lab_predict(smx_run *run, const int32_t *tokens, const float *values, const uint8_t *pixels,
                            size_t length) {
    smx_sample s;
    const int failed = tokens   ? smx_run_predict(run, tokens, length, &s, &failure)
                       : values ? smx_run_predict_values(run, values, length, &s, &failure)
                                : smx_run_predict_image(run, pixels, &s, &failure);
    return failed ? NULL : flat_sample(&s);
}
const float *lab_saliency(smx_run *run, int class) {
    return smx_run_saliency(run, class, &failure);
} // [length][channels]
const float *lab_reading(smx_run *run) { return smx_run_reading(run, &failure); } // [length][classes]
// A file for tasks that read one; bytes NULL: forget it.
int lab_provide(const char *name, const void *bytes, size_t size) {
    return smx_data_provide(name, bytes, size, &failure);
}
// free with lab_free
char *lab_table(const uint8_t *bytes, size_t size) { return table_summary(bytes, size, "it", &failure); }

// ---- Checkpoints ----------------------------------------------------------------------------------------

static size_t saved_size;
void *lab_save(const smx_run *run) { return smx_run_save(run, &saved_size, &failure); } // free with lab_free
size_t lab_saved_size(void) { return saved_size; }

// ---- States ---------------------------------------------------------------------------------------------

smx_run_state *lab_state_open(smx_run *run, size_t sequences, size_t most) {
    return smx_state_open(run, sequences, most, &failure);
}
void lab_state_close(smx_run_state *state) { smx_state_close(state); }
const double *lab_state_form(const smx_run_state *state) {
    static double out[RECORD_MOST];
    smx_state_form form, *from = &form;
    smx_state_look(state, from);
    double *to = out;
#define STATE_FORM(kind, member) *to++ = (double)kind(from->member);
#include "records.def"
    return out;
}
int lab_state_push(smx_run_state *state, const int32_t *tokens, const float *values, size_t rows,
                   float *answers) {
    return smx_state_push(state, tokens, values, rows, answers, &failure);
}
const float *lab_state_answers(const smx_run_state *state) { return smx_state_answers(state); }
const uint32_t *lab_state_tensor(const smx_run_state *state, size_t i) {
    smx_tensor t;
    return smx_state_tensor_at(state, i, &t) ? NULL : flat_tensor(&t);
}
smx_run_state *lab_state_copy(const smx_run_state *state) { return smx_state_copy(state, &failure); }
int lab_state_draw(const smx_run_state *state, double temperature, size_t top_k, double top_p, double seed,
                   int32_t *tokens) {
    return smx_state_draw(state, &(smx_draw){temperature, top_k, top_p, (uint64_t)seed}, tokens, &failure);
}
int lab_state_odds(const smx_run_state *state, size_t b, float *odds) {
    return smx_state_odds(state, b, odds, &failure);
}
void *lab_state_save(const smx_run_state *state) { return smx_state_save(state, &saved_size, &failure); }
smx_run_state *lab_state_load(smx_run *run, const void *bytes, size_t size) {
    return smx_state_load(run, bytes, size, &failure);
}

// ---- For the self-check and for kernels.ts ----------------------------------------------------------------

const char *lab_mixer(size_t i) { return mixer_name(i); } // NULL past the last

// The factors by distance of LaS, table [H][2L-1]: alphas [H], or NULL:
// as the mixer spaces them up to `range`.
void lab_las_decay(float *table, const float *alphas, size_t H, size_t L, float range) {
    double decay[LAS_MAX_HEADS];
    if (H > LAS_MAX_HEADS) return;
    las_alphas(decay, H, range);
    for (size_t h = 0; alphas && h < H; h++) decay[h] = alphas[h];
    las_decay(table, decay, H, L);
}
