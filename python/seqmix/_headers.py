"""Reads the public headers (include/seqmix/*.h, which lie in the package) and declares their functions to
ctypes: what is called from here is what the library was compiled with, and nothing is typed twice."""
from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

INCLUDE = Path(__file__).parent / "include" / "seqmix"

_NUMBERS: dict[str, Any] = {
    "size_t": ctypes.c_size_t,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "int32_t": ctypes.c_int32,
    "uint8_t": ctypes.c_uint8,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "char": ctypes.c_char,
}
_FUNCTION = re.compile(r"^([a-z_0-9 ]+?[ *]+)(smx_\w+)\(([^()]*)\)$", re.S)


def _text(name: str) -> str:
    text = (INCLUDE / name).read_text("utf-8")
    text = re.sub(r"//[^\n]*", "", text).replace("SMX_RESTRICT", "").replace("const ", "")
    text = re.sub(r'extern "C" \{', "", text)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def version() -> str:
    """The project's version: SMX_VERSION of smx.h."""
    found = re.search(r'#define SMX_VERSION "(.*)"', (INCLUDE / "smx.h").read_text("utf-8"))
    assert found
    return found[1]


class Headers:
    """What some headers declare: `enums` (name to number), `structs` (name to ctypes.Structure), `functions`
    (name to result and arguments)."""

    def __init__(self, *names: str) -> None:
        self.enums: dict[str, int] = {}
        self.structs: dict[str, Any] = {}
        self.functions: dict[str, tuple[Any, list[Any]]] = {}
        for name in names:
            self._read(_text(name))

    def _read(self, text: str) -> None:
        for body, name in re.findall(r"typedef struct \{(.*?)\} (\w+);", text, re.S):
            self._struct(name, body)
        text = re.sub(r"typedef struct \{.*?\} \w+;", "", text, flags=re.S)
        for body in re.findall(r"enum \{(.*?)\}", text, re.S):
            self._enum(body)
        text = re.sub(r"typedef[^;]*;|enum \{.*?\}[^;]*;", "", text, flags=re.S)
        for statement in text.split(";"):
            if found := _FUNCTION.match(statement.strip()):
                result, name, arguments = found.groups()
                kinds = [a for a in arguments.split(",") if a.strip() not in ("", "void")]
                self.functions[name] = (self._kind(result), [self._argument(a) for a in kinds])

    def _enum(self, body: str) -> None:
        value = -1
        for item in filter(str.strip, body.split(",")):
            name, _, given = item.partition("=")
            value = int(given, 0) if given else value + 1
            self.enums[name.strip()] = value

    def _struct(self, name: str, body: str) -> None:
        fields: list[tuple[str, Any]] = []
        for statement in filter(str.strip, body.split(";")):
            found = re.match(r"(\w+)(.*)", statement.strip(), re.S)
            assert found, statement
            for declared in found[2].split(","):
                match = re.fullmatch(r"\s*(\*?)\s*(\w+)(?:\[(\d+)\])?\s*", declared)
                assert match, declared
                stars, field, count = match.groups()
                kind = self._kind(found[1] + stars)
                fields.append((field, kind * int(count) if count else kind))
        # (Hashable by identity, so that a cache can have it as its key.)
        self.structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields, "__hash__": object.__hash__})

    def _argument(self, text: str) -> Any:
        found = re.match(r"(.*?)(\w+)(\[\d*\])?$", text.strip(), re.S)
        assert found, text
        return self._kind(found[1] if found[1].strip() else text)

    def _kind(self, text: str) -> Any:
        name, stars = text.replace("*", "").strip(), text.count("*")
        if not stars:
            return None if name == "void" else _NUMBERS.get(name, ctypes.c_void_p)
        if name == "char" and stars == 1:
            return ctypes.c_char_p
        return ctypes.POINTER(self.structs[name]) if name in self.structs else ctypes.c_void_p

    def declare(self, library: ctypes.CDLL) -> None:
        for name, (result, arguments) in self.functions.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
