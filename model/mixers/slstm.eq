# sLSTM (Beck et al. 2024, arXiv 2405.04517): exponential gates, stabilised by m, and recurrent matrices in each head.
# cost: L D d, one row after another
i = x @ w_i
f = x @ w_f
z = x @ w_z
o = x @ w_r
start(m, constant, -1000000)
scan c[z], n[z], m[z], h[z] over i, f, z, o
    l = -softplus(-(f + h @ u_f[heads][z][z]))
    p = i + h @ u_i[heads][z][z]
    t = max(l + m, p)
    c = exp(l + m - t) * c + exp(p - t) * tanh(z + h @ u_z[heads][z][z])
    n = exp(l + m - t) * n + exp(p - t)
    h = sigmoid(o + h @ u_o[heads][z][z]) * c / n
    m = t
y = h @ w_o
