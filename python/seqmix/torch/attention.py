"""Attention: softmax, LaS, CAT, landmarks; linear attention."""
from __future__ import annotations

import functools
import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .._errors import SeqmixError
from ._call import (
    BATCH,
    aligned,
    at,
    by_sequence,
    count,
    first_derivative,
    flat,
    given,
    heads_divide,
    in_float32,
    kernel,
    real,
    scratch,
    settings,
    struct,
    word,
)
from ._rows import Rows, evened
from .convolution import conv1d, unit_rows


class _Core(torch.autograd.Function):
    """A kernel over whole sequences: NAME_fwd(y, kept.., q, k, v ..) and NAME_bwd(dq, dk, dv, dy, q, k, v, y,
    kept..) with the struct smx_NAME; `kept` is what forward leaves for backward."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        rows: Rows,
        name: str,
        kept: list[Tensor],
        options: dict[str, Any],
    ) -> Tensor:
        y = rows.empty()
        _Core._run(rows, f"{name}_fwd", name, options, [y, *kept, *rows.tensors])
        # q, k, v among them: autograd knows when one was overwritten meanwhile.
        ctx.save_for_backward(*rows.tensors[:3], y, *kept)
        ctx.rows, ctx.name_of, ctx.options = rows, name, options
        return rows.back(y)

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Any:
        rows, slopes = ctx.rows, ctx.rows.empties()
        arrays = [*slopes, rows.here(dy), *ctx.saved_tensors]
        _Core._run(rows, f"{ctx.name_of}_bwd", ctx.name_of, ctx.options, arrays)
        return (*map(rows.back, slopes), None, None, None, None)

    @staticmethod
    def _run(rows: Rows, function: str, name: str, options: dict[str, Any], arrays: list[Tensor]) -> None:
        def work(first: int, end: int) -> None:
            sizes = dict(B=end - first, L=rows.L, D=rows.D, H=rows.heads, stride=rows.stride)
            p = settings(f"smx_{name}", **sizes, **options)
            memory = scratch(f"{function}_scratch_bytes", p)
            kernel(function)(*[rows.at(t, first) for t in arrays], aligned(memory), p)

        by_sequence(rows.B, rows.B * rows.L * rows.L * rows.D, work)


@in_float32
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: int | None = None,
    causal: bool = True,
    scale: float | None = None,
    chunk: int = 0,
    sliding: int = 0,
    decay_table: Tensor | None = None,
    bias: Tensor | None = None,
    pool_window: int = 0,
    layout: str = "bhld",
) -> Tensor:
    """Softmax attention (Vaswani et al. 2017): softmax over j of scale q_i . k_j * decay_table_h(i - j) +
    bias_h(i - j), times v.

    q, k, v [B][H][L][d]; with layout="bld" [B][L][D], of `heads` heads, also as parts of one [B][L][3D]. Used
    where they lie if they are contiguous, or [B][L][H][d] seen as [B][H][L][d]; else copied. k and v may have
    fewer heads (that divide q's: head h meets theirs of number h // (H / theirs)), v another width, and both
    another length, which is copied: causal, q's rows are then the last of k's. scale: 1/sqrt(d)
    where none is given. chunk: rows [0, M), [M, 2M), ... attend among themselves only. sliding: a row
    sees so many rows, itself the last (0: all before it); needs causal, no pool_window. decay_table, bias
    [H][2L-1], k's L, entry (L-1) + j - i; no gradient. pool_window: odd; LaS's masked pooling; needs causal.
    Returns y as q, as wide as v. Never L x L memory. Errors: SeqmixError."""
    word("layout", layout, "bhld", "bld")
    uneven = evened(q, k, v, heads, causal, layout, decay_table is None and bias is None and not chunk)
    if uneven:
        tensors, d, back = uneven
        y = attention(
            *tensors,
            causal=causal,
            scale=d**-0.5 if scale is None else scale,
            chunk=chunk,
            sliding=sliding,
            decay_table=decay_table,
            bias=bias,
            pool_window=pool_window,
        )
        return back(y)
    rows = Rows("qkv", [q, k, v], heads, layout, decay_table is None and bias is None)
    H, L = (q.shape[1] if layout == "bhld" else rows.heads), rows.L
    tables: dict[str, Tensor | None] = {"decay_table": decay_table, "bias": bias}
    for name, table in tables.items():
        if table is not None:
            tables[name] = flat(given(name, table, H, 2 * L - 1))
            if table.requires_grad:
                raise SeqmixError(f"{name} requires a gradient, which the kernel does not give")
    count("chunk", chunk, 0)
    if count("pool_window", pool_window, 0) and (pool_window % 2 == 0 or not causal):
        raise SeqmixError(f"pool_window is {pool_window}; it must be odd, with causal=True")
    if count("sliding", sliding, 0) and (pool_window or not causal):
        raise SeqmixError(f"sliding is {sliding}; it needs causal=True and no pool_window")
    d = q.shape[-1] // (1 if layout == "bhld" else rows.heads)
    options = dict(
        causal=int(bool(causal)),
        scale=d**-0.5 if scale is None else real("scale", scale),
        chunk=chunk,
        sliding=sliding,
        pool_window=pool_window,
        decay_table=at(tables["decay_table"]),
        bias=at(tables["bias"]),
    )
    rows.keep = tables  # type: ignore[attr-defined]
    kept = [torch.empty(rows.B, rows.heads, rows.L, 2)]
    return _Core.apply(q, k, v, rows, "attention", kept, options)


def las_alphas(heads: int, decay_range: float = 1.0) -> Tensor:
    """LaS's decay rates, float64 [H]: exp(-alpha) evenly spaced from 1 to exp(-decay_range)."""
    return -torch.linspace(
        1, math.exp(-real("decay_range", decay_range)), count("heads", heads), dtype=torch.float64
    ).log()


def _decays(rates: Tensor, L: int) -> Tensor:
    distances = torch.arange(L - 1, -L, -1).abs().double()  # |i - j| of entry (L-1) + j - i
    return (-rates[:, None] * distances).exp().float()


@functools.lru_cache(maxsize=8)
def _usual_decays(heads: int, decay_range: float, L: int) -> Tensor:
    return _decays(las_alphas(heads, decay_range), L)


def _pooled(v: Tensor, window: int, ahead: int, chunk: int) -> Tensor:
    """The mean of `window` rows, `ahead` of them later ones, zeros outside a chunk; v [B][H][L][d]."""
    parts = v.split(chunk or v.shape[2], 2)
    done = [
        F.avg_pool1d(F.pad(p.transpose(2, 3).flatten(0, 2)[:, None], (window - 1 - ahead, ahead)), window, 1)
        for p in parts
    ]
    return torch.cat([y.view(*p.shape[:2], p.shape[3], p.shape[2]).transpose(2, 3) for y, p in zip(done, parts)], 2)


@in_float32
def las_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: int | None = None,
    alphas: Tensor | None = None,
    decay_range: float = 1.0,
    pool: str = "trailing",
    window: int = 3,
    chunk: int = 0,
    causal: bool = True,
    bias: Tensor | None = None,
    layout: str = "bhld",
) -> Tensor:
    """LaS (Zimerman & Wolf 2024, Eq. 4): logits times exp(-alpha_h |i - j|), the map averaged over `window`
    columns.

    alphas [H], without it las_alphas(H, decay_range). pool: "trailing", "centred" (sees (window-1)/2 rows
    ahead), "masked" (needs causal), "none". Otherwise, causal, `bias` and fewer heads of k and v too, as
    `attention`."""
    word("pool", pool, "trailing", "centred", "masked", "none")
    if pool in ("centred", "masked") and count("window", window) % 2 == 0:
        raise SeqmixError(f"window is {window}; it must be odd with pool={pool!r}")
    apart = [None] * (2 + word("layout", layout, "bld", "bhld"))
    L = given("v", v, BATCH, *apart).shape[-2]
    H = given("q", q, BATCH, *apart).shape[1] if layout == "bhld" else count("heads", heads)
    if alphas is None:
        table = _usual_decays(H, real("decay_range", decay_range), L)
    else:
        given("alphas", alphas.float() if isinstance(alphas, Tensor) else alphas, H)
        table = _decays(alphas.detach().double(), L)
    if pool in ("trailing", "centred"):
        ahead = (window - 1) // 2 if pool == "centred" else 0
        heads_of_v = v[:, None] if layout == "bld" else v
        v = _pooled(heads_of_v, count("window", window), ahead, count("chunk", chunk, 0)).view_as(v)
    width = window if pool == "masked" else 0
    return attention(
        q, k, v, heads=heads, chunk=chunk, decay_table=table, bias=bias, pool_window=width, layout=layout, causal=causal
    )


def filtered_projection(
    x: Tensor, w: Tensor, f: Tensor | None, heads: int, unit: bool = False, future: int = 0
) -> Tensor:
    """CAT's (x * f_h) W_h, [B][L][D]: the filter after the projection, which is the same; with `unit` the
    filtered rows are scaled to unit length between the two."""
    if not unit:
        y = x @ w
        return y if f is None else conv1d(y, f, future=future)
    if f is None:
        return unit_rows(x) @ w
    each_head = [
        unit_rows(conv1d(x, f[h : h + 1], future=future)) @ w_h for h, w_h in enumerate(w.chunk(heads, 1))
    ]
    return torch.cat(each_head, -1)


@in_float32
def cat_attention(
    x: Tensor,
    wq: Tensor,
    wk: Tensor,
    wv: Tensor,
    wo: Tensor,
    filter_q: Tensor | None = None,
    filter_k: Tensor | None = None,
    filter_v: Tensor | None = None,
    *,
    heads: int = 1,
    norm: bool = False,
    norm_v: bool = False,
) -> Tensor:
    """CAT (Li et al., Def. 1): softmax attention of filtered queries, keys and values.

    x [B][L][D]; wq, wk, wv, wo [D][D], [in][out]; filter_q, filter_k, filter_v [H][W], tap w meets row t - w,
    or None. norm: the filtered rows of q and k are scaled to unit length at full width; norm_v: of v too.
        Returns [B][L][D]. Errors: SeqmixError.
    """
    D = given("x", x, BATCH, None, None).shape[2]
    heads_divide(heads, D)
    for name, w in (("wq", wq), ("wk", wk), ("wv", wv), ("wo", wo)):
        given(name, w, D, D)
    for name, f in (("filter_q", filter_q), ("filter_k", filter_k), ("filter_v", filter_v)):
        given(name, f, heads, None, optional=True)
    q = filtered_projection(x, wq, filter_q, heads, norm)
    k = filtered_projection(x, wk, filter_k, heads, norm)
    v = filtered_projection(x, wv, filter_v, heads, norm_v)
    return attention(q, k, v, heads=heads, layout="bld") @ wo


class _Elu1(torch.autograd.Function):
    """elu + 1 as the engine has it: e^x for x <= 0, which elu(x) + 1 rounds away from x = -17 on."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        _Elu1._run("elu1_fwd", y, x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @first_derivative
    def backward(ctx: Any, dy: Tensor) -> Tensor:
        (y,), dy = ctx.saved_tensors, dy.contiguous()
        dx = torch.empty_like(y)
        _Elu1._run("elu1_bwd", dx, dy, y)
        return dx

    @staticmethod
    def _run(function: str, *arrays: Tensor) -> None:
        def work(first: int, end: int) -> None:
            kernel(function)(*(at(t, first) for t in arrays), arrays[0][first:end].numel())

        by_sequence(len(arrays[0]), arrays[0].numel(), work)


@in_float32
def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: int | None = None,
    normaliser: str = "none",
    eps: float = 1e-5,
    tile: int = 64,
    layout: str = "bhld",
) -> Tensor:
    """Causal linear attention: o_t = sum_{s <= t} (q_t . k_s) v_s.

    normaliser: "none"; "rms": by the root mean square of each head's row (CHELA); "sum": with elu + 1 of q
    and k (Katharopoulos et al. 2020), by q_t . sum k_s. tile: rows between which a state is carried, 1 the
    recurrence, 0 the quadratic form. Layouts, errors as `attention`."""
    norm = word("normaliser", normaliser, "none", "rms", "sum")
    if norm == 2:
        any_size = [BATCH] + [None] * (2 if layout == "bld" else 3)
        q, k = (_Elu1.apply(given(n, t, *any_size)) for n, t in (("q", q), ("k", k)))
    rows = Rows("qkv", [q, k, v], heads, layout, True)
    options = dict(C=count("tile", tile, 0), norm=norm, eps=real("eps", eps))
    return _Core.apply(q, k, v, rows, "linattn", [torch.empty(rows.B, rows.heads, rows.L)], options)


@in_float32
def landmark_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    marks: Tensor,
    *,
    block: int,
    heads: int | None = None,
    layout: str = "bhld",
) -> Tensor:
    """LCAT's core (CAT Sec. 5): each query picks the block whose landmark, the last row of the block in
    `marks`, it fits best, and attends to it and to its own block. No gradient flows through the choice, or to
    marks. Layouts, errors as `attention`.
    """
    rows = Rows(["q", "k", "v", "marks"], [q, k, v, marks], heads, layout, True)  # type: ignore[arg-type]
    d = q.shape[-1] // (1 if layout == "bhld" else rows.heads)
    size = rows.B, rows.heads, rows.L
    kept = [torch.empty(*size, 2), torch.empty(size, dtype=torch.int32)]  # statistics, the blocks chosen
    return _Core.apply(q, k, v, rows, "landmark", kept, dict(block=count("block", block), scale=d**-0.5))
