"""The oracle: every mechanism and core in double precision, as plain loops, by its name in the manifest of
test vectors.

    y = seqmix.ref.cat_attention(x, wq, wk, wv, wo, filter_q=f, H=2)          # float64
    y, gradients = seqmix.ref.cat_attention.value_and_grad(x, wq, wk, wv, wo, H=2, dy=dy)

`names()` lists them; `seqmix.ref.cat` is short for `cat_attention`, and so for every name that ends in
`_attention`. What each takes, with shapes and source: `help(seqmix.ref.cat_attention)`. The rules for batches and
layouts are those of docs/ORACLE.md. Long because arguments are checked in sentences.
"""
from __future__ import annotations

import collections
import inspect
import json
import math
import numbers
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from . import _arrays, _native
from ._arrays import shape_text
from ._case import LAYOUTS, _Array, _Case, _Heads, _default, _heads, _join, _plain_name, _python_name, _shared, _split, _turned
from ._errors import SeqmixError

__all__ = ["Mechanism", "names"]


class Mechanism:
    """A mechanism of the oracle. Call it with its inputs, in order or by name, and its parameters by name."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.name: str = table["name"]
        self.source: str = table["source"]
        self.params: dict[str, dict[str, str]] = {p["name"]: p for p in table["params"]}
        self._arrays = [_Array(**a) for a in table["arrays"]]
        self._case: dict[str, Any] = table["case"]
        self._draws: dict[str, list[int]] = table["draws"]
        self.inputs: list[str] = list(
            dict.fromkeys(a.name for a in self._arrays if a.kind == "input" and a.name != "dy")
        )
        self.outputs: list[str] = sorted(
            dict.fromkeys(a.name for a in self._arrays if a.kind == "output"), key=lambda n: n != "y"
        )
        self.has_gradient: bool = any(a.name == "dy" for a in self._arrays)
        self.has_heads: bool = any(
            a.kind == "input" and (a.name == "q" or a.shape.startswith("L H*") and a.name != "dy") for a in self._arrays
        )
        self._packs: bool = self._can_pack()
        self.__name__ = self.__qualname__ = self.name
        self.__doc__ = self._document()
        self.__signature__ = self._signature()
        self._result = collections.namedtuple(f"{self.name}_result", self.outputs)  # type: ignore[misc]

    def __reduce__(self) -> Any:
        return _named, (self.name,)

    def __repr__(self) -> str:
        return f"seqmix.ref.{self.name}{self.__signature__}"

    def _can_pack(self) -> bool:
        """Whether `cu` is allowed beside its inputs: no array but those of rows is as long as they are."""
        rows = [a for a in self._arrays if a.shape.startswith("L ")]
        others = [a for a in self._arrays if not a.shape.startswith("L ")]
        long = any("L" in a.shape or "n_bins" in a.shape or a.name == "y" for a in others)
        return any(a.kind == "input" and a.name != "dy" for a in rows) and not long

    # ---- What it says of itself
    def _document(self) -> str:
        lines = [f"{self.source}. Float64, by plain loops.", ""]
        words = {"size": "int >= 1", "size0": "int >= 0", "real": "float", "reals": "floats", "flag": "bool"}
        for a in self._arrays:
            if a.kind == "middle" or a.name == "dy":
                continue
            notes = [f"where {a.when.replace(' ', ', ')}"] * bool(a.when) + ["optional"] * (a.optional)
            notes += ["int32"] * a.integer + ["no gradient"] * (a.kind == "input" and not a.gradient)
            text = f"{a.name} {shape_text(a.shape.split())}" + (f" ({'; '.join(notes)})" if notes else "")
            lines.append(("returns " if a.kind == "output" else "") + text)
        for p in self.params.values():
            kind = words.get(p["type"], p["type"].replace("|", " | "))
            default = f", default {p['default']}" if p["default"] else ""
            lines.append(f"{_python_name(p['name'])}: {kind}{default}")
        lines += [
            "",
            (
                "Any input may have leading batch dimensions, all the same ones; one without them is shared,"
                " and its gradient"
            ),
        ]
        lines += [
            "is the sum over the batch. Sizes that a shape names are found from the arrays. Errors:"
            " SeqmixError."
        ]
        if self.has_heads:
            lines += [
                'layout="bhld": rows of heads are [...][H][L][d] instead of [...][L][H*d]; "blhd": [...][L][H][d]. In both an'
                " array may have fewer heads, which then share one of its."
            ]
        if self._packs:
            lines += ["cu: several sequences in one array, rows cu[n] to cu[n+1] - 1 each; states are [n] of them."]
        return "\n".join(lines)

    def _signature(self) -> inspect.Signature:
        of = inspect.Parameter
        needed = {a.name for a in self._arrays if a.kind == "input" and not a.when and not a.optional}
        inputs = sorted(self.inputs, key=lambda n: n not in needed)  # stable
        self.inputs = inputs
        listed = [of(n, of.POSITIONAL_OR_KEYWORD, default=of.empty if n in needed else None) for n in inputs]
        listed += [
            of(_python_name(n), of.KEYWORD_ONLY, default=_default(p))
            for n, p in self.params.items()
            if n not in inputs
        ]
        if self.has_heads:
            listed.append(of("layout", of.KEYWORD_ONLY, default="bld"))
        if self._packs and "cu" not in self.inputs:
            listed.append(of("cu", of.KEYWORD_ONLY, default=None))
        return inspect.Signature(listed)

    # ---- Reading what was given
    def _holds(self, when: str, params: Mapping[str, Any]) -> bool:
        return all(
            params.get(name, self.params[name]["default"]) == word
            for name, word in (w.split("=") for w in when.split())
        )

    def _active(self, params: Mapping[str, Any]) -> Iterator[_Array]:
        return (a for a in self._arrays if self._holds(a.when, params))

    def _param(self, name: str, value: Any) -> Any:
        kind = self.params[name]["type"]
        if kind == "reals":
            return [float(x) for x in _arrays.reals(value, f"{self.name}: the parameter {name}").ravel()]
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        if isinstance(value, numbers.Integral):
            return int(value)
        if isinstance(value, numbers.Real) and math.isfinite(value):
            return float(value)
        if isinstance(value, str):
            return value
        raise SeqmixError(f"{self.name}: the parameter {name} is {value!r:.60}; it must be {kind}")

    def _sort(self, args: tuple, given: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Inputs and parameters apart, each of its type."""
        if len(args) > len(self.inputs):
            raise SeqmixError(
                f"{self.name} takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), {len(args)} were"
                " given"
            )
        values = dict(zip(self.inputs, args))
        for name, value in given.items():
            name = _plain_name(name)
            if name in values:
                raise SeqmixError(f"{self.name}: {name} is given twice")
            if name not in self.inputs and name not in self.params and name != "dy" and not (name == "cu" and self._packs):
                raise SeqmixError(
                    f"{self.name} has no input or parameter {name}; it has"
                    f" {', '.join([*self.inputs, *self.params])}"
                )
            values[name] = value
        values = {name: value for name, value in values.items() if value is not None}
        params = {
            n: self._param(n, v) for n, v in values.items() if n in self.params and n not in self.inputs
        }
        here = {a.name: a for a in self._active(params) if a.kind == "input"}
        inputs = {}
        for name, value in values.items():
            if name in here:
                read = _arrays.integers if here[name].integer else _arrays.reals
                inputs[name] = read(value, f"{self.name}: {name}")
            elif name in self.params and name not in params:
                params[name] = self._param(name, value)
            elif name == "cu" and self._packs:
                inputs[name] = _arrays.integers(value, f"{self.name}: cu")
            elif name not in self.params:
                raise SeqmixError(f"{self.name} has no input {name} with these parameters")
        return inputs, params

    # ---- Running
    def _run(
        self, args: tuple, given: dict[str, Any], layout: str
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Outputs and intermediates; gradients."""
        if layout not in LAYOUTS:
            raise SeqmixError(f"layout is {layout!r:.40}; it must be 'bld', 'bhld' or 'blhd'")
        if layout != "bld" and not self.has_heads:
            raise SeqmixError(f"{self.name} takes no layout={layout!r}: it has no q, k, v")
        inputs, params = self._sort(args, given)
        specs = {a.name: a for a in self._active(params) if a.kind == "input"}
        apart = {a.name: h for a in self._active(params) if layout != "bld" and (h := _heads(a.shape)) is not None}
        each = self._join_heads(inputs, params, apart, layout)
        heads = params.get("H", 1)
        for name, array in inputs.items():  # dk of "L H*dk"
            size = specs[name].shape.partition(" H*")[2] if name in specs else ""
            if size in self.params and array.ndim and isinstance(heads, int) and heads > 0:
                params.setdefault(size, max(1, array.shape[-1] // heads))
        cu = None if "cu" in specs else inputs.pop("cu", None)
        states = {n for n, a in specs.items() if a.sequence and not a.shape.startswith("L ")} - {"dy"}
        dims = {n: len(a.shape.split()) + (cu is not None and n in states) for n, a in specs.items()}
        lead = {n: a.shape[: max(0, a.ndim - dims[n])] for n, a in inputs.items()}
        batch = next(filter(None, lead.values()), ())
        for name, own in lead.items():
            if own and own != batch:
                raise SeqmixError(
                    f"{self.name}: {name} has the batch {shape_text(own)}; another array has"
                    f" {shape_text(batch)}"
                )
        if 0 in batch:
            raise SeqmixError(f"{self.name}: the batch {shape_text(batch)} has no entries")
        if batch and "dy" in lead and not lead["dy"]:
            raise SeqmixError(
                f"{self.name}: dy has no batch dimensions, but other arrays have {shape_text(batch)}"
            )
        outputs: dict[str, np.ndarray] = {}
        gradients: dict[str, np.ndarray] = {}
        wanted = [a for a in self._active(params) if a.kind != "input"]
        with_gradient = [n for n in inputs if "dy" in inputs and specs[n].gradient]

        def one(given: Mapping[str, np.ndarray], sizes: Mapping[str, Any]) -> tuple[dict, dict]:
            with _Case(self.name, sizes) as case:
                for name, array in given.items():
                    case.set(name, np.ascontiguousarray(array))
                case.run()
                found = {a.name: case.copy(a.kind[0], a.name) for a in wanted}
                slopes = {n: case.copy("d", n) for n in with_gradient}
            return found, slopes

        def piece(at: tuple) -> list[tuple[dict, str, Any, tuple, tuple]]:
            given = {n: a[at] if lead[n] else a for n, a in inputs.items()}
            found, slopes = one(given, params) if cu is None else self._packed(one, given, params, cu, states)
            kept = [(outputs, n, a, batch, at) for n, a in found.items()]
            for name, slope in slopes.items():
                kept.append((gradients, name, slope, *((batch, at) if lead[name] else ((), ()))))
            return kept

        pieces = list(np.ndindex(*batch))
        if len(pieces) == 1:
            done = [piece(pieces[0])]
        else:
            with ThreadPoolExecutor(min(len(pieces), os.cpu_count() or 1)) as pool:
                done = list(pool.map(piece, pieces))
        for found in done:  # sums in order, whoever came first
            for results in found:
                self._keep(*results)
        for results in (outputs, gradients):
            for name in results.keys() & apart.keys():
                results[name] = _split(results[name], apart[name], params)
        for name in gradients.keys() & each.keys():
            gradients[name] = _shared(gradients[name], apart[name], each[name])
        if layout == "blhd":
            for results in (outputs, gradients):
                results |= {name: _turned(results[name], apart[name]) for name in results.keys() & apart.keys()}
        return outputs, gradients

    def _join_heads(
        self, inputs: dict[str, np.ndarray], params: dict[str, Any], apart: Mapping[str, _Heads], layout: str
    ) -> dict[str, int]:
        """[...][H][L][d] becomes [...][L][H*d], and what has fewer heads than H is repeated: how often, by name."""
        number, each = {}, {}
        if any(h.stepped for h in apart.values()):
            params.setdefault("n", _default(self.params["n"]))
        for name in inputs.keys() & apart.keys():
            least = 3 if apart[name].columns else 2
            if inputs[name].ndim < least or not inputs[name].size:
                wanted = ("[...][H][L]" if layout == "bhld" else "[...][L][H]") + "[d]" * bool(apart[name].columns)
                raise SeqmixError(
                    f"{self.name}: {name} has the shape {shape_text(inputs[name].shape)}; layout={layout!r} wants"
                    f" {wanted}"
                )
            if layout == "blhd":
                inputs[name] = _turned(inputs[name], apart[name])
            rows, steps = inputs[name].shape[1 - least], params.get("n", 1)
            if apart[name].stepped and (not isinstance(steps, int) or steps < 1 or rows % steps):
                raise SeqmixError(f"{self.name}: {name} has {rows} rows, which are no whole number of n = {steps}")
            number[name] = inputs[name].shape[-least]
            if apart[name].called in self.params and apart[name].called != "H":
                params.setdefault(apart[name].called, number[name])
        own = {n: h for n, h in number.items() if apart[n].called == "H"}
        if own:
            says = "the parameter" if "H" in params else "the most that an array has"
            heads = params.setdefault("H", max(own.values()))
            for name in (n for n in inputs if own.get(n, heads) != heads):
                if name == "dy":
                    raise SeqmixError(f"{self.name}: dy has {own[name]} heads; it must have H = {heads}, as y")
                if not isinstance(heads, int) or heads % own[name]:
                    raise SeqmixError(f"{self.name}: {name} has {own[name]} heads, which do not divide H = {heads}, {says}")
                each[name] = heads // own[name]
        for name in number:
            columns = apart[name].columns
            if name in each:
                try:
                    inputs[name] = np.repeat(inputs[name], each[name], -3 if columns else -2)
                except (MemoryError, ValueError):  # (NumPy's error for sizes beyond 64 bits)
                    raise SeqmixError(f"{self.name}: not enough memory for {name} with H = {heads}") from None
            if columns in self.params:
                params.setdefault(columns, inputs[name].shape[-1])
            inputs[name] = _join(inputs[name], apart[name], params)
        return each

    def _packed(
        self, one: Callable, given: Mapping[str, np.ndarray], params: Mapping[str, Any], cu: np.ndarray, states: set[str]
    ) -> tuple[dict, dict]:
        """Each sequence alone; rows one after another again, states side by side, gradients of weights summed."""
        rows = {n for n in given if n == "dy" or n not in states and self._rows(n)}
        for name in rows | given.keys() & states:
            if not given[name].ndim:
                raise SeqmixError(f"{self.name}: {name} is one number; beside cu an array is needed")
        long = {len(given[n]) for n in rows}
        if cu.ndim != 1 or len(cu) < 2 or cu[0] or (np.diff(cu) < 1).any() or long != {int(cu[-1])}:
            raise SeqmixError(
                f"{self.name}: cu is {cu.tolist()}; it must begin with 0, rise, and end with L = {max(long)}"
            )
        for name in given.keys() & states:
            if len(given[name]) != len(cu) - 1:
                raise SeqmixError(f"{self.name}: {name} must be one for each of the {len(cu) - 1} packed sequences")
        parts = []
        for n, (first, last) in enumerate(zip(cu, cu[1:])):
            mine = {m: a[first:last] if m in rows else a[n] if m in states else a for m, a in given.items()}
            parts.append(one(mine, {**params, **({"L": int(last - first)} if "L" in params else {})}))

        def together(name: str, arrays: list[np.ndarray], slope: bool) -> np.ndarray:
            if name in rows or not slope and self._rows(name):
                return np.concatenate(arrays)
            return sum(arrays) if slope and name not in states else np.stack(arrays)

        def all_of(which: int) -> dict:
            first = parts[0][which]
            return {n: a if a is None else together(n, [p[which][n] for p in parts], which == 1) for n, a in first.items()}

        return all_of(0), all_of(1)

    def _rows(self, name: str) -> bool:
        return any(a.name == name and a.shape.startswith("L ") for a in self._arrays)

    @staticmethod
    def _keep(
        results: dict[str, np.ndarray], name: str, piece: np.ndarray | None, batch: tuple, at: tuple
    ) -> None:
        if piece is None:
            return
        if name not in results:
            results[name] = np.zeros(batch + piece.shape)
        results[name][at] += piece

    def _value(self, outputs: dict[str, np.ndarray]) -> Any:
        return (
            outputs[self.outputs[0]]
            if len(self.outputs) == 1
            else self._result(*(outputs.get(n) for n in self.outputs))
        )

    def __call__(self, *inputs: Any, layout: str = "bld", **more: Any) -> Any:
        self._no_dy(more)
        return self._value(self._run(inputs, more, layout)[0])

    def _no_dy(self, more: Mapping[str, Any]) -> None:
        if "dy" in more:
            raise SeqmixError(
                f"{self.name}: dy is for {self.name}.grad(dy)(...) and value_and_grad(..., dy=dy)"
            )

    def parts(self, *inputs: Any, layout: str = "bld", **more: Any) -> dict[str, np.ndarray]:
        """Every output and intermediate, by name."""
        self._no_dy(more)
        return self._run(inputs, more, layout)[0]

    def value_and_grad(
        self, *inputs: Any, dy: Any = None, layout: str = "bld", **more: Any
    ) -> tuple[Any, dict[str, np.ndarray]]:
        """The value, and the gradient of sum(y * dy) by every input that was given, by name. dy: as y; 1
        where y is one number."""
        if not self.has_gradient:
            raise SeqmixError(f"{self.name} has no gradient")
        if dy is None and "V" not in self.params:
            raise SeqmixError(f"{self.name}: dy is missing: the gradient by y, of y's shape")
        outputs, gradients = self._run(inputs, {**more, "dy": [1.0] if dy is None else dy}, layout)
        return self._value(outputs), gradients

    def grad(self, dy: Any) -> Callable[..., dict[str, np.ndarray]]:
        """A function of the inputs: the gradients of sum(y * dy) by each."""
        return lambda *inputs, **more: self.value_and_grad(*inputs, dy=dy, **more)[1]


def _named(name: Any) -> Mechanism:
    """Of the judges' arguments: the mechanism of that name, or one itself."""
    if isinstance(name, Mechanism):
        return name
    found = _mechanisms()
    if not isinstance(name, str) or not (name in found or f"{name}_attention" in found):
        raise SeqmixError(f"mechanism is {name!r:.60}; it must be one of {', '.join(found)}")
    return found.get(name) or found[f"{name}_attention"]


@_native.once
def _tables() -> dict[str, Any]:
    return json.loads(_native.oracle().smx_oracle_tables())


@_native.once
def _mechanisms() -> dict[str, Mechanism]:
    return {table["name"]: Mechanism(table) for table in _tables()["mechanisms"]}


def names() -> list[str]:
    """Every mechanism and core, in the order of the manifest."""
    return list(_mechanisms())


def __getattr__(name: str) -> Mechanism:
    found = _mechanisms()
    if name in found or f"{name}_attention" in found:
        return found.get(name) or found[f"{name}_attention"]
    if name.endswith("_result") and name[:-7] in found:  # a result's class, for pickle
        return found[name[:-7]]._result  # type: ignore[return-value]
    raise AttributeError(f"seqmix.ref has no mechanism {name}; it has {', '.join(found)}")


def __dir__() -> list[str]:
    return [*__all__, *_mechanisms()]
