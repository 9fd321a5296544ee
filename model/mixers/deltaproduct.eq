# DeltaProduct (Siems et al. 2025, arXiv 2502.10297): several steps of the delta rule a row, with b up to 2.
# cost: n L D d
householders = 2  # 1 to 8: steps of the delta rule in each row (n)
n = householders
k = silu(conv_each(x @ wk[n * width], conv_k[4]))
v = silu(conv_each(x @ wv[n * width], conv_v[4]))
b = sigmoid(x @ w_beta[n * heads]) * 2
q = unitnorm_heads(silu(conv_each(x @ wq, conv_q[4])))
g = decays(softplus(linear(x, w_a[heads], dt_bias)), a_log)
scan S[q][size(v) / n] over q, k, v, b, g
    S = exp(g) * S
    repeat j in n
        e = unitnorm(part(k, j))
        S = S + outer(e, part(b, j) * (part(v, j) - e @ S))
    o = q @ S / sqrt(size(q))
y = (gain(rms_heads(o), gain) * silu(x @ w_gate)) @ wo
start(dt_bias, step_plus)
