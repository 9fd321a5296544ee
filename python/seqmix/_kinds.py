"""Draws that faults hide from, as the plan says them: full precision, huge, tiny, saturated, zero keys, shut gates ..."""
from __future__ import annotations

import re

import numpy as np

from . import ref
from ._formats import rounded


def change(m: ref.Mechanism, drawn: str, form: str, inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    """Changes the inputs as `drawn` says, item by item (cover_drawn in cli/oracle/cover.h)."""
    for item in drawn.split():
        name, sign, value = re.fullmatch(r"(\w*)([*:^%+])(.*)", item).groups()
        if sign == "+":
            _full(m, form, inputs, random)
        if name not in inputs:
            continue
        a = inputs[name]
        of_rows = a.shape[:-1] + (1,)
        if sign == "*":
            inputs[name] = a * 2.0 ** int(value)
        elif sign == ":":
            values = np.array([float(v) for v in value.split(",")])
            inputs[name] = values[random.integers(0, values.size, a.shape)]
        elif sign == "^":
            inputs[name] = a * 2.0 ** random.integers(0, int(value) + 1, of_rows)
        elif sign == "%":
            inputs[name] = a * (random.random(of_rows) < int(value) / 100)


def _full(m: ref.Mechanism, form: str, inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    """Every significant bit of the format in use."""
    for name, a in inputs.items():
        if a.dtype == np.int32:
            continue
        low, high, shift = m._draws[name]
        near = a + (random.random(a.shape) - 0.5) / 2.0**shift
        inputs[name] = rounded(np.clip(near, low / 2.0**shift, high / 2.0**shift), form)
