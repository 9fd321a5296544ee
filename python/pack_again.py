"""pack_again.py: archives that hang on their contents alone: a wheel or source distribution written once more,
its files in order, of nobody, at one time (SOURCE_DATE_EPOCH; else the one that npm takes), for everybody.

    python3 pack_again.py FILE...
"""
from __future__ import annotations

import gzip
import io
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH") or 499162500)


def mode(old: int) -> int:
    return 0o755 if old & 0o100 else 0o644


def wheel(at: Path) -> bytes:
    to = io.BytesIO()
    with zipfile.ZipFile(at) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist()):
            info = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100000 | mode(old.getinfo(name).external_attr >> 16)) << 16
            new.writestr(info, old.read(name), compresslevel=9)
    return to.getvalue()


def archive(at: Path) -> bytes:
    tar = io.BytesIO()
    with tarfile.open(at) as old, tarfile.open(fileobj=tar, mode="w", format=tarfile.GNU_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda m: m.name):
            info = tarfile.TarInfo(member.name)
            info.size, info.type, info.mtime = member.size, member.type, EPOCH
            info.mode = 0o755 if member.isdir() else mode(member.mode)
            new.addfile(info, old.extractfile(member) if member.isfile() else None)
    to = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=to, mode="wb", compresslevel=9, mtime=EPOCH) as packed:
        packed.write(tar.getvalue())
    return to.getvalue()


if __name__ == "__main__":
    for name in map(Path, sys.argv[1:]):
        name.write_bytes(wheel(name) if name.suffix == ".whl" else archive(name))
