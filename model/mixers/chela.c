// chela.c: CHELA (Liu et al., ICML 2024, Eqs. 9-15; docs/MECHANISMS.md#chela):
// short-long convolutions feed gated linear attention.
//   Z = ShortLong(X)                                        Eqs. 7-8
//   Q = alpha_q o Z + beta_q,  K = alpha_k o Z + beta_k
//   V = SiLU(X W_v + b_v)
//   G_a = SiLU(Z W_g + b_g)                                 Eq. 10 prints W_v for W_g
//   M = Norm(LinAttn(Q, K, V)) o G_a                        Norm: rms of each head
//   G_o = sigma(Z W_o + b_o)
//   U = M o G_o + X o (1 - G_o)
// causal = 0: the long kernel and the attention take the rows after each too (kernels and sums of their own).
// The block adds no residual around it, as printed; residual=1 does.
#include "mixer.h"
#include "attention_parts.h"
#include "short_long.h"

typedef struct {
    int residual, fused, causal;
    long_settings conv;
    size_t tile;
} chela_settings;

static const config_key keys[] = {
    FLAG_KEY("residual", chela_settings, residual, "0|1", "0",
             "0: the block as printed, x = CHELA(norm(x)); 1: x + CHELA(norm(x))", "mixer", KEY_RARE),
    KEY_SQUASH(chela_settings),
    KEY_SKIP(chela_settings),
    KEY_FUSED(chela_settings),
    KEY_TILE(chela_settings),
    KEY_CAUSAL(chela_settings),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

static tensor *scaled(graph *g, tensor *z, const char *alpha, const char *beta) {
    size_t D = z->shape[z->rank - 1];
    tensor *a = weight_vector(g, alpha, D, 1.0);
    return op_affine(g, z, a, weight_vector(g, beta, D, 0.0));
}
static tensor *linear(graph *g, const config *c, tensor *x, const char *w_name, const char *b_name) {
    size_t D = x->shape[x->rank - 1];
    tensor *w = weight_matrix(g, w_name, D, D, start_matrix(c, D, D));
    return op_linear(g, x, w, weight_vector(g, b_name, D, 0.0));
}

// Linear attention over all rows: of those before each and itself, and, read backwards, of those after it.
static tensor *both_ways(graph *g, const config *c, tensor *q, tensor *k, tensor *v) {
    const chela_settings *s = c->mixer;
    const size_t H = c->common.heads;
    tensor *past = op_linear_attention(g, q, k, v, H, SMX_LINATTN_NONE, s->tile);
    tensor *q_back = op_reverse(g, q), *k_back = op_reverse(g, k);
    k_back = op_shift(g, k_back, 1);
    tensor *v_back = op_reverse(g, v);
    v_back = op_shift(g, v_back, 1);
    tensor *later = op_linear_attention(g, q_back, k_back, v_back, H, SMX_LINATTN_NONE, s->tile);
    later = op_reverse(g, later);
    return op_rms(g, op_add(g, past, later), H);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const chela_settings *s = c->mixer;
    tensor *z = graph_name(g, short_long(g, c, &s->conv, s->fused, s->causal, x), "z");
    tensor *q = graph_name(g, scaled(g, z, "alpha_q", "beta_q"), "q");
    tensor *k = graph_name(g, scaled(g, z, "alpha_k", "beta_k"), "k");
    tensor *v = graph_name(g, op_silu(g, linear(g, c, x, "w_v", "b_v")), "v");
    tensor *g_a = graph_name(g, op_silu(g, linear(g, c, z, "w_g", "b_g")), "g_a");
    tensor *attended = s->causal ? op_linear_attention(g, q, k, v, c->common.heads, SMX_LINATTN_RMS, s->tile)
                                 : both_ways(g, c, q, k, v);
    tensor *m = graph_name(g, op_mul(g, attended, g_a), "m");
    tensor *g_o = graph_name(g, op_sigmoid(g, linear(g, c, z, "w_o", "b_o")), "g_o");
    return op_gate(g, g_o, m, x);
}

static int has_residual(const config *c) {
    const chela_settings *s = c->mixer;
    return !s->residual;
}

static size_t lookahead(const config *c, size_t length) {
    return ((const chela_settings *)c->mixer)->causal ? 0 : length - 1;
}

const mixer mixer_chela = {
    .name = "chela",
    .title = "CHELA",
    .help = "Short and long convolutions find what matters nearby and far away; linear attention and two "
            "gates use it.",
    .source = "Liu et al. 2024, Eqs. 7-15",
    .cost = "L D (log L + C + d)",
    .defaults = "norm=rms&embed_std=0.1",
    .keys = keys,
    .settings = sizeof(chela_settings),
    .check = check,
    .build = build,
    .has_residual = has_residual,
    .lookahead = lookahead,
    .modes = MODES("residual=1~squash=0.05~skip=0~fused=1~tile=5~causal=0~causal=0&fused=1&residual=1"),
};
