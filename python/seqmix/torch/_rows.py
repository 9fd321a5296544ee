"""Queries, keys and values as the kernels of attention read them."""
from __future__ import annotations

from typing import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .._errors import SeqmixError
from ._call import BATCH, count, given, heads_divide, word


class Rows:
    """q, k, v as a kernel reads them: `tensors` B sequences of L rows of D floats, `stride` floats apart, of `heads`
    heads; `back` brings a result of theirs into the caller's layout. `whole`: they lie in the caller's layout, each
    head a sequence of its own."""

    def __init__(
        self, names: str, tensors: list[Tensor], heads: int | None, layout: str, apart: bool
    ) -> None:
        """apart: heads may also be taken as sequences of their own."""
        word("layout", layout, "bhld", "bld")
        self.layout, self.whole = layout, False
        if layout == "bld":
            first = given("q", tensors[0], BATCH, None, None)
            B, L, D = first.shape
            self.heads = count("heads", heads)
            heads_divide(self.heads, D)
            checked = [first, *[given(n, t, B, L, D) for n, t in zip(names[1:], tensors[1:])]]
        else:
            first = given("q", tensors[0], BATCH, None, None, None)
            B, H, L, d = first.shape
            if heads not in (None, H):
                raise SeqmixError(f"heads is {heads}; q has {H}")
            D, self.heads = H * d, H
            checked = [first, *[given(n, t, B, H, L, d) for n, t in zip(names[1:], tensors[1:])]]
            self.whole = (apart or H == 1) and all([t.is_contiguous() for t in checked])
            if self.whole:
                self.shape, self.B, self.L, self.D, self.heads, self.stride = first.shape, B * H, L, d, 1, d
                self.tensors = checked
                return
            checked = [t.transpose(1, 2) for t in checked]  # a view where memory is [B][L][H][d]
            checked = [
                t.reshape(B, L, D) if t.stride()[2:] == (d, 1) else t.contiguous().view(B, L, D) for t in checked
            ]
        self.shape, self.B, self.L, self.D = first.shape, B, L, D
        stride = checked[0].stride(1) if L > 1 else D
        lies_well = all(t.stride() == (L * stride, stride, 1) for t in checked) and (
            stride == D or stride >= 3 * D
        )
        self.stride = stride if lies_well else D
        self.tensors = checked if lies_well else [t.contiguous() for t in checked]

    def at(self, t: Tensor, first: int) -> int:
        """Where the sequence `first` of an array of theirs lies."""
        apart = first and (t.numel() // self.B if self.whole else t.stride(0)) * t.element_size()
        return t.data_ptr() + first * apart

    def empty(self) -> Tensor:
        return torch.empty(self.shape) if self.whole else torch.empty(self.B, self.L, self.D)

    def empties(self, n: int = 3) -> list[Tensor]:
        """Gradients: rows as far apart as those of q, k, v."""
        if self.stride == self.D:
            return [self.empty() for _ in range(n)]
        whole = torch.empty(self.B, self.L, self.stride)
        return [whole[..., i * self.D : (i + 1) * self.D] for i in range(n)]

    def back(self, t: Tensor) -> Tensor:
        if self.whole or self.layout == "bld":
            return t
        return t.unflatten(-1, (self.heads, self.D // self.heads)).transpose(1, 2)

    def here(self, t: Tensor) -> Tensor:
        """A gradient of what `back` gave, contiguous."""
        if self.whole or self.layout == "bld":
            return t.contiguous()
        return t.transpose(1, 2).contiguous().view(self.B, self.L, self.D)


def evened(
    q: Tensor, k: Tensor, v: Tensor, heads: int | None, causal: bool, layout: str, apart: bool
) -> tuple[list[Tensor], int, Callable[[Tensor], Tensor]] | None:
    """Fewer heads of k and v, other lengths and widths, brought to what the kernel takes, [B][H][L][any]; the
    width of q's heads; and what brings the result back. None where all are alike. apart: rows of q may be taken
    as sequences of their own."""
    if isinstance(q, Tensor) and isinstance(k, Tensor) and isinstance(v, Tensor) and q.shape == k.shape == v.shape:
        return None
    if layout == "bld":
        D, Dk = (given(n, t, BATCH, None, None).shape[2] for n, t in (("q", q), ("k", k)))
        H = count("heads", heads)
        heads_divide(H, D)
        if Dk % (D // H):
            raise SeqmixError(f"k is {Dk} wide, which is no number of heads of {D // H}, as q's are")
        kv_heads = Dk // (D // H)
        heads_divide(kv_heads, given("v", v, BATCH, None, None).shape[2])
        q, k, v = (t.unflatten(-1, (h, -1)).transpose(1, 2) for t, h in ((q, H), (k, kv_heads), (v, kv_heads)))
    B, H, rows, d = given("q", q, BATCH, None, None, None).shape
    if layout == "bhld" and heads not in (None, H):
        raise SeqmixError(f"heads is {heads}; q has {H}")
    kv_heads, L = given("k", k, B, None, None, d).shape[1:3]
    dv = given("v", v, B, kv_heads, L, None).shape[3]
    if H % kv_heads:
        raise SeqmixError(f"k and v have {kv_heads} heads, which do not divide the {H} of q")
    if causal and rows > L:
        raise SeqmixError(f"q has {rows} rows, k has {L}; with causal=True q's are the last of k's, or all")
    if not causal and not apart and rows != L:
        raise SeqmixError(
            f"q has {rows} rows, k has {L}; chunk, decay_table and bias take as many of both, or causal=True"
        )
    k, v = (t if kv_heads == H else t.repeat_interleave(H // kv_heads, 1) for t in (k, v))
    q, k, v = (F.pad(t, (0, max(d, dv) - t.shape[3])) for t in (q, k, v))
    if causal:
        q, parts = F.pad(q, (0, 0, L - rows, 0)), 1
    else:  # L rows of q at a time, each part beside all of k
        parts = -(-rows // L)
        q = F.pad(q, (0, 0, 0, parts * L - rows)).unflatten(2, (parts, L)).transpose(1, 2).flatten(0, 1)
        k, v = (t[:, None].expand(B, parts, H, L, -1).flatten(0, 1) for t in (k, v))

    def back(y: Tensor) -> Tensor:
        y = y.unflatten(0, (B, parts)).transpose(1, 2).flatten(2, 3)
        y = y[:, :, L - rows :, :dv] if causal else y[:, :, :rows, :dv]
        return y.transpose(1, 2).flatten(2) if layout == "bld" else y

    return [q, k, v], d, back
