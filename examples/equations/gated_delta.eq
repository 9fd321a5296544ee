# Gated DeltaNet as a recurrence: what the state answers to a key moves by b towards the value, after a gate.
k = unitnorm_heads(silu(conv_each(x @ w_k, f_k[4])))
q = unitnorm_heads(silu(conv_each(x @ w_q, f_q[4])))
v = silu(conv_each(x @ w_v, f_v[4]))
b = sigmoid(x @ w_b[heads])
g = decays(softplus(x @ w_a[heads] + b_a), a_log)
scan S[k][v] over q, k, v, b, g      # a matrix in each head: rows as long as k, columns as long as v
    R = exp(g) * S                   # S on the right, before it is assigned: the row before
    S = R + outer(k, b * (v - k @ R))
    o = q @ S
y = rms_heads(o) @ w_o
