"""seqmix: verified sequence-mixing kernels, a double-precision oracle for every one of them, and a laboratory
that trains tiny models of them. docs/PYTHON.md of the project goes through it.

    seqmix.ref.NAME(...)       the oracle, float64
    seqmix.testing             judge code of your own by it
    seqmix.Run(config)         train, evaluate, look inside: the program's runs, to the same bit
    seqmix.torch.NAME(...)     the float32 kernels under PyTorch's autograd
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import SeqmixError
from ._headers import version

if TYPE_CHECKING:
    from . import ref, testing, torch
    from .frames import results
    from .run import Run
    from .sweeping import sweep
    from .viewing import view

__version__ = version()
__all__ = ["Run", "SeqmixError", "ref", "results", "sweep", "testing", "torch", "view", "__version__"]

# Found when first asked for: `import seqmix` needs neither NumPy's nor PyTorch's start.
_PLACES = {"Run": ".run", "results": ".frames", "sweep": ".sweeping", "view": ".viewing"}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name], __name__), name)
    if name in ("ref", "testing", "torch"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"seqmix has no {name}")


def __dir__() -> list[str]:
    return __all__
