"""rebuild.py: rebuilds a model in PyTorch from a checkpoint of seqmix (safetensors) and prints its logits:

    python3 rebuild.py FILE INPUT...

INPUT: the tokens, or the numbers of every row where the task has numbers. attention.py, chela.py and
focus.py hold the mechanisms. What is not rebuilt is refused in a sentence. Weights are [in][out]."""
import json
import sys

import torch
import torch.nn.functional as F

from attention import attention, cat, las
from chela import chela
from checkpoint import choice, part, read
from focus import focus

MIXERS = dict(attention=attention, cat=cat, las=las, focus=focus, focus_h=focus, chela=chela)
ONE_ANSWER = ('smnist', 'pmnist', 'listops', 'lcat')  # for the whole sequence: the mean over its rows


def norm(config, w, name, x):
    kind = choice(config, 'norm', 'none', 'layer', 'rms')
    if kind == 'none':
        return x
    if kind == 'rms':
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w[name + '.gain']
    return F.layer_norm(x, x.shape[-1:], w[name + '.gain'], w[name + '.bias'], 1e-5)


def mlp(config, w, x):
    h = x @ w['w_1'] + w['b_1']
    gelu = choice(config, 'activation', 'gelu', 'silu') == 'gelu'
    return (F.gelu(h, approximate='tanh') if gelu else F.silu(h)) @ w['w_2'] + w['b_2']


def sinusoids(length, width):
    """Column 2m is sin(t / 10000^(2m/D)), column 2m + 1 its cosine (Vaswani et al.)."""
    angle = torch.arange(length).double()[:, None] / 10000 ** (torch.arange(0, width, 2).double() / width)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)[:, :width].float()


def embed(config, weights, inputs):
    if 'input_w' in weights:
        channels = len(weights['input_w'])
        if len(inputs) % channels:
            raise SystemExit(f'{len(inputs)} numbers are no whole rows: there must be {channels} a row')
        values = torch.as_tensor(inputs, dtype=torch.float32).reshape(-1, channels)
        x = values @ weights['input_w'] + weights['input_bias']
    else:
        table = weights['embedding']
        for token in inputs:
            if not 0 <= token < len(table) or token != int(token):
                last = len(table) - 1
                raise SystemExit(f'token {token:g} is not in the table: it must be one of 0..{last}')
        x = table[torch.as_tensor(inputs, dtype=torch.long)]
    if config['position'] == 'learned':
        end = len(weights['position'])
        if len(x) > end:
            raise SystemExit(f'{len(x)} rows are too many: position=learned ends at length={end}')
        x = x + weights['position'][: len(x)]
    return x + sinusoids(*x.shape) if config['position'] == 'sinusoidal' else x


def logits(config, weights, inputs):
    """[rows][classes] for one sequence; one row where the task wants one answer."""
    mixer = MIXERS[choice(config, 'mixer', *MIXERS)]
    # a mixer with a gate of its own passes x on by itself
    gated = mixer is focus or mixer is chela and choice(config, 'residual', '0', '1') == '0'
    x = embed(config, weights, inputs)
    for block in range(int(config['blocks'])):
        w = part(weights, f'block{block}.')
        y = mixer(config, {**part(weights, 'shared.'), **part(w, 'mixer.')}, norm(config, w, 'norm_1', x))
        x = y if gated else x + y
        if int(config['mlp']):
            x = x + mlp(config, part(w, 'mlp.'), norm(config, w, 'norm_2', x))
    x = norm(config, weights, 'norm', x)
    if config['task'] in ONE_ANSWER:
        x = x.mean(0, keepdim=True)
    return x @ weights['head'] + weights['head_bias']


if __name__ == '__main__':
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    config, weights = read(sys.argv[1])
    try:
        inputs = [float(number) for number in sys.argv[2:]]
    except ValueError as error:
        raise SystemExit(f'the input is no row of numbers: {error}')
    try:
        with torch.no_grad():
            print(json.dumps(logits(config, weights, inputs).tolist()))
    except KeyError as name:
        raise SystemExit(f'{sys.argv[1]} has no weight {name} for its config')
