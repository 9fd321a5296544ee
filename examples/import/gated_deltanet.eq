# Gated DeltaNet's layer (Yang et al. 2024) of flash-linear-attention: keys is its key_dim, values its value_dim.
keys = 16
values = 32
q = unitnorm_heads(silu(conv_each(x @ w_q[keys], conv_q[4])))
k = unitnorm_heads(silu(conv_each(x @ w_k[keys], conv_k[4])))
v = silu(conv_each(x @ w_v[values], conv_v[4]))
b = sigmoid(x @ w_beta[heads])
g = decays(softplus(x @ w_a[heads] + dt_bias[heads]), a_log)
o = gain(rms_heads(delta(q, k, v, b, g)), gain)
y = (o * silu(x @ w_gate[values])) @ w_o[width]
start(a_log, log_count)
start(dt_bias, step_plus)
