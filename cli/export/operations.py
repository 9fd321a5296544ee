# operations.py: what the lines of an exported text call. Long because each operation has its function, and so has
# each of a scan.


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


def sliding_attention(q, k, v, rows=16, decay='none', chunk=0, heads=1):
    maps, _, _ = _maps(q, k, heads, decay, 1, chunk, 'yes', rows)
    return (maps @ _heads(v, heads)).transpose(1, 2).flatten(-2)


def taylor_attention(q, k, v, heads):
    q, k, v = (_heads(x, heads) for x in (q, k, v))
    s = q @ k.mT / math.sqrt(q.shape[-1])
    maps = (1 + s + s.square() / 2).tril()
    return (maps @ v / maps.sum(-1, keepdim=True)).transpose(1, 2).flatten(-2)


def retention(q, k, v, heads):
    decay = torch.log1p(-(2.0 ** (-5 - torch.arange(heads).double()))).to(q)
    q, k, v, _ = _split(q, k, v, None, heads)
    gates = decay[:, None].expand(*q.shape[:2], heads, 1)
    return _state(q, k, v, None, gates, heads, None, 1 / math.sqrt(q.shape[-1]))


def lstm(z, u):
    h, c, rows = z.new_zeros(z.shape[0], len(u)), z.new_zeros(z.shape[0], len(u)), []
    for t in range(z.shape[1]):
        i, f, g, o = (z[:, t] + h @ u).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        rows.append(h)
    return torch.stack(rows, 1)


def gru(z, u, b):
    h, rows = z.new_zeros(z.shape[0], len(u)), []
    for t in range(z.shape[1]):
        (r, s, n), (a, e, m) = z[:, t].chunk(3, -1), (h @ u + b).chunk(3, -1)
        keep = torch.sigmoid(s + e)
        h = (1 - keep) * torch.tanh(n + torch.sigmoid(r + a) * m) + keep * h
        rows.append(h)
    return torch.stack(rows, 1)


def attention_maps(q, k, v, mix, decay='none', heads=1):
    maps, _, _ = _maps(q, k, heads, decay, 1, 0, 'yes')
    return (torch.einsum('hg,bgij->bhij', mix, maps) @ _heads(v, heads)).transpose(1, 2).flatten(-2)


def linear_attention(q, k, v, normaliser='sum', tile=64, heads=1):
    maps = (_heads(q, heads) @ _heads(k, heads).mT).tril()
    y = maps @ _heads(v, heads)
    if normaliser == 'sum':
        y = y / maps.sum(-1, keepdim=True)
    if normaliser == 'rms':
        y = y * (y.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    return y.transpose(1, 2).flatten(-2)


def _state(q, k, v, beta, gates, heads, erase, scale):
    """S = e^gates S, then S += k (beta (v - S^T erase))^T (None: k (beta v)^T); y = scale S^T q. All [B][L][H][..]."""
    state, rows = v.new_zeros(v.shape[0], heads, k.shape[-1], v.shape[-1]), []
    for t in range(v.shape[1]):
        if gates is not None:
            state = state * gates[:, t].exp()[..., None]
        write = v[:, t]
        if erase is not None:
            write = write - torch.einsum('bhkv,bhk->bhv', state, erase[:, t])
        if beta is not None:
            write = write * beta[:, t, :, None]
        state = state + torch.einsum('bhk,bhv->bhkv', k[:, t], write)
        rows.append(torch.einsum('bhkv,bhk->bhv', state, q[:, t]) * scale)
    return torch.stack(rows, 1).flatten(-2)


def _split(q, k, v, gates, heads):
    parts = [x.unflatten(-1, (heads, -1)) for x in (q, k, v)]
    return *parts, None if gates is None else gates.unflatten(-1, (heads, -1))


def gla(q, k, v, beta=None, gates=None, heads=1):
    q, k, v, gates = _split(q, k, v, gates, heads)
    return _state(q, k, v, beta, gates, heads, None, 1 / math.sqrt(q.shape[-1]))


def ssd(c, b, u, dt, gates, heads):
    q, k = (x[:, :, None].expand(-1, -1, heads, -1) for x in (c, b))
    return _state(q, k, u.unflatten(-1, (heads, -1)), dt, gates[..., None], heads, None, 1)


def delta(q, k, v, beta, gates=None, erase=None, heads=1):
    q, k, v, gates = _split(q, k, v, gates, heads)
    erase = k if erase is None else erase.unflatten(-1, (heads, -1))
    return _state(q, k, v, beta, gates, heads, erase, 1 / math.sqrt(q.shape[-1]))


def decays(dt, a_log):
    return -a_log.exp() * dt


def landmark_keys(k, block, kind='box', learns='no'):
    if learns == 'no':
        k = k.detach()
    _, back = _rows(k.shape[1], 0)
    if kind == 'box':
        return ((back >= 0) & (back < block)).to(k) @ k
    return torch.where(back >= 0, torch.exp(-back.clamp(min=0) / block), 0).to(k) @ k


def landmark_attention(q, k, v, marks, block, heads):
    length = q.shape[1]
    q, k, v, marks = (_heads(x, heads) for x in (q, k, v, marks))
    at = torch.arange(length)
    landmarks = marks[:, :, block - 1 :: block]  # of complete blocks
    scores = q @ landmarks.mT
    blocks = torch.arange(landmarks.shape[2])
    earlier = blocks < (at // block)[:, None]
    near = (at[:, None] // block == at // block) & (at[:, None] >= at)
    allowed = near.expand(q.shape[0], heads, -1, -1).clone()
    if landmarks.shape[2]:
        chosen = scores.masked_fill(~earlier, -math.inf).argmax(-1)
        allowed |= (chosen[..., None] == at // block) & earlier.any(-1)[:, None]
    logits = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~allowed, -math.inf)
    return (torch.softmax(logits, -1) @ v).transpose(1, 2).flatten(-2)


def _long(x, kernel, skip=None):
    y = _filter(x, kernel[:, : x.shape[1]])
    return y if skip is None else y + skip * x


def longconv(x, kernel, skip=None, squash=0):
    return _long(x, kernel.sign() * (kernel.abs() - squash).clamp(min=0), skip)


def _s4d(x, log_dt, a, c, skip, size):
    dt = log_dt.double().exp()[:, None]
    c = c * ((dt * a).exp() - 1) / a
    at = torch.arange(x.shape[1]).double()
    kernel = size * torch.einsum('ds,dsl->dl', c, (dt * a)[..., None].mul(at).exp()).real
    return _long(x, kernel.to(x), skip)


def s4d(x, log_dt, log_a, a_im, c, skip):
    a = torch.complex(-log_a.double().exp(), a_im.double())
    return _s4d(x, log_dt, a, torch.view_as_complex(c.double().contiguous()), skip, 2)


def s4d_real(x, log_dt, log_a, c, skip):
    return _s4d(x, log_dt, torch.complex(-log_a.double().exp(), torch.zeros_like(log_a).double()), c.double(), skip, 1)


def ema(x, alpha, delta, beta, eta, skip):
    a, d = torch.sigmoid(alpha), torch.sigmoid(delta)
    state, rows = 0, []
    for t in range(x.shape[1]):
        state = a * beta * x[:, t, :, None] + (1 - a * d) * state
        rows.append((eta * state).sum(-1) + skip * x[:, t])
    return torch.stack(rows, 1)


def selective_scan(x, dt, a_log, b, c, skip):
    state, rows = 0, []
    for t in range(x.shape[1]):
        state = torch.exp(-dt[:, t, :, None] * a_log.exp()) * state + (dt[:, t] * x[:, t])[..., None] * b[:, t, None]
        rows.append((state * c[:, t, None]).sum(-1) + skip * x[:, t])
    return torch.stack(rows, 1)


def bin_max(x, bin, values=1, joint='no'):
    parts = x.unflatten(1, (-1, bin)).flatten(0, 1).mT
    most = F.adaptive_max_pool1d(parts, values).unflatten(0, (x.shape[0], -1))
    return most.flatten(-2) if joint == 'yes' else most


def repeat_pairs(x, raw, bin):
    return raw.expand(x.shape[0], x.shape[1] // bin, *raw.shape)


def coefficients(raw, kind='sigmoid', factor=1, shift='yes'):
    pairs = raw.reshape(*raw.shape[:2], -1, 2)
    if kind == 'triangle':
        t = torch.tanh(pairs)
        theta = torch.stack([(1 + t[..., 1]) * t[..., 0], t[..., 1]], -1)
    else:
        theta = torch.sigmoid(pairs)
    theta = theta * factor
    return torch.cat([torch.zeros_like(theta[:, :1]), theta[:, :-1]], 1) if shift == 'yes' else theta


def resonate(x, coefficients, bin, mode='causal'):
    batch, length, columns = x.shape
    theta = coefficients.reshape(batch, length // bin, columns, -1, 2)
    if mode == 'literal':  # each bin's transform times conj(H)
        w = 2 * math.pi * torch.arange(bin).double() / bin
        lag = torch.polar(torch.ones_like(w), w)[:, None, None]
        bottom = 1 + theta[:, :, None, ..., 0] * lag + theta[:, :, None, ..., 1] * lag**2
        spectrum = torch.fft.fft(x.unflatten(1, (-1, bin)).double(), dim=2)
        return torch.fft.ifft(spectrum * (1 / bottom).sum(-1), dim=2).real.flatten(1, 2).to(x)
    zero = x.new_zeros(batch, columns, theta.shape[3])
    one, two, rows = zero, zero, []
    for t in range(length):
        if t % bin == 0 and mode == 'causal':
            one, two = zero, zero
        now = x[:, t, :, None] - theta[:, t // bin, ..., 0] * one - theta[:, t // bin, ..., 1] * two
        one, two = now, one
        rows.append(now.sum(-1))
    return torch.stack(rows, 1)


def scan_row(x, t, heads, shared, group, part=0, parts=1):
    width = x.shape[-1] // int(parts)
    row = x[:, t, int(part) * width : (int(part) + 1) * width]
    if shared:
        return row[:, None].expand(-1, heads, -1)
    row = row.reshape(row.shape[0], heads // group, -1).repeat_interleave(group, 1)
    return row[..., 0] if row.shape[-1] == 1 else row


def scan_flat(x, heads):
    x = torch.as_tensor(x)
    return x.flatten(1) if x.dim() > 2 else x.expand(-1, heads)


def scan_fit(a, b):
    a, b = torch.as_tensor(a), torch.as_tensor(b)
    while a.dim() < b.dim():
        a = a[..., None]
    while b.dim() < a.dim():
        b = b[..., None]
    return a, b


def scan_add(a, b):
    a, b = scan_fit(a, b)
    return a + b


def scan_sub(a, b):
    a, b = scan_fit(a, b)
    return a - b


def scan_mul(a, b):
    a, b = scan_fit(a, b)
    return a * b


def scan_div(a, b):
    a, b = scan_fit(a, b)
    return a / b


def scan_max(a, b):
    return torch.maximum(*scan_fit(a, b))


def scan_min(a, b):
    return torch.minimum(*scan_fit(a, b))


def scan_select(c, a, b):
    a, b = scan_fit(a, b)
    c, a = scan_fit(c, a)
    c, b = scan_fit(c, b)
    return torch.where(c > 0, a, b)


def scan_vector(a):
    return a if a.dim() > 2 else a[..., None]


def scan_outer(a, b):
    return scan_vector(a)[..., :, None] * scan_vector(b)[..., None, :]


def scan_dot(a, b):
    return (scan_vector(a) * scan_vector(b)).sum(-1)


def scan_product(a, b):
    if a.dim() < 4:
        return (scan_vector(a)[..., None] * b).sum(-2)
    if b.dim() < 4:
        return (a * scan_vector(b)[..., None, :]).sum(-1)
    return a @ b


def scan_rows(a, b):
    return scan_vector(a)[..., None] * b


def scan_columns(a, b):
    return a * scan_vector(b)[..., None, :]


def scan_power(a, n):
    return torch.as_tensor(a) ** n


def scan_transpose(a):
    return a.transpose(-1, -2)


def scan_size(a):
    return scan_vector(a).shape[-1]


def scan_sum(a):
    return a.flatten(2).sum(-1) if a.dim() > 2 else a


def scan_exp(a):
    return torch.as_tensor(a).exp()


def scan_log(a):
    return torch.as_tensor(a).log()


def scan_sqrt(a):
    return torch.as_tensor(a).sqrt()


def scan_tanh(a):
    return torch.as_tensor(a).tanh()


def scan_sigmoid(a):
    return torch.as_tensor(a).sigmoid()


def scan_silu(a):
    return F.silu(torch.as_tensor(a))


def scan_softplus(a):
    return F.softplus(torch.as_tensor(a), threshold=50)


def scan_relu(a):
    return torch.as_tensor(a).relu()


def scan_abs(a):
    return torch.as_tensor(a).abs()


def scan_softmax(a):
    return scan_vector(a).softmax(-1)


def scan_unitnorm(a):
    square = scan_vector(a).square().sum(-1, keepdim=True)
    return scan_vector(a) * torch.where(square > 1e-24, square, 1).rsqrt() * (square > 1e-24)


def scan_rms(a):
    return scan_vector(a) * (scan_vector(a).square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def scan_layernorm(a):
    return scan_rms(scan_vector(a) - scan_vector(a).mean(-1, keepdim=True))
