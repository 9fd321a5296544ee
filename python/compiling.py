"""compiling.py: the package's libraries from the sources of its source distribution, by the recorded commands of
the Makefile (commands.json, by record.py): a C compiler and zlib's headers are all it takes."""
from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def say_build(recorded: Path, to: Path, compiler: list, flags: list) -> None:
    """build.inc, by which results name their build, with the compiler and the flags of this machine."""
    try:
        said = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"seqmix is built by a C compiler: {shlex.join(compiler)} (CC says which): {error}")
    text = recorded.read_text()
    for name, value in (("COMPILER", said.splitlines()[0]), ("FLAGS", " ".join(flags))):
        line = f'#define BUILD_{name} "' + re.sub(r'["\\]', "", value) + '"'
        text = re.sub(rf"^#define BUILD_{name} .*$", lambda _: line, text, flags=re.MULTILINE)
    to.mkdir(parents=True, exist_ok=True)
    (to / recorded.name).write_text(text)


def compile_to(sources: Path, folder: Path) -> None:
    """The libraries and the program into the folder."""
    known, here = json.loads((sources / "commands.json").read_text()), f"{platform.system()} {platform.machine()}"
    if here not in known:
        sys.exit(f"seqmix is built for {', '.join(known)}; this is {here}")
    commands = known[here]
    objects, compiler = folder / "objects", shlex.split(os.environ.get("CC", "cc"))
    (dispatch,) = (c for c in commands["compile"] if "kernels/dispatch.c" in c)
    (recorded,) = sources.glob("build/**/build.inc")
    say_build(recorded, folder / "made", compiler, dispatch[: dispatch.index("-c")])

    def run(command):
        words = [str(objects / w[1:]) if w.startswith("@") else w for w in command]
        Path(words[-1]).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*compiler, f"-I{folder / 'made'}", *words], cwd=sources, check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, commands["compile"]))
    for command in commands["link"]:
        run(command)
        name = Path(command[-1]).name
        os.replace(objects / command[-1][1:], folder / name)
