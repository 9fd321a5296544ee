"""Our models as modules of PyTorch: each mixer a function of its weights (_mixers.py), those that are texts as
`seqmix export` writes them; the names of the weights are those of the checkpoints."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Callable, Mapping

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .._errors import SeqmixError
from .._program import output
from ..run import Run
from ._mixers import MIXERS, Config, Weights, _rms

Config = Mapping[str, str]
Weights = Mapping[str, Tensor]


class _Text:
    """A mixer that is a text: the steps that `seqmix export` writes for it."""

    def __init__(self, steps: str) -> None:
        self.steps, names = steps, {}
        exec(compile(steps, "seqmix export", "exec"), names)
        self.mixer = names["mixer"]

    def __call__(self, c: Config, w: Weights, x: Tensor) -> Tensor:
        return self.mixer(x, w)

    def __reduce__(self) -> Any:
        return _Text, (self.steps,)

    @classmethod
    def of(cls, run: Run) -> _Text:
        """Of a run whose blocks all have that mixer."""
        with tempfile.TemporaryDirectory(prefix="seqmix-") as folder:
            checkpoint, module = os.path.join(folder, "run"), os.path.join(folder, "model.py")
            run.save(checkpoint)
            output("export", checkpoint, "--pytorch", module)
            with open(module, encoding="utf-8") as file:
                return cls(file.read())


# ---- Modules


class _Tree(nn.Module):
    """Weights by names with points in them, so that state_dict has a checkpoint's names."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        inner: dict[str, dict[str, Tensor]] = {}
        for name, value in weights.items():
            first, point, rest = name.partition(".")
            if point:
                inner.setdefault(first, {})[rest] = value
            else:
                self.register_parameter(name, nn.Parameter(value.clone()))
        for name, values in inner.items():
            self.add_module(name, _Tree(values))

    @property
    def weights(self) -> dict[str, Tensor]:
        return dict(self.named_parameters())


def _opened(source: Any) -> tuple[Run, bool]:
    if isinstance(source, Run):
        return source, False
    text = (
        isinstance(source, Mapping)
        or isinstance(source, str)
        and "=" in source
        and not os.path.exists(source)
    )
    return (Run(source) if text else Run.load(source)), True


def weights(source: Run | str | bytes | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights of a run, of a checkpoint (path or bytes), or that a config starts from: tensors by name,
    copies, as load_state_dict of `Model` takes them."""
    run, ours = _opened(source)
    found = {
        n: torch.from_numpy(np.array(run.tensors[n]))
        for n in run.tensors
        if ":" not in n and _is_weight(run, n)
    }
    if ours:
        run.close()
    return found


def _is_weight(run: Run, name: str) -> bool:
    return f"grad:{name}" in run.tensors


def _blocks(run: Run) -> list[tuple[Config, Callable[[Config, Weights, Tensor], Tensor]]]:
    """Of each block its own config and its mixer."""
    values = run.values
    names = values["mixers"].split(",") if "mixers" in values else [values["mixer"]]
    same = len(set(names)) == 1 and not any(n.startswith("block") and "." in n for n in values)
    text = _Text.of(run) if same and names[0] not in MIXERS else None
    blocks = []
    for i in range(int(values["blocks"])):
        own = {**values, **_part(values, f"block{i}."), "mixer": names[i % len(names)]}
        blocks.append((own, text or MIXERS.get(own["mixer"]) or _text_of(own)))
    return blocks


def _text_of(own: Config) -> _Text:
    """Of one block among others: as in a model of that mixer alone."""
    mixers = {m["name"]: m for m in json.loads(output("help", "--json"))["mixers"]}
    keys = ["mixer", "width", "heads", "length"] + [k["name"] for k in mixers[own["mixer"]]["keys"]]
    config = "&".join(f"{k}={own[k]}" for k in keys)
    with Run(f"task=mqar&pairs=1&vocab=4&blocks=1&{config}") as run:
        return _Text.of(run)


class Mixer(_Tree):
    """One mixer: [B][L][D] to [B][L][D]. source: a run, a checkpoint (path or bytes), or a config, whose
    starting weights it has then: Mixer("mixer=las&width=64&heads=4"). block: which one of the model's.
    state_dict has the mixer's own names ("filter_q"). Errors: SeqmixError."""

    def __init__(self, source: Any, block: int = 0) -> None:
        run, ours = _opened(source)
        blocks, found = _blocks(run), weights(run)
        if ours:
            run.close()
        if isinstance(block, bool) or not isinstance(block, int) or not 0 <= block < len(blocks):
            raise SeqmixError(f"block is {block!r:.20}; the model has {len(blocks)}")
        super().__init__({**_part(found, "shared."), **_part(found, f"block{block}.mixer.")})
        self.config, self._function = blocks[block]

    def forward(self, x: Tensor) -> Tensor:
        return self._function(self.config, self.weights, x)


def _part(found: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {n[len(prefix) :]: t for n, t in found.items() if n.startswith(prefix)}


def _looked_up(tokens: Tensor, table: Tensor) -> Tensor:
    if tokens.is_floating_point() or tokens.is_complex() or tokens.dtype is torch.bool:
        raise SeqmixError(f"the tokens are {tokens.dtype}; whole numbers are allowed")
    try:
        return F.embedding(tokens.long(), table)
    except IndexError:
        ends = f"{int(tokens.min())} to {int(tokens.max())}"
        raise SeqmixError(f"the tokens are {ends}; 0 to {len(table) - 1} are allowed") from None


class Model(_Tree):
    """A whole model of ours: tokens [B][L] or values [B][L][C] to logits [B][L][classes], or [B][1][classes]
    where the task wants one answer. source as in `Mixer`. state_dict has the names of a checkpoint:
    model.load_state_dict(seqmix.torch.weights("run.st")). The same numbers as the run's evaluation to rounding:
    nothing is dropped (dropout=), batch norm uses its running statistics. Errors: SeqmixError."""

    def __init__(self, source: Any) -> None:
        run, ours = _opened(source)
        values, found, targets, blocks = run.values, weights(run), run.form.targets, _blocks(run)
        if ours:
            run.close()
        super().__init__(found)
        self.config, self.one_answer, self._blocks = values, targets == 1, blocks

    def _norm(self, w: Weights, name: str, x: Tensor) -> Tensor:
        kind = self.config["norm"]
        if kind == "rms":
            return _rms(x) * w[f"{name}.gain"]
        if kind == "batch":  # by the running statistics, which PyTorch does not train
            x = (x - w[f"{name}.mean"].detach()) * torch.rsqrt(w[f"{name}.variance"].detach() + 1e-5)
            return x * w[f"{name}.gain"] + w[f"{name}.bias"]
        return (
            x if kind == "none" else F.layer_norm(x, x.shape[-1:], w[f"{name}.gain"], w[f"{name}.bias"], 1e-5)
        )

    def _embedded(self, w: Weights, inputs: Tensor) -> Tensor:
        x = inputs @ w["input_w"] + w["input_bias"] if "input_w" in w else _looked_up(inputs, w["embedding"])
        if self.config["position"] == "learned":
            if x.shape[1] > len(w["position"]):
                raise SeqmixError(
                    f"{x.shape[1]} rows are too many: position=learned ends at length={len(w['position'])}"
                )
            x = x + w["position"][: x.shape[1]]
        if self.config["position"] == "sinusoidal":
            _, L, D = x.shape
            angle = torch.arange(L).double()[:, None] / 10000 ** (torch.arange(0, D, 2).double() / D)
            x = x + torch.stack((angle.sin(), angle.cos()), -1).flatten(1)[:, :D].float()
        return x

    def _pooled(self, x: Tensor) -> Tensor:
        how = self.config["pooling"]
        if how == "max":
            return x.max(1, keepdim=True).values
        if how == "mean":
            return x.mean(1, keepdim=True)
        return x[:, -1:] if how == "last" else x[:, :1]

    def forward(self, inputs: Tensor) -> Tensor:
        w, c = self.weights, self.config
        x = self._embedded(w, inputs)
        for block, (own, mixer) in enumerate(self._blocks):
            mine = _part(w, f"block{block}.")
            y = mixer(own, {**_part(w, "shared."), **_part(mine, "mixer.")}, self._norm(mine, "norm_1", x))
            gated = own["mixer"] in ("ema", "focus", "focus_h") or own.get("residual") == "0"
            x = y if gated else x + y
            if int(c["mlp"]):
                m = _part(mine, "mlp.")
                h = self._norm(mine, "norm_2", x) @ m["w_1"] + m["b_1"]
                x = (
                    x
                    + (F.gelu(h, approximate="tanh") if c["activation"] == "gelu" else F.silu(h)) @ m["w_2"]
                    + m["b_2"]
                )
        x = self._norm(w, "norm", x)
        x = self._pooled(x) if self.one_answer else x
        return x @ w["head"] + w["head_bias"]
