"""Many trainings at once."""
from __future__ import annotations

import itertools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Iterable, Mapping

import numpy as np

from . import _arrays
from ._config import config_text, config_values
from ._errors import SeqmixError
from ._memory import LOOK
from .run import Run, _bar


def _several(value: Any) -> Any:
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return value if isinstance(value, (list, tuple, range)) else [value]


def sweep(
    config: str | Mapping[str, Any],
    seeds: int | Iterable[int] = 1,
    count: int = 1000,
    workers: int | None = None,
    progress: bool = False,
    **values: Any,
) -> list[dict[str, Any]]:
    """Train the config with every combination of `values` (filter=[1, 2, 3], mixer=["cat", "attention"]) and
    every seed (a number: 1 up to it) to the end of its steps, then evaluate on `count` held-out sequences.

    workers: so many trainings at the same time, without it as many as there are processors; the results do
    not depend on it. Returns a list of records, in order, which `pandas.DataFrame` takes: the values, seed,
    the evaluation's fields, params, steps,
    digest, seconds. Every combination is looked at before the first is trained: a SeqmixError says which does
        not fit.
    """
    if "seed" in values:
        raise SeqmixError(f"seed is {values['seed']!r:.40}; sweep takes seeds, a number or a list of them")
    seeds = list(seeds) if isinstance(seeds, Iterable) else range(1, _arrays.count(seeds, "seeds") + 1)
    count = _arrays.count(count, "count")
    workers = _arrays.count(workers, "workers") if workers is not None else 0
    lists = [_several(v) for v in values.values()]
    points = [
        {**dict(zip(values, point)), "seed": seed} for point in itertools.product(*lists) for seed in seeds
    ]
    for point in points:
        runs = len(config_values(config_text(config, point)))
        if runs > 1:
            raise SeqmixError(
                f"sweep takes one run, and {config_text(config):.200} are {runs}: call it for each"
            )
    stop, running = threading.Event(), set()

    def train(point: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        with Run(config, **point) as run:
            running.add(run._handle)
            while run.metrics.step < run.metrics.steps and not stop.is_set():
                run.step(min(50, run.metrics.steps - run.metrics.step))
            if stop.is_set():
                return {}
            result, metrics = run.evaluate(count), run.metrics
            running.discard(run._handle)
            return {
                **point,
                **result._asdict(),
                "params": metrics.params,
                "steps": metrics.step,
                "digest": run.digest,
                "seconds": time.monotonic() - began,
            }

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool, _bar(len(points), progress) as bar:
        futures = [pool.submit(train, point) for point in points]
        records = []
        try:
            for future in futures:
                while not wait([future], LOOK).done:
                    pass
                records.append(future.result())
                bar.update(1)
        except BaseException:  # Ctrl-C too: the others end after the step, or the sequences, that they are at
            stop.set()
            for run in list(running):
                run.stop.value = 1
            for future in futures:
                future.cancel()
            raise
    return records
