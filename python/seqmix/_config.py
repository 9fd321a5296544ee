"""The config language, as the library completes it."""
from __future__ import annotations

import ctypes
import json
import urllib.parse
from typing import Any, Mapping

import numpy as np

from . import _native
from ._errors import SeqmixError


def config_text(config: str | Mapping[str, Any], keys: Mapping[str, Any] = {}) -> str:
    """A config and further keys, which win, as one text of the config language."""
    if not isinstance(config, (str, Mapping)):
        raise SeqmixError(
            f"the config is {config!r:.60}; it must be a text 'mixer=cat&task=mqar' or a dict of keys"
        )
    parts = [config] if isinstance(config, str) and config else []
    for name, value in [*(config.items() if isinstance(config, Mapping) else ()), *keys.items()]:
        value = value.tolist() if isinstance(value, np.ndarray) else value
        several = value if isinstance(value, (list, tuple)) else [value]
        text = ",".join(str(int(v) if isinstance(v, (bool, np.bool_)) else v) for v in several)
        quoted = urllib.parse.quote(as_bytes(text), safe=",.+-_/:").replace("~", "%7E")  # ("~" ends a run)
        parts.append(f"{name}={quoted}")
    return "&".join(parts)


def config_values(config: str) -> list[dict[str, str]]:
    """Every key of a config, completed, one dict for each run of it."""
    error = _native.headers().structs["smx_error"]()
    where = _native.runs().smx_config_values(as_bytes(config), error)
    if not where:
        _native.fail(error)
    text = ctypes.string_at(where)
    _native.release(where)
    return json.loads(text)


def as_bytes(text: str) -> bytes:
    """For C; bytes of a file's name that are no UTF-8 are themselves again."""
    if "\0" in text:
        raise SeqmixError("a config has no character 0")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as problem:
        half = text[problem.start]
        raise SeqmixError(f"a config has no character {half!r}: it is half of one") from None
