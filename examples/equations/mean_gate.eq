# CAT whose output is gated by how far a row is from the mean of all before it.
k = conv(x @ w_k, filter_k[3])
g = sigmoid((x - mean(x)) @ w_g + b_g)
y = (g * attention(x @ w_q, k, x @ w_v)) @ w_o
