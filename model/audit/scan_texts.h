// scan_texts.h: texts with scans that tests and audits try: states of every rank, every function, every way
// to read.
#ifndef SCAN_TEXTS_H
#define SCAN_TEXTS_H

#define SCAN_GATED_DELTA                                                                                     \
    "k = unitnorm_heads(x @ w_k)\nq = x @ w_q\nv = x @ w_v\nb = sigmoid(x @ w_b[heads])\n"                   \
    "g = softplus(x @ w_g[heads]) * -1\n"                                                                    \
    "scan S[k][v] over q, k, v, b, g\n    R = exp(g) * S\n    S = R + outer(k, b * (v - k @ R))\n"           \
    "    o = q @ S\ny = rms_heads(o) @ w_o\n"
#define SCAN_SLSTM                                                                                            \
    "i = x @ w_i\nf = x @ w_f\nz = x @ w_z\no = x @ w_oo\nstart(m, constant, -1000000)\n"                     \
    "scan c[z], n[z], m[z], h[z] over i, f, z, o\n"                                                           \
    "    l = -softplus(-(f + h @ u_f[heads][z][z]))\n    p = i + h @ u_i[heads][z][z]\n"                      \
    "    t = max(l + m, p)\n    c = exp(l + m - t) * c + exp(p - t) * tanh(z + h @ u_z[heads][z][z])\n"       \
    "    n = exp(l + m - t) * n + exp(p - t)\n    h = sigmoid(o + h @ u_o[heads][z][z]) * c / n\n    m = t\n" \
    "y = h\n"
#define SCAN_COLUMNS                                                                                         \
    "a = x @ w_a\nz = x @ w_z\ns = columns(x, 0, 1)\n"                                                       \
    "scan h over a, z, shared s by columns\n    d = sigmoid(a)\n    h = d * h + (1 - d) * z * tanh(s)\n"     \
    "y = h @ w_o\n"
#define SCAN_PRODUCT                                                                                               \
    "n = 2\nk = unitnorm_heads(x @ w_k[n * width])\nv = x @ w_v[n * width]\nb = sigmoid(x @ w_b[n * heads]) * 2\n" \
    "q = x @ w_q\nstart(S, learned)\nscan S[size(k) / n][size(v) / n] over q, k, v, b\n    S = 0.9 * S\n"          \
    "    repeat j in n\n        e = part(k, j)\n        S = S + outer(e, part(b, j) * (part(v, j) - e @ S))\n"     \
    "    o = q @ S\ny = o @ w_o\n"
// What those above leave out: products of matrices, norms, choices, a state that two others end as.
#define SCAN_REST                                                                                                \
    "a = x @ w_a\nz = x @ w_z\nb = x @ w_b[3]\n"                                                                 \
    "scan A[z][z], B[z][z], h[z], m, old[z] over a, z, shared b\n    T = S_w[z][z] * 0.3\n    e = unitnorm(a)\n" \
    "    A = 0.5 * A @ T + outer(e, softmax(z))\n    B = transpose(A) - outer(rms(a), layernorm(z))\n"           \
    "    A = A @ diag(tanh(z)) + diag(relu(a)) @ B * 0.2\n    m = min(sum(abs(z)), 2) + 0.5 * m\n"               \
    "    c = select(a - 0.1, log(1 + exp(z)), sqrt(abs(a) + 1)) / (m + sum(b * b) + 1)\n    old = h\n"           \
    "    h = silu(A @ c + g_w[z] * max(c, dot(a, z)) - h_w[heads][z] * old)\n    o = z @ B + size(z) * -c\n"     \
    "y = (o + old + h) @ w_o\n"
// Keys shared by groups of heads, one head, and a scan that reads another.
#define SCAN_TWICE                                                                                           \
    "q = x @ w_q\nk = columns(x, 0, width / heads)\nv = x @ w_v\n"                                           \
    "scan S[k][v] over q, grouped(k, heads), v\n    S = 0.8 * S + outer(k, v)\n    o = q @ S\n"              \
    "scan s[o] over o by one\n    s = 0.5 * s + o * 0.1\ny = s @ w_o\n"

static const char *const scan_texts[] = {SCAN_GATED_DELTA, SCAN_SLSTM, SCAN_COLUMNS,
                                         SCAN_PRODUCT,     SCAN_REST,  SCAN_TWICE};
enum { SCAN_TEXTS = sizeof scan_texts / sizeof *scan_texts };

#endif
