// rope.c: rotary positions (Su et al.): pairs of columns of each head turn by t * 10000^(-2m/d).
#include "pieces.h"
#include "ops.h"

#include "kernels/mathd.h"

typedef struct {
    size_t heads;
    float *turns; // [L][d/2][2]: cosine, sine
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
static void rope_size(graph *g, node *n) {
    rope_attributes *at = n->attributes;
    const size_t d = last_dim(n->out) / at->heads;
    float *turns = at->turns = graph_own(g, g->L * d * sizeof *turns);
    for (size_t t = 0; turns && t < g->L; t++)
        for (size_t m = 0; m < d / 2; m++) {
            double s, c,
                angle = (double)t * md_exp(-2.0 * (double)m / (double)d * 9.21034037197618273607); // ln 10000
            md_sincos(&s, &c, angle);
            turns[(t * (d / 2) + m) * 2] = (float)c;
            turns[(t * (d / 2) + m) * 2 + 1] = (float)s;
        }
}
static void rope_push(graph *g, node *n, float *state, size_t at, size_t rows) {
    (void)state;
    const rope_attributes *a = n->attributes;
    const size_t D = last_dim(n->out);
    smx_rope_fwd(n->out->data, n->in[0]->data, a->turns + at * (D / a->heads), g->B, rows, D, a->heads, D, D);
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
