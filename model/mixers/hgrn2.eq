# HGRN2 (Qin et al. 2024, arXiv 2404.07904): its first layer: linear attention whose key is what its gate forgets.
# cost: L D d
z = x @ w_f
o = gla(silu(x @ w_q), sigmoid(-z), x @ w_i, gates=-softplus(-z))  # e^g = sigmoid(z), k = 1 - e^g
y = rmsnorm(o, gain) @ w_o
