"""The program `seqmix` itself, which came with the package: the console script, and what only it can say."""
from __future__ import annotations

import os
import subprocess
import sys

from pathlib import Path

from ._errors import SeqmixError

PROGRAM = str(Path(__file__).parent / "native" / ("seqmix.exe" if sys.platform == "win32" else "seqmix"))


def main() -> None:
    try:
        if sys.platform == "win32":  # there exec leaves the console to whoever called this, at once
            sys.exit(subprocess.call([PROGRAM, *sys.argv[1:]]))
        os.execv(PROGRAM, ["seqmix", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"seqmix: {PROGRAM} cannot be started: {error.strerror}")


def output(*arguments: str, least: int = 0) -> str:
    """What the program prints; ending with more than `least` is a SeqmixError of its sentence."""
    if sys.platform == "emscripten":
        raise SeqmixError("the program seqmix is not in the package for Pyodide, where no program can be started")
    try:
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:  # (ValueError: a character 0)
        why = error.strerror if isinstance(error, OSError) else error
        raise SeqmixError(f"{PROGRAM} cannot be started: {why}") from None
    if not 0 <= done.returncode <= least:
        raise SeqmixError(done.stderr.strip().removeprefix("seqmix: ") or f"{PROGRAM} died")
    return done.stdout


if __name__ == "__main__":
    main()
