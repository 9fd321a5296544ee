"""Kinds of draws that faults hide from: full precision, huge, tiny, saturated, zero keys, shut gates ..."""
from __future__ import annotations

import functools
import math
from typing import Any, Callable, Mapping

import numpy as np

from . import ref
from ._draws import draw, name_is_data
from ._errors import SeqmixError
from ._formats import FORMATS, rounded

GATES = (0.0, -0.01, -1.0, -2.5, -4.0, -6.0, -9.0, -20.0, -80.0)
KEYS = ("k", "kk", "a", "b", "p", "w")  # of delta rules, no longer than 1


@functools.lru_cache(maxsize=None)
def scalable(mechanism: str, given: tuple = ()) -> frozenset[str]:
    """Inputs in which y is homogeneous (twice such an input is 2, 4 ... times y): those that may be huge or
    tiny. None where the mechanism does not take the sizes that are drawn."""
    try:
        return _scalable(mechanism, given)
    except SeqmixError:
        return frozenset()


def _scalable(mechanism: str, given: tuple) -> frozenset[str]:
    m = getattr(ref, mechanism)
    drawn = draw(mechanism, 1, 8, (), False, **dict(given))
    params = {n: v for n, v in drawn.pop("params").items() if n not in drawn}
    drawn.pop("dy", None)
    found = set()
    for name, array in drawn.items():
        if array.dtype == np.int32:
            continue
        first, second = (_first(m(**{**drawn, name: array * c}, **params)) for c in (1, 2))
        for power in (1, 2):
            if np.abs(first).max() and np.abs(second - 2**power * first).max() <= 1e-9 * np.abs(second).max():
                found.add(name)
    return frozenset(found)


def _first(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else value[0]


def _is_gate(m: ref.Mechanism, name: str) -> bool:
    """A logarithm of a decay: never above 0."""
    low, high, _ = m._draws[name]
    return low < 0 and high <= 0


def kinds(m: ref.Mechanism, form: str, given: Mapping[str, Any]) -> dict[str, Callable]:
    """The kinds of draws that say something of the mechanism: each changes the drawn inputs in place."""
    found: dict[str, Callable] = {"usual": lambda inputs, random: None, "full": functools.partial(_full, m, form)}
    names = {a.name for a in m._active(given) if a.kind == "input"}
    gates = sorted(n for n in names if _is_gate(m, n))
    free = sorted(scalable(m.name, tuple(sorted((n, v) for n, v in given.items() if np.isscalar(v)))) & names)
    if free:
        found["huge"] = functools.partial(_scaled, free, FORMATS[form].huge)
        found["tiny"] = functools.partial(_scaled, free, 1 / FORMATS[form].huge)
    loud = [n for n in ("q", "logits") if n in names and n not in free]
    if loud and FORMATS[form].most > 1e5:
        found["saturated"] = functools.partial(_saturated, loud)
    quiet = [n for n in ("k", "x") if n in names]
    if quiet:
        found["zero keys"] = functools.partial(_zeros, quiet)
    if gates:
        found["gates of all kinds"] = functools.partial(_gates, gates, GATES)
        found["gates open"] = functools.partial(_gates, gates, (0.0,))
        found["gates shut"] = functools.partial(_gates, gates, (-math.inf, -0.25, -0.5, -1.0))
    if "beta" in names:
        found["beta 0, 1, 2"] = functools.partial(_gates, ["beta"], (0.0, 1.0, 2.0))
    return found


def _full(m: ref.Mechanism, form: str, inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    """Every significant bit of the format in use."""
    for name, a in inputs.items():
        if a.dtype == np.int32:
            continue
        low, high, shift = m._draws[name]
        near = a + (random.random(a.shape) - 0.5) / 2.0**shift
        inputs[name] = rounded(np.clip(near, low / 2.0**shift, high / 2.0**shift), form)


def _scaled(names: list[str], factor: float, inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    there = [n for n in names if n in inputs]
    for name in there and [there[int(random.integers(len(there)))]]:
        inputs[name] = inputs[name] * factor


def _saturated(names: list[str], inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    """Each row by a factor of its own, 1 to 64: logits past what exp of a float can be, beside usual ones."""
    for name in names:
        rows = inputs[name].shape[:-1] + (1,)
        inputs[name] = inputs[name] * 2.0 ** random.integers(0, 7, rows)


def _zeros(names: list[str], inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    for name in names:
        if name in inputs:
            rows = inputs[name].shape[:-1] + (1,)
            inputs[name] = inputs[name] * (random.random(rows) < 0.6)


def _gates(names: list[str], values: tuple, inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    for name in names:
        if name in inputs:
            inputs[name] = np.array(values)[random.integers(0, len(values), inputs[name].shape)]


def calm(m: ref.Mechanism, inputs: dict[str, np.ndarray], columns: int) -> None:
    """Keys of delta rules shorter than 1 at any width: what erases with them stays bounded."""
    if columns <= 8 or not {"beta", "kk", "w", "a"} & inputs.keys():
        return
    for name in KEYS:
        if name in inputs and name_is_data(m, name) and m._draws[name][1] / 2.0 ** m._draws[name][2] < 0.5:
            inputs[name] = inputs[name] * 2.0 ** -math.ceil(math.log2(columns / 8) / 2)
