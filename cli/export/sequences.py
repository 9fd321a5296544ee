# sequences.py: what the lines of an exported text call: attentions, states, long filters.


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
