"""Judging code of your own by the oracle, with the tolerances of docs/ORACLE.md.

    seqmix.testing.assert_close(mine, seqmix.ref.las_attention_qkv(q, k, v, H=4), dtype="bf16")
    seqmix.testing.check_layer(my_torch_function, "las_attention_qkv", seeds=5, lengths=(1, 17, 300, 1025),
    H=4)

An array passes when max |mine - theirs| <= tol * scale, the scale being the largest magnitude of `theirs`.
NaN never passes.
"""
from __future__ import annotations

import dataclasses
import inspect
import math
import warnings
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import ref
from ._arrays import count
from ._draws import draw, name_is_data
from ._errors import SeqmixError
from ._faults import Judge
from ._tolerances import assert_close, error_of, float64, format_of, scale_of, tolerances

__all__ = ["Fault", "Report", "assert_close", "check_layer", "draw", "tolerances"]

FOLLOWS = "as y is wrong"
# A gradient's scale is at least this share of the largest one of its case: one that is zero but for
# rounding (of queries, where there is one row) is a difference of terms as large as the others.
LEAST = 0.1
# What is allowed where an array is sensitive: so many times what it moves by when every input moves by one
# unit roundoff. Float64 and float32 do all their sums in the format, the two others store results in it
# (docs/ORACLE.md).
SENSITIVE = {"f64": 16, "f32": 16, "f16": 2, "bf16": 2}


@dataclasses.dataclass(frozen=True)
class Fault:
    """One array that was past its tolerance: of which length and seed, which array ("y", "d_q"), how far of
    the scale, and what it looks like."""

    length: int
    seed: int
    array: str
    error: float
    looks_like: str

    def __str__(self) -> str:
        return (
            f"length {self.length}, seed {self.seed}: {self.array} is off by {self.error:.3g} of its scale:"
            f" {self.looks_like}"
        )


@dataclasses.dataclass(frozen=True)
class Report:
    """What check_layer found. `worst`: of each array, the largest error in units of its tolerance (1 is the
    most that passes)."""

    mechanism: str
    dtype: str
    cases: int
    worst: dict[str, float]
    faults: list[Fault]

    def __bool__(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        if not self.faults:
            worst = ", ".join(f"{name} {share:.2g}" for name, share in self.worst.items())
            return (
                f"{self.mechanism}: right in {self.cases} cases as {self.dtype}; largest errors, in"
                f" tolerances: {worst}"
            )
        at = sorted({f.length for f in self.faults})
        lines = [
            f"{self.mechanism}: {len(self.faults)} arrays past {self.dtype}'s tolerance, at the lengths"
            f" {', '.join(map(str, at))}"
        ]
        seen: dict[tuple[str, str], Fault] = {}
        for fault in self.faults:
            if fault.looks_like != FOLLOWS:
                seen.setdefault((fault.array, fault.looks_like), fault)
        return "\n  ".join(lines + [str(f) for f in list(seen.values())[:12]])


def _call(
    function: Callable, mechanism: ref.Mechanism, tensors: Mapping[str, Any], params: Mapping[str, Any]
) -> Any:
    """Required inputs by position, in the mechanism's order; optional ones and parameters where the function
    has their names."""
    try:
        accepts = inspect.signature(function).parameters
    except (TypeError, ValueError):
        accepts = {}
    anything = any(p.kind is p.VAR_KEYWORD for p in accepts.values())
    optional = {a.name for a in mechanism._arrays if a.optional}
    first = [t for n, t in tensors.items() if n not in optional]
    named = {n: t for n, t in tensors.items() if n in optional}
    named |= {ref._python_name(n): v for n, v in params.items() if ref._python_name(n) in accepts or anything}
    return function(*first, **named)


def _behaviour(
    m: ref.Mechanism, judge: Judge, call: Callable[[Mapping[str, np.ndarray]], np.ndarray], mine: np.ndarray
) -> str:
    """Whether two calls differ; where the oracle is causal and the function is not, the first row that hears
    of the last."""
    first = call(judge.inputs)
    if not np.array_equal(first, call(judge.inputs), equal_nan=True):
        return "two calls on the same inputs differ: dropout, or something else that is drawn?"
    if mine.ndim < 2 or mine.shape[-2] < 2:
        return ""
    moved = {n: a.copy() if name_is_data(m, n) and n != "dy" else a for n, a in judge.inputs.items()}
    for name in moved:
        if name_is_data(m, name) and name != "dy" and moved[name].dtype != np.int32:
            moved[name][..., -1, :] *= -1
    try:
        exact = judge.run()[0] == judge.run(moved)[0]
    except SeqmixError:
        return ""
    if not exact[..., :-1, :].all():
        return ""  # the oracle looks ahead here, too
    rows = (call(moved) != first)[..., :-1, :]
    rows = rows.any(axis=tuple(i for i in range(rows.ndim) if i != rows.ndim - 2))
    return (
        f"it looks ahead: row {int(np.argmax(rows))} changes with row {rows.size}, the last"
        if rows.any()
        else ""
    )


def check_layer(
    function: Callable[..., Any],
    mechanism: str,
    seeds: int = 5,
    lengths: Sequence[int] = (1, 17, 300, 1025),
    dtype: Any = "f32",
    layout: str = "bld",
    batch: Sequence[int] = (2,),
    optional: Sequence[str] | None = None,
    gradients: bool = True,
    device: Any = "cpu",
    raises: bool = True,
    **params: Any,
) -> Report:
    """Judge a PyTorch function, forward and by autograd, against the oracle's `mechanism`, on inputs that are
    drawn for it.

    function: called with the mechanism's required inputs in its order, as tensors of `dtype` on `device` that
        require gradients (`help(seqmix.ref.NAME)` tells their names and shapes), and by keyword with those of
        its parameters that it has arguments for. It returns y.
    seeds, lengths: how many draws of each length. A length that does not fit (bins) is rounded up.
    layout: "bhld": q, k, v, y are [*batch][H][L][d]; else [*batch][L][H*d]. batch: leading dimensions of what
        each sequence has its own of.
    optional: optional inputs to draw; the function gets them by name. Without it: those that it has arguments
        for.
    params: the mechanism's, `H=4`, `pool="masked"`; sizes that are not given are those of its first test
        vector.
    gradients: False: forward only. raises: False: return the report also where something is wrong.

    Returns a Report, or raises AssertionError with it: which arrays are past tolerance, where, and what kind
        of fault it looks
    like. In bfloat16 and float16 a small wrong term can hide: judge the formula in float32 first."""
    import torch as pytorch

    m = getattr(ref, mechanism)
    form = format_of(dtype)
    kind = {"f64": pytorch.float64, "f32": pytorch.float32, "f16": pytorch.float16, "bf16": pytorch.bfloat16}[
        form
    ]
    if optional is None:
        names = getattr(inspect.signature(function), "parameters", {}) if callable(function) else {}
        optional = [a.name for a in m._arrays if a.optional and a.name in names]
    faults: list[Fault] = []
    worst: dict[str, float] = {}
    cases = 0
    if count(seeds, "seeds") < 1 or not len(lengths):  # nothing would be judged, and found right
        raise SeqmixError(f"seeds is {seeds}, lengths {lengths!r:.60}; at least one of each is needed")
    if "L" in params:
        raise SeqmixError(f"L is {params['L']!r:.40}; lengths says how long the cases are")
    if layout not in ("bld", "bhld") or layout == "bhld" and not m.has_heads:
        allowed = "'bld' or 'bhld'" if m.has_heads else f"'bld': {m.name} has no q, k, v"
        raise SeqmixError(f"layout is {layout!r:.40}; it must be {allowed}")
    for length in lengths:
        for seed in range(seeds):
            drawn = draw(m.name, seed, length, batch, optional, **params)
            sizes = drawn.pop("params")
            if not gradients or not m.has_gradient:
                drawn.pop("dy", None)
            if layout == "bhld":
                drawn = {
                    n: ref._split(a, c, sizes["H"]) if (c := _columns(m, n, sizes)) is not None else a
                    for n, a in drawn.items()
                }
            judge = Judge(m, drawn, {n: v for n, v in sizes.items() if n not in drawn}, layout, form)
            one = _one_case(function, m, judge, kind, device, pytorch)
            cases += 1
            for name, (share, _, _) in one.items():
                worst[name] = max(worst.get(name, 0.0), share)
            faults += [
                Fault(sizes.get("L", 0), seed, name, error, why)
                for name, (_, error, why) in one.items()
                if why
            ]
    report = Report(m.name, form, cases, worst, faults)
    if raises and not report:
        raise AssertionError(str(report))
    return report


def _columns(m: ref.Mechanism, name: str, params: Mapping[str, Any]) -> str | None:
    return next(
        (ref._heads_columns(a.shape) for a in m._active(params) if a.name == name and m.has_heads), None
    )


def _one_case(
    function: Callable, m: ref.Mechanism, judge: Judge, kind: Any, device: Any, pytorch: Any
) -> dict[str, tuple[float, float, str]]:
    """Of each array: error in tolerances, error of the scale, and what it looks like ("": it is right)."""

    def tensors(inputs: Mapping[str, np.ndarray], grad: bool) -> dict[str, Any]:
        made = {}
        for n in m.inputs:
            if n in inputs:
                whole = inputs[n].dtype == np.int32
                t = pytorch.tensor(np.ascontiguousarray(inputs[n]), device=device)
                made[n] = t.long() if whole else t.to(kind).requires_grad_(grad)
        return made

    def forward(inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        with pytorch.no_grad():
            return float64(_call(function, m, tensors(inputs, False), judge.params), "y")

    given = tensors(judge.inputs, True)
    y = _call(function, m, given, judge.params)
    if not isinstance(y, pytorch.Tensor):
        raise SeqmixError(
            f"{getattr(function, '__name__', 'the function')} returned {type(y).__name__}; it must return the"
            " tensor y"
        )
    right, slopes = judge.run()
    mine = {"y": (y, right)}
    dy = judge.inputs.get("dy")
    if dy is not None and y.shape == right.shape:
        if y.requires_grad:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                y.backward(pytorch.tensor(dy, device=device).to(y.dtype))
        mine |= {f"d_{n}": (given[n].grad, slopes[n]) for n in slopes}
    least = max((scale_of(g) for g in slopes.values()), default=0.0) * LEAST
    results: dict[str, tuple[float, float, str]] = {}
    for name, (value, theirs) in mine.items():
        array = np.zeros_like(theirs) if value is None else float64(value, name)
        scale = max(scale_of(theirs), least if name != "y" else 0.0)
        error = float(error_of(array, theirs).max(initial=0)) if array.shape == theirs.shape else math.inf
        relative = error / scale if scale else (0.0 if not error else math.inf)
        why, allowed = "", judge.tol
        if not relative <= allowed and scale:  # some cases are more sensitive than others
            allowed = min(max(allowed, SENSITIVE[judge.form] * judge.moved[name] / scale), 1 / 16)
        if not relative <= allowed:
            forward_right = not results.get("y", (0, 0, ""))[2]
            odd = (lambda: _behaviour(m, judge, forward, array)) if name == "y" else (lambda: "")
            why = judge.explain(array, theirs, name, forward_right, odd) if forward_right else FOLLOWS
        results[name] = (relative / allowed, relative, why)
    return results
