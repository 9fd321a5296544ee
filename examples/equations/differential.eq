# Differential attention (Ye et al. 2024, arXiv 2410.05258): of two softmaxes one is taken away, and with it the noise that both have.
initial = 0.2  # of lambda
q1 = x @ w_q1
k1 = x @ w_k1
q2 = x @ w_q2
k2 = x @ w_k2
v1 = x @ w_v1
v2 = x @ w_v2  # a head's values: its columns of v1 and of v2
lambda = exp(sum_heads(l_q1[width] * l_k1[width])) - exp(sum_heads(l_q2[width] * l_k2[width])) + initial
a = attention(q1, k1, v1) - per_head(lambda) * attention(q2, k2, v1)
b = attention(q1, k1, v2) - per_head(lambda) * attention(q2, k2, v2)
n = (1 - initial) / sqrt((sum_heads(a^2) + sum_heads(b^2)) / (2 * width / heads) + 0.00001)
c = gain(per_head(n) * a, gain_1)
d = gain(per_head(n) * b, gain_2)
y = join(c, d) @ w_o[width]
start(l_q1, normal, 0.1)
start(l_k1, normal, 0.1)
start(l_q2, normal, 0.1)
start(l_k2, normal, 0.1)
