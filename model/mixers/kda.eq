# KDA (Kimi Team 2025, arXiv 2510.26692): the delta rule whose state fades by a gate of each key channel.
# cost: L D d
gate_rank = 16    # rare, 1 to 65536: inner width of the gates' two matrices
negative = 0 | 1  # 1: beta runs from 0 to 2, so that a state can be reflected (Grazzi et al. 2024, arXiv 2411.12537)
q = unitnorm_heads(silu(conv_each(x @ wq, conv_q[4])))
k = unitnorm_heads(silu(conv_each(x @ wk, conv_k[4])))
v = silu(conv_each(x @ wv, conv_v[4]))
beta = sigmoid(x @ w_beta[heads])
if negative
    beta = 2 * beta
g = per_head(-exp(a_log[heads])) * softplus(x @ w_f1[gate_rank] @ w_f2[width] + dt_bias[width])
o = gain(rms_heads(delta(q, k, v, beta, g)), gain)  # R = diag(e^g) S, S = R + k (beta (v - R^T k))^T
y = (o * sigmoid(x @ w_g1[gate_rank] @ w_g2[width] + b_g)) @ wo
start(a_log, log_count)
start(dt_bias, step_plus)
