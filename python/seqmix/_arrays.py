"""What callers hand over, as NumPy arrays: arrays, lists, numbers, tensors of PyTorch on any device."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ._errors import SeqmixError


def shape_text(shape: Any) -> str:
    return "".join(f"[{n}]" for n in shape) or "[]"


def to_numpy(value: Any, name: str) -> np.ndarray:
    """As it is, any dtype; a tensor is detached and fetched, bfloat16 becomes float32, which is exact."""
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        try:
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":
                value = value.float()
            return value.resolve_conj().resolve_neg().numpy()
        except Exception as error:  # sparse, quantised, meta ...
            raise SeqmixError(f"{name} is a tensor that has no numbers to read: {error}") from None
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise SeqmixError(f"{name} is a masked array, and what is masked has no number: fill it first")
    try:
        return np.asarray(value)
    except Exception as error:
        raise SeqmixError(f"{name} is no array of numbers: {error}") from None


def reals(value: Any, name: str, dtype: type = np.float64) -> np.ndarray:
    """Real numbers, contiguous and aligned."""
    array = to_numpy(value, name)
    if array.dtype.kind not in "fiu":
        raise SeqmixError(f"{name} holds {array.dtype}; real numbers are allowed")
    with np.errstate(over="ignore"):  # infinite then, which whoever minds refuses
        there = array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned
        return np.array(array, dtype=dtype, order="C", copy=not there)


def integers(value: Any, name: str) -> np.ndarray:
    """int32, contiguous. Reals are taken where each is a whole number, as np.zeros(n) is."""
    array = to_numpy(value, name)
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array))
        if not whole.all():
            raise SeqmixError(f"{name} holds {array[~whole].flat[0]}; integers are allowed")
    elif array.dtype.kind not in "iu":
        raise SeqmixError(f"{name} holds {array.dtype}; integers are allowed")
    if array.size and (array.min() < -(2**31) or array.max() >= 2**31):
        raise SeqmixError(
            f"{name} holds {array.max() if array.max() >= 2**31 else array.min()}; integers of 32 bits are"
            " allowed"
        )
    return np.array(array, dtype=np.int32, order="C")


def count(n: Any, name: str) -> int:
    try:
        value = operator.index(n)
    except (TypeError, ValueError, RuntimeError):  # (a tensor's own)
        raise SeqmixError(f"{name} is {n!r:.40}; it must be a whole number") from None
    if not 0 <= value < 2**53:
        raise SeqmixError(f"{name} is {value}; 0 to 2^53 are allowed")
    return value


def counts(several: Any, name: str) -> tuple[int, ...]:
    try:
        values = tuple(several)
    except TypeError:
        raise SeqmixError(f"{name} is {several!r:.40}; several whole numbers are wanted, such as (2,)") from None
    return tuple(count(n, name) for n in values)


def real(x: Any, name: str) -> float:
    try:
        return float(x)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise SeqmixError(f"{name} is {x!r:.40}; it must be a number") from None
