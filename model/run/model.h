// model.h: embedding, blocks, head: a whole model as one graph (docs/MECHANISMS.md#model).
#ifndef SMX_MODEL_H
#define SMX_MODEL_H

#include "model/graph/graph.h"
#include "model/mixers/mixer.h"
#include "tasks/task.h"

// Is this config buildable at sequences of `length`? -1 with the error otherwise.
int model_check(const config *c, size_t length, smx_error *error);
// What of that hangs on positions alone.
int model_check_positions(const config *c, size_t length, smx_error *error);

// Does its key pooling fit the task?
int model_check_pooling(const config *c, const smx_task_instance *task, smx_error *error);

// The tensors that are asked for by what they are.
typedef struct {
    tensor *values; // the input [B][L][channels]; NULL: tokens
    tensor *rows;   // [..][D], what is left of the rows after the blocks
    tensor *pooled; // [B][D], what the head reads of them; NULL: an answer at each row
    tensor
        *logits; // [rows_n][classes] when g->rows is used (training and evaluation of per-position targets),
                 // [B][L][classes] when all_rows, [B][classes] for one target a sequence
} model;
// Builds the model on g (B and L set).
model model_build(graph *g, const config *c, const smx_task_instance *task, int all_rows);

// One block: x += mixer(norm(x)), x += mlp(norm(x)); weights are called norm_1, mixer, norm_2, mlp.
tensor *model_block(graph *g, const config *c, tensor *x);

#endif
