"""What type checkers make of the package, by mypy: right uses pass, and each wrong one is found at its line."""
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="needs python3 with mypy (mypy)")

# (PyTorch and pandas are large, and are not what is looked at)
CONFIG = """
[mypy]
warn_unused_ignores = True
[mypy-torch.*,pandas.*]
follow_imports = skip
"""

RIGHT = """
from typing import Any

import numpy as np
import numpy.typing as npt

import seqmix
import seqmix.torch
from seqmix.run import Evaluation, Metrics

run = seqmix.Run({"mixer": "cat", "task": "mqar"}, steps=20)
metrics: Metrics = run.step(5, on_step=lambda m: print(m.loss))
found: Evaluation = run.evaluate(10, pairs=2)
accuracy: float = run.evaluate(10).accuracy
losses: npt.NDArray[Any] = run.losses
weights: np.ndarray = run.tensors["embedding"]
digest: str = seqmix.Run.load(run.save()).digest
state = run.state(1, most=64)
state.push([1, 2]).shape
names: list[str] = seqmix.ref.names()
y = seqmix.ref.las_attention_qkv([[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]])
seqmix.testing.assert_close(y, [[5.0, 6.0]], dtype="f32")
report = seqmix.testing.check_layer(lambda q, k, v: v, "softmax_attention_qkv", raises=False)
records = seqmix.sweep("mixer=cat", seeds=2, filter=[1, 2])
z = seqmix.torch.attention(y, y, y, causal=False)
try:
    run.close()
except seqmix.SeqmixError as error:
    print(error.key, error.value)
"""

WRONG = {
    "run.evaluate(10).acuracy": "attr-defined",
    "run.evaluate('many')": "arg-type",
    "seqmix.Run(3)": "arg-type",
    "run.step(n='all')": "arg-type",
    "run.stop()": "attr-defined",
    "x: int = run.digest": "assignment",
    "run.state(1).pull([1])": "attr-defined",
    "seqmix.torch.attention(y, y)": "call-arg",
    "seqmix.torch.conv1d(y, y, ahead=3)": "call-arg",
    "seqmix.testing.check_layer()": "call-arg",
}


def test_right_uses_pass_and_wrong_ones_are_found(tmp_path):
    (tmp_path / "mypy.ini").write_text(CONFIG)
    (tmp_path / "use.py").write_text(RIGHT + "\n".join(WRONG) + "\n")
    command = [sys.executable, "-m", "mypy", "--python-executable", sys.executable, "use.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    *lines, end = said.stdout.splitlines()
    found = [line for line in lines if ": note: " not in line]
    at = len(RIGHT.splitlines()) + 1
    for line, (use, code), number in zip(found, WRONG.items(), range(at, at + len(WRONG))):
        assert line.startswith(f"use.py:{number}: error:") and line.endswith(f"[{code}]"), f"{use}: {line}"
    assert len(found) == len(WRONG) and end.startswith(f"Found {len(WRONG)} errors"), said
