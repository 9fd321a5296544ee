"""A layer under judgement: its cases are drawn, run, held against the oracle, and explained by the most telling.
"""
from __future__ import annotations

import collections
import dataclasses
import math
import time
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _plan, ref
from ._draws import draw, row_axis, usual_sizes
from ._errors import SeqmixError
from ._faults import NAMED, VAGUE, Judge
from ._formats import FORMATS, rounded
from ._kinds import change
from ._layer import Got, Layer, first_edge
from ._relations import NAMES, measured
from ._report import FOLLOWS, Fault, Report
from ._tolerances import error_of, rms_of, scale_of
from ._waiting import Hangs

# A gradient's scale is at least this share of what the largest gradient of its case comes to by its input's
# scale: one that is zero but for rounding (of queries, where there is one row) is a difference of terms as
# large as the others.
LEAST = 0.1
# What is allowed where an array is sensitive: so many times what it moves by when every input moves by one
# unit roundoff. Float64 and float32 do all their sums in the format, the two others store results in it
# (docs/ORACLE.md).
SENSITIVE = {"f64": 16, "f32": 16, "f16": 2, "bf16": 2}
# In these an array of which more than that would be allowed is not judged.
HALF, MOST = ("f16", "bf16"), 1 / 20
# By what an array is judged: its largest error and the root of the mean square, the first alone, nothing.
WHOLLY, BY_LARGEST, UNJUDGED = "wholly", "by its largest error", "not"
# A plan ends when so many of its cases are wrong: more would say nothing new.
ENOUGH = 12


@dataclasses.dataclass
class Wrong:
    """An array past its tolerance, and all that an explanation needs."""

    case: _plan.Case
    length: int
    name: str
    error: float
    judge: Judge | None
    mine: np.ndarray
    forward_right: bool
    sentence: str = ""
    worth: int = NAMED


class Judged:
    """A layer, and what was found of it so far."""

    def __init__(
        self, layer: Layer, form: str, layout: str, optional: Sequence[str], gradients: bool, params: dict[str, Any]
    ) -> None:
        self.layer, self.m, self.drawn_in, self.layout = layer, layer.m, form, layout
        self.form = FORMATS[form].judged
        # Sizes that are assumed: not given, in no shape of the inputs, and no argument of the layer.
        drawn = [a for a in self.m._active(params) if a.kind == "input" and (not a.optional or a.name in optional)]
        said = " ".join(a.shape if layout == "bld" else f"H {a.shape.replace('*', ' ')}" for a in drawn).split()
        usual = {n: v for n, v in usual_sizes(self.m).items() if n not in said and n not in params and not layer.takes(n)}
        self.assumed = {n: v for n, v in usual.items() if n != "window"}
        own = {n: 0 for n in usual if n == "window"}  # (none: all rows)
        self.optional, self.params = optional, {**own, **params}
        self.gradients = gradients and self.m.has_gradient
        self.worst: dict[str, float] = {}
        self.wrong: list[Wrong] = []
        self.right: list[_plan.Case] = []
        self.cases = 0
        self.held: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.untried = ""
        self.bits: dict[str, float] = {}  # of relations, the largest difference

    # ---- The plan
    def within(self, budget: float, seed: int) -> int:
        """Judges what the budget has room for; how many cases there are in all. It is processor time of the threads
        that call the layer and the oracle, never time by the clock, so that what is judged hangs little on
        who else computes. A case takes what the cheapest one took, and more with its work (cover_pace in
        cli/oracle/cover.h); what seemed too long is asked again at the end, when that is better known."""

        def spent() -> float:
            return time.thread_time() + self.layer.spent - began

        began = 0.0
        began = spent()
        cases = self._plan(seed)
        done: set[int] = set()
        used, work, least = 0.0, 0.0, math.inf
        for number, case in (*enumerate(cases), *enumerate(cases)):
            if number in done or done and spent() + least + (used - len(done) * least) / work * case.work > budget:
                continue
            at = spent()
            self.one(case, (case.batch,))
            done.add(number)
            took = spent() - at
            used, work, least = used + took, work + case.work, min(least, took)
            hung = sum("no answer within" in w.sentence for w in self.wrong)
            if hung > 1 or len({id(w.case) for w in self.wrong}) >= ENOUGH:
                break
        self.untried = _plan.untried([c for n, c in enumerate(cases) if n in done], cases)
        return len(cases)

    def _plan(self, seed: int) -> list[_plan.Case]:
        m, form = self.m, FORMATS[self.drawn_in]
        but = [] if self.layer.reads_on() else ["pieces"]
        if not self.layer.arrays.grad_ways:
            but += ["no_grad", "inference", "alone", "without", "twice"]
        if not self.layer.arrays.grad_ways or not self.gradients or "V" in m.params:
            but += ["expanded"]
        if not self.gradients:
            but += ["alone", "without", "twice"]
        usual = usual_sizes(m)
        own = {"W": usual["W"]} if "W" in usual and not self.layer.takes("W") else {}
        cases, _ = _plan.plan(
            m.name,
            usual,
            {**own, **self.params},
            seed,
            but,
            start=any(n in self.layer.states for n in self.optional),
            same_heads=not (self.layout != "bld" or self.layer.takes("Hq" if "Hq" in m.params else "H")),
            huge=int(math.log2(form.huge)),
            saturated=form.most > 1e5,
        )
        return cases

    # ---- One case
    def _drawn(self, case: _plan.Case, batch: Sequence[int], seed: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        params = {**dict(case.sizes), **self.params}
        optional = self.optional
        if not case.start and not isinstance(optional, str):
            optional = [n for n in optional if n not in self.layer.states]
        drawn = draw(self.m.name, seed, case.rows, batch, optional, **params)
        sizes = drawn.pop("params")
        if not self.gradients:
            drawn.pop("dy", None)
        random = np.random.default_rng([seed, case.rows])
        if case.levels:
            change(self.m, case.drawn, self.drawn_in, drawn, random)
            drawn = {n: a if a.dtype == np.int32 else rounded(a, self.drawn_in) for n, a in drawn.items()}
        if case.call == "expanded" and "dy" in drawn:
            drawn["dy"] = np.ones_like(drawn["dy"])
        number = seed // 1000
        if case.call == "pieces" and number % 2 and "dy" in drawn:  # the state alone sends something back
            drawn["dy"][..., : first_edge(case.rows, number), :] = 0
        if self.layout != "bld":
            drawn = {
                n: ref._split(a, h, sizes) if (h := _heads(self.m, n, sizes)) is not None else a
                for n, a in drawn.items()
            }
        return drawn, {n: v for n, v in sizes.items() if n not in drawn}

    def _judge(self, case: _plan.Case, batch: Sequence[int], seed: int, kept: Mapping[str, np.ndarray] = {}) -> Judge:
        """kept: arrays that are not drawn."""

        def drawn_as(case: _plan.Case) -> Judge:
            drawn, sizes = self._drawn(case, batch, seed)
            return Judge(self.m, {**drawn, **kept}, sizes, self.layout, self.form)

        judge = drawn_as(case)
        if case.drawn and not all(np.isfinite(a).all() for a in judge.results.values()):
            judge = drawn_as(dataclasses.replace(case, drawn=""))
        return judge

    def one(self, case: _plan.Case, batch: Sequence[int]) -> None:
        first = self._judge(case, batch, case.seed)
        judges = [first]
        if case.call in ("interleaved", "refilled"):  # where packed sequences begin stays
            whole = {n: a for n, a in first.inputs.items() if a.dtype == np.int32}
            judges.append(self._judge(case, batch, case.seed + 1, whole if case.call == "refilled" else {}))
        length, self.cases = first.params.get("L", 0), self.cases + 1
        slopes = [n[2:] for n in first.results if n.startswith("d_")]
        try:
            got = self.layer.run(case.call, first.inputs, judges[-1].inputs, first.params, slopes, case.seed // 1000)
        except SeqmixError as error:
            if self.cases == 1:  # nothing else can be judged, either
                raise
            got = Got(odd=[str(error)])
        except Hangs as hang:
            got = Got(odd=[str(hang)])
        except Exception as error:
            text = " ".join(str(error).split())
            got = Got(odd=[f"it raised {type(error).__name__}: {text:.200}"])
        before = len(self.wrong)
        none = np.zeros(0)
        self.wrong += [Wrong(case, length, "call", math.inf, None, none, True, text) for text in got.odd]
        y_right = {0: True, 1: True}
        for which, name, array in got.arrays:
            judge = judges[which]
            share, error, held = _share(judge, name, array)
            self.held[name][held] += 1
            self.worst[name] = max(self.worst.get(name, 0.0), share)
            if not share <= 1:
                self.wrong.append(Wrong(case, length, name, error, judge, array, y_right[which]))
                if name == "y":
                    y_right[which] = False
        if len(self.wrong) == before:
            self.right.append(case)

    # ---- Relations of the layer's results to each other
    def relations(self, claimed: Sequence[str], there: bool, seed: int) -> None:
        """Measures them on a few cases; where one is claimed to the bit and is not, that is a fault. there: those
        claimed that the layer can show."""
        near = min(self._plan(seed), key=lambda c: (c.columns != 16, c.heads != 2, c.draw != "full"))
        sizes = tuple((n, v) for n, v in near.sizes if n != "L")
        for number, rows in enumerate((17, 66, 130)):
            told = dict(rows=rows, batch=3, start=bool(self.layer.states), call="relations")
            case = dataclasses.replace(near, **told, seed=seed + number, sizes=sizes)
            judge = self._judge(case, (3,), case.seed)
            try:
                found = measured(self.layer, judge.inputs, judge.params, not _looks_ahead(judge))
            except SeqmixError:
                raise
            except Exception as error:
                found = {name: math.inf for name in claimed}
                self._call_fault(case, f"it raised {type(error).__name__}: {' '.join(str(error).split()):.200}")
            for name, far in found.items():
                self.bits[name] = max(self.bits.get(name, 0.0), far)
                if name in claimed and far:
                    self._call_fault(case, f"{NAMES[name]}: by {far:.3g} of the scale, where the same bits are claimed")
        if (missing := [name for name in claimed if name not in self.bits]) and not there:
            why = "states in and out, as (y, states ...)" if {*missing} & {"pieces", "decode"} else "rows that depend on earlier ones alone"
            raise SeqmixError(f"bits has {missing[0]!r}, which this layer cannot show: it takes {why}")

    def _call_fault(self, case: _plan.Case, text: str) -> None:
        self.wrong.append(Wrong(case, case.rows, "call", math.inf, None, np.zeros(0), True, text))

    # ---- What it looks like
    def report(self, planned: int, by_plan: bool) -> Report:
        faults: dict[int, Fault] = {}
        for name in dict.fromkeys(w.name for w in self.wrong):
            mine = [w for w in self.wrong if w.name == name]
            text, worth, tries = "", VAGUE - 1, 0
            for w in sorted(mine, key=lambda w: _telling(w, by_plan)):
                if name != "call" and not w.forward_right:
                    w.sentence = FOLLOWS
                elif w.judge is None:
                    continue
                elif by_plan and (tries > 2 or worth == NAMED):
                    w.sentence, w.worth = text, worth
                else:
                    w.sentence, w.worth = self._explain(w)
                    tries += 1
                    if w.worth > worth:
                        text, worth = w.sentence, w.worth
            for w in mine:
                if by_plan and w.worth < NAMED:
                    w.sentence = text
                faults[id(w)] = Fault(w.length, w.case.seed, name, w.error, w.sentence, str(w.case) if by_plan else "")
        listed = [faults[id(w)] for w in self.wrong]
        sensitive = {n: (h[UNJUDGED], h[BY_LARGEST], sum(h.values())) for n, h in self.held.items() if len(h) > 1 or not h[WHOLLY]}
        unjudged = sum(n for n, _, _ in sensitive.values())
        wrong = {id(w.case): w.case for w in self.wrong}.values()
        only = _plan.shared_by(list(wrong), self.right) if by_plan and listed else ""
        return Report(self.m.name, self.drawn_in, self.cases, self.worst, listed, planned, only, self.bits, unjudged, self.untried, sensitive, self.assumed)

    def _explain(self, w: Wrong) -> tuple[str, int]:
        def odd() -> str:
            forward = lambda inputs: self.layer.try_once(inputs, w.judge.params)
            try:
                return _behaviour(self.m, w.judge, forward, w.mine) if w.name == "y" else ""
            except SeqmixError:
                raise
            except Exception:
                return ""

        theirs = w.judge.results[w.name]
        if w.mine.shape == theirs.shape:
            return w.judge.explain(w.mine, theirs, w.name, odd)
        text, worth = w.judge.explain(self.layer.turn(w.name, w.mine), self.layer.turn(w.name, theirs), w.name, odd)
        layout = "blhd" if self.layer.turned else self.layout
        return text + f": another layout? (layout={layout!r} was asked for)" * (w.mine.size == theirs.size), worth


def _telling(w: Wrong, by_plan: bool) -> tuple:
    """The most telling case first: usual numbers, called plainly, long enough to show where it begins."""
    return (w.case.draw != "usual", w.case.draw != "full", w.case.call != "plain", -w.length if w.length <= 300 else w.length)


def _heads(m: ref.Mechanism, name: str, params: Mapping[str, Any]) -> ref._Heads | None:
    return next((ref._heads(a.shape) for a in m._active(params) if a.name == name and m.has_heads), None)


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
    moved = _last_row_turned(judge)
    if _looks_ahead(judge):
        return ""
    rows = (call(moved) != first)[..., :-1, :]
    rows = rows.any(axis=tuple(i for i in range(rows.ndim) if i != rows.ndim - 2))
    return (
        f"it looks ahead: row {int(np.argmax(rows))} changes with row {rows.size}, the last"
        if rows.any()
        else ""
    )


def _last_row_turned(judge: Judge) -> dict[str, np.ndarray]:
    axes = {n: row_axis(judge.m, judge.inputs, n) for n in judge.inputs}
    moved = {n: a if axes[n] is None or n == "dy" else a.copy() for n, a in judge.inputs.items()}
    for name, a in moved.items():
        if axes[name] is not None and name != "dy" and a.dtype != np.int32:
            a[(..., -1) if axes[name] == -1 else (..., -1, slice(None))] *= -1
    return moved


def _looks_ahead(judge: Judge) -> bool:
    """Whether the oracle's rows depend on later ones (or it cannot be asked)."""
    y = judge.run()[0]
    try:
        return y.ndim < 2 or not (y == judge.run(_last_row_turned(judge))[0])[..., :-1, :].all()
    except SeqmixError:
        return True


def _share(judge: Judge, name: str, array: np.ndarray) -> tuple[float, float, str]:
    """An array's largest error in tolerances, and of its scale, and by what it is judged in that format."""
    theirs = judge.results[name]
    scale = scale_of(theirs)
    if name.startswith("d_"):
        sizes = {n: _size(judge, n[2:]) for n in judge.results if n.startswith("d_")}
        most = max(scale_of(judge.results[n]) * size for n, size in sizes.items())
        scale = max(scale, LEAST * _loudness(judge, name[2:]) * most / sizes[name])
    error = float(error_of(array, theirs).max(initial=0)) if array.shape == theirs.shape else math.inf
    relative = error / scale if scale else (0.0 if not error else math.inf)
    allowed = judge.tol
    if not relative <= allowed and scale and array.shape == theirs.shape and np.isfinite(error):
        allowed = max(allowed, SENSITIVE[judge.form] * judge.moved[name] / scale)
        if judge.form in HALF and allowed > MOST:
            return 0.0, relative, UNJUDGED
        allowed = min(allowed, 1 / 16)
    share = relative / allowed
    if judge.form not in HALF or share > 1 or theirs.size == 1:
        return share, relative, WHOLLY
    # The error's root of the mean square in units of its budget, twice what a reference whose inputs and
    # outputs are rounded to the format is off by: by maximum alone, a factor of 1.02 passes in bfloat16. A
    # reference of zeros has no such budget: its largest error has to be 0.
    own = scale_of(theirs) or 1.0
    budget = 2 * (judge.moved_rms[name] + judge.roundoff * rms_of(theirs) * scale / own)
    if budget > rms_of(theirs) * MOST:
        return share, relative, BY_LARGEST if allowed * scale <= MOST * own else UNJUDGED
    return max(share, rms_of(error_of(array, theirs)) / budget if budget else 0.0), relative, WHOLLY


def _loudness(judge: Judge, name: str) -> float:
    """How many times as large as usual the inputs are that decide what is chosen, logits above all: of a gradient
    that goes through them, what is zero but for rounding is as much larger."""
    _, linear = _plan.plan(judge.m.name, usual_sizes(judge.m))
    if name in linear or name not in judge.m._draws:
        return 1.0
    usual = {n: judge.m._draws[n][1] / 2.0 ** judge.m._draws[n][2] for n in judge.inputs if n not in (*linear, "dy")}
    return max(1.0, *(scale_of(judge.inputs[n]) / most for n, most in usual.items() if most > 0), 1.0)


def _size(judge: Judge, name: str) -> float:
    """The scale of an input; 1 for logarithms, and where it is zero."""
    return 1.0 if judge.m._draws[name][1] <= 0 else scale_of(judge.inputs[name]) or 1.0
