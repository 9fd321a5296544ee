# Gated DeltaNet with b up to 2 (Grazzi et al. 2024, arXiv 2411.12537): a state can be reflected, so it can count.
q = unitnorm_heads(silu(conv_each(x @ w_q, f_q[4])))
k = unitnorm_heads(silu(conv_each(x @ w_k, f_k[4])))
v = silu(conv_each(x @ w_v, f_v[4]))
b = sigmoid(x @ w_b[heads]) * 2
g = decays(softplus(linear(x, w_a[heads], dt_bias)), a_log)
y = (gain(rms_heads(delta(q, k, v, b, g)), gain) * silu(x @ w_r)) @ w_o
start(dt_bias, step_plus)
