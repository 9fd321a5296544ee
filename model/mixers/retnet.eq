# Retention (Sun et al. 2023, Eqs. 5-8): linear attention whose state fades at a fixed pace, another one for each head.
# cost: L D d
# defaults: heads=2
q = rope(x @ w_q)
k = rope(x @ w_k)
v = x @ w_v
o = retention(q, k, v)  # S_t = (1 - 2^(-5-h)) S_{t-1} + k v^T
n = gain(rms_heads(o), gain)
y = (n * silu(x @ w_r)) @ w_o
