"""Judging code of your own by the oracle, with the tolerances of docs/ORACLE.md.

    seqmix.testing.assert_close(mine, seqmix.ref.las_attention_qkv(q, k, v, H=4), dtype="bf16")
    seqmix.testing.check_layer(my_torch_function, "las_attention_qkv", H=4)

An array passes when max |mine - theirs| <= tol * scale, the scale being the largest magnitude of `theirs`.
NaN never passes.
"""
from __future__ import annotations

import importlib.util
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import _plan, ref
from ._arrays import count, real
from ._draws import _are_optional, draw
from ._errors import SeqmixError
from ._formats import FORMATS, inputs_only
from ._judged import Judged
from ._layer import Layer, Numpy, Torch
from ._relations import wanted
from ._report import Fault, Report
from ._tolerances import assert_close, format_of, tolerances

__all__ = ["Fault", "Report", "assert_close", "check_layer", "draw", "tolerances"]


def check_layer(
    function: Callable[..., Any],
    mechanism: str,
    seeds: int | None = None,
    lengths: Sequence[int] | None = None,
    dtype: Any = "f32",
    layout: str = "bld",
    batch: Sequence[int] = (2,),
    optional: Sequence[str] | None = None,
    gradients: bool = True,
    device: Any = "cpu",
    raises: bool = True,
    budget: float = 45,
    seed: int = 0,
    arrays: str | None = None,
    backward: Callable[..., Mapping[str, Any]] | None = None,
    time_limit: float = 60,
    bits: bool | str | Sequence[str] = (),
    **params: Any,
) -> Report:
    """Judge a PyTorch function, forward and by autograd, or a NumPy function, against the oracle's `mechanism`,
    on inputs that are drawn for it.

    function: called with the mechanism's required inputs, by name where it has arguments of all their names, else
        in the mechanism's order, as tensors of `dtype` on `device` that
        require gradients (`help(seqmix.ref.NAME)` tells their names and shapes), and by keyword with those of
        its parameters that it has arguments for. It returns y, or (y, states ...) in the order of the oracle.
    budget: seconds. Within them goes a plan of cases: rows about every edge of blocks and up to 4,097; heads,
        columns, batches; draws with all bits, huge, tiny, saturated, gates from 0 to minus infinity; without
        gradients, on strided inputs, twice, in pieces ... in which any two of these meet (docs/ORACLE.md).
        Sizes in `params` stay as they are. seed: of the plan.
    dtype: "f64", "f32", "f16", "bf16", or NumPy's or PyTorch's name for it. "tf32": float32 tensors of eleven
        significant bits, judged by float16's tolerances; "e4m3", "e5m2": bfloat16 tensors of such numbers,
        judged as bfloat16 (docs/ORACLE.md).
    seeds, lengths: instead of the plan, so many draws of each length of sequences in a `batch`, called in the
        plainest way. A length that does not fit (bins) is rounded up.
    layout: "bhld": q, k, v, y are [*batch][H][L][d]; "blhd": [*batch][L][H][d]; else [*batch][L][H*d]. batch:
        leading dimensions of what each sequence has its own of.
    optional: optional inputs to draw; the function gets them by name. Without it: those that it has arguments
        for.
    params: the mechanism's, `H=4`, `pool="masked"`; sizes that are not given are those of its first test
        vector, or the plan's; a window that is not, and that the function has no argument for, is all rows. The
        report names the sizes that were assumed.
    gradients: False: forward only. raises: False: return the report also where something is wrong.
    arrays: "torch" or "numpy", what the function takes; "torch" where there is PyTorch. backward: gradients
        of a NumPy function, backward(dy, inputs, params), a dict by name like inputs.
    time_limit: seconds for a case of the function's; what takes longer is given up, and is a fault.

    bits: relations between results that hold to the bit, "later", "prefix", "padding", "batch", "order", "pieces",
        "decode" (docs/ORACLE.md), or True: all that the layer can show. One that does not is a fault; the report's `bits` has how far all
        of them hold.

    Returns a Report, or raises AssertionError with it: which arrays are past tolerance, where, and what kind
        of fault it looks
    like. In bfloat16 and float16 a small wrong term can hide: judge the formula in float32 first."""
    m, params = ref._named(mechanism), {ref._plain_name(n): v for n, v in params.items()}
    form = inputs_only(dtype) or format_of(dtype)
    if arrays not in (None, "torch", "numpy"):
        raise SeqmixError(f"arrays is {arrays!r:.40}; it must be 'torch' or 'numpy'")
    if backward is not None and arrays == "torch":
        raise SeqmixError("backward is for arrays='numpy'; tensors have autograd")
    by_numpy = arrays == "numpy" or backward is not None or importlib.util.find_spec("torch") is None
    if "L" in params:
        raise SeqmixError(f"L is {params['L']!r:.40}; lengths says how long the cases are")
    if layout not in ref.LAYOUTS or layout != "bld" and not m.has_heads:
        allowed = "'bld', 'bhld' or 'blhd'" if m.has_heads else f"'bld': {m.name} has no q, k, v"
        raise SeqmixError(f"layout is {layout!r:.40}; it must be {allowed}")
    budget, time_limit = real(budget, "budget"), real(time_limit, "time_limit")
    for name, value in (("budget", budget), ("time_limit", time_limit)):
        if not 0 < value < 1e6:
            raise SeqmixError(f"{name} is {value:g}; above 0 to a million seconds are allowed")
    seed = count(seed, "seed")
    held = FORMATS[form].held
    arrays_of = Numpy(held) if by_numpy else Torch(held, device)
    layer = Layer(function, m, arrays_of, backward, time_limit, layout == "blhd")
    _takes_what_there_is(layer, m, params)
    if optional is not None:
        _are_optional(m, optional)
    else:
        optional = [a for a in dict.fromkeys(a.name for a in m._arrays if a.optional) if a in layer.accepts]
    judged = Judged(layer, form, "bhld" if layout == "blhd" else layout, optional, gradients, params)
    claimed = wanted(bits)
    if seeds is not None or lengths is not None:
        cases = list(_said(judged, 5 if seeds is None else seeds, (1, 17, 300, 1025) if lengths is None else lengths))
        for case in cases:
            judged.one(case, batch)
        planned = len(cases)
    else:
        planned = judged.within(budget, seed)
    if claimed:
        judged.relations(claimed, bits is True, seed)
    report = judged.report(planned, seeds is None and lengths is None)
    if raises and not report:
        raise AssertionError(str(report))
    return report


def _takes_what_there_is(layer: Layer, m: ref.Mechanism, params: Mapping[str, Any]) -> None:
    """An argument that the function must get, and that is an input of the mechanism in other modes only."""
    there = {a.name for a in m._active(params)}
    for name, of in layer.accepts.items():
        modes = list(dict.fromkeys(a.when for a in m._arrays if a.name == name and a.kind == "input" and a.when))
        if of.default is of.empty and modes and name not in there:
            raise SeqmixError(f"the function has the argument {name}, which {m.name} has with {' or '.join(modes)} only")


def _said(judged: Judged, seeds: int, lengths: Sequence[int]) -> Iterator[_plan.Case]:
    if not hasattr(lengths, "__len__"):
        raise SeqmixError(f"lengths is {lengths!r:.40}; several are wanted, such as (1, 17)")
    if count(seeds, "seeds") < 1 or not len(lengths):  # nothing would be judged, and found right
        raise SeqmixError(f"seeds is {seeds}, lengths {lengths!r:.60}; at least one of each is needed")
    for length in lengths:
        for seed in range(seeds):
            yield _plan.Case(length, 0, 0, 0, "usual", bool(judged.optional), "plain", seed)
