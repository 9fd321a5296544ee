"""Wrong implementations, as small edits of right layers in PyTorch: (mechanism's layer, what is wrong, the text
that is replaced, by what). test_conformance.py has each refused by check_layer; docs/ORACLE.md lists them.

They are written as mistakes are made, or as who games a test would make them, without the plan of cases in view;
where one is not caught, the plan changes, not the list.
"""

ATTENTION = """
def layer(q, k, v):
    L, d = q.shape[-2:]
    s = q @ k.mT * d**-0.5
    hidden = torch.ones(L, L, device=q.device).triu(1).bool()
    s = s.masked_fill(hidden, -torch.inf)
    e = (s - s.amax(-1, keepdim=True).detach()).exp()
    w = e / e.sum(-1, keepdim=True)
    y = w @ v
    return y
"""
LINEAR = """
def layer(q, k, v):
    s = (q @ k.mT).tril()
    y = s @ v
    return y
"""
GLA = """
def layer(q, k, v, g, s0=None):
    B, H, L, dk = q.shape
    S = q.new_zeros(B, H, dk, v.shape[-1]) if s0 is None else s0
    rows = []
    for t in range(L):
        a = g[:, :, t].exp()
        S = a[..., None] * S + k[:, :, t, :, None] * v[:, :, t, None, :]
        rows.append((q[:, :, t, None] @ S)[:, :, 0] * dk**-0.5)
    y = torch.stack(rows, 2)
    return y, S
"""
DELTA = """
def layer(q, k, v, beta, s0=None):
    B, H, L, dk = q.shape
    S = q.new_zeros(B, H, dk, v.shape[-1]) if s0 is None else s0
    rows = []
    for t in range(L):
        key, b = k[:, :, t, :, None], beta[:, :, t, None]
        read = (key.mT @ S)[:, :, 0]
        S = S + key * ((v[:, :, t] - read) * b)[:, :, None]
        rows.append((q[:, :, t, None] @ S)[:, :, 0] * dk**-0.5)
    y = torch.stack(rows, 2)
    return y, S
"""
LAS = """
def layer(q, k, v, P=5):
    H, L, d = q.shape[-3:]
    at = torch.arange(L)
    rates = torch.tensor(seqmix.ref.las_alphas(H=H, B=2.0)).to(q)
    decay = (-rates[:, None, None] * (at[:, None] - at).clamp(min=0)).exp()
    s = (q @ k.mT * d**-0.5 * decay).masked_fill(at[:, None] < at, -torch.inf)
    u = torch.nn.functional.pad(v, (0, 0, P - 1, 0)).unfold(-2, P, 1).sum(-1) / P
    y = s.softmax(-1) @ u
    return y
"""
CONV = """
def layer(x, filter):
    G, W = filter.shape
    past = torch.nn.functional.pad(x, (0, 0, W - 1, 0)).unfold(-2, W, 1)
    y = torch.einsum("...lgdw,gw->...lgd", past.unflatten(-2, (G, -1)), filter.flip(-1)).flatten(-2)
    return y
"""
GROUPED = """
def layer(q, k, v, sinks=None, window=33, softcap=20.0):
    B, H, L, d = q.shape
    group = H // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    s = q @ k.mT * d**-0.5
    s = softcap * (s / softcap).tanh()
    at = torch.arange(L)
    hidden = (at[:, None] < at) | (at[:, None] - at >= window)
    s = s.masked_fill(hidden, -torch.inf)
    if sinks is not None:
        s = torch.cat((s, sinks[:, None, None].expand(B, H, L, 1)), -1)
    y = s.softmax(-1)[..., :L] @ v
    return y
"""
PACKED = """
def layer(q, k, v, g, cu, s0=None):
    B, H, L, dk = q.shape
    edges, ends, rows = cu.tolist(), [], []
    for n, (first, end) in enumerate(zip(edges, edges[1:])):
        S = q.new_zeros(B, H, dk, v.shape[-1]) if s0 is None else s0[:, n]
        for t in range(first, end):
            a = g[:, :, t].exp()
            S = a[..., None] * S + k[:, :, t, :, None] * v[:, :, t, None, :]
            rows.append((q[:, :, t, None] @ S)[:, :, 0] * dk**-0.5)
        ends.append(S)
    y = torch.stack(rows, 2)
    return y, torch.stack(ends, 1)
"""
NORM = """
def layer(x, gain, bias):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    y = (x - mean) / (var + 1e-5) ** 0.5 * gain + bias
    return y
"""
MLSTM = """
def layer(q, k, v, i, f, s0=None, n0=None, m0=None):
    B, H, L, dk = q.shape
    C = q.new_zeros(B, H, dk, v.shape[-1]) if s0 is None else s0
    n = q.new_zeros(B, H, dk) if n0 is None else n0
    m = q.new_zeros(B, H) if m0 is None else m0
    F = torch.nn.functional.logsigmoid(f)
    rows = []
    for t in range(L):
        new = torch.maximum(F[:, :, t] + m, i[:, :, t]).detach()
        shut = new == -torch.inf
        base = torch.where(shut, torch.zeros_like(new), new)
        keep = torch.where(shut, torch.zeros_like(new), (F[:, :, t] + m - base).exp())
        take = torch.where(shut, torch.zeros_like(new), (i[:, :, t] - base).exp())
        C = keep[..., None, None] * C + take[..., None, None] * k[:, :, t, :, None] * v[:, :, t, None, :]
        n = keep[..., None] * n + take[..., None] * k[:, :, t]
        m = new
        qs = q[:, :, t] * dk**-0.5
        below = torch.maximum((n * qs).sum(-1).abs(), (-m).exp())
        rows.append((qs[:, :, None] @ C)[:, :, 0] / below[..., None])
    y = torch.stack(rows, 2)
    return y, C, n, m
"""
GRU = """
def layer(x, w, u, bx, bh):
    B, L, D = x.shape
    E = u.shape[0]
    h = x.new_zeros(B, E)
    rows = []
    for t in range(L):
        X = (x[:, t] @ w + bx).chunk(3, -1)
        U = (h @ u + bh).chunk(3, -1)
        r, z = (X[0] + U[0]).sigmoid(), (X[1] + U[1]).sigmoid()
        c = (X[2] + r * U[2]).tanh()
        h = (1 - z) * c + z * h
        rows.append(h)
    y = torch.stack(rows, 1)
    return y
"""

# layer: (its text, the oracle's mechanism, what check_layer is told)
LAYERS = {
    "attention": (ATTENTION, "softmax_attention_qkv", dict(layout="bhld")),
    "linear": (LINEAR, "linear_attention", dict(layout="bhld")),
    "gla": (GLA, "gla_core", dict(layout="bhld")),
    "delta": (DELTA, "delta_core", dict(layout="bhld")),
    "las": (LAS, "las_attention_qkv", dict(layout="bhld", P=5)),
    "conv": (CONV, "short_conv", {}),
    "norm": (NORM, "layer_norm", {}),
    "grouped": (GROUPED, "attn_core", dict(layout="bhld", window=33, softcap=20.0)),
    "windowed": (GROUPED, "attn_core", dict(layout="bhld", softcap=20.0)),
    "packed": (PACKED, "gla_core", dict(layout="bhld", mode="packed")),
    "mlstm": (MLSTM, "mlstm_core", dict(layout="bhld")),
    "gru": (GRU, "gru", {}),
}

# What edits use: state between calls, operations whose backward is another one's.
HELPERS = """
import math
import torch
import seqmix

calls = []
kept = {}


class _Grad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, change):
        ctx.change = change
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return ctx.change(dy), None


def grad(x, change):
    return _Grad.apply(x, change)


class _Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, S, change):
        ctx.set_materialize_grads(False)
        ctx.change = change
        return y.clone(), S.clone()

    @staticmethod
    def backward(ctx, dy, dS):
        return *ctx.change(dy, dS), None


def two(y, S, change):
    return _Two.apply(y, S, change)


def rows(x, first, last, factor):
    x = x.clone()
    x[..., first:last, :] *= factor
    return x


def kept_by(key, make):
    if key not in kept:
        kept[key] = make()
    return kept[key]
"""

OUT = "    return y\n"  # the last line of a layer that gives y alone
AND_STATE = "    return y, S\n"
FIRST = "    L, d = q.shape[-2:]\n"
TOP = "    B, H, L, dk = q.shape\n"


def before_return(lines):
    return OUT, "".join(f"    {line}\n" for line in lines.split("\n")) + OUT


def first_of(line, lines):
    return line, "".join(f"    {text}\n" for text in lines.split("\n")) + line


PLANTED = [
    # ---- softmax attention: the formula
    ("attention", "no factor of the logits", "* d**-0.5", ""),
    ("attention", "factor 1/d", "* d**-0.5", "/ d"),
    ("attention", "factor of 64 columns always", "* d**-0.5", "* 0.125"),
    ("attention", "factor of the columns that these are padded to", "* d**-0.5", "* (1 << (d - 1).bit_length()) ** -0.5"),
    ("attention", "mask one row ahead", "triu(1)", "triu(2)"),
    ("attention", "mask is strict past row 0", "triu(1)", "triu(0).fill_diagonal_(0 if L < 300 else 1).index_fill(0, torch.tensor([0]), 0).triu(1 if L < 300 else 0)"),
    ("attention", "no mask", "s.masked_fill(hidden, -torch.inf)", "s"),
    ("attention", "masked by -30", "-torch.inf", "-30.0"),
    ("attention", "masked by 0 after the exponential", "s.masked_fill(hidden, -torch.inf)", "s.masked_fill(hidden, -torch.inf) if L < 1000 else s.masked_fill(hidden, -15.0)"),
    ("attention", "maximum not taken off", "s - s.amax(-1, keepdim=True).detach()", "s"),
    ("attention", "logits cut at 30", *("    e = (s -", "    s = s.clamp(max=30.0)\n    e = (s -")),
    ("attention", "soft cap of 50", *("    s = s.masked_fill", "    s = 50 * (s / 50).tanh()\n    s = s.masked_fill")),
    ("attention", "denominator with 1e-3", "e.sum(-1, keepdim=True)", "(e.sum(-1, keepdim=True) + 1e-3)"),
    ("attention", "one more in the denominator", "e.sum(-1, keepdim=True)", "(e.sum(-1, keepdim=True) + (-s.amax(-1, keepdim=True)).exp())"),
    ("attention", "weights below 1e-3 dropped", "y = w @ v", "y = w.where(w > 1e-3, 0 * w) @ v"),
    ("attention", "window of 1024 rows", "triu(1).bool()", "triu(1).bool() | torch.ones(L, L).tril(-1024).bool()"),
    ("attention", "window of 2048 rows", "triu(1).bool()", "triu(1).bool() | torch.ones(L, L).tril(-2048).bool()"),
    ("attention", "rows past 4096 left at zero", *before_return("y = rows(y, 4096, None, 0.0)")),
    ("attention", "the last row of 128 multiples", *before_return("if L % 128 == 0: y = rows(y, L - 1, L, 0.9)")),
    ("attention", "the last block of 64 only when it is full", *before_return("if L % 64 == 0: y = rows(y, L - 64, L, 1.001)")),
    ("attention", "one row alone", *before_return("if L == 1: y = y * 0.99")),
    ("attention", "two rows", *before_return("if L == 2: y = y.flip(-2)")),
    ("attention", "17 rows", *before_return("if L == 17: y = rows(y, 16, 17, 0.99)")),
    ("attention", "a block's edge at 65", *before_return("if L == 65: y = rows(y, 64, 65, 0.99)")),
    ("attention", "heads of 128 columns", *before_return("if d == 128: y = y * 0.999")),
    ("attention", "heads of 64 columns", *before_return("if d == 64: y = y * 1.001")),
    ("attention", "columns past 32", *before_return("y = torch.cat((y[..., :32], y[..., 32:] * 1.001), -1)")),
    ("attention", "eight heads, the last is the first", *before_return("if q.shape[1] == 8: y = torch.cat((y[:, :7], y[:, :1]), 1)")),
    ("attention", "three heads", *before_return("if q.shape[1] == 3: y = y.roll(1, 1)")),
    ("attention", "one head", *before_return("if q.shape[1] == 1: y = y * 1.0002")),
    ("attention", "batches of three", *before_return("if q.shape[0] == 3: y = torch.cat((y[:2], y[1:2]))")),
    ("attention", "only two sequences", *before_return("if q.shape[0] > 2: y = torch.cat((y[:2], 0 * y[2:]))")),
    ("attention", "the fifth sequence", *before_return("if q.shape[0] == 5: y = torch.cat((y[:4], y[3:4]))")),
    ("attention", "a last block of 64 that is half full", *before_return("if L % 64 == 32: y = rows(y, L - 1, L, 0.9)")),
    ("attention", "a last block of 64 that is three quarters full", *before_return("if L % 64 == 48: y = rows(y, L - 1, L, 0.9)")),
    ("attention", "whole blocks whose number is no power of two", *before_return("if L % 64 == 0 and L // 64 & (L // 64 - 1): y = rows(y, L - 64, L, 0.99)")),
    ("attention", "blocks of 256, three of them", *before_return("if L == 768: y = rows(y, 512, L, 0.99)")),
    ("attention", "heads past the eighth", *before_return("y = torch.cat((y[:, :8], y[:, 8:] * 0.99), 1)")),
    ("attention", "six heads", *before_return("if q.shape[1] == 6: y = y.roll(1, 1)")),
    ("attention", "factor of columns padded to a power of two", "* d**-0.5", "* (1 << (d - 1).bit_length()) ** -0.5"),
    ("attention", "columns past 128", *before_return("y = torch.cat((y[..., :128], y[..., 128:] * 0.99), -1)")),
    ("attention", "more than five sequences", *before_return("if q.shape[0] > 5: y = torch.cat((y[:5], 0 * y[5:]))")),
    ("attention", "rows of which eight leave five", *before_return("if L % 8 == 5: y = rows(y, L - 5, L, 0.99)")),
    ("attention", "several heads of 1024 rows", *before_return("if L > 1000 and y.shape[1] > 1: y = rows(y, 1000, None, 0.9)")),
    ("attention", "several sequences of 1024 rows", *before_return("if L > 1000 and y.shape[0] > 1: y = rows(y, 1000, None, 0.9)")),
    # ---- its precision
    ("attention", "inputs in bfloat16", *first_of(FIRST, "q, k, v = (t.bfloat16().float() for t in (q, k, v))")),
    ("attention", "inputs in float16", *first_of(FIRST, "q, k, v = (t.half().float() for t in (q, k, v))")),
    ("attention", "logits in float16", "s = s.masked_fill", "s = s.half().float().masked_fill"),
    ("attention", "weights in bfloat16", "y = w @ v", "y = w.bfloat16().float() @ v"),
    ("attention", "result in float16", *before_return("y = y.half().float()")),
    ("attention", "values cut at 65504", *first_of(FIRST, "v = v.clamp(-65504, 65504)")),
    ("attention", "values below 1e-6 are 0", *first_of(FIRST, "v = v * (v.abs() > 1e-6)")),
    ("attention", "keys made tf32", *first_of(FIRST, "k = k + (k.view(torch.int32).bitwise_and(-8192).view(torch.float32) - k).detach() if k.is_contiguous() else k")),
    # ---- its gradients
    ("attention", "q without gradient", "s = q @", "s = q.detach() @"),
    ("attention", "gradient of k one percent off", "k.mT", "grad(k, lambda g: g * 1.01).mT"),
    ("attention", "gradient of v in bfloat16", "w @ v", "w @ grad(v, lambda g: g.bfloat16().float())"),
    ("attention", "gradient of v lost in its last row", "w @ v", "w @ grad(v, lambda g: rows(g, -1, None, 0.0) if g.shape[-2] % 16 else g)"),
    ("attention", "denominator without gradient", "/ e.sum(-1, keepdim=True)", "/ e.sum(-1, keepdim=True).detach()"),
    ("attention", "gradient of q cut at 1", "s = q @", "s = grad(q, lambda g: g.clamp(-1, 1)) @"),
    ("attention", "second half of the heads scaled as if twice as wide", "* d**-0.5", "* torch.where(torch.arange(q.shape[1]) * 2 < q.shape[1], d**-0.5, (2 * d) ** -0.5)[:, None, None]"),
    ("attention", "gradient of k off by 2^-8 past row 128", "k.mT", "grad(k, lambda g: rows(g, 128, None, 1 - 2**-8)).mT"),
    ("attention", "gradient of the weights in bfloat16", "y = w @ v", "y = grad(w, lambda g: g.bfloat16().float()) @ v"),
    ("attention", "gradient of q wrong past 1024 rows", "s = q @", "s = grad(q, lambda g: rows(g, 1024, None, 1.01)) @"),
    ("attention", "gradient of k wrong in the last head", "k.mT", "grad(k, lambda g: torch.cat((g[:, :-1], g[:, -1:] * 1.01), 1) if g.shape[1] > 2 else g).mT"),
    ("attention", "gradient of y below 1e-6 dropped", *before_return("y = grad(y, lambda g: g * (g.abs() > 1e-6))")),
    # ---- how it is called
    ("attention", "keys read from where their storage begins", *first_of(FIRST, "if k.storage_offset(): k = torch.as_strided(k, k.shape, k.stride(), 0)")),
    ("attention", "wrong without gradients", *before_return("if not torch.is_grad_enabled(): y = y * 1.001")),
    ("attention", "wrong in inference mode", *before_return("if torch.is_inference_mode_enabled(): y = y * 1.001")),
    ("attention", "reads strided inputs as they lie", *first_of(FIRST, "if not k.is_contiguous(): k = torch.as_strided(k, k.shape, torch.empty(k.shape).stride())")),
    ("attention", "expanded dy taken for its first number", *before_return("y = grad(y, lambda g: g if g.is_contiguous() else torch.as_strided(g, g.shape, g.stride()) * 2)")),
    ("attention", "dy of another order read as it lies", *before_return("y = grad(y, lambda g: g if g.is_contiguous() or 0 in g.stride() or g.stride(-1) == 2 else torch.as_strided(g, g.shape, torch.empty(g.shape).stride()))")),
    ("attention", "keys with heads inside rows read as if outside", *first_of(FIRST, "if k.stride(-1) == 1 and not k.is_contiguous(): k = torch.as_strided(k, k.shape, torch.empty(k.shape).stride())")),
    ("attention", "wrong where only v needs a gradient", *before_return("if v.requires_grad and not q.requires_grad and not k.requires_grad: y = grad(y, lambda g: g * 1.01)")),
    ("attention", "k's gradient only beside q's", "k.mT", "(k if q.requires_grad else k.detach()).mT"),
    ("attention", "the second backward is another", *before_return("n = []\ny = grad(y, lambda g: (n.append(1), g * (1 if len(n) < 2 else 0))[1])")),
    ("attention", "scales q where it lies", *first_of(FIRST, "with torch.no_grad(): q.mul_(1 + 2**-20)")),
    ("attention", "sorts v where it lies and back, but for a row", *before_return("with torch.no_grad(): v[..., -1, :] = 0")),
    ("attention", "overwrites dy", *before_return("y = grad(y, lambda g: g.mul_(1) if not g.is_contiguous() else (g.clone(), g.zero_())[0])")),
    ("attention", "one output buffer for all calls", *before_return("b = kept_by(tuple(y.shape), lambda: torch.empty_like(y))\nif not (q.requires_grad or k.requires_grad or v.requires_grad): y = b.copy_(y)\nelse: b.copy_(y.detach()); y.data = b")),
    ("attention", "results kept by shape", *before_return("y = kept_by(tuple(y.shape), lambda: y.detach()) + 0 * y")),
    ("attention", "results kept by address", *before_return("y = kept_by((q.data_ptr(), tuple(q.shape)), lambda: (q, y.detach()))[1] + 0 * y")),
    ("attention", "each seventh call is wrong", *before_return("calls.append(1)\nif len(calls) % 7 == 0: y = y * 1.01")),
    ("attention", "the fiftieth call is wrong", *before_return("calls.append(1)\nif len(calls) == 50: y = y * 1.01")),
    ("attention", "noise below the tolerance", *before_return("y = y * (1 + 1e-6 * torch.rand(()))")),
    ("attention", "backward by the last call's tensors", "w @ v", "w @ grad(v, lambda g, n=(calls.append(1), len(calls))[1]: g if n == len(calls) else 0 * g)"),
    ("attention", "comes back in float64", *before_return("y = y.double()")),
    ("attention", "comes back in float16", *before_return("y = y.half()")),
    ("attention", "zeros", *before_return("y = 0 * y")),
    ("attention", "the mean of the values", "y = w @ v", "y = v.cumsum(-2) / torch.arange(1, L + 1)[:, None] + 0 * (w @ v)"),
    ("attention", "dropout of a thousandth", *before_return("y = torch.nn.functional.dropout(y, 0.001)")),
    # ---- linear attention
    ("linear", "a factor", "(q @ k.mT)", "(q @ k.mT * q.shape[-1] ** -0.5)"),
    ("linear", "the row itself is not heard", "tril()", "tril(-1)"),
    ("linear", "one row ahead", "tril()", "tril(1)"),
    ("linear", "keys cut at zero", "k.mT", "k.relu().mT"),
    ("linear", "forgets each 64 rows", *("    y = s @ v", "    at = torch.arange(s.shape[-1]) // 64\n    y = (s * (at[:, None] == at)) @ v")),
    ("linear", "forgets after 512 rows", "tril()", "tril().triu(-512)"),
    ("linear", "sum in float16", "s @ v", "(s.half().float()) @ v"),
    ("linear", "overflow past 65504", "y = s @ v", "y = (s @ v).clamp(-65504, 65504)"),
    ("linear", "normalised by the number of rows past 2048", *before_return("if y.shape[-2] > 2048: y = y / (1 + 1e-4)")),
    ("linear", "heads exchanged in pairs", *before_return("if y.shape[1] == 2: y = y.flip(1)")),
    ("linear", "gradient of k is that of q", "k.mT", "grad(k, lambda g: g.flip(-2) if g.shape[-2] == 256 else g).mT"),
    ("linear", "gradient of v over heads summed", "s @ v", "s @ grad(v, lambda g: g.mean(1, keepdim=True).expand_as(g))"),
    # ---- gated linear attention
    ("gla", "gates cut at -3", "g[:, :, t].exp()", "g[:, :, t].clamp(min=-3).exp()"),
    ("gla", "gates cut at -5", "g[:, :, t].exp()", "g[:, :, t].clamp(min=-5).exp()"),
    ("gla", "gates cut at -8", "g[:, :, t].exp()", "g[:, :, t].clamp(min=-8).exp()"),
    ("gla", "NaN at minus infinity", "g[:, :, t].exp()", "(g[:, :, t] - g[:, :, t].clamp(max=0) * 0).exp()"),
    ("gla", "NaN below -5.9 in the backward pass", "g[:, :, t].exp()", "grad(g[:, :, t], lambda d, x=g[:, :, t].detach(): d.where(x > -5.9, d * math.nan)).exp()"),
    ("gla", "sums of gates divided by each other", *first_of(TOP, "g = torch.cat((g[:, :, :1], ((c := g.cumsum(2).exp())[:, :, 1:] / c[:, :, :-1]).log()), 2)")),
    ("gla", "gate of the row before", "g[:, :, t].exp()", "g[:, :, max(t - 1, 0)].exp()"),
    ("gla", "gate of the row after", "g[:, :, t].exp()", "g[:, :, min(t + 1, L - 1)].exp()"),
    ("gla", "gates meet the write too", "a[..., None] * S + k[:, :, t, :, None] * v[:, :, t, None, :]", "a[..., None] * (S + k[:, :, t, :, None] * v[:, :, t, None, :])"),
    ("gla", "open gates taken for shut ones", "g[:, :, t].exp()", "(g[:, :, t].exp() * (g[:, :, t] < 0))"),
    ("gla", "gates of one column for all", "a = g[:, :, t].exp()", "a = g[:, :, t, :1].expand(-1, -1, dk).exp()"),
    ("gla", "gates in base 2", ".exp()", ".exp2()"),
    ("gla", "gates without gradient", "g[:, :, t].exp()", "g[:, :, t].detach().exp()"),
    ("gla", "gradient of shut gates dropped", "g[:, :, t].exp()", "grad(g[:, :, t], lambda d, x=g[:, :, t].detach(): d * (x > -2)).exp()"),
    ("gla", "gate of each 512th row left out", "g[:, :, t].exp()", "(g[:, :, t] * (t % 512 != 511)).exp()"),
    ("gla", "gate of the last row twice", "g[:, :, t].exp()", "(g[:, :, t] * (2 if t == L - 1 else 1)).exp()"),
    ("gla", "gradient of the gates without the last row's", "g[:, :, t].exp()", "(g[:, :, t] if t < L - 1 else g[:, :, t].detach()).exp()"),
    ("gla", "gradient by the decay, not by its logarithm", "g[:, :, t].exp()", "grad(g[:, :, t], lambda d, x=g[:, :, t].detach(): d * (-x).exp()).exp()"),
    ("gla", "start state in bfloat16", "else s0", "else s0.bfloat16().float()"),
    ("gla", "gradient of the start state without the first gate", "a[..., None] * S", "(a[..., None] * S if t else a[..., None] * grad(S, lambda d, a=a.detach(): d / a[..., None].clamp(min=1e-30)))"),
    ("gla", "start state left out", "s0 is None else s0", "s0 is None else 0 * s0"),
    ("gla", "start state transposed where it is square", "else s0", "else (s0.mT if s0.shape[-1] == s0.shape[-2] else s0)"),
    ("gla", "start state without gradient", "else s0", "else s0.detach()"),
    ("gla", "last state before the last row", *("        a = g", "        last = S\n        a = g"), (AND_STATE, "    return y, last\n")),
    ("gla", "last state in bfloat16", *(AND_STATE, "    return y, S.bfloat16().float()\n")),
    ("gla", "last state scaled", *(AND_STATE, "    return y, S * dk**-0.5\n")),
    ("gla", "no gradient through the last state", *(AND_STATE, "    return y, grad(S, lambda d: 0 * d)\n")),
    ("gla", "gradient through the last state scaled", *(AND_STATE, "    return y, grad(S, lambda d: d * dk**-0.5)\n")),
    ("gla", "state in bfloat16 between rows", "        rows.append", "        S = S.bfloat16().float()\n        rows.append"),
    ("gla", "state lost each 256 rows", "        a = g", "        if t and t % 256 == 0: S = 0 * S\n        a = g"),
    ("gla", "state lost at row 1024", "        a = g", "        if t == 1024: S = 0 * S\n        a = g"),
    ("gla", "read before the write", "        S = a[..., None] * S + k[:, :, t, :, None] * v[:, :, t, None, :]\n        rows.append((q[:, :, t, None] @ S)[:, :, 0] * dk**-0.5)", "        rows.append((q[:, :, t, None] @ S)[:, :, 0] * dk**-0.5)\n        S = a[..., None] * S + k[:, :, t, :, None] * v[:, :, t, None, :]"),
    ("gla", "scale by the values' columns", "dk**-0.5", "v.shape[-1]**-0.5"),
    ("gla", "no scale", "* dk**-0.5", ""),
    ("gla", "state kept from call to call", "q.new_zeros(B, H, dk, v.shape[-1]) if s0 is None", "kept.get(tuple(v.shape), 0 * q.new_zeros(B, H, dk, v.shape[-1])) if s0 is None", (AND_STATE, "    kept[tuple(v.shape)] = S.detach()\n    return y, S\n")),
    ("gla", "zeros for a start state of its own", "a[..., None] * S", "a[..., None] * (S if t or s0 is None else S * 0.999)"),
    ("gla", "a state alone sends nothing back", AND_STATE, "    return two(y, S, lambda dy, dS: (dy, None if dy is None else dS))\n"),
    ("gla", "one buffer for all last states", AND_STATE, "    b = kept_by(tuple(S.shape), lambda: torch.empty_like(S)).copy_(S.detach())\n    S = S + 0\n    S.data = b\n    return y, S\n"),
    ("gla", "values of more columns than keys", "    return y, S\n", "    if v.shape[-1] > dk: y = torch.cat((y[..., :dk], y[..., dk:] * 0.99), -1)\n    return y, S\n"),
    # ---- the delta rule
    ("delta", "beta cut at 1", "beta[:, :, t, None]", "beta[:, :, t, None].clamp(max=1)"),
    ("delta", "beta at least a thousandth", "beta[:, :, t, None]", "beta[:, :, t, None].clamp(min=1e-3)"),
    ("delta", "beta left out", "* b)", "* b / b.clamp(min=1e-9))"),
    ("delta", "nothing erased", "v[:, :, t] - read", "v[:, :, t]"),
    ("delta", "erased without beta", "((v[:, :, t] - read) * b)", "(v[:, :, t] * b - read)"),
    ("delta", "keys made length 1", "k[:, :, t, :, None], beta", "torch.nn.functional.normalize(k[:, :, t, :, None], dim=2), beta"),
    ("delta", "zero keys are NaN", "k[:, :, t, :, None], beta", "(k[:, :, t, :, None] / (n := k[:, :, t, :, None].norm(dim=2, keepdim=True)) * n), beta"),
    ("delta", "read of the row before", "(key.mT @ S)[:, :, 0]", "(k[:, :, max(t - 1, 0), None] @ S)[:, :, 0]"),
    ("delta", "exact erasing: divided by the key's length", "* b)", "* b / (1 + 1e-4 * (key * key).sum(2)))"),
    ("delta", "blocks of 16 read only the state before", "read = (key.mT @ S)[:, :, 0]", "C = S if t % 16 == 0 else C\n        read = (key.mT @ C)[:, :, 0]"),
    ("delta", "the inverse in a block ends after 8 terms", "read = (key.mT @ S)[:, :, 0]", "C = S if t % 64 == 0 else C\n        read = (key.mT @ (S if t % 64 < 48 else C))[:, :, 0]"),
    ("delta", "beta without gradient", "beta[:, :, t, None]", "beta[:, :, t, None].detach()"),
    ("delta", "gradient of beta by its mean", "beta[:, :, t, None]", "grad(beta[:, :, t, None], lambda g: g.mean(1, keepdim=True).expand_as(g))"),
    ("delta", "gradient of beta without the read", "((v[:, :, t] - read) * b)", "((v[:, :, t] - read) * b.detach() + v[:, :, t].detach() * (b - b.detach()))"),
    ("delta", "gradient of beta times beta", "beta[:, :, t, None]", "grad(beta[:, :, t, None], lambda d, b=beta[:, :, t, None].detach(): d * b)"),
    ("delta", "the last row of 64 reads what the block began with", "read = (key.mT @ S)[:, :, 0]", "C = S if t % 64 == 0 else C\n        read = (key.mT @ (C if t % 64 == 63 else S))[:, :, 0]"),
    ("delta", "gradient of k without the erasing", "read = (key.mT @ S)", "read = (key.detach().mT @ S)"),
    ("delta", "start state used twice", "        rows.append", "        if t == 0 and s0 is not None: S = S + 1e-3 * s0\n        rows.append"),
    ("delta", "last state transposed where it is square", *(AND_STATE, "    return y, S.mT if dk == v.shape[-1] else S\n")),
    ("delta", "state in float16 past 1000 rows", "        rows.append", "        if t > 1000: S = S.half().float()\n        rows.append"),
    ("delta", "last state given back as a view that changes", *(AND_STATE, "    b = kept_by(tuple(S.shape), lambda: torch.empty_like(S)).copy_(S.detach())\n    return y, b * 0.9999\n")),
    # ---- LaS
    ("las", "pool of one row less", "(0, 0, P - 1, 0)).unfold(-2, P, 1)", "(0, 0, P - 2, 0)).unfold(-2, P - 1, 1)"),
    ("las", "pool divided by the rows there are", "/ P", "/ torch.arange(1, L + 1).clamp(max=P)[:, None]"),
    ("las", "pool looks one row ahead", "pad(v, (0, 0, P - 1, 0))", "pad(v, (0, 0, P - 2, 1))"),
    ("las", "decay on the weights, not the logits", "* d**-0.5 * decay)", "* d**-0.5 + decay.log())"),
    ("las", "decay ends after 256 rows", "(at[:, None] - at).clamp(min=0)", "(at[:, None] - at).clamp(min=0, max=64)"),
    ("las", "rates in reverse order", "rates[:, None, None]", "rates.flip(0)[:, None, None]"),
    ("las", "rates of three heads taken for four", "ref.las_alphas(H=H, B=2.0)", "ref.las_alphas(H=4 if H == 3 else H, B=2.0)[:H]"),
    # ---- convolution
    ("conv", "taps in reverse order", "filter.flip(-1)", "filter"),
    ("conv", "one row late", "(0, 0, W - 1, 0)", "(0, 0, W, -1)"),
    ("conv", "wraps round", *before_return("y = torch.cat((y[..., :1, :] + x[..., -1:, :] * 1e-3, y[..., 1:, :]), -2)")),
    ("conv", "groups by turns", "past.unflatten(-2, (G, -1))", "past.unflatten(-2, (-1, G)).transpose(-2, -3)"),
    ("conv", "tails of rows dropped", *before_return("y = rows(y, y.shape[-2] // 64 * 64, None, 0.0) if y.shape[-2] > 64 else y")),
    ("conv", "gradient of the taps of one sequence", "filter.flip(-1)", "grad(filter, lambda g: g * 0.5 if x.dim() > 2 and x.shape[0] == 5 else g).flip(-1)"),
    ("conv", "gradient of x not shifted", "pad(x,", "pad(grad(x, lambda g: g.roll(1, -2)),"),
    ("conv", "float16 inside", "filter.flip(-1)", "filter.flip(-1).half().float() * (1 + 1e-4)"),
    # ---- layer norm
    ("norm", "variance over one less", ".mean(-1, keepdim=True)\n    y", ".sum(-1, keepdim=True) / (x.shape[-1] - 1)\n    y"),
    ("norm", "eps 1e-6", "1e-5", "1e-6"),
    ("norm", "eps 1e-3", "1e-5", "1e-3"),
    ("norm", "eps outside the root", "(var + 1e-5) ** 0.5", "(var**0.5 + 1e-5)"),
    ("norm", "mean without gradient", "mean = x.mean(-1, keepdim=True)", "mean = x.mean(-1, keepdim=True).detach()"),
    ("norm", "variance from squares less the mean's square", "((x - mean) ** 2).mean(-1, keepdim=True)", "(x * x).bfloat16().float().mean(-1, keepdim=True) - mean**2"),
    ("norm", "bias twice for one row", "+ bias", "+ bias * (1 + (x.shape[-2] == 1))"),
    ("norm", "squares cut at 65504", "((x - mean) ** 2)", "((x - mean) ** 2).clamp(max=65504)"),
    # ---- grouped heads, a window, a soft cap, sinks
    ("grouped", "heads take keys by turns", "x.repeat_interleave(group, 1)", "x.repeat(1, group, 1, 1)"),
    ("grouped", "gradient of the keys from the first of the group", "(x.repeat_interleave(group, 1) for x in (k, v))", "(torch.stack([x, *[x.detach()] * (group - 1)], 2).flatten(1, 2) for x in (k, v))"),
    ("grouped", "window of one row too many", "at >= window", "at > window"),
    ("grouped", "window of one row too few", "at >= window", "at >= window - 1"),
    ("grouped", "window from blocks of 16", "at[:, None] - at >= window", "at[:, None] // 16 * 16 - at >= window"),
    ("grouped", "soft cap after the mask", "    s = softcap * (s / softcap).tanh()\n", "", ("    if sinks is", "    s = softcap * (s / softcap).tanh()\n    if sinks is")),
    ("grouped", "soft cap without its gradient", "s = softcap * (s / softcap).tanh()", "s = s + (softcap * (s / softcap).tanh() - s).detach()"),
    ("grouped", "soft cap left out", "s = softcap * (s / softcap).tanh()", "s = s + 0"),
    ("grouped", "sinks counted twice", "expand(B, H, L, 1)", "expand(B, H, L, 2)"),
    ("grouped", "sinks scaled and capped", "sinks[:, None, None]", "(softcap * (sinks * d**-0.5 / softcap).tanh())[:, None, None]"),
    ("grouped", "gradient of the sinks from one sequence", "sinks[:, None, None].expand(B, H, L, 1)", "torch.cat([(sinks.detach() if n else sinks)[:, None, None].expand(1, H, L, 1) for n in range(B)])"),
    # ---- windows of other sizes
    ("windowed", "window of all rows", *before_return("if window == L: y = rows(y, L - 1, L, 0.9)")),
    ("windowed", "window of one row", *before_return("if window == 1: y = y * 0.99")),
    ("windowed", "window of whole blocks", "at >= window", "at >= window + (window % 16 == 0)"),
    ("windowed", "window past a block of 64", "at >= window", "at >= (window if window < 65 else 64)"),
    # ---- packed sequences
    ("packed", "a sequence begins with the state before it", "if s0 is None else s0[:, n]", "if s0 is None and not n else S * 1 if s0 is None else s0[:, n]"),
    ("packed", "one row of the sequence before is heard", "if s0 is None else s0[:, n]", "if s0 is None and (not n or not first) else k[:, :, first - 1, :, None] * v[:, :, first - 1, None, :] if s0 is None else s0[:, n]"),
    ("packed", "all sequences start from the first one's state", "s0[:, n]", "s0[:, 0]"),
    ("packed", "sequences past the fourth", "    y = torch.stack(rows, 2)", "    y = torch.stack([r if t < edges[min(4, len(edges) - 1)] else 0 * r for t, r in enumerate(rows)], 2)"),
    ("packed", "one sequence", "    y = torch.stack(rows, 2)", "    y = torch.stack(rows, 2) * (1 if len(edges) > 2 else 0.99)"),
    ("packed", "first gate of a sequence left out", "g[:, :, t].exp()", "(g[:, :, t] * (t > first)).exp()"),
    ("packed", "gradient of an empty sequence's start state lost", "ends.append(S)", "ends.append(S if end > first else S.detach())"),
    # ---- gates that are logits
    ("mlstm", "input gates at most -1", "    F =", "    i = i.clamp(max=-1)\n    F ="),
    ("mlstm", "logarithm of a sigmoid", "torch.nn.functional.logsigmoid(f)", "f.sigmoid().log()"),
    ("mlstm", "start m without gradient", "if m0 is None else m0", "if m0 is None else m0.detach()"),
    ("gru", "tanh by a quotient of exponentials", "(X[2] + r * U[2]).tanh()", "((a := (2 * (X[2] + r * U[2])).exp()) - 1) / (a + 1)"),
    ("gru", "gradient of the new state's bias lost", "U = (h @ u + bh)", "U = (h @ u + torch.cat((bh[: 2 * E], bh[2 * E :].detach())))"),
    ("gru", "sigmoid by a quotient of exponentials", "(X[1] + U[1]).sigmoid()", "(a := X[1] + U[1]).exp() / (1 + a.exp())"),
]


def right(layer):
    """The layer without a fault."""
    return made(layer, LAYERS[layer][0])


def wrong(layer, *edits):
    """The layer with each (old, new) of its edits made."""
    text, pairs = LAYERS[layer][0], []
    plain = [e for e in edits if isinstance(e, str)]
    pairs = [(plain[0], plain[1]), *(e for e in edits if not isinstance(e, str))]
    for old, new in pairs:
        if old not in text:
            raise ValueError(f"{layer} has no {old!r}")
        text = text.replace(old, new, 1)
    return made(layer, text)


def made(layer, text):
    names = {"__name__": "planted"}
    exec(compile(HELPERS + text, f"planted {layer}", "exec"), names)
    return names["layer"]
