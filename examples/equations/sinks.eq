# gpt-oss's attention (OpenAI 2025, arXiv 2508.10925): a learnt logit of each head takes weight and gives no value.
kv = 1
k = x @ w_k[kv * width / heads]
v = x @ w_v[kv * width / heads]
y = attention(x @ w_q, k, v, sink=sink, kv_heads=kv) @ w_o
