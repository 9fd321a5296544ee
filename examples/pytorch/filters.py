"""filters.py: convolutions over time; x [L][D]."""
import torch
import torch.nn.functional as F


def convolve(x, taps, ahead=0):
    """y_h[t] = sum_w taps[h][w] x[t + ahead - w], every filter over every channel: [H][L][D]."""
    width = taps.shape[1]
    past = F.pad(x.T.unsqueeze(1), (width - 1 - ahead, ahead))
    return F.conv1d(past, taps.flip(1).unsqueeze(1)).permute(1, 2, 0)


def depthwise(x, taps):
    """y[t][c] = sum_w taps[c][w] x[t - w][c]: [L][D]."""
    width, channels = taps.shape[1], x.shape[1]
    return F.conv1d(F.pad(x.T, (width - 1, 0)), taps.flip(1).unsqueeze(1), groups=channels).T


def mix_heads(x, taps):
    """y_h = sum_g taps[:, h, g] * x_g (CAT, multi-head); x [H][L][d], taps [W][H][H]."""
    past = F.pad(x.permute(2, 0, 1), (len(taps) - 1, 0))
    return F.conv1d(past, taps.permute(1, 2, 0).flip(2)).permute(1, 2, 0)


def long_conv(config, w, x):
    """y = K * x + skip x, K [D][trained length] (Fu et al.); with causal=0 a kernel for the rows after each."""
    y = by_fft(config, w['conv_k'], x)
    if 'conv_ahead' in w:
        later = by_fft(config, w['conv_ahead'], x.flip(0)).flip(0)  # of each row and those after it
        y = y + F.pad(later[1:], (0, 0, 0, 1))
    return y + w['conv_skip'] * x if 'conv_skip' in w else y


def by_fft(config, k, x):
    """Linear, so twice as long."""
    length = len(x)
    k = F.softshrink(k, float(config['squash']))[:, :length]  # sign(K) max(|K| - lambda, 0)
    product = torch.fft.rfft(k, 2 * length) * torch.fft.rfft(x.T, 2 * length)
    return torch.fft.irfft(product, 2 * length)[:, :length].T
