# DeltaProduct (Siems et al. 2025): n steps of the delta rule a row, with b up to 2.
n = 2
k = silu(conv_each(x @ w_k[n * width], f_k[4]))
v = silu(conv_each(x @ w_v[n * width], f_v[4]))
b = sigmoid(x @ w_b[n * heads]) * 2
q = unitnorm_heads(silu(conv_each(x @ w_q, f_q[4])))
g = decays(softplus(x @ w_a[heads] + b_a), a_log)
scan S[q][size(v) / n] over q, k, v, b, g
    S = exp(g) * S
    repeat j in n
        e = unitnorm(part(k, j))
        S = S + outer(e, part(b, j) * (part(v, j) - e @ S))
    o = q @ S
y = rms_heads(o) @ w_o
