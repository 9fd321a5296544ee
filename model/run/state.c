// state.c: states of a run: opened, pushed, copied, saved, loaded (seqmix/state.h). A state is a position and
// an array of floats: what graph/stream.c carries, then the last answers.
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/state.h>

#include "kernels/core/hash.h"
#include "model/base/error.h"

struct smx_run_state {
    smx_run *run;
    stream *stream;
    uint64_t rows, step; // read so far; of the weights
    float *memory;       // [stream->g->state_n], then the answers [B][answers]; in:
    void *owned;
};

static size_t answers_of(const stream *s) {
    const tensor *logits = s->model.logits;
    return logits->shape[logits->rank - 1];
}
static uint64_t wanted_floats(const stream *s) { return s->g->state_n + size_mul(s->B, answers_of(s)); }
static size_t floats_of(const stream *s) { return (size_t)wanted_floats(s); } // of one that was counted

// ---- Graphs ---------------------------------------------------------------------------------------------

static int check_causal(const smx_run *r, size_t length, smx_error *error) {
    const size_t ahead = mixer_lookahead(r->c, length);
    if (!ahead) return 0;
    return config_fail(error, r->c, "mixer", "causal: a row depends on %zu row%s after it", ahead,
                       ahead == 1 ? "" : "s");
}

// given: floats that a file has for such a state; 0: any. Asked before memory of their size is.
static int check_floats(const stream *s, uint64_t given, smx_error *error) {
    if (wanted_floats(s) > GRAPH_MOST) return error_say(error, "out of memory for a state");
    if (!given || given == wanted_floats(s)) return 0;
    return error_say(error, "the state holds %llu numbers, and %zu belong to %zu sequences of this model",
                     (unsigned long long)given, floats_of(s), s->B);
}

// Its operations, and how large a state is.
static int build(stream *s, const smx_run *r, size_t length, int counting, smx_error *error) {
    graph_free(s->g);
    graph *g = s->g = graph_new(GRAPH_STREAM, (params *)&r->weights, s->B, length);
    if (!g) return error_say(error, "out of memory for a state");
    g->direct = 1;
    g->counting = counting;
    g->endless = !s->most;
    s->model = model_build(g, r->c, &r->train.task, 1);
    if (!g->failed && g->endless && g->grows)
        return config_fail(error, r->c, "mixer",
                           "given a largest number of rows: its memory grows with them");
    graph_stream_count(g);
    if (g->failed) *error = g->error;
    return g->failed ? -1 : 0;
}
// Counted first, which takes no memory or time by its rows: a file may claim any number of them.
static int count(stream *s, const smx_run *r, size_t length, uint64_t given, smx_error *error) {
    return build(s, r, length, 1, error) || check_floats(s, given, error) ? -1 : 0;
}
static int plan(stream *s, const smx_run *r, smx_error *error) {
    if (build(s, r, s->g->L, 0, error)) return -1;
    graph *g = s->g;
    if (graph_stream_plan(g, error)) return -1;
    const size_t numbers = r->train.task.channels ? r->train.task.channels : 1;
    s->inputs = calloc(size_fits(size_mul(s->B, g->span, numbers)), sizeof(float));
    if (!s->inputs) return error_say(error, "out of memory for a state");
    g->tokens = s->inputs;
    g->values = s->inputs;
    return 0;
}

// The graph for such states: one that there is, or a new one, counted only (inputs NULL).
static stream *stream_counted(smx_run *r, size_t B, size_t most, uint64_t given, smx_error *error) {
    enum { MOST_ROWS = 1 << 26, MOST_SEQUENCES = 1 << 16 };
    for (stream *s = r->streams; s; s = s->next)
        if (s->B == B && s->most == most) return check_floats(s, given, error) ? NULL : s;
    const size_t length = most ? most : r->c->common.length > STREAM_ROWS ? r->c->common.length : STREAM_ROWS;
    if (!B || B > MOST_SEQUENCES || most > MOST_ROWS / B) {
        error_say(error, "%zu sequences of %zu rows: allowed are 1 to %d, and %d rows in all", B, most,
                  MOST_SEQUENCES, MOST_ROWS);
        return NULL;
    }
    // The rest was checked when the run was opened: a sequence that is read may end anywhere.
    if (check_causal(r, length, error) || model_check_positions(r->c, most, error)) return NULL;
    stream *s = calloc(1, sizeof *s);
    if (!s) {
        error_say(error, "out of memory for a state");
        return NULL;
    }
    s->B = B;
    s->most = most;
    if (!count(s, r, length, given, error)) return s;
    stream_free(s);
    return NULL;
}
// The same, ready for states.
static stream *stream_of(smx_run *r, size_t B, size_t most, uint64_t given, smx_error *error) {
    stream *s = stream_counted(r, B, most, given, error);
    if (!s || s->inputs) return s;
    if (plan(s, r, error)) {
        stream_free(s);
        return NULL;
    }
    s->begun = UINT64_MAX;
    s->next = r->streams;
    return r->streams = s;
}
static void stream_release(smx_run *r, stream *s) {
    if (s->users) return;
    stream **at = &r->streams;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    stream_free(s);
}

// ---- States ---------------------------------------------------------------------------------------------

// A new one over this graph, which goes with it where nothing else uses it; NULL: without memory.
static smx_run_state *state_of(smx_run *r, stream *s, smx_error *error) {
    smx_run_state *state = calloc(1, sizeof *state);
    if (state) state->owned = calloc(4 * floats_of(s) + SMX_ALIGN, 1);
    if (!state || !state->owned) {
        error_say(error, "out of memory for a state of %zu bytes", floats_of(s) * sizeof(float));
        stream_release(r, s);
        free(state);
        return NULL;
    }
    s->users++;
    state->memory = aligned(state->owned);
    state->run = r;
    state->stream = s;
    state->step = r->step;
    return state;
}

smx_run_state *smx_state_open(smx_run *r, size_t sequences, size_t most, smx_error *error) {
    const run_mode before = run_enter(r);
    stream *s = stream_of(r, sequences, most, 0, error);
    run_leave(before);
    return s ? state_of(r, s, error) : NULL;
}

void smx_state_close(smx_run_state *state) {
    if (!state) return;
    state->stream->users--;
    stream_release(state->run, state->stream);
    free(state->owned);
    free(state);
}

uint64_t smx_state_bytes(smx_run *r, size_t sequences, size_t most, smx_error *error) {
    const run_mode before = run_enter(r);
    stream *s = stream_counted(r, sequences, most, 0, error);
    const uint64_t bytes = s ? size_mul(floats_of(s), sizeof(float)) : 0;
    if (s && !s->inputs) stream_free(s);
    run_leave(before);
    return bytes;
}

void smx_state_look(const smx_run_state *state, smx_state_form *form) {
    const stream *s = state->stream;
    const smx_task_instance *task = &state->run->train.task;
    *form = (smx_state_form){.sequences = s->B,
                             .most = s->most,
                             .rows = state->rows,
                             .vocab = task->vocab,
                             .channels = task->vocab ? 0 : task->channels,
                             .answers = answers_of(s),
                             .text = task->task->bytes,
                             .bytes = floats_of(s) * sizeof(float)};
}

static int check_push(const smx_run_state *state, const int32_t *tokens, const float *values, size_t rows,
                      smx_error *error) {
    const stream *s = state->stream;
    if (state->step != state->run->step)
        return error_say(error, "the run has been trained since: open another state");
    if (s->most && rows > s->most - state->rows)
        return error_say(error, "%zu rows after %llu: the state has room for at most %zu", rows,
                         (unsigned long long)state->rows, s->most);
    if (rows > SIZE_MAX / s->B / 4096) return error_say(error, "%zu rows at once are too many", rows);
    return user_inputs_check(&state->run->train, tokens, values, rows * s->B, error);
}

int smx_state_push(smx_run_state *state, const int32_t *tokens, const float *values, size_t rows,
                   float *answers, smx_error *error) {
    if (check_push(state, tokens, values, rows, error)) return -1;
    smx_run *r = state->run;
    stream *s = state->stream;
    graph *g = s->g;
    const size_t width = tokens ? 1 : r->train.task.channels, V = answers_of(s);
    const float *logits = s->model.logits->data;
    const run_mode before = run_enter(r);
    g->parallel = r->parallel;
    g->pool = r->pool;
    g->fast = r->c->common.fast;
    if (s->begun != r->step) {
        graph_stream_begin(g);
        s->begun = r->step;
    }
    int status = 0;
    for (size_t at = 0, count; at < rows; at += count) {
        if ((status = run_stopped(r, error))) break;
        count = rows - at < g->span ? rows - at : g->span;
        const float *from = tokens ? (const float *)tokens : values; // words, whichever they are
        copy_rows(s->inputs, count * width, from + at * width, rows * width, s->B, count * width);
        graph_push_rows(g, state->memory, (size_t)state->rows, count);
        state->rows += count;
        if (answers) copy_rows(answers + at * V, rows * V, logits, count * V, s->B, count * V);
        copy_rows(state->memory + g->state_n, V, logits + (count - 1) * V, count * V, s->B, V);
    }
    run_leave(before);
    return status;
}

const float *smx_state_answers(const smx_run_state *state) {
    return state->rows ? state->memory + state->stream->g->state_n : NULL;
}

int smx_state_tensor_at(const smx_run_state *state, size_t i, smx_tensor *tensor) {
    size_t floats;
    const node *n = graph_carrier(state->stream->g, i, &floats);
    if (!n) return -1;
    *tensor = (smx_tensor){
        .name = n->out->name, .data = state->memory + n->state_at, .rank = 1, .shape = {(uint32_t)floats}};
    return 0;
}

smx_run_state *smx_state_copy(const smx_run_state *from, smx_error *error) {
    const stream *s = from->stream;
    smx_run_state *state = smx_state_open(from->run, s->B, s->most, error);
    if (!state) return NULL;
    memcpy(state->memory, from->memory, floats_of(s) * sizeof *state->memory);
    state->rows = from->rows;
    state->step = from->step;
    return state;
}

// ---- As bytes -------------------------------------------------------------------------------------------
// "smxstate", then seven little-endian words of 64 bits, then the floats, then FNV-1a of all before.
enum { VERSION, MODEL, SEQUENCES, MOST, ROWS, FLOATS, WORDS };
static const char magic[8] = "smxstate";

// Of all that the words of a state hang on: the model's settings, where they are not the language's own, and
// its weights. (Version 0.1.0 took them all, `before`: read for one version more.)
static uint64_t model_hash(const smx_run *r, int before) {
    uint64_t h = smx_run_digest(r);
    for (size_t i = 0; i < r->c->n; i++) {
        const config_value *v = &r->c->values[i];
        if (!v->said || (strcmp(v->key->group, "model") && strcmp(v->key->group, "mixer"))) continue;
        if (!before && config_is_fallback(v->key, v->text)) continue;
        h = hash_bytes(h, v->key->name, strlen(v->key->name) + 1);
        h = hash_bytes(h, v->text, strlen(v->text) + 1);
    }
    return h;
}
static void put_word(unsigned char *to, uint64_t word) {
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(word >> (8 * i));
}
static uint64_t get_word(const unsigned char *from) {
    uint64_t word = 0;
    for (int i = 8; i-- > 0;) word = word << 8 | from[i];
    return word;
}

void *smx_state_save(const smx_run_state *state, size_t *size, smx_error *error) {
    const stream *s = state->stream;
    const size_t floats = floats_of(s), head = sizeof magic + 8 * WORDS;
    *size = head + 4 * floats + 8;
    if (state->step != state->run->step) {
        error_say(error, "the run has been trained since: open another state");
        return NULL;
    }
    unsigned char *bytes = malloc(*size);
    if (!bytes) {
        error_say(error, "out of memory: a state as %zu bytes", *size);
        return NULL;
    }
    const uint64_t words[WORDS] = {1, model_hash(state->run, 0), s->B, s->most, state->rows, floats};
    memcpy(bytes, magic, sizeof magic);
    for (int i = 0; i < WORDS; i++) put_word(bytes + sizeof magic + 8 * i, words[i]);
    memcpy(bytes + head, state->memory, 4 * floats);
    put_word(bytes + *size - 8, hash_bytes(HASH_START, bytes, *size - 8));
    return bytes;
}

static int check_state(const smx_run *r, const unsigned char *bytes, size_t size, uint64_t *words,
                       smx_error *error) {
    const size_t head = sizeof magic + 8 * WORDS;
    if (size < head + 8 || memcmp(bytes, magic, sizeof magic))
        return error_say(error, "this is not a state: it must begin with the letters smxstate");
    for (int i = 0; i < WORDS; i++) words[i] = get_word(bytes + sizeof magic + 8 * i);
    if (words[VERSION] != 1)
        return error_say(error, "the state is of version %llu; version 1 is read here",
                         (unsigned long long)words[VERSION]);
    if (words[FLOATS] > size / 4 || size != head + 4 * words[FLOATS] + 8)
        return error_say(error, "the state is truncated: it has %zu bytes and says %llu numbers", size,
                         (unsigned long long)words[FLOATS]);
    if (get_word(bytes + size - 8) != hash_bytes(HASH_START, bytes, size - 8))
        return error_say(error, "the state is damaged, or was changed: its checksum does not fit");
    if (words[MODEL] != model_hash(r, 0) && words[MODEL] != model_hash(r, 1))
        return error_say(error, "this is the state of another model, or of other weights");
    if (words[SEQUENCES] > words[FLOATS]) // each has an answer at least
        return error_say(error, "the state holds %llu numbers for %llu sequences",
                         (unsigned long long)words[FLOATS], (unsigned long long)words[SEQUENCES]);
    if (words[MOST] > SIZE_MAX || (words[MOST] && words[ROWS] > words[MOST]))
        return error_say(error, "the state has read %llu rows of at most %llu",
                         (unsigned long long)words[ROWS], (unsigned long long)words[MOST]);
    return 0;
}

smx_run_state *smx_state_load(smx_run *r, const void *bytes, size_t size, smx_error *error) {
    uint64_t words[WORDS];
    if (check_state(r, bytes, size, words, error)) return NULL;
    const run_mode before = run_enter(r);
    stream *stream = stream_of(r, (size_t)words[SEQUENCES], (size_t)words[MOST], words[FLOATS], error);
    run_leave(before);
    smx_run_state *state = stream ? state_of(r, stream, error) : NULL;
    if (!state) return NULL;
    const size_t floats = floats_of(stream);
    memcpy(state->memory, (const char *)bytes + sizeof magic + 8 * WORDS, 4 * floats);
    int finite = 1;
    for (size_t i = 0; i < floats; i++) finite &= isfinite(state->memory[i]);
    state->rows = words[ROWS];
    if (finite) return state;
    smx_state_close(state);
    error_say(error, "the state holds numbers that no reading leaves");
    return NULL;
}
