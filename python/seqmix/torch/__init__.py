"""The float32 kernels under PyTorch's autograd: on the processor, on the caller's memory, forward and
backward. Each is the kernel that the program trains with; `seqmix.ref` is their judge.

A second derivative is not given: create_graph=True is a SeqmixError. (Registration as custom operators, for
torch.compile, would stand here: it is left for PyTorch 2.)"""
from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise ImportError("seqmix.torch needs PyTorch, which is not installed") from None

from ._call import Float32Warning, get_threads, set_threads
from .attention import (
    attention,
    cat_attention,
    landmark_attention,
    las_alphas,
    las_attention,
    linear_attention,
)
from .convolution import conv1d, iir, long_conv, s4d, unit_rows
from .models import Mixer, Model, weights
from .recurrent import (
    ema,
    gated_delta_rule,
    gated_linear_attention,
    gru,
    lstm,
    selective_scan,
    taylor_attention,
)

__all__ = [
    "Float32Warning",
    "Mixer",
    "Model",
    "attention",
    "cat_attention",
    "conv1d",
    "ema",
    "gated_delta_rule",
    "gated_linear_attention",
    "get_threads",
    "gru",
    "iir",
    "landmark_attention",
    "las_alphas",
    "las_attention",
    "linear_attention",
    "long_conv",
    "lstm",
    "s4d",
    "selective_scan",
    "set_threads",
    "taylor_attention",
    "unit_rows",
    "weights",
]
