# RWKV-7 (Peng et al. 2025, arXiv 2503.14456): its first layer's time mix: a removal key c, its share a, a decay a channel.
# cost: L D d
gate_rank = 32  # rare, 1 to 65536: inner width of the gates' two matrices
d = shift(x) - x
r = (x + d * mu_r[width]) @ w_r
k = (x + d * mu_k[width]) @ w_k
v = (x + d * mu_v[width]) @ w_v
w = sigmoid(tanh((x + d * mu_w[width]) @ d1[gate_rank]) @ d2[width] + d0[width]) * -0.6065306597126334
a = sigmoid((x + d * mu_a[width]) @ a1[gate_rank] @ a2[width] + a0[width])
g = sigmoid((x + d * mu_g[width]) @ g1[gate_rank]) @ g2[width]
c = unitnorm_heads(k * k_k[width])
u = k * (1 + (a - 1) * k_a[width])
scan S[u][v] over r, w, u, v, c, a
    S = diag(exp(w)) @ S - outer(a * c, c @ S) + outer(u, v)
    o = r @ S / sqrt(size(v))  # (so that the norm's eps is d times 1e-5)
n = layernorm_heads(o, gn_gain, gn_bias)
y = ((n + per_head(sum_heads(r * u * r_k[width])) * v) * g) @ wo
start(d0, constant, 0)
start(a0, constant, 0)
start(r_k, constant, 0)
