# Gated linear attention (Yang et al. 2023, Eq. 3): linear attention whose state fades, each key channel by a gate of its own that every token sets.
# cost: L D d
gate_rank = 16  # rare, 1 to 65536: inner width of the gates' two matrices
q = x @ w_q  # queries, keys and values
k = x @ w_k
v = x @ w_v
z = x @ w_g1[gate_rank] @ w_g2[width] + b_g  # of low rank
gates = softplus(-z) * -0.0625  # logsigmoid(z) / 16
o = gla(q, k, v, gates=gates)  # S_t = e^g S_{t-1} + k v^T
n = gain(rms_heads(o), gain)
y = (n * silu(x @ w_r + b_r)) @ w_o
