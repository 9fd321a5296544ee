"""The number formats that inputs are drawn in: rounding to each, emulated in float64."""
from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np


class Format(NamedTuple):
    bits: int  # of the significand, with the one that is not stored
    last: int  # the least positive number is 2^last
    most: float  # the largest
    huge: float  # products of two numbers so many times as large as usual, and their sums, are in the format
    held: str  # what a tensor of such numbers is
    judged: str  # by whose tolerances results are judged


FORMATS = {
    "f64": Format(53, -1074, sys.float_info.max, 2.0**200, "f64", "f64"),
    "f32": Format(24, -149, (2 - 2.0**-23) * 2.0**127, 2.0**30, "f32", "f32"),
    "f16": Format(11, -24, 65504.0, 2.0**4, "f16", "f16"),
    "bf16": Format(8, -133, (2 - 2.0**-7) * 2.0**127, 2.0**30, "bf16", "bf16"),
    # What matrix units make of float32: products of 11 bits, sums in float32.
    "tf32": Format(11, -136, (2 - 2.0**-10) * 2.0**127, 2.0**30, "f32", "f16"),
    # Eight bits go in; what comes out is bfloat16.
    "e4m3": Format(4, -9, 448.0, 2.0**4, "bf16", "bf16"),
    "e5m2": Format(3, -16, 57344.0, 2.0**4, "bf16", "bf16"),
}


def inputs_only(dtype: Any) -> str:
    """The format's name where it is one that only inputs are in; else ""."""
    name = {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(str(dtype).removeprefix("torch."), str(dtype))
    return name if name in FORMATS and FORMATS[name].judged != name else ""


def rounded(x: np.ndarray, form: str) -> np.ndarray:
    """x as numbers of that format: the nearest, of two the even one; past the largest the largest; infinities
    as they are."""
    f = FORMATS[form]
    fraction, exponent = np.frexp(x)
    last = np.maximum(exponent - f.bits, f.last)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.ldexp(np.round(np.ldexp(fraction, exponent - last)), last)
        return np.where(np.isfinite(x), np.clip(near, -f.most, f.most), x)
