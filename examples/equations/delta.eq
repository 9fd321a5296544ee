# The same without filters, to compare: a key depends on no other row.
q = unitnorm_heads(x @ w_q)
k = unitnorm_heads(x @ w_k)
y = delta(q, k, x @ w_v, sigmoid(x @ w_beta[heads])) @ w_o
