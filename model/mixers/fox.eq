# FoX (Lin et al. 2025, arXiv 2503.02130): softmax attention that forgets: gates between two rows add to their logit.
# cost: L^2 D
f = -softplus(-(x @ w_f[heads] + b_f))
o = attention(x @ w_q, x @ w_k, x @ w_v, bias=f)
y = o @ w_o
