// rope.c: rotary positions (Su et al.): pairs of columns of each head turn by t * 10000^(-2m/d).
#include "model/ops/pieces.h"
#include "model/ops/ops.h"

#include "kernels/core/mathd.h"

typedef struct {
    size_t heads;
    float *turns; // [L][d/2][2]: cosine, sine
    int whole;    // else of the rows that are pushed
} rope_attributes;

static void rope_fwd(graph *g, node *n) {
    const rope_attributes *at = n->attributes;
    const size_t D = last_dim(n->out);
    smx_rope_fwd(n->out->data, n->in[0]->data, at->turns, g->B, g->L, D, at->heads, D, D);
}
static void rope_bwd(graph *g, node *n) {
    const rope_attributes *at = n->attributes;
    const size_t D = last_dim(n->out);
    smx_rope_bwd(n->in_grad[0], n->out->grad, at->turns, g->B, g->L, D, at->heads, D, D);
}
static void turns_of(float *turns, size_t from, size_t rows, size_t d) {
    for (size_t m = 0; m < d / 2; m++) {
        const double rate = md_exp(-2.0 * (double)m / (double)d * 9.21034037197618273607); // ln 10000
        for (size_t t = 0; t < rows; t++) {
            double s, c;
            md_sincos(&s, &c, (double)(from + t) * rate);
            turns[(t * (d / 2) + m) * 2] = (float)c;
            turns[(t * (d / 2) + m) * 2 + 1] = (float)s;
        }
    }
}
typedef struct {
    size_t rows, d;
} rope_rows;
static void fill_turns(float *turns, const void *with) {
    const rope_rows *all = with;
    turns_of(turns, 0, all->rows, all->d);
}
static void rope_size(graph *g, node *n) {
    rope_attributes *at = n->attributes;
    const size_t d = last_dim(n->out) / at->heads;
    const rope_rows all = {g->L, d};
    if (g->mode == GRAPH_STREAM && size_mul(g->L, d) > STREAM_TABLE)
        at->turns = graph_own(g, size_mul(g->span, d, sizeof *at->turns));
    else
        at->whole = (at->turns = graph_table(g, size_mul(g->L, d), fill_turns, &all, sizeof all)) != NULL;
}
static void rope_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state;
    const rope_attributes *a = n->attributes;
    const size_t D = last_dim(n->out), d = D / a->heads;
    if (!a->whole) turns_of(a->turns, at, rows, d);
    smx_rope_fwd(n->out->data, n->in[0]->data, a->turns + (a->whole ? at * d : 0), g->B, rows, D, a->heads, D,
                 D);
}
static int rope_grows(const graph *g, const node *n) {
    (void)g, (void)n;
    return 1; // its table
}
static const op rope = {
    .name = "rope",
    .attributes = sizeof(rope_attributes),
    .size = rope_size,
    .forward = rope_fwd,
    .backward = rope_bwd,
    .push = rope_push,
    .grows = rope_grows,
};
tensor *op_rope(graph *g, tensor *x, size_t heads) {
    return graph_node(g, &rope, 1, &x, &(rope_attributes){.heads = heads});
}
