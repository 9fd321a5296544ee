"""PyTorch on the workloads, one thread. Reads lines "check NAME" and "time NAME SECONDS" and answers each with one line of JSON:
the losses of ten steps (W1, W2), the loss (W3 to W7) or what ten answers' squares add up to (read-...), and the processor time in ms
of the median step."""
import json
import os
import sys
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
FOLDER = sys.argv[1]


def shared_value(which, count, first=0):
    """Element i of array `which`, as bench/kernel_rows.c makes it."""
    i = np.arange(first, first + count, dtype=np.uint64)
    h = ((i + np.uint64(0x9E3779B9 * (which + 1) & 0xFFFFFFFF)) * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
    return ((h >> np.uint64(8)).astype(np.float64) / 8388608.0 - 1.0).astype(np.float32)


def shared(which, shape, scale=1.0):
    return torch.from_numpy(shared_value(which, int(np.prod(shape))).reshape(shape) * np.float32(scale))


def causal_attention(q, k, v, mask):
    """[B, L, H, d] -> [B, L, D]; mask and scale inside the batched product."""
    B, L, H, d = q.shape
    q, k, v = (x.permute(0, 2, 1, 3).reshape(B * H, L, d) for x in (q, k, v))
    p = torch.softmax(torch.baddbmm(mask, q, k.transpose(1, 2), alpha=d**-0.5), -1)
    return torch.bmm(p, v).view(B, H, L, d).permute(0, 2, 1, 3).reshape(B, L, H * d)


def read_arrays(name):
    spec = json.load(open(f"{FOLDER}{name}.json"))
    raw = np.memmap(f"{FOLDER}{name}.bin", dtype=np.uint8, mode="r")
    arrays = {}
    for key, a in spec["arrays"].items():
        kind = {"f32": np.float32, "i32": np.int32}[a["dtype"]]
        n = int(np.prod(a["shape"]))
        arrays[key] = torch.from_numpy(np.array(raw[a["offset"] : a["offset"] + 4 * n]).view(kind).reshape(a["shape"]).copy())
    return spec, arrays


class Workload:
    """Weights and batches of W1 or W2; the q, k, v matrices side by side in one weight."""

    def __init__(self, name, foreach):
        spec, arrays = read_arrays(name)
        self.meta, adamw = spec["meta"], spec["adamw"]
        p = {k: arrays[k] for k, a in spec["arrays"].items() if a["kind"] == "weight"}
        for key in [k for k in p if k.endswith(".w_q")]:
            stem = key[:-1]
            p[stem + "qkv"] = torch.cat([p.pop(stem + x) for x in "qkv"], 1)
        for key in [k for k in p if k.endswith(".filter_q")]:
            stem = key[:-1]
            p[stem + "qkv"] = torch.stack([p.pop(stem + x) for x in "qkv"])
        self.p = {k: v.requires_grad_(True) for k, v in p.items()}
        decays = [v for k, v in self.p.items() if v.dim() == 2 and "filter" not in k]
        others = [v for k, v in self.p.items() if not (v.dim() == 2 and "filter" not in k)]
        self.optimiser = torch.optim.AdamW(
            [{"params": decays, "weight_decay": adamw["decay"]}, {"params": others, "weight_decay": 0.0}],
            lr=adamw["rate"], betas=(adamw["b1"], adamw["b2"]), eps=adamw["eps"], foreach=foreach)
        L = self.meta["L"]
        self.mask = torch.full((L, L), float("-inf")).triu(1)
        self.targets = arrays["targets"].long()
        self.inputs = arrays["tokens"].long() if "tokens" in arrays else arrays["values"]
        self.loss = {"W1": self.w1, "W2": self.w2}[name]
        self.i = 0

    def norm(self, x, stem):
        return F.layer_norm(x, x.shape[-1:], self.p[stem + ".gain"], self.p[stem + ".bias"], 1e-5)

    def w1(self, tokens, targets):
        p, (B, L) = self.p, tokens.shape
        D = self.meta["D"]
        e = F.embedding(tokens, p["embedding"])
        z = (self.norm(e, "block0.norm_1").view(-1, D) @ p["block0.mixer.w_qkv"]).view(B, L, 3, 1, D)
        f = p["block0.mixer.filter_qkv"]  # [3, H, W]
        padded = F.pad(z, (0, 0, 0, 0, 0, 0, 2, 0))
        z = padded[:, 2:] * f[:, :, 0, None] + padded[:, 1:-1] * f[:, :, 1, None] + padded[:, :-2] * f[:, :, 2, None]
        o = causal_attention(*z.unbind(2), self.mask)
        x = e + (o.view(-1, D) @ p["block0.mixer.w_o"]).view(B, L, D)
        rows = (targets.reshape(-1) >= 0).nonzero().squeeze(1)  # only these rows have a loss
        h = self.norm(x.view(-1, D)[rows], "norm")
        return F.cross_entropy(torch.addmm(p["head_bias"], h, p["head"]), targets.reshape(-1)[rows])

    def w2(self, values, targets):
        p, (B, L), D, H = self.p, values.shape, self.meta["D"], self.meta["H"]
        x = values[..., None] * p["input_w"] + p["input_bias"] + p["position"]
        for i in range(self.meta["blocks"]):
            b = f"block{i}."
            z = (self.norm(x, b + "norm_1").view(-1, D) @ p[b + "mixer.w_qkv"]).view(B, L, 3, H, D // H)
            o = causal_attention(*z.unbind(2), self.mask)
            x = x + (o.view(-1, D) @ p[b + "mixer.w_o"]).view(B, L, D)
            h = torch.addmm(p[b + "mlp.b_1"], self.norm(x, b + "norm_2").view(-1, D), p[b + "mlp.w_1"])
            x = x + torch.addmm(p[b + "mlp.b_2"], F.gelu(h, approximate="tanh"), p[b + "mlp.w_2"]).view(B, L, D)
        return F.cross_entropy(torch.addmm(p["head_bias"], self.norm(x, "norm").mean(1), p["head"]), targets)

    def step(self):
        i = self.i % len(self.inputs)
        self.i += 1
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.loss(self.inputs[i], self.targets[i])
        loss.backward()
        self.optimiser.step()
        return loss


class LongConvolution:
    def __init__(self):
        B, D, L = 4, 64, 4096
        self.L = L
        self.x = shared(0, (B, D, L)).requires_grad_(True)
        self.g = shared(1, (B, D, L), 0.01)
        self.k = shared(2, (D, L), 0.0625).requires_grad_(True)

    def step(self):
        self.x.grad = self.k.grad = None
        N = 2 * self.L
        y = torch.fft.irfft(torch.fft.rfft(self.x, N) * torch.fft.rfft(self.k, N), N)[..., : self.L]
        loss = (y * self.g).sum()
        loss.backward()
        return loss


class LinearAttention:
    def __init__(self, C):
        B, H, L, d = 4, 4, 4096, 16
        # arrays are numbered [B][D][L], here [B, H, L, d]
        lay = lambda which, scale: shared(which, (B, H, d, L), scale).permute(0, 1, 3, 2).contiguous()
        self.q, self.k, self.v = (lay(i, s).requires_grad_(True) for i, s in ((0, 1 / d), (1, 1.0), (2, 1.0)))
        self.g = lay(3, 1e-3)
        self.shape, self.mask = (B * H, L // C, C, d), torch.ones(C, C).tril()

    def step(self):
        self.q.grad = self.k.grad = self.v.grad = None
        q, k, v = (x.view(self.shape) for x in (self.q, self.k, self.v))
        states = torch.matmul(k.transpose(-1, -2), v)
        before = states.cumsum(1) - states
        y = torch.matmul(torch.matmul(q, k.transpose(-1, -2)) * self.mask, v) + torch.matmul(q, before)
        loss = (y.view(self.g.shape) * self.g).sum()
        loss.backward()
        return loss


def in_chunks(x, C):
    """[B, H, L, ..] -> [B H, L / C, C, ..]"""
    return x.reshape(-1, x.shape[2] // C, C, *x.shape[3:])


class States:
    """Gated linear attention (a gate a channel) or the delta rule, in chunks of C rows; a loop over the chunks carries the state."""

    B, H, L = 4, 4, 4096

    def __init__(self, kind, d, C):
        B, H, L = self.B, self.H, self.L
        lay = lambda which, scale=1.0: shared(which, (B, H, d, L), scale).permute(0, 1, 3, 2).contiguous()
        k = lay(1)
        k = k / k.square().sum(-1, keepdim=True).sqrt()
        gates = (lay(4) - 1) / 32 if kind == "gla" else (shared(4, (B, H, L)) + 1) / 2
        self.x = [x.requires_grad_(True) for x in (lay(0), k, lay(2), gates)]
        self.g = lay(3, 1e-3)
        self.C, self.d, self.core = C, d, getattr(self, kind)
        self.mask = torch.ones(C, C).tril()

    def gla(self, q, k, v, g):
        G = g.cumsum(2)
        up, last = G.exp(), G[:, :, -1:]
        q, near, far = q * up, k * (-G).exp(), k * (last - G).exp()  # gates are mild: e^-G stays small within a chunk
        o = torch.matmul(torch.matmul(q, near.transpose(-1, -2)) * self.mask, v)
        wrote, fade = torch.matmul(far.transpose(-1, -2), v), last.exp().transpose(-1, -2)
        S, before = torch.zeros(len(q), self.d, self.d), []
        for w, f in zip(wrote.unbind(1), fade.unbind(1)):
            before.append(S)
            S = f * S + w
        return o + torch.matmul(q, torch.stack(before, 1))

    def delta(self, q, k, v, beta):
        C = self.C
        kb, vb = k * beta[..., None], v * beta[..., None]
        A = torch.matmul(kb, k.transpose(-1, -2)).tril(-1) + torch.eye(C)
        both = torch.linalg.solve_triangular(A, torch.cat([kb, vb], -1), upper=False, unitriangular=True)
        W, U = both.split(self.d, -1)
        P = torch.matmul(q, k.transpose(-1, -2)) * self.mask
        S, out = torch.zeros(len(q), self.d, self.d), []
        for qi, ki, wi, ui, pi in zip(q.unbind(1), k.unbind(1), W.unbind(1), U.unbind(1), P.unbind(1)):
            u = torch.baddbmm(ui, wi, S, alpha=-1)
            out.append(torch.baddbmm(torch.bmm(pi, u), qi, S))
            S = torch.baddbmm(S, ki.transpose(1, 2), u)
        return torch.stack(out, 1)

    def step(self):
        for x in self.x:
            x.grad = None
        o = self.core(*(in_chunks(x, self.C) for x in self.x)) * (1 / self.d)
        loss = (o.view(self.g.shape) * self.g).sum()
        loss.backward()
        return loss


class Lstm:
    """torch.nn.LSTM without biases, gradients of its input and weights; batch_first or not."""

    def __init__(self, batch_first):
        B, L, E = 32, 256, 64
        self.net = torch.nn.LSTM(E, E, bias=False, batch_first=batch_first)
        for name, which in (("weight_ih_l0", 1), ("weight_hh_l0", 2)):
            getattr(self.net, name).data = shared(which, (E, 4 * E), 0.125).T.contiguous()
        lay = lambda x: x if batch_first else x.transpose(0, 1).contiguous()
        self.x, self.g = lay(shared(0, (B, L, E))).requires_grad_(True), lay(shared(3, (B, L, E), 1e-2))

    def step(self):
        self.x.grad = None
        self.net.zero_grad(set_to_none=True)
        loss = (self.net(self.x)[0] * self.g).sum()
        loss.backward()
        return loss


class Reading:
    """One row of 64 numbers at a time through one layer that remembers: a cache of keys and values, or a state. `form` is one of
    several ways to write the same. A step is 64 rows around that position."""

    HEADS, ROWS = 4, 64

    def __init__(self, name, form):
        spec, arrays = read_arrays(name)
        _, self.kind, position = name.split("-")
        self.form, self.losses, self.position = form, spec["losses"], int(position)
        self.values = arrays["values"]
        self.p = {k.replace("block0.mixer.", ""): v for k, v in arrays.items() if k != "values"}
        if self.kind != "lstm":
            self.p["w_qkv"] = torch.cat([self.p["w_" + x] for x in "qkv"], 1)
        D = self.p["head"].shape[0]
        self.layer, self.d = getattr(self, self.kind), D // self.HEADS
        if self.kind == "lstm":  # gates i, f, g, o, as PyTorch has them
            self.cell = torch.nn.LSTMCell(D, D)
            own = (("weight_ih", self.p["w"].T), ("weight_hh", self.p["u"].T), ("bias_ih", self.p["b"]), ("bias_hh", torch.zeros(4 * D)))
            for key, value in own:
                getattr(self.cell, key).data = value.contiguous()
        self.filled = False
        self.rest()

    def rest(self):
        """Nothing has been read."""
        H, d, most = self.HEADS, self.d, self.position + self.ROWS
        self.at = 0
        self.keys, self.kept = torch.zeros(1, H, most, d), torch.zeros(1, H, most, d)
        self.S, self.z = torch.zeros(1, H, d, d), torch.zeros(1, H, d)
        self.h, self.c = torch.zeros(1, H * d), torch.zeros(1, H * d)

    def fill(self):
        """As if so many rows had been read."""
        generator = torch.Generator().manual_seed(1)
        for x in (self.keys, self.kept, self.S, self.z, self.h, self.c):
            x.uniform_(generator=generator)
        self.filled = True

    def qkv(self, x):
        return (x @ self.p["w_qkv"]).view(1, 3, self.HEADS, self.d).unbind(1)

    def attention(self, x):
        q, k, v = self.qkv(x)
        self.keys[:, :, self.at], self.kept[:, :, self.at] = k, v
        self.at += 1
        keys, values = self.keys[:, :, : self.at], self.kept[:, :, : self.at]
        if self.form:
            p = torch.softmax(torch.bmm(keys[0], q.view(self.HEADS, self.d, 1)) * self.d**-0.5, 1)
            o = torch.bmm(p.transpose(1, 2), values[0])
        else:
            o = torch.softmax(q.unsqueeze(2) @ keys.transpose(2, 3) * self.d**-0.5, -1) @ values
        return o.view(1, -1) @ self.p["w_o"]

    def linear(self, x):
        q, k, v = self.qkv(x)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        if self.form:
            self.S += k.unsqueeze(3) * v.unsqueeze(2)
            self.z += k
        else:
            self.S.view(-1, self.d, self.d).baddbmm_(k.view(-1, self.d, 1), v.view(-1, 1, self.d))
            self.z.add_(k)
        o = (q.unsqueeze(2) @ self.S).squeeze(2) / (q * self.z).sum(-1, keepdim=True)
        return o.view(1, -1) @ self.p["w_o"]

    def gla(self, x):
        p = self.p
        q, k, v = self.qkv(x)
        gates = F.logsigmoid(torch.addmm(p["b_g"], x @ p["w_g1"], p["w_g2"])) / 16
        self.S.mul_(gates.exp().view(1, self.HEADS, self.d, 1))
        if self.form:
            self.S += k.unsqueeze(3) * v.unsqueeze(2)
        else:
            self.S.view(-1, self.d, self.d).baddbmm_(k.view(-1, self.d, 1), v.view(-1, 1, self.d))
        o = (q.unsqueeze(2) @ self.S).squeeze(2) * self.d**-0.5
        o = o * torch.rsqrt(o.square().mean(-1, keepdim=True) + 1e-5)
        r = F.silu(torch.addmm(p["b_r"], x, p["w_r"]))
        return (o.view(1, -1) * p["gain"] * r) @ p["w_o"]

    def lstm(self, x):
        if self.form:
            self.h, self.c = self.cell(x, (self.h, self.c))
            return self.h
        i, f, g, o = (torch.addmm(self.p["b"], x, self.p["w"]) + self.h @ self.p["u"]).chunk(4, 1)
        self.c = f.sigmoid() * self.c + i.sigmoid() * g.tanh()
        self.h = o.sigmoid() * self.c.tanh()
        return self.h

    def row(self, x):
        p = self.p
        x = torch.addmm(p["input_bias"], x, p["input_w"])
        return torch.addmm(p["head_bias"], x + self.layer(x), p["head"])

    @torch.inference_mode()
    def check(self):
        self.rest()
        return [float(self.row(x).square().sum()) for x in self.values]

    @torch.inference_mode()
    def step(self):
        if not self.filled:
            self.fill()
        self.at = self.position - self.ROWS // 2
        for t in range(self.ROWS):
            self.row(self.values[t % len(self.values)])


def candidates(name):
    """The forms to choose the fastest of."""
    if name.startswith("read-"):
        return [Reading(name, form) for form in (0, 1)]
    if name.startswith(("W5", "W6")):
        _, kind, d = name.split("-")
        return [States(kind, int(d[1:]), C) for C in (16, 32, 64, 128)]
    if name.startswith("W7"):
        return [Lstm(False), Lstm(True)]
    if name in ("W1", "W2"):
        return [Workload(name, False), Workload(name, True)]
    return [LongConvolution()] if name == "W3" else [LinearAttention(C) for C in (32, 64, 128)]


def median_ms(work, seconds):
    times, start = [], time.process_time()
    while len(times) < 3 or time.process_time() - start < seconds:
        t = time.process_time()
        work.step()
        times.append(1e3 * (time.process_time() - t))
    return sorted(times)[len(times) // 2]


ready = {}
print(json.dumps({"peer": "PyTorch", "version": torch.__version__}), flush=True)
for line in sys.stdin:
    what, name, *rest = line.split()
    if what == "check":
        forms = candidates(name)
        if name.startswith("read-"):
            losses, other = (form.check() for form in forms)
            assert np.allclose(losses, other, rtol=1e-4), (losses, other)
        else:
            losses = [float(forms[0].step()) for _ in range(10 if name in ("W1", "W2") else 1)]
        ready[name] = min(forms, key=lambda work: (work.step(), median_ms(work, 0.5))[1])
        print(json.dumps({"losses": losses}), flush=True)
    else:
        print(json.dumps({"ms": median_ms(ready[name], float(rest[0]))}), flush=True)
