"""Threads, signals and the end of the process: states forgotten anywhere, runs closed inside their own calls,
Ctrl-C in what takes long."""
import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import seqmix
from seqmix import _native

SMALL = "task=mqar&length=32&vocab=32&pairs=4&width=16&batch=4"

TARGETS = np.where(np.arange(32) < 4, 0, -1)[None].repeat(4, 0)


def small(**keys):
    run = seqmix.Run(f"mixer=gla&{SMALL}", steps=2, **keys)
    run.step()
    return run


def alone(code):
    """In a process of its own, which a fault may kill."""
    code = f"import gc, os, sys, threading, time, seqmix\nconfig = 'mixer=gla&{SMALL}'\n" + code
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_first_calls_at_once():
    """Eight threads, each of which is the first to need the libraries: all get the same."""
    done = alone(
        """
from concurrent.futures import ThreadPoolExecutor
from seqmix import _native, ref
sys.setswitchinterval(1e-6)
start = threading.Barrier(8)

def first(i):
    start.wait()
    return id(_native.headers()), id(_native.runs()), id(_native.oracle()), id(ref._mechanisms())

with ThreadPoolExecutor(8) as pool:
    print([len(set(found)) for found in zip(*pool.map(first, range(8)))])
"""
    )
    assert (done.returncode, done.stdout) == (0, "[1, 1, 1, 1]\n"), done.stderr


@pytest.mark.parametrize("made", ["run.state(1 + i % 3, 8 + i % 5)", "pool[0].copy()", "seqmix.Run(config)"])
def test_forgotten_in_one_thread_while_another_opens_more(made):
    count = 300 if "Run" in made else 20000
    done = alone(
        f"""
sys.setswitchinterval(1e-5)  # each call gives the lock away: at 5 ms each, two idle threads make it minutes
run = seqmix.Run(config, steps=2)
run.step()
keep = run.state(1, 8)
pool, over = [keep], []

def forget():
    while not over:
        if len(pool) > 1:
            pool.pop()

others = [threading.Thread(target=forget) for _ in range(2)]
[other.start() for other in others]
for i in range({count}):
    pool.append({made})
over.append(1)
[other.join() for other in others]
print(keep.form.rows)
"""
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_a_state_forgotten_during_a_call_is_closed_after_it(monkeypatch):
    run, events = small(), []
    state, close = run.state(1, 8), _native.runs().smx_state_close
    monkeypatch.setattr(_native.runs(), "smx_state_close", lambda at: (events.append("closed"), close(at)))

    class Slow:
        def __array__(self, *_, **__):  # asked for inside the call
            nonlocal state
            state = None
            other = threading.Thread(target=meanwhile)
            other.start(), other.join()
            return np.zeros((4, 32), int)

    def meanwhile():
        try:
            run.state(1, 8)
        except seqmix.SeqmixError as error:
            events.append("refused" if "one thread at a time" in str(error) else str(error))

    run.evaluate_on(Slow(), TARGETS)
    assert events == ["refused", "closed"]
    state = run.state(1, 8)
    del state
    assert events[2:] == ["closed"]  # at once, where nobody is at work


def test_the_end_of_the_process_waits_for_no_run():
    done = alone(
        """
run = seqmix.Run(config, steps=10**9)
state = run.state(1, 8)
threading.Thread(target=run.step, daemon=True).start()
while not run._handle._busy.locked():
    time.sleep(0.001)
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_run_closed_inside_its_own_call():
    run = small()
    weight = run.tensors["embedding"]

    class Closing:
        def __array__(self, *_, **__):
            run.close()
            return np.zeros((4, 32), int)

    assert run.evaluate_on(Closing(), TARGETS).targets == 16
    with pytest.raises(seqmix.SeqmixError, match="this run is closed"):
        run.evaluate(1)
    assert np.isfinite(weight).all()


def interrupted(call, under_way):
    """How many seconds after Ctrl-C, pressed once it is under way, `call` has ended by it."""
    pressed = []

    def press():
        while not under_way():
            time.sleep(0.01)
        time.sleep(0.2)
        pressed.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    other = threading.Thread(target=press)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    ended = time.monotonic()
    other.join()
    return ended - pressed[0]


def test_ctrl_c_ends_an_evaluation():
    run = small()
    before = run.evaluate(100), run.confusion
    at_work = run._handle._busy.locked
    assert interrupted(lambda: run.evaluate(10**9), at_work) < 2
    assert run.confusion is None  # half counted
    assert run.evaluate(100) == before[0] and np.array_equal(run.confusion, before[1])
    assert interrupted(lambda: run.evaluate(10**9, length=64), at_work) < 2
    found = []  # in another thread than the main one
    other = threading.Thread(target=lambda: found.append(run.evaluate(100)))
    other.start(), other.join()
    assert found == [before[0]]


def test_a_signal_may_close_the_run():
    run = small()
    before = signal.signal(signal.SIGUSR1, lambda *_: run.close())
    try:
        timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGUSR1,))
        timer.start()
        run.evaluate(20000)
        timer.join()
        time.sleep(0.01)
        with pytest.raises(seqmix.SeqmixError, match="this run is closed"):
            run.evaluate(1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_ctrl_c_ends_a_push_between_rows():
    run = small()
    tokens = np.random.default_rng(1).integers(0, 32, 4_000_000)
    state = run.state()
    form = _native.headers().structs["smx_state_form"]()

    def has_begun():
        _native.runs().smx_state_look(state._at, form)
        return form.rows > 0

    assert interrupted(lambda: state.push(tokens), has_begun) < 2
    read = state.form.rows
    assert 0 < read < len(tokens)
    # what was read is read, and the rest goes on as if all had been read at once
    whole = run.state()
    for first in range(0, read, 50_000):
        last = whole.push(tokens[first : min(first + 50_000, read)])
    assert np.array_equal(state.answers, last[:, -1])
    assert np.array_equal(state.push(tokens[read : read + 100]), whole.push(tokens[read : read + 100]))


def test_ctrl_c_ends_a_sweep(monkeypatch):
    config, evaluate, evaluating = f"mixer=gla&{SMALL}&steps=2", seqmix.Run.evaluate, threading.Event()
    monkeypatch.setattr(seqmix.Run, "evaluate", lambda run, n: evaluating.set() or evaluate(run, n))
    assert interrupted(lambda: seqmix.sweep(config, seeds=4, workers=2, count=10**9), evaluating.is_set) < 3


def test_how_many_trainings_a_sweep_has_at_once(monkeypatch):
    config, evaluate, now, most = f"mixer=gla&{SMALL}&steps=1", seqmix.Run.evaluate, [], []

    def counted(run, n):
        now.append(run)
        most.append(len(now))
        time.sleep(0.02)
        now.pop()
        return evaluate(run, n)

    monkeypatch.setattr(seqmix.Run, "evaluate", counted)
    for workers in (1, 3):
        del most[:]
        seqmix.sweep(config, seeds=12, workers=workers, count=4)
        assert max(most) <= workers and (workers == 1 or max(most) > 1), most


def test_a_sweep_that_is_ended_trains_no_further():
    began, runs = threading.Event(), []

    def step(run, n):
        runs.append(run)
        began.set()
        if len(runs) > 1000:
            raise RuntimeError("nobody ended it")
        time.sleep(0.01)

    before, seqmix.Run.step = seqmix.Run.step, step
    try:  # (none of these trainings gets to its end)
        assert interrupted(lambda: seqmix.sweep(f"mixer=gla&{SMALL}", seeds=4, workers=2), began.is_set) < 3
    finally:
        seqmix.Run.step = before
    assert len({id(run) for run in runs}) <= 2


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_closed_run_gives_its_threads_back():
    here = lambda: len(list(Path("/proc/self/task").iterdir()))
    small().close()
    before = here()
    run = small(threads=3)
    assert here() == before + 2
    run.close()
    del run
    gc.collect()
    assert here() == before
