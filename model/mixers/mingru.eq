# minGRU (Feng et al. 2024, arXiv 2410.01201): a GRU whose gate and candidate depend on the row alone.
# cost: L D^2
mingru_form = plain | log  # log: candidates are positive, as the paper's form in logarithms has them
z = sigmoid(x @ w_z)
c = x @ w_c
scan h over z, c by columns
    e = c
    if mingru_form=log
        e = select(c, c + 0.5, sigmoid(c))
    h = (1 - z) * h + z * e
y = h @ w_o
