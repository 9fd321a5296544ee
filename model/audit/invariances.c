// invariances.c: see invariances.h. One run is trained a little and its weights are spread, so that nothing
// that matters is small; each sequence is then read alone, and all else is compared with that.
#include "invariances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/state.h>

#include "audit.h"
#include "kernels/core/philox.h"
#include "model/base/error.h"
#include "model/mixers/mixer.h"
#include "model/run/run_private.h"
#include "model/settings/pairs.h"
#include "scan_texts.h"

const char *const invariance_names[INVARIANCES] = {"batch size",      "place in the batch",
                                                   "training or not", "prefill, chunks, decode",
                                                   "state or whole",  "threads",
                                                   "recompute=1",     "instruction set",
                                                   "later rows"};

// Rows past a block of every kernel and past SMX_KC in a batch; Focus's bins divide them.
#define FORM "&task=track&machine=s5&batch=5&blocks=2&steps=3&warmup=0&rate=0.01&length=96"
// More sequences than a batch is cut into: a kernel is given two at once.
enum { SEQUENCES = 12, IN_STATE = 3, MOST_IN_BATCH = 11 };
_Static_assert((int)MOST_IN_BATCH > (int)SHARDS, "each piece would be one sequence");
static const size_t batch_sizes[] = {2, 3, MOST_IN_BATCH};
static const double weight_spread = 0.1; // times N(0, 1)
#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *invariance_config(char *text, size_t size, size_t i, const char **row) {
    char mode[1024];
    for (size_t m = 0; mixers[m]; m++)
        for (size_t k = 0; audit_mode(mode, sizeof mode, mixers[m]->name, k); k++) {
            if (i--) continue;
            *row = mixers[m]->name;
            return (size_t)snprintf(text, size, "%s" FORM, mode) < size ? text : NULL;
        }
    if (i >= SCAN_TEXTS) return NULL;
    *row = "scan in a text";
    const char head[] = "mixer=equations&width=12&heads=2" FORM "&eq=";
    if (sizeof head + 3 * strlen(scan_texts[i]) > size) return NULL;
    memcpy(text, head, sizeof head);
    *pairs_encode(text + sizeof head - 1, scan_texts[i]) = 0;
    return text;
}

// ---- Comparing --------------------------------------------------------------------------------------------
static void note(invariances *found, invariance by, const float *is, const float *was, size_t n) {
    if (!memcmp(is, was, n * sizeof *is)) return;
    double top = 1e-30, largest = 1e-30; // also where only a sign of 0 differs
    for (size_t i = 0; i < n; i++) {
        const double size = was[i] < 0 ? -(double)was[i] : (double)was[i];
        double d = (double)is[i] - (double)was[i];
        if (size > largest) largest = size;
        if (d < 0) d = -d;
        if (!(d <= 1e300)) d = 1e300; // NaN
        if (d > top) top = d;
    }
    if (top / largest > found->by[by]) found->by[by] = top / largest;
}

typedef struct {
    invariances *found;
    smx_run *run;
    size_t L, V, ahead;
    int32_t *tokens; // [SEQUENCES][L]
    float *alone;    // [SEQUENCES][L][V], each sequence by itself
    float *answers;  // [IN_STATE][L][V] of a piece
    float *by_rows;  // [IN_STATE][L][V], each sequence read row by row by a state
    int has_rows;
    smx_error *error;
} bench;
static const float *alone(const bench *b, size_t sequence, size_t row) {
    return b->alone + (sequence * b->L + row) * b->V;
}

// ---- At once ----------------------------------------------------------------------------------------------
// A graph for `B` sequences.
static int open_graph(const bench *b, batch_graph *g, size_t B) {
    const config *c = b->run->c;
    if (batch_graph_open(g, GRAPH_EVAL, &b->run->weights, c, c, B, b->L, b->error)) return -1;
    if (!batch_graph_plan(g, b->error)) return 0;
    batch_graph_close(g);
    return -1;
}
// Sequences first..first+count-1 on a graph for as many or more: their logits.
static const float *read_at_once(const bench *b, batch_graph *g, size_t first, size_t count) {
    float loss;
    batch_graph_fill(g, run_seed(b->run), RNG_EVAL, first, count);
    batch_graph_forward(g, &loss);
    return g->model.logits->data;
}
static int read_alone(bench *b) {
    batch_graph g;
    if (open_graph(b, &g, 1)) return -1;
    b->V = g.task.classes;
    const size_t n = b->L * b->V;
    b->tokens = malloc(SEQUENCES * b->L * sizeof *b->tokens);
    b->alone = malloc(SEQUENCES * n * sizeof *b->alone);
    b->answers = malloc(IN_STATE * n * sizeof *b->answers);
    b->by_rows = malloc(IN_STATE * n * sizeof *b->by_rows);
    int failed = !b->tokens || !b->alone || !b->answers || !b->by_rows;
    for (size_t s = 0; s < SEQUENCES && !failed; s++) {
        memcpy(b->alone + s * n, read_at_once(b, &g, s, 1), n * sizeof *b->alone);
        memcpy(b->tokens + s * b->L, g.g->tokens, b->L * sizeof *b->tokens);
        for (size_t i = 0; i < n; i++) failed |= !(b->alone[s * n + i] * 0.0f == 0.0f); // finite
        // A model that tells no rows and no sequences apart would agree with everything.
        failed |= !memcmp(alone(b, s, b->L / 2), alone(b, s, b->L - 1), b->V * sizeof *b->alone);
        failed |= s && !memcmp(alone(b, s, 0), alone(b, s - 1, 0), n * sizeof *b->alone);
    }
    batch_graph_close(&g);
    return failed ? error_say(b->error, "the answers are not finite, or all the same") : 0;
}
static void note_batch(bench *b, invariance by, const float *logits, size_t first, size_t count) {
    const size_t n = b->L * b->V;
    for (size_t p = 0; p < count; p++)
        note(b->found, p && by == BY_BATCH ? BY_PLACE : by, logits + p * n, alone(b, first + p, 0), n);
}
static int in_batches(bench *b) {
    for (size_t i = 0; i < COUNT(batch_sizes); i++) {
        const size_t B = batch_sizes[i];
        batch_graph g;
        if (open_graph(b, &g, B)) return -1;
        for (size_t first = 0; first + B <= SEQUENCES; first++)
            note_batch(b, BY_BATCH, read_at_once(b, &g, first, B), first, B);
        note_batch(b, BY_BATCH, read_at_once(b, &g, 1, B - 1), 1, B - 1); // one place is empty
        batch_graph_close(&g);
    }
    batch_graph *const train = &b->run->train;
    note_batch(b, BY_TRAINING, read_at_once(b, train, 1, train->B), 1, train->B);
    return 0;
}
static int change_later(bench *b) {
    batch_graph g;
    if (open_graph(b, &g, 2)) return -1;
    const size_t from[] = {1, 17, b->L / 2, b->L - 1};
    for (size_t i = 0; i < COUNT(from); i++)
        for (int32_t change = 1; change < 120; change += 40) {
            float loss;
            read_at_once(b, &g, 0, 2);
            for (size_t t = from[i]; t < b->L; t++) {
                int32_t *token = g.g->tokens + b->L + t;
                *token = (*token + change) % (int32_t)g.task.vocab;
            }
            batch_graph_forward(&g, &loss);
            const float *logits = g.model.logits->data + b->L * b->V;
            if (from[i] > b->ahead)
                note(b->found, BY_LATER, logits, alone(b, 1, 0), (from[i] - b->ahead) * b->V);
            note(b->found, BY_PLACE, g.model.logits->data, alone(b, 0, 0), b->L * b->V); // the neighbour
        }
    batch_graph_close(&g);
    return 0;
}
// Through a pool, or as the processor stands now: logits of a batch.
static int once_more(bench *b, invariance by, smx_parallel_for hook, void *pool) {
    batch_graph g;
    if (open_graph(b, &g, MOST_IN_BATCH)) return -1;
    g.g->parallel = hook;
    g.g->pool = pool;
    note_batch(b, by, read_at_once(b, &g, 1, MOST_IN_BATCH), 1, MOST_IN_BATCH);
    batch_graph_close(&g);
    return 0;
}

// ---- Piece by piece ---------------------------------------------------------------------------------------
// `first` rows at once, then pieces of up to `longest`, of several sequences in step. What is read first, row
// by row, is what every other reading is compared with.
static int by_state(bench *b, invariance by, size_t sequences, size_t first, size_t longest) {
    if (b->ahead) return 0;
    const size_t V = b->V;
    int32_t *in = malloc(IN_STATE * b->L * sizeof *in);
    smx_run_state *s = in ? smx_state_open(b->run, sequences, b->L, b->error) : NULL;
    int failed = !s;
    smx_rng random = rng_open(first, RNG_EVAL, longest);
    for (size_t at = 0, rows = first; !failed && at < b->L;
         at += rows, rows = 1 + rng_below(&random, (uint32_t)longest)) {
        if (rows > b->L - at) rows = b->L - at;
        for (size_t q = 0; q < sequences; q++)
            memcpy(in + q * rows, b->tokens + q * b->L + at, rows * sizeof *in);
        failed = smx_state_push(s, in, NULL, rows, b->answers, b->error);
        for (size_t q = 0; q < sequences && !failed; q++) {
            const float *is = b->answers + q * rows * V;
            float *row_by_row = b->by_rows + (q * b->L + at) * V;
            if (by == BY_PIECES) note(b->found, BY_STATE, is, alone(b, q, at), rows * V);
            if (b->has_rows)
                note(b->found, by, is, row_by_row, rows * V);
            else
                memcpy(row_by_row, is, rows * V * sizeof *is);
        }
    }
    b->has_rows = 1;
    smx_state_close(s);
    free(in);
    return failed ? -1 : 0;
}

// ---- Training ---------------------------------------------------------------------------------------------
static smx_run *trained(const char *config, smx_parallel_for hook, void *pool, smx_error *error) {
    smx_run *r = smx_run_open(config, error);
    if (r && hook) smx_run_parallel(r, hook, pool);
    if (!r || !smx_run_step(r, INVARIANCE_STEPS, error)) return r;
    smx_run_close(r);
    return NULL;
}
static int train_again(bench *b, invariance by, const float *weights, smx_parallel_for hook, void *pool) {
    char *text = malloc(strlen(b->run->text) + sizeof "&recompute=1");
    if (text) strcpy(text, b->run->text);
    if (text && by == BY_AGAIN) strcat(text, "&recompute=1");
    smx_run *again = text ? trained(text, hook, pool, b->error) : NULL;
    free(text);
    if (again) note(b->found, by, again->weights.data, weights, again->weights.total);
    smx_run_close(again);
    return again ? 0 : -1;
}
uint64_t invariance_digest(const char *config, smx_error *error) {
    smx_run *r = trained(config, NULL, NULL, error);
    const uint64_t digest = r ? smx_run_digest(r) : 0;
    smx_run_close(r);
    return digest;
}

// ---- All of it --------------------------------------------------------------------------------------------
static int by_isas(bench *b, const float *weights) {
    const char *const before = smx_isa();
    int failed = 0;
    for (size_t i = 0; smx_isa_name(i) && !failed; i++) {
        if (!strcmp(smx_isa_name(i), before)) continue;
        if (smx_isa_choose(smx_isa_name(i)))
            failed = error_say(b->error, "%s cannot be chosen", smx_isa_name(i));
        failed = failed || once_more(b, BY_ISA, NULL, NULL) || train_again(b, BY_ISA, weights, NULL, NULL) ||
                 by_state(b, BY_ISA, IN_STATE, 5, 30);
    }
    smx_isa_choose(before);
    return failed ? -1 : 0;
}
static int measure(bench *b, const float *weights, smx_parallel_for hook, void *const *pools,
                   size_t n_pools) {
    for (size_t i = 0; i < n_pools; i++)
        if (train_again(b, BY_THREADS, weights, hook, pools[i]) ||
            train_again(b, BY_AGAIN, weights, i ? hook : NULL, pools[i]))
            return -1;
    if (read_alone(b) || in_batches(b) || change_later(b)) return -1;
    if (by_state(b, BY_PIECES, IN_STATE, 1, 1) || by_state(b, BY_PIECES, 1, 1, 1) ||
        by_state(b, BY_PIECES, IN_STATE, b->L, 1) || by_state(b, BY_PIECES, IN_STATE, 41, 1) ||
        by_state(b, BY_PIECES, IN_STATE, 3, 9) || by_state(b, BY_PIECES, IN_STATE, 40, 60))
        return -1;
    for (size_t i = 0; i < n_pools; i++) {
        if (once_more(b, BY_THREADS, hook, pools[i])) return -1;
        smx_run_parallel(b->run, hook, pools[i]);
        if (by_state(b, BY_THREADS, IN_STATE, 5, 30)) return -1;
        smx_run_parallel(b->run, NULL, NULL);
    }
    return by_isas(b, weights);
}

int invariances_measure(invariances *found, const char *text, smx_parallel_for hook, void *const *pools,
                        size_t n_pools, smx_error *error) {
    const uint64_t env = smx_fpenv_enter();
    const int fast = smx_fast(0);
    bench b = {.found = found, .run = trained(text, NULL, NULL, error), .error = error};
    float *weights = NULL;
    int failed = !b.run;
    if (!failed) {
        const config *c = b.run->c;
        const size_t total = b.run->weights.total;
        b.L = c->common.length;
        b.ahead = c->common.blocks * mixer_lookahead(c, b.L);
        if (b.ahead > b.L) b.ahead = b.L;
        found->configs++;
        found->ahead += b.ahead > 0;
        weights = malloc(total * sizeof *weights + 1);
        if (!weights) failed = error_say(error, "out of memory");
        smx_rng random = rng_open(1, RNG_EVAL, 0);
        for (size_t i = 0; i < total && !failed; i++) {
            weights[i] = b.run->weights.data[i];
            b.run->weights.data[i] += (float)(weight_spread * rng_normal(&random));
        }
    }
    failed = failed || measure(&b, weights, hook, pools, n_pools);
    smx_run_close(b.run);
    free(weights);
    free(b.tokens);
    free(b.alone);
    free(b.answers);
    free(b.by_rows);
    smx_fast(fast);
    smx_fpenv_leave(env);
    return failed ? -1 : 0;
}

// ---- The table --------------------------------------------------------------------------------------------
void invariances_head(char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "| mixer | configs |");
    for (int i = 0; i < INVARIANCES; i++)
        n += (size_t)snprintf(text + n, n < size ? size - n : 0, " %s |", invariance_names[i]);
    n += (size_t)snprintf(text + n, n < size ? size - n : 0, "\n|---|--:|");
    for (int i = 0; i < INVARIANCES; i++) n += (size_t)snprintf(text + n, n < size ? size - n : 0, "---|");
}
void invariances_row(char *text, size_t size, const char *row, const invariances *found) {
    size_t n = (size_t)snprintf(text, size, "| %s | %zu", row, found->configs);
    if (found->ahead)
        n += (size_t)snprintf(text + n, n < size ? size - n : 0, ", %zu %s ahead", found->ahead,
                              found->ahead == 1 ? "sees" : "see");
    for (int i = 0; i < INVARIANCES; i++)
        n += found->by[i] == 0.0
                 ? (size_t)snprintf(text + n, n < size ? size - n : 0, " | bits")
                 : (size_t)snprintf(text + n, n < size ? size - n : 0, " | %.0e", found->by[i]);
    snprintf(text + n, n < size ? size - n : 0, " |");
}
