"""Judging code of your own by the oracle, with the tolerances of docs/ORACLE.md.

    seqmix.testing.assert_close(mine, seqmix.ref.las_attention_qkv(q, k, v, H=4), dtype="bf16")
    seqmix.testing.check_layer(my_torch_function, "las_attention_qkv", seeds=5, lengths=(1, 17, 300, 1025), H=4)

An array passes when max |mine - theirs| <= tol * scale, the scale being the largest magnitude of `theirs`. NaN never passes.
"""
from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import warnings
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import ref
from ._arrays import shape_text, to_numpy
from ._errors import SeqmixError

__all__ = ["Fault", "Report", "assert_close", "check_layer", "draw", "tolerances"]

_SAME = {"float64": "f64", "double": "f64", "float32": "f32", "float": "f32", "float16": "f16", "half": "f16", "bfloat16": "bf16"}


@functools.lru_cache(maxsize=None)
def tolerances() -> dict[str, float]:
    """Of each format, what is allowed relative to the scale: {"f64": 1e-12, "f32": 2e-05, "f16": 2**-8, "bf16": 2**-5}."""
    return {f["name"]: 1 / f["tol_is_1_in"] for f in ref._tables()["formats"]}


def _format(dtype: Any, mine: Any = None) -> str:
    if dtype is None:
        dtype = getattr(mine, "dtype", "float64")
    name = str(getattr(dtype, "__name__", dtype)).removeprefix("torch.")
    name = _SAME.get(name, name)
    if name not in tolerances():
        raise SeqmixError(f"dtype is {dtype}; it must be one of {', '.join(tolerances())}, or NumPy's or PyTorch's name for one")
    return name


def _float64(value: Any, name: str) -> np.ndarray:
    array = to_numpy(value, name)
    if array.dtype.kind not in "fiu":
        raise SeqmixError(f"{name} holds {array.dtype}; real numbers are allowed")
    return array.astype(np.float64)


def _error(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """By element: |mine - theirs|; infinite where either is NaN, and for infinities that differ."""
    with np.errstate(invalid="ignore"):
        error = np.where(mine == theirs, 0.0, np.abs(mine - theirs))
    return np.where(np.isnan(error), np.inf, error)


def _scale(theirs: np.ndarray) -> float:
    return float(np.max(np.abs(theirs), initial=0.0, where=np.isfinite(theirs)))


def assert_close(mine: Any, theirs: Any, dtype: Any = None, tol: float | None = None, name: str = "the result") -> None:
    """Raise AssertionError unless `mine` is within tolerance of the reference `theirs`, of the same shape.

    dtype: the format that `mine` was computed in: "f64", "f32", "f16", "bf16", or NumPy's or PyTorch's name for it; without it
    that of `mine`. (NumPy has no bfloat16: say "bf16".) tol: instead of the format's. Arrays, lists, or tensors on any device."""
    form = _format(dtype, mine)
    a, b = _float64(mine, "mine"), _float64(theirs, "theirs")
    if a.shape != b.shape:
        raise AssertionError(f"{name} has the shape {shape_text(a.shape)}; the reference has {shape_text(b.shape)}")
    allowed = tolerances()[form] if tol is None else tol
    error, scale = _error(a, b), _scale(b)
    if not error.size or error.max() <= allowed * scale < math.inf:
        return
    at = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    past = int(np.count_nonzero(~(error <= allowed * scale)))
    raise AssertionError(
        f"{name} is not within {form}'s tolerance: at {shape_text(at)} it is {a[at]:.9g}, the reference {b[at]:.9g}; "
        f"largest difference {error.max():.3g} = {error.max() / scale if scale else math.inf:.3g} of the scale {scale:.3g}, "
        f"{allowed:.3g} is allowed; {past} of {error.size} numbers are past it"
    )


# ---- Inputs


def _sizes(mechanism: ref.Mechanism, length: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a case of that length: sizes of the mechanism's first case, and what was given. Where a length must be
    divisible, the next that is."""
    needed = {n for n, p in mechanism.params.items() if p["type"].startswith("size") or p["type"] == "real" and not p["default"]}
    sizes = {n: v for n, v in mechanism._case.items() if n in needed}
    params = {**sizes, **given}
    if "L" in mechanism.params and "L" not in given:
        step = math.lcm(*(int(params[n]) for n in ("n_bins", "C") if n in params))
        params["L"] = -(-length // step) * step
    return params


def draw(mechanism: str, seed: int = 0, length: int = 17, batch: Sequence[int] = (), optional: Any = True, **params: Any) -> dict[str, Any]:
    """Inputs of a mechanism that are good to test with, by name, and its parameters under "params": drawn from the ranges of
    `seqmix vectors`, numbers of eight significant bits, which are the same in float64, float32, float16 and bfloat16. Every size
    that is not given is that of the mechanism's first case in the set. batch: leading dimensions of what each sequence has its own of.
    optional: names of the optional inputs that are wanted; True: all, False: none."""
    m = getattr(ref, mechanism)
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
        inputs[name] = array if shared else np.stack([p[name] for p, _ in pieces]).reshape(*batch, *array.shape)
    return {**inputs, "params": sizes}


def name_is_data(mechanism: ref.Mechanism, name: str) -> bool:
    """Whether an input has rows (its shape begins with L), as no weight does."""
    return any(a.name == name and a.shape.split()[0] == "L" and a.kind == "input" for a in mechanism._arrays)


def _draw_piece(m: ref.Mechanism, random: np.random.Generator, sizes: Mapping[str, Any], optional: Any) -> tuple[dict[str, np.ndarray], float]:
    with ref._Case(m.name, sizes) as case:
        case.shapes()
        inputs = {}
        for a in m._active(sizes):
            if a.kind != "input" or (a.optional and a.name != "dy" and not (optional is True or (optional and a.name in optional))):
                continue
            low, high, shift = m._draws[a.name]
            shape, _ = case.get("i", a.name)
            if a.integer:
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


# ---- What kind of fault it looks like


def _ratio(mine: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """The factor c for which c * theirs is nearest to mine, and what is left relative to mine."""
    norm = float((theirs * theirs).sum())
    if not norm or not np.isfinite(mine).all():
        return 1.0, math.inf
    c = float((mine * theirs).sum()) / norm
    size = float(np.abs(mine).max())
    return c, float(np.abs(mine - c * theirs).max()) / size if size else 0.0


def _number(c: float, d: int) -> str:
    known = {"-1": -1.0, "2": 2.0, "1/2": 0.5, f"sqrt(d) = sqrt({d})": d**0.5, f"1/sqrt(d) = 1/sqrt({d})": d**-0.5, f"d = {d}": float(d), f"1/d = 1/{d}": 1 / d}
    return next((text for text, value in known.items() if abs(c / value - 1) < 1e-3), f"{c:.5g}")


def _places(bad: np.ndarray, layout: str, heads: int) -> str:
    """Where the numbers past tolerance are, if that says something. bad [...][L][D], or [...][H][L][d]."""
    if bad.ndim < 2 or bad.all():
        return ""
    rows = bad.any(axis=tuple(i for i in range(bad.ndim) if i != bad.ndim - 2))
    if rows.sum() < rows.size:
        first, last = int(np.argmax(rows)), int(rows.size - 1 - np.argmax(rows[::-1]))
        if rows[first:].all():
            return f"right up to row {first - 1}, wrong from row {first} on"
        if rows[: last + 1].all():
            return f"wrong up to row {last}, right from row {last + 1} on"
        return f"{int(rows.sum())} of {rows.size} rows are wrong, the first is row {first}"
    by_head = bad if layout == "bhld" else np.moveaxis(bad.reshape(*bad.shape[:-1], heads, -1), -2, -3)
    wrong = by_head.any(axis=tuple(i for i in range(by_head.ndim) if i != by_head.ndim - 3))
    if by_head.ndim > 2 and not wrong.all():
        return f"only head{'s' * (wrong.sum() > 1)} {', '.join(map(str, np.flatnonzero(wrong)))} of {wrong.size} are wrong"
    return ""


class _Judge:
    """One case: what the oracle says of it, and of variants of it."""

    def __init__(self, m: ref.Mechanism, inputs: dict[str, np.ndarray], params: dict[str, Any], layout: str, form: str) -> None:
        self.m, self.inputs, self.params, self.layout, self.form = m, inputs, params, layout, form
        self.tol = tolerances()[form]
        self.heads = int(params.get("H", 1))
        self.d = next((a.shape[-1] // (1 if layout == "bhld" else self.heads) for n, a in inputs.items() if n in "qx"), 1)

    def run(self, inputs: Mapping[str, Any] | None = None, **changes: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        more = {**(self.inputs if inputs is None else inputs), **self.params, **changes}
        dy = more.pop("dy", None)
        kind = {"layout": self.layout} if self.m.has_heads else {}
        if dy is None:
            value, gradients = self.m(**more, **kind), {}
        else:
            value, gradients = self.m.value_and_grad(**more, dy=dy, **kind)
        return (value if isinstance(value, np.ndarray) else value[0]), gradients

    @functools.cached_property
    def moved(self) -> dict[str, float]:
        """How far each result moves, at most, when every input moves by one unit roundoff of the format, up or down."""
        u = 2.0 ** -next(f["digits"] for f in ref._tables()["formats"] if f["name"] == self.form)
        value, slopes = self.run()
        most: dict[str, float] = {}
        for draw_number in range(3):
            random = np.random.default_rng(draw_number)
            near = {n: a if a.dtype == np.int32 else a * (1 + random.choice((-u, u), a.shape)) for n, a in self.inputs.items()}
            other, others = self.run(near)
            pairs = {"y": (other, value), **{f"d_{n}": (others[n], slopes[n]) for n in slopes}}
            for name, (a, b) in pairs.items():
                most[name] = max(most.get(name, 0.0), float(np.abs(a - b).max(initial=0)))
        return most

    def same(self, mine: np.ndarray, theirs: np.ndarray, loose: float = 4) -> bool:
        return mine.shape == theirs.shape and bool(_error(mine, theirs).max(initial=0) <= loose * self.tol * _scale(theirs))

    def _variants(self):
        """Near misses: (what they would mean, the oracle's inputs, changed parameters)."""
        for name, p in self.m.params.items():
            now = self.params.get(name, ref._default(p))
            if p["type"] == "flag":
                yield f"with {name}={not now}", None, {name: not now}
            elif "|" in p["type"]:
                for word in p["type"].split("|"):
                    if word != now:
                        yield f"with {name}={word!r}", None, {name: word}
        data = {n: a for n, a in self.inputs.items() if n != "dy" and a.dtype != np.int32}
        for a in self.m._arrays:
            if a.name in data and a.optional:
                yield f"without {a.name}", {n: v for n, v in self.inputs.items() if n != a.name}, {}
        for name in data.keys() & {"filter_q", "filter_k", "filter_v", "filter", "conv_k", "conv_bias", "short_3", "short_n"}:
            yield f"with the taps of {name} in reverse order", {**self.inputs, name: data[name][..., ::-1]}, {}
        names = list(data)
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                if data[one].shape == data[other].shape:
                    yield f"with {one} and {other} exchanged", {**self.inputs, one: data[other], other: data[one]}, {}
            if data[one].ndim == 2 and not name_is_data(self.m, one) and data[one].shape[0] == data[one].shape[1]:
                yield f"with {one} transposed ([out][in]; every matrix here is [in][out])", {**self.inputs, one: data[one].T}, {}
        for name in ("q", "wq"):
            if name in data and self.d > 1:
                for text, c in (("without the factor 1/sqrt(d) of the logits", self.d**0.5), ("with the factor 1/sqrt(d) of the logits twice", self.d**-0.5)):
                    yield text, {**self.inputs, name: data[name] * c}, {}
        if self.heads > 1:
            yield "with H=1, one head over all columns", None, {"H": 1}

    def _moved(self, mine: np.ndarray, theirs: np.ndarray) -> str:
        """The right numbers in the wrong places."""
        if mine.ndim < 2:
            return ""
        length = mine.shape[-2]
        if length > 2:
            for shift in (1, -1):
                a, b = (mine[..., 1:, :], theirs[..., :-1, :]) if shift > 0 else (mine[..., :-1, :], theirs[..., 1:, :])
                if self.same(a, b):
                    return f"every row is the reference's row {'before' if shift > 0 else 'after'} it: one row {'late' if shift > 0 else 'early'}"
            if self.same(mine, theirs[..., ::-1, :]):
                return "the rows are in reverse order"
        if self.heads > 1 and mine.size:
            if self.layout == "bld":
                split = theirs.reshape(*theirs.shape[:-1], self.heads, -1)
                mixed = np.moveaxis(split, -2, -3).reshape(theirs.shape), np.swapaxes(split, -1, -2).reshape(theirs.shape)
            else:
                mixed = (np.moveaxis(theirs, -3, -2).reshape(theirs.shape),)
            if any(self.same(mine, other) for other in mixed):
                return "the numbers are right, their places are not: heads and rows (or columns) are laid out the other way round"
        return ""

    def explain(self, mine: np.ndarray, theirs: np.ndarray, which: str, forward_right: bool, behaviour: Callable[[], str]) -> str:
        """One sentence. behaviour: tries the function itself, says what is odd about it, or ""."""
        if mine.shape != theirs.shape:
            text = f"the shape is {shape_text(mine.shape)}, not {shape_text(theirs.shape)}"
            return text + f": another layout? (layout={self.layout!r} was asked for)" * (mine.size == theirs.size)
        if not np.isfinite(mine).all():
            bad = ~np.isfinite(mine)
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            text = f"{int(bad.sum())} of {mine.size} numbers are NaN or infinite, the first at {shape_text(at)}"
            return text + " (a row where everything is masked? exp of a large number?)"
        error, scale = _error(mine, theirs), _scale(theirs)
        if not mine.any() and scale:
            return "all zero" + (": is the graph cut (detach, no_grad, a backward that returns None)?" if which != "y" else "")
        if odd := behaviour():
            if odd.startswith("two calls"):
                return odd
        half = tolerances()["f16"]
        if self.tol < half and error.max() <= half * scale:
            return "within float16's tolerance: something is computed or stored in lower precision (TF32, half), or approximated"
        c, rest = _ratio(mine, theirs)
        if rest <= 4 * self.tol and mine.size > 1:
            return f"the reference times {_number(c, self.d)}: a factor is missing or taken twice"
        if moved := self._moved(mine, theirs):
            return moved
        if which == "y":
            for text, inputs, changes in self._variants():
                try:
                    other = self.run(inputs, **changes)[0]
                except SeqmixError:
                    continue
                if self.same(mine, other):
                    return f"it is what the oracle gives {text}"
        elif forward_right:
            for name, other in self.run()[1].items():
                if f"d_{name}" != which and self.same(mine, other):
                    return f"it is the gradient by {name}"
        if odd:
            return odd
        where = _places(error > self.tol * scale, self.layout, self.heads)
        if which != "y":
            return "the forward pass is right, the backward pass computes something else" + (where and f": {where}")
        return where or "no near miss that is known: the numbers are wrong everywhere"


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
    """One array that was past its tolerance: of which length and seed, which array ("y", "d_q"), how far of the scale, and what it
    looks like."""

    length: int
    seed: int
    array: str
    error: float
    looks_like: str

    def __str__(self) -> str:
        return f"length {self.length}, seed {self.seed}: {self.array} is off by {self.error:.3g} of its scale: {self.looks_like}"


@dataclasses.dataclass(frozen=True)
class Report:
    """What check_layer found. `worst`: of each array, the largest error in units of its tolerance (1 is the most that passes)."""

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
            return f"{self.mechanism}: right in {self.cases} cases as {self.dtype}; largest errors, in tolerances: {worst}"
        at = sorted({f.length for f in self.faults})
        lines = [f"{self.mechanism}: {len(self.faults)} arrays past {self.dtype}'s tolerance, at the lengths {', '.join(map(str, at))}"]
        seen: dict[tuple[str, str], Fault] = {}
        for fault in self.faults:
            if fault.looks_like != FOLLOWS:
                seen.setdefault((fault.array, fault.looks_like), fault)
        return "\n  ".join(lines + [str(f) for f in list(seen.values())[:12]])


def _call(function: Callable, mechanism: ref.Mechanism, tensors: Mapping[str, Any], params: Mapping[str, Any]) -> Any:
    """Required inputs by position, in the mechanism's order; optional ones and parameters where the function has their names."""
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


def _behaviour(m: ref.Mechanism, judge: _Judge, call: Callable[[Mapping[str, np.ndarray]], np.ndarray], mine: np.ndarray) -> str:
    """Whether two calls differ; where the oracle is causal and the function is not, the first row that hears of the last."""
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
    return f"it looks ahead: row {int(np.argmax(rows))} changes with row {rows.size}, the last" if rows.any() else ""


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
    """Judge a PyTorch function, forward and by autograd, against the oracle's `mechanism`, on inputs that are drawn for it.

    function: called with the mechanism's required inputs in its order, as tensors of `dtype` on `device` that require gradients
        (`help(seqmix.ref.NAME)` tells their names and shapes), and by keyword with those of its parameters that it has arguments
        for. It returns y.
    seeds, lengths: how many draws of each length. A length that does not fit (bins) is rounded up.
    layout: "bhld": q, k, v, y are [*batch][H][L][d]; else [*batch][L][H*d]. batch: leading dimensions of what each sequence has its own of.
    optional: optional inputs to draw; the function gets them by name. Without it: those that it has arguments for.
    params: the mechanism's, `H=4`, `pool="masked"`; sizes that are not given are those of its first test vector.
    gradients: False: forward only. raises: False: return the report also where something is wrong.

    Returns a Report, or raises AssertionError with it: which arrays are past tolerance, where, and what kind of fault it looks
    like. In bfloat16 and float16 a small wrong term can hide: judge the formula in float32 first."""
    import torch as pytorch

    m = getattr(ref, mechanism)
    form = _format(dtype)
    kind = {"f64": pytorch.float64, "f32": pytorch.float32, "f16": pytorch.float16, "bf16": pytorch.bfloat16}[form]
    if optional is None:
        names = getattr(inspect.signature(function), "parameters", {}) if callable(function) else {}
        optional = [a.name for a in m._arrays if a.optional and a.name in names]
    faults: list[Fault] = []
    worst: dict[str, float] = {}
    cases = 0
    for length in lengths:
        for seed in range(seeds):
            drawn = draw(m.name, seed, length, batch, optional, **params)
            sizes = drawn.pop("params")
            if not gradients or not m.has_gradient:
                drawn.pop("dy", None)
            if layout == "bhld":
                drawn = {n: ref._split(a, c, sizes["H"]) if (c := _columns(m, n, sizes)) is not None else a for n, a in drawn.items()}
            judge = _Judge(m, drawn, {n: v for n, v in sizes.items() if n not in drawn}, layout, form)
            one = _one_case(function, m, judge, kind, device, pytorch)
            cases += 1
            for name, (share, _, _) in one.items():
                worst[name] = max(worst.get(name, 0.0), share)
            faults += [Fault(sizes.get("L", 0), seed, name, error, why) for name, (_, error, why) in one.items() if why]
    report = Report(m.name, form, cases, worst, faults)
    if raises and not report:
        raise AssertionError(str(report))
    return report


def _columns(m: ref.Mechanism, name: str, params: Mapping[str, Any]) -> str | None:
    return next((ref._heads_columns(a.shape) for a in m._active(params) if a.name == name and m.has_heads), None)


def _one_case(function: Callable, m: ref.Mechanism, judge: _Judge, kind: Any, device: Any, pytorch: Any) -> dict[str, tuple[float, float, str]]:
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
            return _float64(_call(function, m, tensors(inputs, False), judge.params), "y")

    given = tensors(judge.inputs, True)
    y = _call(function, m, given, judge.params)
    if not isinstance(y, pytorch.Tensor):
        raise SeqmixError(f"{getattr(function, '__name__', 'the function')} returned {type(y).__name__}; it must return the tensor y")
    right, slopes = judge.run()
    mine = {"y": (y, right)}
    dy = judge.inputs.get("dy")
    if dy is not None and y.shape == right.shape:
        if y.requires_grad:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                y.backward(pytorch.tensor(dy, device=device).to(y.dtype))
        mine |= {f"d_{n}": (given[n].grad, slopes[n]) for n in slopes}
    least = max((_scale(g) for g in slopes.values()), default=0.0) * LEAST
    results: dict[str, tuple[float, float, str]] = {}
    for name, (value, theirs) in mine.items():
        array = np.zeros_like(theirs) if value is None else _float64(value, name)
        scale = max(_scale(theirs), least if name != "y" else 0.0)
        error = float(_error(array, theirs).max(initial=0)) if array.shape == theirs.shape else math.inf
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
