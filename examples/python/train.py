"""Train a small classifier in PyTorch whose attention is our kernel, and time it against eager attention.

    python3 train.py [STEPS]
"""
import sys
import time

import torch
from torch import nn

import seqmix.torch

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
LENGTH, WIDTH, HEADS = 196, 64, 4


def eager(q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return scores.masked_fill(torch.ones(LENGTH, LENGTH).triu(1).bool(), -torch.inf).softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention, self.norm = attention, nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        return x + self.out(self.attention(q, k, v).transpose(1, 2).flatten(2))


def train(attention):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(1, WIDTH), Block(attention), Block(attention), nn.Linear(WIDTH, 2))
    optimiser = torch.optim.AdamW(model.parameters(), 3e-3)
    began = time.process_time()
    for _ in range(STEPS):
        x = torch.randn(16, LENGTH, 1)
        answer = (x.sum((1, 2)) > 0).long()  # is the sum positive? asked of the last row
        loss = nn.functional.cross_entropy(model(x)[:, -1], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item(), time.process_time() - began


ours, our_seconds = train(seqmix.torch.attention)
theirs, their_seconds = train(eager)
print(f"loss {ours:.4f} with our kernel, {theirs:.4f} eagerly")
print(
    f"processor time {our_seconds:.2f} s and {their_seconds:.2f} s: {their_seconds / our_seconds:.1f} times"
    " as much"
)
