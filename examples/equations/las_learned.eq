# LaS whose decays are learnt: e^(-a (i - j)) on a logit is e^(-a i) on its query and e^(a j) on its key.
one = exp(x - x)
t = linear_attention(one, one, one, none) * (heads / width)  # the row's number, from 1
r = gain_heads(t, rate)  # a rate a head; rate times length must stay below 80
q = (x @ w_q) * exp(-r)
k = (x @ w_k) * exp(r)
s = pool(x @ w_v, window=3)
y = attention(q, k, s) @ w_o
start(rate, constant, 0.05)
