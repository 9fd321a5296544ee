# operations.py: what the lines of an exported text call, row by row; sequences.py and scan.py go on.


def linear(x, w, b=None):
    return x @ w if b is None else x @ w + b


def add(a, b):
    return a + b


def mul(a, b):
    return a * b


def scale(x, by):
    return x * by


def divide(a, b):
    return a / b


def offset(x, by):
    return x + by


def power(x, to):
    return x**to


def value(w):
    return w


def max(a, b):
    return torch.maximum(a, b)


def bias(x, b):
    return x + b


def gain(x, gain):
    return x * gain


def gain_heads(x, gain, heads):
    return x * gain.repeat_interleave(x.shape[-1] // heads)


def affine(x, gain, bias):
    return x * gain + bias


def gelu(x):
    return F.gelu(x, approximate='tanh')


def silu(x):
    return F.silu(x)


def relu(x):
    return torch.relu(x)


def sqrt(x):
    return torch.sqrt(x)


def abs(x):
    return torch.abs(x)


def sin(x):
    return torch.sin(x)


def cos(x):
    return torch.cos(x)


def sigmoid(x):
    return torch.sigmoid(x)


def tanh(x):
    return torch.tanh(x)


def softplus(x):
    return F.softplus(x)


def elu1(x):
    return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))  # elu(x) + 1 rounds e^x away


def exp(x):
    return torch.exp(x)


def log(x):
    return torch.log(x)


def gate(by, a, b):
    return by * a + (1 - by) * b


def _eps(eps):
    return 1e-5 if eps < 0 else max(eps, 1e-20)


def layernorm(x, gain, bias, eps):
    return F.layer_norm(x, x.shape[-1:], gain, bias, _eps(eps))


def rmsnorm(x, gain, eps):
    return x * (x.square().mean(-1, keepdim=True) + _eps(eps)).rsqrt() * gain


def rms_heads(x, eps, heads):
    parts = x.unflatten(-1, (heads, -1))
    return (parts * (parts.square().mean(-1, keepdim=True) + _eps(eps)).rsqrt()).flatten(-2)


def layernorm_heads(x, gain, bias, eps, heads):
    parts = x.unflatten(-1, (heads, -1))
    return F.layer_norm(parts, parts.shape[-1:], None, None, _eps(eps)).flatten(-2) * gain + bias


def softmax_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).softmax(-1).flatten(-2)


def sum_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).sum(-1)


def per_head(s, columns):
    return s.repeat_interleave(columns, -1)


def unitnorm(x, eps):
    return _unit(x, eps)


def unitnorm_heads(x, eps, heads):
    return _unit(x.unflatten(-1, (heads, -1)), eps).flatten(-2)


def _unit(x, eps=-1):
    if eps > 0:
        return x * (x.square().sum(-1, keepdim=True) + eps).rsqrt()
    size = x.norm(dim=-1, keepdim=True)
    return torch.where(size > 1e-12, x / size.clamp(min=1e-12), torch.zeros_like(x))


def shift(x, by):
    return F.pad(x, (0, 0, by, 0))[:, : x.shape[1]]


def reverse(x):
    return x.flip(1)


def columns(x, from_, count):
    return x[..., from_ : from_ + count]


def join(a, b):
    return torch.cat([a, b], -1)


def cumsum(x):
    return x.cumsum(1)


def mean(x):
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


def _filter(x, filter, future=0):
    """y_t = sum over taps w of filter[w] x_{t - w + future}, a filter for each group of columns."""
    columns, taps = x.shape[-1], filter.shape[1]
    kernel = filter.repeat_interleave(columns // filter.shape[0], 0).flip(1)[:, None]
    return F.conv1d(F.pad(x.mT, (taps - 1 - future, future)), kernel, groups=columns).mT


def conv(x, filter, future=0):
    return _filter(x, filter, future)


def conv_each(x, filter, future=0):
    return _filter(x, filter, future)


def conv_heads(x, filter):
    parts = x.unflatten(-1, (filter.shape[1], -1))
    past = [F.pad(parts, (0, 0, 0, 0, w, 0))[:, : x.shape[1]] for w in range(filter.shape[0])]
    return sum(torch.einsum('hg,blgd->blhd', f, p) for f, p in zip(filter, past)).flatten(-2)


def unit_projection(x, w, filter, future=0):
    parts = w.chunk(filter.shape[0], 1)
    return torch.cat([_unit(_filter(x, f[None], future)) @ part for f, part in zip(filter, parts)], -1)


def _rows(length, chunk):
    """[L][L]: whether two rows are in one chunk (0: all are), and how far row i is behind row j."""
    at = torch.arange(length)
    near = (at[:, None] // chunk == at // chunk) if chunk else torch.ones(length, length, dtype=torch.bool)
    return near, at[:, None] - at


def pool(x, window, chunk=0, future=0):
    near, back = _rows(x.shape[1], chunk)
    return (near & (back + future >= 0) & (back + future < window)).to(x) / window @ x


def rope(x, heads):
    parts = x.unflatten(-1, (heads, -1, 2))
    half = parts.shape[-2]
    angle = torch.arange(x.shape[1]).double()[:, None] * 10000 ** (-torch.arange(half).double() / half)
    c, s = angle.cos().to(x)[:, None], angle.sin().to(x)[:, None]
    a, b = parts[..., 0], parts[..., 1]
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-3)


def _heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _maps(q, k, heads, decay, range_, chunk, causal, rows=0):
    near, back = _rows(q.shape[1], chunk)
    logits = _heads(q, heads) @ _heads(k, heads).mT / math.sqrt(q.shape[-1] // heads)
    if decay == 'exp':
        alphas = -torch.linspace(1, math.exp(-range_), heads, dtype=torch.float64).log()
        logits = logits * torch.exp(-alphas[:, None, None] * back.abs()).to(q)
    elif decay != 'none':
        slopes = 2 ** (-8 * torch.arange(1, heads + 1).double() / heads)
        size = 1 if decay == 'alibi' else 1 / math.sqrt(q.shape[-1] // heads)
        logits = logits - (slopes[:, None, None] * back.abs() * size).to(q)
    allowed = near & (back >= 0) if causal == 'yes' else near
    allowed = allowed & (back < rows) if rows else allowed
    return torch.softmax(logits.masked_fill(~allowed, -math.inf), -1), near, back


def attention(
    q, k, v, decay='none', range=1, chunk=0, pool=0, causal='yes',
    bias=None, cap=0, sink=None, kv_heads=0, score='softmax', heads=1,
):  # fmt: skip
    if bias is not None or cap or sink is not None or kv_heads or score != 'softmax':
        return _attention(q, k, v, chunk, causal, bias, cap, sink, kv_heads or heads, score, heads)
    maps, near, back = _maps(q, k, heads, decay, range, chunk, causal)
    if pool:  # averaged over columns, then cut
        maps = maps @ (near & (back.abs() <= (pool - 1) // 2)).to(q) / pool * (back >= 0)
    return (maps @ _heads(v, heads)).transpose(1, 2).flatten(-2)


def _attention(q, k, v, chunk, causal, bias, cap, sink, kv_heads, score, heads):
    rows = torch.arange(q.shape[1], device=q.device)
    near = rows // chunk == rows[:, None] // chunk if chunk else torch.ones_like(rows[:, None] == rows)
    allowed = near & (rows <= rows[:, None]) if causal == 'yes' else near
    q, k, v = _heads(q, heads), *(_heads(x, kv_heads).repeat_interleave(heads // kv_heads, 1) for x in (k, v))
    logits = q @ k.mT / math.sqrt(q.shape[-1])
    if cap:
        logits = cap * torch.tanh(logits / cap)
    if bias is not None:  # in double: neighbours differ by less than a long sum's rounding
        sums = bias.double().cumsum(1).mT
        logits = logits + (sums[..., None] - sums[..., None, :]).to(q)
    logits = logits.masked_fill(~allowed, -math.inf)
    if score == 'sigmoid':
        maps = torch.sigmoid(logits)
    elif sink is not None:
        beside = sink[:, None, None].expand(*logits.shape[:-1], 1)
        maps = torch.softmax(torch.cat([logits, beside], -1), -1)[..., :-1]
    else:
        maps = torch.softmax(logits, -1)
    return (maps @ v).transpose(1, 2).flatten(-2)
