# Grouped queries in one group (Ainslie et al. 2023, arXiv 2305.13245) under QK-norm, as Qwen3 has it (Qwen Team 2025, arXiv 2505.09388).
kv = 1  # heads of keys and values
p = x @ w_q
n = x @ w_k[kv * width / heads]
q = gain(rms_heads(p, eps=0.000001), g_q)
k = rmsnorm(n, g_k, eps=0.000001)
y = attention(q, k, x @ w_v[kv * width / heads], kv_heads=kv) @ w_o
