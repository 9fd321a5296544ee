"""Judging code of your own by the oracle, with the tolerances of docs/ORACLE.md.

    seqmix.testing.assert_close(mine, seqmix.ref.las_attention_qkv(q, k, v, H=4), dtype="bf16")
    seqmix.testing.check_layer(my_torch_function, "las_attention_qkv", H=4)

An array passes when max |mine - theirs| <= tol * scale, the scale being the largest magnitude of `theirs`.
NaN never passes.
"""
from __future__ import annotations

import dataclasses
import importlib.util
import math
import time
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _plan, ref
from ._arrays import count, real
from ._draws import draw, name_is_data
from ._errors import SeqmixError
from ._faults import Judge
from ._kinds import calm, kinds, rounded
from ._layer import Got, Hangs, Layer, Numpy, Torch
from ._tolerances import assert_close, error_of, format_of, scale_of, tolerances

__all__ = ["Fault", "Report", "assert_close", "check_layer", "draw", "tolerances"]

FOLLOWS = "as y is wrong"
# A gradient's scale is at least this share of what the largest gradient of its case comes to by its input's
# scale: one that is zero but for rounding (of queries, where there is one row) is a difference of terms as
# large as the others.
LEAST = 0.1
# What is allowed where an array is sensitive: so many times what it moves by when every input moves by one
# unit roundoff. Float64 and float32 do all their sums in the format, the two others store results in it
# (docs/ORACLE.md).
SENSITIVE = {"f64": 16, "f32": 16, "f16": 2, "bf16": 2}
# A plan ends when so many of its cases are wrong: more would say nothing new.
ENOUGH = 12


@dataclasses.dataclass(frozen=True)
class Fault:
    """One array that was past its tolerance: of which length and seed, which array ("y", "d_q"; "call": what is
    wrong whatever the numbers are), how far of the scale, what it looks like, and the whole case."""

    length: int
    seed: int
    array: str
    error: float
    looks_like: str
    case: str = ""

    def __str__(self) -> str:
        where = f"length {self.length}, seed {self.seed}" + f" ({self.case})" * bool(self.case)
        if self.array == "call":
            return f"{where}: {self.looks_like}"
        return f"{where}: {self.array} is off by {self.error:.3g} of its scale: {self.looks_like}"


@dataclasses.dataclass(frozen=True)
class Report:
    """What check_layer found. `worst`: of each array, the largest error in units of its tolerance (1 is the
    most that passes). `planned`: how many cases there were; fewer were judged where the budget ended, or
    enough was wrong. `only`: what all wrong cases share and no right one has."""

    mechanism: str
    dtype: str
    cases: int
    worst: dict[str, float]
    faults: list[Fault]
    planned: int = 0
    only: str = ""

    def __bool__(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        if not self.faults:
            worst = ", ".join(f"{name} {share:.2g}" for name, share in self.worst.items())
            left = f" of {self.planned}, where the budget ended," if self.planned > self.cases else ""
            return (
                f"{self.mechanism}: right in {self.cases} cases{left} as {self.dtype}; largest errors, in"
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
        if self.only:
            lines.append(f"wrong only where {self.only}")
        return "\n  ".join(lines + [str(f) for f in list(seen.values())[:12]])


def check_layer(
    function: Callable[..., Any],
    mechanism: str,
    seeds: int | None = None,
    lengths: Sequence[int] | None = None,
    dtype: Any = "f32",
    layout: str = "bld",
    batch: Sequence[int] = (2,),
    optional: Sequence[str] | None = None,
    gradients: bool = True,
    device: Any = "cpu",
    raises: bool = True,
    budget: float = 45,
    seed: int = 0,
    arrays: str | None = None,
    backward: Callable[..., Mapping[str, Any]] | None = None,
    time_limit: float = 60,
    **params: Any,
) -> Report:
    """Judge a PyTorch function, forward and by autograd, or a NumPy function, against the oracle's `mechanism`,
    on inputs that are drawn for it.

    function: called with the mechanism's required inputs in its order, as tensors of `dtype` on `device` that
        require gradients (`help(seqmix.ref.NAME)` tells their names and shapes), and by keyword with those of
        its parameters that it has arguments for. It returns y, or (y, states ...) in the order of the oracle.
    budget: seconds. Within them goes a plan of cases: rows about every edge of blocks and up to 4,097; heads,
        columns, batches; draws with all bits, huge, tiny, saturated, gates from 0 to minus infinity; without
        gradients, on strided inputs, twice, in pieces ... in which any two of these meet (docs/ORACLE.md).
        Sizes in `params` stay as they are. seed: of the plan.
    seeds, lengths: instead of the plan, so many draws of each length of sequences in a `batch`, called in the
        plainest way. A length that does not fit (bins) is rounded up.
    layout: "bhld": q, k, v, y are [*batch][H][L][d]; else [*batch][L][H*d]. batch: leading dimensions of what
        each sequence has its own of.
    optional: optional inputs to draw; the function gets them by name. Without it: those that it has arguments
        for.
    params: the mechanism's, `H=4`, `pool="masked"`; sizes that are not given are those of its first test
        vector, or the plan's.
    gradients: False: forward only. raises: False: return the report also where something is wrong.
    arrays: "torch" or "numpy", what the function takes; "torch" where there is PyTorch. backward: gradients
        of a NumPy function, backward(dy, inputs, params), a dict by name like inputs.
    time_limit: seconds for a case of the function's; what takes longer is given up, and is a fault.

    Returns a Report, or raises AssertionError with it: which arrays are past tolerance, where, and what kind
        of fault it looks
    like. In bfloat16 and float16 a small wrong term can hide: judge the formula in float32 first."""
    m = getattr(ref, mechanism)
    form = format_of(dtype)
    if arrays not in (None, "torch", "numpy"):
        raise SeqmixError(f"arrays is {arrays!r:.40}; it must be 'torch' or 'numpy'")
    if backward is not None and arrays == "torch":
        raise SeqmixError("backward is for arrays='numpy'; tensors have autograd")
    by_numpy = arrays == "numpy" or backward is not None or importlib.util.find_spec("torch") is None
    if "L" in params:
        raise SeqmixError(f"L is {params['L']!r:.40}; lengths says how long the cases are")
    if layout not in ("bld", "bhld") or layout == "bhld" and not m.has_heads:
        allowed = "'bld' or 'bhld'" if m.has_heads else f"'bld': {m.name} has no q, k, v"
        raise SeqmixError(f"layout is {layout!r:.40}; it must be {allowed}")
    for name, value in (("budget", budget), ("time_limit", time_limit)):
        if not 0 < real(value, name) < 1e6:
            raise SeqmixError(f"{name} is {value:g}; above 0 to a million seconds are allowed")
    layer = Layer(function, m, Numpy(form) if by_numpy else Torch(form, device), backward, time_limit)
    if optional is None:
        optional = [a for a in dict.fromkeys(a.name for a in m._arrays if a.optional) if a in layer.accepts]
    judged = _Judged(layer, form, layout, optional, gradients, params)
    if seeds is not None or lengths is not None:
        cases = list(_said(judged, 5 if seeds is None else seeds, (1, 17, 300, 1025) if lengths is None else lengths))
        for case in cases:
            judged.one(case, batch)
        report = judged.report(len(cases), False)
    else:
        report = judged.report(judged.within(budget, seed), True)
    if raises and not report:
        raise AssertionError(str(report))
    return report


def _said(judged: _Judged, seeds: int, lengths: Sequence[int]) -> Iterator[_plan.Case]:
    if count(seeds, "seeds") < 1 or not len(lengths):  # nothing would be judged, and found right
        raise SeqmixError(f"seeds is {seeds}, lengths {lengths!r:.60}; at least one of each is needed")
    for length in lengths:
        for seed in range(seeds):
            yield _plan.Case(length, 0, 0, 0, "usual", bool(judged.optional), "plain", seed)


@dataclasses.dataclass
class _Wrong:
    """An array past its tolerance, and all that an explanation needs."""

    case: _plan.Case
    length: int
    name: str
    error: float
    judge: Judge | None
    mine: np.ndarray
    forward_right: bool
    sentence: str = ""


class _Judged:
    """A layer, and what was found of it so far."""

    def __init__(
        self, layer: Layer, form: str, layout: str, optional: Sequence[str], gradients: bool, params: dict[str, Any]
    ) -> None:
        self.layer, self.m, self.form, self.layout = layer, layer.m, form, layout
        self.optional, self.params = optional, params
        self.gradients = gradients and self.m.has_gradient
        self.worst: dict[str, float] = {}
        self.wrong: list[_Wrong] = []
        self.right: list[_plan.Case] = []
        self.kinds: dict[str, Callable] = {"usual": lambda inputs, random: None}
        self.cases = 0

    # ---- The plan
    def within(self, budget: float, seed: int) -> int:
        """Judges what the budget has room for; how many cases there are in all. It is processor time, so that
        what is judged hangs little on who else computes; four times as much by the clock at most."""

        def spent() -> float:
            return max(time.process_time() - began[0], (time.monotonic() - began[1]) / 4)

        began = time.process_time(), time.monotonic()
        self.kinds = kinds(self.m, self.form, self.params)
        cases = list(_plan.plan(self._levels(), seed, self._refuse))
        used, work = 0.0, 1.0
        for number, case in enumerate(cases):
            left = budget - spent()
            if number and (left < 0 or left < used / work * case.work):
                continue
            at = spent()
            self.one(case, (case.batch,))
            used, work = used + spent() - at, work + case.work
            hung = sum("no answer within" in w.sentence for w in self.wrong)
            if hung > 1 or len({id(w.case) for w in self.wrong}) >= ENOUGH:
                break
        return len(cases)

    def _levels(self) -> dict[str, list[Any]]:
        m, given = self.m, self.params
        sized = "L" in m.params and not {"n_bins", "C"} & m.params.keys()
        seen = self.layout == "bhld" or self.layer.takes("H")
        heads = list(_plan.HEADS) if "H" in m.params and "H" not in given and seen else [int(given.get("H", m._case.get("H", 1)))]
        free = [n for n in ("D", "dk", "d") if n in m.params and n not in given]
        columns = list(_plan.COLUMNS) if free else [int(given.get("D", given.get("dk", 8))) // heads[0] or 1]
        states = [n for n in self.optional if n in self.layer.states]
        ways = [w for w in _plan.CALLS if w != "pieces" or self.layer.reads_on()]
        if not self.layer.arrays.grad_ways:
            ways = [w for w in ways if w in ("plain", "strided", "thrice", "interleaved", "refilled", "pieces")]
        elif not self.gradients:
            ways = [w for w in ways if w not in ("expanded", "alone", "without", "twice")]
        rows = [*_plan.ROWS, *_plan.LONG]
        if not sized:
            rows = [17, 64, 65, 128, 300] if "L" in m.params else [1]
        batch = list(_plan.BATCH) if any(a.sequence for a in m._arrays) else [1]
        return {
            "rows": rows,
            "heads": heads,
            "columns": columns,
            "batch": [2] * (2 in batch) + [b for b in batch if b != 2],
            "draw": list(self.kinds),
            "start": [False, True] if states else [False],
            "call": ways,
        }

    def _refuse(self, case: _plan.Case) -> bool:
        return case.call == "expanded" and "V" in self.m.params or case.call == "pieces" and case.rows < 2

    # ---- One case
    def _drawn(self, case: _plan.Case, batch: Sequence[int], seed: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        params = dict(self.params)
        if case.heads:
            needed = {n for n, p in self.m.params.items() if p["type"].startswith("size")}
            usual = {n: v for n, v in self.m._case.items() if n in needed}
            params = _plan.sizes_of(case, self.m.params, params, usual)
        optional = self.optional
        if not case.start and not isinstance(optional, str):
            optional = [n for n in optional if n not in self.layer.states]
        drawn = draw(self.m.name, seed, case.rows, batch, optional, **params)
        sizes = drawn.pop("params")
        if not self.gradients:
            drawn.pop("dy", None)
        random = np.random.default_rng([seed, case.rows])
        if case.heads:
            calm(self.m, drawn, case.columns)
            self.kinds[case.draw](drawn, random)
            drawn = {n: a if a.dtype == np.int32 else rounded(a, self.form) for n, a in drawn.items()}
        if case.call == "expanded" and "dy" in drawn:
            drawn["dy"] = np.ones_like(drawn["dy"])
        if self.layout == "bhld":
            drawn = {
                n: ref._split(a, c, sizes["H"]) if (c := _columns(self.m, n, sizes)) is not None else a
                for n, a in drawn.items()
            }
        return drawn, {n: v for n, v in sizes.items() if n not in drawn}

    def _judge(self, case: _plan.Case, batch: Sequence[int], seed: int) -> Judge:
        drawn, sizes = self._drawn(case, batch, seed)
        judge = Judge(self.m, drawn, sizes, self.layout, self.form)
        if case.heads and not all(np.isfinite(a).all() for a in judge.results.values()):
            drawn, sizes = self._drawn(dataclasses.replace(case, draw="usual"), batch, seed)
            judge = Judge(self.m, drawn, sizes, self.layout, self.form)
        return judge

    def one(self, case: _plan.Case, batch: Sequence[int]) -> None:
        judges = [self._judge(case, batch, case.seed)]
        if case.call in ("interleaved", "refilled"):
            judges.append(self._judge(case, batch, case.seed + 1))
        first = judges[0]
        length, self.cases = first.params.get("L", 0), self.cases + 1
        slopes = [n[2:] for n in first.results if n.startswith("d_")]
        try:
            got = self.layer.run(case.call, first.inputs, judges[-1].inputs, first.params, slopes, case.seed // 1000)
        except SeqmixError:
            raise
        except Hangs as hang:
            got = Got(odd=[str(hang)])
        except Exception as error:
            text = " ".join(str(error).split())
            got = Got(odd=[f"it raised {type(error).__name__}: {text:.200}"])
        before = len(self.wrong)
        none = np.zeros(0)
        self.wrong += [_Wrong(case, length, "call", math.inf, None, none, True, text) for text in got.odd]
        y_right = {0: True, 1: True}
        for which, name, array in got.arrays:
            judge = judges[which]
            share, error = _share(judge, name, array)
            self.worst[name] = max(self.worst.get(name, 0.0), share)
            if not share <= 1:
                self.wrong.append(_Wrong(case, length, name, error, judge, array, y_right[which]))
                if name == "y":
                    y_right[which] = False
        if len(self.wrong) == before:
            self.right.append(case)

    # ---- What it looks like
    def report(self, planned: int, by_plan: bool) -> Report:
        faults: dict[int, Fault] = {}
        for name in dict.fromkeys(w.name for w in self.wrong):
            mine = [w for w in self.wrong if w.name == name]
            text, tries = "", 0
            for w in sorted(mine, key=lambda w: _telling(w, by_plan)):
                if name != "call" and not w.forward_right:
                    sentence = FOLLOWS
                elif w.judge is None:
                    sentence = w.sentence
                elif by_plan and (tries > 2 or text and not _vague(text)):
                    sentence = text
                else:
                    sentence, tries = self._explain(w), tries + 1
                    text = sentence if not text or _vague(text) else text
                w.sentence = sentence
            for w in mine:
                if by_plan and w.sentence != FOLLOWS and w.judge is not None and _vague(w.sentence):
                    w.sentence = text
                faults[id(w)] = Fault(w.length, w.case.seed, name, w.error, w.sentence, str(w.case) if by_plan else "")
        listed = [faults[id(w)] for w in self.wrong]
        only = self._only() if by_plan and listed else ""
        return Report(self.m.name, self.form, self.cases, self.worst, listed, planned, only)

    def _explain(self, w: _Wrong) -> str:
        def odd() -> str:
            forward = lambda inputs: self.layer.try_once(inputs, w.judge.params)
            try:
                return _behaviour(self.m, w.judge, forward, w.mine) if w.name == "y" else ""
            except SeqmixError:
                raise
            except Exception:
                return ""

        return w.judge.explain(w.mine, w.judge.results[w.name], w.name, w.forward_right, odd)

    def _only(self) -> str:
        """What the wrong cases share, where no right one has it."""
        wrong = {id(w.case): w.case for w in self.wrong}.values()
        said = []
        for factor in _plan.FACTORS:
            levels = {getattr(c, factor) for c in wrong}
            right = [getattr(c, factor) for c in self.right]
            if not right or levels & set(right):
                continue
            words = ", ".join(sorted(map(str, levels), key=lambda t: (len(t), t)))
            if factor in ("rows", "columns") and len(levels) > 1 and min(levels) > max(right):
                words = f"above {max(right)}"
            if len(levels) <= 3 or words.startswith("above"):
                name = {"draw": "the draw is", "call": "it is called", "start": "start states are given:"}.get(factor)
                said.append(f"{name} {words}" if name else f"{factor} {words}" if words.startswith("above") else f"{factor} = {words}")
        return "; ".join(said)


def _telling(w: _Wrong, by_plan: bool) -> tuple:
    """The most telling case first: usual numbers, called plainly, long enough to show where it begins."""
    return (w.case.draw != "usual", w.case.draw != "full", w.case.call != "plain", -w.length if w.length <= 300 else w.length)


def _vague(text: str) -> bool:
    return text.endswith("the numbers are wrong everywhere") or text.endswith("computes something else") or " rows are wrong" in text


def _columns(m: ref.Mechanism, name: str, params: Mapping[str, Any]) -> str | None:
    return next(
        (ref._heads_columns(a.shape) for a in m._active(params) if a.name == name and m.has_heads), None
    )


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


def _share(judge: Judge, name: str, array: np.ndarray) -> tuple[float, float]:
    """An array's largest error in tolerances, and of its scale."""
    theirs = judge.results[name]
    scale = scale_of(theirs)
    if name.startswith("d_"):
        sizes = {n: _size(judge, n[2:]) for n in judge.results if n.startswith("d_")}
        most = max(scale_of(judge.results[n]) * size for n, size in sizes.items())
        scale = max(scale, LEAST * most / sizes[name])
    error = float(error_of(array, theirs).max(initial=0)) if array.shape == theirs.shape else math.inf
    relative = error / scale if scale else (0.0 if not error else math.inf)
    allowed = judge.tol
    if not relative <= allowed and scale and array.shape == theirs.shape and np.isfinite(error):
        allowed = min(max(allowed, SENSITIVE[judge.form] * judge.moved[name] / scale), 1 / 16)
    return relative / allowed, relative


def _size(judge: Judge, name: str) -> float:
    """The scale of an input; 1 for logarithms, and where it is zero."""
    return 1.0 if judge.m._draws[name][1] <= 0 else scale_of(judge.inputs[name]) or 1.0
