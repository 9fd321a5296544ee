"""Bad input: whatever is handed over, in whatever dtype, shape and layout, gives a result or one sentence,
and the process lives. `make python-fuzz SAN=address,undefined` runs this with the libraries under sanitizers,
and for longer."""
import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import seqmix

EXAMPLES = int(os.environ.get("SEQMIX_FUZZ_EXAMPLES", "60"))
settings.register_profile(
    "ours",
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("ours")

DTYPES = ["f8", "f4", "f2", "i4", "i8", "u1", "?", "c8", "U1", "O", "M8[s]", ">f8", "i2"]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)


@st.composite
def arrays(draw):
    """Any array, also strided, reversed, read-only, broadcast; numbers that are not finite among them."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(SHAPES)
    if dtype in ("O", "U1", "M8[s]"):
        a = np.empty(shape, dtype)
    else:
        a = np.resize(
            np.array(
                draw(st.lists(st.sampled_from([0, 1, -1, 2.5, 1e30, -3, 7]), min_size=1, max_size=4))
            ).astype(dtype),
            shape,
        )
        if a.dtype.kind == "f" and a.size and draw(st.booleans()):
            a[(0,) * a.ndim] = draw(st.sampled_from([np.nan, np.inf, -np.inf, 1e-310]))
    how = draw(st.integers(0, 4))
    if how == 1:
        a = a.T
    elif how == 2 and a.ndim:
        a = a[::-1]
    elif how == 3 and a.ndim:
        a = np.repeat(a, 2, 0)[::2]
    elif how == 4:
        a = np.broadcast_to(a, (draw(st.integers(1, 2)), *a.shape))
    return a


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([2**31, 2**62, -(2**70), 10**400]),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(
        [
            "head",
            "channel",
            "retention",
            "rms",
            "carry",
            "multi_head",
            "bhld",
            "\0",
            "\ud800",
            "%00",
            "&",
            "~",
        ]
    ),
)
VALUES = st.one_of(arrays(), SCALARS, st.lists(st.floats(allow_nan=False), max_size=3), st.just(object()))
NAMES = seqmix.ref.names()


def lives(act):
    """A result, or one sentence."""
    try:
        act()
    except seqmix.SeqmixError as error:
        assert str(error) and "\n" not in str(error)


@given(st.data())
def test_the_oracle(data):
    m = getattr(seqmix.ref, data.draw(st.sampled_from(NAMES)))
    inputs = {n: data.draw(arrays()) for n in m.inputs if data.draw(st.integers(0, 5))}
    params = {
        n: data.draw(SCALARS) for n in m.params if n not in m.inputs and not data.draw(st.integers(0, 3))
    }
    layout = data.draw(st.sampled_from(["bld", "bhld", "blhd", "x"]))
    if data.draw(st.booleans()):
        lives(lambda: m(**inputs, **params, layout=layout))
    else:
        lives(lambda: m.value_and_grad(**inputs, **params, dy=data.draw(arrays()), layout=layout))


@given(st.data())
def test_the_oracle_of_shapes_that_nearly_fit(data):
    m = getattr(
        seqmix.ref, data.draw(st.sampled_from([n for n in NAMES if n not in ("sinusoidal", "las_alphas")]))
    )
    inputs = seqmix.testing.draw(m.name, data.draw(st.integers(0, 3)), data.draw(st.sampled_from([4, 8, 12])))
    params = {n: v for n, v in inputs.pop("params").items() if n not in inputs}
    victim = data.draw(st.sampled_from(sorted(inputs)))
    a, how = inputs[victim], data.draw(st.integers(0, 4))
    if a.ndim:
        axis = data.draw(st.integers(0, a.ndim - 1))
        wrong = [
            np.delete(a, 0, axis),
            np.concatenate((a, a), axis),
            a[None],
            np.swapaxes(a, 0, -1),
            a[..., None],
        ][how]
        inputs[victim] = wrong
    if params and data.draw(st.booleans()):
        params[data.draw(st.sampled_from(sorted(params)))] = data.draw(SCALARS)
    dy = inputs.pop("dy", None)
    params = {seqmix.ref._python_name(n): v for n, v in params.items()}
    lives(lambda: m.value_and_grad(**inputs, **params, dy=dy) if m.has_gradient else m(**inputs, **params))


KEYS = [
    "mixer",
    "task",
    "length",
    "width",
    "heads",
    "seed",
    "filter",
    "batch",
    "threads",
    "rate",
    "steps",
    "eq",
    "classes",
    "nonsense",
    "v",
]


@given(st.dictionaries(st.sampled_from(KEYS), SCALARS, max_size=4), st.text(max_size=12))
def test_configs(keys, text):
    small = {"mixer": "cat", "task": "mqar", "length": 16, "vocab": 16, "pairs": 2, "width": 8, "batch": 2}
    big = [v for v in keys.values() if isinstance(v, int) and v > 9]
    if big and all(abs(v) < 2**40 for v in big):
        return  # as long as memory lasts
    lives(lambda: seqmix.Run({**small, **keys}).step(1))
    lives(lambda: seqmix.Run(text))
    lives(lambda: seqmix.Run.load(text.encode("utf-8", "replace")))


OWN = {
    kind: seqmix.Run("task=own&mixer=attention&length=3&width=8&heads=1&batch=2", **keys)
    for kind, keys in (
        ("rows", dict(channels=2, classes=3)),
        ("tokens", dict(channels=0, vocab=5, classes=2, answers="one")),
        ("numbers", dict(channels=1, classes=0)),
    )
}


@given(st.sampled_from(sorted(OWN)), VALUES, VALUES)
def test_data_of_ones_own(kind, inputs, targets):
    run = OWN[kind]
    before = run.digest
    for act in (run.evaluate_on, run.step_on):
        lives(lambda: act(inputs, targets))
    lives(lambda: run.predict(inputs))
    assert isinstance(run.digest, str) and (run.digest == before or run.metrics.step)


@given(SCALARS, SCALARS)
def test_numbers(a, b):
    run = OWN["rows"]
    small = lambda n: not (isinstance(n, int) and 9 < n < 2**53)
    for act in (lambda: run.look(a, length=b), lambda: run.evaluate(a, b), lambda: run.look(a, b)):
        if small(a) and small(b):
            lives(act)
    lives(lambda: a.__class__ is bytes or seqmix.Run.load(a) if not isinstance(a, str) else None)
    for name in (a, b):
        assert name not in run.tensors or isinstance(name, str)


@given(st.binary(max_size=200))
def test_checkpoints(noise):
    good = OWN["rows"].save()
    at = len(noise) * 37 % len(good)
    lives(lambda: seqmix.Run.load(good[:at] + noise + good[at + len(noise) :]))
    lives(lambda: seqmix.Run.load(noise))


@given(VALUES, VALUES)
def test_assert_close(a, b):
    try:
        lives(lambda: seqmix.testing.assert_close(a, b))
    except AssertionError:
        pass


torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")
import seqmix.torch as kernels  # noqa: E402

TORCH_DTYPES = [torch.float32] * 4 + [
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.bool,
    torch.complex64,
]
WIDE = {
    "attention": 3,
    "las_attention": 3,
    "linear_attention": 3,
    "landmark_attention": 4,
    "cat_attention": 8,
    "conv1d": 2,
    "long_conv": 3,
    "iir": 2,
    "ema": 6,
    "selective_scan": 6,
    "s4d": 6,
    "gated_linear_attention": 6,
    "gated_delta_rule": 6,
    "unit_rows": 1,
    "taylor_attention": 3,
    "lstm": 3,
    "gru": 4,
}


@st.composite
def tensors(draw, shapes):
    t = torch.randn(draw(shapes)).to(draw(st.sampled_from(TORCH_DTYPES)))
    how = draw(st.integers(0, 4))
    if how == 1 and t.dim() > 1:
        t = t.transpose(0, -1)
    elif how == 2:
        t = t.expand(2, *t.shape)
    elif how == 3 and t.dim():
        t = t.repeat_interleave(2, -1)[..., ::2]
    if t.is_floating_point() and draw(st.booleans()):
        t.requires_grad_()
    return t


@given(st.data())
def test_the_kernels(data):
    name = data.draw(st.sampled_from(sorted(WIDE)))
    shapes = st.one_of(SHAPES, st.sampled_from([(2, 2, 4, 4), (2, 4, 4), (4, 2), (4,), (2, 2, 4, 4, 2)]))
    given_ = [data.draw(st.one_of(tensors(shapes), tensors(shapes), SCALARS)) for _ in range(WIDE[name])]
    more = {
        n: data.draw(SCALARS)
        for n in ("heads", "layout", "window", "chunk", "sliding", "future", "mode", "block", "scale")
        if not data.draw(st.integers(0, 4))
    }
    if name == "landmark_attention":
        more.setdefault("block", 2)

    def act():
        try:
            y = getattr(kernels, name)(*given_, **more)
        except TypeError as error:
            assert (
                "unexpected keyword" in str(error)
                or "multiple values" in str(error)
                or "hashable" in str(error)
            ), error
            return
        y = y[0] if isinstance(y, tuple) else y
        assert y.dtype is torch.float32
        if y.requires_grad:
            y.sum().backward()

    lives(act)


def test_a_second_thread_everywhere():
    """Threads that share a run, tensors and the oracle."""
    run, errors = OWN["rows"], []
    q = torch.randn(3, 2, 30, 8, requires_grad=True)

    def work():
        for _ in range(20):
            try:
                run.evaluate(4)
            except seqmix.SeqmixError:
                pass
            except BaseException as error:
                errors.append(error)
            kernels.attention(q, q, q).sum().backward()
            seqmix.ref.softmax_attention_qkv(np.ones((5, 4)), np.ones((5, 4)), np.ones((5, 4)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


@given(st.data())
def test_states(data):
    """Whatever is asked of a state: a result, or one sentence; afterwards it reads on."""
    kind = data.draw(st.sampled_from(["mqar&vocab=16&pairs=2", "smnist", "charlm"]))
    length = 28 if kind == "smnist" else 32
    run = seqmix.Run(f"mixer=linear&task={kind}&length={length}&width=8&batch=2&position=none")
    state = run.state(data.draw(st.sampled_from([1, 2])), 64)
    for _ in range(4):
        value, other = data.draw(VALUES), data.draw(SCALARS)
        act = data.draw(
            st.sampled_from(
                [
                    lambda: state.push(value),
                    lambda: state.push([[other] * 3] * state.form.sequences),
                    lambda: state.odds(other),
                    lambda: state.draw(temperature=other, top_k=3),
                    lambda: state.draw(top_p=other, seed=data.draw(SCALARS)),
                    lambda: run.state(other, data.draw(st.sampled_from([0, 1, 64]))),
                    lambda: run.state(saved=value),
                    lambda: run.state(saved=state.save()[: data.draw(st.integers(0, 90))] + b"x"),
                    lambda: run.generate(value, 2),
                    lambda: run.generate(other, 2, temperature=0),
                ]
            )
        )
        lives(act)
    assert state.copy().form == state.form
