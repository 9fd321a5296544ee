"""Runs: a model, a task, an optimiser and their metrics, opened from a config: what the program, the page and
this package train, to the same bit everywhere. Long because a run has a method for each thing that can be asked
of it."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple

import numpy as np

from . import _arrays, _native
from ._arrays import count as _count
from ._arrays import shape_text
from ._errors import SeqmixError
from ._config import as_bytes, config_text, config_values
from ._files import write_whole
from ._memory import Handle, Memory, Tensors
from ._program import output
from ._shown import page_of
from .state import State, make

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Evaluation", "Metrics", "Run", "Sample"]

SLICE = 0.1  # seconds of training between two looks at Ctrl-C and the progress bar


# The fields are those of run.h, which says what they mean.
class Metrics(NamedTuple):
    """Of the last step, and what training takes: see smx_metrics in seqmix/run.h."""

    step: int
    loss: float
    accuracy: float
    rate: float
    gradient_norm: float
    params: int
    steps: int
    bytes: int
    flops: int


class Evaluation(NamedTuple):
    """Loss (nats, or squared error) and what was answered right: see smx_evaluation in seqmix/run.h."""

    loss: float
    accuracy: float
    sequence_accuracy: float
    r2: float
    free_accuracy: float
    free_sequence_accuracy: float
    targets: int
    sequences: int
    regression: int
    text: int
    free_running: int


class Form(NamedTuple):
    """What a batch of a run's task is made of: `sequences` [B] of `length` [L] rows, each a token below
    `vocab`, or `channels` real numbers; `targets` a sequence (L, or 1), each a class below `classes`, or a
    real number where `classes` is 0.
    """

    sequences: int
    length: int
    targets: int
    most: int
    vocab: int
    channels: int
    classes: int


class Sample(NamedTuple):
    """A sequence and what the model answered: tokens [L] or values [L][C]; targets [T] (-1: none) or
    target_values (NaN: none); predicted as targets; confidence: the probability of `predicted`, or the answer
    itself in a regression. Copies.
    """

    tokens: np.ndarray | None
    values: np.ndarray | None
    targets: np.ndarray | None
    target_values: np.ndarray | None
    predicted: np.ndarray | None
    confidence: np.ndarray | None


class Run:
    """One experiment.

    config: "mixer=cat&task=mqar&steps=500", or a dict of keys; further keys by name win: Run(config, seed=2).
    `seqmix help config` lists them. `threads=2` trains with two threads, to the same bit.

    A run is for one thread at a time; separate runs may be used by separate threads. Calls release the
    interpreter's lock. Errors: SeqmixError, one sentence; the run is then as it was before the call."""

    def __init__(self, config: str | Mapping[str, Any] = "", **keys: Any) -> None:
        error = _native.headers().structs["smx_error"]()
        text = config_text(config, keys)
        runs = config_values(text)
        if len(runs) > 1:
            raise SeqmixError(f"Run takes one run, and {text:.200} are {len(runs)}: write out the one that is meant")
        at = _native.runs().smx_run_open(as_bytes(text), error)
        if not at:
            _native.fail(error)
        self._take(at)
        for key in (part.partition("=")[0] for part in text.split("&") if part):
            if key not in runs[0] and key != "preset":  # (a preset becomes its keys)
                warnings.warn(f"{key} is a key of another mixer or task: it says nothing in this run", stacklevel=2)

    def _take(self, at: int) -> None:
        self._handle: Handle | None = Handle(at)
        self._overrides: list[tuple[bytes, int, np.ndarray]] = []

    @property
    def tensors(self) -> Tensors:
        """Weights, gradients and what a sample went through, by name: see Tensors."""
        return Tensors(self)  # made anew: a run that held it would be freed by the garbage collector alone

    @classmethod
    def load(cls, source: str | os.PathLike[str] | bytes, **changes: Any) -> Run:
        """A run from a checkpoint: a path, or its bytes. changes: keys to change, steps=900. It goes on bit
        for bit."""
        if isinstance(source, (str, os.PathLike)):
            try:
                source = Path(source).read_bytes()
            except (OSError, ValueError) as problem:  # (ValueError: a name that no file can have)
                why = problem.strerror if isinstance(problem, OSError) else problem
                raise SeqmixError(f"{os.fspath(source)} cannot be read: {why}") from None
        if not isinstance(source, (bytes, bytearray, memoryview)):
            raise SeqmixError(f"the checkpoint is {source!r:.60}; it must be a path or bytes")
        data = bytes(source)
        error = _native.headers().structs["smx_error"]()
        text = as_bytes(config_text("", changes)) if changes else None
        at = _native.runs().smx_run_load(ctypes.cast(data, ctypes.c_void_p), len(data), text, error)
        if not at:
            _native.fail(error)
        run = cls.__new__(cls)
        run._take(at)
        return run

    def set_weight(self, name: str, values: Any) -> None:
        """Write the weight `name` of `tensors`: numbers of its shape, all finite. The optimiser's moments and
        the gradients stay as they are."""
        if not isinstance(name, str):
            raise SeqmixError(f"name is {name!r:.40}; it must be a weight's name, a text")
        array = _arrays.reals(values, name, np.float32)
        shape = self.tensors[name].shape if name in self.tensors else array.shape
        if array.shape != shape:
            raise SeqmixError(
                f"{name} has the shape {shape_text(shape)}; {shape_text(array.shape)} was given"
            )
        with self._use() as run:
            self._call("smx_run_set_weight", run.at, as_bytes(name), array.ctypes.data, array.size)

    # ---- Who may call
    def _use(self) -> contextlib.AbstractContextManager[Handle]:
        handle = self._handle
        if handle is None:
            raise SeqmixError("this run is closed")
        return handle.use()

    def _call(self, name: str, *arguments: Any, checked: bool = True) -> int:
        error = _native.headers().structs["smx_error"]()
        status = getattr(_native.runs(), name)(*arguments, error)
        if status and checked:
            _native.fail(error)
        return status

    def close(self) -> None:
        """Give its memory back, as soon as no array shows it any more and the call that is under way has
        ended. Called by itself when the run is forgotten."""
        self._handle = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return Run.load, (self.save(),)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<seqmix.Run, closed>"
        try:
            values = self.values
        except SeqmixError:
            return "<seqmix.Run, at work in another thread>"
        form, metrics = self.form, self.metrics
        reads = [form.sequences, form.length, *([form.channels] if form.channels else [])]
        return (
            f"<seqmix.Run mixer={values['mixer']} task={values['task']} seed={values['seed']}, step"
            f" {metrics.step} of {values['steps']}; {metrics.params} weights, inputs {shape_text(reads)},"
            f" targets {shape_text((form.sequences, form.targets))}>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the same with the curve of the losses."""
        try:
            return page_of(repr(self), self.losses)
        except SeqmixError:  # closed, or at work
            return page_of(repr(self), ())

    # ---- Training
    def step(
        self,
        n: int | None = None,
        progress: bool = False,
        on_step: Callable[[Metrics], Any] | None = None,
    ) -> Metrics:
        """Train n steps; without n, the rest of the config's. progress: a bar, where tqdm is installed.
        on_step: called after each step with its metrics; it may look at the run, and what it raises ends the
        training. Ctrl-C stops between steps. Stops with a SeqmixError where loss, gradient or a weight is no
        longer finite; the weights are then those before.
        """
        metrics = self.metrics
        todo = max(0, metrics.steps - metrics.step) if n is None else _count(n, "n")
        with _bar(todo, progress) as bar:
            size = 1
            while todo > 0:
                size = min(size, todo)
                began = time.monotonic()
                with self._use() as run:
                    self._call("smx_run_step", run.at, size)
                bar.update(size)
                todo -= size
                if on_step:
                    on_step(self.metrics)
                    continue
                size = max(1, min(4 * size, int(size * SLICE / max(time.monotonic() - began, 1e-9))))
        return self.metrics

    def step_on(self, inputs: Any, targets: Any) -> Metrics:
        """One step on a batch of one's own; see `form` for its shape. inputs [b][L] tokens, or [b][L][C]
        numbers; targets [b][T], or [b] where T is 1: classes with -1 for none, or numbers with NaN for none.
        b is at most form.sequences.
        """
        with self._use() as run:
            batch, keep = self._batch(run, inputs, targets)
            self._call("smx_run_step_on", run.at, batch)
            del keep
        return self.metrics

    def fit(self, data: Any, steps: int | None = None, progress: bool = False) -> Metrics:
        """Train on data of one's own: a pair of arrays (inputs, targets), which is shuffled into batches anew
        in each pass by the config's seed, or an iterable of batches (inputs, targets). steps: so many;
        without it, what is left of the config's, or as many as the iterable has."""
        metrics = self.metrics
        most = max(0, metrics.steps - metrics.step) if steps is None else _count(steps, "steps")
        try:
            batches = self._shuffled(*data) if isinstance(data, tuple) and len(data) == 2 else iter(data)
        except TypeError:
            raise SeqmixError(
                f"the data is {data!r:.60}; it must be a pair of arrays, or an iterable of batches"
            ) from None
        with _bar(most, progress) as bar:
            for _, batch in zip(range(most), batches):
                if not isinstance(batch, (tuple, list)) or len(batch) != 2:
                    raise SeqmixError(
                        f"the data gave {type(batch).__name__}; a batch is a pair (inputs, targets)"
                    )
                self.step_on(*batch)
                bar.update(1)
        return self.metrics

    def _shuffled(self, inputs: Any, targets: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        x, y = _arrays.to_numpy(inputs, "inputs"), _arrays.to_numpy(targets, "targets")
        if not x.ndim or not y.ndim or len(x) != len(y) or not len(x):
            raise SeqmixError(
                f"inputs has the shape {shape_text(x.shape)}, targets {shape_text(y.shape)}; as many of both"
                " are needed, at least one"
            )
        size, random = self.form.sequences, np.random.default_rng(int(float(self.values["seed"])))
        while True:
            order = random.permutation(len(x))
            for first in range(0, len(x), size):
                yield x[order[first : first + size]], y[order[first : first + size]]

    # ---- Judging
    def evaluate(self, count: int = 1000, length: int = 0, **changes: Any) -> Evaluation:
        """On `count` held-out sequences, at `length` tokens (0: the config's), or under changes to the task's
        keys: pairs=32. Ctrl-C ends it after the sequences that it is at."""
        result = _native.headers().structs["smx_evaluation"]()
        count, length = _count(count, "count"), _count(length, "length")
        if length:
            changes = {"length": length, **changes}
        with self._use() as run:
            text = as_bytes(config_text("", changes)) if changes else None
            run.interruptible(lambda: self._call("smx_run_evaluate_as", run.at, count, text, result))
        return _named(Evaluation, result)

    def evaluate_on(self, inputs: Any, targets: Any) -> Evaluation:
        """On one batch of one's own (see step_on): nothing is learnt."""
        result = _native.headers().structs["smx_evaluation"]()
        with self._use() as run:
            batch, keep = self._batch(run, inputs, targets)
            self._call("smx_run_evaluate_on", run.at, batch, result)
            del keep
        return _named(Evaluation, result)

    @property
    def confusion(self) -> np.ndarray | None:
        """Of the last evaluation: how often the target was the row and the answer the column, uint64
        [classes][classes]; None before one, for a regression, and beyond 256 classes."""
        n = ctypes.c_size_t()
        with self._use() as run:
            table = _native.runs().smx_run_confusion(run.at, ctypes.byref(n))
            return (
                np.asarray(Memory(run, table, (n.value, n.value), "<u8")).copy() if table else None
            )

    # ---- Looking inside
    def look(self, index: int = 0, stream: str = "eval", length: int = 0) -> Sample:
        """Sample `index` of the evaluation or the training stream ("train"), run alone; afterwards `tensors`
        has all that the model did with it."""
        if stream not in ("eval", "train"):
            raise SeqmixError(f"stream is {stream!r}; it must be 'eval' or 'train'")
        return self._look(
            "smx_run_look", int(stream == "train"), _count(index, "index"), _count(length, "length")
        )

    def predict(self, inputs: Any) -> Sample:
        """The same on a sequence of one's own: tokens [L], or numbers [L][C] ([L] where C is 1)."""
        form = self.form
        if form.channels:
            values = self._rows(_arrays.reals(inputs, "inputs", np.float32), form.channels, 1)
            return self._look("smx_run_predict_values", values.ctypes.data, len(values), keep=values)
        tokens = _arrays.integers(inputs, "inputs")
        if tokens.ndim != 1:
            raise SeqmixError(
                f"inputs has the shape {shape_text(tokens.shape)}; a sequence of tokens [L] is needed"
            )
        return self._look("smx_run_predict", tokens.ctypes.data, len(tokens), keep=tokens)

    @staticmethod
    def _rows(values: np.ndarray, channels: int, lead: int) -> np.ndarray:
        if values.ndim == lead and channels == 1:
            values = values[..., None]
        if values.ndim != lead + 1 or values.shape[-1] != channels:
            raise SeqmixError(
                f"inputs has the shape {shape_text(values.shape)}; {'[b]' * (lead - 1)}[L][{channels}] is"
                " needed"
            )
        return np.ascontiguousarray(values)

    def _look(self, name: str, *arguments: Any, keep: Any = None) -> Sample:
        sample = _native.headers().structs["smx_sample"]()
        with self._use() as run:
            self._call(name, run.at, *arguments, sample)
            rows = (sample.length, sample.channels) if sample.values else ()
            shapes = {"tokens": (sample.length,), "values": rows}
            found = {}
            for field in Sample._fields:
                where = getattr(sample, field)
                kind = "<i4" if field in ("tokens", "targets", "predicted") else "<f4"
                shape = shapes.get(field, (sample.target_count,))
                found[field] = np.asarray(Memory(run, where, shape, kind)).copy() if where else None
        del keep
        return Sample(**found)

    # ---- Weights in hand
    @contextlib.contextmanager
    def override(self, weights: Mapping[str | tuple[str, int], Any]) -> Iterator[None]:
        """What if: inside `with run.override({"embedding": values}):` looks, predictions and evaluations
        compute with these numbers; a key (name, at) puts them from number `at` of the weight on (row-major).
        Later ones win, inner ones over outer ones. Training, states, `tensors`, `save` and `digest` go on with
        the weights as trained."""
        outer = self._overrides
        mine = [
            self._numbers(*(key if isinstance(key, tuple) and len(key) == 2 else (key, 0)), values)
            for key, values in weights.items()
        ]
        try:
            self._override(outer + mine)
            yield
        finally:
            if self._handle is not None:
                self._override(outer)

    def _numbers(self, name: Any, at: Any, values: Any) -> tuple[bytes, int, np.ndarray]:
        if not isinstance(name, str) or not name.isascii() or "\0" in name:
            raise SeqmixError(f"{name!r:.60} is no name of a weight; `tensors` has them")
        numbers = _arrays.reals(values, name, np.float32)
        weight = self.tensors.get(name)
        if weight is not None and numbers.ndim > 1 and numbers.shape != weight.shape:
            raise SeqmixError(
                f"{name} has the shape {shape_text(weight.shape)}; it was given {shape_text(numbers.shape)}"
            )
        return name.encode(), _count(at, "at"), numbers

    def _override(self, numbers: list[tuple[bytes, int, np.ndarray]]) -> None:
        with self._use() as run:
            self._overrides = numbers
            self._call("smx_run_override", run.at, None, 0, None, 0)
            for name, at, data in numbers:
                self._call("smx_run_override", run.at, name, at, data.ctypes.data, data.size)

    # ---- Reading on
    def state(self, sequences: int = 1, most: int = 0, saved: bytes | None = None) -> State:
        """A state that has read nothing yet: `sequences` sequences of at most `most` rows each (0: without
        limit, where the model's memory does not grow). saved: one that State.save kept, of this very model.
        See seqmix.state.State.
        """
        if saved is not None:
            if not isinstance(saved, (bytes, bytearray, memoryview)):
                raise SeqmixError(f"saved is {saved!r:.60}; it must be the bytes of State.save")
            data = bytes(saved)
            return make(self, "smx_state_load", ctypes.cast(data, ctypes.c_void_p), len(data))
        return make(self, "smx_state_open", _count(sequences, "sequences"), _count(most, "most"))

    def generate(self, prompt: Any, n: int, most: int = 0, **how: Any) -> Any:
        """`prompt` read and n tokens written after it. prompt: a text or bytes where the task's tokens are
        bytes (returns bytes), else tokens [L] (returns int32 [n]). how: temperature, top_k, top_p, seed, as
        State.draw takes them.
        """
        form, n = self.form, _count(n, "n")
        text = isinstance(prompt, (str, bytes))
        data = prompt.encode("utf-8", "replace") if isinstance(prompt, str) else prompt
        tokens = (
            np.frombuffer(data, np.uint8).astype(np.int32) if text else _arrays.integers(prompt, "prompt")
        )
        if not tokens.size:
            raise SeqmixError("the prompt is empty; the model draws after a row that it has read")
        try:
            state = self.state(1, most)
        except SeqmixError:
            state = self.state(1, most or max(form.length, tokens.size + n))
        if text and not state.form.text:
            raise SeqmixError("this model's tokens are no text; the prompt must be tokens")
        state.push(tokens)
        written = np.array([t[0] for t in state.generate(n, **how)], np.int32)
        return bytes(written.astype(np.uint8)) if text else written

    # ---- What it is
    @property
    def metrics(self) -> Metrics:
        result = _native.headers().structs["smx_metrics"]()
        with self._use() as run:
            _native.runs().smx_run_metrics(run.at, result)
        return _named(Metrics, result)

    @property
    def losses(self) -> np.ndarray:
        """The loss of every step taken, oldest first, float32: the words that are the same on every machine.
        A copy."""
        n = ctypes.c_size_t()
        with self._use() as run:
            where = _native.runs().smx_run_losses(run.at, ctypes.byref(n))
            return (
                np.asarray(Memory(run, where, (n.value,))).copy()
                if n.value
                else np.zeros(0, np.float32)
            )

    def curve(self) -> DataFrame:
        """The losses as a pandas.DataFrame, a row for each step: step, from 1 on, and loss."""
        try:
            import pandas
        except ImportError:
            raise SeqmixError("Run.curve needs pandas: pip install pandas") from None
        losses, last = self.losses, self.metrics.step
        return pandas.DataFrame({"step": np.arange(last - len(losses) + 1, last + 1), "loss": losses})

    @property
    def digest(self) -> str:
        """A hash of all weights, 16 hexadecimal digits: as the program prints it."""
        with self._use() as run:
            return f"{_native.runs().smx_run_digest(run.at):016x}"

    @property
    def config(self) -> str:
        """The whole config, every key."""
        with self._use() as run:
            return _native.runs().smx_run_config(run.at).decode()

    @property
    def values(self) -> dict[str, str]:
        """The whole config as a dict; every value is a text."""
        return config_values(self.config)[0]

    @property
    def equations(self) -> str:
        """The mixer as text, one equation a line: what `mixer=equations&eq=...` takes, to be changed. A mixer
        that has none: SeqmixError."""
        return output("equations", self.config).rstrip("\n")

    def check(self) -> dict[str, Any]:
        """What can be known of the mixer's equations without training: does float32 compute what the oracle
        does ("computes"), are its gradients gradients ("differentiates"), how many rows "ahead" it sees and
        by which line, do gradients stay over the length ("stable"), "cost"; "rows" has each array's errors.
        "passes": all but seeing ahead, which is reported. For a mixer that has a text (see equations).
        """
        return json.loads(output("check", self.config, "--json", least=1))

    @property
    def warning(self) -> str:
        """A sentence to show beside the run, "" where there is nothing to say."""
        with self._use() as run:
            return _native.runs().smx_run_warning(run.at).decode()

    @property
    def form(self) -> Form:
        form = _native.headers().structs["smx_batch_form"]()
        with self._use() as run:
            _native.runs().smx_run_batch(run.at, form)
        return _named(Form, form)

    def _batch(self, run: Handle, inputs: Any, targets: Any) -> tuple[ctypes.Structure, list[np.ndarray]]:
        struct = _native.headers().structs["smx_batch_form"]()
        _native.runs().smx_run_batch(run.at, struct)
        form = _named(Form, struct)
        x = (
            self._rows(_arrays.reals(inputs, "inputs", np.float32), form.channels, 2)
            if form.channels
            else _arrays.integers(inputs, "inputs")
        )
        y = (
            _arrays.integers(targets, "targets")
            if form.classes
            else _arrays.reals(targets, "targets", np.float32)
        )
        if y.ndim == 1 and form.targets == 1:
            y = y[:, None]
        dimensions = 3 if form.channels else 2
        if x.ndim != dimensions or x.shape[1] != form.length or not 1 <= len(x) <= form.sequences:
            channels = f"[{form.channels}]" * bool(form.channels)
            raise SeqmixError(
                f"inputs has the shape {shape_text(x.shape)};"
                f" [1 to {form.sequences}][{form.length}]{channels} is needed"
            )
        if y.shape != (len(x), form.targets):
            raise SeqmixError(
                f"targets has the shape {shape_text(y.shape)}; [{len(x)}][{form.targets}] is needed"
            )
        batch = _native.headers().structs["smx_batch"](sequences=len(x))
        setattr(batch, "values" if form.channels else "tokens", x.ctypes.data)
        setattr(batch, "targets" if form.classes else "target_values", y.ctypes.data)
        return batch, [x, y]

    # ---- Keeping
    def save(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The checkpoint (safetensors): config, weights, the optimiser's state, losses. With a path it is
        also written there, whole or not at all."""
        n = ctypes.c_size_t()
        error = _native.headers().structs["smx_error"]()
        with self._use() as run:
            where = _native.runs().smx_run_save(run.at, ctypes.byref(n), error)
            if not where:
                _native.fail(error)
            data = ctypes.string_at(where, n.value)
            _native.release(where)
        if path is not None:
            write_whole(Path(path), data)
        return data


def _named(kind: Any, struct: ctypes.Structure) -> Any:
    return kind(*(getattr(struct, field) for field in kind._fields))


class _NoBar:
    def update(self, n: int) -> None:
        pass


@contextlib.contextmanager
def _bar(total: int, wanted: bool) -> Iterator[Any]:
    if wanted:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            wanted = False
    if not wanted:
        yield _NoBar()
        return
    with tqdm(total=total, unit="step") as bar:
        yield bar
