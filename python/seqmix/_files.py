"""Files, whole or not at all."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ._errors import SeqmixError


def write_whole(path: Path, data: bytes) -> None:
    """Beside its place, then renamed."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".seqmix-", suffix=".part", dir=path.parent)
    except OSError as problem:
        raise SeqmixError(f"{path} cannot be written: {problem.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as problem:
        os.unlink(temporary)
        raise SeqmixError(f"{path} cannot be written: {problem.strerror}") from None
