"""The function that is judged, called in every way in which layers are called: with and without gradients, on
strided inputs, twice, in pieces ... PyTorch functions by autograd; NumPy functions with a backward of their own.
"""
from __future__ import annotations

import dataclasses
import inspect
import time
import warnings
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import ref
from ._errors import SeqmixError
from ._draws import of_rows, row_axis, rows_in
from ._tolerances import float64
from ._waiting import within


@dataclasses.dataclass
class Got:
    """What came back: (of which inputs: 0 the case's, 1 the others; array's name; numbers), and what is wrong
    whatever the numbers are, in sentences."""

    arrays: list[tuple[int, str, np.ndarray]] = dataclasses.field(default_factory=list)
    odd: list[str] = dataclasses.field(default_factory=list)


def accepted(function: Callable, through: bool = True) -> Mapping[str, inspect.Parameter]:
    """Its arguments, of a module those of its forward; through: of what a decorator wraps."""
    try:
        return inspect.signature(getattr(function, "forward", function), follow_wrapped=through).parameters
    except (TypeError, ValueError):
        return {}


def first_edge(rows: int, number: int) -> int:
    """Where the second piece begins."""
    return 1 + number % max(1, rows - 1)


def _lying(array: np.ndarray, strided: int) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """Its numbers as they lie, and what gives the array back as a view of that. strided: 0: as they are; 1: every other
    number, from the second on; 2: columns before rows; 3: rows before what is outside them (a batch, heads)."""
    if not strided or not array.ndim:
        return array, lambda lies: lies
    if strided == 1 or array.ndim < strided:
        apart = np.repeat(array, 2, -1)
        apart[..., ::2] = 7
        return apart, lambda lies: lies[..., 1::2]
    axes = (-2, -1) if strided == 2 else (-3, -2)
    return np.swapaxes(array, *axes), lambda lies: lies.swapaxes(*axes)


class Torch:
    """Functions of tensors."""

    def __init__(self, form: str, device: Any) -> None:
        import torch

        self.torch, self.device = torch, device
        self.kind = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[form]
        try:
            torch.zeros(1, device=device)
        except Exception as error:
            text = str(error).partition("\n")[0]
            raise SeqmixError(f"device is {device!r:.40}, which PyTorch cannot use here: {text:.200}") from None

    name, grad_ways = "tensor", True

    def make(self, array: np.ndarray, grad: bool = False, strided: int = 0) -> Any:
        whole = array.dtype == np.int32
        lies, back = _lying(array, strided)
        t = self.torch.tensor(np.ascontiguousarray(lies), device=self.device)
        t = back(t.long() if whole else t.to(self.kind))
        return t if whole else t.requires_grad_(grad)

    def is_one(self, y: Any) -> bool:
        return isinstance(y, self.torch.Tensor)

    def kind_of(self, y: Any) -> str:
        return "" if y.dtype == self.kind else f"{y.dtype} comes back, {self.kind} went in"

    def fill(self, t: Any, array: np.ndarray) -> None:
        with self.torch.no_grad():
            t.copy_(self.torch.tensor(array))

    def quietly(self, way: str) -> Any:
        return self.torch.inference_mode() if way == "inference" else self.torch.no_grad()

    def joined(self, pieces: Sequence[Any], axis: int) -> Any:
        return self.torch.cat(list(pieces), axis)


class Numpy:
    """Functions of arrays; gradients only by a backward of theirs."""

    name, grad_ways = "array", False

    def __init__(self, form: str) -> None:
        if form == "bf16":
            raise SeqmixError("dtype is bf16, which NumPy has not; judge the function in f32, f64 or f16")
        self.kind = {"f64": np.float64, "f32": np.float32, "f16": np.float16}[form]

    def make(self, array: np.ndarray, grad: bool = False, strided: int = 0) -> Any:
        lies, back = _lying(array.astype(np.int64 if array.dtype == np.int32 else self.kind), strided)
        return back(np.array(lies, order="C"))

    def is_one(self, y: Any) -> bool:
        return isinstance(y, (np.ndarray, np.floating, float))

    def kind_of(self, y: Any) -> str:
        there = np.asarray(y).dtype
        return "" if there == self.kind else f"{there} comes back, {np.dtype(self.kind)} went in"

    def fill(self, t: Any, array: np.ndarray) -> None:
        t[...] = array

    def joined(self, pieces: Sequence[Any], axis: int) -> Any:
        return np.concatenate(list(pieces), axis)


class Layer:
    """function, called with a mechanism's required inputs by name where it has arguments of all their names, else by
    position, in the mechanism's order; with optional ones and parameters where it has their names. backward(dy, inputs
    by name, parameters by name): gradients by name, where there is no autograd. turned: the function's arrays are
    [...][L][H][d]; here they are [...][H][L][d] all the same."""

    def __init__(
        self,
        function: Callable,
        m: ref.Mechanism,
        arrays: Any,
        backward: Callable | None,
        limit: float,
        turned: bool = False,
    ) -> None:
        self.function, self.m, self.arrays, self.backward, self.limit = function, m, arrays, backward, limit
        self.turned = turned
        self.apart: dict[str, Any] = {}  # arrays that are turned, of the case at work
        self.spent = 0.0  # seconds of processor time, of the threads that called it
        self.accepts = accepted(function)
        self.own = accepted(function, through=False)  # a decorator's own may want positions
        self.anything = any(p.kind is p.VAR_KEYWORD for p in self.accepts.values())
        self.optional = {a.name for a in m._arrays if a.optional}
        self.states = [  # start states, in order
            a for a in dict.fromkeys(a.name for a in m._arrays if a.optional and _is_state(a))
        ]

    def by_name(self, name: str) -> bool:
        of = self.own.get(ref._python_name(name))
        return of is not None and of.kind in (of.POSITIONAL_OR_KEYWORD, of.KEYWORD_ONLY)

    def turn(self, name: str, array: np.ndarray) -> np.ndarray:
        """Between the function's layout and ours, both ways."""
        heads = self.apart.get(name.removeprefix("d_"))
        return array if heads is None else ref._turned(array, heads)

    def _of(self, params: Mapping[str, Any]) -> None:
        active = self.m._active(params) if self.turned else ()
        self.apart = {a.name: h for a in active if (h := ref._heads(a.shape)) is not None}

    def takes(self, name: str) -> bool:
        return ref._python_name(name) in self.accepts or self.anything

    def call(self, tensors: Mapping[str, Any], params: Mapping[str, Any]) -> list[Any]:
        """[y, states ...], None where a state is not given back."""
        needed = {n: t for n, t in tensors.items() if n not in self.optional}
        named_too = all(map(self.by_name, needed))
        first = [] if named_too else list(needed.values())
        named = {ref._python_name(n): t for n, t in needed.items() if named_too}
        named |= {ref._python_name(n): t for n, t in tensors.items() if n in self.optional}
        named |= {ref._python_name(n): v for n, v in params.items() if self.takes(n)}
        y = self.function(*first, **named)
        several = list(y) if isinstance(y, (tuple, list)) else [y]
        if not several or not self.arrays.is_one(several[0]):
            returned = type(several[0] if several else y).__name__
            raise SeqmixError(
                f"{getattr(self.function, '__name__', 'the function')} returned {returned}; it must return the"
                f" {self.arrays.name} y"
            )
        return several

    def try_once(self, inputs: Mapping[str, np.ndarray], params: Mapping[str, Any]) -> np.ndarray:
        """y, without gradients."""
        self._of(params)

        def work() -> np.ndarray:
            made = self._made(inputs)
            if not self.arrays.grad_ways:
                return self.turn("y", float64(self.call(made, params)[0], "y"))
            with self.arrays.quietly("no_grad"):
                return self.turn("y", float64(self.call(made, params)[0], "y"))

        return self.within(work)

    def _made(self, inputs: Mapping[str, np.ndarray], grad: Any = (), strided: int = 0) -> dict[str, Any]:
        return {n: self.arrays.make(self.turn(n, inputs[n]), n in grad, strided) for n in self.m.inputs if n in inputs}

    def run(
        self,
        way: str,
        inputs: Mapping[str, np.ndarray],
        others: Mapping[str, np.ndarray],
        params: Mapping[str, Any],
        wanted: Sequence[str],
        number: int,
    ) -> Got:
        """One case. wanted: the inputs by which there is a gradient; number: chooses among what a way leaves
        open (which input is alone, where pieces end)."""
        self._of(params)
        return self.within(lambda: self._run(way, inputs, others, params, wanted, number))

    def within(self, work: Callable[[], Any]) -> Any:
        """work() within the time limit; its processor time is added up."""

        def counted() -> Any:
            try:
                return work()
            finally:
                self.spent += time.thread_time()  # the thread is new

        return within(self.limit, counted)

    def _run(self, way, inputs, others, params, wanted, number) -> Got:
        got = Got()
        has_grad = bool(wanted) and "dy" in inputs and (self.arrays.grad_ways or self.backward is not None)
        if way in ("no_grad", "inference") and self.arrays.grad_ways:
            with self.arrays.quietly(way):
                made = self._made(inputs)
                self._keep(got, 0, self.call(made, params))
                self._unchanged(got, made, inputs)
            return got
        if way == "pieces":
            self._in_pieces(got, inputs, params, wanted if has_grad else (), number)
            return got
        by = list(wanted) if has_grad else []
        strided = 1 + number % 3 if way == "strided" else 0
        if by and way == "alone":
            by = [by[number % len(by)]]
        elif by and way == "without":
            by = [n for i, n in enumerate(by) if i != number % len(by)] or by
        made = self._made(inputs, by or inputs, strided)
        outputs = self.call(made, params)
        before = self._numbers(outputs)
        if way in ("interleaved", "refilled"):
            self._next(got, way, made, before, outputs, others, params, by)
            if way == "interleaved" and by:
                self._gradients(got, 0, way, outputs[0], made, inputs, params, by)
            return got
        self._keep(got, 0, outputs)
        if by:
            self._gradients(got, 0, way, outputs[0], made, inputs, params, by, strided)
        self._unchanged(got, made, inputs)
        if way == "thrice":
            for _ in range(2):
                again = Got()
                made = self._made(inputs, by)
                outputs = self.call(made, params)
                self._keep(again, 0, outputs)
                if by:
                    self._gradients(again, 0, way, outputs[0], made, inputs, params, by)
                for (_, name, a), (_, _, b) in zip(got.arrays, again.arrays):
                    if not np.array_equal(a, b, equal_nan=True) and not got.odd:
                        got.odd.append(f"{name}: two calls on the same inputs differ: dropout, or something else that is drawn, or kept?")
        return got

    def _numbers(self, outputs: Sequence[Any]) -> dict[str, np.ndarray]:
        return {n: float64(o, n).copy() for n, o in zip(self.m.outputs, outputs) if o is not None and self.arrays.is_one(o)}

    def _next(self, got, way, made, before, outputs, others, params, by) -> None:
        """Another call before the first one's results are read: on other tensors, or on the same ones with
        other numbers in them."""
        if way == "refilled":
            for name, t in made.items():
                if others[name].dtype != np.int32:
                    self.arrays.fill(t, self.turn(name, others[name]))
        else:
            made = self._made(others, by)
        second = self.call(made, params)
        for name, after in self._numbers(outputs).items():
            if not np.array_equal(before[name], after, equal_nan=True):
                got.odd.append(f"the first call's {name} changed with the next call: an output buffer is used again")
        got.arrays.append((0, self.m.outputs[0], self.turn("y", before[self.m.outputs[0]])))
        self._keep(got, 1, second)
        if by:
            self._gradients(got, 1, way, second[0], made, others, params, by)

    def _gradients(self, got, which, way, y, made, inputs, params, by, strided=0) -> None:
        dy = self.turn("dy", inputs["dy"])
        if tuple(y.shape) != dy.shape:
            return
        if not self.arrays.grad_ways:
            slopes = self.backward(self.arrays.make(dy), made, dict(params))
            if not isinstance(slopes, Mapping):
                raise SeqmixError(f"backward returned {type(slopes).__name__}; it must return gradients by name")
            by = [n for n in by if n in slopes]
        else:
            slopes = self._autograd(got, way, y, made, dy, strided)
        for n in by:
            share = 0.5 if way == "twice" and self.arrays.grad_ways else 1.0
            value = np.zeros(inputs[n].shape) if slopes.get(n) is None else self.turn(n, float64(slopes[n], f"d_{n}")) * share
            got.arrays.append((which, f"d_{n}", value))

    def _autograd(self, got, way, y, made, dy, strided) -> dict[str, Any]:
        t = self.arrays.make(dy, False, strided)
        if way == "expanded":
            t = self.arrays.torch.ones((), dtype=y.dtype, device=y.device).expand(y.shape)
        if y.requires_grad:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if way == "twice":
                    y.backward(t.to(y.dtype), retain_graph=True)
                y.backward(t.to(y.dtype))
        if way != "expanded" and not np.array_equal(float64(t, "dy"), dy):
            got.odd.append("dy is changed by the backward pass")
        return {n: a.grad for n, a in made.items()}

    def _keep(self, got: Got, which: int, outputs: Sequence[Any]) -> None:
        if odd := self.arrays.kind_of(outputs[0]):
            got.odd.append(odd)
        for name, value in zip(self.m.outputs, outputs):
            if value is not None and self.arrays.is_one(value):
                got.arrays.append((which, name, self.turn(name, float64(value, name)).copy()))

    def _unchanged(self, got: Got, made: Mapping[str, Any], inputs: Mapping[str, np.ndarray]) -> None:
        for name, t in made.items():
            if not np.array_equal(float64(t, name), self.turn(name, inputs[name]), equal_nan=True):
                got.odd.append(f"{name}, an input, is changed by the call")

    # ---- Reading on: rows in two pieces, the second from the first's states
    def reads_on(self) -> bool:
        return bool(self.states) and len(self.m.outputs) == 1 + len(self.states) and all(map(self.takes, self.states))

    def _in_pieces(self, got, inputs, params, by, number) -> None:
        edges = sorted({0, first_edge(rows := rows_in(self.m, inputs), number), rows})
        found, slopes = self.in_pieces(inputs, params, edges, by if self.arrays.grad_ways else ())
        got.arrays += [(0, name, a) for name, a in zip(self.m.outputs, found)]
        got.arrays += [(0, f"d_{name}", a) for name, a in slopes.items()]

    def in_pieces(
        self, inputs: Mapping[str, np.ndarray], params: Mapping[str, Any], edges: Sequence[int], by: Sequence[str] = ()
    ) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """[y, states ...] of rows that are read piece by piece, from edge to edge, each from the states of the
        one before, and the gradients by some inputs, through those states; [] where the function gives no states back, no
        gradients where it gives states that have none."""
        self._of(params)
        found, pieces, slopes = [], [], []
        carried = {n: self.arrays.make(inputs[n], n in by) for n in self.states if n in inputs}
        for first, last in zip(edges, edges[1:]):
            piece = of_rows(self.m, inputs, slice(first, last))
            pieces.append({**self._made({n: a for n, a in piece.items() if n != "dy"}, by), **carried})
            outputs = self.call(pieces[-1], params)
            if len(outputs) < len(self.m.outputs) or any(s is None for s in outputs):
                return [], {}
            found.append(self.turn("y", float64(outputs[0], "y")))
            if by and outputs[0].requires_grad and piece["dy"].any():
                slopes.append((outputs[0], self.arrays.make(self.turn("dy", piece["dy"])).to(outputs[0].dtype)))
            ends = {n: float64(s, n) for n, s in zip(self.states, outputs[1:])}
            attached = by and all(s.requires_grad for s in outputs[1:])
            if not attached:
                by = ()
            carried = dict(zip(self.states, (s.to(self.arrays.kind) for s in outputs[1:]))) if attached else {
                n: self.arrays.make(a) for n, a in ends.items()
            }
        whole = [np.concatenate(found, -2), *(ends[n] for n in self.states)]
        return whole, self._slopes_of(pieces, slopes, inputs, by) if by and slopes else {}

    def _slopes_of(self, pieces, slopes, inputs, by) -> dict[str, np.ndarray]:
        """Of inputs in pieces the gradients, put together again: rows one after the other; start states are the first
        piece's; the rest is summed."""
        self.arrays.torch.autograd.backward(*zip(*slopes))
        found = {}
        for n in by:
            mine = [p[n] for p in (pieces[:1] if n in self.states else pieces)]
            parts = [self.turn(n, float64(t.new_zeros(t.shape) if t.grad is None else t.grad, f"d_{n}")) for t in mine]
            axis = row_axis(self.m, inputs, n)
            found[n] = sum(parts) if axis is None else np.concatenate(parts, axis)
        return found


def _is_state(a: Any) -> bool:
    return a.kind == "input" and a.name.endswith("0") and not a.shape.startswith("L")
