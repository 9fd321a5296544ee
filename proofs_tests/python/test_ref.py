"""seqmix.ref: the oracle in Python is the oracle of the program: every case of the set of test vectors,
outputs, intermediates and gradients; batches, layouts, names; and what does not fit is refused in one
sentence."""
import copy
import inspect
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import seqmix

VECTORS = Path(__file__).parents[1] / "vectors"
ARRAYS = VECTORS / "arrays.safetensors"
MANIFEST = json.loads((VECTORS / "manifest.json").read_text())
CASES = {case["name"]: case for case in MANIFEST["cases"]}
rng = np.random.default_rng(1)


def load(arrays):
    """Arrays of one case: CASE.NAME.npy is tensor CASE.NAME of arrays.safetensors."""
    bytes_ = ARRAYS.read_bytes()
    begin = 8 + int.from_bytes(bytes_[:8], "little")
    header = json.loads(bytes_[8:begin])
    found = {}
    for name, a in arrays.items():
        start, end = header[a["file"].removesuffix(".npy")]["data_offsets"]
        found[name] = np.frombuffer(bytes_[begin + start : begin + end], a["dtype"]).reshape(a["shape"])
    return found


def known(mechanism, case):
    """Of a manifest's parameters those that the oracle has, the others are remarks; its mode where that is a
    parameter."""
    params = {
        name: value
        for name, value in case["params"].items()
        if name in mechanism.params and name not in case["inputs"]
    }
    if case.get("mode") in mechanism.params.get("mode", {"type": ""})["type"].split("|"):
        params.setdefault("mode", case["mode"])
    return {seqmix.ref._python_name(name): value for name, value in params.items()}


def test_every_mechanism_of_the_set_is_here():
    assert {case["mechanism"] for case in CASES.values()} <= set(seqmix.ref.names())
    assert len(seqmix.ref.names()) >= 31
    assert set(seqmix.ref.names()) <= set(dir(seqmix.ref))


@pytest.mark.parametrize("name", CASES)
def test_vectors(name):
    case = CASES[name]
    mechanism = getattr(seqmix.ref, case["mechanism"])
    inputs = load(case["inputs"])
    dy = inputs.pop("dy", None)
    given = {**inputs, **known(mechanism, case)}
    found = mechanism.parts(**given)
    for part in ("outputs", "intermediates"):
        for array, right in load(case.get(part, {})).items():
            seqmix.testing.assert_close(
                found[array], right, "f64", tol=MANIFEST.get("f64_tol", 1e-12), name=array
            )
            assert found[array].dtype == np.float64
    if not case.get("gradients"):
        return
    value, slopes = mechanism.value_and_grad(**given, dy=dy)
    y = value if isinstance(value, np.ndarray) else value.y
    assert np.array_equal(y, found["y"])
    gradients = load(case["gradients"])
    assert slopes.keys() == {array.removeprefix("d_") for array in gradients}
    for array, right in gradients.items():
        error, scale = abs(slopes[array.removeprefix("d_")] - right).max(), case["gradients"][array]["scale"]
        assert error <= 1e-12 * scale, array


def test_short_names_and_positions():
    x, *w = rng.standard_normal((5, 9, 9))
    whole = seqmix.ref.cat_attention(x, *w, filter_q=np.ones((3, 2)), H=3)
    assert np.array_equal(whole, seqmix.ref.cat(x, *w, np.ones((3, 2)), H=3))
    with pytest.raises(AttributeError, match="no mechanism dog"):
        seqmix.ref.dog


def test_a_batch_is_its_sequences_and_weights_are_summed():
    x, dy = rng.standard_normal((2, 3, 2, 11, 8))
    w = rng.standard_normal((4, 8, 8))
    f = rng.standard_normal((2, 3))
    y, slopes = seqmix.ref.cat.value_and_grad(x, *w, filter_k=f, H=2, dy=dy)
    one = [
        [seqmix.ref.cat.value_and_grad(x[i, j], *w, filter_k=f, H=2, dy=dy[i, j]) for j in range(2)]
        for i in range(3)
    ]
    assert y.shape == (3, 2, 11, 8)
    assert all(
        np.array_equal(y[i, j], one[i][j][0]) and np.array_equal(slopes["x"][i, j], one[i][j][1]["x"])
        for i in range(3)
        for j in range(2)
    )
    for name in ("wq", "filter_k"):
        assert np.allclose(
            slopes[name], sum(one[i][j][1][name] for i in range(3) for j in range(2)), rtol=1e-13, atol=1e-13
        )


def test_layout_bhld_is_bld_with_heads_apart():
    q, k, v, dy = rng.standard_normal((4, 2, 4, 13, 8))

    def flat(a):
        return a.transpose(0, 2, 1, 3).reshape(2, 13, 32)

    y, slopes = seqmix.ref.softmax_attention_qkv.value_and_grad(q, k, v, dy=dy, layout="bhld")
    other, others = seqmix.ref.softmax_attention_qkv.value_and_grad(
        flat(q), flat(k), flat(v), dy=flat(dy), H=4
    )
    assert y.shape == q.shape and np.array_equal(flat(y), other)
    assert all(np.array_equal(flat(slopes[n]), others[n]) for n in "qkv")


# ---- Shapes that kernels have: docs/ORACLE.md's table is what was tried here (SEQMIX_SHAPES=write writes it)
ORACLE = Path(__file__).parents[2] / "docs/ORACLE.md"
BEGIN, END = "<!-- shapes -->\n", "<!-- /shapes -->"
SHAPES = ["grouped", "inverse", "packed", "start state", "window", "soft cap", "sinks", "QK norm", "bhld, blhd", "scale"]
OF_PARAMS = {"window": "window", "soft cap": "softcap", "sinks": "sinks", "QK norm": "q_gain", "scale": "scale"}


def drawn_apart(m):
    """A case of 11 rows, its rows of heads as [2][4][L][d] and [2][4][L], its parameters, and which are apart."""
    heads = {n: 4 for n in ("H", "Hkv", "HV", "Hq", "Hk", "Hv") if n in m.params}
    sizes = {"D": 32} if "D" in m.params and m.has_heads else {}
    onnx = m.name == "linear_attention_core"  # (whose gates' columns, and states, are as many as v's heads)
    sizes = {"mode": "linear"} if onnx else sizes
    given = seqmix.testing.draw(m.name, 3, 11, (2,), not onnx, **heads, **sizes)
    params = {n: v for n, v in given.pop("params").items() if n not in given}
    active = {a.name: seqmix.ref._heads(a.shape) for a in m._active(params) if a.kind == "input"}
    apart = {n: h for n, h in active.items() if h and m.has_heads}
    return {n: seqmix.ref._split(a, apart[n], {**params, "Hkv": 4}) if n in apart else a for n, a in given.items()}, params, apart


def with_fewer(m, given, params, apart, names):
    """Two heads instead of four of these give what each of them twice gives, gradients their sums; or None."""
    few, twice = dict(given), dict(given)
    for n in names:
        at = -3 if apart[n].columns else -2
        few[n] = np.take(given[n], [0, 2], at)
        twice[n] = np.repeat(few[n], 2, at)
    sizes = {n: v for n, v in params.items() if n not in ("Hkv", "HV", "Hq", "Hk", "Hv")}
    try:
        y, slopes = m.value_and_grad(**few, **sizes, layout="bhld")
    except seqmix.SeqmixError:
        return None
    y2, slopes2 = m.value_and_grad(**twice, **sizes, layout="bhld")
    y, y2 = (x if isinstance(x, np.ndarray) else x.y for x in (y, y2))
    assert y.shape == y2.shape and np.allclose(y, y2, rtol=1e-12, atol=1e-12), (m.name, names)
    for n in names:
        summed = slopes2[n].reshape(*(2, 2, 2), *slopes2[n].shape[2:]).sum(2)
        assert np.allclose(slopes[n], summed, rtol=1e-11, atol=1e-11), (m.name, n)
    return True


def as_each_alone(m, given, params, apart):
    """Sequences of 4, 1 and 6 rows in one give what each alone gives."""
    kind = {"layout": "bhld"} if m.has_heads else {}
    row = {n: -2 if n in apart and apart[n].columns or n == "dy" and apart else -1 if n in apart else 1 for n in given}
    steps = {n: params["n"] if n in apart and apart[n].stepped else 1 for n in given}
    rows = {n for n in given if any(a.name == n and a.shape.startswith("L ") for a in m._arrays)}
    states = {n for n in given if n not in rows and any(a.name == n and a.sequence for a in m._arrays)}
    many = {n: np.stack([a * s for s in (1.0, 0.5, -0.25)], 1) if n in states else a for n, a in given.items()}
    y, slopes = m.value_and_grad(**many, **params, **kind, cu=[0, 4, 5, 11])
    y = [y] if isinstance(y, np.ndarray) else y
    weights = {n: 0 for n in given if n not in rows | states}
    for i, (first, last) in enumerate([(0, 4), (4, 5), (5, 11)]):
        part = lambda n: range(first * steps[n], last * steps[n])  # noqa: B023
        one = {n: np.take(a, part(n), row[n]) if n in rows else a for n, a in many.items()}
        one |= {n: many[n][:, i] for n in states}
        sizes = {n: last - first if n == "L" else v for n, v in params.items()}
        z, own = m.value_and_grad(**one, **sizes, **kind)
        for name, a, b in zip(m.outputs, y, [z] if isinstance(z, np.ndarray) else z):
            if b is not None:
                mine = np.take(a, range(first, last), row["dy"]) if name == "y" else a[:, i]
                assert np.array_equal(mine, b), (m.name, name)
        for n, b in own.items():
            if n in weights:
                weights[n] = weights[n] + b
            else:
                mine = np.take(slopes[n], part(n), row[n]) if n in rows else slopes[n][:, i]
                assert np.array_equal(mine, b), (m.name, n)
    for n, total in weights.items():
        assert n not in slopes or np.allclose(slopes[n], total, rtol=1e-12, atol=1e-12), (m.name, n)
    return True


def by_norm(m):
    """With qk_norm, what q and k give whose heads' rows are of that norm."""
    given = seqmix.testing.draw(m.name, 3, 11, (2,))
    params = {n: v for n, v in given.pop("params").items() if n not in given}
    width = params.get("dk") or params.get("d") or params.get("N") or params["D"] // params["H"]
    for norm, share in ("l2", 1), ("rms", width):
        unit = dict(given)
        for n in "qk":
            x = given[n].reshape(*given[n].shape[:2], -1, width)
            unit[n] = (x / np.sqrt((x * x).sum(-1, keepdims=True) / share + 1e-6)).reshape(given[n].shape)
        found = [m.value_and_grad(**x, **params, **more)[0] for x, more in ((given, dict(qk_norm=norm)), (unit, {}), (given, {}))]
        y, same, raw = (x if isinstance(x, np.ndarray) else x.y for x in found)
        assert np.allclose(y, same, rtol=1e-12, atol=1e-12) and not np.allclose(y, raw, atol=1e-3), (m.name, norm)
    return True


def shapes_of(m):
    """Which of SHAPES it has, each tried."""
    if not m.has_gradient:
        return set()
    has = {n for n, names in OF_PARAMS.items() if any(x in m.params or x in m.inputs for x in names.split())}
    has |= {"window"} if m.name == "sliding_core" else set()
    has |= {"QK norm"} if "qk_norm" in m.params and by_norm(m) else set()
    starts = [a for a in m._arrays if a.kind == "input" and a.sequence and a.optional and not a.shape.startswith("L ")]
    has |= {"start state"} if any(a.name in m.inputs for a in starts) else set()
    given, params, apart = drawn_apart(m)
    if m.has_heads and params.get("mode") != "packed":
        flat = {n: seqmix.ref._join(a, apart[n], params) if n in apart else a for n, a in given.items()}
        (y, slopes), (z, _) = m.value_and_grad(**given, **params, layout="bhld"), m.value_and_grad(**flat, **params)
        y, z = (x if isinstance(x, np.ndarray) else x.y for x in (y, z))
        assert np.array_equal(seqmix.ref._join(y, seqmix.ref._Heads("H", "d"), {}), z), m.name
        blhd = {n: seqmix.ref._turned(a, apart[n]) if n in apart else a for n, a in given.items()}
        blhd["dy"] = given["dy"].swapaxes(1, 2)
        x, others = m.value_and_grad(**blhd, **params, layout="blhd")
        assert np.array_equal((x if isinstance(x, np.ndarray) else x.y).swapaxes(1, 2), y), m.name
        for n, b in slopes.items():
            assert np.array_equal(others[n], seqmix.ref._turned(b, apart[n]) if n in apart else b), (m.name, n)
        has |= {"bhld, blhd"}
        written = ["k" if "k" in m.inputs else "g", "v"]  # (HGRN2's gate is its key)
        if apart.keys() >= {*written} and with_fewer(m, given, params, apart, written):
            has |= {"grouped"}
        first = "r" if "r" in apart else "q"
        if first in apart and with_fewer(m, given, params, apart, [first]):
            has |= {"inverse"}
    if m._packs and as_each_alone(m, given, params, apart):
        has |= {"packed"}
    return has


def test_shapes():
    rows = []
    for name in seqmix.ref.names():
        m = getattr(seqmix.ref, name)
        has = shapes_of(m)
        if m.has_heads or "start state" in has:
            rows.append(f"| `{name}` | " + " | ".join("yes" if s in has else "-" for s in SHAPES) + " |\n")
    head = f"| | {' | '.join(SHAPES)} |\n|---{'|---' * len(SHAPES)}|\n"
    whole = ORACLE.read_text()
    table = whole[whole.index(BEGIN) + len(BEGIN) : whole.index(END)]
    if os.environ.get("SEQMIX_SHAPES") == "write":
        ORACLE.write_text(whole.replace(BEGIN + table, BEGIN + head + "".join(rows)))
        table = head + "".join(rows)
    assert table == head + "".join(rows)


def test_layout_bhld_of_gates():
    q, k = rng.standard_normal((2, 2, 3, 9, 4))
    v, g = rng.standard_normal((2, 3, 9, 6)), -rng.random((2, 3, 9))
    y, state = seqmix.ref.gla_core(q, k, v, g, mode="head", layout="bhld")
    assert y.shape == (2, 3, 9, 6) and state.shape == (2, 3, 4, 6)
    s = np.zeros((2, 3, 4, 6))
    for t in range(9):
        s = s * np.exp(g[..., t])[..., None, None] + k[..., t, :, None] * v[..., t, None, :]
        assert np.allclose(y[..., t, :], np.einsum("bhkv,bhk->bhv", s, q[..., t, :]) / 2)
    assert np.allclose(state, s)


def test_grad_of_dy():
    q, k, v, dy = rng.standard_normal((4, 7, 4))
    slopes = seqmix.ref.linear_attention.grad(dy)(q, k, v, normaliser="rms")
    step = 1e-6
    moved = q.copy()
    moved[3, 2] += step
    ahead = (seqmix.ref.linear_attention(moved, k, v, normaliser="rms") * dy).sum()
    moved[3, 2] -= 2 * step
    behind = (seqmix.ref.linear_attention(moved, k, v, normaliser="rms") * dy).sum()
    assert abs((ahead - behind) / (2 * step) - slopes["q"][3, 2]) < 1e-6


def test_integers_and_a_single_number():
    logits, target = rng.standard_normal((6, 5)), [0, 4, -1, 2, 2, 1]
    loss, slopes = seqmix.ref.cross_entropy.value_and_grad(logits, target)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert np.allclose(loss, -np.mean([np.log(p[i, t]) for i, t in enumerate(target) if t >= 0]))
    assert not slopes["logits"][2].any()


def test_tensors_of_any_dtype():
    torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")
    q = torch.randn(2, 9, 8)
    exact = seqmix.ref.softmax_attention_qkv(q.bfloat16(), q.bfloat16(), q.bfloat16().requires_grad_(), H=2)
    same = q.bfloat16().double().numpy()
    assert np.array_equal(exact, seqmix.ref.softmax_attention_qkv(same, same, same, H=2))


def test_memory_that_is_not_plain():
    apart = np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not apart.flags.aligned and seqmix._arrays.reals(apart, "x").flags.aligned
    whole = seqmix._arrays.reals(X, "x")
    assert whole is X or np.shares_memory(whole, X)  # and is not copied where it need not be
    for a in (X.astype(np.float32), X[::-1], X.T.copy().T, np.broadcast_to(1.0, X.shape), X.astype(">f8"), X.astype(int)):
        assert np.array_equal(seqmix._arrays.reals(a, "x"), X)
    masked = np.ma.array(X, mask=X > 0)
    for read in (seqmix._arrays.reals, seqmix._arrays.integers):
        with pytest.raises(seqmix.SeqmixError, match="x is a masked array"):
            read(masked, "x")


def test_what_is_sent_to_another_process():
    m = seqmix.ref.delta_core
    given = seqmix.testing.draw("delta_core", 1, 5)
    del given["dy"]
    result = m(**{n: a for n, a in given.items() if n != "params"}, **given["params"])
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(copied) is type(result) and np.array_equal(copied.y, result.y)
    assert pickle.loads(pickle.dumps(m)) is m and copy.deepcopy(m) is m


def test_documentation_says_what_it_takes():
    for name in seqmix.ref.names():
        m = getattr(seqmix.ref, name)
        assert all(array in m.__doc__ for array in m.inputs) and m.source in m.__doc__
        assert list(inspect.signature(m).parameters)[: len(m.inputs)] == m.inputs
        assert all(seqmix.ref._python_name(p) in inspect.signature(m).parameters for p in m.params)


X, W = np.ones((5, 4)), np.ones((4, 4))
REFUSED = {
    "missing": (lambda r: r.cat(X), "wq is missing"),
    "too many": (lambda r: r.softmax_attention_qkv(*[X] * 9), "takes 4 inputs"),
    "unknown": (lambda r: r.cat(X, W, W, W, W, filter_z=W), "no input or parameter filter_z"),
    "twice": (lambda r: r.cat(X, W, W, W, W, wq=W), "wq is given twice"),
    "not here": (
        lambda r: r.s4d(
            X, np.ones(4), np.ones((4, 2)), a_im=np.ones((4, 2)), c=np.ones((4, 2)), diagonal="real"
        ),
        "no input a_im",
    ),
    "shape": (lambda r: r.cat(X, W[:3], W, W, W), r"wq has the shape \[3\]\[4\]; it must be \[4\]\[4\]"),
    "heads": (lambda r: r.cat(X, W, W, W, W, H=3), "H = 3 does not divide D = 4"),
    "word": (lambda r: r.las(X, W, W, W, W, pool="soft"), "pool is soft; it must be one of"),
    "number": (lambda r: r.las(X, W, W, W, W, P=0), "P must be a whole number"),
    "infinite": (lambda r: r.las(X, W, W, W, W, B=np.inf), "the parameter B is inf"),
    "object": (lambda r: r.las(X, W, W, W, W, P=object()), "the parameter P is <object"),
    "complex": (lambda r: r.cat(X + 1j, W, W, W, W), "x holds complex128"),
    "text": (lambda r: r.cat(np.array(["a"]), W, W, W, W), "x holds <U1"),
    "ragged": (lambda r: r.cat([[1.0], [2.0, 3.0]], W, W, W, W), "x "),
    "floats for classes": (lambda r: r.cross_entropy(X, np.full(5, 0.5)), "target holds 0.5; integers"),
    "beyond 32 bits": (lambda r: r.cross_entropy(X, np.full(5, 2**40)), "1099511627776"),
    "batches": (
        lambda r: r.softmax_attention_qkv(np.ones((2, 5, 4)), np.ones((3, 5, 4)), X),
        r"batch \[3\].*\[2\]",
    ),
    "no batch": (lambda r: r.softmax_attention_qkv(np.ones((0, 5, 4)), X, X), "no entries"),
    "dy without batch": (
        lambda r: r.softmax_attention_qkv.value_and_grad(*[np.ones((2, 5, 4))] * 3, dy=X),
        "dy has no batch",
    ),
    "dy in a call": (lambda r: r.softmax_attention_qkv(X, X, X, dy=X), "value_and_grad"),
    "dy missing": (lambda r: r.softmax_attention_qkv.value_and_grad(X, X, X), "dy is missing"),
    "no gradient": (lambda r: r.sinusoidal.value_and_grad(L=3, D=4), "has no gradient"),
    "layout": (lambda r: r.softmax_attention_qkv(X, X, X, layout="lbd"), "layout is 'lbd'"),
    "layout without heads": (lambda r: r.layer_norm(X, W[0], W[0], layout="bhld"), "takes no"),
    "layout of two dimensions": (
        lambda r: r.softmax_attention_qkv(X, X, X, layout="bhld"),
        r"shape \[5\]\[4\]; layout='bhld' wants",
    ),
    "heads that do not divide": (
        lambda r: r.softmax_attention_qkv(np.ones((4, 5, 2)), *[np.ones((3, 5, 2))] * 2, layout="bhld"),
        "3 heads, which do not divide H = 4, the most that an array has",
    ),
    "heads beyond memory": (
        lambda r: r.softmax_attention_qkv(*[np.ones((1, 5, 2))] * 3, H=2**60, layout="bhld"),
        "not enough memory for . with H = 1152921504606846976",
    ),
    "heads of dy": (
        lambda r: r.softmax_attention_qkv.value_and_grad(*[np.ones((4, 5, 2))] * 3, dy=np.ones((2, 5, 2)), layout="bhld"),
        "dy has 2 heads; it must have H = 4, as y",
    ),
    "packed to too few rows": (lambda r: r.softmax_attention_qkv(X, X, X, cu=[0, 3]), r"cu is \[0, 3\]; it must .* end with L = 5"),
    "packed without rows": (lambda r: r.softmax_attention_qkv(X, X, X, cu=[0, 3, 3, 5]), "cu is .* must begin with 0, rise"),
    "packed numbers": (lambda r: r.softmax_attention_qkv(1.0, X, X, cu=[0, 1]), "q is one number; beside cu"),
    "a number that is none": (lambda r: r.las_attention_qkv(X, X, X, H=2, alphas=[np.nan, 1]), "one is no finite number"),
    "packed filters": (lambda r: r.long_conv(X, np.ones((4, 5)), cu=[0, 5]), "long_conv has no input or parameter cu"),
    "dimensions": (lambda r: r.cat(np.ones((1,) * 30 + (5, 4)), W, W, W, np.ones((1,) * 12)), r"batch|shape"),
    "size by nothing": (lambda r: r.sinusoidal(), "the parameter L is missing"),
    "enormous": (lambda r: r.sinusoidal(L=2**30, D=2**30), "not enough memory|too large"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    act, sentence = REFUSED[what]
    with pytest.raises(seqmix.SeqmixError, match=sentence) as error:
        act(seqmix.ref)
    assert "\n" not in str(error.value)
