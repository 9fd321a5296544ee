# Gated DeltaNet (Yang, Kautz & Hatamizadeh 2024): DeltaNet whose state also fades, each head by a gate that every token sets.
# cost: L D d
negative = 0 | 1  # 1: beta runs from 0 to 2, so that a state can be reflected (Grazzi et al. 2024, arXiv 2411.12537)
q = unitnorm_heads(silu(conv_each(x @ w_q, conv_q[4])))
k = unitnorm_heads(silu(conv_each(x @ w_k, conv_k[4])))
v = silu(conv_each(x @ w_v, conv_v[4]))
beta = sigmoid(x @ w_beta[heads])  # how far the state is corrected
if negative
    beta = 2 * beta
gates = decays(softplus(linear(x, w_a[heads], dt_bias)), a_log)  # as Mamba-2's
o = delta(q, k, v, beta, gates)  # S_t = R + k (beta (v - R^T k))^T
n = gain(rms_heads(o), gain)
y = (n * silu(x @ w_gate)) @ w_o
start(conv_q, uniform, 0.5)
start(conv_k, uniform, 0.5)
start(conv_v, uniform, 0.5)
start(dt_bias, step_plus)
