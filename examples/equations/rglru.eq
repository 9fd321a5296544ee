# RG-LRU (De et al. 2024): each column a state of its own, whose decay and input hang on the row.
u = conv_each(x @ w_u, f[4])
r = softplus(x @ w_a) * -1
i = sigmoid(x @ w_i)
scan h over u, r, i by columns
    h = exp(r) * h + sqrt(1 - exp(2 * r)) * i * u
y = (h * gelu(x @ w_g)) @ w_o
