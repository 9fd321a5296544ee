"""attention.py: softmax attention, CAT (Li et al., Def. 1) and LaS (Zimerman & Wolf, Eq. 4).
x [L][D]; heads [H][L][d]."""
import math

import torch
import torch.nn.functional as F

from checkpoint import choice
from filters import convolve, mix_heads


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)


def merge(x):
    return x.transpose(0, 1).flatten(1)


def rope(x):
    """Columns 2m and 2m + 1 turned by t / 10000^(2m/d) (Su et al.)."""
    length, d = x.shape[1:]
    angle = torch.arange(length).double()[:, None] / 10000 ** (torch.arange(0, d, 2).double() / d)
    turn = torch.polar(torch.ones_like(angle), angle).to(torch.complex64)
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turn).flatten(-2)


def distance(length):
    at = torch.arange(length)
    return at[:, None] - at


def alibi(heads, length):
    """-m_h |i - j| with m_h = 2^(-8 (h + 1) / H) (Press et al.)."""
    slopes = 2 ** (-8 * torch.arange(1, heads + 1).double() / heads)
    return (-slopes[:, None, None] * distance(length).abs()).float()


def las_decay(config, heads, length):
    """exp(-alpha_h |i - j|), exp(-alpha) evenly spaced from 1 to e^-B unless each alpha is given."""
    if config['alphas'] == 'spaced':
        last = math.exp(-float(config['decay_range']))
        alphas = -torch.linspace(1, last, heads, dtype=torch.float64).log()
    else:
        alphas = torch.tensor([float(alpha) for alpha in config['alphas'].split(',')], dtype=torch.float64)
    return (-alphas[:, None, None] * distance(length).abs()).exp().float()


def average_pool(config, a, near, past):
    """AP(A): the mean of P columns, zeros outside, the divisor always P. Column j takes the columns from
    j - (P-1)/2 to j + (P-1)/2 (centred; masked: then cut to the past), or from j to j + P - 1 (trailing,
    the same as each row of V averaged with the P - 1 before it)."""
    pool = choice(config, 'pool', 'trailing', 'centred', 'masked', 'none')
    window = int(config['window'])
    if pool == 'none':
        return a
    if pool == 'trailing':
        a = F.avg_pool1d(F.pad(a, (0, window - 1)), window, 1)
    else:
        a = F.avg_pool1d(a, window, 1, (window - 1) // 2)
    return a * (near & past if pool == 'masked' else near)


def softmax_attention(config, q, k, v, *, chunk=0, sliding=0, causal=True, decay=1, bias=None, after=None):
    """A = softmax(decay o Q K^T / sqrt(d) + bias), masked; after(A) V. chunk: rows of a chunk (0: all);
    sliding: rows that a row sees, itself the last (0: all)."""
    heads, length, d = q.shape
    position = choice(config, 'position', 'none', 'learned', 'sinusoidal', 'rope', 'alibi', 'alibi_scaled')
    if position == 'rope':
        q, k = rope(q), rope(k)
    if position in ('alibi', 'alibi_scaled'):
        bias = alibi(heads, length) / (d**0.5 if position == 'alibi_scaled' else 1)
    block = torch.arange(length) // (chunk or length)
    near, past = block[:, None] == block, distance(length) >= 0
    if sliding:
        near = near & (distance(length) < sliding)
    scores = q @ k.transpose(1, 2) / d**0.5 * decay
    if bias is not None:
        scores = scores + bias
    a = scores.masked_fill(~(near & past if causal else near), -torch.inf).softmax(-1)
    return (after(a, near, past) if after else a) @ v


def attention(config, w, x):
    q, k, v = (split(x @ w[f'w_{n}'], int(config['heads'])) for n in 'qkv')
    causal = choice(config, 'causal', '1', '0') == '1'
    near = {'chunk': int(config['chunk']), 'sliding': int(config['sliding'])}
    return merge(softmax_attention(config, q, k, v, causal=causal, **near)) @ w['w_o']


def las(config, w, x):
    """AP(softmax(D o S)) V."""
    heads = int(config['heads'])
    q, k, v = (split(x @ w[f'w_{n}'], heads) for n in 'qkv')
    kind = choice(config, 'las_decay', 'exp', 'alibi', 'alibi_scaled', 'none')
    options = {'causal': choice(config, 'causal', '1', '0') == '1'}
    if kind == 'exp':
        options['decay'] = las_decay(config, heads, len(x))
    elif kind != 'none':
        options['bias'] = alibi(heads, len(x)) / (q.shape[-1] ** 0.5 if kind == 'alibi_scaled' else 1)
    pooled = lambda a, near, past: average_pool(config, a, near, past)
    o = softmax_attention(config, q, k, v, chunk=int(config['chunk']), after=pooled, **options)
    return merge(o) @ w['w_o']


def filtered(config, w, x, n):
    """(X * F_h) W_h, heads [H][L][d]; with filter_norm the filtered rows are scaled to unit length."""
    heads = int(config['heads'])
    kind = choice(config, 'filter_kind', 'per_head', 'multi_head', 'maps')
    if kind == 'multi_head' and f'filter_{n}' in w:
        return mix_heads(split(x @ w[f'w_{n}'], heads), w[f'filter_{n}'])
    if f'filter_{n}' in w:
        two_sided = n == 'v' and choice(config, 'value_filter', 'causal', 'two_sided') == 'two_sided'
        x = convolve(x, w[f'filter_{n}'], int(config['filter']) if two_sided else 0)
    if n in choice(config, 'filter_norm', 'none', 'qk', 'qkv').replace('none', ''):
        x = F.normalize(x, dim=-1)
    return x @ split(w[f'w_{n}'], heads)


def cat(config, w, x):
    """Softmax attention of filtered queries, keys and values; maps: A'_h = sum_g M_hg A_g instead."""
    q, k, v = (filtered(config, w, x, n) for n in 'qkv')
    mixed = lambda a, near, past: torch.einsum('hg,gij->hij', w['filter_maps'], a)
    o = softmax_attention(config, q, k, v, after=mixed if 'filter_maps' in w else None)
    return merge(o) @ w['w_o']
