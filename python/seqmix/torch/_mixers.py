"""Each mixer a function of its weights, as model/mixers/NAME.c has it, over the kernels of this package."""
from __future__ import annotations

import math
from typing import Any, Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from .._errors import SeqmixError
from .attention import attention, filtered_projection, landmark_attention, las_attention, linear_attention
from .convolution import conv1d, iir, long_conv, s4d, unit_rows
from .recurrent import (
    ema,
    gated_delta_rule,
    gated_linear_attention,
    gru,
    lstm,
    selective_scan,
    taylor_attention,
)

Config = Mapping[str, str]
Weights = Mapping[str, Tensor]

# ---- Parts that mixers share


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1))  # [B][L][H][d]


def _rms(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


def _rope(x: Tensor, heads: int) -> Tensor:
    """Columns 2m and 2m + 1 of a head turned by t / 10000^(2m/d)."""
    y = _split(x, heads)
    d = y.shape[-1]
    angle = torch.arange(y.shape[1]).double()[:, None] / 10000 ** (torch.arange(0, d, 2).double() / d)
    turn = torch.polar(torch.ones_like(angle), angle).to(torch.complex64)[:, None]
    pairs = torch.view_as_complex(y.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(2)


def _alibi(heads: int, length: int, scale: float = 1.0) -> Tensor:
    """[H][2L-1]: -2^(-8 (h + 1) / H) |i - j|."""
    slopes = 2 ** (-8 * torch.arange(1, heads + 1).double() / heads)
    return (-slopes[:, None] * torch.arange(1 - length, length).abs() * scale).float()


def _softmax(c: Config, q: Tensor, k: Tensor, v: Tensor, **more: Any) -> Tensor:
    heads = int(c["heads"])
    if c["position"] == "rope":
        q, k = _rope(q, heads), _rope(k, heads)
    if c["position"] in ("alibi", "alibi_scaled"):
        more["bias"] = _alibi(
            heads, q.shape[1], (q.shape[2] / heads) ** -0.5 if c["position"] == "alibi_scaled" else 1
        )
    return attention(q, k, v, heads=heads, layout="bld", **more)


def _filtered(c: Config, w: Weights, x: Tensor, which: str) -> Tensor:
    if c.get("filter_kind") == "multi_head" and f"filter_{which}" in w:
        f, y = w[f"filter_{which}"], _split(x @ w[f"w_{which}"], int(c["heads"]))  # f [W][H][H]
        past = F.pad(y, (0, 0, 0, 0, len(f) - 1, 0)).unfold(1, len(f), 1)  # [B][L][H][d][W]
        return torch.einsum("blgdw,whg->blhd", past, f.flip(0)).flatten(2)
    two_sided = which == "v" and c.get("value_filter") == "two_sided"
    unit = which in c.get("filter_norm", "none").replace("none", "")
    future = int(c["filter"]) if two_sided else 0
    return filtered_projection(x, w[f"w_{which}"], w.get(f"filter_{which}"), int(c["heads"]), unit, future)


def _convolved(w: Weights, x: Tensor, name: str) -> Tensor:
    return F.silu(conv1d(x @ w[f"w_{name}"], w[f"conv_{name}"]))


def _steps(w: Weights, x: Tensor, name: str) -> Tensor:
    return F.softplus(x @ w[name] + w["dt_bias"])


# ---- The mixers: (config, weights, x [B][L][D]) -> [B][L][D]


def _attention(c: Config, w: Weights, x: Tensor) -> Tensor:
    q, k, v = (x @ w[f"w_{n}"] for n in "qkv")
    more = dict(causal=c["causal"] == "1", chunk=int(c["chunk"]), sliding=int(c["sliding"]))
    return _softmax(c, q, k, v, **more) @ w["w_o"]


def _las(c: Config, w: Weights, x: Tensor) -> Tensor:
    heads, chunk, kind = int(c["heads"]), int(c["chunk"]), c["las_decay"]
    q, k, v = (x @ w[f"w_{n}"] for n in "qkv")
    if c["position"] == "rope":
        q, k = _rope(q, heads), _rope(k, heads)
    if c["alphas"] == "spaced":
        alphas = None
    else:
        alphas = torch.tensor([float(a) for a in c["alphas"].split(",")])
    options = dict(heads=heads, pool=c["pool"], window=int(c["window"]), chunk=chunk, layout="bld")
    options["causal"] = c["causal"] == "1"
    if kind == "exp":
        return (
            las_attention(q, k, v, alphas=alphas, decay_range=float(c["decay_range"]), **options) @ w["w_o"]
        )
    bias = (
        None
        if kind == "none"
        else _alibi(heads, x.shape[1], (x.shape[2] / heads) ** -0.5 if kind == "alibi_scaled" else 1)
    )
    return las_attention(q, k, v, alphas=torch.zeros(heads), bias=bias, **options) @ w["w_o"]


def _cat(c: Config, w: Weights, x: Tensor) -> Tensor:
    if "filter_maps" not in w:
        return _softmax(c, *(_filtered(c, w, x, n) for n in "qkv")) @ w["w_o"]
    # o_h = sum over g of mix_hg A_g v_h: the map of head g meets the values of head g - n, for every n
    heads, mix, (q, k, v) = int(c["heads"]), w["filter_maps"], (x @ w[f"w_{n}"] for n in "qkv")
    o, head = 0, torch.arange(heads)
    for n in range(heads):
        values = _split(v, heads)[:, :, (head - n) % heads].flatten(2)
        g = (head + n) % heads
        o = o + mix[head, g][:, None] * _split(_softmax(c, q, k, values), heads)[:, :, g]
    return o.flatten(2) @ w["w_o"]


def _lincat(c: Config, w: Weights, x: Tensor) -> Tensor:
    q, k, v = (_filtered(c, w, x, n) for n in "qkv")
    return (
        linear_attention(q, k, v, heads=int(c["heads"]), normaliser="sum", tile=int(c["tile"]), layout="bld")
        @ w["w_o"]
    )


def _linear(c: Config, w: Weights, x: Tensor) -> Tensor:
    q, k, v = (x @ w[f"w_{n}"] for n in "qkv")
    return (
        linear_attention(
            q, k, v, heads=int(c["heads"]), normaliser=c["normaliser"], tile=int(c["tile"]), layout="bld"
        )
        @ w["w_o"]
    )


def _lcat(c: Config, w: Weights, x: Tensor) -> Tensor:
    block = int(c["block"])
    q, k, v = x @ w["w_q"], x @ w["w_k"], _filtered({**c, "filter_norm": "none"}, w, x, "v")
    if c["landmark"] == "rho":
        taps = (-torch.arange(x.shape[1]).double() / block).exp().float()
    else:
        taps = torch.ones(min(block, x.shape[1]))
    marks = conv1d(k, taps[None])
    dense = marks if c["dense_keys"] == "filtered" else k
    return (
        landmark_attention(q, dense, v, marks.detach(), block=block, heads=int(c["heads"]), layout="bld")
        @ w["w_o"]
    )


def _long(c: Config, w: Weights, x: Tensor) -> Tensor:
    y = long_conv(x, w["conv_k"], w.get("conv_skip"), squash=float(c["squash"]))
    if "conv_ahead" in w:
        y = y + long_conv(_later(x), w["conv_ahead"], None, squash=float(c["squash"])).flip(1)
    return y


def _later(x: Tensor) -> Tensor:
    """The rows read backwards, a row late: what stands before one is what comes after it."""
    return F.pad(x.flip(1), (0, 0, 1, 0))[:, :-1].contiguous()


def _longconv(c: Config, w: Weights, x: Tensor) -> Tensor:
    return F.gelu(_long(c, w, x), approximate="tanh") @ w["w_o"]


def _ema(c: Config, w: Weights, x: Tensor) -> Tensor:
    average = ema(x, w["alpha"], w["delta"], w["beta"], w["eta"], w["ema_skip"])
    z, phi = F.silu(average @ w["w_h"] + w["b_h"]), torch.sigmoid(average @ w["w_phi"] + w["b_phi"])
    return phi * z + (1 - phi) * x


def _s4d(c: Config, w: Weights, x: Tensor) -> Tensor:
    y = s4d(x, w["log_dt"], w["log_a"], w.get("a_im"), w["c"], w["skip"])
    return F.gelu(y, approximate="tanh") @ w["w_o"]


def _mamba(c: Config, w: Weights, x: Tensor) -> Tensor:
    u = F.silu(conv1d(x @ w["w_x"], w["conv_k"]) + w["conv_b"])
    dt = F.softplus(u @ w["w_dt1"] @ w["w_dt2"] + w["b_dt"])
    y = selective_scan(u, dt, w["a_log"], u @ w["w_b"], u @ w["w_c"], w["skip"])
    return (y * F.silu(x @ w["w_z"])) @ w["w_o"]


def _gla(c: Config, w: Weights, x: Tensor) -> Tensor:
    heads = int(c["heads"])
    q, k, v = (_split(x @ w[f"w_{n}"], heads) for n in "qkv")
    g = F.logsigmoid(x @ w["w_g1"] @ w["w_g2"] + w["b_g"]) / 16
    o = gated_linear_attention(q, k, v, _split(g, heads), layout="blhd")[0]
    return (_rms(o).flatten(2) * w["gain"] * F.silu(x @ w["w_r"] + w["b_r"])) @ w["w_o"]


def _deltanet(c: Config, w: Weights, x: Tensor) -> Tensor:
    heads = int(c["heads"])
    q, k, v = (_split(_convolved(w, x, n), heads) for n in "qkv")
    g = -w["a_log"].exp() * _steps(w, x, "w_a") if "w_a" in w else None
    beta = torch.sigmoid(x @ w["w_beta"]) * (2 if c["negative"] == "1" else 1)
    o = gated_delta_rule(unit_rows(q), unit_rows(k), v, beta, g, layout="blhd")[0]
    o = _rms(o).flatten(2) * w["gain"]
    return (o * F.silu(x @ w["w_gate"]) if "w_gate" in w else o) @ w["w_o"]


def _mamba2(c: Config, w: Weights, x: Tensor) -> Tensor:
    heads = int(c["heads"])
    u, b, q = (_convolved(w, x, n) for n in "xbc")
    dt, u = _steps(w, x, "w_dt"), _split(u, heads)
    everyone = (len(x), x.shape[1], heads, b.shape[-1])
    k, q = (t[:, :, None].expand(everyone) for t in (b, q))
    y = gated_linear_attention(q, k, u, -w["a_log"].exp() * dt, dt, scale=1.0, layout="blhd")[0]
    y = (y + u * w["skip"][:, None]).flatten(2) * F.silu(x @ w["w_z"])
    return (_rms(y) * w["gain"]) @ w["w_o"]


def _retnet(c: Config, w: Weights, x: Tensor) -> Tensor:
    heads = int(c["heads"])
    q, k, v = (_split(t, heads) for t in (*(_rope(x @ w[f"w_{n}"], heads) for n in "qk"), x @ w["w_v"]))
    g = torch.log1p(-(2.0 ** (-5 - torch.arange(heads).double()))).float().expand(*x.shape[:2], heads)
    o = gated_linear_attention(q, k, v, g, layout="blhd")[0]
    return (_rms(o).flatten(2) * w["gain"] * F.silu(x @ w["w_r"])) @ w["w_o"]


def _based(c: Config, w: Weights, x: Tensor) -> Tensor:
    q, k, v = (_split(x @ w[f"w_{n}"], int(c["heads"])) for n in "qkv")
    return taylor_attention(q, k, v, layout="blhd").flatten(2) @ w["w_o"]


def _hyena(c: Config, w: Weights, x: Tensor) -> Tensor:
    (L, D), N = x.shape[1:], int(c["hyena_order"])
    at = torch.arange(L).double()[:, None] / max(1, int(c["length"]) - 1)
    turns = 2 * math.pi * at * torch.arange(1, int(c["bands"]) + 1)
    h = torch.cat((at, torch.stack((turns.cos(), turns.sin()), -1).flatten(1)), 1).float()
    for layer in "12":
        h = torch.sin(float(c["frequency"]) * (h @ w[f"filter_{layer}"] + w[f"filter_b{layer}"]))
    rates = torch.linspace(math.log(100) / 1.5, math.log(100) / 0.3, N * D, dtype=torch.float64)
    h = (h @ w["filter_3"]) * ((-rates * float(c["filter_decay"]) * at).exp() + 0.05).float()
    z, *gates = conv1d(x @ w["w_in"], w["conv"]).split(D, -1)
    for n, (gate, taps) in enumerate(zip(gates, h.split(D, -1))):
        z = gate * long_conv(z, taps.T, w[f"skip_{n + 1}"])
    return z @ w["w_o"]


def _lstm(c: Config, w: Weights, x: Tensor) -> Tensor:
    return lstm(x @ w["w"] + w["b"], w["u"])[0]


def _gru(c: Config, w: Weights, x: Tensor) -> Tensor:
    return gru(x @ w["w"] + w["b_x"], w["u"], w["b_h"])[0]


def _chela(c: Config, w: Weights, x: Tensor) -> Tensor:
    short = conv1d(x, w["short"]) if "short" in w else conv1d(x, w["short_3"]) + conv1d(x, w["short_n"])
    z = _long(c, w, F.silu(short))
    q, k = (w[f"alpha_{n}"] * z + w[f"beta_{n}"] for n in "qk")
    v, g = F.silu(x @ w["w_v"] + w["b_v"]), F.silu(z @ w["w_g"] + w["b_g"])
    heads = int(c["heads"])
    if c["causal"] == "1":
        m = linear_attention(q, k, v, heads=heads, normaliser="rms", layout="bld") * g
    else:
        m = linear_attention(q, k, v, heads=heads, layout="bld")
        back = q.flip(1).contiguous(), _later(k), _later(v)
        m = m + linear_attention(*back, heads=heads, layout="bld").flip(1)
        m = _rms(_split(m, heads)).flatten(2) * g
    g_o = torch.sigmoid(z @ w["w_o"] + w["b_o"])
    return m * g_o + x * (1 - g_o)


BELOW_1 = 1 - 2**-20  # no pole reaches the unit circle


def _theta(c: Config, raw: Tensor) -> Tensor:
    if c["theta"] == "triangle":
        a_1, a_2 = raw.tanh().clamp(-BELOW_1, BELOW_1).unbind(-1)
        return torch.stack(((1 + a_2) * a_1, a_2), -1)
    theta = raw.sigmoid().clamp(max=BELOW_1)
    return theta * float(c["theta_sum"]) / 2 if c["theta"] == "bounded" else theta


def _focus(c: Config, w: Weights, x: Tensor) -> Tensor:
    trained, (B, L, D) = int(c["length"]), x.shape
    in_bin = trained // int(c["bins"])
    if L % in_bin:
        raise SeqmixError(f"{L} rows are no whole bins: length/bins={in_bin} must divide them")
    bins = L // in_bin
    if "theta_raw" in w:  # Focus-H: the same in every bin
        theta = _theta(c, w["theta_raw"]).expand(B, bins, D, -1, 2)
    else:  # of a bin, from the bin before; 0 in bin 0
        heard = [_long(c, w, x)] + ([conv1d(x, w["local_k"])] if c["hyper"] == "local_global" else [])
        pooled = [F.adaptive_max_pool1d(t.mT, bins * int(c["oversample"])) for t in heard]  # [B][D][bins O]
        e = torch.cat([p.unflatten(2, (bins, -1)).transpose(1, 2) for p in pooled], -1)  # [B][bins][D][O]
        e = e.flatten(2) if c["hyper"] == "joint" else e
        raw = torch.sigmoid(e @ w["hyper_w1"] + w["hyper_b1"]) @ w["hyper_w2"] + w["hyper_b2"]
        theta = _theta(c, raw.reshape(B, bins, D, -1, 2))
        theta = torch.cat((torch.zeros_like(theta[:, :1]), theta[:, :-1]), 1)
    x_f = iir(x, theta, mode=c["iir"])
    y = _softmax(c, x @ w["w_q"], x_f @ w["w_k"], x_f @ w["w_v"], chunk=trained // int(c["chunks"]))
    gamma, phi = F.silu(x_f @ w["w_gamma"] + w["b_gamma"]), torch.sigmoid(x_f @ w["w_phi"] + w["b_phi"])
    z = F.silu(x_f @ w["w_h"] + (gamma * y) @ w["u_h"] + w["b_h"])
    return phi * z + (1 - phi) * x


MIXERS: dict[str, Callable[[Config, Weights, Tensor], Tensor]] = {
    "attention": _attention,
    "las": _las,
    "cat": _cat,
    "lincat": _lincat,
    "linear": _linear,
    "lcat": _lcat,
    "longconv": _longconv,
    "ema": _ema,
    "s4d": _s4d,
    "mamba": _mamba,
    "gla": _gla,
    "deltanet": _deltanet,
    "gated_deltanet": _deltanet,
    "mamba2": _mamba2,
    "retnet": _retnet,
    "based": _based,
    "hyena": _hyena,
    "lstm": _lstm,
    "gru": _gru,
    "chela": _chela,
    "focus": _focus,
    "focus_h": _focus,
}
