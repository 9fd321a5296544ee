"""seqmix.py: rebuilds a model in PyTorch from a checkpoint of seqmix (safetensors):

    python3 seqmix.py FILE TOKEN...

Softmax attention, CAT with filters per head, and LaS with trailing or no pooling; blocks with or without
MLP and norms. What it does not rebuild it refuses in a sentence. Weights are [in][out]."""
import json
import math
import struct
import sys
import urllib.parse

import torch
import torch.nn.functional as F


def read(path):
    """The config, a dict of texts, and the weights, a dict of tensors."""
    with open(path, 'rb') as file:
        data = file.read()
    (size,) = struct.unpack('<Q', data[:8])
    header = json.loads(data[8 : 8 + size])
    meta = header.pop('__metadata__')
    weights = {}
    for name, t in header.items():
        if ':' in name:
            continue  # the optimiser's
        begin, end = (8 + size + at for at in t['data_offsets'])
        weights[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).reshape(t['shape'])
    return dict(urllib.parse.parse_qsl(meta['config'], keep_blank_values=True)), weights


def fixed(config, **allowed):
    for key, value in allowed.items():
        if config.get(key, value) != value:
            raise SystemExit(f'{key}={config[key]} is not rebuilt here: it must be {value}')


def causal_filter(x, taps):
    """y_t[c] = sum_w f[g(c)][w] x_{t-w}[c]; x [L][D], taps [groups][W] (CAT Def. 1)."""
    groups, width = taps.shape
    taps = taps.repeat_interleave(x.shape[1] // groups, 0).flip(1).unsqueeze(1)
    return F.conv1d(F.pad(x.T, (width - 1, 0)), taps, groups=x.shape[1]).T


def norm(config, w, name, x):
    if config['norm'] == 'none':
        return x
    if config['norm'] == 'rms':
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w[name + '.gain']
    return F.layer_norm(x, x.shape[-1:], w[name + '.gain'], w[name + '.bias'], 1e-5)


def las_decay(config, heads, length):
    """exp(-alpha_h (i - j)) [heads][length][length], exp(-alpha) evenly spaced from 1 to e^-B (LaS Eq. 4)."""
    factor = torch.linspace(1, math.exp(-float(config['decay_range'])), heads, dtype=torch.float64)
    at = torch.arange(length, dtype=torch.float64)
    return (factor.log()[:, None, None] * (at[:, None] - at).clamp(min=0)).exp().float()


def trailing_mean(v, window):
    """The sum of each row and the window - 1 before it, over `window`; v [heads][length][d]."""
    past = F.pad(v, (0, 0, window - 1, 0))
    return sum(past[:, w : w + v.shape[1]] for w in range(window)) / window


def attention(config, w, x):
    """Causal softmax attention over heads (CAT: of filtered rows)."""
    heads = int(config['heads'])
    # (X * F_h) W_h = (X W_h) * F_h: the filter of a head after the projection onto its columns
    q, k, v = (x @ w[f'w_{n}'] for n in 'qkv')
    if config['mixer'] == 'cat':
        q, k, v = (
            causal_filter(y, w[f'filter_{n}']) if f'filter_{n}' in w else y
            for n, y in zip('qkv', (q, k, v))
        )
    q, k, v = (y.unflatten(1, (heads, -1)).transpose(0, 1) for y in (q, k, v))
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    if config['mixer'] == 'las':
        scores = scores * las_decay(config, heads, len(x))
        v = trailing_mean(v, int(config['window']) if config['pool'] == 'trailing' else 1)
    ahead = torch.ones(scores.shape[1:]).triu(1).bool()
    o = scores.masked_fill(ahead, -torch.inf).softmax(-1) @ v
    return o.transpose(0, 1).flatten(1) @ w['w_o']


def logits(config, weights, tokens):
    """[length][classes] for one sequence of tokens."""
    if config['mixer'] not in ('attention', 'cat', 'las'):
        raise SystemExit(f"mixer={config['mixer']} is not rebuilt here: it must be attention, cat or las")
    fixed(config, filter_kind='per_head', filter_norm='none', value_filter='causal')
    fixed(config, las_decay='exp', alphas='spaced', chunk='0')
    if config.get('pool') in ('centred', 'masked'):
        raise SystemExit(f"pool={config['pool']} is not rebuilt here: it must be trailing or none")
    if config['position'] not in ('none', 'learned'):
        raise SystemExit(f"position={config['position']} is not rebuilt here: it must be none or learned")
    x = weights['embedding'][torch.as_tensor(tokens)]
    if config['position'] == 'learned':
        x = x + weights['position'][: len(x)]
    for block in range(int(config['blocks'])):
        prefix = f'block{block}.'
        w = {name[len(prefix) :]: t for name, t in weights.items() if name.startswith(prefix)}
        mixer = {name[6:]: t for name, t in w.items() if name.startswith('mixer.')}
        x = x + attention(config, mixer, norm(config, w, 'norm_1', x))
        if int(config['mlp']):
            h = norm(config, w, 'norm_2', x) @ w['mlp.w_1'] + w['mlp.b_1']
            h = F.gelu(h, approximate='tanh') if config['activation'] == 'gelu' else F.silu(h)
            x = x + h @ w['mlp.w_2'] + w['mlp.b_2']
    return norm(config, weights, 'norm', x) @ weights['head'] + weights['head_bias']


if __name__ == '__main__':
    config, weights = read(sys.argv[1])
    with torch.no_grad():
        print(json.dumps(logits(config, weights, [int(token) for token in sys.argv[2:]]).tolist()))
