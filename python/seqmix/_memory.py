"""A run's memory as NumPy arrays: who holds it, and for how long."""
from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import numpy as np

from . import _native

if TYPE_CHECKING:
    from .run import Run


class Memory:
    """A piece of the run's memory, for NumPy: an array made of it keeps the run's memory alive."""

    def __init__(self, owner: Any, at: int, shape: tuple[int, ...], kind: str = "<f4") -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (at, True), "shape": shape, "typestr": kind, "version": 3}


class Handle:
    """A run of the library, with the threads that it was lent; both end when nobody looks at its memory any
    more."""

    def __init__(self, at: int) -> None:
        library = _native.runs()
        self.at = at
        threads = library.smx_run_config_value(at, b"threads")
        team = library.smx_team_open(int(threads or b"1"))
        if team:
            library.smx_run_parallel(at, _native.team_for(), team)
        self._process = os.getpid()
        self._end = weakref.finalize(self, _close, at, team, self._process)

    def is_here(self) -> bool:
        """Not in a fork's copy of it."""
        return self._process == os.getpid()


def _close(at: int, team: int | None, process: int) -> None:
    if process != os.getpid():
        return  # a fork's copy: the memory goes with the process
    _native.runs().smx_run_close(at)
    _native.runs().smx_team_close(team)


class Tensors(Mapping[str, np.ndarray]):
    """Weights by name ("embedding", "block0.mixer.filter_q"), their last gradients ("grad:NAME"), and, after
    look or predict, what the model did with that sample ("logits", "block0.mixer.map" [H][L][L]).

    Weights and gradients are read-only views: they show every later step, and stay readable after close. The
    others are copies.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> np.ndarray:
        tensor = _native.headers().structs["smx_tensor"]()
        with self._run._use() as at:
            if not isinstance(name, str) or not name.isascii() or "\0" in name:
                raise KeyError(name)
            if self._run._call("smx_run_tensor", at, name.encode(), tensor, checked=False):
                raise KeyError(name)
            return self._array(tensor)

    def _array(self, tensor: Any) -> np.ndarray:
        shape = tuple(tensor.shape[: tensor.rank])
        array = np.asarray(Memory(self._run._handle, tensor.data, shape))
        return array if tensor.is_weight or tensor.name.startswith(b"grad:") else array.copy()

    def __iter__(self) -> Iterator[str]:
        tensor = _native.headers().structs["smx_tensor"]()
        library = _native.runs()
        with self._run._use() as at:
            names = []
            for i in range(library.smx_run_tensor_count(at)):
                library.smx_run_tensor_at(at, i, tensor)
                names.append(tensor.name.decode())
        return iter(names)

    def __len__(self) -> int:
        with self._run._use() as at:
            return _native.runs().smx_run_tensor_count(at)
