"""A run's memory as NumPy arrays: who holds it, and for how long."""
from __future__ import annotations

import _thread
import collections
import contextlib
import ctypes
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

import numpy as np

from . import _native
from ._errors import SeqmixError

if TYPE_CHECKING:
    from .run import Run

LOOK = 0.05  # seconds between two looks at Ctrl-C


class Memory:
    """A piece of the run's memory, for NumPy: an array made of it keeps the run's memory alive."""

    def __init__(self, owner: Any, at: int, shape: tuple[int, ...], kind: str = "<f4") -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (at, True), "shape": shape, "typestr": kind, "version": 3}


class Handle:
    """A run of the library, with the threads that it was lent; both end when nobody looks at its memory any
    more.

    Whoever calls the library for it is inside `use`. Python forgets objects in any thread and at any moment,
    also inside a call: a state that is forgotten is only noted (`dropped`), and closed where no call is under
    way."""

    def __init__(self, at: int) -> None:
        library = _native.runs()
        self.at = at
        self.stop = ctypes.c_int(0)
        self._busy = threading.Lock()  # held by the one thread that uses the run
        # Held while the library is called: by that thread, or for a moment by one that closes states. (Taken
        # again by the same thread where a signal's handler interrupts that moment.)
        self._calling = threading.RLock()
        self._dropped: collections.deque[int] = collections.deque()
        library.smx_run_stop(at, ctypes.addressof(self.stop))
        threads = library.smx_run_config_value(at, b"threads")
        team = library.smx_team_open(int(threads or b"1"))
        if team:
            library.smx_run_parallel(at, _native.team_for(), team)
        self._process = os.getpid()
        # At the end of the process its memory goes by itself, and other threads may still be at work in it.
        weakref.finalize(self, _close, at, team, self._process, self._dropped, self.stop).atexit = False

    @contextlib.contextmanager
    def use(self) -> Iterator[Handle]:
        """The library may be called for this run: by one thread at a time, another one is refused."""
        if not self._busy.acquire(blocking=False):
            raise SeqmixError("this run is at work in another thread; a run is for one thread at a time")
        try:
            with self._calling:
                yield self
        finally:
            self._busy.release()
            self._close_dropped()

    def drop(self, state: int) -> None:
        """Close a state: now, or after the call that is under way."""
        self._dropped.append(state)
        self._close_dropped()

    def _close_dropped(self) -> None:
        # Where somebody is busy, it is for him to come here afterwards.
        while self._dropped and not self._busy.locked() and self._calling.acquire(blocking=False):
            try:
                _close_states(self._dropped, self.is_here())
            finally:
                self._calling.release()

    def interruptible(self, call: Callable[[], int]) -> int:
        """What `call` returns, made so that Ctrl-C is heard meanwhile: it sets `stop`, waits until the call has
        ended for that, and is raised here."""
        if threading.current_thread() is not threading.main_thread():
            return call()  # Python tells its signals to the main thread alone
        ended, answers, problems = threading.Event(), [], []
        self.stop.value = 0

        def work() -> None:
            try:
                answers.append(call())
            except BaseException as problem:
                problems.append(problem)
            ended.set()

        begun = False
        while not ended.is_set():
            try:
                if not begun:
                    begun = True
                    try:
                        _thread.start_new_thread(work, ())
                    except RuntimeError:  # no more threads are to be had
                        work()
                ended.wait(LOOK)  # a signal that another thread took does not end it
            except BaseException as interrupt:
                self.stop.value = 1
                problems.insert(0, interrupt)
        self.stop.value = 0
        if problems:
            raise problems[0]
        return answers[0]

    def is_here(self) -> bool:
        """Not in a fork's copy of it."""
        return self._process == os.getpid()


def _close_states(states: collections.deque[int], here: bool) -> None:
    with contextlib.suppress(IndexError):  # another thread was quicker
        while states:
            state = states.popleft()
            if here:
                _native.runs().smx_state_close(state)


def _close(at: int, team: int | None, process: int, states: collections.deque[int], stop: Any) -> None:
    if process != os.getpid():
        return  # a fork's copy: the memory goes with the process
    _close_states(states, True)
    _native.runs().smx_run_close(at)  # `stop`, which it looks at, lives until here
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
        with self._run._use() as run:
            if not isinstance(name, str) or not name.isascii() or "\0" in name:
                raise KeyError(name)
            if self._run._call("smx_run_tensor", run.at, name.encode(), tensor, checked=False):
                raise KeyError(name)
            return self._array(tensor, run)

    def _array(self, tensor: Any, owner: Handle) -> np.ndarray:
        shape = tuple(tensor.shape[: tensor.rank])
        array = np.asarray(Memory(owner, tensor.data, shape))
        return array if tensor.is_weight or tensor.name.startswith(b"grad:") else array.copy()

    def __iter__(self) -> Iterator[str]:
        tensor = _native.headers().structs["smx_tensor"]()
        library = _native.runs()
        with self._run._use() as run:
            names = []
            for i in range(library.smx_run_tensor_count(run.at)):
                library.smx_run_tensor_at(run.at, i, tensor)
                names.append(tensor.name.decode())
        return iter(names)

    def __len__(self) -> int:
        with self._run._use() as run:
            return _native.runs().smx_run_tensor_count(run.at)
