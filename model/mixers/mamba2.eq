# Mamba-2 (SSD) (Dao & Gu 2024): Mamba with one decay a head and row, which makes the scan a gated linear attention.
# cost: L E N
# modes: ssd_states=5
# defaults: norm=rms&embed_std=0.1
ssd_states = 16  # 1 to 256: states of each channel (N of the paper)
E = 2 * width
u = silu(conv_each(x @ w_x[E], conv_x[4]))
b = silu(conv_each(x @ w_b[ssd_states], conv_b[4]))
c = silu(conv_each(x @ w_c[ssd_states], conv_c[4]))  # b and c are shared by the heads
dt = softplus(linear(x, w_dt[heads], dt_bias))
s = ssd(c, b, u, dt, decays(dt, a_log))  # S_t = e^(dt A) S_{t-1} + b (dt u)^T
z = s + gain_heads(u, skip)
y = rmsnorm(z * silu(x @ w_z[E]), gain) @ w_o[width]
start(conv_x, uniform, 0.5)
start(conv_b, uniform, 0.5)
start(conv_c, uniform, 0.5)
start(dt_bias, step_plus)
