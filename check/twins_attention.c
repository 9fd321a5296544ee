// twins_attention.c: attention, states and recurrent networks, for twins.c.
#include "twins_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <seqmix/ref.h>
#include <seqmix/ref_cores.h>

// ---- Attention --------------------------------------------------------------------------------------------
// kind: none, exp, alibi, alibi_scaled. tables: room for two, [H][2L-1] each.
static ref_attention attention_of(const twin_call *c, size_t kind, double *tables, double *alphas) {
    const size_t D = columns(c), H = c->H;
    const double root = 1 / sqrt((double)(D / H));
    ref_attention p = {.B = c->B, .L = c->L, .D = D, .H = H, .stride = D, .causal = 1, .scale = root};
    if (kind == 1) {
        ref_las_alphas(alphas, H, c->step->call.real[4]);
        ref_las_decay(tables, alphas, c->L, H);
        p.decay_table = tables;
    } else if (kind) {
        ref_alibi_bias(tables, c->L, H, kind == 2 ? 1 : root);
        p.bias = tables;
    }
    return p;
}
// With gates, a cap, a sink, grouped keys or a sigmoid: each chunk is a sequence of its own.
static int attention_core(const twin_call *c, int back) {
    const size_t *n = NUMBERS(c), D = columns(c), d = D / c->H, groups = n[11] ? n[11] : c->H,
                 chunk = n[5] && n[5] < c->L ? n[5] : c->L, wide = groups * d;
    int status = 0;
    for (size_t at = 0, rows; at < c->B * c->L; at += rows) {
        rows = chunk < c->L - at % c->L ? chunk : c->L - at % c->L;
        const ref_attn p = {.L = rows,
                            .H = c->H,
                            .Hkv = groups,
                            .dk = d,
                            .dv = d,
                            .causal = n[7] == 0,
                            .scale = 1 / sqrt((double)d),
                            .softcap = c->step->call.real[9],
                            .sigmoid = n[12] == 1,
                            .y = c->out + at * D}; // float32 has what it gave, rounded
        double *const *in = (double *const *)c->in;
        const ref_attn_arrays x = {.q = in[0] + at * D,
                                   .k = in[1] + at * wide,
                                   .v = in[2] + at * wide,
                                   .g = in[8] ? in[8] + at * c->H : NULL,
                                   .sinks = in[10]};
        if (!back) {
            status |= ref_attn_fwd(c->out + at * D, &x, &p);
            continue;
        }
        const ref_attn_arrays dx = {.q = c->din[0] + at * D,
                                    .k = c->din[1] + at * wide,
                                    .v = c->din[2] + at * wide,
                                    .g = in[8] ? c->din[8] + at * c->H : NULL,
                                    .sinks = c->din[10]};
        status |= ref_attn_bwd(&dx, c->dout + at * D, &x, &p);
    }
    return status ? -1 : 0;
}
static int attention(const twin_call *c, int back) {
    if (c->in[8] || c->in[10] || NUMBERS(c)[11] || NUMBERS(c)[12] || c->step->call.real[9] > 0)
        return attention_core(c, back);
    double *tables, *alphas, *stats, *o;
    void *memory = ref_carve(&tables, c->H * 2 * c->L, &alphas, c->H, &stats, c->B * c->H * c->L * 2, &o,
                             count(c), REF_END);
    if (!memory) return -1;
    ref_attention p = attention_of(c, NUMBERS(c)[3], tables, alphas);
    p.chunk = NUMBERS(c)[5];
    p.pool_window = NUMBERS(c)[6];
    p.causal = NUMBERS(c)[7] == 0;
    ref_attention_fwd(back ? o : c->out, stats, c->in[0], c->in[1], c->in[2], &p);
    if (back) // float32 has what it gave, rounded
        ref_attention_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], c->out,
                          stats, &p);
    free(memory);
    return 0;
}
static int sliding(const twin_call *c, int back) {
    double *tables, *alphas, *stats, *o;
    void *memory = ref_carve(&tables, c->H * 2 * c->L, &alphas, c->H, &stats, c->B * c->H * c->L * 2, &o,
                             count(c), REF_END);
    if (!memory) return -1;
    const size_t kind = NUMBERS(c)[4];
    ref_attention p = attention_of(c, kind ? kind + 1 : 0, tables, alphas);
    p.sliding = NUMBERS(c)[3];
    p.chunk = NUMBERS(c)[5];
    ref_attention_fwd(back ? o : c->out, stats, c->in[0], c->in[1], c->in[2], &p);
    if (back)
        ref_attention_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], c->out,
                          stats, &p);
    free(memory);
    return 0;
}
static int sliding_fwd(const twin_call *c) { return sliding(c, 0); }
static int sliding_bwd(const twin_call *c) { return sliding(c, 1); }
static int attention_fwd(const twin_call *c) { return attention(c, 0); }
static int attention_bwd(const twin_call *c) { return attention(c, 1); }
static int attention_maps(const twin_call *c, int back) {
    double *tables, *alphas, *stats, *o;
    void *memory = ref_carve(&tables, c->H * 2 * c->L, &alphas, c->H, &stats, c->B * c->H * c->L * 2, &o,
                             count(c), REF_END);
    if (!memory) return -1;
    const size_t kind = NUMBERS(c)[4];
    const ref_attention p = attention_of(c, kind ? kind + 1 : 0, tables, alphas);
    ref_attention_maps_fwd(back ? o : c->out, stats, c->in[0], c->in[1], c->in[2], c->in[3], &p);
    if (back)
        ref_attention_maps_bwd(c->din[0], c->din[1], c->din[2], c->din[3], c->dout, c->in[0], c->in[1],
                               c->in[2], c->in[3], stats, &p);
    free(memory);
    return 0;
}
static int attention_maps_fwd(const twin_call *c) { return attention_maps(c, 0); }
static int attention_maps_bwd(const twin_call *c) { return attention_maps(c, 1); }
static int linear_attention(const twin_call *c, int back) {
    static const ref_linattn_norm norms_of[] = {REF_LINATTN_SUM, REF_LINATTN_RMS, REF_LINATTN_NONE};
    const size_t D = columns(c);
    const ref_linattn p = {c->B, c->L, D, c->H, D, NUMBERS(c)[4], norms_of[NUMBERS(c)[3]], usual_eps, 0};
    double *norm, *y;
    void *memory = ref_carve(&norm, c->B * c->H * c->L, &y, count(c), REF_END);
    if (!memory) return -1;
    ref_linattn_fwd(back ? y : c->out, norm, c->in[0], c->in[1], c->in[2], &p);
    if (back)
        ref_linattn_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], y, norm, &p);
    free(memory);
    return 0;
}
static int linear_attention_fwd(const twin_call *c) { return linear_attention(c, 0); }
static int linear_attention_bwd(const twin_call *c) { return linear_attention(c, 1); }
static int landmark_keys(const twin_call *c, int back) {
    const size_t block = NUMBERS(c)[1];
    const double forget = NUMBERS(c)[2] ? 1 - exp(-1 / (double)block) : 0;
    if (!back)
        ref_block_filter_fwd(c->out, c->in[0], c->B, c->L, columns(c), block, forget);
    else if (NUMBERS(c)[3]) // what only chooses learns nothing
        ref_block_filter_bwd(c->din[0], c->dout, c->B, c->L, columns(c), block, forget);
    return 0;
}
static int landmark_keys_fwd(const twin_call *c) { return landmark_keys(c, 0); }
static int landmark_keys_bwd(const twin_call *c) { return landmark_keys(c, 1); }
static int landmark(const twin_call *c, int back) {
    const size_t D = columns(c), H = c->H;
    const ref_landmark p = {c->B, c->L, D, H, D, NUMBERS(c)[4], 1 / sqrt((double)(D / H))};
    double *stats, *o;
    void *memory = ref_carve(&stats, c->B * H * c->L * 2, &o, count(c), REF_END);
    int32_t *chosen = malloc(c->B * H * c->L * sizeof *chosen);
    if (memory && chosen) {
        ref_landmark_fwd(back ? o : c->out, stats, chosen, c->in[0], c->in[1], c->in[2], c->in[3], &p);
        if (back)
            ref_landmark_bwd(c->din[0], c->din[1], c->din[2], c->dout, c->in[0], c->in[1], c->in[2], o, stats,
                             chosen, &p);
    }
    const int status = memory && chosen ? 0 : -1;
    free(memory);
    free(chosen);
    return status;
}
static int landmark_fwd(const twin_call *c) { return landmark(c, 0); }
static int landmark_bwd(const twin_call *c) { return landmark(c, 1); }

// ---- States -----------------------------------------------------------------------------------------------
// The state keeps beta v; with `shared` all heads have the same q and k, copied for the oracle.
static int state(const twin_call *c, int delta, int shared, int back) {
    const size_t H = c->H, V = columns(c), N = c->B * c->L, K = last(input(c, 0)) * (shared ? H : 1);
    const size_t dk = K / H, dv = V / H;
    const tensor *gates = input(c, 4);
    ref_state p = {c->B, c->L, H, dk, dv, REF_GATES_NONE, shared ? 1 : 1 / sqrt((double)dk)};
    if (gates) p.gates = last(gates) == H ? REF_GATES_HEAD : REF_GATES_CHANNEL;
    double *q, *k, *v, *dq, *dkeys, *dvalues, *S, *y, *dg;
    void *memory = ref_carve(&q, N * K, &k, N * K, &v, N * V, &dq, N * K, &dkeys, N * K, &dvalues, N * V, &S,
                             c->B * H * dk * dv, &y, N * V, &dg, N * K + N * H, REF_END);
    if (!memory) return -1;
    const double *beta = c->in[3];
    for (size_t i = 0; i < N * K; i++) {
        const size_t from = shared ? i / K * dk + i % dk : i;
        q[i] = c->in[0][from];
        k[i] = c->in[1][from];
    }
    for (size_t i = 0; i < N * V; i++) v[i] = c->in[2][i] * (beta && !delta ? beta[i / dv] : 1);
    int status = 0;
    if (!back && delta)
        status = ref_delta_fwd(c->out, S, q, k, v, beta, c->in[4], NULL, &p);
    else if (!back)
        ref_gla_fwd(c->out, S, q, k, v, c->in[4], NULL, &p);
    else if (delta)
        status = ref_delta_bwd(dq, dkeys, dvalues, c->din[3], gates ? dg : NULL, NULL, c->dout, NULL, q, k, v,
                               beta, c->in[4], NULL, &p);
    else
        status = ref_gla_bwd(dq, dkeys, dvalues, gates ? dg : NULL, NULL, c->dout, NULL, q, k, v, c->in[4],
                             NULL, &p);
    for (size_t i = 0; back && i < N * K; i++) {
        const size_t to = shared ? i / K * dk + i % dk : i;
        c->din[0][to] += dq[i];
        c->din[1][to] += dkeys[i];
    }
    for (size_t i = 0; back && i < N * V; i++) {
        c->din[2][i] = dvalues[i] * (beta && !delta ? beta[i / dv] : 1);
        if (beta && !delta) c->din[3][i / dv] += dvalues[i] * c->in[2][i];
    }
    for (size_t i = 0; back && gates && i < gates->n; i++) c->din[4][i] = dg[i];
    free(memory);
    return status;
}
static int gla_fwd(const twin_call *c) { return state(c, 0, 0, 0); }
static int gla_bwd(const twin_call *c) { return state(c, 0, 0, 1); }
static int ssd_fwd(const twin_call *c) { return state(c, 0, 1, 0); }
static int ssd_bwd(const twin_call *c) { return state(c, 0, 1, 1); }
// With keys of their own to erase, the oracle's diagonal plus low rank: a = -beta k, b = e^g erase, beta v.
static int erasing(const twin_call *c, int back) {
    const size_t H = c->H, V = columns(c), N = c->B * c->L, K = last(input(c, 0)), dk = K / H, dv = V / H;
    const tensor *gates = input(c, 4);
    const size_t G = gates ? last(gates) : 0;
    ref_state p = {c->B, c->L, H, dk, dv, REF_GATES_NONE, 1 / sqrt((double)dk)};
    if (gates) p.gates = G == H ? REF_GATES_HEAD : REF_GATES_CHANNEL;
    const double *k = c->in[1], *v = c->in[2], *beta = c->in[3], *g = c->in[4], *erase = c->in[5];
    double *q, *a, *b, *u, *S;
    ref_dplr_arrays d = {0};
    void *memory = ref_carve(&q, N * K, &a, N * K, &b, N * K, &u, N * V, &S, c->B * H * dk * dv, &d.q, N * K,
                             &d.k, N * K, &d.v, N * V, &d.a, N * K, &d.b, N * K, &d.g, N * G, REF_END);
    if (!memory) return -1;
    memcpy(q, c->in[0], N * K * sizeof *q);
    for (size_t i = 0; i < N * K; i++) {
        a[i] = -beta[i / dk] * k[i];
        b[i] = erase[i] * (G ? exp(g[i * G / K]) : 1);
    }
    for (size_t i = 0; i < N * V; i++) u[i] = beta[i / dv] * v[i];
    const ref_dplr_arrays x = {q, (double *)k, u, a, b, (double *)g, NULL};
    int status = back ? 0 : ref_dplr_fwd(c->out, S, &x, &p);
    if (back) {
        memset(d.q, 0, N * K * sizeof *q), memset(d.k, 0, N * K * sizeof *q);
        memset(d.v, 0, N * V * sizeof *q), memset(d.a, 0, N * K * sizeof *q);
        memset(d.b, 0, N * K * sizeof *q), memset(d.g, 0, N * G * sizeof *q);
        if (!G) d.g = NULL;
        status = ref_dplr_bwd(&d, c->dout, NULL, &x, &p);
        for (size_t i = 0; i < N * K && !status; i++) {
            c->din[0][i] += d.q[i];
            c->din[1][i] += d.k[i] - beta[i / dk] * d.a[i];
            c->din[3][i / dk] -= d.a[i] * k[i];
            c->din[5][i] += d.b[i] * (G ? exp(g[i * G / K]) : 1);
            if (G) c->din[4][i * G / K] += d.b[i] * b[i];
        }
        for (size_t i = 0; i < N * V && !status; i++) {
            c->din[2][i] += d.v[i] * beta[i / dv];
            c->din[3][i / dv] += d.v[i] * v[i];
        }
        for (size_t i = 0; i < N * G && !status; i++) c->din[4][i] += d.g[i];
    }
    free(memory);
    return status;
}
static int delta_fwd(const twin_call *c) { return c->in[5] ? erasing(c, 0) : state(c, 1, 0, 0); }
static int delta_bwd(const twin_call *c) { return c->in[5] ? erasing(c, 1) : state(c, 1, 0, 1); }

static int retention(const twin_call *c, int back) {
    const size_t H = c->H, V = columns(c), K = last(input(c, 0));
    const ref_state p = {c->B, c->L, H, K / H, V / H, REF_GATES_FIXED, 1 / sqrt((double)(K / H))};
    double *S, *g;
    void *memory = ref_carve(&S, c->B * H * p.dk * p.dv, &g, H, REF_END);
    if (!memory) return -1;
    for (size_t h = 0; h < H; h++) g[h] = log1p(-exp2(-5 - (double)h));
    int status = 0;
    if (back)
        status = ref_gla_bwd(c->din[0], c->din[1], c->din[2], NULL, NULL, c->dout, NULL, c->in[0], c->in[1],
                             c->in[2], g, NULL, &p);
    else
        ref_gla_fwd(c->out, S, c->in[0], c->in[1], c->in[2], g, NULL, &p);
    free(memory);
    return status;
}
static int retention_fwd(const twin_call *c) { return retention(c, 0); }
static int retention_bwd(const twin_call *c) { return retention(c, 1); }
// One sequence at a time
static int taylor(const twin_call *c, int back) {
    const size_t H = c->H, V = columns(c), K = last(input(c, 0)), L = c->L;
    for (size_t b = 0; b < c->B; b++) {
        const size_t k = b * L * K, v = b * L * V;
        if (!back)
            ref_based_fwd(c->out + v, c->in[0] + k, c->in[1] + k, c->in[2] + v, L, H, K / H, V / H);
        else if (ref_based_bwd(c->din[0] + k, c->din[1] + k, c->din[2] + v, c->dout + v, c->in[0] + k,
                               c->in[1] + k, c->in[2] + v, L, H, K / H, V / H))
            return -1;
    }
    return 0;
}
static int taylor_fwd(const twin_call *c) { return taylor(c, 0); }
static int taylor_bwd(const twin_call *c) { return taylor(c, 1); }
static ref_recurrent recurrent(const twin_call *c) { return (ref_recurrent){c->B, c->L, columns(c)}; }
static int lstm_fwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_lstm_fwd(c->out, NULL, c->in[0], c->in[1], NULL, &p);
}
static int lstm_bwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_lstm_bwd(c->din[0], c->din[1], NULL, c->dout, NULL, c->in[0], c->in[1], NULL, &p);
}
static int gru_fwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_gru_fwd(c->out, NULL, c->in[0], c->in[1], c->in[2], NULL, &p);
}
static int gru_bwd(const twin_call *c) {
    const ref_recurrent p = recurrent(c);
    return ref_gru_bwd(c->din[0], c->din[1], c->din[2], NULL, c->dout, NULL, c->in[0], c->in[1], c->in[2],
                       NULL, &p);
}

const twin twins_attention[] = {
    TWIN("attention", attention),
    TWIN("sliding_attention", sliding),
    TWIN("taylor_attention", taylor),
    TWIN("retention", retention),
    TWIN("lstm", lstm),
    TWIN("gru", gru),
    TWIN("attention_maps", attention_maps),
    TWIN("linear_attention", linear_attention),
    TWIN("gla", gla),
    TWIN("ssd", ssd),
    TWIN("delta", delta),
    TWIN("landmark_keys", landmark_keys),
    TWIN("landmark_attention", landmark),
    {NULL, NULL, NULL},
};
