"""Convolutions and filters along time."""
from __future__ import annotations

import functools
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
    count,
    each,
    first_derivative,
    flat,
    get_threads,
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


class _Conv(torch.autograd.Function):
    @staticmethod
    def _p(x: Tensor, f: Tensor, future: int, B: int) -> Any:
        _, L, D = x.shape
        return settings("smx_conv", B=B, L=L, D=D, groups=f.shape[0], W=f.shape[1], future=future, ldx=D, ldy=D)

    @staticmethod
    def forward(ctx: Any, x: Tensor, f: Tensor, future: int) -> Tensor:
        x, f = x.contiguous(), f.contiguous()
        y = torch.empty_like(x)

        def work(first: int, end: int) -> None:
            p = _Conv._p(x, f, future, end - first)
            memory = scratch("conv_scratch_bytes", p)
            kernel("conv_fwd")(at(y, first), at(x, first), at(f), aligned(memory), p)

        by_sequence(len(x), x.numel() * f.shape[-1], work)
        ctx.save_for_backward(x, f)
        ctx.future = future
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x, f), dy = ctx.saved_tensors, dy.contiguous()
        dx, groups = torch.empty_like(x), spans(len(x), GROUPS)
        partial = Partial([f], len(groups))

        def work(i: int, first: int, end: int) -> None:
            p = _Conv._p(x, f, ctx.future, end - first)
            memory = scratch("conv_scratch_bytes", p)
            kernel("conv_bwd")(
                at(dx, first), at(partial.parts[i][0]), at(dy, first), at(x, first), at(f), aligned(memory), p
            )

        each([(i, *span) for i, span in enumerate(groups)], work)
        return dx, *partial.sums(), None


@in_float32
def conv1d(x: Tensor, filter: Tensor, *, future: int = 0) -> Tensor:
    """Causal convolution over time (CAT Def. 1): y_t[c] = sum_w filter[g(c)][w] x_{t - w + future}[c].

    x [B][L][D]; filter [groups][W], a filter for each group of D/groups channels (groups = D: depthwise).
    future: taps that look ahead, below W. Returns [B][L][D]. Errors: SeqmixError."""
    D = given("x", x, BATCH, None, None).shape[2]
    groups, W = given("filter", filter, None, None).shape
    if D % groups:
        raise SeqmixError(f"filter has {groups} groups, which do not divide the width {D}")
    if count("future", future, 0) >= W:
        raise SeqmixError(f"future is {future}; it must be below the {W} taps")
    return _Conv.apply(x, filter, future)


class _UnitRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.contiguous()
        D = x.shape[-1]
        y, rnorm = torch.empty_like(x), torch.empty(x.numel() // D)
        kernel("unitnorm_fwd")(at(y), at(rnorm), at(x), len(rnorm), D)
        ctx.save_for_backward(x, rnorm)
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x, rnorm), dy = ctx.saved_tensors, dy.contiguous()
        dx = torch.empty_like(x)
        kernel("unitnorm_bwd")(at(dx), at(dy), at(x), at(rnorm), len(rnorm), x.shape[-1])
        return dx


@in_float32
def unit_rows(x: Tensor) -> Tensor:
    """Rows scaled to unit length: x / |x| over the last dimension; rows with |x| <= 1e-12 give 0. x
    [...][D]."""
    given("x", x, *[BATCH] * (x.dim() - 1 if isinstance(x, Tensor) and x.dim() else 0), None)
    return _UnitRows.apply(x)


@functools.lru_cache(maxsize=16)
def _fft_table(rows: int) -> Tensor:
    table = torch.empty(kernel("fft_table_floats")(rows))
    kernel("fft_table")(at(table), rows)
    return table


class _LongConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, k: Tensor, skip: Tensor | None, squash: float) -> Tensor:
        x, k, skip = x.contiguous(), k.contiguous(), flat(skip)
        B, L, D = x.shape
        table, y = _fft_table(kernel("longconv_rows")(L)), torch.empty_like(x)
        spectrum = torch.empty(kernel("longconv_spectrum_floats")(L, D))
        weights = struct("smx_longconv_weights", k=k, skip=skip)
        parts = spans(B, get_threads())
        spectra = [spectrum if i == 0 else torch.empty_like(spectrum) for i in range(len(parts))]

        def work(i: int, first: int, end: int) -> None:
            p = settings("smx_longconv", B=end - first, L=L, D=D, taps=k.shape[1], ld=D, **{"lambda": squash})
            memory = scratch("longconv_scratch_bytes", L)
            kernel("longconv_fwd")(
                at(y, first), at(spectra[i]), at(x, first), weights, at(table), aligned(memory), p
            )

        each([(i, *span) for i, span in enumerate(parts)], work)
        ctx.save_for_backward(x, k, skip, spectrum)
        ctx.squash = squash
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x, k, skip, spectrum), dy = ctx.saved_tensors, dy.contiguous()
        B, L, D = x.shape
        table, dx, groups = _fft_table(kernel("longconv_rows")(L)), torch.empty_like(x), spans(B, GROUPS)
        partial = Partial([k, skip], len(groups))
        weights = struct("smx_longconv_weights", k=k, skip=skip)

        def work(i: int, first: int, end: int) -> None:
            p = settings(
                "smx_longconv", B=end - first, L=L, D=D, taps=k.shape[1], ld=D, **{"lambda": ctx.squash}
            )
            memory = scratch("longconv_scratch_bytes", L)
            slopes = struct("smx_longconv_gradients", k=partial.parts[i][0], skip=partial.parts[i][1])
            kernel("longconv_bwd")(
                at(dx, first),
                slopes,
                at(dy, first),
                at(x, first),
                weights,
                at(spectrum),
                at(table),
                aligned(memory),
                p,
            )

        each([(i, *span) for i, span in enumerate(groups)], work)
        return dx, *partial.sums(), None


@in_float32
def long_conv(x: Tensor, k: Tensor, skip: Tensor | None = None, *, squash: float = 0.0) -> Tensor:
    """Long convolution by FFT (Fu et al. 2023; CHELA Eq. 7): y_t[c] = sum_{s <= t} K_c[s] x_{t-s}[c] (+
    skip_c x_t[c]) with K = sign(k) max(|k| - squash, 0). x [B][L][D], k [D][taps], skip [D] or None. Errors:
    SeqmixError."""
    D = given("x", x, BATCH, None, None).shape[2]
    given("k", k, D, None), given("skip", skip, D, optional=True)
    if real("squash", squash) < 0:
        raise SeqmixError(f"squash is {squash}; it must not be negative")
    return _LongConv.apply(x, k, skip, float(squash))


@functools.lru_cache(maxsize=16)
def _iir_table(rows: int) -> Tensor:
    table = torch.empty(kernel("iir_table_floats")(rows))
    kernel("iir_table")(at(table), rows)
    return table


class _Iir(torch.autograd.Function):
    @staticmethod
    def _p(x: Tensor, theta: Tensor, mode: int, B: int) -> Any:
        return settings(
            "smx_iir", B=B, L=x.shape[1], D=x.shape[2], bins=theta.shape[1], F=theta.shape[3], mode=mode
        )

    @staticmethod
    def forward(ctx: Any, x: Tensor, theta: Tensor, mode: int) -> Tensor:
        x, theta = x.contiguous(), theta.contiguous()
        y = torch.empty_like(x)
        table = _iir_table(x.shape[1] // theta.shape[1]) if mode == 2 else None

        def work(first: int, end: int) -> None:
            p = _Iir._p(x, theta, mode, end - first)
            memory = scratch("iir_scratch_bytes", p)
            kernel("iir_fwd")(at(y, first), at(x, first), at(theta, first), at(table), aligned(memory), p)

        by_sequence(len(x), 32 * x.numel(), work)  # (FFTs)
        ctx.save_for_backward(x, theta)
        ctx.mode, ctx.table = mode, table
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        (x, theta), dy = ctx.saved_tensors, dy.contiguous()
        dx, dtheta = torch.empty_like(x), torch.empty_like(theta)

        def work(first: int, end: int) -> None:
            p = _Iir._p(x, theta, ctx.mode, end - first)
            memory = scratch("iir_scratch_bytes", p)
            kernel("iir_bwd")(
                *(at(t, first) for t in (dx, dtheta, dy, x, theta)), at(ctx.table), aligned(memory), p
            )

        by_sequence(len(x), 32 * x.numel(), work)  # (FFTs)
        return dx, dtheta, None


@in_float32
def iir(x: Tensor, theta: Tensor, *, mode: str = "causal") -> Tensor:
    """Focus's adaptive second-order filters (Eqs. 5-8): x through 1 / (1 + theta_0 z^-1 + theta_1 z^-2),
    summed over F filters.

    x [B][L][D]; theta [B][bins][D][F][2], for each bin of L/bins rows. mode: "causal", the state zero at the
    start of each bin; "carry", from bin to bin; "literal", the product of transforms of each bin, which looks
    ahead. Errors: SeqmixError.
    """
    B, L, D = given("x", x, BATCH, None, None).shape
    bins = given("theta", theta, B, None, D, None, 2).shape[1]
    if L % bins:
        raise SeqmixError(f"theta has {bins} bins, which do not divide the length {L}")
    return _Iir.apply(x, theta, word("mode", mode, "causal", "carry", "literal"))


class _S4dKernel(torch.autograd.Function):
    NAMES = ("log_dt", "log_a", "a_im", "C")

    @staticmethod
    def forward(ctx: Any, L: int, *weights: Tensor | None) -> Tensor:
        weights = tuple(map(flat, weights))
        D, S = weights[1].shape
        k, memory = torch.empty(D, L), scratch("s4d_scratch_bytes", L)
        w = struct("smx_s4d_weights", **dict(zip(_S4dKernel.NAMES, weights)))
        kernel("s4d_fwd")(at(k), w, aligned(memory), settings("smx_s4d", L=L, D=D, S=S))
        ctx.save_for_backward(*weights)
        ctx.L = L
        return k

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dk: Tensor) -> Any:
        weights, dk = ctx.saved_tensors, dk.contiguous()
        D, S = weights[1].shape
        slopes, memory = [None if w is None else torch.zeros_like(w) for w in weights], scratch("s4d_scratch_bytes", ctx.L)
        w, dw = (
            struct(f"smx_s4d_{what}", **dict(zip(_S4dKernel.NAMES, of)))
            for what, of in (("weights", weights), ("gradients", slopes))
        )
        kernel("s4d_bwd")(dw, at(dk), w, aligned(memory), settings("smx_s4d", L=ctx.L, D=D, S=S))
        return None, *slopes


@in_float32
def s4d(
    x: Tensor, log_dt: Tensor, log_a: Tensor, a_im: Tensor | None, c: Tensor, skip: Tensor | None = None
) -> Tensor:
    """S4D (Gu et al. 2022): the long convolution by the kernel of a diagonal state space model. x [B][L][D];
    log_dt [D]; log_a, a_im [D][S]; c [D][S][2], or [D][S] where a_im is None (real states); skip [D] or None.
    Returns [B][L][D]. Errors: SeqmixError.
    """
    _, L, D = given("x", x, BATCH, None, None).shape
    S = given("log_a", log_a, D, None).shape[1]
    given("log_dt", log_dt, D), given("a_im", a_im, D, S, optional=True), given(
        "skip", skip, D, optional=True
    )
    given("c", c, D, S, *([] if a_im is None else [2]))
    return long_conv(x, _S4dKernel.apply(L, log_dt, log_a, a_im, c), skip)
