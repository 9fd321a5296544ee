# Gated Slot Attention (Zhang et al. 2024, arXiv 2409.07146): each head keeps m slots of keys and values, which a gate a slot renews.
m = 8
q = x @ w_q
k = x @ w_k
v = x @ w_v
a = exp(-softplus(-(x @ w_a[heads * m])) / 16)  # sigmoid(z)^(1/16), m columns in each head
scan K[a][k], V[a][v] over q, k, v, a           # as many rows as a has columns in a head
    K = diag(a) @ K + outer(1 - a, k)
    V = diag(a) @ V + outer(1 - a, v)
    o = softmax(K @ q) @ V                      # of the slots those whose key fits
y = o @ w_o
