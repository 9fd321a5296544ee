"""Layers of reference implementations in plain PyTorch, under their names: random weights are saved as they
save them, imported by the program, exported as a module; its logits must be those of the layer here, and what
the program writes back the very tensors that it read. Prints a line of JSON a layer.

python3 imported.py PROGRAM FOLDER"""

import importlib
import json
import math
import os
import struct
import subprocess
import sys

import torch
import torch.nn.functional as F

program, folder = sys.argv[1:]
sys.path.insert(0, folder)
WIDTH, HEADS, LENGTH = 16, 2, 12
AROUND = f'task=mqar&vocab=16&pairs=3&length={LENGTH}&width={WIDTH}&heads={HEADS}'


def heads(x, n=HEADS):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)  # [B][H][L][d]


def joined(x):
    return x.transpose(1, 2).flatten(2)


def rms(x, weight):
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * weight


def filtered(x, weight, bias=None):
    taps = weight.shape[-1]
    return F.silu(F.conv1d(F.pad(x.transpose(1, 2), (taps - 1, 0)), weight, bias, groups=x.shape[-1]).transpose(1, 2))


def attention(x, w, linear):
    q, k, v = map(heads, (linear(x, w['c_attn.weight']) + w['c_attn.bias']).chunk(3, -1))
    z = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    ahead = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    o = z.masked_fill(ahead, -math.inf).softmax(-1) @ v
    return linear(joined(o), w['c_proj.weight']) + w['c_proj.bias']


def mamba(x, w):
    u, z = F.linear(x, w['in_proj.weight']).chunk(2, -1)
    u = filtered(u, w['conv1d.weight'], w['conv1d.bias'])
    n = w['A_log'].shape[1]
    dt, b, c = F.linear(u, w['x_proj.weight']).split([w['dt_proj.weight'].shape[1], n, n], -1)
    dt = F.softplus(F.linear(dt, w['dt_proj.weight'], w['dt_proj.bias']))
    a = -w['A_log'].exp()
    state, rows = torch.zeros(x.shape[0], *a.shape), []
    for t in range(x.shape[1]):
        state = (dt[:, t, :, None] * a).exp() * state + (dt[:, t] * u[:, t])[:, :, None] * b[:, t, None]
        rows.append((state * c[:, t, None]).sum(-1))
    y = torch.stack(rows, 1) + w['D'] * u
    return F.linear(y * F.silu(z), w['out_proj.weight'])


def mamba2(x, w):
    n_heads, inner = w['D'].shape[0], w['norm.weight'].shape[0]
    n = (w['conv1d.weight'].shape[0] - inner) // 2
    z, rest, dt = F.linear(x, w['in_proj.weight']).split([inner, inner + 2 * n, n_heads], -1)
    u, b, c = filtered(rest, w['conv1d.weight'], w['conv1d.bias']).split([inner, n, n], -1)
    dt = F.softplus(dt + w['dt_bias'])
    fade = (-w['A_log'].exp() * dt).exp()
    u = u.unflatten(-1, (n_heads, -1))
    state, rows = torch.zeros(x.shape[0], n_heads, n, u.shape[-1]), []
    for t in range(x.shape[1]):
        new = b[:, t, None, :, None] * (dt[:, t, :, None] * u[:, t])[:, :, None]
        state = fade[:, t, :, None, None] * state + new
        rows.append(torch.einsum('bhnp,bn->bhp', state, c[:, t]))
    y = (torch.stack(rows, 1) + w['D'][:, None] * u).flatten(2)
    return F.linear(rms(y * F.silu(z), w['norm.weight']), w['out_proj.weight'])


def gla(x, w):
    q, k, v = (heads(F.linear(x, w[name + '_proj.weight'])) for name in 'qkv')
    low = F.linear(x, w['gk_proj.0.weight'])
    g = heads(F.logsigmoid(F.linear(low, w['gk_proj.1.weight'], w['gk_proj.1.bias'])) / 16)
    state, rows = torch.zeros(x.shape[0], HEADS, q.shape[-1], v.shape[-1]), []
    for t in range(x.shape[1]):
        state = g[:, :, t, :, None].exp() * state + k[:, :, t, :, None] * v[:, :, t, None]
        rows.append((q[:, :, t, :, None] * state).sum(-2) / math.sqrt(q.shape[-1]))
    o = joined(rms(torch.stack(rows, 2), w['g_norm_swish_gate.weight']))
    return F.linear(o * F.silu(F.linear(x, w['g_proj.weight'])), w['o_proj.weight'])


def deltanet(x, w):
    q, k, v = (heads(filtered(F.linear(x, w[n + '_proj.weight']), w[n + '_conv1d.weight'])) for n in 'qkv')
    q, k = F.normalize(q, dim=-1) / math.sqrt(q.shape[-1]), F.normalize(k, dim=-1)
    beta = F.linear(x, w['b_proj.weight']).sigmoid().transpose(1, 2)
    fade = torch.ones_like(beta)
    if 'A_log' in w:
        fade = (-w['A_log'].exp() * F.softplus(F.linear(x, w['a_proj.weight']) + w['dt_bias'])).exp().transpose(1, 2)
    state, rows = torch.zeros(x.shape[0], HEADS, k.shape[-1], v.shape[-1]), []
    for t in range(x.shape[1]):
        state = fade[:, :, t, None, None] * state
        wrong = v[:, :, t] - (k[:, :, t, :, None] * state).sum(-2)
        state = state + k[:, :, t, :, None] * (beta[:, :, t, None] * wrong)[:, :, None]
        rows.append((q[:, :, t, :, None] * state).sum(-2))
    o = joined(rms(torch.stack(rows, 2), w['o_norm.weight']))
    if 'g_proj.weight' in w:
        o = o * F.silu(F.linear(x, w['g_proj.weight']))
    return F.linear(o, w['o_proj.weight'])


def rwkv7(x, w):
    d = F.pad(x, (0, 0, 1, -1)) - x
    r, k, v = (
        F.linear(x + d * w['x_' + n[0]], w[n + '.weight']) for n in ('receptance', 'key', 'value')
    )
    decay = w['w0'] + torch.tanh((x + d * w['x_w']) @ w['w1']) @ w['w2']
    fade = heads((-(-F.softplus(-decay) - 0.5).exp()).exp())
    a = (w['a0'] + (x + d * w['x_a']) @ w['a1'] @ w['a2']).sigmoid()
    g = ((x + d * w['x_g']) @ w['g1']).sigmoid() @ w['g2']
    kk = F.normalize(heads(k * w['k_k']), dim=-1)
    k = k * (1 + (a - 1) * w['k_a'])
    r, k, v, a = map(heads, (r, k, v, a))
    state, rows = torch.zeros(x.shape[0], HEADS, k.shape[-1], v.shape[-1]), []
    for t in range(x.shape[1]):
        answer = (kk[:, :, t, :, None] * state).sum(-2)
        state = fade[:, :, t, :, None] * state - (kk * a)[:, :, t, :, None] * answer[:, :, None]
        state = state + k[:, :, t, :, None] * v[:, :, t, None]
        rows.append((r[:, :, t, :, None] * state).sum(-2))
    o = joined(torch.stack(rows, 2)).flatten(0, 1)
    o = F.group_norm(o, HEADS, w['ln_x.weight'], w['ln_x.bias'], 1e-5 * v.shape[-1]).view_as(x)
    o = o + joined((r * k * w['r_k'][:, None]).sum(-1, keepdim=True) * v)
    return F.linear(o * g, w['output.weight'])


W, E, R = WIDTH, 2 * WIDTH, WIDTH // 16
GPT2 = {'c_attn.bias': [3 * W], 'c_proj.weight': [W, W], 'c_proj.bias': [W]}
DELTA = {n: [HEADS, W] for n in ['b_proj.weight']} | {'o_proj.weight': [W, W], 'o_norm.weight': [W // HEADS]}
TEXT = 'mixer=equations&eq=@examples/import/'
# Name, prefix, config, form, shapes.
LAYERS = [
    ('gpt2', 'h.{}.attn.', TEXT + 'gpt2.eq', lambda x, w: attention(x, w, lambda x, m: x @ m), GPT2 | {'c_attn.weight': [W, 3 * W]}),
    ('nanogpt', 'transformer.h.{}.attn.', TEXT + 'gpt2.eq', lambda x, w: attention(x, w, F.linear), GPT2 | {'c_attn.weight': [3 * W, W]}),
    ('mamba', 'backbone.layers.{}.mixer.', 'mixer=mamba&mamba_states=5', mamba,
     {'in_proj.weight': [2 * E, W], 'conv1d.weight': [E, 1, 4], 'conv1d.bias': [E], 'x_proj.weight': [R + 10, E],
      'dt_proj.weight': [E, R], 'dt_proj.bias': [E], 'A_log': [E, 5], 'D': [E], 'out_proj.weight': [W, E]}),
    ('mamba2', 'backbone.layers.{}.mixer.', TEXT + f'mamba2.eq&states=6&inner={E}', mamba2,
     {'in_proj.weight': [2 * E + 12 + HEADS, W], 'conv1d.weight': [E + 12, 1, 4], 'conv1d.bias': [E + 12], 'dt_bias': [HEADS],
      'A_log': [HEADS], 'D': [HEADS], 'norm.weight': [E], 'out_proj.weight': [W, E]}),
    ('gla', 'model.layers.{}.attn.', TEXT + 'gla.eq&keys=8&low=3', gla,
     {'q_proj.weight': [8, W], 'k_proj.weight': [8, W], 'v_proj.weight': [W, W], 'g_proj.weight': [W, W], 'gk_proj.0.weight': [3, W],
      'gk_proj.1.weight': [8, 3], 'gk_proj.1.bias': [8], 'g_norm_swish_gate.weight': [W // HEADS], 'o_proj.weight': [W, W]}),
    ('deltanet', 'model.layers.{}.attn.', TEXT + 'deltanet.eq', deltanet,
     DELTA | {n + '_proj.weight': [W, W] for n in 'qkv'} | {n + '_conv1d.weight': [W, 1, 4] for n in 'qkv'}),
    ('gated_deltanet', 'model.layers.{}.attn.', TEXT + 'gated_deltanet.eq&keys=12&values=24', deltanet,
     DELTA | {n + '_proj.weight': [12, W] for n in 'qk'} | {n + '_conv1d.weight': [12, 1, 4] for n in 'qk'}
     | {'v_proj.weight': [24, W], 'v_conv1d.weight': [24, 1, 4], 'g_proj.weight': [24, W], 'a_proj.weight': [HEADS, W],
        'A_log': [HEADS], 'dt_bias': [HEADS], 'o_norm.weight': [12], 'o_proj.weight': [W, 24]}),
    ('rwkv7', 'blocks.{}.att.', TEXT + 'rwkv7.eq&decay_low=5&rate_low=4&gate_low=6&blocks=1', rwkv7,
     {n: [1, 1, W] for n in ['x_r', 'x_w', 'x_k', 'x_v', 'x_a', 'x_g', 'w0', 'a0', 'k_k', 'k_a']}
     | {'w1': [W, 5], 'w2': [5, W], 'a1': [W, 4], 'a2': [4, W], 'g1': [W, 6], 'g2': [6, W], 'r_k': [HEADS, W // HEADS],
        'receptance.weight': [W, W], 'key.weight': [W, W], 'value.weight': [W, W], 'output.weight': [W, W], 'ln_x.weight': [W], 'ln_x.bias': [W]}),
]  # fmt: skip
DTYPES = {torch.float32: 'F32', torch.bfloat16: 'BF16', torch.float16: 'F16', torch.float64: 'F64'}


def save(path, tensors):
    header, data = {}, b''
    for name, t in tensors.items():
        raw = bytes(t.contiguous().view(torch.uint8).flatten().tolist())
        header[name] = {'dtype': DTYPES[t.dtype], 'shape': list(t.shape), 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + data)


def read(path):
    with open(path, 'rb') as file:
        size = struct.unpack('<Q', file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    return {
        name: torch.frombuffer(bytearray(data[slice(*t['data_offsets'])]), dtype=torch.float32).reshape(t['shape'])
        for name, t in header.items()
        if name != '__metadata__'
    }


def run(*arguments):
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)


def main():
    torch.manual_seed(1)
    for i, (layer, prefix, config, form, shapes) in enumerate(LAYERS):
        blocks = 1 if 'blocks=1' in config else 2
        dtype = list(DTYPES)[i % 4]
        full = f'{config}&{AROUND}' + ('' if blocks == 1 else '&blocks=2')
        theirs = {
            prefix.replace('{}', str(b)) + name: (torch.randn(shape) * (0.3 if len(shape) > 1 else 0.5) + (len(shape) == 1)).to(dtype)
            for b in range(blocks)
            for name, shape in shapes.items()
        }
        file, checkpoint, back = (os.path.join(folder, layer + end) for end in ('.safetensors', '.run', '.back'))
        save(file, theirs)
        run('import', file, '--layer', layer, '--config', full, '--save', checkpoint)
        run('export', checkpoint, '--pytorch', os.path.join(folder, layer + '_module.py'))
        run('import', checkpoint, '--back', '--layer', layer, '--save', back)
        module = importlib.import_module(layer + '_module')
        model = module.Model(checkpoint)
        inputs = torch.randint(0, 16, (3, LENGTH))
        w = {name: value.float() for name, value in theirs.items()}
        with torch.no_grad():
            ours = model(inputs)
            at = iter(range(blocks))

            def reference(x, _, form=form, prefix=prefix, w=w, at=at):
                begin = prefix.replace('{}', str(next(at)))
                return form(x, {name[len(begin) :]: value for name, value in w.items() if name.startswith(begin)})

            module.mixer = reference
            wanted = model(inputs)
            module.mixer = lambda x, _: torch.zeros_like(x)
            without = model(inputs)
        written = read(back)
        print(json.dumps({
            'layer': layer,
            'off': ((ours - wanted).abs().max() / wanted.abs().max().clamp(min=1)).item(),
            'share': (wanted - without).abs().max().item(),
            'back': all(name in written and torch.equal(written[name], value) for name, value in w.items()),
        }))  # fmt: skip


main()
