"""A case of the oracle's library: its arrays, and what of them is heads in which layout (ref.py)."""
from __future__ import annotations

import ctypes
import json
import keyword
from typing import Any, Mapping, NamedTuple

import numpy as np

from . import _native
from ._errors import SeqmixError


class _Array(NamedTuple):
    kind: str
    name: str
    shape: str
    when: str
    optional: bool
    integer: bool
    gradient: bool
    sequence: bool  # a batch has one for each sequence


def _as_json(mechanism: str, params: Mapping[str, Any]) -> bytes:
    try:  # (numbers of NumPy are numbers)
        return json.dumps(params, allow_nan=False, default=lambda v: v.item()).encode()
    except (AttributeError, TypeError, ValueError):
        raise SeqmixError(f"{mechanism}: of the parameters {params!r:.200} one is no finite number or word") from None


class _Case:
    """One run of the library on one sequence."""

    def __init__(self, mechanism: str, params: Mapping[str, Any]) -> None:
        self.name, self.library = mechanism, _native.oracle()
        error = ctypes.create_string_buffer(512)
        self.at = self.library.smx_oracle_open(
            mechanism.encode(), _as_json(mechanism, params), error, len(error)
        )
        if not self.at:
            raise SeqmixError(f"{mechanism}: {error.value.decode()}")

    def __enter__(self) -> _Case:
        return self

    def __exit__(self, *_: Any) -> None:
        self.library.smx_oracle_close(self.at)

    def _check(self, status: int) -> None:
        if status:
            raise SeqmixError(f"{self.name}: {self.library.smx_oracle_error(self.at).decode()}")

    def set(self, name: str, array: np.ndarray) -> None:
        shape = (ctypes.c_size_t * 8)(*array.shape[:8])
        self._check(
            self.library.smx_oracle_set(
                self.at, name.encode(), array.dtype == np.int32, array.ndim, shape, array.ctypes.data
            )
        )

    def run(self) -> None:
        self._check(self.library.smx_oracle_run(self.at))

    def shapes(self) -> None:
        self._check(self.library.smx_oracle_shapes(self.at))

    def margin(self) -> float:
        return self.library.smx_oracle_margin(self.at)

    def get(self, kind: str, name: str) -> tuple[tuple[int, ...], int | None]:
        """Shape, and where the numbers are."""
        n, shape, data = ctypes.c_size_t(), (ctypes.c_size_t * 8)(), ctypes.c_void_p()
        self._check(self.library.smx_oracle_get(self.at, ord(kind), name.encode(), n, shape, data))
        return tuple(shape[: n.value]), data.value

    def explain(self, name: str, gradient: bool, mine: np.ndarray, tol: float, scale: float) -> tuple[str, int]:
        """What kind of fault an output or gradient looks like, and how much that tells (cli/oracle/faults.h)."""
        text = ctypes.create_string_buffer(512)
        worth = self.library.smx_oracle_explain(
            self.at, name.encode(), gradient, mine.ctypes.data, tol, scale, text, len(text)
        )
        self._check(worth < 0)
        return text.value.decode(), worth

    def copy(self, kind: str, name: str) -> np.ndarray | None:
        shape, at = self.get(kind, name)
        if at is None:
            return None
        return np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_double)), shape).copy()


# With layout="bhld": [...][L][H*d] in the library is [...][H][L][d] here, and [...][L][H] is [...][H][L]; of
# DeltaProduct's keys, [...][L][n*H*d] is [...][H][L*n][d]. "blhd": [...][L][H][d] and [...][L][H].
LAYOUTS = ("bld", "bhld", "blhd")


class _Heads(NamedTuple):
    called: str  # "H", "Hkv"; "Hq|Hv": the larger
    columns: str  # what a head's part of a row is: "d", "" (one number)
    stepped: bool = False  # n of its rows are one of the others'

    def number(self, sizes: Mapping[str, Any]) -> int:
        return max(int(sizes.get(name, 1)) for name in self.called.split("|"))


def _heads(shape: str) -> _Heads | None:
    """Of a shape whose rows are all heads side by side; None: it is no such shape."""
    tokens = shape.split()
    if len(tokens) != 2 or tokens[0] != "L":
        return None
    if tokens[1] == "D":
        return _Heads("H", "d")
    stepped = tokens[1].startswith("n*")
    called, _, columns = tokens[1].removeprefix("n*").partition("*")
    return _Heads(called, columns, stepped) if called.startswith("H") else None


def _turned(array: np.ndarray, heads: _Heads) -> np.ndarray:
    """[...][H][L][d] as [...][L][H][d], and back."""
    axes = (-3, -2) if heads.columns else (-2, -1)
    return np.ascontiguousarray(np.swapaxes(array, *axes)) if array.ndim >= -axes[0] else array


def _shared(array: np.ndarray, heads: _Heads, each: int) -> np.ndarray:
    """The sums over the heads that shared one: [...][H][L][d] becomes [...][H/each][L][d]."""
    at = array.ndim - (3 if heads.columns else 2)
    return array.reshape(*array.shape[:at], -1, each, *array.shape[at + 1 :]).sum(at + 1)


def _join(array: np.ndarray, heads: _Heads, sizes: Mapping[str, Any]) -> np.ndarray:
    """[...][H][L][d] becomes [...][L][H*d]."""
    array, steps = _turned(array, heads), int(sizes.get("n", 1)) if heads.stepped else 1
    at = array.ndim - (3 if heads.columns else 2)
    return array.reshape(*array.shape[:at], array.shape[at] // steps, -1)


def _split(array: np.ndarray, heads: _Heads, sizes: Mapping[str, Any]) -> np.ndarray:
    """And back."""
    steps = int(sizes.get("n", 1)) if heads.stepped else 1
    parts = (heads.number(sizes), -1) if heads.columns else (-1,)
    if heads.columns and array.shape[-1] % parts[0]:
        raise SeqmixError(f"{heads.called} = {parts[0]} does not divide the width {array.shape[-1]}")
    return _turned(array.reshape(*array.shape[:-2], array.shape[-2] * steps, *parts), heads)


def _python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _plain_name(name: str) -> str:
    """And back."""
    return name[:-1] if keyword.iskeyword(name[:-1]) else name


def _default(param: Mapping[str, str]) -> Any:
    kind, text = param["type"], param["default"]
    if not text:
        return None
    return (
        text == "true"
        if kind == "flag"
        else float(text)
        if kind == "real"
        else int(text)
        if "size" in kind
        else text
    )
