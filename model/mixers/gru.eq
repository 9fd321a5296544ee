# GRU (Cho et al. 2014): one state a column; at every row a gate chooses between it and a new value.
# cost: L D^2, one row after another
z = linear(x, w[3 * width], b_x)  # what a row says to the gates r and z, and to n
h = gru(z, u, b_h)
