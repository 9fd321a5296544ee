"""What a layer's results have to do with each other, held to the bit where that is claimed: later rows and earlier
ones, neighbours in a batch and its order, pieces, single rows, padding. The reference is the layer itself."""
from __future__ import annotations

from typing import Any, Iterable, Mapping

import numpy as np

from . import ref
from ._draws import name_is_data, of_rows, row_axis, rows_in
from ._errors import SeqmixError
from ._layer import Layer

NAMES = {
    "later": "later rows change earlier ones",
    "prefix": "the first rows alone come out otherwise than with more after them",
    "padding": "rows of zeros behind change what is before them",
    "batch": "a sequence comes out otherwise in a batch than alone",
    "order": "sequences in another order come out otherwise",
    "pieces": "rows in two pieces, carried by the state, come out otherwise than at once",
    "decode": "rows one at a time, carried by the state, come out otherwise than at once",
}


def wanted(bits: Any) -> list[str]:
    """The names of a claim, in order; True: all."""
    several = isinstance(bits, Iterable) and not isinstance(bits, str)
    names = list(NAMES) if bits is True else list(bits) if several else [bits] if bits else []
    for name in names:
        if name not in NAMES:
            raise SeqmixError(f"bits has {name!r:.40}; it may have {', '.join(NAMES)}; or be True, for all of them")
    return names


def measured(
    layer: Layer, inputs: Mapping[str, np.ndarray], params: Mapping[str, Any], causal: bool
) -> dict[str, float]:
    """By name, the largest difference of y, of its scale, that a relation shows (0: the same bits). Only those that
    there are: `causal` says whether rows depend on earlier ones alone; pieces need states in and out; a batch needs
    two sequences, in front of each array that has rows."""
    m = layer.m
    given = {n: a for n, a in inputs.items() if n != "dy"}
    own = [n for n in given if name_is_data(m, n) or n in layer.states]
    whole = layer.try_once(given, params)
    rows, some = whole.shape[-2], max(1, 2 * whole.shape[-2] // 3)
    scale = float(np.abs(whole).max(initial=0)) or 1.0
    found: dict[str, float] = {}

    def note(name: str, mine: np.ndarray, theirs: np.ndarray) -> None:
        far = np.inf
        if mine.shape == theirs.shape:
            far = np.where(mine == theirs, 0.0, np.abs(mine - theirs)).max(initial=0)
        found[name] = max(found.get(name, 0.0), np.inf if np.isnan(far) else float(far) / scale)

    if causal:
        first = of_rows(m, given, slice(0, some))
        others = of_rows(m, given, slice(None, some - rows - 1, -1)) if some < rows else {}
        others = {n: a if a.dtype == np.int32 else a / 2 for n, a in others.items()}
        later = layer.try_once(_with(m, given, first, others) if others else first, params)
        note("later", later[..., :some, :], whole[..., :some, :])
        note("prefix", layer.try_once(first, params), whole[..., :some, :])
        zeros = {n: np.zeros_like(a) for n, a in of_rows(m, given, slice(0, min(5, rows))).items()}
        note("padding", layer.try_once(_with(m, given, given, zeros), params)[..., :rows, :], whole)
    if whole.ndim > 2 and whole.shape[0] > 1:
        for at in range(whole.shape[0]):
            alone = {n: a[at : at + 1] if n in own else a for n, a in given.items()}
            note("batch", layer.try_once(alone, params), whole[at : at + 1])
        turned = {n: a[::-1].copy() if n in own else a for n, a in given.items()}
        note("order", layer.try_once(turned, params), whole[::-1])
    if layer.reads_on() and rows > 1 and "cu" not in given:
        for name, edges in (("pieces", [0, min(some, rows - 1), rows]), ("decode", list(range(rows + 1)))):
            pieces, _ = layer.within(lambda: layer.in_pieces(given, params, edges))  # noqa: B023
            if pieces:
                note(name, pieces[0], whole)
    return found


def _with(
    m: ref.Mechanism,
    given: Mapping[str, np.ndarray],
    first: Mapping[str, np.ndarray],
    more: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Rows of `first`, and those of `more` behind."""
    axes = {n: row_axis(m, given, n) for n in given}
    joined = {n: first[n] if axes[n] is None else np.concatenate([first[n], more[n]], axes[n]) for n in given}
    if "cu" in joined:  # the rows behind are of the last sequence
        joined["cu"] = np.append(first["cu"][:-1], rows_in(m, joined)).astype(np.int32)
    return joined
