"""What kind of fault a wrong array looks like: near misses of the oracle, right numbers in wrong places."""
from __future__ import annotations

import functools
import math
from typing import Any, Callable, Mapping

import numpy as np

from . import ref
from ._arrays import shape_text
from ._draws import name_is_data
from ._errors import SeqmixError
from ._tolerances import error_of, rms_of, scale_of, tolerances


def _ratio(mine: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """The factor c for which c * theirs is nearest to mine, and what is left relative to mine."""
    norm = float((theirs * theirs).sum())
    if not norm or not np.isfinite(mine).all():
        return 1.0, math.inf
    c = float((mine * theirs).sum()) / norm
    size = float(np.abs(mine).max())
    return c, float(np.abs(mine - c * theirs).max()) / size if size else 0.0


def _number(c: float, d: int) -> str:
    known = {
        "-1": -1.0,
        "2": 2.0,
        "1/2": 0.5,
        f"sqrt(d) = sqrt({d})": d**0.5,
        f"1/sqrt(d) = 1/sqrt({d})": d**-0.5,
        f"d = {d}": float(d),
        f"1/d = 1/{d}": 1 / d,
    }
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
        return (
            f"only head{'s' * int(wrong.sum() > 1)} {', '.join(map(str, np.flatnonzero(wrong)))} of"
            f" {wrong.size} are wrong"
        )
    return ""


def _grows(error: np.ndarray) -> str:
    """What a state in low precision looks like: later rows are off by more, as roundings pile up."""
    if error.ndim < 2 or error.shape[-2] < 64:
        return ""
    first, _, _, last = (rms_of(part) for part in np.array_split(error, 4, -2))
    if max(first, last) < 2 * min(first, last):
        return ""
    return (
        f"the error grows along the rows, {max(first, last) / (min(first, last) or math.inf):.2g} times from one end to"
        " the other: is a state or a sum kept in that format from row to row, not in float32?"
    )


class Judge:
    """One case: what the oracle says of it, and of variants of it."""

    def __init__(
        self, m: ref.Mechanism, inputs: dict[str, np.ndarray], params: dict[str, Any], layout: str, form: str
    ) -> None:
        self.m, self.inputs, self.params, self.layout, self.form = m, inputs, params, layout, form
        self.tol = tolerances()[form]
        self.heads = int(params.get("H", 1))
        self.d = next(
            (a.shape[-1] // (1 if layout == "bhld" else self.heads) for n, a in inputs.items() if n in "qx"),
            1,
        )

    def _results(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        more = {**inputs, **self.params}
        dy = more.pop("dy", None)
        kind = {"layout": self.layout} if self.m.has_heads else {}
        slopes: dict[str, np.ndarray] = {}
        if dy is None:
            value = self.m(**more, **kind)
        else:
            value, slopes = self.m.value_and_grad(**more, dy=dy, **kind)
        outputs = [value] if isinstance(value, np.ndarray) else value
        found = {n: a for n, a in zip(self.m.outputs, outputs) if a is not None}
        return {**found, **{f"d_{n}": a for n, a in slopes.items()}}

    @functools.cached_property
    def results(self) -> dict[str, np.ndarray]:
        """Outputs and gradients ("d_q") of the case, by name."""
        return self._results(self.inputs)

    def run(
        self, inputs: Mapping[str, Any] | None = None, **changes: Any
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """y, and the gradients by name, of other inputs or with other parameters."""
        if inputs is None and not changes:
            found = self.results
        else:
            other = Judge(self.m, dict(self.inputs if inputs is None else inputs), {**self.params, **changes}, self.layout, self.form)
            found = other.results
        return found["y"], {n[2:]: a for n, a in found.items() if n.startswith("d_")}

    @functools.cached_property
    def roundoff(self) -> float:
        """The format's: 2^-24 of float32."""
        return 2.0 ** -next(f["digits"] for f in ref._tables()["formats"] if f["name"] == self.form)

    @property
    def moved(self) -> dict[str, float]:
        """How far each result moves, at most, when every input moves by one unit roundoff of the format, up
        or down."""
        return {name: most for name, (most, _) in self._moves.items()}

    @property
    def moved_rms(self) -> dict[str, float]:
        """The same as the root of the mean square."""
        return {name: rms for name, (_, rms) in self._moves.items()}

    @functools.cached_property
    def _moves(self) -> dict[str, tuple[float, float]]:
        u = self.roundoff
        most: dict[str, tuple[float, float]] = {}
        for draw_number in range(3):
            random = np.random.default_rng(draw_number)
            near = {
                n: a if a.dtype == np.int32 else a * (1 + random.choice((-u, u), a.shape))
                for n, a in self.inputs.items()
            }
            for name, a in self._results(near).items():
                far = error_of(a, self.results[name])
                far = np.where(np.isfinite(far), far, 0.0)
                before = most.get(name, (0.0, 0.0))
                most[name] = max(before[0], float(far.max(initial=0))), max(before[1], rms_of(far))
        return most

    def same(self, mine: np.ndarray, theirs: np.ndarray, loose: float = 4) -> bool:
        return mine.shape == theirs.shape and bool(
            error_of(mine, theirs).max(initial=0) <= loose * self.tol * scale_of(theirs)
        )

    def nearer(self, mine: np.ndarray, other: np.ndarray, error: np.ndarray) -> bool:
        """Whether mine is that other array, and it is not the reference itself within the tolerance: no near
        miss."""
        return self.same(mine, other) and bool(error_of(mine, other).max(initial=0) < error.max() / 8)

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
        for name in data.keys() & {
            "filter_q",
            "filter_k",
            "filter_v",
            "filter",
            "conv_k",
            "conv_bias",
            "short_3",
            "short_n",
        }:
            yield f"with the taps of {name} in reverse order", {
                **self.inputs,
                name: data[name][..., ::-1],
            }, {}
        names = list(data)
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                if data[one].shape == data[other].shape:
                    yield f"with {one} and {other} exchanged", {
                        **self.inputs,
                        one: data[other],
                        other: data[one],
                    }, {}
            if (
                data[one].ndim == 2
                and not name_is_data(self.m, one)
                and data[one].shape[0] == data[one].shape[1]
            ):
                yield f"with {one} transposed ([out][in]; every matrix here is [in][out])", {
                    **self.inputs,
                    one: data[one].T,
                }, {}
        for name in ("q", "wq"):
            if name in data and self.d > 1:
                for text, c in (
                    ("without the factor 1/sqrt(d) of the logits", self.d**0.5),
                    ("with the factor 1/sqrt(d) of the logits twice", self.d**-0.5),
                ):
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
                a, b = (
                    (mine[..., 1:, :], theirs[..., :-1, :])
                    if shift > 0
                    else (mine[..., :-1, :], theirs[..., 1:, :])
                )
                if self.same(a, b):
                    return (
                        f"every row is the reference's row {'before' if shift > 0 else 'after'} it: one row"
                        f" {'late' if shift > 0 else 'early'}"
                    )
            if self.same(mine, theirs[..., ::-1, :]):
                return "the rows are in reverse order"
        if self.heads > 1 and mine.size:
            if self.layout == "bld":
                split = theirs.reshape(*theirs.shape[:-1], self.heads, -1)
                mixed = np.moveaxis(split, -2, -3).reshape(theirs.shape), np.swapaxes(split, -1, -2).reshape(
                    theirs.shape
                )
            else:
                mixed = (np.moveaxis(theirs, -3, -2).reshape(theirs.shape),)
            if any(self.same(mine, other) for other in mixed):
                return (
                    "the numbers are right, their places are not: heads and rows (or columns) are laid out"
                    " the other way round"
                )
        return ""

    def explain(
        self,
        mine: np.ndarray,
        theirs: np.ndarray,
        which: str,
        forward_right: bool,
        behaviour: Callable[[], str],
    ) -> str:
        """One sentence. behaviour: tries the function itself, says what is odd about it, or ""."""
        if mine.shape != theirs.shape:
            text = f"the shape is {shape_text(mine.shape)}, not {shape_text(theirs.shape)}"
            return text + f": another layout? (layout={self.layout!r} was asked for)" * (
                mine.size == theirs.size
            )
        if not np.isfinite(mine).all():
            bad = ~np.isfinite(mine)
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            text = (
                f"{int(bad.sum())} of {mine.size} numbers are NaN or infinite, the first at {shape_text(at)}"
            )
            return text + " (a row where everything is masked? exp of a large number?)"
        error, scale = error_of(mine, theirs), scale_of(theirs)
        if not mine.any() and scale:
            return "all zero" + (
                ": is the graph cut (detach, no_grad, a backward that returns None)?" if which != "y" else ""
            )
        if odd := behaviour():
            if odd.startswith("two calls"):
                return odd
        half = tolerances()["f16"]
        if self.tol < half and error.max() <= half * scale:
            return (
                "within float16's tolerance: something is computed or stored in lower precision (TF32, half),"
                " or approximated"
            )
        c, rest = _ratio(mine, theirs)
        if rest <= min(4 * self.tol, abs(c - 1) / 4) and mine.size > 1 and abs(c - 1) > 3e-3 and 1e-3 < abs(c) < 1e3:
            return f"the reference times {_number(c, self.d)}: a factor is missing or taken twice"
        if moved := self._moved(mine, theirs):
            return moved
        if which == "y" and mine.shape[-2:-1] < (1100,):  # (what is right where it is shorter is no near miss)
            for text, inputs, changes in self._variants():
                try:
                    other = self.run(inputs, **changes)[0]
                except SeqmixError:
                    continue
                if self.nearer(mine, other, error):
                    return f"it is what the oracle gives {text}"
        elif forward_right:
            for name, other in self.run()[1].items():
                if f"d_{name}" != which and self.nearer(mine, other, error):
                    return f"it is the gradient by {name}"
        if odd:
            return odd
        if self.form in ("f16", "bf16") and (text := _grows(error)):
            return text
        where = _places(error > self.tol * scale, self.layout, self.heads)
        if which != "y":
            return "the forward pass is right, the backward pass computes something else" + (
                where and f": {where}"
            )
        return where or "no near miss that is known: the numbers are wrong everywhere"
