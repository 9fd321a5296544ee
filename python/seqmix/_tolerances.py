"""How near is near enough: the tolerances of docs/ORACLE.md, and errors in their units."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import ref
from ._arrays import real, shape_text, to_numpy
from ._errors import SeqmixError

_SAME = {
    "float64": "f64",
    "double": "f64",
    "float32": "f32",
    "float": "f32",
    "float16": "f16",
    "half": "f16",
    "bfloat16": "bf16",
}


def tolerances() -> dict[str, float]:
    """Of each format, what is allowed relative to the scale: {"f64": 1e-12, "f32": 2e-05, "f16": 2**-8,
    "bf16": 2**-5}."""
    return {f["name"]: 1 / f["tol_is_1_in"] for f in ref._tables()["formats"]}


def format_of(dtype: Any, mine: Any = None) -> str:
    if dtype is None:
        dtype = getattr(mine, "dtype", "float64")
    name = str(getattr(dtype, "__name__", dtype)).removeprefix("torch.")
    name = _SAME.get(name, name)
    if name not in tolerances():
        raise SeqmixError(
            f"dtype is {dtype}; it must be one of {', '.join(tolerances())}, or NumPy's or PyTorch's name"
            " for one"
        )
    return name


def float64(value: Any, name: str) -> np.ndarray:
    array = to_numpy(value, name)
    if array.dtype.kind not in "fiu":
        raise SeqmixError(f"{name} holds {array.dtype}; real numbers are allowed")
    return array.astype(np.float64)


def error_of(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """By element: |mine - theirs|; infinite where either is NaN, and for infinities that differ."""
    with np.errstate(invalid="ignore"):
        error = np.where(mine == theirs, 0.0, np.abs(mine - theirs))
    return np.where(np.isnan(error), np.inf, error)


def scale_of(theirs: np.ndarray) -> float:
    return float(np.max(np.abs(theirs), initial=0.0, where=np.isfinite(theirs)))


def rms_of(x: np.ndarray) -> float:
    """The root of the mean square; of the largest magnitude first, so that no square overflows."""
    most = float(np.abs(x).max(initial=0))
    return most * float(np.sqrt(np.mean((x / most) ** 2))) if 0 < most < math.inf else most


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether they are one memory, seen in one way."""
    return a.size > 0 and (a.ctypes.data, a.strides, a.dtype) == (b.ctypes.data, b.strides, b.dtype)


def assert_close(
    mine: Any, theirs: Any, dtype: Any = None, tol: float | None = None, name: str = "the result"
) -> None:
    """Raise AssertionError unless `mine` is within tolerance of the reference `theirs`, of the same shape.

    dtype: the format that `mine` was computed in: "f64", "f32", "f16", "bf16", or NumPy's or PyTorch's name
    for it; without it that of `mine`. (NumPy has no bfloat16: say "bf16".) tol: instead of the format's.
    Arrays, lists, or tensors on any device. Where nothing would be compared (empty arrays, an array with
    itself, a tolerance that zeros pass) it is a SeqmixError.
    """
    form = format_of(dtype, mine)
    if tol is not None and not 0 <= (tol := real(tol, "tol")) < 1:
        raise SeqmixError(f"tol is {tol:g}; 0 to below 1 are allowed (zeros are within 1 of anything)")
    if _same(*(to_numpy(x, n) for x, n in ((mine, "mine"), (theirs, "theirs")))):
        raise SeqmixError(f"{name} is compared with itself; the reference must be another array")
    a, b = float64(mine, "mine"), float64(theirs, "theirs")
    if a.shape != b.shape:
        raise AssertionError(
            f"{name} has the shape {shape_text(a.shape)}; the reference has {shape_text(b.shape)}"
        )
    if not a.size:
        raise SeqmixError(f"{name} has the shape {shape_text(a.shape)}: it holds nothing to compare")
    allowed = tolerances()[form] if tol is None else tol
    error, scale = error_of(a, b), scale_of(b)
    if error.max() <= allowed * scale < math.inf:
        return
    at = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    past = int(np.count_nonzero(~(error <= allowed * scale)))
    raise AssertionError(
        f"{name} is not within {form}'s tolerance: at {shape_text(at)} it is {a[at]:.9g}, the reference"
        f" {b[at]:.9g}; largest difference {error.max():.3g} ="
        f" {error.max() / scale if scale else math.inf:.3g} of the scale {scale:.3g}, {allowed:.3g} is"
        f" allowed; {past} of {error.size} numbers are past it"
    )
