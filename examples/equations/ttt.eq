# TTT-Linear, its plain form (Sun et al. 2024, arXiv 2407.04620): each row is a step of descent on |k W - v|^2 / 2.
q = unitnorm_heads(x @ w_q)
k = unitnorm_heads(x @ w_k)
v = x @ w_v
e = sigmoid(x @ w_e[heads] + b_e)  # the rate of the step
start(W, learned)
scan W[k][v] over q, k, v, e
    W = W + outer(k, e * (v - k @ W))
    o = q @ W
y = layernorm_heads(o, gain, bias) @ w_o
