# mLSTM (Beck et al. 2024, arXiv 2405.04517): a matrix under exponential gates, stabilised by m, read over its norm.
# cost: L D d
c = silu(conv_each(x @ w_u, f_c[4]))
q = c @ w_q
k = c @ w_k
v = x @ w_v
i = x @ w_i[heads] + b_i
l = -softplus(-(x @ w_f[heads] + b_f))
scan C[k][v], n[k], m over q, k, v, i, l
    t = max(l + m, i)
    C = exp(l + m - t) * C + exp(i - t) * outer(k, v)
    n = exp(l + m - t) * n + exp(i - t) * k
    m = t
    p = q / sqrt(size(q))
    o = (p @ C) / max(abs(dot(n, p)), exp(-m))
y = (layernorm_heads(o, gain, bias) * silu(x @ w_z)) @ w_o
start(b_f, constant, 3)
