"""A trained model that reads on: what it remembers of sequences whose rows come in pieces, and text that it
writes (docs/STATES.md)."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _arrays, _native
from ._arrays import shape_text
from ._errors import SeqmixError
from ._memory import Handle

__all__ = ["State", "StateForm"]

LONG = 64  # rows from which on a push looks at Ctrl-C; fewer are read at once


class StateForm(NamedTuple):
    """A state of `sequences` [B], each of at most `most` rows (0: no limit), which have read `rows`; a row is
    a token below `vocab`, or `channels` numbers; an answer has `answers` numbers; `text`: tokens are bytes;
    memory in `bytes`.
    """

    sequences: int
    most: int
    rows: int
    vocab: int
    channels: int
    answers: int
    text: int
    bytes: int


class State:
    """Made by Run.state. A run's states share its weights; once it is trained further, older states are
    refused. A run and
    its states are for one thread at a time. Errors: SeqmixError, and the state is as it was."""

    def __init__(self, run: Any, handle: Handle, at: int) -> None:
        self._run, self._at = run, at
        # The run's memory outlives its states.
        weakref.finalize(self, handle.drop, at).atexit = False

    @property
    def form(self) -> StateForm:
        struct = _native.headers().structs["smx_state_form"]()
        with self._run._use():
            _native.runs().smx_state_look(self._at, struct)
        return StateForm(*(getattr(struct, field) for field in StateForm._fields))

    def push(self, rows: Any) -> np.ndarray:
        """Read on: tokens [B][n] (or [n] where B is 1), or numbers [B][n][C]. Returns the model's output at
        each of these rows, float32 [B][n][answers]. Any pieces give the very words of the whole sequence read
        at once. Ctrl-C ends it between rows; those before have then been read (form.rows)."""
        form = self.form
        if form.channels:
            given = _arrays.reals(rows, "rows", np.float32)
            given = given[None] if given.ndim == 2 and form.sequences == 1 else given
            fits = given.ndim == 3 and given.shape[::2] == (form.sequences, form.channels)
            needed = f"[{form.sequences}][n][{form.channels}]"
        else:
            given = _arrays.integers(rows, "rows")
            given = given[None] if given.ndim == 1 and form.sequences == 1 else given
            fits = given.ndim == 2 and len(given) == form.sequences
            needed = f"[{form.sequences}][n]"
        if not fits:
            raise SeqmixError(f"rows has the shape {shape_text(given.shape)}; {needed} is needed")
        given = np.ascontiguousarray(given)
        answers = np.empty((*given.shape[:2], form.answers), np.float32)
        tokens, values = (None, given.ctypes.data) if form.channels else (given.ctypes.data, None)
        with self._run._use() as run:

            def call() -> int:
                return self._run._call(
                    "smx_state_push", self._at, tokens, values, given.shape[1], answers.ctypes.data
                )

            run.interruptible(call) if given.shape[1] >= LONG else call()
        return answers

    @property
    def answers(self) -> np.ndarray | None:
        """The output at the last row, [B][answers]; None before the first. A copy."""
        form = self.form
        with self._run._use():
            where = _native.runs().smx_state_answers(self._at)
            if not where:
                return None
            return np.ctypeslib.as_array(
                ctypes.cast(where, ctypes.POINTER(ctypes.c_float)), (form.sequences, form.answers)
            ).copy()

    def odds(self, sequence: int = 0) -> np.ndarray:
        """The model's own probabilities [answers] after the last row of a sequence."""
        form = self.form
        if not _arrays.count(sequence, "sequence") < form.sequences:
            raise SeqmixError(f"sequence is {sequence}; 0 to {form.sequences - 1} are allowed")
        odds = np.empty(form.answers, np.float32)
        with self._run._use():
            self._run._call("smx_state_odds", self._at, sequence, odds.ctypes.data)
        return odds

    def draw(self, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, seed: int = 1) -> np.ndarray:
        """The next token of each sequence, int32 [B], drawn from the last answers: the same by the same seed
        everywhere.
        temperature 0: the likeliest. top_k, top_p: only the k likeliest, the likeliest that reach p together.
        """
        how = _native.headers().structs["smx_draw"](
            _arrays.real(temperature, "temperature"),
            _arrays.count(top_k, "top_k"),
            _arrays.real(top_p, "top_p"),
            _arrays.count(seed, "seed"),
        )
        tokens = np.empty(self.form.sequences, np.int32)
        with self._run._use():
            self._run._call("smx_state_draw", self._at, ctypes.byref(how), tokens.ctypes.data)
        return tokens

    def generate(self, n: int, **how: Any) -> Iterator[np.ndarray]:
        """n tokens of each sequence, int32 [B] at a time, each drawn (see draw) and read in turn."""
        return self._generate(_arrays.count(n, "n"), how)

    def _generate(self, n: int, how: dict[str, Any]) -> Iterator[np.ndarray]:
        for _ in range(n):
            tokens = self.draw(**how)
            self.push(tokens[:, None])
            yield tokens

    def copy(self) -> State:
        """Another state that has read the same and goes its own way from here."""
        return make(self._run, "smx_state_copy", state=self._at)

    __copy__ = copy

    def __reduce__(self) -> Any:
        """Pickled with its run, and copied deeply with it: never the address of its memory."""
        return _taken_up, (self._run, self.save())

    def save(self) -> bytes:
        """As bytes, with a digest of the model and a checksum; Run.state(saved=...) reads them."""
        n = ctypes.c_size_t()
        error = _native.headers().structs["smx_error"]()
        with self._run._use():
            where = _native.runs().smx_state_save(self._at, ctypes.byref(n), error)
            if not where:
                _native.fail(error)
            data = ctypes.string_at(where, n.value)
            _native.release(where)
        return data


def _taken_up(run: Any, saved: bytes) -> State:
    return run.state(saved=saved)


def make(run: Any, name: str, *arguments: Any, state: int | None = None) -> State:
    """A state by the library's function of this name, which takes the run, or another state of it."""
    error = _native.headers().structs["smx_error"]()
    with run._use() as handle:
        at = getattr(_native.runs(), name)(handle.at if state is None else state, *arguments, error)
        if not at:
            _native.fail(error)
        return State(run, handle, at)
