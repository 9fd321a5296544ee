# FoX (Lin et al. 2025, arXiv 2503.02130): softmax attention that forgets: gates between two rows add to their logit.
# cost: L^2 D
fox_form = llama | pro  # pro: keys and values depend on the row before, norms of queries, keys and output, a gate
q = x @ w_q
k = x @ w_k
v = x @ w_v
f = -softplus(-(x @ w_f[heads] + b_f))
if fox_form=pro
    a = sigmoid(x @ w_ks[heads])
    b = sigmoid(x @ w_vs[heads])
    k = gain(rms_heads(per_head(a) * shift(k) + per_head(1 - a) * k), k_gain)
    v = per_head(b) * shift(v) + per_head(1 - b) * v
    q = gain(rms_heads(q), q_gain)
o = attention(q, k, v, bias=f)
if fox_form=pro
    o = gain(rms_heads(o), gain) * sigmoid(x @ w_gate)
y = o @ w_o
