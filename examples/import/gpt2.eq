# GPT-2's attention (Radford et al. 2019), biases as in the published weights.
q = x @ w_q + b_q
k = x @ w_k + b_k
v = x @ w_v + b_v
y = attention(q, k, v) @ w_o + b_o
