# Grouped queries in one group (Ainslie et al. 2023, arXiv 2305.13245) under QK-norm, as Qwen3 has it (Qwen Team 2025, arXiv 2505.09388).
kv = 1  # heads of keys and values
q = gain(rms_heads(x @ w_q, eps=0.000001), gain_q)
k = rmsnorm(x @ w_k[kv * width / heads], gain_k, eps=0.000001)
y = attention(q, k, x @ w_v[kv * width / heads], kv_heads=kv) @ w_o
