"""docs/PYTHON.md block by block, the lines of docs/GUIDE.md, and the examples, each as it is printed."""
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/PYTHON.md").read_text(), re.S)
names: dict = {}


@pytest.mark.parametrize("i", range(len(BLOCKS)))
def test_block(i, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[i], f"docs/PYTHON.md, block {i}", "exec"), names)


def test_there_are_blocks():
    assert len(BLOCKS) >= 10


def test_the_lines_of_the_guide(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/GUIDE.md").read_text(), re.S)
    assert len(blocks) == 1 and len(blocks[0].strip().splitlines()) == 5
    exec(compile(blocks[0], "docs/GUIDE.md", "exec"), {"my_attention": names["mine"]})


def run(tmp_path, name, *arguments):
    done = subprocess.run(
        [sys.executable, ROOT / "examples/python" / name, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 or "matplotlib is not installed" in done.stderr, done.stderr
    return done.stdout


def test_check_layer(tmp_path):
    right, wrong = run(tmp_path, "check_layer.py").split("\n", 1)
    assert "right in 6 cases" in right and "it looks ahead" in wrong


def test_train(tmp_path):
    out = run(tmp_path, "train.py", "2")
    losses = re.search(r"loss (\S+) with our kernel, (\S+) eagerly", out)
    assert abs(float(losses[1]) - float(losses[2])) < 1e-3


def test_grid(tmp_path):
    out = run(tmp_path, "grid.py", "--steps", "2", "--count", "4", "--out", "a.png")
    assert re.search(r"focus( +\d+\.\d%){3}", out)
    if "drawn" in out:
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_notebook(tmp_path, monkeypatch):
    """By Jupyter's own tools where they are, else its cells in order: all figures are drawn."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pytest.importorskip("matplotlib", reason="needs python3 with matplotlib (python3-matplotlib)")
    notebook = json.loads((ROOT / "examples/python/grid.ipynb").read_text())
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    few = [c for c in cells if "parameters" in c["metadata"].get("tags", ())]
    assert len(few) == 1 and not any(c["outputs"] for c in cells), "committed without outputs"
    few[0]["source"] = ["steps, seed, count = 2, 1, 4"]
    if all(importlib.util.find_spec(m) for m in ("nbconvert", "ipykernel", "nbformat")):
        (tmp_path / "few.ipynb").write_text(json.dumps(notebook))
        tool = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--output", "done"]
        done = subprocess.run([*tool, "few.ipynb"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs = [
            o
            for c in json.loads((tmp_path / "done.ipynb").read_text())["cells"]
            for o in c.get("outputs", ())
        ]
        assert sum("image/png" in o.get("data", ()) for o in outputs) == 3
        return
    from matplotlib import pyplot

    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), "grid.ipynb", "exec"), names)
    assert len(pyplot.get_fignums()) == 3 and names["share"].shape == (3, 3)
    assert ((0 <= names["share"]) & (names["share"] <= 1)).all()
    pyplot.close("all")


def test_every_public_name_says_what_it_takes():
    """A docstring and hints for each."""
    import inspect

    import seqmix
    import seqmix.torch

    for module in (seqmix, seqmix.testing, seqmix.torch):
        for name in module.__all__:
            thing = getattr(module, name)
            if not callable(thing) or name == "__version__":
                continue
            assert thing.__doc__ and len(thing.__doc__) > 30, name
            function = thing if inspect.isfunction(thing) else None
            for p in inspect.signature(function).parameters.values() if function else ():
                assert p.annotation is not p.empty, f"{name}: {p.name}"
