# Gated DeltaNet-2 (Hatamizadeh et al. 2026, arXiv 2605.22791): what is erased and what is written have gates a channel.
low = 16
q = unitnorm_heads(silu(conv_each(x @ wq, conv_q[4])))
k = unitnorm_heads(silu(conv_each(x @ wk, conv_k[4])))
v = silu(conv_each(x @ wv, conv_v[4]))
e = sigmoid(x @ w_b)
w = sigmoid(x @ w_w)
g = per_head(-exp(a_log[heads])) * softplus(x @ w_f1[low] @ w_f2[width] + dt_bias[width])
scan S[k][v] over q, k, v, g, e, w
    R = diag(exp(g)) @ S
    S = R + outer(k, w * v - (e * k) @ R)
    o = q @ S / sqrt(size(q))
n = gain(rms_heads(o), gain)
y = (n * sigmoid(x @ w_g1[low] @ w_g2[width] + b_g)) @ wo
start(a_log, log_count)
start(dt_bias, step_plus)
