"""chela.py: CHELA (Liu et al., Eqs. 7-15)."""
import torch
import torch.nn.functional as F

from attention import merge, split
from checkpoint import choice
from filters import depthwise, long_conv


def short_long(config, w, x):
    """Z = K_l * SiLU(K_s * X), K_s the sum of two short kernels, or one with fused=1 (Eqs. 7-8)."""
    if choice(config, 'fused', '0', '1') == '1':
        short = depthwise(x, w['short'])
    else:
        short = depthwise(x, w['short_3']) + depthwise(x, w['short_n'])
    return long_conv(config, w, F.silu(short))


def linear_attention(q, k, v, causal=True):
    """o_t = q_t sum_{s <= t} k_s v_s, or over all s; then Norm, the root mean square of each head."""
    scores = q @ k.transpose(1, 2)
    o = (scores.tril() if causal else scores) @ v
    return o * torch.rsqrt((o * o).mean(-1, keepdim=True) + 1e-5)


def chela(config, w, x):
    heads = int(config['heads'])
    z = short_long(config, w, x)
    q = w['alpha_q'] * z + w['beta_q']
    k = w['alpha_k'] * z + w['beta_k']
    v = F.silu(x @ w['w_v'] + w['b_v'])
    g_a = F.silu(z @ w['w_g'] + w['b_g'])
    causal = choice(config, 'causal', '1', '0') == '1'
    m = merge(linear_attention(*(split(y, heads) for y in (q, k, v)), causal)) * g_a
    g_o = torch.sigmoid(z @ w['w_o'] + w['b_o'])
    return m * g_o + x * (1 - g_o)
