# LSTM (Hochreiter & Schmidhuber 1997): a cell that gates write to, read from and clear, row by row.
# cost: L D^2, one row after another
z = linear(x, w[4 * width], b)  # what a row says to the gates i, f, g and o
h = lstm(z, u)
start(b, forget, 1)  # forget gates start open (Jozefowicz, Zaremba & Sutskever 2015)
