"""Inputs that are good to test with, drawn from the ranges of `seqmix vectors`."""
from __future__ import annotations

import math
import numbers
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from . import ref
from ._arrays import count, counts, shape_text
from ._errors import SeqmixError


def usual_sizes(mechanism: ref.Mechanism) -> dict[str, Any]:
    """Sizes, and numbers that must be given, of the mechanism's first case."""
    needed = {
        n
        for n, p in mechanism.params.items()
        if p["type"].startswith("size") or p["type"] == "real" and not p["default"]
    }
    return {n: v for n, v in mechanism._case.items() if n in needed}


def _sizes(mechanism: ref.Mechanism, length: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a case of that length: sizes of the mechanism's first case, and what was given. Where a
    length must be divisible, the next that is."""
    params = {**usual_sizes(mechanism), **given}
    if any(a.name == "cu" for a in mechanism._active(params)):  # packed: one sequence would try nothing
        params.setdefault("N", 3)
    if "L" in mechanism.params and "L" not in given:
        steps = (params[n] for n in ("n_bins", "C") if isinstance(params.get(n), numbers.Integral))
        step = math.lcm(*map(int, steps)) or 1  # (0: the library says that it is not allowed)
        params["L"] = -(-length // step) * step
    return params


def draw(
    mechanism: str,
    seed: int = 0,
    length: int = 17,
    batch: Sequence[int] = (),
    optional: Any = True,
    **params: Any,
) -> dict[str, Any]:
    """Inputs of a mechanism that are good to test with, by name, and its parameters under "params": drawn
    from the ranges of `seqmix vectors`, numbers of eight significant bits, which are the same in float64,
    float32, float16 and bfloat16. Every size that is not given is that of the mechanism's first case in the
    set. batch: leading dimensions of what each sequence has its own of.
    optional: names of the optional inputs that are wanted; True: all, False: none."""
    m = ref._named(mechanism)
    if optional is not True and optional:
        _are_optional(m, optional)
    params = {ref._plain_name(n): v for n, v in params.items()}
    for name in params.keys() - m.params.keys():
        why = f"is an input of {m.name}, which is drawn" if name in m.inputs or name == "dy" else f"is no parameter of {m.name}"
        raise SeqmixError(f"{name} {why}; parameters are {', '.join(m.params)}")
    batch, seed = counts(batch, "batch"), count(seed, "seed")
    if 0 in batch:
        raise SeqmixError(f"batch is {shape_text(batch)}: it has no sequences")
    if count(length, "length") < 1:
        raise SeqmixError("length is 0; at least 1 is needed")
    sizes = _sizes(m, length, params)
    for attempt in range(256):
        random = np.random.default_rng([seed, attempt])
        pieces = [_draw_piece(m, random, sizes, optional) for _ in range(math.prod(batch))]
        if min(margin for _, margin in pieces) >= 1 / 16:
            break
    inputs = {}
    own = {a.name for a in m._active(sizes) if a.sequence}
    for name, array in pieces[0][0].items():
        shared = not batch or name not in own
        inputs[name] = (
            array if shared else np.stack([p[name] for p, _ in pieces]).reshape(*batch, *array.shape)
        )
    return {**inputs, "params": sizes}


def _are_optional(m: ref.Mechanism, names: Sequence[str]) -> None:
    """Each a name of an optional input: another one would be left out in silence."""
    known = [a.name for a in m._arrays if a.kind == "input" and a.optional and a.name != "dy"]
    several = isinstance(names, Iterable) and not isinstance(names, str)
    for name in names if several else [names]:
        if not several or name not in known:
            raise SeqmixError(
                f"optional is {names!r:.60}; a list of names is needed, of {', '.join(known) or 'none'}:"
                f" {m.name}'s optional inputs"
            )


def name_is_data(mechanism: ref.Mechanism, name: str) -> bool:
    """Whether an input has rows (its shape begins with L), as no weight does."""
    return any(a.name == name and a.shape.split()[0] == "L" and a.kind == "input" for a in mechanism._arrays)


def row_axis(m: ref.Mechanism, inputs: Mapping[str, np.ndarray], name: str) -> int | None:
    """Where an input's rows are: [...][L][D], [...][H][L][d], or, a number a head, [...][H][L]; None: it has none."""
    if not name_is_data(m, name) or name not in inputs:
        return None
    ranks = {n: inputs[n].ndim for n in inputs if name_is_data(m, n)}
    heads_first = max(ranks.values()) >= 4 and ranks[name] < max(ranks.values())
    return -1 if heads_first or inputs[name].ndim == 1 else -2


def rows_in(m: ref.Mechanism, inputs: Mapping[str, np.ndarray]) -> int:
    return next(inputs[n].shape[axis] for n in inputs if (axis := row_axis(m, inputs, n)) is not None)


def of_rows(m: ref.Mechanism, inputs: Mapping[str, np.ndarray], keep: slice) -> dict[str, np.ndarray]:
    """The inputs with those rows alone; of one with n rows to a row of the others (DeltaProduct's keys), n each."""
    L = rows_in(m, inputs)

    def kept(a: np.ndarray, axis: int | None) -> np.ndarray:
        if axis is None:
            return a
        at = a.ndim + axis
        apart = a.reshape(*a.shape[:at], L, -1, *a.shape[at + 1 :])[(slice(None),) * at + (keep,)]
        return np.ascontiguousarray(apart.reshape(*a.shape[:at], -1, *a.shape[at + 1 :]))

    found = {n: kept(a, row_axis(m, inputs, n)) for n, a in inputs.items()}
    if "cu" in found and keep.step is None:  # packed sequences that end later end there
        first, last, _ = keep.indices(L)
        found["cu"] = (inputs["cu"].clip(first, last) - first).astype(np.int32)
    return found


def _draw_piece(
    m: ref.Mechanism, random: np.random.Generator, sizes: Mapping[str, Any], optional: Any
) -> tuple[dict[str, np.ndarray], float]:
    with ref._Case(m.name, sizes) as case:
        case.shapes()
        inputs = {}
        for a in m._active(sizes):
            if a.kind != "input" or (
                a.optional and a.name != "dy" and not (optional is True or (optional and a.name in optional))
            ):
                continue
            if _beyond(m, a.name, sizes):
                continue
            low, high, shift = m._draws[a.name]
            shape, _ = case.get("i", a.name)
            if a.name == "cu":  # where packed sequences begin, and L
                inner = np.sort(random.integers(0, sizes["L"], shape[0] - 2, endpoint=True))
                inputs[a.name] = np.concatenate([[0], inner, [sizes["L"]]]).astype(np.int32)
            elif a.integer:
                inputs[a.name] = random.integers(-1, sizes["V"], shape).astype(np.int32)
            else:
                inputs[a.name] = random.integers(low, high, shape, endpoint=True) / 2.0**shift
    margin = math.inf
    if m.name in ("lcat", "landmark_attention_qkv"):
        with ref._Case(m.name, sizes) as case:
            for name, array in inputs.items():
                case.set(name, array)
            case.run()
            margin = case.margin()
    return inputs, margin


def _beyond(m: ref.Mechanism, name: str, sizes: Mapping[str, Any]) -> bool:
    """Of inputs that come in N (x_0, h_0, x_1 ..): whether this one is past the last."""
    number = name.rpartition("_")[2]
    several = number.isdigit() and any(a.name == f"x_{number}" for a in m._arrays)
    return several and "N" in sizes and int(number) >= sizes["N"]
