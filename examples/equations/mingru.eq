# minGRU (Feng et al. 2024, arXiv 2410.01201): a GRU whose gate and candidate depend on the row alone.
z = sigmoid(x @ w_z)
c = x @ w_c
scan h over z, c by columns
    h = (1 - z) * h + z * c
y = h @ w_o
