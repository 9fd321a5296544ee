# DPLR, the generalised delta rule (Peng et al. 2025, arXiv 2503.14456): the state is multiplied by a diagonal plus a matrix of rank one.
q = unitnorm_heads(x @ w_q)
k = unitnorm_heads(x @ w_k)
v = x @ w_v
e = unitnorm_heads(x @ w_e)  # the key that is erased
a = per_head(-2 * sigmoid(x @ w_a[heads])) * e
g = -softplus(x @ w_g + b_g)
scan S[k][v] over q, k, v, a, e, g
    S = diag(exp(g)) @ S + outer(a, e @ S) + outer(k, v)
    o = q @ S
y = rms_heads(o) @ w_o
