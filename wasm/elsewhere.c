// elsewhere.c: only in seqmix.wasm: for each function of the sources that wasm.mk keeps for seqmix-whole.wasm
// one that refuses, and says where it is.
#include <stdio.h>

#include "model/base/error.h"
#include "model/equations/scan.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/train/optimiser.h"
#include "tasks/files/table.h"
#include "tasks/generators/table.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int refuse(smx_error *e, const char *what) {
    return error_about(e, "module", "seqmix.wasm", "seqmix-whole.wasm",
                       "%s: not in seqmix.wasm, which is kept small; load seqmix-whole.wasm in its place, "
                       "load({ whole: true })",
                       what);
}
static tensor *no_operation(graph *g, const char *what) {
    if (!g->failed) {
        graph_fail(g, "%s", what);
        refuse(&g->error, what);
    }
    return &g->failed_tensor;
}

tensor *op_batchnorm(graph *g, tensor *x, tensor *gain, tensor *bias, tensor *mean, tensor *variance) {
    return no_operation(g, "batch norm");
}
tensor *op_pool_rows(graph *g, tensor *x, row_pool how) { return no_operation(g, "such pooling"); }
tensor *op_gla(graph *g, tensor *q, tensor *k, tensor *v, tensor *beta, tensor *gates, size_t heads,
               int shared, double scale) {
    return no_operation(g, "gated linear attention");
}
tensor *op_retention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, double scale) {
    return no_operation(g, "retention");
}
tensor *op_delta(graph *g, tensor *q, tensor *k, tensor *v, tensor *beta, tensor *gates, tensor *erase,
                 size_t heads, double scale) {
    return no_operation(g, "the delta rule");
}
tensor *op_lstm(graph *g, tensor *z, tensor *u) { return no_operation(g, "LSTM"); }
tensor *op_gru(graph *g, tensor *z, tensor *u, tensor *bias) { return no_operation(g, "GRU"); }
tensor *op_s4d_kernel(graph *g, tensor *log_dt, tensor *log_a, tensor *a_im, tensor *C) {
    return no_operation(g, "S4D");
}
tensor *equations_scan(equation_scan *s, const equations *e, size_t at, const scan_around *around) {
    no_operation(around->g, "scan");
    return NULL;
}
const char *mixer_text(const char *name, smx_error *error) {
    char what[80];
    snprintf(what, sizeof what, "mixer=%s", name);
    refuse(error, what);
    return NULL;
}
tensor *op_taylor_attention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads) {
    return no_operation(g, "linear attention by the exponential's series");
}

#define NOT_HERE(name, word)                                                                                 \
    static int refuse_##name(smx_error *e) { return refuse(e, "optimizer=" word); }                          \
    const optimiser name##_ROW = {.refuse = refuse_##name};
OPTIMISERS_BUT_ADAMW(NOT_HERE)

int table_task_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return refuse(error, "tables");
}
void table_task_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                         smx_task_sample *sample) {} // of a table that was never opened
char *table_summary(const uint8_t *bytes, size_t size, const char *name, smx_error *error) {
    refuse(error, "tables");
    return NULL;
}
