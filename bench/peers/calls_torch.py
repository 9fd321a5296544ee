"""calls_torch.py: what one call of a layer costs from Python where there is next to nothing to compute: seqmix.torch beside
PyTorch's own operations, in one process, in turns. A line of JSON for each: milliseconds of processor time, pair by pair, and
how far the two results are apart at most, of the largest.

    python3 bench/peers/calls_torch.py ROUNDS NAME...    (wants the package on PYTHONPATH)"""
import json
import sys
import time

import torch
import torch.nn.functional as F

import seqmix.torch

torch.set_num_threads(1)
ROUNDS, CALLS = int(sys.argv[1]), 300
B, L, D, W = 2, 8, 8, 3
draw = torch.Generator().manual_seed(1)
q, k, v, dy = (torch.randn(B, 1, L, D, generator=draw) for _ in range(4))
learnt = [t.clone().requires_grad_() for t in (q, k, v)]
x, taps = torch.randn(B, L, D, generator=draw), torch.randn(D, W, generator=draw)
later = torch.full((L, L), float("-inf")).triu(1)


def softmax(q, k, v):
    return torch.softmax((q @ k.transpose(-1, -2)) * D**-0.5 + later, -1) @ v


def slopes(attention):
    for t in learnt:
        t.grad = None
    attention(*learnt).backward(dy)
    return torch.cat([t.grad for t in learnt])


CASES = {
    "call attention 2x8x8": (lambda: softmax(q, k, v), lambda: seqmix.torch.attention(q, k, v)),
    "call attention 2x8x8 and gradients": (lambda: slopes(softmax), lambda: slopes(seqmix.torch.attention)),
    "call conv1d 2x8x8": (
        # (its taps in the other order)
        lambda: F.conv1d(F.pad(x.transpose(1, 2), (W - 1, 0)), taps.flip(1)[:, None], groups=D).transpose(1, 2),
        lambda: seqmix.torch.conv1d(x, taps),
    ),
}


def measured(call):
    began = time.thread_time()
    for _ in range(CALLS):
        call()
    return 1e3 * (time.thread_time() - began) / CALLS


for name in sys.argv[2:]:
    theirs, ours = CASES[name]
    a, b = theirs(), ours()
    pairs = [(measured(theirs), measured(ours)) for _ in range(ROUNDS + 1)][1:]  # the first warms up
    apart = ((a - b).abs().max() / a.abs().max()).item()
    print(json.dumps({"version": torch.__version__, "name": name, "apart": apart, "pairs": pairs}), flush=True)
