"""Work that is given up after so many seconds."""
from __future__ import annotations

import glob
import queue
import threading
import time
from typing import Any, Callable


class Hangs(Exception):
    """The layer gave no answer within its time."""


def kept_waiting() -> dict[str, float]:
    """Of each thread of this process, seconds in which it could have gone on but had no processor, others being at work
    there; nothing where the system (other than Linux) does not say."""
    found = {}
    for path in glob.glob("/proc/self/task/*/schedstat"):
        try:
            with open(path) as file:
                found[path] = int(file.read().split()[1]) * 1e-9
        except (OSError, ValueError, IndexError):
            pass  # the thread ended
    return found


# Seconds between two looks at a clock while a function is at work.
TICK = 0.5


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """work(), in a thread that is given up after so many seconds; those in which a busy machine gave it no processor do
    not count, nor those in which the whole process was stopped (SIGSTOP, a suspended container): no look at a clock then,
    and no processor time."""
    answer: queue.Queue = queue.Queue(1)
    began, before = time.monotonic(), kept_waiting()
    looked, used, stopped = began, time.process_time(), 0.0

    def left() -> float:
        nonlocal looked, used, stopped
        last, spent = looked, used
        looked, used = time.monotonic(), time.process_time()
        if (still := looked - last - TICK - (used - spent)) > TICK:
            stopped += still
        waited = max((s - before.get(of, 0.0) for of, s in kept_waiting().items()), default=0.0)
        return seconds - (looked - began - waited - stopped)

    def run() -> None:
        try:
            answer.put((work(), None))
        except BaseException as error:  # handed on to who waits
            answer.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    patience = seconds
    while True:
        try:
            value, error = answer.get(timeout=min(max(patience, 1e-3), TICK))
            break
        except queue.Empty:
            patience = left()
            if patience <= 0:
                raise Hangs(f"no answer within {seconds:g} s (time_limit)") from None
    if error is not None:
        raise error
    return value
