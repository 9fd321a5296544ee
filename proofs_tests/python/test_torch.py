"""seqmix.torch: every kernel under autograd against the oracle, forward and backward, at lengths around its
blocks; in every layout, on strided memory without a copy; the same bits with any number of threads; what does
not fit is one sentence."""
import functools
import inspect
import multiprocessing
import time
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")

import seqmix
import seqmix.torch as st
import torch.utils.checkpoint
from seqmix.testing import check_layer
from seqmix.torch import _call

QUICK = dict(seeds=1, lengths=(1, 17, 130))
torch.manual_seed(1)
T = torch.randn


def las_alphas(H, B=2.0):
    return torch.tensor(seqmix.ref.las_alphas(H=H, B=B)).float()


def gla(q, k, v, g, H):
    return st.gated_linear_attention(q, k, v, g)[0]


def delta(q, k, v, beta, H):
    return st.gated_delta_rule(q, k, v, beta)[0]


def gated_delta(q, k, v, beta, g, H):
    return st.gated_delta_rule(q, k, v, beta, g)[0]


BHLD, BLD = dict(layout="bhld"), dict(layout="bld")
KERNELS = {
    "attention": (lambda q, k, v: st.attention(q, k, v), "softmax_attention_qkv", dict(H=4, D=32, **BHLD)),
    "attention by rows": (
        lambda q, k, v, H: st.attention(q, k, v, heads=H, layout="bld"),
        "softmax_attention_qkv",
        dict(H=4, D=32),
    ),
    "attention both ways": (
        lambda q, k, v: st.attention(q, k, v, causal=False),
        "softmax_attention_qkv",
        dict(H=2, D=32, causal=False, **BHLD),
    ),
    "las": (
        lambda q, k, v, H: st.las_attention(q, k, v, alphas=las_alphas(H), window=5),
        "las_attention_qkv",
        dict(H=4, D=32, P=5, **BHLD),
    ),
    "las by rows": (
        lambda q, k, v, H: st.las_attention(q, k, v, heads=H, decay_range=2.0, layout="bld"),
        "las_attention_qkv",
        dict(H=4, D=32, P=3),
    ),
    "las masked": (
        lambda q, k, v: st.las_attention(q, k, v, decay_range=2.0, pool="masked"),
        "las_attention_qkv",
        dict(H=2, D=16, P=3, pool="masked", **BHLD),
    ),
    "las centred": (
        lambda q, k, v: st.las_attention(q, k, v, decay_range=2.0, pool="centred"),
        "las_attention_qkv",
        dict(H=2, D=16, P=3, pool="centred", **BHLD),
    ),
    "las in chunks": (
        lambda q, k, v: st.las_attention(q, k, v, decay_range=2.0, chunk=8),
        "las_attention_qkv",
        dict(H=2, D=16, P=3, chunk=8, **BHLD),
    ),
    "cat": (
        lambda x, q, k, v, o, filter_q, filter_k, filter_v, H: st.cat_attention(
            x, q, k, v, o, filter_q, filter_k, filter_v, heads=H
        ),
        "cat_attention",
        dict(H=2, W=3),
    ),
    "cat norm": (
        lambda x, q, k, v, o, filter_q, filter_k, H: st.cat_attention(
            x, q, k, v, o, filter_q, filter_k, heads=H, norm=True
        ),
        "cat_attention",
        dict(H=2, W=3, norm=True),
    ),
    "linear": (lambda q, k, v: st.linear_attention(q, k, v), "linear_attention", dict(H=2, **BHLD)),
    "linear rms": (
        lambda q, k, v, H: st.linear_attention(q, k, v, heads=H, normaliser="rms", tile=16, layout="bld"),
        "linear_attention",
        dict(H=2, normaliser="rms"),
    ),
    "linear sum": (
        lambda q, k, v: st.linear_attention(q, k, v, normaliser="sum"),
        "linear_attention",
        dict(H=2, normaliser="sum", **BHLD),
    ),
    "landmark": (
        lambda q, k, v, marks, B, H: st.landmark_attention(q, k, v, marks, block=B, heads=H, layout="bld"),
        "landmark_attention_qkv",
        dict(H=2),
    ),
    "sliding": (
        lambda q, k, v, W: st.attention(q, k, v, sliding=W),
        "sliding_core",
        dict(H=2, d=8, W=5, **BHLD),
    ),
    "taylor": (lambda q, k, v: st.taylor_attention(q, k, v), "based_core", dict(H=2, **BHLD)),
    "lstm": (lambda x, w, u, b: st.lstm(x @ w + b, u)[0], "lstm", {}),
    "gru": (lambda x, w, u, bx, bh: st.gru(x @ w + bx, u, bh)[0], "gru", {}),
    "gla": (gla, "gla_core", dict(H=2, dk=8, dv=6, **BHLD)),
    "gla by heads": (gla, "gla_core", dict(H=2, dk=8, dv=8, mode="head", **BHLD)),
    "delta": (delta, "delta_core", dict(H=2, dk=8, dv=6, **BHLD)),
    "gated delta": (gated_delta, "delta_core", dict(H=2, dk=8, dv=6, mode="head", **BHLD)),
    "conv1d": (lambda x, f: st.conv1d(x, f), "short_conv", {}),
    "conv1d ahead": (lambda x, f: st.conv1d(x, f, future=3), "short_conv", dict(W=7, future=3)),
    "long_conv": (lambda x, k, conv_skip: st.long_conv(x, k, conv_skip), "long_conv", {}),
    "long_conv squashed": (
        lambda x, k: st.long_conv(x, k, squash=0.06298828125),
        "long_conv",
        {"lambda": 0.06298828125},
    ),
    "iir": (lambda x, theta: st.iir(x, theta), "focus_filter", {}),
    "iir carried": (
        lambda x, theta: st.iir(x, theta, mode="carry"),
        "focus_filter",
        dict(mode="carry"),
    ),
    "iir literal": (
        lambda x, theta: st.iir(x, theta, mode="literal"),
        "focus_filter",
        dict(mode="literal"),
    ),
    "ema": (lambda x, a, d, b, e, skip: st.ema(x, a, d, b, e, skip), "mega_ema", {}),
    "selective_scan": (
        lambda x, dt, a_log, b, c, skip: st.selective_scan(x, dt, a_log, b, c, skip),
        "selective_scan",
        {},
    ),
    "s4d": (lambda x, log_dt, log_a, a_im, c, skip: st.s4d(x, log_dt, log_a, a_im, c, skip), "s4d", {}),
    "s4d real": (lambda x, log_dt, log_a, c: st.s4d(x, log_dt, log_a, None, c), "s4d", dict(diagonal="real")),
}


@pytest.mark.parametrize("name", KERNELS)
def test_against_the_oracle(name):
    function, mechanism, options = KERNELS[name]
    options = dict(options)
    if mechanism == "focus_filter":  # theta belongs to the bins, not to the batch
        options["lengths"] = (4, 20, 132)
    report = check_layer(function, mechanism, **{**QUICK, **options}, raises=False)
    assert report, str(report)


def forms(B=2, L=37, H=4, d=8):
    """q, k, v [B][H][L][d] in the same numbers, lying in four ways."""
    whole = torch.randn(B, L, 3, H, d)
    yield "contiguous", [whole[:, :, i].transpose(1, 2).contiguous() for i in range(3)]
    yield "rows", [whole[:, :, i].contiguous().transpose(1, 2) for i in range(3)]
    yield "one projection", [whole[:, :, i].transpose(1, 2) for i in range(3)]
    yield "turned", [whole[:, :, i].permute(0, 2, 3, 1).contiguous().transpose(2, 3) for i in range(3)]


@pytest.mark.parametrize("function", [st.attention, st.linear_attention, st.las_attention])
def test_however_memory_lies(function):
    first = None
    dy = torch.randn(2, 4, 37, 8)
    for seed_name, _ in forms():
        torch.manual_seed(7)
        tensors = [t.detach().requires_grad_() for t in dict(forms())[seed_name]]
        y = function(*tensors)
        y.backward(dy)
        found = [y, *(t.grad for t in tensors)]
        first = first or found
        for a, b in zip(found, first):
            assert torch.allclose(a, b, rtol=0, atol=2e-5 * b.abs().max().item()), seed_name
        assert not any(t.grad.isnan().any() for t in tensors)


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("function", [st.attention, st.linear_attention, st.las_attention])
def test_what_was_overwritten_before_backward_gives_no_wrong_gradient(function, which):
    def gradients(tensors, overwritten):
        leaves = [t.detach().requires_grad_() for t in tensors]
        made = [t * 1 for t in leaves]
        y = function(*made)
        if overwritten:
            with torch.no_grad():
                made[which].add_(1)
        (y * y).sum().backward()
        return [t.grad for t in leaves]

    for _, tensors in forms():
        right = gradients(tensors, False)
        try:  # the kernel may have had a copy of it
            assert all(map(torch.equal, gradients(tensors, True), right))
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)


def test_nothing_is_copied_where_it_need_not_be():
    from seqmix.torch.attention import Rows

    rows = dict(forms())
    for name in ("contiguous", "rows", "one projection"):
        taken = Rows("qkv", rows[name], None, "bhld", True)
        assert [t.data_ptr() for t in taken.tensors] == [t.data_ptr() for t in rows[name]], name
    taken = Rows("qkv", rows["turned"], None, "bhld", True)
    assert all(a.data_ptr() != b.data_ptr() for a, b in zip(taken.tensors, rows["turned"]))
    x = torch.randn(2, 9, 96)
    q, k, v = x.chunk(3, -1)
    assert Rows("qkv", [q, k, v], 4, "bld", True).tensors[2].data_ptr() == v.data_ptr()
    y = st.attention(q, k, v, heads=4, layout="bld")
    assert torch.equal(y, st.attention(q.contiguous(), k.contiguous(), v.contiguous(), heads=4, layout="bld"))


def test_the_same_bits_with_any_number_of_threads(monkeypatch):
    """And small calls begin none."""
    begun = []
    monkeypatch.setattr(_call, "_helpers", lambda helpers=_call._helpers: begun.append(1) or helpers())
    st.set_threads(2)
    st.attention(*torch.randn(3, 2, 4, 37, 8))
    assert not begun
    st.attention(*torch.randn(3, 2, 4, 300, 8))
    assert begun
    monkeypatch.setattr(_call, "FEW", 0)
    x, w = torch.randn(11, 50, 16), torch.randn(4, 3)
    found = []
    for n in (1, 2, 5):
        st.set_threads(n)
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        y = st.conv1d(a, b)
        z = st.attention(*[y.unflatten(-1, (2, 8)).transpose(1, 2)] * 3)
        z.pow(2).sum().backward()
        found.append((z.detach(), a.grad, b.grad))
    st.set_threads(None)
    assert st.get_threads() == torch.get_num_threads()
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other))


def test_a_fork_has_threads_of_its_own():
    tensors = dict(forms(L=300))["contiguous"]
    st.set_threads(2)
    try:
        here = st.attention(*tensors)  # the parent's threads have begun
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        child = context.Process(target=lambda: answers.put(st.attention(*tensors).numpy()))
        child.start()
        try:
            assert np.array_equal(answers.get(timeout=300), here.numpy())
        finally:
            child.kill()
    finally:
        st.set_threads(None)


def test_states_in_parts_are_the_whole():
    q, k, v = torch.randn(3, 2, 3, 70, 8).unbind(0)
    k = torch.nn.functional.normalize(k, dim=-1)
    beta, g = torch.rand(2, 3, 70), -torch.rand(2, 3, 70)
    whole, last = st.gated_delta_rule(q, k, v, beta, g)
    a, state = st.gated_delta_rule(*(t[:, :, :33] for t in (q, k, v, beta, g)))
    b, end = st.gated_delta_rule(*(t[:, :, 33:] for t in (q, k, v, beta, g)), start=state)
    assert torch.allclose(torch.cat((a, b), 2), whole, atol=1e-5) and torch.allclose(end, last, atol=1e-5)
    # and the gradient flows through the state
    q, start = q.requires_grad_(), torch.randn(2, 3, 8, 8, requires_grad=True)
    y, last = st.gated_linear_attention(q, k, v, g, start=start)
    last.sum().backward()
    decay = g.sum(-1).exp()
    assert torch.allclose(start.grad, decay[..., None, None].expand_as(start), rtol=1e-4) and not q.grad.any()


@pytest.mark.parametrize("rule", ["gla", "delta", "lstm", "gru"])
def test_gradients_flow_through_a_state(rule):
    """Two parts, the second from the first one's last state: every gradient is that of the whole."""
    if rule in ("lstm", "gru"):
        z, u, bias = T(3, 40, 12 if rule == "lstm" else 9), T(3, 12 if rule == "lstm" else 9), T(9)
        rows, weights, time = [z], [u] if rule == "lstm" else [u, bias], 1
        function = lambda x, w, start: getattr(st, rule)(x[0], *w, start)
        start = T(3, 2, 3) if rule == "lstm" else T(3, 3)
    else:
        q, k, v = T(3, 2, 3, 40, 8).unbind(0)
        k = torch.nn.functional.normalize(k, dim=-1)
        rows, weights, time, start = [q, k, v, torch.rand(2, 3, 40), -torch.rand(2, 3, 40)], [], 2, T(2, 3, 8, 8)
        if rule == "gla":
            function = lambda x, w, s: st.gated_linear_attention(*x[:3], x[4], x[3], s)
        else:
            function = lambda x, w, s: st.gated_delta_rule(*x, s)
    leaves = [t.requires_grad_() for t in (*rows, *weights, start)]
    y, last = function(rows, weights, start)
    a, state = function([t.narrow(time, 0, 17) for t in rows], weights, start)
    b, end = function([t.narrow(time, 17, 23) for t in rows], weights, state)
    dy, dlast = torch.randn_like(y), torch.randn_like(last)
    whole = torch.autograd.grad((y, last), leaves, (dy, dlast))
    parts = torch.autograd.grad((torch.cat((a, b), time), end), leaves, (dy, dlast))
    for one, two in zip(whole, parts):
        assert one.any() and (one - two).abs().max() <= 1e-4 * one.abs().max()


def test_states_by_rows_of_heads():
    """layout="blhd", also as parts of one projection: the numbers of "bhld"."""
    q, k, v = (t.transpose(1, 2) for t in T(2, 19, 3, 3, 8).unbind(2))  # [B][H][L][d]
    k, beta, g = torch.nn.functional.normalize(k, dim=-1), torch.rand(2, 3, 19), -torch.rand(2, 3, 19)
    for function in (st.gated_linear_attention, st.gated_delta_rule):
        rest = (g, beta) if function is st.gated_linear_attention else (beta, g)
        leaves = [t.detach().clone().requires_grad_() for t in (q, k, v, *rest)]
        y, last = function(*leaves)
        turned = [t.transpose(1, 2) for t in leaves]
        for given in (turned, [t.contiguous() for t in turned]):
            z, end = function(*given, layout="blhd")
            assert torch.allclose(z.transpose(1, 2), y, atol=1e-6) and torch.allclose(end, last, atol=1e-6)
            dy = torch.randn_like(y)
            slopes = torch.autograd.grad(y, leaves, dy, retain_graph=True)
            for a, b in zip(torch.autograd.grad(z, leaves, dy.transpose(1, 2), retain_graph=True), slopes):
                assert (a - b).abs().max() <= 1e-5 * b.abs().max()
    z = st.taylor_attention(*(t.transpose(1, 2) for t in (q, k, v)), layout="blhd")
    assert torch.allclose(z.transpose(1, 2), st.taylor_attention(q, k, v), atol=1e-5)


def test_settings_that_have_another_value():
    """A scale, an epsilon, norm_v: each by what it says."""
    q, k, v, x = *T(3, 2, 3, 19, 8).unbind(0), T(2, 9, 8)
    k, beta = torch.nn.functional.normalize(k, dim=-1), torch.rand(2, 3, 19)
    times = 0.3 * 8**0.5  # from 1 / sqrt(d) to 0.3
    for function in (st.attention, lambda *t, **how: st.attention(t[0], t[1][:, :1], t[2][:, :1], **how)):
        assert torch.allclose(function(q, k, v, scale=0.3), function(times * q, k, v), atol=1e-5)
    by_rows = [t.transpose(1, 2).flatten(2) for t in (q, k, v)]
    how = dict(heads=3, layout="bld")
    right = st.attention(times * by_rows[0], *by_rows[1:], **how)
    assert torch.allclose(st.attention(*by_rows, scale=0.3, **how), right, atol=1e-5)
    for function in (st.gated_linear_attention, lambda *t, **how: st.gated_delta_rule(*t, beta, **how)):
        assert torch.allclose(function(q, k, v, scale=0.3)[0], function(times * q, k, v)[0], atol=1e-5)
    sums = st.linear_attention(q, k, v)
    for eps in (1e-5, 0.5):
        right = sums * torch.rsqrt(sums.pow(2).mean(-1, keepdim=True) + eps)
        assert torch.allclose(st.linear_attention(q, k, v, normaliser="rms", eps=eps), right, atol=1e-5)
    wq, wk, wv, wo, f = *T(4, 8, 8).unbind(0), T(2, 3)
    v = torch.cat([st.unit_rows(st.conv1d(x, f[h : h + 1])) @ wv[:, 4 * h : 4 * h + 4] for h in range(2)], -1)
    filtered = [st.conv1d(x @ w, f) for w in (wq, wk)]
    right = st.attention(*filtered, v, heads=2, layout="bld") @ wo
    assert torch.allclose(st.cat_attention(x, wq, wk, wv, wo, f, f, f, heads=2, norm_v=True), right, atol=1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_by_threads(name, monkeypatch):
    """A share of the sequences each: the bits of all of them at once, forward and backward."""
    function, tensors, named = next(call for call in called(name) if call[1][0].requires_grad)
    found = []
    y = function(*tensors, **named)
    assert len(y) > 1
    dy = torch.randn_like(y)
    try:
        for few, threads in ((1 << 60, 1), (0, 3)):
            monkeypatch.setattr(_call, "FEW", few)
            st.set_threads(threads)
            leaves = [t.detach().clone().requires_grad_() for t in tensors]
            y = function(*leaves, **named)
            found.append([y, *torch.autograd.grad(y, leaves, dy, allow_unused=True)])
    finally:
        st.set_threads(None)
    for a, b in zip(*found):
        assert a is b is None or torch.equal(a, b)


def test_parts_of_a_projection_and_states_by_threads(monkeypatch):
    x, z, u, start = T(3, 9, 96), T(3, 9, 12), T(3, 12), T(3, 2, 3)
    q, state = T(3, 9, 2, 4), T(3, 2, 4, 4)
    found = []
    try:
        for few, threads in ((1 << 60, 1), (0, 3)):
            monkeypatch.setattr(_call, "FEW", few)
            st.set_threads(threads)
            y = st.attention(*x.chunk(3, -1), heads=4, layout="bld")
            found.append((y, *st.lstm(z, u, start), *st.gated_linear_attention(q, q, q, start=state, layout="blhd")))
    finally:
        st.set_threads(None)
    assert all(torch.equal(a, b) for a, b in zip(*found))


def test_rows_that_overlap_in_memory():
    """q and k the same half of a projection, v the other: gradients have room of their own."""
    x = T(2, 9, 32)
    q, v = x.chunk(2, -1)
    right = [t.contiguous().requires_grad_() for t in (q, q, v)]
    mine = [q.requires_grad_(), q.view(q.shape), v.requires_grad_()]
    y, want = (st.attention(*t, heads=4, layout="bld") for t in (mine, right))
    assert torch.equal(y, want)
    dy = torch.randn_like(y)
    dq, dv = torch.autograd.grad(y, (q, v), dy)
    a, b, c = torch.autograd.grad(want, right, dy)
    assert torch.allclose(dq, a + b, atol=1e-5) and torch.allclose(dv, c, atol=1e-5)


def test_shared_and_unused_inputs():
    q = torch.randn(1, 2, 9, 4, requires_grad=True)
    st.attention(q, q, q).sum().backward()
    x = q.detach().double().requires_grad_()
    s = (x @ x.transpose(2, 3) / 2).masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf)
    (s.softmax(-1) @ x).sum().backward()
    assert torch.allclose(q.grad.double(), x.grad, atol=1e-5)
    with torch.no_grad():
        assert not st.attention(q, q, q).requires_grad


def eager(q, k, v, causal, bias=None):
    """Plain attention of any numbers of heads, lengths and widths, [B][H][L][d]."""
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    s = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
    if bias is not None:  # [H][2L-1]
        rows, L = s.shape[2:]
        s = s + bias[:, L - 1 + torch.arange(L) - torch.arange(L - rows, L)[:, None]]
    if causal:
        s = s.masked_fill(torch.ones(s.shape[2:]).triu(1 + s.shape[3] - s.shape[2]).bool(), -torch.inf)
    return s.softmax(-1) @ v


UNEVEN = {  # heads of q and of k, rows of both, widths of k and of v
    "fewer heads": (6, 2, 19, 19, 8, 8),
    "one head": (4, 1, 30, 30, 8, 8),
    "narrower values": (2, 2, 19, 19, 8, 5),
    "wider values": (2, 2, 19, 19, 5, 8),
    "fewer rows": (2, 2, 7, 19, 8, 8),
    "one row": (2, 1, 1, 40, 4, 8),
    "more rows": (2, 2, 40, 19, 8, 8),
    "all of it": (4, 2, 45, 7, 6, 9),
}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("what", UNEVEN)
def test_heads_lengths_and_widths_that_differ(what, causal):
    H, kv_heads, rows, L, d, dv = UNEVEN[what]
    q, k, v = T(3, H, rows, d), T(3, kv_heads, L, d), T(3, kv_heads, L, dv)
    if causal and rows > L:
        with pytest.raises(seqmix.SeqmixError, match=f"q has {rows} rows, k has {L}; with causal=True"):
            st.attention(q, k, v)
        return
    wide = [t.double().requires_grad_() for t in (q, k, v)]
    want = eager(*wide, causal)
    dy = T(want.shape)
    slopes = torch.autograd.grad(want, wide, dy.double())
    for layout in ("bhld", "bld"):
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        given = leaves if layout == "bhld" else [t.transpose(1, 2).flatten(2) for t in leaves]
        y = st.attention(*given, causal=causal, layout=layout, heads=H)
        y = y if layout == "bhld" else y.unflatten(2, (H, dv)).transpose(1, 2)
        for a, b in zip((y, *torch.autograd.grad(y, leaves, dy)), (want, *slopes)):
            assert a.shape == b.shape and (a - b).abs().max() <= 1e-5 * b.abs().max()


@pytest.mark.parametrize("pool", ["trailing", "centred", "masked", "none"])
def test_las_with_fewer_heads_of_k_and_v(pool):
    q, k, v = T(2, 6, 23, 8), T(2, 2, 23, 8), T(2, 2, 23, 5)
    how = dict(pool=pool, chunk=9, decay_range=2.0)
    all_heads = [t.repeat_interleave(3, 1) for t in (k, v)]
    want = st.las_attention(q, *all_heads, **how)
    assert torch.allclose(st.las_attention(q, k, v, **how), want, atol=1e-6)
    side_by_side = [t.transpose(1, 2).flatten(2) for t in (q, k, v)]
    y = st.las_attention(*side_by_side, heads=6, layout="bld", **how)
    assert torch.allclose(y.unflatten(2, (6, 5)).transpose(1, 2), want, atol=1e-6)
    assert torch.equal(st.las_attention(q[:, :, 17:], k, v, **how), st.las_attention(q, k, v, **how)[:, :, 17:])


def test_offsets_count_from_the_last_rows():
    """Causal, with fewer rows of q: tables, sliding windows and chunks are those of the whole sequence."""
    q, k, v, bias = T(2, 4, 23, 8), T(2, 2, 23, 8), T(2, 2, 23, 8), T(4, 45)
    assert torch.allclose(st.attention(q[:, :, 17:], k, v, bias=bias), eager(q[:, :, 17:], k, v, True, bias), atol=1e-5)
    for how in (dict(bias=bias), dict(sliding=5), dict(chunk=9), dict(decay_table=bias), dict(pool_window=3)):
        whole = st.attention(q, k, v, **how)
        assert torch.equal(st.attention(q[:, :, 17:], k, v, **how), whole[:, :, 17:])


def test_other_floating_types_are_computed_in_float32_and_said_once():
    q, k, v = T(3, 2, 2, 9, 8).unbind(0)
    right = st.attention(q, k, v)
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        for dtype in (torch.float64, torch.float16, torch.bfloat16) * 2:
            leaves = [t.to(dtype).requires_grad_() for t in (q, k, v)]
            y = st.attention(*leaves)
            y.sum().backward()
            assert y.dtype == dtype and all(t.grad.dtype == dtype for t in leaves)
            assert torch.equal(y, st.attention(*(t.detach().float() for t in leaves)).to(dtype))
        assert torch.equal(st.attention(q.double(), k.double(), v.double()), right.double())
        y, last = st.gated_linear_attention(q.double(), k, v, g=-T(2, 2, 9).abs().double())
        assert y.dtype == last.dtype == torch.float64
        assert st.conv1d(T(1, 4, 2), T(2, 2).half()).dtype == torch.float32
        assert [w.category for w in seen] == [st.Float32Warning]
        warnings.simplefilter("error", st.Float32Warning)
        for _ in range(2):  # refused each time, if so wanted
            with pytest.raises(st.Float32Warning, match="in float32"):
                st.attention(q.half(), k.half(), v.half())
        st.las_attention(q, k, v, alphas=st.las_alphas(2))  # doubles as they are


def test_pytorch_s_gradcheck():
    """Whose inputs are double: the differences are those of float32, so steps and tolerances are wide."""
    how = dict(eps=1e-2, atol=2e-3, rtol=1e-2, nondet_tol=0.0)
    q, k, v = T(3, 1, 2, 5, 4).double().unbind(0)
    ways = {
        "attention": (st.attention, (q, k, v)),
        "attention of groups": (lambda *t: st.attention(*t, causal=False), (q, k[:, :1, :3], v[:, :1, :3, :3])),
        "linear attention": (st.linear_attention, (q, k, v)),
        "lstm": (lambda *t: st.lstm(*t)[0], (T(1, 5, 8).double(), T(2, 8).double())),
        "conv1d": (st.conv1d, (T(1, 5, 4).double(), T(2, 3).double())),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", st.Float32Warning)
        for function, inputs in ways.values():
            leaves = [t.clone().requires_grad_() for t in inputs]
            assert torch.autograd.gradcheck(function, leaves, **how)
            with pytest.raises(RuntimeError, match="Jacobian mismatch"):  # a gradient that is off by a tenth
                torch.autograd.gradcheck(lambda *t: Off.apply(function(*t)), leaves, **how)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_tracing_is_refused_in_a_sentence():
    q = T(1, 2, 9, 4)
    model = st.Model(seqmix.Run("mixer=cat&task=mqar&length=8&vocab=16&pairs=2&width=8"))
    for what, given in ((lambda q: st.attention(q, q, q), q), (model, torch.zeros(1, 8, dtype=torch.int64))):
        with pytest.raises(seqmix.SeqmixError, match="cannot be traced: torch.jit.trace records") as error:
            torch.jit.trace(what, given)
        assert "\n" not in str(error.value)


class Off(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        return y.clone()

    @staticmethod
    def backward(ctx, dy):
        return 1.1 * dy


def called(name):
    """The calls of a short check of a row of KERNELS: the function, its tensors without a default, the rest by name."""
    function, mechanism, options = KERNELS[name]
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty]
    calls = []

    @functools.wraps(function)
    def watched(*tensors, **named):
        tensors = [*tensors, *(named.pop(n) for n in needed if torch.is_tensor(named.get(n)))]
        calls.append((function, tensors, named))
        return function(*tensors, **named)

    check_layer(watched, mechanism, **{**options, "seeds": 1, "lengths": (20,)}, raises=False)
    return calls


@pytest.mark.parametrize("name", KERNELS)
def test_an_empty_batch(name):
    """No sequences: a result of none, and gradients of zero for the weights."""
    function, tensors, named = called(name)[0]
    y = function(*tensors, **named)
    batch = [t.shape[0] == len(y) and not is_weight(name, i) for i, t in enumerate(tensors)]
    leaves = [(t[:0] if cut else t).detach().requires_grad_() for t, cut in zip(tensors, batch)]
    none = function(*leaves, **named)
    assert none.shape == (0, *y.shape[1:])
    slopes = torch.autograd.grad(none.sum(), leaves, allow_unused=True)
    assert all(s is None or not s.any() for s in slopes)
    assert any(s is not None for s in slopes)


def is_weight(name, i):
    """Whether input i of a row of KERNELS is a weight: what the batch shares."""
    first = {"cat": 1, "cat norm": 1, "lstm": 1, "gru": 1, "conv1d": 1, "conv1d ahead": 1, "ema": 1, "s4d": 1}
    first.update({"s4d real": 1, "long_conv": 1, "long_conv squashed": 1})
    return i >= first.get(name, 99) or (name == "selective_scan" and i in (2, 5))


# Inputs whose gradient goes through PyTorch's own functions only: CAT's w_o; marks have none.
PASSED_BY = {("cat", 4), ("cat norm", 4), ("landmark", 3)}


@pytest.mark.parametrize("name", KERNELS)
def test_no_second_derivative_in_silence(name):
    """Each of its inputs alone, the gradient given a constant or not: never a graph with terms left out."""
    function, tensors, named = next(call for call in called(name) if call[1][0].requires_grad)
    tensors = [t.detach() for t in tensors]
    for i, leaf in enumerate(tensors):
        if (name, i) in PASSED_BY:
            continue
        leaf.requires_grad_()
        for power in (1, 2):
            y = function(*tensors, **{n: v.detach() if hasattr(v, "detach") else v for n, v in named.items()})
            (first,) = torch.autograd.grad(y.pow(power).sum(), leaf, retain_graph=True)  # as ever
            assert first.shape == leaf.shape
            with pytest.raises(seqmix.SeqmixError, match="create_graph=True.*first derivatives only"):
                torch.autograd.grad(y.pow(power).sum(), leaf, create_graph=True)
        leaf.requires_grad_(False)


def test_second_derivatives_by_states_and_helpers():
    """What the table above does not come past: states, rows of unit length, and PyTorch's own ways to ask."""
    z, u = torch.randn(2, 5, 12), torch.randn(3, 12)
    bias, x = torch.randn(9), torch.randn(2, 5, 4)
    q, g = torch.randn(2, 1, 5, 4), -torch.rand(2, 1, 5)
    ways = {
        "lstm's last": lambda t: st.lstm(z, u, t)[1].sum(),
        "gru's last": lambda t: st.gru(z[..., :9], u[:, :9], bias, t)[1].sum(),
        "last state": lambda t: st.gated_linear_attention(q, q, q, g, start=t)[1].sum(),
        "unit rows": lambda t: st.unit_rows(t).sum(),
        "a penalty": lambda t: st.conv1d(t, torch.ones(1, 2)).sum(),
    }
    starts = dict(zip(ways, (torch.randn(2, 2, 3), torch.randn(2, 3), torch.randn(2, 1, 4, 4), x, x)))
    for name, way in ways.items():
        with pytest.raises(seqmix.SeqmixError, match="create_graph=True"):
            torch.autograd.grad(way(starts[name].requires_grad_()), starts[name], create_graph=True)
    for ask in (torch.autograd.functional.hessian, torch.autograd.functional.hvp, torch.autograd.functional.jvp):
        more = () if ask is torch.autograd.functional.hessian else (torch.ones_like(x),)
        with pytest.raises(seqmix.SeqmixError, match="create_graph=True"):
            ask(lambda t: st.unit_rows(t).pow(2).sum(), x, *more)


def test_recomputed_in_the_backward_pass():
    """torch.utils.checkpoint calls the function again where gradients are on: that asks for no graph."""
    tensors = [t.requires_grad_() for t in dict(forms())["contiguous"]]
    st.attention(*tensors).pow(2).sum().backward()
    expected = [t.grad.clone() for t in tensors]
    for t in tensors:
        t.grad = None
    torch.utils.checkpoint.checkpoint(st.attention, *tensors, use_reentrant=True).pow(2).sum().backward()
    assert all(torch.equal(t.grad, g) for t, g in zip(tensors, expected))


REFUSED = {
    "no tensor": (lambda: st.attention(np.ones((1, 1, 2, 2)), T(1, 1, 2, 2), T(1, 1, 2, 2)), "q is ndarray"),
    "complex": (
        lambda: st.attention(*[T(1, 1, 2, 2).cfloat()] * 3),
        "q holds torch.complex64; the kernels take torch.float32",
    ),
    "integers": (lambda: st.conv1d(torch.ones(1, 2, 2, dtype=torch.int64), T(1, 1)), "x holds torch.int64"),
    "shape": (
        lambda: st.attention(T(1, 1, 3, 2), T(1, 1, 2, 2), T(1, 1, 3, 2)),
        r"v has the shape \[1\]\[1\]\[3\]\[2\]; \[1\]\[1\]\[2\]\[any\] is needed",
    ),
    "linear": (
        lambda: st.linear_attention(T(1, 1, 3, 2), T(1, 1, 2, 2), T(1, 1, 3, 2)),
        r"k has the shape \[1\]\[1\]\[2\]\[2\]; \[1\]\[1\]\[3\]\[2\] is needed",
    ),
    "groups of heads": (
        lambda: st.attention(T(1, 3, 2, 2), *[T(1, 2, 2, 2)] * 2),
        "k and v have 2 heads, which do not divide the 3 of q",
    ),
    "heads by width": (
        lambda: st.attention(T(1, 2, 6), T(1, 2, 4), T(1, 2, 4), heads=2, layout="bld"),
        "k is 4 wide, which is no number of heads of 3, as q's are",
    ),
    "tables across": (
        lambda: st.attention(T(1, 1, 2, 2), *[T(1, 1, 3, 2)] * 2, causal=False, bias=T(1, 5)),
        "q has 2 rows, k has 3; chunk, decay_table and bias take as many of both, or causal=True",
    ),
    "dimensions": (lambda: st.attention(T(3, 2), T(3, 2), T(3, 2)), r"q has the shape \[3\]\[2\]"),
    "empty": (lambda: st.attention(*[T(1, 1, 0, 2)] * 3), "holds nothing"),
    "no channels": (lambda: st.unit_rows(T(0)), "holds nothing"),
    "no taps": (lambda: st.conv1d(T(0, 3, 2), T(2, 0)), "holds nothing"),
    "meta": (
        lambda: st.attention(*[torch.empty(1, 1, 2, 2, device="meta")] * 3),
        "on meta; the kernels take strided tensors on the cpu",
    ),
    "sparse": (lambda: st.conv1d(T(1, 2, 2).to_sparse(), T(1, 1)), "sparse"),
    "layout": (lambda: st.attention(*[T(1, 1, 2, 2)] * 3, layout="lbhd"), "layout is 'lbhd'"),
    "heads": (
        lambda: st.attention(*[T(1, 2, 4)] * 3, heads=3, layout="bld"),
        "heads = 3 does not divide the width 4",
    ),
    "heads missing": (lambda: st.attention(*[T(1, 2, 4)] * 3, layout="bld"), "heads is None"),
    "other heads": (lambda: st.attention(*[T(1, 2, 2, 4)] * 3, heads=4), "heads is 4; q has 2"),
    "scale": (lambda: st.attention(*[T(1, 1, 2, 2)] * 3, scale=float("nan")), "scale is nan"),
    "chunk": (lambda: st.attention(*[T(1, 1, 2, 2)] * 3, chunk=-1), "chunk is -1"),
    "table": (
        lambda: st.attention(*[T(1, 1, 2, 2)] * 3, bias=T(1, 4)),
        r"bias has the shape \[1\]\[4\]; \[1\]\[3\]",
    ),
    "table with gradient": (
        lambda: st.attention(*[T(1, 1, 2, 2)] * 3, bias=T(1, 3, requires_grad=True)),
        "bias requires a gradient",
    ),
    "even window": (
        lambda: st.attention(*[T(1, 1, 2, 2)] * 3, pool_window=2),
        "pool_window is 2; it must be odd",
    ),
    "pool": (lambda: st.las_attention(*[T(1, 1, 2, 2)] * 3, pool="max"), "pool is 'max'"),
    "groups": (lambda: st.conv1d(T(1, 2, 4), T(3, 2)), "3 groups, which do not divide the width 4"),
    "future": (lambda: st.conv1d(T(1, 2, 4), T(2, 2), future=2), "future is 2; it must be below the 2 taps"),
    "squash": (lambda: st.long_conv(T(1, 2, 4), T(4, 2), squash=-1), "squash is -1"),
    "bins": (lambda: st.iir(T(1, 5, 4), T(1, 2, 4, 1, 2)), "2 bins, which do not divide the length 5"),
    "gates": (lambda: st.gated_linear_attention(*[T(1, 1, 2, 2)] * 3, g=T(1, 2)), "g has the shape"),
    "sliding": (
        lambda: st.attention(*[T(1, 1, 2, 2)] * 3, sliding=2, causal=False),
        "sliding is 2; it needs causal=True",
    ),
    "feature rows": (lambda: st.taylor_attention(T(2, 2), T(2, 2), T(2, 2)), "q has the shape"),
    "gates of a cell": (lambda: st.lstm(T(1, 2, 8), T(3, 8)), r"u has the shape \[3\]\[8\]; \[3\]\[12\]"),
    "a cell's start": (lambda: st.lstm(T(1, 2, 8), T(2, 8), T(1, 2)), "start has the shape"),
    "bias": (lambda: st.gru(T(1, 2, 6), T(2, 6), T(2)), r"bias has the shape \[2\]; \[6\] is needed"),
    "beta": (lambda: st.gated_delta_rule(*[T(1, 1, 2, 2)] * 3, beta=None), "beta is missing"),
    "threads": (lambda: st.set_threads(0), "threads is 0"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    act, sentence = REFUSED[what]
    with pytest.raises(seqmix.SeqmixError, match=sentence) as error:
        act()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("function", [st.attention, st.las_attention])
def test_a_nan_is_seen(function):
    """A query that is NaN gives a row of NaN and such gradients: a training that diverged does not look alive."""
    q, k, v = (torch.randn(1, 2, 30, 8) for _ in "qkv")
    q[0, 1, 20] = torch.nan
    for t in (q, k, v):
        t.requires_grad_()
    y = function(q, k, v)
    assert y[0, 1, 20].isnan().all() and y.isnan().sum() == 8
    y.sum().backward()
    assert q.grad[0, 1, 20].isnan().all() and v.grad[0, 1, :21].isnan().all()


def test_features_of_linear_attention_keep_their_digits():
    """elu(x) + 1 is 0 at -18, and e^-18 is not; and a gradient's bits do not hang on the batch's size."""
    q, k = (torch.empty(3, 1, 21, 5).uniform_(-30, -16).requires_grad_() for _ in "qk")
    v = torch.randn(3, 1, 21, 5)

    def plain(q, k, v):
        q, k = (torch.where(x > 0, x + 1, x.clamp(max=0).exp()) for x in (q, k))
        a = (q @ k.transpose(-1, -2)).tril()
        return a @ v / a.sum(-1, keepdim=True)

    y = st.linear_attention(q, k, v, normaliser="sum")
    wide = [t.detach().double().requires_grad_() for t in (q, k)]
    want = plain(*wide, v.double())
    dy = torch.randn_like(y)
    got = torch.autograd.grad(y, (q, k), dy)
    slopes = torch.autograd.grad(want, wide, dy.double())
    for a, b in ((y, want), *zip(got, slopes)):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()
    for i in range(3):
        part = [t[i : i + 1].detach().requires_grad_() for t in (q, k)]
        alone = st.linear_attention(*part, v[i : i + 1], normaliser="sum")
        for a, b in zip(torch.autograd.grad(alone, part, dy[i : i + 1]), got):
            assert torch.equal(a, b[i : i + 1])


def test_attention_of_a_training_step_against_eager_attention():
    """W2's shapes (16 sequences of 196 rows, 4 heads of 16): the ratio is printed; that it is below 1 would
    be a fault."""

    def eager(q, k, v):
        s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        return s.masked_fill(mask, -torch.inf).softmax(-1) @ v

    mask = torch.ones(196, 196).triu(1).bool()
    base = [torch.randn(16, 4, 196, 16) for _ in range(4)]

    def once(function):
        q, k, v = (t.clone().requires_grad_() for t in base[:3])
        began = time.process_time()
        function(q, k, v).backward(base[3])
        return time.process_time() - began

    pairs = [(once(eager), once(st.attention)) for _ in range(12)][2:]
    ratio = sorted(a / b for a, b in pairs)[len(pairs) // 2]
    print(f"eager attention takes {ratio:.2f} times as long")
    assert ratio > 1
