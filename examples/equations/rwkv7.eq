# RWKV-7's state (Peng et al. 2025): a removal key c, its share e, a decay a channel; without its token shifts.
r = x @ w_r
w = sigmoid(x @ w_w) * -0.6065
k = x @ w_k
v = x @ w_v
c = unitnorm_heads(x @ w_c)
e = sigmoid(x @ w_e)
scan S[k][v] over r, w, k, v, c, e
    S = diag(exp(w)) @ S - outer(c * e, c @ S) + outer(k, v)
    o = r @ S
y = rms_heads(o) @ w_o
