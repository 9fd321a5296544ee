"""The console script `seqmix`: the program itself, which came with the package."""
from __future__ import annotations

import os
import sys

from pathlib import Path


def main() -> None:
    program = str(Path(__file__).parent / "native" / "seqmix")
    try:
        os.execv(program, ["seqmix", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"seqmix: {program} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main()
