# Gemma 2's attention (Gemma Team 2024, arXiv 2408.00118): no logit grows past the cap, and heads of q share keys and values.
kv = 1
k = x @ w_k[kv * width / heads]
v = x @ w_v[kv * width / heads]
y = attention(x @ w_q, k, v, cap=50, kv_heads=kv) @ w_o
