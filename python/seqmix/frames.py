"""What the jobs of a grid left in a folder (docs/SCALE.md of the project), for pandas."""
from __future__ import annotations

import csv
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ._errors import SeqmixError
from ._program import output

if TYPE_CHECKING:
    from pandas import DataFrame


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _flat(line: str) -> dict[str, Any]:
    """A result as one level of columns: its name, every key of its config, its figures."""
    row = json.loads(line)
    pairs = (pair.partition("=") for pair in row.pop("config").split("&"))
    keys = {key: _number(unquote(value)) for key, _, value in pairs if key != "v"}
    return {"name": row.pop("name"), **keys, **{key: value for key, value in row.items() if key not in keys}}


def results(folder: str | os.PathLike[str], curves: bool = False) -> DataFrame:
    """The results in `folder` as a pandas.DataFrame, a row for each training: its name, every key of its
    config as a column (those that a mixer does not know are NaN), `value` in its `metric`, `choice` (the
    same on other sequences, what a best is chosen by), accuracy, r2, bits, losses, params, digest, and host,
    isa, seconds and build of who computed it. What is no whole result is left out, as `seqmix collect` does.

    curves=True: every curve instead, a row for each point: name, curve ("loss", or the metric that --every
    judged), step, value.
    """
    try:
        import pandas
    except ImportError:
        raise SeqmixError("seqmix.results needs pandas: pip install pandas") from None
    with tempfile.TemporaryDirectory() as place:
        # Ends with 1 where files were left out.
        more = ["--curves"] if curves else []
        where = os.fsdecode(folder)
        where = os.path.join(os.curdir, where) if where.startswith("-") else where  # (no option)
        output("collect", where, "--out", place, *more, least=1)
        if curves:
            return pandas.read_csv(os.path.join(place, "curves.csv"), dtype={"name": str})
        with open(os.path.join(place, "results.jsonl"), encoding="utf-8") as file:
            rows = [_flat(line) for line in file]
        with open(os.path.join(place, "machines.csv"), encoding="utf-8", newline="") as file:
            machines = {row.pop("name"): row for row in csv.DictReader(file)}
    for row in rows:
        more = {key: value for key, value in machines[row["name"]].items() if key not in row}
        # (A host or a build may be called 12e4, which is no number.)
        row.update({key: value if key in ("host", "isa", "build") else _number(value) for key, value in more.items()})
    return pandas.DataFrame(rows)
