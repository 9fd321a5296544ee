// batch_graph.h: a graph of the model at one length and batch together with the samples it is fed.
#ifndef SMX_BATCH_GRAPH_H
#define SMX_BATCH_GRAPH_H

#include <seqmix/run.h>

#include "model.h"

typedef struct {
    graph *g;
    model model;
    smx_task_instance task;
    size_t B, L, targets_per,
        rows; // (of this process) targets_per sequence in the arrays below; rows of logits that can count
    int32_t *targets;     // [B][targets_per], -1: none
    float *target_values; // the same for regression, NaN: none
    int32_t *row_targets; // [rows]: targets of the logits' rows
    float *row_values;
    float *row_loss, *row_stats; // of the rows of all processes; [rows][2]
    int32_t *best;               // [rows]: the model's answers
    void *memory;
} batch_graph;

// Weights are added to p by the first graph and found there by the others. `of_task` is the config that the
// task reads: c, or c with changes to the task's keys.
int batch_graph_open(batch_graph *s, enum graph_mode mode, params *p, const config *c, const config *of_task,
                     size_t B, size_t L, smx_error *error);
// The same, to train on the sequences of a share in the config's batch.
int batch_graph_open_share(batch_graph *s, params *p, const config *c, share of, smx_error *error);
// Second half of opening, once the weights exist.
int batch_graph_plan(batch_graph *s, smx_error *error);
void batch_graph_close(batch_graph *s);

// Samples first..first+count-1 of the stream; the rest of the batch gets no targets.
void batch_graph_fill(batch_graph *s, uint64_t seed, uint32_t stream, uint64_t first, size_t count);
// Sequences of the caller's data, of the task's form; the rest of the batch gets no targets.
void batch_graph_give(batch_graph *s, const smx_batch *batch, size_t sequences);
// Forward and loss. Returns the number of targets (of all processes); *loss their mean (0 without targets),
// float in canonical order.
size_t batch_graph_forward(batch_graph *s, float *loss);
// Gradient of the mean loss into the weights' gradients, after batch_graph_forward.
void batch_graph_backward(batch_graph *s, size_t targets);
// Targets answered right in the last forward; fills best. seq_right:
// sequences with every target right (may be NULL).
size_t batch_graph_right(batch_graph *s, size_t *sequences_right);

#endif
