"""One case under judgement: what the oracle says of it, and what kind of fault a wrong array looks like."""
from __future__ import annotations

import functools
from typing import Any, Callable, Mapping

import numpy as np

from . import ref
from ._arrays import shape_text
from ._tolerances import error_of, rms_of, scale_of, tolerances


# How much a sentence tells: that numbers are wrong; where; what is wrong (cli/oracle/faults.h).
VAGUE, PLACE, NAMED = range(3)


class Judge:
    """One case: what the oracle says of it, and of variants of it."""

    def __init__(
        self, m: ref.Mechanism, inputs: dict[str, np.ndarray], params: dict[str, Any], layout: str, form: str
    ) -> None:
        self.m, self.inputs, self.params, self.layout, self.form = m, inputs, params, layout, form
        self.tol = tolerances()[form]

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

    def explain(
        self, mine: np.ndarray, theirs: np.ndarray, which: str, behaviour: Callable[[], str]
    ) -> tuple[str, int]:
        """One sentence, and how much it tells. behaviour: tries the function itself, says what is odd about
        it, or ""."""
        if mine.shape != theirs.shape:
            return f"the shape is {shape_text(mine.shape)}, not {shape_text(theirs.shape)}", NAMED
        odd = behaviour() if np.isfinite(mine).all() and mine.any() else ""
        if odd.startswith("two calls"):
            return odd, NAMED
        text, worth = self._alike(mine, theirs, which)
        return (odd, NAMED) if odd and worth < NAMED else (text, worth)

    def _alike(self, mine: np.ndarray, theirs: np.ndarray, which: str) -> tuple[str, int]:
        """What the oracle's library says of the first sequence that is wrong."""
        name, gradient = which.removeprefix("d_"), which.startswith("d_")
        active = {a.name: a for a in self.m._active(self.params) if a.kind == "input" or not gradient}
        apart = {n: c for n, a in active.items() if self.layout != "bld" and (c := ref._heads(a.shape)) is not None}
        heads = int(self.params.get("H", 1))

        def joined(n: str, a: np.ndarray) -> np.ndarray:
            return ref._join(a, apart[n], self.params) if n in apart else a

        inputs = {n: joined(n, a) for n, a in self.inputs.items()}
        mine, theirs, scale = joined(name, mine), joined(name, theirs), scale_of(theirs)
        lead = {n: a.ndim - len(active[n].shape.split()) for n, a in {**inputs, name: mine}.items() if n in active}
        wrong = np.argwhere(error_of(mine, theirs) > self.tol * scale)
        at = tuple(wrong[0][: lead[name]]) if len(wrong) else (0,) * lead[name]
        most = max(lead.values())
        with ref._Case(self.m.name, {**self.params, **({"H": heads} if "H" in self.m.params else {})}) as case:
            for n, a in inputs.items():
                case.set(n, np.ascontiguousarray(a[(*at, *(0,) * most)[: lead[n]]]))
            case.run()
            return case.explain(name, gradient, np.ascontiguousarray(mine[at], np.float64), self.tol, scale)
