"""Files, whole or not at all, by the rules of the program (cli/files.c)."""
from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from pathlib import Path

from ._errors import SeqmixError

# Of bytes, and no child's.
PRIVATE = os.O_BINARY | os.O_NOINHERIT if sys.platform == "win32" else os.O_CLOEXEC


def write_whole(path: Path, data: bytes) -> None:
    """Beside its place, then renamed. A symbolic link stays, and what it points to is written; a file keeps
    its mode and owner; a device or a FIFO is written into."""
    try:
        target = Path(os.path.realpath(path))
        try:
            old = target.stat()
        except FileNotFoundError:
            old = None
        if old is None or stat.S_ISREG(old.st_mode):
            _replace(target, old, data)
        else:
            with open(target, "wb") as file:
                file.write(data)
    except (OSError, ValueError) as problem:  # (ValueError: a name that no file can have)
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise SeqmixError(f"{path} cannot be written: {why}") from None


def _replace(target: Path, old: os.stat_result | None, data: bytes) -> None:
    if old and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = target.parent / f".seqmix-{secrets.token_hex(8)}.part"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | PRIVATE, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if old and sys.platform != "win32":
                with contextlib.suppress(PermissionError):  # an owner who may not give files away keeps them
                    os.chown(handle, old.st_uid, old.st_gid)
                os.chmod(handle, old.st_mode & 0o777)
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C as well
        with contextlib.suppress(FileNotFoundError):  # it came after the renaming
            os.unlink(temporary)
        raise
    if sys.platform != "win32":
        _sync(target.parent)


def _sync(folder: Path) -> None:
    """The new name as well survives a machine that stops. (Some file systems sync no folders: EINVAL.)"""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)
