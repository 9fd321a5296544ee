# RG-LRU (De et al. 2024, arXiv 2402.19427): Griffin's block: each column a state whose decay and input depend on the row.
# cost: L D
u = conv_each(x @ w_u + b_u, f[4])
r = sigmoid(x @ w_r + b_r)
i = sigmoid(x @ w_i + b_i)
l = softplus(rate[width]) * -8
g = r * l
scan h over u, g, i by columns
    h = exp(g) * h + sqrt(1 - exp(2 * g)) * i * u
y = (h * gelu(x @ w_g + b_g)) @ w_o
start(rate, uniform, 2)
