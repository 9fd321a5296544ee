// table.h: the keys of task=table, and what opens it: that is in a file of its own, since seqmix.wasm has the
// keys only (wasm/wasm.mk).
#ifndef SMX_TABLE_TASK_H
#define SMX_TABLE_TASK_H

#include "tasks/task.h"

#define PREDICTS(W) W(PREDICT_AUTO, "auto") W(PREDICT_CLASS, "class") W(PREDICT_NUMBER, "number")
#define ANSWERS(W) W(ANSWERS_ROWS, "rows") W(ANSWERS_ONE, "one")
#define HELD(W) W(HELD_END, "end") W(HELD_WINDOWS, "windows")
#define MISSING(W)                                                                                           \
    W(MISSING_REFUSE, "refuse")                                                                              \
    W(MISSING_DROP, "drop") W(MISSING_LAST, "last") W(MISSING_MEAN, "mean")

typedef struct {
    const char *file, *inputs, *target;
    enum { PREDICTS(WORD_NAME) } predict;
    enum { ANSWERS(WORD_NAME) } answers;
    enum { HELD(WORD_NAME) } held;
    enum { MISSING(WORD_NAME) } missing;
    size_t ahead, held_share;
} table_settings;

// As `open` and `generate` of smx_task.
int table_task_open(smx_task_instance *in, const config *c, size_t length, smx_error *error);
void table_task_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                         smx_task_sample *sample);

#endif
