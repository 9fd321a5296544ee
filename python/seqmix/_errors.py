from __future__ import annotations


class SeqmixError(ValueError):
    """What was asked for does not fit: one sentence that names the thing, the value given and what is
    allowed. Where it is about a key of a config, `key`, `value` and `allowed` are its parts; else they are
    empty."""

    def __init__(self, sentence: str, key: str = "", value: str = "", allowed: str = "") -> None:
        super().__init__(
            "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in sentence)
        )
        self.key, self.value, self.allowed = key, value, allowed
