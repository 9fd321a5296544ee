# S4D (Gu, Gupta, Goel & Re 2022, Sec. 3): a small linear system per channel, its impulse response used as a filter as long as the sequence.
# cost: L D (log L + S)
# modes: s4d_kind=real
# defaults: norm=rms&embed_std=0.1
s4d_states = 16  # 1 to 256: states of each channel; complex ones are halves of conjugate pairs
s4d_kind = complex | real  # rare: diagonal entries of the state matrix
if s4d_kind=complex
    o = s4d(x, log_dt, log_a[s4d_states], a_im[s4d_states], c[s4d_states], skip)  # K_l = 2 Re sum c e^(dt A l)
    start(log_a, constant, -0.6931471805599453)  # S4D-Lin: A_s = -1/2 + i pi s
    start(a_im, count, 3.141592653589793)
if s4d_kind=real
    o = s4d_real(x, log_dt, log_a[s4d_states], c[s4d_states], skip)  # K_l = sum c e^(dt A l)
    start(log_a, log_count)
y = gelu(o) @ w_o
start(log_dt, step)
