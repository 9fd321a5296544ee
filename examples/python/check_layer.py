"""Judge a PyTorch layer of your own, forward and backward, by the oracle: here LaS with a fault in it.

    python3 check_layer.py
"""
import torch
import torch.nn.functional as F

from seqmix.testing import check_layer


def my_las(q, k, v, *, window=3, mask=1):
    """[LaS] Eq. 4; q, k, v [B][H][L][d]. mask=2: the fault, a diagonal too many."""
    heads, length, d = q.shape[1:]
    rate = -torch.linspace(1, 0.1353352832366127, heads).to(q).log()  # exp(-alpha) from 1 to e^-2
    distance = (torch.arange(length)[:, None] - torch.arange(length)).clamp(min=0)
    scores = q @ k.transpose(-1, -2) / d**0.5 * (-rate[:, None, None] * distance).exp()
    scores = scores.masked_fill(torch.ones(length, length).triu(mask).bool(), -torch.inf)
    pooled = F.pad(v, (0, 0, window - 1, 0)).unfold(2, window, 1).mean(-1)
    return scores.softmax(-1) @ pooled


case = dict(layout="bhld", H=4, D=32, P=3, seeds=2, lengths=(1, 17, 100))
print(check_layer(my_las, "las_attention_qkv", **case))
print(check_layer(lambda q, k, v: my_las(q, k, v, mask=2), "las_attention_qkv", raises=False, **case))
