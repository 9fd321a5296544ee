"""The two libraries of the package: `runs` (kernels, models, tasks, a team of threads) and `oracle` (which
shares no code with the kernels)."""
from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from pathlib import Path
from typing import Callable, TypeVar

from ._errors import SeqmixError
from ._headers import Headers

FOLDER = Path(__file__).parent / "native"
ENDING = ".dll" if sys.platform == "win32" else ".so"


Made = TypeVar("Made")
_making = threading.RLock()


def _after_fork() -> None:
    """The thread that was making something stayed in the parent."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):  # (not in Pyodide, not on Windows)
    os.register_at_fork(after_in_child=_after_fork)


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """What the first caller makes; others wait for it. (By lru_cache each of those would make one: structs of
    other classes than the library's functions were told.)"""
    made: list[Made] = []

    @functools.wraps(make)
    def get() -> Made:
        if not made:
            with _making:
                if not made:
                    made.append(make())
        return made[0]

    return get


def _load(name: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(FOLDER / (name + ENDING)))
    except OSError as error:
        raise ImportError(
            f"seqmix: {name}{ENDING} cannot be loaded ({error}); was the package built for this machine?"
        ) from None


@once
def headers() -> Headers:
    return Headers("error.h", "parallel.h", "smx.h", "run.h", "data.h", "state.h")


@once
def runs() -> ctypes.CDLL:
    library = _load("libseqmix")
    headers().declare(library)
    for name in ("smx_run_save", "smx_config_complete", "smx_config_values", "smx_state_save"):
        getattr(library, name).restype = ctypes.c_void_p  # theirs to be freed
    library.smx_team_open.restype, library.smx_team_open.argtypes = ctypes.c_void_p, [ctypes.c_int]
    library.smx_team_close.restype, library.smx_team_close.argtypes = None, [ctypes.c_void_p]
    return library


def team_for() -> int:
    """The address of the hook that a run takes with a team."""
    return ctypes.cast(runs().smx_team_for, ctypes.c_void_p).value or 0


def release(address: int) -> None:
    """What the library allocated and gave away."""
    free = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None).free
    free.restype, free.argtypes = None, [ctypes.c_void_p]
    free(address)


def fail(error: ctypes.Structure) -> None:
    """Raise what an smx_error says."""
    texts = {
        name: getattr(error, name).decode("utf-8", "replace")
        for name in ("message", "key", "value", "allowed")
    }
    raise SeqmixError(
        texts["message"] or "there was not enough memory", texts["key"], texts["value"], texts["allowed"]
    )


@once
def oracle() -> ctypes.CDLL:
    library = _load("libseqmix_oracle")
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    sizes = ctypes.POINTER(size)
    for name, result, arguments in (
        ("tables", text, []),
        ("open", pointer, [text, text, ctypes.c_char_p, size]),
        ("close", None, [pointer]),
        ("error", text, [pointer]),
        ("set", ctypes.c_int, [pointer, text, ctypes.c_int, size, sizes, pointer]),
        ("shapes", ctypes.c_int, [pointer]),
        ("run", ctypes.c_int, [pointer]),
        ("margin", ctypes.c_double, [pointer]),
        ("explain", ctypes.c_int, [pointer, text, ctypes.c_int, pointer, ctypes.c_double, ctypes.c_double, pointer, size]),
        ("plan", ctypes.c_int, [text, text, pointer, size]),
        ("plan_only", None, [pointer, text, size, pointer, size]),
        ("get", ctypes.c_int, [pointer, ctypes.c_int, text, sizes, sizes, ctypes.POINTER(pointer)]),
    ):
        function = getattr(library, "smx_oracle_" + name)
        function.restype, function.argtypes = result, arguments
    return library
