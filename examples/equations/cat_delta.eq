# CAT's filters before the delta rule: keys depend on the row before them too, and the state keeps one value a key.
taps = 3
q = unitnorm_heads(conv(x @ w_q, filter_q[taps]))
k = unitnorm_heads(conv(x @ w_k, filter_k[taps]))
v = conv(x @ w_v, filter_v[taps])
y = delta(q, k, v, sigmoid(x @ w_beta[heads])) @ w_o
