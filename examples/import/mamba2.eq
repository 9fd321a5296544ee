# Mamba-2's block (Dao & Gu 2024) with one group: heads is 2 width / headdim, states is d_state.
states = 16
inner = 64
z = x @ w_z[inner]
u = silu(conv_each(x @ w_x[inner], conv_x[4]) + b_x)
b = silu(conv_each(x @ w_b[states], conv_b[4]) + b_b)
c = silu(conv_each(x @ w_c[states], conv_c[4]) + b_c)
dt = softplus(x @ w_dt[heads] + dt_bias[heads])
o = ssd(c, b, u, dt, decays(dt, a_log)) + gain_heads(u, skip)
y = rmsnorm(o * silu(z), gain) @ w_o[width]
start(a_log, log_count)
start(dt_bias, step_plus)
