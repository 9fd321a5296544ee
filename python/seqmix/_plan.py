"""Which cases a layer is judged by: sizes, draws and ways of calling, covered in pairs, the most telling first.

A plan is a list that hangs on the mechanism, on what was fixed by the caller and on the seed alone; how much
of it is judged is the budget's.
"""
from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

# The edges of blocks of 16, 64, 128 and 1024, and what lies between.
ROWS = (1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 256, 300, 512)
LONG = (1024, 1025, 2048, 4097)  # one head of at most 16 columns each
HEADS = (1, 2, 3, 8)
COLUMNS = (4, 8, 16, 32, 64, 128)
BATCH = (1, 2, 3, 5)
# How many rows times heads times columns times max(rows, columns) times batch a case may be.
WORK = 12_000_000
# A case is judged by what it is called for as well ("_calling"); "plain" first.
CALLS = (
    "plain",
    "no_grad",
    "inference",
    "strided",
    "expanded",
    "alone",
    "without",
    "twice",
    "thrice",
    "interleaved",
    "refilled",
    "pieces",
)


@dataclasses.dataclass(frozen=True)
class Case:
    """One case: its sizes, how its inputs are drawn, how the layer is called. `start`: with start states."""

    rows: int
    heads: int
    columns: int
    batch: int
    draw: str
    start: bool
    call: str
    seed: int = 0

    @property
    def work(self) -> int:
        return self.rows * self.heads * self.columns * max(self.rows, self.columns) * self.batch

    def __str__(self) -> str:
        return (
            f"{self.rows} rows, {self.heads} x {self.columns} columns, batch {self.batch}, {self.draw} draw,"
            f" called {self.call}{', with start states' if self.start else ''}, seed {self.seed}"
        )


FACTORS = ("rows", "heads", "columns", "batch", "draw", "start", "call")


def plan(
    levels: Mapping[str, Sequence[Any]], seed: int = 0, refuse: Callable[[Case], bool] = lambda case: False
) -> Iterator[Case]:
    """Cases in which any two levels of two factors meet that can, by a greedy search: each next case is the
    one, of those tried, with most pairs that did not meet yet, for its work. Cases of the long rows, which
    have one head, stand after the first twenty."""
    random = np.random.default_rng([seed, 32])
    short = [r for r in levels["rows"] if r < LONG[0]] or list(levels["rows"])
    long = [r for r in levels["rows"] if r not in short]
    values = [list(levels[f]) if f != "rows" else short for f in FACTORS]
    open_pairs = {
        (i, a, j, b)
        for (i, one), (j, other) in itertools.combinations(enumerate(values), 2)
        for a in one
        for b in other
    }

    def pairs_of(case: Case) -> set[tuple]:
        row = [getattr(case, f) for f in FACTORS]
        return {(i, row[i], j, row[j]) for i, j in itertools.combinations(range(len(row)), 2)}

    def fits(case: Case) -> bool:
        return case.work <= WORK and not refuse(case)

    def made(fixed: Mapping[int, Any]) -> Case:
        row = [fixed[i] if i in fixed else v[int(random.integers(len(v)))] for i, v in enumerate(values)]
        return Case(*row, seed=seed)

    count = 0
    first = Case(*(v[len(v) // 2] if i == 0 else v[0] for i, v in enumerate(values)), seed=seed)
    waiting = sorted(open_pairs, key=lambda p: (p[0], p[2], str(p[1]), str(p[3])))
    random.shuffle(waiting)  # type: ignore[arg-type]
    tail = list(_long_cases(long, levels, random, seed, refuse))
    if fits(first):
        open_pairs -= pairs_of(first)
        count += 1
        yield first
    for wanted in waiting:
        if wanted not in open_pairs:
            continue
        tried = [c for c in (made({wanted[0]: wanted[1], wanted[2]: wanted[3]}) for _ in range(24)) if fits(c)]
        if not tried:  # a pair that is too large, or has no meaning, in any case
            open_pairs.discard(wanted)
            continue
        best = max(tried, key=lambda c: (len(pairs_of(c) & open_pairs) - 3 * c.work / WORK))
        open_pairs -= pairs_of(best)
        count += 1
        yield dataclasses.replace(best, seed=seed + 1000 * count)
        if count == 20:
            yield from tail
            tail = []
    yield from tail


def _long_cases(
    rows: Sequence[int],
    levels: Mapping[str, Sequence[Any]],
    random: np.random.Generator,
    seed: int,
    refuse: Callable[[Case], bool],
) -> Iterator[Case]:
    """Each long length at least once, the shorter of them with several draws and ways of calling."""
    columns = [c for c in levels["columns"] if c <= 16] or [min(levels["columns"])]
    for at, length in enumerate(sorted(rows, reverse=True)):
        for number in range(1 + 2 * (length < 2000)):
            for _ in range(24):
                case = Case(
                    length,
                    min(levels["heads"]),
                    columns[int(random.integers(len(columns)))],
                    min(levels["batch"]),
                    levels["draw"][int(random.integers(len(levels["draw"])))] if number else levels["draw"][0],
                    bool(levels["start"][int(random.integers(len(levels["start"])))]),
                    levels["call"][int(random.integers(len(levels["call"])))] if number else levels["call"][0],
                    seed + 100 * at + number,
                )
                if not refuse(case):
                    yield case
                    break


def sizes_of(case: Case, params: Mapping[str, Mapping[str, str]], given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """The mechanism's parameters in that case, besides L: those given stay, and what the case's heads and
    columns mean goes by the names that mechanisms use."""
    sizes = dict(given)
    heads = int(sizes.get("H", case.heads)) if "H" in params else 1

    def set_to(name: str, value: int) -> None:
        if name in params and name not in sizes:
            sizes[name] = value

    set_to("H", heads)
    set_to("Hkv", math.gcd(heads, 2) and heads // math.gcd(heads, 2) if case.seed % 2 else heads)
    set_to("dk", case.columns)
    set_to("dv", case.columns if case.seed % 3 or "N" in usual else max(2, case.columns // 2))
    set_to("d", case.columns)
    if "D" in params and "groups" in usual:
        set_to("D", int(sizes.get("groups", usual["groups"])) * case.columns)
    set_to("D", heads * case.columns)
    return sizes
