"""Which cases a layer is judged by: the plan of the oracle's library (cli/oracle/cover.h), which `seqmix vectors
--budget` draws from, too.
"""
from __future__ import annotations

import ctypes
import dataclasses
import functools
import json
from typing import Any, Mapping, Sequence

import numpy as np

from . import _native
from ._errors import SeqmixError

FACTORS = ("mode", "rows", "heads", "columns", "batch", "draw", "start", "call")


@dataclasses.dataclass(frozen=True)
class Case:
    """One case: its sizes, how its inputs are drawn, how the layer is called. `start`: with start states. levels: of
    each factor, as the library numbers them; () for a case of no plan. sizes: parameters that it sets. drawn: how its
    inputs are drawn otherwise than usual."""

    rows: int
    heads: int
    columns: int
    batch: int
    draw: str
    start: bool
    call: str
    seed: int = 0
    levels: tuple = ()
    work: float = 0.0
    sizes: tuple = ()
    drawn: str = ""

    def __str__(self) -> str:
        of = f" {self.heads} x {self.columns} columns," if self.heads else ""
        return (
            f"{self.rows} rows,{of} batch {self.batch}, {self.draw} draw,"
            f" called {self.call}{', with start states' if self.start else ''}, seed {self.seed}"
        )


def plan(
    mechanism: str,
    usual: Mapping[str, Any],
    given: Mapping[str, Any] = {},
    seed: int = 0,
    but: Sequence[str] = (),
    start: bool = False,
    same_heads: bool = False,
    huge: int = 30,
    saturated: bool = True,
) -> tuple[list[Case], frozenset[str]]:
    """The cases, the most telling first, and the inputs in which y is homogeneous (twice such an input is 2, 4 ... times
    y). usual: parameters that are not given otherwise; given: those that no case may change. but: ways of calling
    that are left out. huge: 2^huge is how many
    times as large as usual a huge input is; saturated: whether the format has room for logits far beyond exp's."""
    known = {n: v for n, v in given.items() if isinstance(v, (bool, int, float, str, list, tuple, np.number, np.bool_))}
    asked = dict(modes=[dict(usual)], fixed=known, seed=seed, but=list(but), start=start)
    asked |= dict(same_heads=same_heads, huge=huge, saturated=saturated)
    return _plan(mechanism, json.dumps(asked, default=lambda v: v.item()))


@functools.lru_cache(maxsize=64)
def _plan(mechanism: str, asked: str) -> tuple[list[Case], frozenset[str]]:
    text, size = ctypes.create_string_buffer(1 << 18), 1 << 18
    for _ in range(2):
        length = _native.oracle().smx_oracle_plan(mechanism.encode(), asked.encode(), text, size)
        if length < 0:
            raise SeqmixError(f"{mechanism}: {text.value.decode()}")
        if length < size:
            break
        text, size = ctypes.create_string_buffer(length + 1), length + 1
    made = json.loads(text.value)
    cases = []
    for case in made["cases"]:
        _, rows, heads, columns, batch, draw, start, call = case["is"]
        told = (made["draws"][draw], bool(start), made["calls"][call], case["seed"])
        sizes = tuple(case["sizes"].items())
        cases.append(Case(rows, heads, columns, batch, *told, tuple(case["is"]), case["work"], sizes, case["drawn"]))
    return cases, frozenset(made["linear"])


def shared_by(wrong: Sequence[Case], right: Sequence[Case]) -> str:
    """What all wrong cases share and no right one has."""
    cases = [c for c in (*wrong, *right) if c.levels]
    numbers = (ctypes.c_int * (len(FACTORS) * len(cases)))(*(n for c in cases for n in c.levels))
    marks = bytes(c in wrong for c in cases)
    text = ctypes.create_string_buffer(512)
    _native.oracle().smx_oracle_plan_only(numbers, marks, len(cases), text, len(text))
    return text.value.decode()


def untried(judged: Sequence[Case], planned: Sequence[Case]) -> str:
    """The levels of each factor that are in the plan, and in no case that was judged."""
    found = []
    for factor in FACTORS[1:]:
        there = {getattr(c, factor) for c in judged}
        if left := sorted({getattr(c, factor) for c in planned} - there):
            found.append(f"{factor} {', '.join(map(str, left))}")
    return "; ".join(found)
