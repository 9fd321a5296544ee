# Based (Taylor attention) (Arora et al. 2024, Sec. 4): linear attention that weighs pairs by the first terms of softmax's exponential.
# cost: L d'^2 D
feature_width = 16  # 1 to 64: columns of a head's queries and keys (d'); its state has 1 + d' + d' (d' + 1) / 2 rows
q = x @ w_q[heads * feature_width]
k = x @ w_k[heads * feature_width]
v = x @ w_v
o = taylor_attention(q, k, v)  # pairs weigh 1 + s + s^2 / 2
y = o @ w_o
