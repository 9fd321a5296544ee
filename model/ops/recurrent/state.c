// state.c: a state of keys and values carried along each head: gated linear attention and the delta rule.
// Pieces are sequences.
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

// in: q, k, v, then beta, gates and, of the delta rule, keys to erase where there are any. saved: the states
// of every sequence, one in 64 rows.
typedef struct {
    size_t heads;
    int gates, shared, has_beta, has_erase;
    float scale;
} state_attributes;

static const state_attributes *attributes_of(const node *n) { return n->attributes; }
static size_t beta_input(const node *n) { return attributes_of(n)->has_beta ? 3 : 0; } // 0: none
static size_t gates_input(const node *n) {
    return attributes_of(n)->gates == SMX_GATES_NONE ? 0 : 3 + (size_t)attributes_of(n)->has_beta;
}
static size_t erase_input(const node *n) { return attributes_of(n)->has_erase ? n->n_in - 1 : 0; }
static smx_state sequences(const graph *g, const node *n, size_t count) {
    const state_attributes *at = attributes_of(n);
    return (smx_state){count,
                       g->L,
                       at->heads,
                       last_dim(n->in[0]) / (at->shared ? 1 : at->heads),
                       last_dim(n->out) / at->heads,
                       at->gates,
                       at->shared,
                       at->scale};
}
static float *states_of(const graph *g, const node *n, size_t sequence, const smx_state *p) {
    return n->saved + sequence * smx_state_floats(g->L, p->H, p->dk, p->dv);
}
// Where a sequence's part of an input, or of its gradient, begins; gates of every row alike begin at 0.
static size_t begin(const graph *g, const node *n, size_t i, size_t sequence) {
    if (i == gates_input(n) && attributes_of(n)->gates == SMX_GATES_FIXED) return 0;
    return sequence * g->L * last_dim(n->in[i]);
}
static const float *data_of(const graph *g, const node *n, size_t i, size_t sequence) {
    return n->in[i]->data + begin(g, n, i, sequence);
}
static float *grad_of(const graph *g, const node *n, size_t i, size_t sequence) {
    return n->in_grad[i] ? n->in_grad[i] + begin(g, n, i, sequence) : NULL;
}

static smx_state_rows rows_from(const graph *g, const node *n, size_t sequence) {
    const size_t beta = beta_input(n), gates = gates_input(n), erase = erase_input(n);
    return (smx_state_rows){data_of(g, n, 0, sequence),
                            data_of(g, n, 1, sequence),
                            data_of(g, n, 2, sequence),
                            beta ? data_of(g, n, beta, sequence) : NULL,
                            gates ? data_of(g, n, gates, sequence) : NULL,
                            erase ? data_of(g, n, erase, sequence) : NULL};
}
static void forward_piece(graph *g, node *n, size_t piece, size_t from, size_t count, int delta) {
    const smx_state p = sequences(g, n, count);
    const smx_state_rows x = rows_from(g, n, from);
    (delta ? smx_delta_fwd : smx_gla_fwd)(n->out->data + from * p.L * p.H * p.dv, NULL,
                                          states_of(g, n, from, &p), &x, NULL, scratch_of(n, piece), &p);
}
static void backward_piece(graph *g, node *n, size_t piece, size_t from, size_t count, int delta) {
    const smx_state p = sequences(g, n, count);
    const size_t beta = beta_input(n), gates = gates_input(n), erase = erase_input(n);
    const smx_state_rows x = rows_from(g, n, from);
    const smx_state_gradients dx = {grad_of(g, n, 0, from),
                                    grad_of(g, n, 1, from),
                                    grad_of(g, n, 2, from),
                                    beta ? grad_of(g, n, beta, from) : NULL,
                                    gates && p.gates != SMX_GATES_FIXED ? grad_of(g, n, gates, from) : NULL,
                                    erase ? grad_of(g, n, erase, from) : NULL};
    (delta ? smx_delta_bwd : smx_gla_bwd)(&dx, NULL, n->out->grad + from * p.L * p.H * p.dv, NULL, &x,
                                          states_of(g, n, from, &p), back_scratch_of(n, piece), &p);
}
static uint32_t state_shape(const graph *g, const node *n, uint32_t *shape) { // of v
    (void)g;
    const tensor *v = n->in[2];
    for (uint32_t i = 0; i < v->rank; i++) shape[i] = v->shape[i];
    return v->rank;
}
static void state_size(graph *g, node *n) {
    const smx_state p = sequences(g, n, 1);
    if (g->mode == GRAPH_STREAM) {
        scratch_size(n, 1, 0, smx_state_push_scratch_bytes(&p));
        return;
    }
    scratch_size(n, shard_count(g->B), 0,
                 g->mode == GRAPH_TRAIN ? smx_state_bwd_scratch_bytes(&p) : smx_state_fwd_scratch_bytes(&p));
    n->saved_n = size_mul(g->B, smx_state_floats(p.L, p.H, p.dk, p.dv));
    n->flops = 4 * (uint64_t)n->out->n * p.dk;
}

static void gla_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    forward_piece(g, n, piece, from, count, 0);
}
static void gla_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    backward_piece(g, n, piece, from, count, 0);
}
static void delta_fwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    forward_piece(g, n, piece, from, count, 1);
}
static void delta_bwd_piece(graph *g, node *n, size_t piece, size_t from, size_t count) {
    backward_piece(g, n, piece, from, count, 1);
}
static void gla_fwd(graph *g, node *n) { sequences_in_pieces(g, n, gla_fwd_piece); }
static void gla_bwd(graph *g, node *n) { sequences_in_pieces(g, n, gla_bwd_piece); }
static void delta_fwd(graph *g, node *n) { sequences_in_pieces(g, n, delta_fwd_piece); }
static void delta_bwd(graph *g, node *n) { sequences_in_pieces(g, n, delta_bwd_piece); }
static uint64_t state_carried(const graph *g, const node *n) {
    const smx_state p = sequences(g, n, g->B);
    return smx_state_carried_floats(&p);
}
static void push_rows(graph *g, node *n, float *state, size_t at, size_t rows, int delta) {
    smx_state p = sequences(g, n, g->B);
    const smx_state_rows x = rows_from(g, n, 0);
    p.L = rows;
    (delta ? smx_delta_push : smx_gla_push)(n->out->data, state, &x, scratch_of(n, 0), at, &p);
}
static void gla_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    push_rows(g, n, state, at, rows, 0);
}
static void delta_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    push_rows(g, n, state, at, rows, 1);
}
#define STATE_READS (READS_IN(0) | READS_IN(1) | READS_IN(2) | READS_IN(3) | READS_IN(4) | READS_IN(5))
static const op gla = {
    .name = "gla",
    .state_n = state_carried,
    .push = gla_push,
    .attributes = sizeof(state_attributes),
    .shape = state_shape,
    .size = state_size,
    .forward = gla_fwd,
    .backward = gla_bwd,
    .backward_reads = STATE_READS,
};
static const op delta = {
    .name = "delta",
    .state_n = state_carried,
    .push = delta_push,
    .attributes = sizeof(state_attributes),
    .shape = state_shape,
    .size = state_size,
    .forward = delta_fwd,
    .backward = delta_bwd,
    .backward_reads = STATE_READS,
};

static tensor *state_node(graph *g, const op *op, tensor *q, tensor *k, tensor *v, tensor *beta,
                          tensor *gates, tensor *erase, size_t heads, int shared, double scale) {
    tensor *in[6] = {q, k, v};
    size_t count = 3;
    state_attributes at = {.heads = heads, .shared = shared, .has_beta = beta != NULL, .scale = (float)scale};
    if (beta) in[count++] = beta;
    if (gates) {
        in[count++] = gates;
        at.gates = gates->rank == 1           ? SMX_GATES_FIXED
                   : last_dim(gates) == heads ? SMX_GATES_HEAD
                                              : SMX_GATES_CHANNEL;
    }
    if (erase) in[count++] = erase, at.has_erase = 1;
    return graph_node(g, op, count, in, &at);
}
tensor *op_gla(graph *g, tensor *q, tensor *k, tensor *v, tensor *beta, tensor *gates, size_t heads,
               int shared, double scale) {
    return state_node(g, &gla, q, k, v, beta, gates, NULL, heads, shared, scale);
}
tensor *op_delta(graph *g, tensor *q, tensor *k, tensor *v, tensor *beta, tensor *gates, tensor *erase,
                 size_t heads, double scale) {
    return state_node(g, &delta, q, k, v, beta, gates, erase, heads, 0, scale);
}

// ln(1 - 2^{-5-h}), by its series: no digits are lost where that is nearly 0.
static void fill_retention(float *data, const uint32_t *shape) {
    double x = 1.0 / 32;
    for (uint32_t h = 0; h < shape[0]; h++, x /= 2) {
        double sum = 0;
        for (int n = 12; n > 0; n--) sum = x * (sum + 1.0 / n);
        data[h] = (float)-sum;
    }
}
tensor *op_retention(graph *g, tensor *q, tensor *k, tensor *v, size_t heads, double scale) {
    tensor *decay = op_constant(g, fill_retention, 1, (uint32_t[]){(uint32_t)heads});
    return op_gla(g, q, k, v, NULL, decay, heads, 0, scale);
}
