"""Calling a kernel on tensors: checks, pointers, scratch memory, threads. Every kernel is float32 on the
processor; a tensor that lies as the kernel wants it is used where it lies."""
from __future__ import annotations

import ctypes
import functools
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Sequence, TypeVar

import torch
from torch import Tensor

from .. import _native
from .._arrays import shape_text
from .._errors import SeqmixError

# Of sequences, whose weights' gradients are summed apart and then in order: not by the number of threads.
GROUPS = 8

# Multiply-adds up to which a call stays in its thread: to hand shares over takes 100 us and more (2 threads:
# as fast either way at 2^21 to 2^22, attention, delta rule and convolution).
FEW = 1 << 21

# In place of a size: that of the batch, which may be 0.
BATCH = -1

_threads: int | None = None
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def set_threads(n: int | None) -> None:
    """Let every kernel of this module use up to n threads; None: as many as torch.get_num_threads() says.
    Results do not depend on it."""
    global _threads
    if n is not None and (not isinstance(n, int) or not 1 <= n <= 1024):
        raise SeqmixError(f"threads is {n!r:.40}; it must be 1 to 1024, or None")
    _threads = n


def get_threads() -> int:
    """How many threads a kernel may use."""
    return _threads or torch.get_num_threads()


def _helpers() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(32, thread_name_prefix="seqmix")
        return _pool


def _after_fork() -> None:
    """The threads stayed in the parent, and one of them may have held the lock."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):  # (not on Windows)
    os.register_at_fork(after_in_child=_after_fork)


def each(parts: Sequence[Any], work: Callable[..., None]) -> None:
    """work(*part) for every part, by up to get_threads() threads; one takes the next when it is done."""
    threads = min(get_threads(), len(parts), 32)
    if threads <= 1:
        for part in parts:
            work(*part)
        return
    left = iter(parts)

    def take() -> None:
        while True:
            with _lock:
                part = next(left, None)
            if part is None:
                return
            work(*part)

    others = [_helpers().submit(take) for _ in range(threads - 1)]
    take()
    for other in others:
        other.result()


class Float32Warning(UserWarning):
    """float64, float16 or bfloat16 is computed in float32. To refuse it:
    warnings.simplefilter("error", seqmix.torch.Float32Warning)."""


Called = TypeVar("Called", bound=Callable[..., Any])


def in_float32(function: Called) -> Called:
    """Of a function that users call: tensors of another floating type are brought to float32, and results are of
    the first tensor's type. (The warning comes from one line, so that Python shows it once.)"""

    def fitting(value: Any) -> Any:
        other = isinstance(value, Tensor) and value.is_floating_point() and value.dtype != torch.float32
        return value.float() if other else value

    @functools.wraps(function)
    def called(*values: Any, **named: Any) -> Any:
        if torch.jit.is_tracing():
            raise SeqmixError(
                f"{function.__name__} cannot be traced: torch.jit.trace records PyTorch's own operations, and"
                " this one calls a kernel"
            )
        for t in (*values, *named.values()):
            if isinstance(t, Tensor) and t.dtype is not torch.float32:
                break
        else:
            return function(*values, **named)
        fit = [*map(fitting, values)]
        # (LaS's rates are doubles)
        fit_named = {n: v if n == "alphas" else fitting(v) for n, v in named.items()}
        if all(a is b for a, b in zip((*values, *named.values()), (*fit, *fit_named.values()))):
            return function(*values, **named)
        warnings.warn("seqmix.torch computes float64, float16 and bfloat16 in float32", Float32Warning)
        first = next(value for value in (*values, *named.values()) if isinstance(value, Tensor))
        result = function(*fit, **fit_named)
        if isinstance(result, tuple):
            return tuple(t.to(first.dtype) for t in result)
        return result.to(first.dtype)

    return called  # type: ignore[return-value]


def first_derivative(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Of a backward pass that autograd cannot see through: where a graph of it is asked for, it raises.
    (PyTorch's once_differentiable raises only where a later derivative comes by the gradient that was given,
    and leaves out, in silence, what comes by q, k, v and the weights.)"""

    @functools.wraps(backward)
    def once(ctx: Any, *slopes: Tensor | None) -> Any:
        if torch.is_grad_enabled():
            raise SeqmixError(
                "a graph of the gradient was asked for (create_graph=True); the functions of seqmix.torch"
                " have first derivatives only: write this one in PyTorch for a second"
            )
        return backward(ctx, *slopes)

    return once


def spans(n: int, parts: int) -> list[tuple[int, int]]:
    """n sequences in up to so many spans (first, end); none for none."""
    parts = min(parts, n)
    return [(i * n // parts, (i + 1) * n // parts) for i in range(parts)]


def by_sequence(n: int, products: int, work: Callable[[int, int], None]) -> None:
    """work(first, end) on n sequences, `products` multiply-adds or so in all, by threads; in one go where handing a
    share over would take longer than to compute it."""
    if products > FEW:
        each(spans(n, 4 * get_threads()), work)
    elif n:
        work(0, n)


def given(name: str, value: Any, *shape: int | None, optional: bool = False) -> Tensor | None:
    """The tensor, checked: float32, on the processor, of that shape (None: any size from 1, BATCH: from 0)."""
    if value is None and optional:
        return None
    if not isinstance(value, Tensor):
        raise SeqmixError(f"{name} is {type(value).__name__}; it must be a tensor")
    own = value.shape
    if value.dtype is torch.float32 and value.is_cpu and value.layout is torch.strided and len(own) == len(shape):
        for n, m in zip(shape, own):
            if not (n == m or n == BATCH or n is None and m):
                break
        else:
            return value
    if value.dtype is not torch.float32:
        raise SeqmixError(f"{name} holds {value.dtype}; the kernels take torch.float32")
    if value.device.type != "cpu" or value.layout is not torch.strided:
        raise SeqmixError(
            f"{name} is {value.layout} on {value.device}; the kernels take strided tensors on the cpu"
        )
    if len(own) != len(shape) or any(n not in (None, BATCH, m) for n, m in zip(shape, own)):
        wanted = "".join(f"[{'any' if n in (None, BATCH) else n}]" for n in shape)
        raise SeqmixError(f"{name} has the shape {shape_text(own)}; {wanted} is needed")
    raise SeqmixError(f"{name} has the shape {shape_text(own)}: it holds nothing")


def count(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
        raise SeqmixError(f"{name} is {value!r:.40}; a whole number from {least} on is needed")
    return value


def real(name: str, value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or value != value
        or abs(value) == float("inf")
    ):
        raise SeqmixError(f"{name} is {value!r:.40}; a finite number is needed")
    return float(value) + 0.0  # (never -0: `settings` could not tell it from 0)


def word(name: str, value: Any, *allowed: str) -> int:
    """Which of the words it is."""
    if not isinstance(value, str) or value not in allowed:
        raise SeqmixError(f"{name} is {value!r:.40}; it must be one of {', '.join(allowed)}")
    return allowed.index(value)


def heads_divide(heads: int, width: int) -> None:
    if width % count("heads", heads):
        raise SeqmixError(f"heads = {heads} does not divide the width {width}")


def at(tensor: Tensor | None, i: int = 0) -> int | None:
    """Where it lies, or its part [i]."""
    if tensor is None:
        return None
    return tensor.data_ptr() + (i and i * tensor.stride(0) * tensor.element_size())


def struct(name: str, **fields: Any) -> ctypes.Structure:
    """Of smx.h; tensors stand for where they lie."""
    return _native.headers().structs[name](
        **{n: at(v) if isinstance(v, Tensor) else v for n, v in fields.items()}
    )


@functools.lru_cache(maxsize=1024)
def settings(name: str, **numbers: Any) -> ctypes.Structure:
    """Of smx.h, numbers alone: made once, and only read."""
    return struct(name, **numbers)


@functools.lru_cache(maxsize=None)
def kernel(name: str) -> Any:
    return getattr(_native.runs(), "smx_" + name)


@functools.lru_cache(maxsize=1024)
def _bytes(name: str, *of: Any) -> int:
    """(Of the sizes alone: the same for every instruction set and mode.)"""
    return kernel(name)(*of)


def scratch(name: str, *of: Any) -> Tensor:
    """As many bytes and more as the kernel of that name says, of sizes or `settings`; to be handed over by `aligned`."""
    return torch.empty(_bytes(name, *of) + 64, dtype=torch.uint8)


def aligned(memory: Tensor) -> int:
    return memory.data_ptr() + -memory.data_ptr() % 64


def flat(tensor: Tensor | None) -> Tensor | None:
    """Contiguous: itself where it is."""
    return None if tensor is None else tensor.contiguous()


class Partial:
    """Gradients of weights, which kernels add to: a part for each group of sequences, summed in order at the
    end."""

    def __init__(self, weights: Sequence[Tensor | None], groups: int) -> None:
        self.parts = [[None if w is None else torch.zeros_like(w) for w in weights] for _ in range(max(1, groups))]

    def sums(self) -> list[Tensor | None]:
        first = self.parts[0]
        for part in self.parts[1:]:
            for total, more in zip(first, part):
                if total is not None:
                    total += more
        return first
