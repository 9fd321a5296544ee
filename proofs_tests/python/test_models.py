"""seqmix.torch's modules: every mixer, in its modes, gives a run's logits from its checkpoint, and autograd
the run's gradients."""
import json
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs python3 with torch (python3-torch)")

import seqmix
import seqmix.torch as st
from seqmix._program import output

SMALL = "&task=mqar&length=32&vocab=32&pairs=4&width=16&batch=4&steps=6"
MODES = """attention attention&position=rope&heads=2&norm=layer&mlp=2
attention&position=alibi&heads=4&chunk=7&norm=rms attention&position=alibi_scaled&heads=2&causal=0
attention&sliding=5
attention&sliding=9&heads=2&position=rope attention&position=learned&blocks=2 attention&position=sinusoidal&mlp=1&activation=silu las
las&pool=masked&window=5 las&pool=centred&window=5&chunk=7 las&las_decay=alibi&pool=none
las&las_decay=alibi_scaled las&las_decay=none las&alphas=0,1 las&position=rope cat&heads=2
cat&heads=2&filter_norm=qk cat&filter_norm=qkv cat&heads=2&filter_kind=multi_head
cat&heads=2&filter_kind=maps
cat&heads=4&filter_kind=maps&position=alibi cat&heads=2&value_filter=two_sided lincat&heads=2 lincat&heads=2&filter_kind=multi_head linear&heads=2
linear&normaliser=rms linear&normaliser=none lcat&heads=2 lcat&landmark=rho lcat&dense_keys=filtered longconv
longconv&squash=0.02&skip=0 longconv&causal=0&squash=0.02 chela&causal=0&heads=2 las&causal=0&pool=centred&window=5
ema s4d s4d&s4d_kind=real mamba gla&heads=2 deltanet&heads=2
gated_deltanet&heads=2 mamba2&heads=2 chela chela&residual=1&squash=0.05 chela&fused=1 focus&bins=4
focus&bins=4&iir=carry&theta=triangle&hyper=joint focus_h&bins=4&iir=literal&theta=bounded retnet&heads=4 based&heads=2&feature_width=4 hyena
hyena&hyena_order=3&bands=0 hyena&filter_decay=0.25 lstm gru equations&heads=2 equations&blocks=2&norm=rms&residual=0""".split()
# and all that the program's own tests take through every mixer: a new one is tried without being named here
HELP = json.loads(output("help", "--json"))
TABLE = HELP["modes"]
MODES += [f"{name}&heads=2&{mode}" for name, modes in TABLE.items() for mode in modes.split("~") if mode]
NAMED = {mode.split("&")[0] for mode in MODES}
MODES += [f"{mixer['name']}&heads=2" for mixer in HELP["mixers"] if mixer["name"] not in NAMED]
STACKS = """mixers=kda,attention,mlstm&heads=2&blocks=4&block3.negative=1 mixers=cat,gla,attention&heads=2&blocks=4&block0.filter=5&norm=rms
mixers=lstm,ema&mlp=1&blocks=2 mixer=cat&heads=2&blocks=2&block1.filter=2""".split()


def test_every_mixer_is_here():
    refused = str(pytest.raises(seqmix.SeqmixError, seqmix.Run, "mixer=none").value)
    all_mixers = set(refused.split("one of ")[1].split(", "))
    assert {mode.split("&")[0] for mode in MODES} == all_mixers


def check_next_step(run, model, given):
    """The loss and the gradients of the run's next batch, whose samples hold `given`."""
    samples = [run.look(5 * 4 + i, "train") for i in range(4)]
    inputs, targets = (torch.tensor(np.stack([getattr(s, f) for s in samples])) for f in (given, "targets"))
    loss = torch.nn.functional.cross_entropy(
        model(inputs).flatten(0, 1), targets.flatten().long(), ignore_index=-1
    )
    loss.backward()
    run.step(1)
    assert abs(loss.item() - run.losses[-1]) <= 1e-5 * max(1, run.losses[-1])
    most = max(p.grad.abs().max().item() for p in model.parameters())
    for name, weight in model.named_parameters():
        theirs = run.tensors[f"grad:{name}"]
        assert abs(weight.grad.numpy() - theirs).max() <= 1e-4 * max(abs(theirs).max(), 0.1 * most), name


@pytest.mark.parametrize("mode", [f"mixer={mode}" for mode in MODES] + STACKS)
def test_logits_and_gradients(mode):
    run = seqmix.Run(f"{mode}{SMALL}&clip=0")
    run.step(5)
    tokens = run.look(0).tokens
    run.predict(tokens)
    logits = run.tensors["logits"]
    model = st.Model(run)
    mine = model(torch.tensor(tokens)[None])[0].detach().numpy()
    assert abs(mine - logits).max() <= 1e-5 * max(1, abs(logits).max())
    check_next_step(run, model, "tokens")


@pytest.mark.parametrize("mode", [f"mixer={mode}" for mode in MODES] + STACKS)
def test_other_lengths_than_trained(mode):
    """The native run's logits at each of them, as numbers; what it refuses is refused."""
    run = seqmix.Run(f"{mode}{SMALL}&clip=0")
    run.step(5)
    model, tokens = st.Model(run), np.concatenate([run.look(i).tokens for i in range(3)])
    answered = 0
    for length in (20, 40, 64):
        try:
            run.predict(tokens[:length])
        except seqmix.SeqmixError:
            with pytest.raises(seqmix.SeqmixError):
                model(torch.tensor(tokens[:length])[None])
            continue
        logits = run.tensors["logits"].reshape(length, -1)
        mine = model(torch.tensor(tokens[:length])[None])[0].detach().numpy()
        assert mine.shape == logits.shape, length
        assert abs(mine - logits).max() <= 2e-5 * max(1, abs(logits).max()), length
        answered += 1
    assert answered >= 1


@pytest.mark.parametrize("of", ["cat&pooling=mean", "cat&pooling=max", "gla&pooling=last", "las&causal=0&pooling=first"])
def test_one_answer(of):
    run = seqmix.Run(f"mixer={of}&task=smnist&width=8&heads=2&batch=4&steps=6&norm=layer&clip=0")
    run.step(5)
    values = run.look(0).values
    logits = run.tensors["logits"]
    model = st.Model(run)
    mine = model(torch.tensor(values)[None])[0].detach().numpy()
    assert mine.shape == (1, 10) and abs(mine - logits).max() <= 1e-5 * max(1, abs(logits).max())
    check_next_step(run, model, "values")


def test_what_training_alone_does_is_not_done():
    run = seqmix.Run(f"mixer=cat&norm=batch&mlp=1&dropout=0.3{SMALL}")
    run.step(5)
    tokens = run.look(0).tokens
    run.predict(tokens)
    mine = st.Model(run)(torch.tensor(tokens)[None])[0].detach().numpy()
    assert abs(mine - run.tensors["logits"]).max() <= 1e-5 * abs(run.tensors["logits"]).max()


def test_checkpoints_and_configs(tmp_path):
    run = seqmix.Run(f"mixer=cat&heads=2&mlp=1&norm=layer{SMALL}")
    run.step(3)
    run.save(tmp_path / "a.st")
    fresh = st.Model(f"mixer=cat&heads=2&mlp=1&norm=layer{SMALL}")
    tokens = torch.tensor(run.look(0).tokens)[None]
    before = fresh(tokens)
    fresh.load_state_dict(st.weights(tmp_path / "a.st"))
    assert torch.equal(fresh(tokens), st.Model(run.save())(tokens)) and not torch.equal(fresh(tokens), before)
    assert st.weights(run).keys() == fresh.state_dict().keys()
    # the module's weights are its own, and those that were handed out copies
    held, kept = st.weights(run), run.tensors["head"].copy()
    run.step(2)
    assert (held["head"].numpy() == kept).all() and (run.tensors["head"] != kept).any()
    assert torch.equal(fresh(tokens), st.Model(tmp_path / "a.st")(tokens))
    mixer = st.Mixer(run)
    assert set(mixer.state_dict()) == {"w_q", "w_k", "w_v", "w_o", "filter_q", "filter_k", "filter_v"} & set(
        mixer.state_dict()
    )
    run.look(0)
    q = run.tensors["block0.mixer.q"]
    x = torch.randn(3, 21, 16, requires_grad=True)
    mixer(x).sum().backward()
    assert x.grad.shape == x.shape and q.shape[-1] == 16
    for block in (1, -1, True, "0"):
        with pytest.raises(seqmix.SeqmixError, match="block is .*; the model has 1"):
            st.Mixer(run, block=block)
    # one of a stack, and one that is a text, also through a copy
    two = st.Mixer("mixers=cat,lstm&blocks=2&width=16", block=1)
    assert set(two.state_dict()) == {"w", "u", "b"} and two(x).shape == x.shape
    text = st.Mixer("mixer=equations&width=16")
    assert torch.equal(pickle.loads(pickle.dumps(text))(x), text(x))


def test_it_trains():
    torch.manual_seed(1)
    run = seqmix.Run("mixer=cat&task=mqar&length=32&vocab=32&pairs=4&width=32&batch=32&steps=200")
    model = st.Model(run)
    optimiser = torch.optim.AdamW(model.parameters(), 0.01)
    for step in range(120):
        samples = [run.look(32 * step + i, "train") for i in range(32)]
        tokens, targets = (
            torch.tensor(np.stack([getattr(s, f) for s in samples])) for f in ("tokens", "targets")
        )
        loss = torch.nn.functional.cross_entropy(
            model(tokens).flatten(0, 1), targets.flatten().long(), ignore_index=-1
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 2


def test_tokens_that_a_model_does_not_know_are_named():
    model = st.Model("mixer=cat&task=mqar&length=16&pairs=2&vocab=16&width=8")
    for wrong, said in [
        (torch.full((1, 16), 16), "16 to 16; 0 to 15 are allowed"),
        (torch.full((1, 16), -1), "-1 to -1; 0 to 15"),
        (torch.full((1, 16), 1.7), "torch.float32; whole numbers"),
    ]:
        with pytest.raises(seqmix.SeqmixError, match=said):
            model(wrong)
