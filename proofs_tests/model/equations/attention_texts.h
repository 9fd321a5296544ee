// attention_texts.h: attention with gates, a cap, a sink, grouped keys and sigmoids, as texts that tests try.
#ifndef ATTENTION_TEXTS_H
#define ATTENTION_TEXTS_H

static const char *const attention_texts[] = {
    "g = -softplus(x @ w_f[heads])\ny = attention(x @ w_q, x @ w_k, x @ w_v, bias=g, sink=s) @ w_o\n",
    "start(s, constant, -8)\ny = attention(x @ w_q, x @ w_k, x @ w_v, sink=s) @ w_o\n",
    "k = x @ w_k[width / heads]\nv = x @ w_v[width / heads]\n"
    "y = attention(x @ w_q, k, v, cap=1.5, kv_heads=1) @ w_o\n",
    "y = attention(x @ w_q, x @ w_k, x @ w_v, cap=2, chunk=7, score=sigmoid) @ w_o\n",
    "g = -softplus(x @ w_f[heads])\n"
    "y = attention(x @ w_q, x @ w_k, x @ w_v, bias=g, chunk=9, score=sigmoid) @ w_o\n",
};
enum { ATTENTION_TEXTS = sizeof attention_texts / sizeof *attention_texts };

#endif
