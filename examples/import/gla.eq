# GLA's layer (Yang et al. 2023) of flash-linear-attention: keys is its key_dim, low its gate_low_rank_dim.
keys = 16
low = 16
q = x @ w_q[keys]
k = x @ w_k[keys]
v = x @ w_v[width]
g = -softplus(-(x @ w_g1[low] @ w_g2[keys] + b_g)) / 16
o = gain(rms_heads(gla(q, k, v, gates=g)), gain)
y = (o * silu(x @ w_r)) @ w_o
