"""What check_layer says: faults, each with its case, and the report of them all."""
from __future__ import annotations

import dataclasses
from typing import Any

FOLLOWS = "as y is wrong"


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
    enough was wrong. `only`: what all wrong cases share and no right one has. `bits`: of relations
    between results, where they were asked for, the largest difference of y's scale; 0: the same bits.
    `untried`: sizes, draws and ways of calling that the plan has, and no judged case had. `sensitive`: of each array
    of which a right one may be off by more than 5 % in float16 or bfloat16 in some cases, how often it was not judged,
    how often by its largest error alone, and how often it was there; `unjudged`: how often any array was not judged.
    `assumed`: sizes that were neither given nor found from a shape, and that the function has no argument for."""

    mechanism: str
    dtype: str
    cases: int
    worst: dict[str, float]
    faults: list[Fault]
    planned: int = 0
    only: str = ""
    bits: dict[str, float] = dataclasses.field(default_factory=dict)
    unjudged: int = 0
    untried: str = ""
    sensitive: dict[str, tuple[int, int, int]] = dataclasses.field(default_factory=dict)
    assumed: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return not self.faults

    def _sensitive(self, which: int, what: str) -> str:
        of = [f"{name} in {n[which]} of {n[2]} cases" for name, n in self.sensitive.items() if n[which]]
        return f"; {what}: {', '.join(of)}" * bool(of)

    def _assumed(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.assumed.items())
        return f"judged with {sizes}: the function has no argument for that, and check_layer was given none" * bool(sizes)

    def __str__(self) -> str:
        if not self.faults:
            worst = ", ".join(f"{name} {share:.2g}" for name, share in self.worst.items())
            left = f" of {self.planned}, where the budget ended," if self.planned > self.cases else ""
            return (
                f"{self.mechanism}: right in {self.cases} cases{left} as {self.dtype}; largest errors, in"
                f" tolerances: {worst}"
                + self._sensitive(0, f"not judged, as a right one may be off by more than 5 % in {self.dtype}")
                + self._sensitive(1, "judged by the largest error alone")
                + f"; not tried: {self.untried}" * bool(self.untried)
                + f"; {self._assumed()}" * bool(self.assumed)
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
        if self.assumed:
            lines.append(self._assumed())
        if self.only:
            lines.append(f"wrong only where {self.only}")
        return "\n  ".join(lines + [str(f) for f in list(seen.values())[:12]])
