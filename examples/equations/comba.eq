# Comba (Hu et al. 2025, arXiv 2506.02475): what the state answered before it fades is corrected, by a key of its own.
q = unitnorm_heads(silu(conv_each(x @ w_q, f_q[4])))
k = unitnorm_heads(silu(conv_each(x @ w_k, f_k[4])))
v = silu(conv_each(x @ w_v, f_v[4]))
p = per_head(sigmoid(d[heads])) * k
u = q - per_head(skip[heads]) * p
b = sigmoid(x @ w_b[heads])
g = decays(softplus(linear(x, w_a[heads], dt_bias)), a_log)
scan S[k][v] over u, k, v, p, b, g
    S = exp(g) * S + outer(k, b * (v - p @ S))
    o = u @ S / sqrt(size(k))
y = (gain(rms_heads(o), gain) * sigmoid(x @ w_g)) @ w_o
start(skip, constant, 0.02)
start(dt_bias, step_plus)
