"""What carries a state along a sequence: gated linear attention, the delta rule, recurrent networks, moving
averages, state space models. Long because each is a function, its checks and its gradient."""
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._errors import SeqmixError
from ._call import (
    BATCH,
    GROUPS,
    Partial,
    aligned,
    at,
    by_sequence,
    each,
    first_derivative,
    flat,
    given,
    in_float32,
    kernel,
    real,
    scratch,
    settings,
    spans,
    struct,
    word,
)


class _State(torch.autograd.Function):
    """Both rules; tensors [B][L][H][..]."""

    @staticmethod
    def _p(q: Tensor, v: Tensor, gates: int, scale: float, B: int) -> Any:
        _, L, H, dk = q.shape
        return settings("smx_state", B=B, L=L, H=H, dk=dk, dv=v.shape[3], gates=gates, shared=0, scale=scale)

    @staticmethod
    def _part(name: str, first: int, *arrays: Tensor | None) -> Any:
        return struct(name, **dict(zip(("q", "k", "v", "beta", "g"), (at(t, first) for t in arrays))))

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        beta: Tensor | None,
        g: Tensor | None,
        start: Tensor | None,
        rule: str,
        scale: float,
    ) -> Any:
        q, k, v, beta, g, start = map(flat, (q, k, v, beta, g, start))
        B, L, H, dk = q.shape
        dv, gates = v.shape[3], 0 if g is None else g.dim() - 1
        y, last = torch.empty_like(v), torch.empty(B, H, dk, dv)
        states = torch.empty(B, kernel("state_floats")(L, H, dk, dv))

        def work(first: int, end: int) -> None:
            p = _State._p(q, v, gates, scale, end - first)
            memory = scratch("state_fwd_scratch_bytes", p)
            x = _State._part("smx_state_rows", first, q, k, v, beta, g)
            kernel(rule + "_fwd")(
                at(y, first), at(last, first), at(states, first), x, at(start, first), aligned(memory), p
            )

        by_sequence(B, v.numel() * dk, work)
        ctx.save_for_backward(q, k, v, beta, g, start, states)
        ctx.rule, ctx.scale, ctx.gates = rule, scale, gates
        ctx.set_materialize_grads(False)
        return y, last

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor | None, dlast: Tensor | None) -> Any:
        q, k, v, beta, g, start, states = ctx.saved_tensors
        B, L, H, dk = q.shape
        dy, dlast = torch.zeros_like(v) if dy is None else dy.contiguous(), flat(dlast)
        dq, dk_, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        dbeta, dg = (None if t is None else torch.empty_like(t) for t in (beta, g))
        dstart = torch.empty(B, H, dk, v.shape[3])

        def work(first: int, end: int) -> None:
            p = _State._p(q, v, ctx.gates, ctx.scale, end - first)
            memory = scratch("state_bwd_scratch_bytes", p)
            x = _State._part("smx_state_rows", first, q, k, v, beta, g)
            dx = _State._part("smx_state_gradients", first, dq, dk_, dv, dbeta, dg)
            kernel(ctx.rule + "_bwd")(
                dx, *(at(t, first) for t in (dstart, dy, dlast)), x, at(states, first), aligned(memory), p
            )

        by_sequence(B, v.numel() * dk, work)
        return dq, dk_, dv, dbeta, dg, None if start is None else dstart, None, None


def _state(
    rule: str, q: Any, k: Any, v: Any, beta: Any, g: Any, start: Any, scale: Any, layout: str
) -> tuple[Tensor, Tensor]:
    apart = word("layout", layout, "bhld", "blhd") == 0
    one, two = given("q", q, BATCH, None, None, None).shape[1:3]
    B, dk = q.shape[0], q.shape[3]
    given("k", k, B, one, two, dk)
    dv = given("v", v, B, one, two, None).shape[3]
    given("beta", beta, B, one, two, optional=True)
    if g is not None:
        given("g", g, B, one, two, *([dk] if isinstance(g, Tensor) and g.dim() == 4 else []))
    H, L = (one, two) if apart else (two, one)
    given("start", start, B, H, dk, dv, optional=True)
    scale, rows = dk**-0.5 if scale is None else real("scale", scale), (q, k, v, beta, g)
    if apart and all([t is None or t.is_contiguous() for t in rows]):  # each head a sequence of its own
        views = [None if t is None else t.view(B * H, L, 1, *t.shape[3:]) for t in rows]
        y, last = _State.apply(*views, None if start is None else start.reshape(B * H, 1, dk, dv), rule, scale)
        return y.view(B, H, L, dv), last.view(B, H, dk, dv)
    turned = [None if t is None else t.transpose(1, 2) if apart else t for t in rows]
    y, last = _State.apply(*turned, start, rule, scale)
    return (y.transpose(1, 2) if apart else y), last


@in_float32
def gated_linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor | None = None,
    beta: Tensor | None = None,
    start: Tensor | None = None,
    *,
    scale: float | None = None,
    layout: str = "bhld",
) -> tuple[Tensor, Tensor]:
    """S_t = diag(e^{g_t}) S_{t-1} + k_t (beta_t v_t)^T, y_t = scale S_t^T q_t (Yang et al. 2023, Eq. 3;
    Mamba-2's SSD).

    q, k [B][H][L][dk], v [B][H][L][dv]; g <= 0, [B][H][L] or [B][H][L][dk], or None; beta [B][H][L] or None:
    1; start [B][H][dk][dv] or None: zeros. layout="blhd": [B][L][H][..], which is used where it lies. scale:
    1/sqrt(dk) where none is given.
    Returns y as v, and the last state, so that a sequence may come in parts. Errors: SeqmixError."""
    return _state("gla", q, k, v, beta, g, start, scale, layout)


@in_float32
def gated_delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    g: Tensor | None = None,
    start: Tensor | None = None,
    *,
    scale: float | None = None,
    layout: str = "bhld",
) -> tuple[Tensor, Tensor]:
    """R = diag(e^{g_t}) S_{t-1}, S_t = R + k_t (beta_t (v_t - R^T k_t))^T, y_t = scale S_t^T q_t (Yang et al.
    2024), gated or not.

    |k_t| <= 1, beta [B][H][L] in [0, 1]. Otherwise as `gated_linear_attention`."""
    if beta is None:
        raise SeqmixError("beta is missing; the delta rule needs it")
    return _state("delta", q, k, v, beta, g, start, scale, layout)


class _Taylor(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.contiguous()
        d = x.shape[-1]
        y = torch.empty(*x.shape[:-1], 1 + d + d * (d + 1) // 2)
        kernel("taylor_fwd")(at(y), at(x), x.numel() // d, d)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x,), dy = ctx.saved_tensors, dy.contiguous()
        dx = torch.empty_like(x)
        kernel("taylor_bwd")(at(dx), at(dy), at(x), x.numel() // x.shape[-1], x.shape[-1])
        return dx


@in_float32
def taylor_attention(q: Tensor, k: Tensor, v: Tensor, *, layout: str = "bhld") -> Tensor:
    """Based's linear attention (Arora et al. 2024, Sec. 4): pairs weigh 1 + s + s^2 / 2, s = q_t . k_s /
    sqrt(d), over their sum.

    q, k [B][H][L][d], v [B][H][L][dv]; layout="blhd": [B][L][H][..]. Returns y as v. Its state has 1 + d +
    d (d + 1) / 2 rows. Errors: SeqmixError."""
    for name, t in (("q", q), ("k", k), ("v", v)):
        given(name, t, BATCH, None, None, None)
    counted = torch.cat((v, torch.ones_like(v[..., :1])), -1)
    y = gated_linear_attention(_Taylor.apply(q), _Taylor.apply(k), counted, scale=1.0, layout=layout)[0]
    return y[..., :-1] / y[..., -1:]


class _Recurrent(torch.autograd.Function):
    """An LSTM, or with a bias a GRU."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, u: Tensor, bias: Tensor | None, start: Tensor | None) -> Any:
        z, u, bias, start = map(flat, (z, u, bias, start))
        (B, L, _), E = z.shape, u.shape[0]
        lstm = bias is None
        y, last = torch.empty(B, L, E), torch.empty(B, *([2] if lstm else []), E)
        saved = torch.empty(B, L, 5 if lstm else 4, E)

        def work(first: int, end: int) -> None:
            p = settings("smx_recurrent", B=end - first, L=L, E=E)
            memory = scratch("recurrent_fwd_scratch_bytes", p)
            weights = (at(u),) if lstm else (at(u), at(bias))
            kernel("lstm_fwd" if lstm else "gru_fwd")(
                *(at(t, first) for t in (y, last, saved, z)),
                *weights,
                at(start, first),
                aligned(memory),
                p,
            )

        by_sequence(B, y.numel() * E, work)
        ctx.save_for_backward(y, saved, u, bias, start)
        ctx.set_materialize_grads(False)
        return y, last

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor | None, dlast: Tensor | None) -> Any:
        y, saved, u, bias, start = ctx.saved_tensors
        (B, L, E), lstm = y.shape, bias is None
        dy, dlast = torch.zeros_like(y) if dy is None else dy.contiguous(), flat(dlast)
        dz, dstart = torch.empty(B, L, u.shape[1]), None if start is None else torch.empty_like(start)
        groups = spans(B, GROUPS)
        partial = Partial([u, bias], len(groups))

        def work(i: int, first: int, end: int) -> None:
            p = settings("smx_recurrent", B=end - first, L=L, E=E)
            memory = scratch("recurrent_bwd_scratch_bytes", p)
            du, dbias = partial.parts[i]
            slopes = (at(du),) if lstm else (at(du), at(dbias))
            kernel("lstm_bwd" if lstm else "gru_bwd")(
                at(dz, first),
                *slopes,
                *(at(t, first) for t in (dstart, dy, dlast, y)),
                at(u),
                *(at(t, first) for t in (saved, start)),
                aligned(memory),
                p,
            )

        each([(i, *span) for i, span in enumerate(groups)], work)
        return dz, *partial.sums(), dstart


@in_float32
def lstm(z: Tensor, u: Tensor, start: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The recurrence of an LSTM (Hochreiter & Schmidhuber 1997): z [B][L][4 E] is what the rows say to the
    gates i, f, g, o, x W + b; u [E][4 E]; start [B][2][E], h then c, or None: zeros.

    Returns y [B][L][E] and the last h and c as `start`, so that a sequence may come in parts. Errors:
    SeqmixError."""
    E = given("u", u, None, None).shape[0]
    given("u", u, E, 4 * E)
    B = given("z", z, BATCH, None, 4 * E).shape[0]
    given("start", start, B, 2, E, optional=True)
    return _Recurrent.apply(z, u, None, start)


@in_float32
def gru(z: Tensor, u: Tensor, bias: Tensor, start: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The recurrence of a GRU (Cho et al. 2014), the reset gate after the product: z [B][L][3 E] is what the
    rows say to the gates r, z, n, x W + b; u [E][3 E]; bias [3 E] stands beside h U; start [B][E] or None:
    zeros. Returns y [B][L][E] and the last h. Errors: SeqmixError."""
    E = given("u", u, None, None).shape[0]
    given("u", u, E, 3 * E), given("bias", bias, 3 * E)
    B = given("z", z, BATCH, None, 3 * E).shape[0]
    given("start", start, B, E, optional=True)
    return _Recurrent.apply(z, u, bias, start)


class _Ema(torch.autograd.Function):
    NAMES = ("alpha", "delta", "beta", "eta", "skip")

    @staticmethod
    def forward(ctx: Any, x: Tensor, *weights: Tensor | None) -> Tensor:
        x, weights = x.contiguous(), tuple(map(flat, weights))
        (B, L, D), S = x.shape, weights[0].shape[1]
        y, states = torch.empty_like(x), torch.empty(B, kernel("scan_state_floats")(L, D, S))
        w = struct("smx_ema_weights", **dict(zip(_Ema.NAMES, weights)))

        def work(first: int, end: int) -> None:
            memory = scratch("scan_scratch_bytes", L, D, S)
            p = settings("smx_ema", B=end - first, L=L, D=D, S=S)
            kernel("ema_fwd")(at(y, first), at(states, first), at(x, first), w, aligned(memory), p)

        by_sequence(B, y.numel() * S, work)
        ctx.save_for_backward(x, states, *weights)
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x, states, *weights), dy = ctx.saved_tensors, dy.contiguous()
        (B, L, D), S = x.shape, weights[0].shape[1]
        dx, groups = torch.empty_like(x), spans(B, GROUPS)
        partial = Partial(weights, len(groups))
        w = struct("smx_ema_weights", **dict(zip(_Ema.NAMES, weights)))

        def work(i: int, first: int, end: int) -> None:
            memory = scratch("scan_scratch_bytes", L, D, S)
            p = settings("smx_ema", B=end - first, L=L, D=D, S=S)
            slopes = struct("smx_ema_gradients", **dict(zip(_Ema.NAMES, partial.parts[i])))
            kernel("ema_bwd")(
                at(dx, first), slopes, at(dy, first), at(x, first), w, at(states, first), aligned(memory), p
            )

        each([(i, *span) for i, span in enumerate(groups)], work)
        return dx, *partial.sums()


@in_float32
def ema(
    x: Tensor, alpha: Tensor, delta: Tensor, beta: Tensor, eta: Tensor, skip: Tensor | None = None
) -> Tensor:
    """MEGA's damped moving average (Ma et al. 2023, Eqs. 5-6). x [B][L][D]; alpha, delta (before the
    sigmoid), beta, eta [D][S]; skip [D] or None. Returns [B][L][D]. Errors: SeqmixError."""
    D = given("x", x, BATCH, None, None).shape[2]
    S = given("alpha", alpha, D, None).shape[1]
    for name, w in (("delta", delta), ("beta", beta), ("eta", eta)):
        given(name, w, D, S)
    given("skip", skip, D, optional=True)
    return _Ema.apply(x, alpha, delta, beta, eta, skip)


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, dt: Tensor, a_log: Tensor, b: Tensor, c: Tensor, skip: Tensor | None
    ) -> Tensor:
        x, dt, a_log, b, c, skip = map(flat, (x, dt, a_log, b, c, skip))
        (B, L, D), S = x.shape, a_log.shape[1]
        y, states = torch.empty_like(x), torch.empty(B, kernel("scan_state_floats")(L, D, S))

        def work(first: int, end: int) -> None:
            memory = scratch("scan_scratch_bytes", L, D, S)
            system = struct(
                "smx_scan_system", dt=at(dt, first), a_log=a_log, b=at(b, first), c=at(c, first), skip=skip
            )
            p = settings("smx_scan", B=end - first, L=L, D=D, S=S)
            kernel("scan_fwd")(at(y, first), at(states, first), at(x, first), system, aligned(memory), p)

        by_sequence(B, y.numel() * S, work)
        ctx.save_for_backward(x, dt, a_log, b, c, skip, states)
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x, dt, a_log, b, c, skip, states), dy = ctx.saved_tensors, dy.contiguous()
        (B, L, D), S = x.shape, a_log.shape[1]
        dx, ddt, db, dc = (torch.empty_like(t) for t in (x, dt, b, c))
        groups = spans(B, GROUPS)
        partial = Partial([a_log, skip], len(groups))

        def work(i: int, first: int, end: int) -> None:
            memory = scratch("scan_scratch_bytes", L, D, S)
            system = struct(
                "smx_scan_system", dt=at(dt, first), a_log=a_log, b=at(b, first), c=at(c, first), skip=skip
            )
            da_log, dskip = partial.parts[i]
            slopes = struct(
                "smx_scan_gradients",
                dt=at(ddt, first),
                a_log=da_log,
                b=at(db, first),
                c=at(dc, first),
                skip=dskip,
            )
            p = settings("smx_scan", B=end - first, L=L, D=D, S=S)
            kernel("scan_bwd")(
                at(dx, first),
                slopes,
                at(dy, first),
                at(x, first),
                system,
                at(states, first),
                aligned(memory),
                p,
            )

        each([(i, *span) for i, span in enumerate(groups)], work)
        da_log, dskip = partial.sums()
        return dx, ddt, da_log, db, dc, dskip


@in_float32
def selective_scan(
    x: Tensor, dt: Tensor, a_log: Tensor, b: Tensor, c: Tensor, skip: Tensor | None = None
) -> Tensor:
    """Mamba's selective scan (Gu & Dao 2023, Eq. 2 and Alg. 2), A = -exp(a_log). x, dt [B][L][D] (dt > 0);
    a_log [D][S]; b, c [B][L][S]; skip [D] or None. Returns [B][L][D]. Errors: SeqmixError."""
    B, L, D = given("x", x, BATCH, None, None).shape
    S = given("a_log", a_log, D, None).shape[1]
    given("dt", dt, B, L, D), given("b", b, B, L, S), given("c", c, B, L, S), given(
        "skip", skip, D, optional=True
    )
    return _Scan.apply(x, dt, a_log, b, c, skip)
