"""focus.py: Focus and Focus-H (Lutati, Zimerman & Wolf, Eqs. 1-14). Theta [bins][D][F][2]."""
import torch
import torch.nn.functional as F

from attention import merge, softmax_attention, split
from checkpoint import choice
from filters import depthwise, long_conv

BELOW_1 = 1 - 2**-20  # no pole reaches the unit circle


def coefficients(config, raw):
    """Pairs of any size to Theta."""
    kind = choice(config, 'theta', 'sigmoid', 'triangle', 'bounded')
    if kind == 'triangle':  # |a_2| < 1, |a_1| < 1 + a_2: every stable filter
        a_1, a_2 = raw.tanh().clamp(-BELOW_1, BELOW_1).unbind(-1)
        return torch.stack(((1 + a_2) * a_1, a_2), -1)
    theta = raw.sigmoid().clamp(max=BELOW_1)
    return theta * float(config['theta_sum']) / 2 if kind == 'bounded' else theta


def hypernetwork(config, w, x, bins):
    """Theta of a bin, from the bin before; 0 in bin 0."""
    channels, per_bin = x.shape[1], int(config['oversample'])
    g = long_conv(config, w, x)
    e = F.adaptive_max_pool1d(g.T, bins * per_bin)
    e = e.unflatten(1, (bins, per_bin)).transpose(0, 1)  # [bins][D][O]
    kind = choice(config, 'hyper', 'per_channel', 'joint', 'local_global')
    if kind == 'joint':
        e = e.flatten(1)
    if kind == 'local_global':
        near = F.adaptive_max_pool1d(depthwise(x, w['local_k']).T, bins * per_bin)
        e = torch.cat((e, near.unflatten(1, (bins, per_bin)).transpose(0, 1)), -1)
    hidden = torch.sigmoid(e @ w['hyper_w1'] + w['hyper_b1'])
    raw = (hidden @ w['hyper_w2'] + w['hyper_b2']).reshape(bins, channels, -1, 2)
    theta = coefficients(config, raw)
    return torch.cat((torch.zeros_like(theta[:1]), theta[:-1]))


def recurrence(x, theta, carry):
    """y_t = x_t - Theta_0 y_{t-1} - Theta_1 y_{t-2}, summed over the filters; x [bins][R][D]. The state
    starts at zero in every bin, or goes on (carry)."""
    out = []
    before = before_that = torch.zeros_like(theta[0, ..., 0])  # [D][F]
    for rows, (theta_0, theta_1) in zip(x, theta.movedim(-1, 1)):
        if not carry:
            before = before_that = torch.zeros_like(before)
        for row in rows:
            before, before_that = row[:, None] - theta_0 * before - theta_1 * before_that, before
            out.append(before.sum(-1))
    return torch.stack(out)


def literal(x, theta):
    """Each bin's transform times conj(H), H(w) = 1 / (1 + Theta_0 e^-jw + Theta_1 e^-2jw) (Eq. 6).
    In double, since 1 / (1 + ...) loses digits near the unit circle."""
    x, theta = x.double(), theta.double()
    w = 2 * torch.pi * torch.arange(x.shape[1]).double() / x.shape[1]
    e_jw = torch.polar(torch.ones_like(w), w)[:, None, None]
    theta_0, theta_1 = (t[:, None] for t in theta.unbind(-1))
    conj_h = (1 / (1 + theta_0 * e_jw + theta_1 * e_jw**2)).sum(-1)  # [bins][R][D]
    return torch.fft.ifft(torch.fft.fft(x, dim=1) * conj_h, dim=1).real.flatten(0, 1).float()


def focus(config, w, x):
    trained, heads = int(config['length']), int(config['heads'])
    in_bin = trained // int(config['bins'])
    if len(x) % in_bin:
        raise SystemExit(f'{len(x)} rows are no whole bins: length/bins={in_bin} must divide them')
    bins = len(x) // in_bin
    if 'theta_raw' in w:  # Focus-H: the same in every bin
        theta = coefficients(config, w['theta_raw']).expand(bins, -1, -1, -1)
    else:
        theta = hypernetwork(config, w, x, bins)
    binned = x.unflatten(0, (bins, in_bin))
    kind = choice(config, 'iir', 'causal', 'carry', 'literal')
    x_f = literal(binned, theta) if kind == 'literal' else recurrence(binned, theta, kind == 'carry')
    q, k, v = (split(y @ w[name], heads) for y, name in ((x, 'w_q'), (x_f, 'w_k'), (x_f, 'w_v')))
    y = merge(softmax_attention(config, q, k, v, chunk=trained // int(config['chunks'])))
    gamma = F.silu(x_f @ w['w_gamma'] + w['b_gamma'])
    phi = torch.sigmoid(x_f @ w['w_phi'] + w['b_phi'])
    z = F.silu(x_f @ w['w_h'] + (gamma * y) @ w['u_h'] + w['b_h'])
    return phi * z + (1 - phi) * x
