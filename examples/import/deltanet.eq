# DeltaNet's layer (Yang et al. 2024) of flash-linear-attention, without its output gate.
q = unitnorm_heads(silu(conv_each(x @ w_q, conv_q[4])))
k = unitnorm_heads(silu(conv_each(x @ w_k, conv_k[4])))
v = silu(conv_each(x @ w_v, conv_v[4]))
b = sigmoid(x @ w_beta[heads])
y = gain(rms_heads(delta(q, k, v, b)), gain) @ w_o
