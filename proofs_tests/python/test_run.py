"""seqmix.Run: the program's runs, to the bit; arrays that outlive the run that they show; data of one's own;
one thread at a time; sweeps that do not depend on their workers; the page with a set-up in it."""
import copy
import ctypes
import gc
import html
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import types
import urllib.parse
import warnings
import weakref
import webbrowser
from pathlib import Path

import numpy as np
import pytest

import seqmix
from seqmix import _native
from seqmix import run as runs
from seqmix._config import config_values

PROGRAM = Path(sys.prefix) / "bin/seqmix"
SMALL = "task=mqar&length=32&vocab=32&pairs=4&width=16&batch=4"


def small(**keys):
    return seqmix.Run(f"mixer=cat&{SMALL}", **keys)


def program(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "mixer", ["cat", "attention", "las", "focus&bins=4", "gated_deltanet", "mamba", "s4d"]
)
def test_the_same_bits_as_the_program(mixer, tmp_path):
    config = f"mixer={mixer}&{SMALL}&steps=12"
    saved = tmp_path / "a.st"
    theirs = program("train", config, "--json", "--save", str(saved))[-1]
    with seqmix.Run(config) as one, seqmix.Run(config, threads=2) as two:
        one.step(12)
        for _ in range(12):
            two.step(1)
        assert one.digest == two.digest == theirs["digest"]
        assert (
            np.array_equal(one.losses, two.losses)
            and one.losses.dtype == np.float32
            and len(one.losses) == 12
        )
        assert one.metrics.loss == one.losses[-1]
        again = seqmix.Run.load(saved)
        assert again.digest == one.digest and np.array_equal(again.losses, one.losses)
        assert again.evaluate(100) == one.evaluate(100) == two.evaluate(100)


def test_evaluations_are_the_programs(tmp_path):
    run = small(steps=20)
    run.step()
    assert run.metrics.step == 20
    run.save(tmp_path / "a.st")
    line = program("eval", str(tmp_path / "a.st"), "--length", "64", "--count", "50", "--json")[0]
    assert run.evaluate(50, length=64).loss == pytest.approx(line["loss"], rel=1e-6)
    assert run.evaluate(50, pairs=2).targets == 100 and run.evaluate(50).targets == 200
    # Both at once: neither is left out.
    args = ("eval", str(tmp_path / "a.st"), "pairs=2&length=64", "--count", "50", "--json")
    both = run.evaluate(50, length=64, pairs=2)
    assert both.targets == 100 and both.loss == pytest.approx(program(*args)[0]["loss"], rel=1e-6)
    run.evaluate(50)
    table = run.confusion
    assert table.sum() == 200 and table.shape == (32, 32)


def test_saved_and_taken_up_again(tmp_path, monkeypatch):
    run = small(steps=20)
    run.step(7)
    copies = [seqmix.Run.load(run.save()), pickle.loads(pickle.dumps(run))]
    path = tmp_path / "run.st"
    assert run.save(path) == path.read_bytes() and [p.name for p in tmp_path.iterdir()] == ["run.st"]
    copies.append(seqmix.Run.load(path, steps=30))
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(os.readlink(f"/proc/self/fd/{handle}")), sync(handle)))
    run.save(path)  # the bytes first, under a name of their own; the folder last, which knows the new name
    assert [Path(p).parent for p in synced[:1]] == [tmp_path] and synced[1:] == [str(tmp_path)]
    run.step(5)
    for copy in copies:
        copy.step(5)
        assert copy.digest == run.digest and len(copy.losses) == 12
    assert copies[-1].metrics.steps == 30
    for place in (tmp_path / "no" / "folder", "a\0b"):
        with pytest.raises(seqmix.SeqmixError, match="cannot be written"):
            run.save(place)
    for place in (tmp_path / "nothing", "a\0b", "\ud800"):
        with pytest.raises(seqmix.SeqmixError, match="cannot be read"):
            seqmix.Run.load(place)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(seqmix.SeqmixError, match="checksum|damage"):
        seqmix.Run.load(bytes(damaged))


def test_a_run_past_its_plan_is_kept_and_copied():
    run = small(steps=3)
    run.step(5)
    for copied in [seqmix.Run.load(run.save()), pickle.loads(pickle.dumps(run)), copy.deepcopy(run)]:
        assert copied.metrics.step == 5 and copied.digest == run.digest
    with pytest.raises(seqmix.SeqmixError, match="at least 5"):
        seqmix.Run.load(run.save(), steps=4)


def test_what_stands_where_a_run_is_saved_stays_what_it_is(tmp_path):
    run = small(steps=1)
    file, link, fifo = tmp_path / "run.st", tmp_path / "link.st", tmp_path / "fifo"
    file.write_bytes(b"before")
    file.chmod(0o640)
    link.symlink_to("run.st")
    data = run.save(link)
    assert link.is_symlink() and file.read_bytes() == data and file.stat().st_mode & 0o777 == 0o640
    owner = (12345, 12346) if os.getuid() == 0 else (os.getuid(), os.getgid())
    for mode in (0o600, 0o664, 0o777):
        file.chmod(mode)
        if os.getuid() == 0:
            os.chown(file, *owner)
        run.save(file)
        is_now = file.stat()
        assert (is_now.st_mode & 0o777, is_now.st_uid, is_now.st_gid) == (mode, *owner)
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    run.save(fifo)
    reader.join()
    assert read == [data] and fifo.is_fifo()
    null = tmp_path / "null"  # by a link, so that a fault here harms no device
    null.symlink_to(os.devnull)
    run.save(null)
    assert null.is_symlink() and Path(os.devnull).is_char_device()
    if Path("/dev/full").exists():
        null.unlink()
        null.symlink_to("/dev/full")
        with pytest.raises(seqmix.SeqmixError, match="null cannot be written: No space left"):
            run.save(null)
    with pytest.raises(seqmix.SeqmixError, match="cannot be written: Is a directory"):
        run.save(tmp_path)


def test_an_interrupt_while_saving_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(handle):
        raise KeyboardInterrupt

    run = small(steps=1)
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.save(tmp_path / "run.st")
    assert list(tmp_path.iterdir()) == []


def test_a_batch_has_one_shape():
    run = seqmix.Run("mixer=attention&task=own", length=4, channels=0, vocab=8, classes=2, answers="one", batch=2)
    with pytest.raises(seqmix.SeqmixError, match=r"shape \[2\]\[4\]\[3\]; \[1 to 2\]\[4\] is needed"):
        run.step_on(np.zeros((2, 4, 3), int), [0, 1])
    run = seqmix.Run("mixer=attention&task=own", length=4, channels=3, classes=2, answers="one", batch=2)
    with pytest.raises(seqmix.SeqmixError, match=r"shape \[2\]\[5\]\[3\]; \[1 to 2\]\[4\]\[3\] is needed"):
        run.step_on(np.zeros((2, 5, 3)), [0, 1])


def test_a_run_that_is_forgotten_is_freed_at_once():
    gc.disable()  # nothing is to wait for it: runs are large
    try:
        run = small(steps=2)
        run.step()
        state = run.state(1, most=8)
        state.push([1, 2])
        assert run.tensors["embedding"].any()
        seen = [weakref.ref(run), weakref.ref(run._handle), weakref.ref(state)]
        del run, state
        assert [at() for at in seen] == [None] * 3
    finally:
        gc.enable()


def test_weights_are_views_and_live_on():
    run = small(steps=50)
    weight, gradient = run.tensors["embedding"], run.tensors["grad:embedding"]
    start = weight.copy()
    run.step(1)
    assert (weight != start).any() and gradient.any() and np.shares_memory(weight, run.tensors["embedding"])
    with pytest.raises(ValueError):
        weight[0, 0] = 1
    last = weight.copy()
    run.close()
    del run
    gc.collect()
    others = [small() for _ in range(20)]  # take the memory, were it free
    for other in others:
        other.step(2)
    assert np.array_equal(weight, last)
    assert np.isfinite(gradient).all()


def test_weights_in_hand():
    name, row = "embedding", [0.0, 0.5, -1.0]
    run, written = small(), small()
    tried = lambda of: (of.look(0).confidence.tolist(), of.predict(np.arange(32) % 32).confidence.tolist(), of.evaluate(9))
    own, digest, saved = tried(run), run.digest, run.save()
    changed = written.tensors[name].copy()
    changed.flat[1:4] = row
    written.set_weight(name, changed)
    assert (written.tensors[name] == changed).all() and written.digest != digest
    with run.override({(name, 1): row}):
        assert tried(run) == tried(written) != own
        assert (run.digest, run.save()) == (digest, saved)
        with run.override({name: written.tensors[name] * 0}):  # the inner one wins
            assert tried(run) not in (own, tried(written))
        assert tried(run) == tried(written)
    assert tried(run) == own
    for weights, words in [
        ({"nothing": [1]}, "there is no tensor nothing"),
        ({(name, changed.size): [1]}, r"takes 0 finite numbers from number \d+ on; it was given 1 of 1"),
        ({name: [1, float("nan")]}, "given 1 of 2"),
        ({name: [["x"]]}, "real numbers are allowed"),
        ({name: changed.T}, r"embedding has the shape \[32\]\[16\]; it was given \[16\]\[32\]"),
        ({(name, -1): [1]}, "at is -1; 0 to"),
        ({5: [1]}, "5 is no name of a weight"),
    ]:
        with run.override({(name, 1): row}):
            with pytest.raises(seqmix.SeqmixError, match=words):
                with run.override({(name, 0): [9], **weights}):
                    pass
            assert tried(run) == tried(written), words
        assert tried(run) == own, words
    assert run.digest == digest
    with run.override({(name, 1): row}):
        run.close()  # and nothing is put back then


def test_what_was_looked_at_is_a_copy(tmp_path):
    run = small()
    run.step(3)
    sample = run.look(5)
    first, names = run.tensors["block0.mixer.map"], list(run.tensors)
    assert {"embedding", "logits", "block0.mixer.map"} <= set(names) and len(names) == len(run.tensors)
    kept = first.copy()
    for stream in ("train", "eval"):  # the samples of the program, of either stream
        subprocess.run([PROGRAM, "data", run.config, "--first", "5", "--count", "1", "--stream", stream, "--out", tmp_path], check=True)
        assert np.array_equal(run.look(5, stream).tokens, np.load(tmp_path / "tokens.npy")[0])
    assert not np.array_equal(run.look(5, "train").tokens, sample.tokens)
    assert len(run.look(5, length=48).tokens) == 48 and len(sample.tokens) == 32
    again = run.predict(sample.tokens)
    assert np.array_equal(run.tensors["block0.mixer.map"], kept)
    assert np.array_equal(again.predicted[sample.targets >= 0], sample.predicted[sample.targets >= 0])
    run.look(6)
    assert np.array_equal(first, kept) and not np.array_equal(run.tensors["block0.mixer.map"], kept)
    assert np.allclose(kept.sum(-1), 1, atol=1e-5) and kept.shape == (1, 32, 32)
    with pytest.raises(KeyError):
        run.tensors["block9.mixer.map"]
    assert "block9.mixer.map" not in run.tensors


def test_data_of_ones_own():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((200, 16, 2)).astype(np.float32)
    y = (x[:, :, 0].mean(1) > x[:, :, 1].mean(1)).astype(int)
    config = (
        "mixer=attention&task=own&length=16&channels=2&classes=2&answers=one"
        "&batch=16&width=16&steps=200&rate=0.01"
    )
    run, other = seqmix.Run(config), seqmix.Run(config)
    form = run.form
    assert (form.sequences, form.length, form.channels, form.classes) == (16, 16, 2, 2) and form.targets == 1
    targets = y
    run.fit((x, targets), steps=120)
    assert run.evaluate_on(x[:16], targets[:16]).accuracy > 0.9
    other.fit(run._shuffled(x, targets), steps=120)  # the same batches, from an iterator
    assert other.digest == run.digest
    third = seqmix.Run(config, seed=1.0)
    third.fit((x, targets), steps=2)
    assert np.array_equal(third.losses, run.losses[:2])
    third = seqmix.Run.load(third.save(), steps=5)
    assert third.fit((x, targets)).step == 5  # what is left of the config's
    # Each pass has each row once, in an order of its own and of the seed.
    passes = [b for _, b in zip(range(26), run._shuffled(np.arange(200), np.arange(200)))]
    assert [len(b) for b, _ in passes] == [*[16] * 12, 8] * 2 and all(np.array_equal(*b) for b in passes)
    first, second = (np.concatenate([b for b, _ in passes[i : i + 13]]).tolist() for i in (0, 13))
    assert sorted(first) == sorted(second) == list(range(200)) and first != second
    assert next(seqmix.Run(config, seed=2)._shuffled(x, targets))[1].tobytes() != next(run._shuffled(x, targets))[1].tobytes()
    raw = seqmix.Run(config)  # rows are targets, columns answers
    raw.evaluate_on(x[:16], targets[:16])
    counted = np.zeros((2, 2), np.uint64)
    for row, target in zip(x[:16], targets):
        counted[target, raw.predict(row).predicted[0]] += 1
    assert np.array_equal(raw.confusion, counted) and (counted != counted.T).any()
    other.fit([(x[:5], targets[:5])] * 3)
    assert other.metrics.step == 123
    batches = iter([(x[i : i + 4], targets[i : i + 4]) for i in range(5)])
    other.fit(batches, steps=2)
    assert len(list(batches)) == 3  # no batch is taken that is not learnt
    assert run.predict(x[0]).values.shape == (16, 2)
    refused = {
        r"inputs has the shape \[16\]\[15\]\[2\]; \[1 to 16\]\[16\] is needed\[2\]|\[1 to 16\]\[16\]": (
            x[:16, 1:],
            targets[:16],
        ),
        "inputs has the shape .*is needed": (x[:17], targets[:17]),
        "targets has the shape": (x[:4], targets[:3]),
        "targets holds 0.5; integers": (x[:4], targets[:4] * 0 + 0.5),
        "targets holds nan; integers": (x[:4], np.full(4, np.nan)),
        "targets holds 2147483648.0; integers of 32 bits": (x[:4], np.full(4, 2.0**31)),
        "inputs holds <U1": (np.full((4, 16, 2), "a"), targets[:4]),
        "target|answer|class": (x[:4], targets[:4] + 7),
        "finite|NaN|nan": (np.full((4, 16, 2), np.nan), targets[:4]),
    }
    digest = run.digest
    for sentence, batch in refused.items():
        with pytest.raises(seqmix.SeqmixError, match=sentence):
            run.step_on(*batch)
    with pytest.raises(seqmix.SeqmixError, match="the data gave int"):
        run.fit([3], steps=1)
    with pytest.raises(seqmix.SeqmixError, match="the data is 3"):
        run.fit(3, steps=1)
    with pytest.raises(seqmix.SeqmixError, match="as many of both"):
        run.fit((x, targets[:3]), steps=1)
    assert run.digest == digest


def test_labels_may_be_reals_that_are_whole():
    one, other = (
        seqmix.Run("mixer=attention&task=own", length=4, channels=1, classes=2, answers="one", batch=4)
        for _ in range(2)
    )
    x = np.ones((3, 4))
    one.step_on(x, np.zeros(3))
    other.step_on(x, np.zeros(3, int))
    assert one.digest == other.digest


def test_each_step_is_told():
    told, run, other = [], small(steps=5), small(steps=5)
    assert run.step(on_step=lambda metrics: told.append((metrics.step, metrics.loss))).step == 5
    other.step()
    assert [step for step, _ in told] == [1, 2, 3, 4, 5] and run.digest == other.digest
    assert np.array_equal(np.float32([loss for _, loss in told]), run.losses)

    def stop(metrics):
        if metrics.step == 2:
            raise StopIteration

    run = small(steps=5)
    with pytest.raises(StopIteration):
        run.step(on_step=stop)
    assert run.metrics.step == 2
    for n in (np.array([1, 2]), int, 1.5, -1):
        with pytest.raises(seqmix.SeqmixError, match="^n is "):
            run.step(n)
    assert run.step(np.int64(1)).step == 3


def test_weights_are_set_by_hand():
    run, other = small(seed=1), small(seed=2)
    names = [name for name, tensor in run.tensors.items() if "grad:" not in name and name in other.tensors]
    assert run.digest != other.digest
    for name in names:
        other.set_weight(name, run.tensors[name].copy())
    assert run.digest == other.digest
    shape = run.tensors["embedding"].shape
    for sentence, name, values in (
        (r"embedding has the shape \[\d+\]\[16\]; \[3\] was given", "embedding", np.zeros(3)),
        ("finite", "embedding", np.full(shape, np.nan)),
        ("nothing", "nothing", np.zeros(3)),
        ("name is 3", 3, np.zeros(3)),
        ("holds <U1", "embedding", np.full(shape, "a")),
    ):
        with pytest.raises(seqmix.SeqmixError, match=sentence):
            run.set_weight(name, values)
    assert run.digest == other.digest


def test_what_a_notebook_shows():
    run = small(steps=20)
    sentence = r"step 0 of 20; \d+ weights, inputs \[4\]\[32\], targets \[4\]\[\d+\]>$"
    assert re.search(sentence, repr(run)) and html.escape(repr(run)) in run._repr_html_()
    assert "<svg" not in run._repr_html_()
    run.step()
    shown = run._repr_html_()
    points = re.search('points="([^"]*)"', shown)[1].split()
    assert len(points) == 20 and f"to {run.losses[-1]:.4g}" in shown
    assert points[int(np.argmin(run.losses))].endswith(",80.0")
    assert points[int(np.argmax(run.losses))].endswith(",0.0")
    run.close()
    assert run._repr_html_() == "<code>&lt;seqmix.Run, closed&gt;</code>"


def test_one_thread_at_a_time():
    run = seqmix.Run("mixer=attention&task=mqar&length=256&width=64&batch=16", steps=10**6)
    seen, stop = [], threading.Event()

    def train():
        try:
            while not stop.is_set():
                run.step(1)
        except seqmix.SeqmixError as error:
            seen.append(str(error))

    thread = threading.Thread(target=train)
    thread.start()
    refused = ""
    while not refused and not seen:  # one of the two meets the other inside
        try:
            run.evaluate(8)
        except seqmix.SeqmixError as error:
            refused = str(error)
    stop.set()
    thread.join()
    assert "one thread at a time" in (refused or seen[0])
    run.step(1)


def test_ctrl_c_between_steps():
    run = seqmix.Run("mixer=attention&task=mqar&length=128&width=64&batch=16", steps=10**6)
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.step(10**6)
    timer.join()
    assert len(run.losses) == run.metrics.step < 10**6


def test_a_fork_works_alone():
    code = "import os, seqmix; r = seqmix.Run('mixer=cat&task=mqar', threads=2); r.step(2); pid = os.fork()\n"
    code += "r.step(3); os.write(1, (r.digest + ' ').encode())\nif pid: os.wait()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    digests = done.stdout.split()
    assert len(digests) == 2 and digests[0] == digests[1], done.stderr


def test_what_a_run_would_not_read():
    for several in (f"mixer=cat&{SMALL}~mixer=las", "preset=recall"):
        with pytest.raises(seqmix.SeqmixError, match=r"Run takes one run, and .* are [23]: write out the one"):
            seqmix.Run(several, steps=3)  # the steps would be the last one's
    with pytest.warns(UserWarning, match="^eq is a key of another mixer or task: it says nothing in this run$") as said:
        seqmix.Run(SMALL, eq="y = x @ w").close()
    assert len(said) == 1 and said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seqmix.Run("mixers=cat,gla&blocks=2&block0.filter=5", threads=1).close()
        seqmix.Run(f"mixer=equations&{SMALL}&taps=5", eq="taps = 3\ny = conv(x, f[taps])").close()


def test_sweep(monkeypatch):
    config = f"mixer=cat&{SMALL}&steps=6"
    one = seqmix.sweep(config, seeds=2, count=20, workers=1, filter=[1, 3], norm="rms")
    four = seqmix.sweep(config, seeds=2, count=20, workers=4, filter=[1, 3], norm="rms")
    assert [{**r, "seconds": 0} for r in one] == [{**r, "seconds": 0} for r in four]
    assert {r["targets"] for r in one} == {20 * 4}
    assert [(r["filter"], r["seed"]) for r in one] == [(1, 1), (1, 2), (3, 1), (3, 2)]
    assert one[3]["digest"] == program("train", f"{config}&norm=rms&filter=3&seed=2", "--json")[-1]["digest"]
    two = seqmix.sweep(config, seeds=np.int64(2), count=20, filter=np.array([1, 3]), norm="rms")
    assert [{**r, "seconds": 0} for r in two] == [{**r, "seconds": 0} for r in one]
    trained = []
    monkeypatch.setattr(seqmix.Run, "step", lambda run, n: trained.append(run))  # what does not fit is said first
    for wrong, sentence in (
        (dict(seed=[1, 2]), r"seed is \[1, 2\]; sweep takes seeds"),  # (it would have been 1 twice)
        (dict(seeds=1.5), "seeds is 1.5"),
        (dict(seeds=-1), "seeds is -1"),
        (dict(count=-5), "count is -5"),
        (dict(workers=-1), "workers is -1"),
    ):
        with pytest.raises(seqmix.SeqmixError, match=sentence):
            seqmix.sweep(config, **wrong)
    assert not trained
    monkeypatch.undo()
    pandas = pytest.importorskip("pandas", reason="needs python3 with pandas (python3-pandas)")
    assert pandas.DataFrame(one).groupby("filter").loss.mean().shape == (2,)
    with pytest.raises(seqmix.SeqmixError, match="filter=0"):
        seqmix.sweep(config, filter=[1, 0])
    with pytest.raises(seqmix.SeqmixError, match="sweep takes one run, and mixer=cat&.*~mixer=las are 2"):
        seqmix.sweep(f"{config}~mixer=las", filter=[1])


def test_results(tmp_path):
    pandas = pytest.importorskip("pandas", reason="needs python3 with pandas (python3-pandas)")
    mixers = {"cat": "filter=2", "attention": "heads=2"}
    for mixer, own in mixers.items():
        for seed in (1, 2):
            config = f"mixer={mixer}&{own}&{SMALL}&steps=6&seed={seed}"
            subprocess.run([PROGRAM, "job", config, "--out", tmp_path, "--eval", "20", "--every", "3"], check=True)
    # Half a result is no result, and stays where it is.
    spoilt = next(tmp_path.glob("??/*.json"))
    (spoilt.parent / "0123456789abcdef.json").write_text(spoilt.read_text()[:200])
    table = seqmix.results(tmp_path)
    assert isinstance(table, pandas.DataFrame) and len(table) == 4
    assert sorted(zip(table.mixer, table.seed)) == [("attention", 1), ("attention", 2), ("cat", 1), ("cat", 2)]
    assert set(table.loc[table.mixer == "cat", "filter"]) == {2} and table.loc[table.mixer == "attention", "filter"].isna().all()
    for row in table.itertuples():
        run = seqmix.Run(f"mixer={row.mixer}&{mixers[row.mixer]}&{SMALL}&steps=6&seed={row.seed}")
        run.step(6)
        assert row.digest == run.digest and row.value == pytest.approx(run.evaluate(20).accuracy)
        assert row.rate == float(run.values["rate"])
    assert table.build.nunique() == 1 and (table.seconds > 0).all()
    curves = seqmix.results(tmp_path, curves=True)
    losses = curves[(curves.curve == "loss") & (curves.name == table.name.iloc[0])]
    assert list(losses.step) == [1, 2, 3, 4, 5, 6] and losses.value.notna().all()
    assert list(curves[curves.curve == "accuracy"].step.unique()) == [3, 6]
    assert not list(tmp_path.glob("*.csv"))
    with pytest.raises(seqmix.SeqmixError, match="cannot be read"):
        seqmix.results(tmp_path / "nowhere")


def test_a_host_that_is_called_as_a_number_is(tmp_path, monkeypatch):
    from seqmix import frames

    def collected(*words, least):
        collect(*words, least=least)
        found = next(Path(words[words.index("--out") + 1]).glob("machines.csv"))
        lines = [line.split(",") for line in found.read_text().splitlines()]
        for name, text in (("host", "12e4"), ("build", "0123456789012345"), ("isa", "nan")):
            lines[1][lines[0].index(name)] = text
        found.write_text("\n".join(map(",".join, lines)))

    collect = frames.output
    monkeypatch.setattr(frames, "output", collected)
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=list))
    monkeypatch.chdir(tmp_path)
    subprocess.run([PROGRAM, "job", f"mixer=cat&{SMALL}&steps=1&seed=7", "--out", "./-out", "--eval", "20"], check=True)
    (row,) = seqmix.results("-out")
    assert (row["host"], row["build"], row["isa"]) == ("12e4", "0123456789012345", "nan")
    assert (row["seed"], row["rate"], row["mixer"], row["threads"]) == (7, 0.02, "cat", 1) and row["seconds"] > 0
    with pytest.raises(seqmix.SeqmixError, match="null byte|character 0"):
        seqmix.results("a\0b")


def test_losses_as_a_frame(monkeypatch):
    pandas = pytest.importorskip("pandas", reason="needs python3 with pandas (python3-pandas)")
    run = small(steps=20)
    assert run.curve().empty
    run.step(5)
    frame = seqmix.Run.load(run.save()).curve()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["step", "loss"]
    assert list(frame["step"]) == [1, 2, 3, 4, 5] and np.array_equal(frame["loss"], run.losses)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(seqmix.SeqmixError, match="Run.curve needs pandas: pip install pandas"):
        run.curve()


def test_results_without_pandas(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(seqmix.SeqmixError, match="seqmix.results needs pandas: pip install pandas"):
        seqmix.results(tmp_path)


def test_configs():
    assert small(rate=0.5, seed=3).values["rate"] == "0.5"
    assert (
        seqmix.Run({"mixer": "las", "task": "mqar", "alphas": [0, 1], "heads": 2}).values["alphas"] == "0,1"
    )
    for given, text in ((np.array([0.5, 1.0]), "0.5,1"), ([True, False], "1,0"), ((0, 1.5), "0,1.5")):
        assert seqmix.Run("mixer=las&task=mqar&heads=2", alphas=given).values["alphas"].replace(".0", "") == text
    spiked = "y = x @ w # \xe9~&=%+</script>"
    for how in (dict(eq=spiked), {"config": f"mixer=equations&eq={urllib.parse.quote(spiked).replace('~', '%7E')}"}):
        again = seqmix.Run(seqmix.Run(**{"config": "mixer=equations", **how}).config)
        assert again.values["eq"] == spiked
    assert config_values("mixer=equations&eq=y = x @ w # \xe9")[0]["eq"].endswith("\xe9")
    text = "k = conv(x @ w_k, filter_k)\ny = attention(x @ w_q, k, x @ w_v) @ w_o"
    assert seqmix.Run("mixer=equations&task=mqar", eq=text).values["eq"] == text
    with pytest.raises(seqmix.SeqmixError, match="mixer must be one of") as error:
        seqmix.Run("mixer=dog")
    assert error.value.key == "mixer" and error.value.value == "dog" and "cat" in error.value.allowed
    run = small()
    run.close()
    with pytest.raises(seqmix.SeqmixError, match="closed"):
        run.step(1)
    assert repr(run) == "<seqmix.Run, closed>"


def test_equations_and_what_is_known_of_them():
    run = small(mixer="cat", heads=2, rate=0.01)
    assert "k = conv(x @ w_k, filter_k[taps])" in run.equations
    own = seqmix.Run(f"mixer=equations&{SMALL}&heads=2&rate=0.01", eq=run.equations, taps=3)
    run.step(3), own.step(3)
    assert run.losses.tobytes() == own.losses.tobytes()
    report = own.check()
    assert report["passes"] and report["causal"] and report["weights"] > 0
    assert {"y", "x", "w_q"} <= {row["name"] for row in report["rows"]}
    wrong = seqmix.Run(f"mixer=equations&{SMALL}", eq="y = x @ w * 1e30").check()  # is told, not raised
    assert not wrong["passes"] and not wrong["stable"]
    ahead = seqmix.Run(f"mixer=equations&{SMALL}", eq="u = x @ w\ny = conv(u, f[3], future=1)").check()
    assert (ahead["causal"], ahead["ahead"], ahead["ahead_line"]) == (False, 1, 2)
    with pytest.raises(seqmix.SeqmixError, match="cannot say this of mixer=hyena"):
        small(mixer="hyena").equations


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "embedding\0x", "\xe9"])
def test_half_characters_are_a_sentence(text):
    run = small()
    assert text not in run.tensors
    with pytest.raises(seqmix.SeqmixError):
        seqmix.Run(text)
    with pytest.raises(seqmix.SeqmixError):
        small(mixer=text)


def test_a_bar(monkeypatch):
    """What tqdm is told, where it is installed; nothing else where it is not."""
    bars = []

    class Bar:
        def __init__(self, total, unit):
            self.total, self.unit, self.at = total, unit, 0
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

        def update(self, n):
            self.at += n

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    run = small(steps=40)
    run.step(7, progress=True)
    run.step(progress=True)
    seqmix.sweep(f"mixer=cat&{SMALL}&steps=2", seeds=3, count=4, progress=True)
    assert [(b.total, b.at, b.closed) for b in bars] == [(7, 7, True), (33, 33, True), (3, 3, True)]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    small(steps=4).step(progress=True)
    assert len(bars) == 3


def test_where_the_page_opens(tmp_path, monkeypatch):
    if not (Path(seqmix.__file__).parent / "page/seqmix.html").exists():
        pytest.skip("the wheel was built without the page")
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = seqmix.view("mixer=cat", tmp_path / "a b.html")
    assert opened == [path.resolve().as_uri()] and path.exists()
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(HTML=lambda text: text))
    frame = seqmix.view("mixer=cat", tmp_path / "b.html")
    assert len(opened) == 1
    # (the page itself in a srcdoc would take the notebook's address for its own)
    source = html.unescape(re.fullmatch(r'<iframe [^>]*srcdoc="([^"]*)"[^>]*></iframe>', frame)[1])
    page = re.fullmatch(
        r"<script>location.replace\(URL.createObjectURL\(new Blob\(\[(.*)\], .*</script>", source
    )
    assert source.count("</script>") == 1
    assert json.loads(page[1]) == (tmp_path / "b.html").read_text("utf-8")


def test_the_page(tmp_path, monkeypatch):
    run = small(steps=77)
    if not (Path(seqmix.__file__).parent / "page/seqmix.html").exists():
        with pytest.raises(seqmix.SeqmixError, match="without the page"):
            seqmix.view(run, tmp_path / "a.html", show=False)
        pytest.skip("the wheel was built without the page")
    opened, raw = [], (Path(seqmix.__file__).parent / "page/seqmix.html").read_text("utf-8")
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.chdir(tmp_path)
    assert not seqmix.view("mixer=cat", show=False).is_relative_to(tmp_path) and not list(tmp_path.iterdir())
    spiked = seqmix.view("mixer=equations&eq=y = x @ w # </script>", tmp_path / "b.html", show=False)
    assert spiked.read_text("utf-8").count("</script>") == raw.count("</script>") + 1
    text = seqmix.view([run, small(steps=78)], tmp_path / "a.html", show=False).read_text()
    assert not opened
    address = json.loads(re.search(r'location\.replace\((".*?")\)', text)[1])
    assert [v["steps"] for v in config_values(address[1:])] == ["77", "78"]
    assert text.index("location.replace") < text.index('<script type="module"')


def test_a_state_reads_on_and_writes(tmp_path):
    run = small(steps=10)
    run.step()
    tokens = run.look(0).tokens
    whole = run.state(1, 32).push(tokens)
    state = run.state(1, 32)
    parts = np.concatenate([state.push(tokens[:5]), state.push(tokens[5:6]), state.push(tokens[6:])], axis=1)
    assert np.array_equal(whole, parts) and np.array_equal(state.answers, whole[:, -1])
    run.predict(tokens)
    assert np.array_equal(whole, run.tensors["logits"])
    two, apart = run.state(2, 32), run.state(1, 32)
    two.push([tokens[:4], tokens[4:8]]), apart.push(tokens[4:8])
    assert np.array_equal(two.odds(1), apart.odds()) and not np.array_equal(two.odds(0), two.odds(1))
    kept, last = apart.answers, apart.answers.tobytes()
    apart.push(tokens[8:12])
    assert kept.tobytes() == last != apart.answers.tobytes()  # a copy
    with pytest.raises(seqmix.SeqmixError, match="rows: allowed are"):
        run.generate(tokens[:6], 2, most=2**50)
    assert state.form.rows == 32 and state.odds().sum() == pytest.approx(1, abs=1e-6)
    # A copy goes its own way; what was saved goes on as it would have.
    first = run.state(1, 32)
    first.push(tokens[:9])
    other, again = first.copy(), run.state(saved=first.save())
    # Pickled or copied deeply, with its run, it has memory of its own.
    for apart in [pickle.loads(pickle.dumps(first)), copy.deepcopy(first)]:
        apart.push([[1]])
        assert apart.form.rows == 10 and first.form.rows == 9
    other.push([[1]])
    assert np.array_equal(first.push(tokens[9:12]), again.push(tokens[9:12]))
    assert not np.array_equal(first.answers, other.answers)
    written = run.generate(tokens[:6], 8, seed=4)
    assert written.dtype == np.int32 and np.array_equal(written, run.generate(tokens[:6], 8, seed=4))
    assert not np.array_equal(written, run.generate(tokens[:6], 8, seed=5))
    # Each of draw's words counts: of the likeliest, and how sure.
    odds, drawn = again.odds(), lambda **how: {int(again.draw(seed=seed, **how)[0]) for seed in range(1, 400)}
    order = [int(i) for i in np.argsort(-odds, kind="stable")]
    assert drawn(temperature=0) == drawn(top_k=1) == drawn(top_p=1e-6) == {order[0]}
    assert drawn(top_k=3) == set(order[:3]) and len(drawn()) > 5
    p = float(odds[order[:4]].sum() - odds[order[3]] / 2)
    assert drawn(top_p=p) == set(order[:4])
    # The program writes the same text from the same seed.
    text = seqmix.Run("mixer=gated_deltanet&task=charlm&length=64&width=16&steps=3&batch=4")
    text.step()
    text.save(tmp_path / "text.st")
    told = [
        "generate",
        str(tmp_path / "text.st"),
        "--prompt",
        "Once upon",
        "--tokens",
        "20",
        "--seed",
        "7",
        "--json",
    ]
    mine = text.generate(b"Once upon", 20, temperature=0.8, seed=7)
    theirs = [line["text"] for line in program(*told) if "text" in line]
    assert len(mine) == 20 == len(theirs)
    # (The program writes bytes that are no text as the replacement character.)
    assert all(chr(a) == b for a, b in zip(mine, theirs) if 32 <= a < 127), (mine, theirs)


def test_records_name_the_fields_of_run_h():
    kinds = {ctypes.c_double: "float", ctypes.c_uint64: "int", ctypes.c_int: "int"}
    for record, struct in ((runs.Metrics, "smx_metrics"), (runs.Evaluation, "smx_evaluation")):
        fields = _native.headers().structs[struct]._fields_
        assert list(record._fields) == [name for name, _ in fields]
        said = [getattr(kind, "__forward_arg__", kind) for kind in record.__annotations__.values()]
        assert said == [kinds[kind] for _, kind in fields]


def test_what_a_state_refuses():
    run = small(steps=3)
    run.step(2)
    state = run.state(2, 8)
    for call, words in (
        (lambda: state.push([1, 2]), r"\[2\]\[n\] is needed"),
        (lambda: state.push([[99], [1]]), "99"),
        (lambda: state.push([[1] * 9] * 2), "room for at most 8"),
        (lambda: state.odds(2), "0 to 1 are allowed"),
        (lambda: state.draw(), "nothing has been read"),
        (lambda: state.generate(-1), "n is -1"),
        (lambda: run.state(0), "0 sequences"),
        (lambda: run.state(saved=b"nothing"), "not a state"),
        (lambda: run.generate("text", 3), "no text"),
        (lambda: run.generate(np.zeros(0, int), 3), "empty"),
        (lambda: seqmix.Run(f"mixer=attention&causal=0&{SMALL}").state(1, 32), "rows after it"),
    ):
        with pytest.raises(seqmix.SeqmixError, match=words):
            call()
    run.step(1)
    with pytest.raises(seqmix.SeqmixError, match="trained since"):
        state.push([[1], [1]])
    kept = run.state(1, 4)
    run.close()
    with pytest.raises(seqmix.SeqmixError, match="closed"):
        kept.push([1])
    del run, kept, state
    gc.collect()  # states end before the memory that they show
