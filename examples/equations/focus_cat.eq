# Focus's filters, chosen bin by bin, feed CAT's keys.
bin = 8
e = bin_max(x, bin)
theta = coefficients(linear(sigmoid(linear(e, w_1[16], b_1)), w_2[2], b_2))
x_f = resonate(x, theta, bin, carry)
k = conv(x_f @ w_k, filter_k[3])
y = attention(x @ w_q, k, x @ w_v) @ w_o
