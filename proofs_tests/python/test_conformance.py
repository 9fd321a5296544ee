"""check_layer by its plan of cases: each planted wrong implementation of planted.py is refused within the default
budget, right ones never are; what else layers do wrong (raise, hang, keep state, give wrong shapes) is a sentence.

SEQMIX_CONFORMANCE=all judges the whole list and SEQMIX_CONFORMANCE_SEEDS (50) of a thousand seeds, drawn by the number
that it prints; else a share of both, and each wrong layer only up to its first wrong case. docs/ORACLE.md has a row for
each fault, with what refused it: SEQMIX_CONFORMANCE=write writes them."""
import functools
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")

import seqmix
from seqmix import _judged, _plan, _waiting, ref
from seqmix._draws import usual_sizes
from seqmix.testing import check_layer

sys.path.insert(0, str(Path(__file__).parent))
import planted

WHOLE = os.environ.get("SEQMIX_CONFORMANCE", "")
SEEDS = int(os.environ.get("SEQMIX_CONFORMANCE_SEEDS", 50))  # of each right layer in each format, 1,000 at most
DRAWN_BY = int(os.environ.get("SEQMIX_CONFORMANCE_SEED", time.time()))
ORACLE = Path(__file__).parents[2] / "docs/ORACLE.md"
BEGIN, END = "<!-- refused -->\n", "<!-- /refused -->"
HEAD = "| mechanism | planted fault | what refused it |\n|---|---|---|\n"
caught: dict = {}


@pytest.fixture(autouse=True)
def enough(monkeypatch):
    """One wrong case refuses a layer."""
    if not WHOLE:
        monkeypatch.setattr(_judged, "ENOUGH", 1)


def judged(function, layer, **options):
    _, mechanism, told = planted.LAYERS[layer]
    return check_layer(function, mechanism, raises=False, **{**told, **options})


def what_caught(report):
    """What the first fault of the report that is no other's consequence looks like, and where alone it is."""
    fault = next(f for f in report.faults if f.looks_like != "as y is wrong")
    return f"`{fault.array}`: {fault.looks_like}" + f" (only where {report.only})" * bool(report.only)


@pytest.mark.parametrize("layer", planted.LAYERS)
def test_planted(layer):
    mine = [p for p in planted.PLANTED if p[0] == layer]
    passed, slow = [], []
    for _, title, *edits in mine if WHOLE else mine[2 :: 11 + len(mine) // 9]:
        began = time.process_time()
        report = judged(planted.wrong(layer, *edits), layer)
        if report:
            passed.append(title)
        else:
            caught[layer, title] = what_caught(report)
        if time.process_time() - began > 60:
            slow.append(title)
    assert not passed and not slow


def test_the_list():
    """At least 120 faults, each with a name of its own and a row of docs/ORACLE.md."""
    names = [p[:2] for p in planted.PLANTED]
    assert len(names) == len(set(names)) >= 120
    whole = ORACLE.read_text()
    table = whole[whole.index(BEGIN) + len(BEGIN) : whole.index(END)]
    if WHOLE == "write":
        rows = [f"| `{planted.LAYERS[a][1]}` | {b} | {caught[a, b]} |\n" for a, b in names]
        ORACLE.write_text(whole.replace(table, HEAD + "".join(rows)))
        table = HEAD + "".join(rows)
    listed = re.findall(r"^\| `(\w+)` \| ([^|]*) \| `\w+`: .+ \|$", table, re.M)
    assert listed == [(planted.LAYERS[a][1], b) for a, b in names]


def in_float32(f):
    """f in float32, its inputs and results in the format of what goes in, as kernels are."""

    @functools.wraps(f)
    def function(*inputs, **named):
        def wide(x):
            return x.float() if torch.is_tensor(x) and x.is_floating_point() else x  # None, a size, whole numbers

        form = inputs[0].dtype
        y = f(*map(wide, inputs), **{name: wide(x) for name, x in named.items()})
        return tuple(x.to(form) for x in y) if isinstance(y, tuple) else y.to(form)

    return function


@pytest.mark.parametrize("dtype", ["f64", "f32", "bf16", "f16"])
@pytest.mark.parametrize("layer", planted.LAYERS)
def test_right(layer, dtype, capsys, monkeypatch):
    """Within the whole plan, and over seeds of a short one (of attention, seed 2 has saturated logits of two rows).
    In the share the cases are counted, not timed: the same ones on every machine."""
    seeds, function = [2], planted.right(layer) if dtype in ("f64", "f32") else in_float32(planted.right(layer))
    if not WHOLE:
        plan = _judged.Judged._plan
        monkeypatch.setattr(_judged.Judged, "_plan", lambda self, seed: [c for c in plan(self, seed) if c.rows < 65][:9])
    else:
        seeds = [0, *sorted(random.Random(DRAWN_BY).sample(range(1, 1001), SEEDS))]
        with capsys.disabled():
            print(f"\n# {layer}, {dtype}: {SEEDS} seeds of 1,000, drawn by SEQMIX_CONFORMANCE_SEED={DRAWN_BY}")
    for seed in seeds:
        report = judged(function, layer, dtype=dtype, seed=seed, budget=(1 if seed else 60) if WHOLE else 600)
        assert report, f"seed {seed}: {report}"
        assert WHOLE or report.cases == 9


@pytest.mark.parametrize("form", ["bf16", "f16"])
def test_a_reference_of_zeros(form):
    """Zeros are right there, and nothing else is (linear attention with zero keys)."""
    judge = SimpleNamespace(results={"y": np.zeros((2, 3))}, form=form, tol=1e-2, roundoff=2.0**-8, moved_rms={"y": 0.0}, moved={"y": 0.0})
    assert _judged._share(judge, "y", np.zeros((2, 3))) == (0.0, 0.0, _judged.WHOLLY)
    assert _judged._share(judge, "y", np.full((2, 3), 1e-30))[0] > 1
    assert _judged._share(judge, "y", np.full((2, 3), np.nan))[0] > 1


ROWS, LONG = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 256, 300, 512}, {1024, 1025, 2048, 4097}
HEADS, COLUMNS, BATCH = {1, 2, 3, 8}, {4, 8, 16, 32, 64, 128}, {1, 2, 3, 5}
# Each in a case, in turn, wherever the levels above meet another's.
BETWEEN = {96, 192, 32, 320, 40, 112, 33, 384, 7, 160, 640, 31, 222, 768, 3, 5, 20, 22, 25, 26, 11, 13}
MORE_HEADS, MORE_COLUMNS, MORE_BATCH = {6, 12, 4, 16}, {48, 96, 24, 80, 12, 192, 256}, {4, 7, 16}
CALLS = "plain no_grad inference strided expanded alone without twice thrice interleaved refilled pieces".split()


def test_a_plan_is_covered():
    """Each pair of levels that a case can have is in one, and the same seed gives the same plan."""
    cases, linear = _plan.plan("softmax_attention_qkv", {"D": 8, "H": 2})
    _plan._plan.cache_clear()
    assert cases == _plan.plan("softmax_attention_qkv", {"D": 8, "H": 2})[0]
    assert cases != _plan.plan("softmax_attention_qkv", {"D": 8, "H": 2}, seed=1)[0]
    assert linear == {"v"}
    short = [c for c in cases if c.rows < 1024]
    draws = {"usual", "full", "huge", "tiny", "saturated", "zero keys"}
    assert {c.rows for c in cases} == ROWS | BETWEEN | LONG and {c.draw for c in cases} == draws
    assert {(c.draw, c.call) for c in short} == {(d, w) for d in draws for w in CALLS}
    level = lambda n, known: n if n in known else 0
    assert {(level(c.rows, ROWS), c.call) for c in short} == {(r, w) for r in {0, *ROWS} for w in CALLS} - {(1, "pieces")}
    met = {(level(c.heads, HEADS), level(c.columns, COLUMNS)) for c in short}
    assert met == {(h, w) for h in {0, *HEADS} for w in {0, *COLUMNS}}
    assert {(level(c.rows, ROWS), level(c.batch, BATCH)) for c in short} == {(r, b) for r in {0, *ROWS} for b in {0, *BATCH}}
    assert {c.heads for c in cases} == HEADS | MORE_HEADS and {c.columns for c in cases} == COLUMNS | MORE_COLUMNS
    assert {c.batch for c in cases} == BATCH | MORE_BATCH
    assert all(c.heads == 1 and c.columns <= 16 and c.batch == 1 for c in cases if c.rows > 2000)
    assert {(c.heads, c.batch) for c in cases if c.rows in (1024, 1025) and c.columns <= 16} == {(1, 1), (1, 2), (2, 1)}
    assert {c.rows % 16 for c in cases} == {*range(16)}
    gates = {c.draw for c in _plan.plan("gla_core", {"H": 2, "dk": 8, "dv": 8}, {"mode": "channel"}, start=True)[0]}
    assert gates >= {"gates of all kinds", "gates open", "gates shut"} and "saturated" not in gates
    given, _ = _plan.plan("softmax_attention_qkv", {"D": 8, "H": 2}, {"H": 4, "D": 64})
    assert {(c.heads, c.columns) for c in given} == {(4, 16)} and all(set(dict(c.sizes)) == {"L"} for c in given)


def test_the_plan_is_its_versions():
    """No case of a plan changes under a version of the suite: docs/ORACLE.md pins the plans of all mechanisms."""
    hashed = hashlib.sha256()
    for name, m in sorted(ref._mechanisms().items()):
        cases, _ = _plan.plan(name, usual_sizes(m), start=True)
        hashed.update(repr((name, [(c.levels, c.seed, c.sizes, c.drawn) for c in cases])).encode())
    pinned = re.split("<!-- .?suite -->", ORACLE.read_text())[1].strip().splitlines()[-1].split("|")
    assert f"`{hashed.hexdigest()[:16]}`" == pinned[4].strip(), "a new version is needed: VECTORS_SUITE and a row of that table"


def test_the_oracle_takes_every_case():
    """No plan has sizes that its mechanism refuses (of nine rows: which rows fit is the plan's own)."""
    for name, m in sorted(ref._mechanisms().items()):
        cases, _ = _plan.plan(name, usual_sizes(m), start=True)
        for sizes in {tuple(s for s in c.sizes if s[0] != "L") for c in cases if c.columns <= 16}:
            drawn = seqmix.testing.draw(name, length=9, **dict(sizes))
            params = drawn.pop("params")
            with ref._Case(name, params) as case:
                for n, a in drawn.items():
                    if n != "dy":
                        case.set(n, a)
                case.run()


@pytest.mark.parametrize("seed", [0, 1])
def test_heads_share_keys(seed):
    """Grouped heads are in the plan of every seed: two heads with the same keys, and all of them."""
    sizes = [dict(c.sizes) for c in _plan.plan("attn_core", {"H": 4, "Hkv": 2, "d": 8, "window": 33}, {}, seed)[0]]
    shared = {(s["H"], s["Hkv"]) for s in sizes if s["H"] in HEADS}
    assert shared == {(1, 1), (2, 2), (2, 1), (3, 3), (3, 1), (8, 8), (8, 4), (8, 1)}
    kda = [dict(c.sizes) for c in _plan.plan("kda_core", {"H": 2, "dk": 8, "dv": 6}, {}, seed)[0]]
    onnx = [dict(c.sizes) for c in _plan.plan("linear_attention_core", usual_sizes(ref.linear_attention_core), {}, seed)[0]]
    assert {s["Hv"] for s in onnx} == HEADS | MORE_HEADS and {s["Hq"] > s["Hv"] for s in onnx if s["Hq"] != s["Hv"]} == {True, False}
    assert {s["H"] for s in kda} == HEADS | MORE_HEADS and {s["dk"] for s in kda} == COLUMNS | MORE_COLUMNS


right = planted.right("attention")


def attention(**options):
    return lambda f: judged(f, "attention", **{"budget": 2, **options})


@pytest.mark.parametrize(
    "what, function, sentence",
    [
        ("raises", lambda q, k, v: q @ k, "it raised RuntimeError: .*"),
        ("raises past 100 rows", lambda q, k, v: right(q, k, v) if q.shape[2] < 100 else 1 / 0, "it raised ZeroDivisionError"),
        ("another shape", lambda q, k, v: right(q, k, v)[..., :1], r"the shape is .*\[1\], not"),
        ("no rows", lambda q, k, v: right(q, k, v)[..., :0, :], "the shape is"),
        ("float64", lambda q, k, v: right(q, k, v).double(), "torch.float64 comes back, torch.float32 went in"),
        ("nothing past 100 rows", lambda q, k, v: right(q, k, v) if q.shape[2] < 100 else None, "returned NoneType; it must return the tensor y"),
        ("hangs", lambda q, k, v: time.sleep(30) or right(q, k, v), "no answer within 0.3 s"),
    ],
)
def test_a_layer_that(what, function, sentence):
    began = time.monotonic()
    report = attention(time_limit=0.3 if what == "hangs" else 60)(function)
    assert not report and re.search(sentence, str(report)), str(report)
    assert time.monotonic() - began < 25 or what != "hangs"


def test_a_module():
    """Called with what its forward takes."""

    class Attention(torch.nn.Module):
        def forward(self, q, k, v):
            return right(q, k, v)

    report = attention()(Attention())
    assert report, str(report)


def test_a_device_that_is_not_there():
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(seqmix.SeqmixError, match="device is 'cuda', which PyTorch cannot use here"):
        attention(device="cuda")(right)


@pytest.mark.parametrize(
    "options, sentence",
    [
        (dict(budget=0), "budget is 0; above 0"),
        (dict(time_limit=float("nan")), "time_limit is nan"),
        (dict(arrays="jax"), "arrays is 'jax'; it must be 'torch' or 'numpy'"),
        (dict(arrays="torch", backward=lambda dy, x, p: {}), "backward is for arrays='numpy'"),
        (dict(arrays="numpy", dtype="bf16"), "dtype is bf16, which NumPy has not"),
    ],
)
def test_options(options, sentence):
    with pytest.raises(seqmix.SeqmixError, match=sentence):
        attention(**options)(right)


def by_numpy(q, k, v):
    s = np.tril(q @ np.swapaxes(k, -1, -2))
    return s @ v


def backward(dy, x, params):
    q, k, v = x["q"], x["k"], x["v"]
    s, ds = np.tril(q @ np.swapaxes(k, -1, -2)), np.tril(dy @ np.swapaxes(v, -1, -2))
    return dict(q=ds @ k, k=np.swapaxes(ds, -1, -2) @ q, v=np.swapaxes(s, -1, -2) @ dy)


def test_numpy():
    """Functions of arrays, forward, and backward where they have one."""
    report = judged(by_numpy, "linear", arrays="numpy", budget=1)
    assert report and set(report.worst) == {"y"}, str(report)
    report = judged(by_numpy, "linear", backward=backward, budget=1)
    assert report and set(report.worst) == {"y", "d_q", "d_k", "d_v"}, str(report)
    half = lambda dy, x, p: {**backward(dy, x, p), "k": backward(dy, x, p)["k"] / 2}
    report = judged(by_numpy, "linear", backward=half, budget=1)
    assert {f.array for f in report.faults} == {"d_k"} and "times 0.5" in str(report)
    kept = {}
    again = lambda q, k, v: kept.setdefault(q.shape, np.empty_like(v)).__setitem__(..., by_numpy(q, k, v)) or kept[q.shape]
    assert "an output buffer is used again" in str(judged(again, "linear", arrays="numpy", budget=1))


class Clock:
    """Processor time that goes on by so much at each reading; the clock on the wall runs away."""

    def __init__(self, monkeypatch, step=0.0):
        self.now, self.wall, self.step = 0.0, 0.0, step
        monkeypatch.setattr(time, "thread_time", self.read)
        monkeypatch.setattr(time, "process_time", self.read)
        monkeypatch.setattr(time, "monotonic", self.runs_away)

    def read(self):
        self.now += self.step
        return self.now

    def runs_away(self):
        self.wall += 1000.0
        return self.wall


def test_a_busy_machine_judges_the_same_cases(monkeypatch):
    """Processor time alone ends a plan; a long case is judged wherever there is room for it, also when the first cases
    were slow for their work; and what is not tried is said."""
    clock, cases, first = Clock(monkeypatch), [], 3.0

    def one(self, case, batch):
        clock.now += 0.02 + 2e-9 * case.work + (0.0 if self.cases else first)
        cases.append(case)
        self.cases += 1

    monkeypatch.setattr(_judged.Judged, "one", one)
    whole = judged(right, "attention", budget=1e5)
    assert whole.cases == whole.planned == len(cases) and not whole.untried
    took, number = clock.now, len(cases)
    report = judged(right, "attention", budget=took + 5)
    assert report.cases == number and len({(c.seed, c.rows) for c in cases[number:]}) == number
    first = 0.0
    report = judged(right, "attention", budget=0.25)
    assert 5 < report.cases < 13 and "2048, 4097" in report.untried and f"not tried: {report.untried}" in str(report)


@pytest.mark.parametrize("share, answers", [(0.0, False), (0.9, True)])
def test_the_time_limit_on_a_busy_machine(monkeypatch, share, answers):
    """A function that takes longer because others have the processor is not given up, one that hangs is."""
    began = time.monotonic()
    monkeypatch.setattr(_waiting, "kept_waiting", lambda: {"thread": share * (time.monotonic() - began)})
    work = lambda: time.sleep(1.2) or "answer"
    if answers:
        assert _waiting.within(0.3, work) == "answer"
    else:
        with pytest.raises(_waiting.Hangs, match="no answer within 0.3 s"):
            _waiting.within(0.3, work)
    assert answers or time.monotonic() - began < 1.2


@pytest.mark.skipif(not _waiting.kept_waiting(), reason="the system does not say how long threads waited")
def test_a_thread_that_shares_its_processor_waits():
    """Beside another program on the same processor a thread waits about as long as it computes."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # of this thread, and of what it starts
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        mine = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        before, began = _waiting.kept_waiting()[mine], time.thread_time()
        while time.thread_time() < began + 0.5:
            pass
        assert _waiting.kept_waiting()[mine] > before + 0.1
    finally:
        os.sched_setaffinity(0, cpus)
        other.kill()
        other.wait()


STOPPED = """
import sys, time
from seqmix import _waiting

def work():
    print("at work", flush=True)
    while time.thread_time() < 1.0:
        pass
    return "answer"

print(_waiting.within(2.0, work), flush=True)
"""


def test_a_process_that_is_stopped():
    """Five seconds of SIGSTOP are none of the layer's two."""
    with subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "at work\n"
        other.send_signal(signal.SIGSTOP)
        time.sleep(5)
        other.send_signal(signal.SIGCONT)
        said, failed = other.communicate(timeout=120)
    assert said == "answer\n", failed


def test_what_the_wrong_cases_share(monkeypatch):
    monkeypatch.setattr(_judged, "ENOUGH", 12)
    report = judged(planted.wrong("attention", *planted.before_return("if q.shape[0] == 3: y = y * 1.01")), "attention", budget=8)
    assert report.only == "batch = 3" and "wrong only where batch = 3" in str(report)
    assert "the reference times 1.01" in str(report)


# (Products are summed in float32: where a processor has no AVX-512, PyTorch 1.13 sums them in bfloat16.)
EACH_ROUNDED = planted.wrong("attention", "q @ k.mT", "(q.float() @ k.mT.float()).to(q.dtype)", ("w @ v", "(w.float() @ v.float()).to(v.dtype)"))
LOW = {
    "in float32": (in_float32(right), True),
    "each result rounded": (EACH_ROUNDED, True),
    "logits off by two percent": (in_float32(lambda q, k, v: right(1.02 * q, k, v)), False),
    "gradient of v off by a tenth in its last fifth": (in_float32(planted.wrong("attention", "w @ v", "w @ grad(v, lambda g: rows(g, -(L // 5 + 1), None, 1.1))")), False),
    "result off by two percent in one head": (in_float32(planted.wrong("attention", *planted.before_return("y = torch.cat((y[:, :-1], y[:, -1:] * 1.02), 1)"))), False),
}


@pytest.mark.parametrize("name", LOW)
def test_bfloat16(name):
    """By maximum alone the wrong ones pass; the root of the mean square tells them. (A wrong layer is judged up to its
    first wrong case, so a large budget costs nothing.)"""
    function, passes = LOW[name]
    report = judged(function, "attention", dtype="bf16", budget=1 if passes else 60)
    assert bool(report) == passes, str(report)


def test_gates_in_bfloat16():
    """Their gradient is judged, if not in every case, and the report says in how many it is not."""
    report = judged(in_float32(planted.right("gla")), "gla", dtype="bf16", budget=3)
    unjudged, by_largest, cases = report.sensitive.get("d_g", (0, 0, report.cases))
    assert report and "d_g" in report.worst and 2 * (unjudged + by_largest) < cases
    for name, told in report.sensitive.items():
        assert not told[0] or re.search(rf"not judged, as .*\b{name} in {told[0]} of {told[2]} cases", str(report)), str(report)
    tenth = "grad(g[:, :, t], lambda d, by=1.1 if t >= L - L // 5 else 1: d * by)"
    report = judged(in_float32(planted.wrong("gla", "g[:, :, t]", tenth)), "gla", dtype="bf16", budget=60)
    assert not report and {f.array for f in report.faults} == {"d_g"}, str(report)


def test_a_state_in_bfloat16_is_told_so(monkeypatch):
    def gla(q, k, v, g):
        state = torch.zeros(*q.shape[:2], q.shape[-1], v.shape[-1], dtype=held or q.dtype)
        rows = []
        for t in range(q.shape[2]):
            state = g[:, :, t].to(state.dtype).exp()[..., None] * state + (k[:, :, t, :, None] * v[:, :, t, None, :]).to(state.dtype)
            rows.append((q[:, :, t, None].to(state.dtype) @ state)[:, :, 0] * q.shape[-1] ** -0.5)
        return torch.stack(rows, 2).to(q.dtype)

    monkeypatch.setattr(_judged, "ENOUGH", 12)
    told = dict(dtype="bf16", budget=20)
    held = torch.float32
    assert judged(gla, "gla", **{**told, "budget": 1})
    held = None
    report = judged(gla, "gla", **told)
    assert not report and "the error grows along the rows" in str(report), str(report)


def numbers_of(form):
    """Every finite number of the format, decoded from its bits, in order."""
    exponent, fraction = {"e4m3": (4, 3), "e5m2": (5, 2), "f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10)}[form]
    code = np.arange(2 ** (exponent + fraction))
    e, f = code >> fraction, code & 2**fraction - 1
    bias = 2 ** (exponent - 1) - 1
    x = np.where(e > 0, 2.0 ** (e - bias) * (1 + f / 2**fraction), 2.0 ** (1 - bias) * f / 2**fraction)
    x = x[:-1] if form == "e4m3" else x[e < 2**exponent - 1]  # NaN; infinity and NaN
    return np.concatenate((-x[:0:-1], x))


@pytest.mark.parametrize("form", ["e4m3", "e5m2", "f16", "bf16", "tf32"])
def test_rounding(form):
    """Each number of the format stays, what lies half-way between two becomes the even one, a hair off it the nearer."""
    from seqmix._formats import FORMATS, rounded

    x = numbers_of(form)
    assert x[-1] == FORMATS[form].most and x[x > 0][0] == 2.0 ** FORMATS[form].last
    assert (rounded(x, form) == x).all()
    low, high, at = x[:-1], x[1:], np.arange(x.size - 1) - x.size // 2
    middle = (low + high) / 2
    assert (rounded(middle, form) == np.where(at % 2 == 0, low, high)).all()
    hair = (high - low) * 2.0**-20
    assert (rounded(middle - hair, form) == low).all() and (rounded(middle + hair, form) == high).all()
    assert (rounded(np.array([2 * x[-1], -2 * x[-1], np.inf]), form) == [x[-1], x[0], np.inf]).all()
    if form == "f16":
        many = np.random.default_rng(0).normal(size=100_000) * 2.0 ** np.random.default_rng(1).integers(-26, 14, 100_000)
        assert (rounded(many, form) == many.astype(np.float16)).all()


def in_tf32(x):
    """x as matrix units take it, with x's gradient."""
    from seqmix._formats import rounded

    return x + (torch.tensor(rounded(x.detach().double().numpy(), "tf32")).to(x) - x).detach()


@pytest.mark.parametrize("dtype", ["tf32", "e4m3", "e5m2"])
def test_inputs_of_few_bits(dtype):
    """Right ones in float32 pass, by TF32's products too; one off by two percent in a head does not."""
    right_one = lambda q, k, v: right(in_tf32(q), in_tf32(k), in_tf32(v))
    for function in (in_float32(right), in_float32(right_one)):
        report = judged(function, "attention", dtype=dtype, budget=1)
        assert report and f"as {dtype}" in str(report), str(report)
    wrong, _ = LOW["result off by two percent in one head"]
    assert not judged(wrong, "attention", dtype=dtype, budget=60)  # the 24th case tells it
    if dtype == "tf32":
        assert not judged(lambda q, k, v: right(q.bfloat16(), k.bfloat16(), v.bfloat16()).float(), "attention", dtype=dtype, budget=60)


def test_relations():
    """What holds to the bit is measured as 0; what is claimed and does not hold is a fault."""
    told = dict(seeds=1, lengths=(5,))
    report = judged(planted.right("gla"), "gla", bits=True, **told)
    assert report and report.bits == dict.fromkeys(["later", "prefix", "padding", "batch", "order", "pieces", "decode"], 0.0)
    for edit, name in (
        (("q[:, :, t, None] @ S", "q[:, :, t, None] @ S * (1 + 1e-6 * L)"), "prefix"),
        (("        a = g", "        if t == 0 and s0 is not None: S = S * (1 + 1e-6)\n        a = g"), "pieces"),
        (("dk**-0.5)", "dk**-0.5 * (1 + 1e-6 * B))"), "batch"),
        (("    y = torch.stack(rows, 2)", "    y = torch.stack(rows, 2) + 1e-6 * v.mean((2, 3), keepdim=True)"), "later"),
        (("    y = torch.stack(rows, 2)", "    y = torch.stack(rows, 2) * (1 + 1e-6 * torch.arange(B)[:, None, None, None])"), "order"),
    ):
        function = planted.wrong("gla", *edit)
        report = judged(function, "gla", bits=[name], **told)
        assert not report and report.bits[name] > 0 and "the same bits are claimed" in str(report), name
        assert judged(function, "gla", **told), "without the claim it is within the tolerance"
    with pytest.raises(seqmix.SeqmixError, match="bits has 'decode', which this layer cannot show"):
        judged(right, "attention", bits=["decode"], **told)
    with pytest.raises(seqmix.SeqmixError, match="bits has 'causal'; it may have later, prefix"):
        judged(right, "attention", bits="causal", **told)
