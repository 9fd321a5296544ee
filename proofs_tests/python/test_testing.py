"""seqmix.testing: what is right passes, every planted fault fails, and the report says what kind of fault it
is."""
import numpy as np
import pytest

import seqmix
from seqmix import _judged
from seqmix.testing import assert_close, check_layer, draw, tolerances

torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")
rng = np.random.default_rng(1)


def heads_of(x, H):
    return x.unflatten(-1, (H, -1)).transpose(-3, -2)


def joined(x):
    return x.transpose(-3, -2).flatten(-2)


def weights(q, k, diagonal=1, scale=None, decay=1.0):
    L, d = q.shape[-2:]
    s = q @ k.transpose(-1, -2) * (d**-0.5 if scale is None else scale) * decay
    return s.masked_fill(torch.ones(L, L).triu(diagonal).bool(), -torch.inf).softmax(-1)


def attention(q, k, v, H, diagonal=1, scale=None):
    q, k, v = (heads_of(x, H) for x in (q, k, v))
    return joined(weights(q, k, diagonal, scale) @ v)


def las(q, k, v, H, P, end=0):
    """[LaS] Eq. 4, trailing pooling."""
    q, k, v = (heads_of(x, H) for x in (q, k, v))
    L = q.shape[-2]
    alphas = torch.tensor(seqmix.ref.las_alphas(H=H, B=2.0)).to(q)
    at = torch.arange(L)
    decay = (-alphas[:, None, None] * (at[:, None] - at).clamp(min=0)).exp()
    v = torch.nn.functional.pad(v, (0, 0, P - 1, 0)).unfold(-2, P, 1).sum(-1) / P
    return joined(weights(q, k, decay=decay) @ v)


def linear(q, k, v, H):
    q, k, v = (heads_of(x, H) for x in (q, k, v))
    return joined((q @ k.transpose(-1, -2)).tril() @ v)


def cat(x, wq, wk, wv, wo, filter_q, H):
    """[CAT] Def. 1: one filter a head, over all channels."""
    W = filter_q.shape[1]
    past = torch.nn.functional.pad(x, (0, 0, W - 1, 0)).unfold(-2, W, 1)  # [...][L][D][W]
    filtered = torch.einsum("...ldw,hw->...hld", past, filter_q.flip(-1))
    q = torch.einsum("...hld,dhe->...hle", filtered, wq.unflatten(1, (H, -1)))
    return joined(weights(q, heads_of(x @ wk, H)) @ heads_of(x @ wv, H)) @ wo


QUICK = dict(seeds=2, lengths=(1, 17, 70))
RIGHT = {
    "softmax_attention_qkv": (attention, dict(H=4, D=32)),
    "las_attention_qkv": (las, dict(H=4, D=32, P=5)),
    "linear_attention": (linear, dict(H=2)),
    "cat_attention": (cat, dict(H=2, W=3)),
    "mlp": (
        lambda x, w1, b1, w2, b2: torch.nn.functional.gelu(x @ w1 + b1, approximate="tanh") @ w2 + b2,
        {},
    ),
    "cross_entropy": (
        lambda logits, target: torch.nn.functional.cross_entropy(logits, target, ignore_index=-1).reshape(1),
        {},
    ),
    "layer_norm": (lambda x, gain, bias: torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias), {}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    function, params = RIGHT[name]
    batch = () if name == "cross_entropy" else (2,)
    report = check_layer(function, name, batch=batch, **QUICK, **params)
    assert report and report.cases == 6 and max(report.worst.values()) < 1
    assert set(report.worst) > {"y"}


def test_right_bhld_and_bf16():
    function = lambda q, k, v: weights(q, k) @ v
    check_layer(function, "softmax_attention_qkv", layout="bhld", H=4, D=32, **QUICK)
    check_layer(function, "softmax_attention_qkv", layout="bhld", H=4, D=32, dtype="bf16", **QUICK)
    check_layer(function, "softmax_attention_qkv", layout="bhld", H=4, D=32, dtype=torch.float64, **QUICK)


def gated_delta(q, k, v, g, beta, s0=None):
    """[B][L][H][d], the gates before beta, as fla's chunk_gated_delta_rule has them."""
    S = q.new_zeros(*(q.shape[i] for i in (0, 2, 3)), v.shape[-1]) if s0 is None else s0
    rows = []
    for t in range(q.shape[1]):
        S = g[:, t].exp()[..., None, None] * S
        error = beta[:, t, :, None] * (v[:, t] - (k[:, t, :, None] @ S)[:, :, 0])
        S = S + k[:, t, :, :, None] * error[:, :, None]
        rows.append((q[:, t, :, None] @ S)[:, :, 0] * q.shape[-1] ** -0.5)
    return torch.stack(rows, 1), S


def test_blhd_and_arguments_by_name(monkeypatch):
    """Inputs go by name where the function has all of them, in its layout; each way of calling, and pieces."""
    told = dict(layout="blhd", mode="head", raises=False, bits=True)
    plan = _judged.Judged._plan
    calls = lambda self, seed: {c.call: c for c in reversed(plan(self, seed)) if 2 < c.rows < 66}
    monkeypatch.setattr(_judged.Judged, "_plan", lambda self, seed: [*calls(self, seed).values()])
    report = check_layer(gated_delta, "delta_core", budget=600, **told)
    assert report and report.cases == 12 and len(report.bits) == 7 and not any(report.bits.values()), str(report)
    assert set(report.worst) == {"y", "state", *(f"d_{n}" for n in ("q", "k", "v", "beta", "g", "s0"))}
    by_place = lambda q, k, v, beta, gates, s0=None: gated_delta(q, k, v, gates, beta, s0)
    assert check_layer(by_place, "delta_core", budget=600, **told)
    told["bits"] = ()
    heads_first = lambda q, k, v, g, beta: gated_delta(q, k, v, g, beta)[0].transpose(1, 2)
    report = check_layer(heads_first, "delta_core", budget=600, **told)
    assert "another layout? (layout='blhd' was asked for)" in str(report), str(report)
    with pytest.raises(seqmix.SeqmixError, match="argument g, which delta_core has with mode=head or mode=channel or"):
        check_layer(gated_delta, "delta_core", layout="blhd")


class WrongBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return dy.cumsum(-1)


class ScaledBackward(WrongBackward):
    @staticmethod
    def backward(ctx, dy):
        return dy * 0.5


def late(y):
    return torch.cat((torch.zeros_like(y[..., :1, :]), y[..., :-1, :]), -2)


FAULTS = {
    "not causal": (lambda q, k, v, H: attention(q, k, v, H, diagonal=10**6), "causal=false"),
    "no 1/sqrt(d)": (lambda q, k, v, H: attention(q, k, v, H, scale=1), "without the factor 1/sqrt"),
    "one head": (lambda q, k, v, H: attention(q, k, v, 1), "H=1"),
    "exchanged": (lambda q, k, v, H: attention(q, v, k, H), "k and v exchanged"),
    "mask one off": (
        lambda q, k, v, H: attention(q, k, v, H, diagonal=2),
        "looks ahead: row .* changes with row",
    ),
    "mask strict": (
        lambda q, k, v, H: attention(q, k, v, H, diagonal=0),
        "NaN or infinite, the first at .*masked",
    ),
    "detached": (lambda q, k, v, H: attention(q, k.detach(), v, H), "d_k .*all zero: is the graph cut"),
    "twice": (lambda q, k, v, H: 2 * attention(q, k, v, H), "the reference times 2"),
    "late": (lambda q, k, v, H: late(attention(q, k, v, H)), "one row late"),
    "heads in rows": (
        lambda q, k, v, H: heads_of(attention(q, k, v, H), H).reshape(q.shape),
        "heads are laid out before the rows",
    ),
    "shape": (lambda q, k, v, H: heads_of(attention(q, k, v, H), H), "another layout"),
    "backward": (
        lambda q, k, v, H: attention(WrongBackward.apply(q), k, v, H),
        "d_q .*gradient only, the forward pass is right: right in row 0 alone",
    ),
    "half a gradient": (
        lambda q, k, v, H: attention(q, k, ScaledBackward.apply(v), H),
        "d_v .*the reference times 0.5",
    ),
    "half precision": (lambda q, k, v, H: attention(q, k, v, H).half().float(), "within float16's tolerance"),
    "dropout": (
        lambda q, k, v, H: torch.nn.functional.dropout(attention(q, k, v, H), 0.1),
        "two calls .* differ",
    ),
    "a last row": (
        lambda q, k, v, H: attention(q, k, v, H)
        * torch.cat((torch.ones(q.shape[-2] - 1, 1), torch.zeros(1, 1))),
        "only row 39 of 40 is wrong: the last row",
    ),
    "a head": (
        lambda q, k, v, H: joined(
            heads_of(attention(q, k, v, H), H) * torch.tensor([1, 1, 0.9, 1.0])[:, None, None]
        ),
        "only head 2 of 4",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    function, sentence = FAULTS[fault]
    with pytest.raises(AssertionError, match=sentence):
        check_layer(function, "softmax_attention_qkv", H=4, D=32, seeds=1, lengths=(40,))


def test_faults_of_other_mechanisms():
    with pytest.raises(AssertionError, match="pool=trailing"):
        check_layer(las, "las_attention_qkv", H=4, D=32, P=5, pool="none", seeds=1, lengths=(40,))
    with pytest.raises(AssertionError, match="taps of filter_q in reverse order"):
        check_layer(
            lambda x, a, b, c, d, filter_q, H: cat(x, a, b, c, d, filter_q.flip(1), H),
            "cat_attention",
            H=2,
            W=3,
            seeds=1,
            lengths=(17,),
        )
    with pytest.raises(AssertionError, match="wo transposed"):
        check_layer(
            lambda x, a, b, c, d, filter_q, H: cat(x, a, b, c, d.T, filter_q, H),
            "cat_attention",
            H=2,
            W=3,
            seeds=1,
            lengths=(17,),
        )
    # right where it is short: the report says at which lengths it is not
    short = lambda q, k, v, H: linear(q, k, v, H) if q.shape[-2] < 64 else linear(q, k, v, H).roll(1, -1)
    report = check_layer(short, "linear_attention", H=2, seeds=1, lengths=(1, 17, 70), raises=False)
    assert not report and {f.length for f in report.faults} == {70}


def test_sizes_that_nothing_says():
    """Without an argument for a window there is none; another size is that of the first case, and is said."""

    def windowed(rows):
        def function(q, k, v):
            k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
            ago = torch.arange(q.shape[-2])[:, None] - torch.arange(q.shape[-2])
            s = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill((ago < 0) | (ago >= rows), -torch.inf)
            return torch.softmax(s, -1) @ v

        return function

    for where in (dict(seeds=1, lengths=(70,)), dict(budget=0.2)):
        report = check_layer(windowed(10**6), "attn_core", layout="bhld", **where)
        assert report.assumed == {} and "judged with" not in str(report)
        assert "; judged with W=9: " in str(check_layer(windowed(9), "sliding_core", layout="bhld", **where))
        assert not check_layer(windowed(9), "attn_core", layout="bhld", seeds=1, lengths=(70,), raises=False)
        report = check_layer(windowed(8), "sliding_core", layout="bhld", raises=False, **where)
        assert not report and "\n  judged with W=9: " in str(report)
        report = check_layer(windowed(8), "sliding_core", layout="bhld", W=8, **where)
        assert report.assumed == {}


def test_a_function_that_gives_no_tensor():
    with pytest.raises(seqmix.SeqmixError, match="must return the tensor y"):
        check_layer(lambda q, k, v: None, "linear_attention", seeds=1)


def test_nothing_judged_is_not_right():
    for nothing in [{"seeds": 0}, {"lengths": ()}]:
        with pytest.raises(seqmix.SeqmixError, match="at least one of each"):
            check_layer(lambda q, k, v: q, "softmax_attention_qkv", **nothing)
    with pytest.raises(seqmix.SeqmixError, match=r"lengths is 5; several are wanted"):
        check_layer(lambda q, k, v: q, "softmax_attention_qkv", lengths=5)


def test_arguments_of_another_kind():
    m = seqmix.ref.softmax_attention_qkv
    assert check_layer(attention, m, H=np.int64(4), D=32, **QUICK)
    for wrong, sentence in (
        (dict(mechanism="names"), "mechanism is 'names'; it must be one of softmax_attention, "),
        (dict(mechanism=5), "mechanism is 5"),
        (dict(batch=2), "batch is 2; several whole numbers"),
        (dict(optional=3), "optional is 3; a list of names is needed, of filter_maps"),
        (dict(seed=-1), "seed is -1"),
        (dict(bits=3), "bits has 3"),
        (dict(budget="soon"), "budget is 'soon'"),
        (dict(time_limit="-1"), "time_limit is -1"),
    ):
        with pytest.raises(seqmix.SeqmixError, match=sentence):
            check_layer(right, **{"mechanism": m, **QUICK, **wrong}, H=4, D=32)
    for name, wrong, sentence in (
        (m.name, dict(seed=-1), "seed is -1"),
        (m.name, dict(seed=1.5), "seed is 1.5"),
        (m.name, dict(batch=2), "batch is 2"),
        (m.name, dict(optional=5), "optional is 5"),
        ("focus_h", dict(n_bins=0), "n_bins must be a whole number"),
        (m.name, dict(heds=4), "heds is no parameter of softmax_attention_qkv; parameters are"),
        ("nothing", {}, "mechanism is 'nothing'"),
    ):
        with pytest.raises(seqmix.SeqmixError, match=sentence):
            draw(name, **wrong)
    assert draw("long_conv", lambda_=0.25)["params"]["lambda"] == 0.25


@pytest.mark.parametrize("layout", ["bhld", "blhd"])
def test_heads_that_do_not_divide(layout):
    with pytest.raises(seqmix.SeqmixError, match="H = 3 does not divide the width 32"):
        check_layer(lambda q, k, v: v, "softmax_attention_qkv", layout=layout, H=3, D=32, seeds=1, lengths=(5,))


def right(q, k, v, H):
    return attention(q, k, v, H)


@pytest.mark.parametrize(
    "options, sentence",
    [
        (dict(optional=["nope"]), r"optional is \['nope'\]; a list of names is needed, of filter_maps"),
        (dict(optional="filter_maps"), "optional is 'filter_maps'; a list of names"),
        (dict(optional=["q"]), r"optional is \['q'\]"),
        (dict(layout="lbd"), "layout is 'lbd'; it must be 'bld', 'bhld' or 'blhd'"),
        (dict(L=5), "L is 5; lengths says how long"),
        (dict(nope=3), "nope is no parameter of"),
        (dict(q=3), "q is an input of softmax_attention_qkv, which is drawn"),
        (dict(dy=3), "dy is an input"),
        (dict(batch=(2, 0)), r"batch is \[2\]\[0\]: it has no sequences"),
        (dict(lengths=(3, 0)), "length is 0"),
        (dict(seeds=1.5), "seeds is 1.5"),
        (dict(dtype="int8"), "dtype is int8"),
    ],
)
def test_options_that_change_nothing_are_refused(options, sentence):
    check_layer(right, "softmax_attention_qkv", H=4, D=32, seeds=1, lengths=(3,))
    with pytest.raises(seqmix.SeqmixError, match=sentence):
        check_layer(right, "softmax_attention_qkv", **{**dict(seeds=1, lengths=(3,)), **options})


def test_a_layout_that_a_mechanism_has_not():
    with pytest.raises(seqmix.SeqmixError, match="layout is 'bhld'; it must be 'bld': mlp has no q, k, v"):
        check_layer(RIGHT["mlp"][0], "mlp", layout="bhld", **QUICK)


def where(wrong):
    """Attention, a hundredth off where `wrong` says so of (q, how many cases came before)."""
    calls = []

    def function(q, k, v, H):
        y = attention(q, k, v, H)
        if q.requires_grad:  # the report's own questions have no gradient
            calls.append(q.detach().clone())
        return y * wrong(q, len(calls) - 1)

    return function, calls


@pytest.mark.parametrize(
    "name, wrong, found",
    [
        ("only in sequence 1", lambda q, n: 1 + 0.01 * torch.tensor([0.0, 1.0])[:, None, None], {(9, 0), (9, 1), (9, 2), (40, 0), (40, 1), (40, 2)}),
        ("only from the second draw on", lambda q, n: 1 + 0.01 * (n % 3 > 0), {(9, 1), (9, 2), (40, 1), (40, 2)}),
        ("only in the last draw", lambda q, n: 1 + 0.01 * (n == 5), {(40, 2)}),
        ("only at the long length", lambda q, n: 1 + 0.01 * (q.shape[1] == 40), {(40, 0), (40, 1), (40, 2)}),
        ("only in the last column", lambda q, n: 1 + 0.01 * torch.eye(32)[31], {(9, 0), (9, 1), (9, 2), (40, 0), (40, 1), (40, 2)}),
    ],
)
def test_what_is_wrong_in_one_place_only_is_found_there(name, wrong, found):
    function, _ = where(wrong)
    report = check_layer(
        function, "softmax_attention_qkv", H=4, D=32, seeds=3, lengths=(9, 40), gradients=False, raises=False
    )
    assert {(f.length, f.seed) for f in report.faults} == found and report.cases == 6


def test_every_case_is_another_draw():
    """Seeds, lengths and the sequences of a batch: no two are alike, and as many are judged as were asked for."""
    function, calls = where(lambda q, n: 1)
    report = check_layer(function, "softmax_attention_qkv", H=4, D=32, lengths=(1, 17), batch=(2, 2))
    assert report.cases == 10  # five seeds where none are said
    drawn = {row.numpy().tobytes() for call in calls for row in call.flatten(0, 1)}
    assert len(drawn) == 10 * 4 and {call.shape for call in calls} == {(2, 2, 1, 32), (2, 2, 17, 32)}
    function, calls = where(lambda q, n: 1)
    check_layer(function, "softmax_attention_qkv", H=4, D=32, seeds=1)
    assert {call.shape[1] for call in calls} == {1, 17, 300, 1025}


def test_a_case_that_only_its_gradient_shows():
    for wrong, name in ((0, "d_q"), (1, "d_k"), (2, "d_v")):

        def function(q, k, v, H, wrong=wrong):
            bent = [ScaledBackward.apply(t) if i == wrong else t for i, t in enumerate((q, k, v))]
            return attention(*bent, H)

        report = check_layer(function, "softmax_attention_qkv", H=4, D=32, seeds=1, lengths=(9,), raises=False)
        assert {f.array for f in report.faults} == {name}


def test_draws_repeat_and_fit_every_format():
    a, b = draw("las_attention", 3, 40, (2, 3)), draw("las_attention", 3, 40, (2, 3))
    assert a["x"].shape == (2, 3, 40, 16) and a["wq"].shape == (16, 16)
    assert all(np.array_equal(a[n], b[n]) for n in a if n != "params")
    assert not np.array_equal(a["x"], draw("las_attention", 4, 40, (2, 3))["x"])
    assert torch.equal(torch.tensor(a["x"]).bfloat16().double(), torch.tensor(a["x"]))


@pytest.mark.parametrize("name", seqmix.ref.names())
def test_every_mechanism_can_be_drawn_and_run(name):
    m = getattr(seqmix.ref, name)
    inputs = draw(name, 1, 32)
    params = {n: v for n, v in inputs.pop("params").items() if n not in inputs}
    if m.has_gradient and "dy" in inputs:
        value, slopes = m.value_and_grad(**inputs, **params)
        assert slopes and all(np.isfinite(s).all() for s in slopes.values())
    else:
        inputs.pop("dy", None)
        m(**inputs, **params)


def test_assert_close():
    theirs = np.linspace(-3, 3, 7)
    assert_close(theirs.astype(np.float32), theirs)
    assert_close(theirs * (1 + 2**-7), theirs, dtype="bf16")
    assert_close(torch.tensor(theirs).bfloat16(), theirs)
    assert_close(theirs + 2.9e-12, theirs, "float64")
    assert tolerances() == {"f64": 1e-12, "f32": 2e-5, "f16": 2**-8, "bf16": 2**-5}
    for wrong, dtype, sentence in (
        (theirs * (1 + 2**-7), "f32", "not within f32's tolerance"),
        (theirs + 3.1e-12, "f64", "is past it|are past it"),
        (np.where(theirs == 0, np.nan, theirs), "bf16", r"at \[3\] it is nan"),
        (np.where(theirs == 0, np.inf, theirs), "bf16", "inf"),
        (theirs[None], "f32", r"shape \[1\]\[7\]; the reference has \[7\]"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            assert_close(wrong, theirs, dtype)
    with pytest.raises(AssertionError, match="within f64's"):
        assert_close([1.0], [1.0 + 1e-9])  # a list is of float64
    tolerances()["f32"] = 1.0  # its caller's own
    assert tolerances()["f32"] == 2e-5
    with pytest.raises(seqmix.SeqmixError, match="dtype is f8"):
        assert_close(theirs, theirs, "f8")
    with pytest.raises(AssertionError):
        assert_close(np.array([1e-30]), np.zeros(1))  # a scale of zero allows nothing
    # what judges nothing is no verdict
    tensor = torch.tensor(theirs)
    for mine, other, tol, sentence in (
        ([], [], None, r"shape \[0\]: it holds nothing"),
        (np.zeros((0, 3)), np.zeros((0, 3)), None, r"shape \[0\]\[3\]"),
        (theirs, theirs, None, "compared with itself"),
        (theirs[:], theirs, None, "compared with itself"),
        (tensor, tensor.detach(), None, "compared with itself"),
        (5 * theirs, theirs, 1e300, r"tol is 1e\+300; 0 to below 1"),
        (theirs + 1, theirs, float("nan"), "tol is nan"),
        (theirs + 1, theirs, -1, "tol is -1"),
    ):
        with pytest.raises(seqmix.SeqmixError, match=sentence):
            assert_close(mine, other, "f64", tol)
    assert_close(theirs.copy(), theirs, "f64", 0)
    assert_close(theirs * 1.4, theirs, tol=0.5)
    with pytest.raises(AssertionError):
        assert_close(theirs * 1.4, theirs, tol=0.3)


def test_the_fixture(seqmix_oracle):
    q = rng.standard_normal((2, 9, 8))
    seqmix_oracle.assert_close(
        attention(*[torch.tensor(q)] * 3, 2), seqmix_oracle.ref.softmax_attention_qkv(q, q, q, H=2)
    )
    seqmix_oracle.check_layer(linear, "linear_attention", H=2, seeds=1, lengths=(5,))
