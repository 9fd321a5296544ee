"""scan_torch.py: the delta rule with channel gates as PyTorch's eager loop over rows, forward and backward, one thread: what
`seqmix bench 'scan delta rule'` measures of a scan. Milliseconds of processor time, the median of three.

    python3 bench/peers/scan_torch.py [COLUMNS ...]     16 and 64, if none are named"""
import sys
import time

import torch

torch.set_num_threads(1)
B, H, L = 4, 4, 4096


def step(d):
    draw = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(L, B, H, d, generator=draw).requires_grad_() for _ in range(3))
    b = torch.rand(L, B, H, 1, generator=draw).requires_grad_()
    g = (torch.rand(L, B, H, d, generator=draw) * -0.1).requires_grad_()
    began = time.process_time()
    S, rows = torch.zeros(B, H, d, d), []
    unit = k / k.norm(dim=-1, keepdim=True)
    # (unbound: backward of an index makes zeros of all rows for each)
    for qt, kt, vt, bt, at in zip(*(x.unbind(0) for x in (q, unit, v, b, g.exp()))):
        S = at[..., None] * S
        S = S + kt[..., None] * (bt * (vt - (kt[..., None, :] @ S)[..., 0, :]))[..., None, :]
        rows.append((qt[..., None, :] @ S)[..., 0, :])
    torch.stack(rows).sum().backward()
    return 1e3 * (time.process_time() - began)


for columns in map(int, sys.argv[1:] or ("16", "64")):
    print(f"delta rule, {columns} columns: {sorted(step(columns) for _ in range(3))[1]:.0f} ms, PyTorch {torch.__version__}")
