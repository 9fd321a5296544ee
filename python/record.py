"""record.py: what make would do to build the package's libraries, as JSON for setup.py: of each machine the
compiler's arguments, objects written as @NAME. Copies the sources that the commands name, with their headers
and what make has generated for them to include.

    python3 record.py MAKE OUT FOLDER      OUT: where make would put the libraries
"""
from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path


MACHINES = "Linux x86_64", "Linux aarch64", "Darwin arm64"


def commands_of(make: str, out: str, system: str, machine: str) -> dict[str, list[list[str]]]:
    wanted = [f"{out}/{name}" for name in ("libseqmix.so", "libseqmix_oracle.so", "seqmix")]
    text = subprocess.run(
        [make, "-nB", "--no-print-directory", "CC=gcc", f"SYSTEM={system}", f"MACHINE={machine}", *wanted],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found: dict[str, list[list[str]]] = {"compile": [], "link": []}
    for line in re.sub(r"\\\n", " ", text).splitlines():
        at = re.search(r"(?:^|&& )gcc (.*?)(?: && |$)", line)
        if not at or " -o " not in at[1]:
            continue
        words = [w for w in shlex.split(at[1]) if w not in ("-MMD", "-MP", "-g", "-Werror")]
        words = [re.sub(r"^build/", "@", w) if w.endswith(".o") or w in wanted else w for w in words]
        words = [re.sub(r"(--version-script=|-exported_symbols_list,).*/", r"\1", w) for w in words]
        if "-c" not in words and system == "Linux":  # (Apple's linker has no -s)
            words.insert(0, "-s")
        found["compile" if "-c" in words else "link"].append(words)
    assert len(found["link"]) == 3, found["link"]
    return found


def main(make: str, out: str, folder: Path) -> None:
    recorded = {name: commands_of(make, out, *name.split()) for name in MACHINES}
    used = {w for machine in recorded.values() for c in machine["compile"] for w in c if w.endswith(".c")}
    for room in {"include", *(name.split("/")[0] for name in used)}:
        used |= {str(at) for end in ("h", "def", "inc") for at in Path(room).rglob(f"*.{end}")}
    words = {w for machine in recorded.values() for c in machine["compile"] for w in c}
    for made in (Path(w[2:]) for w in words if w.startswith("-Ibuild/")):
        used |= {str(at) for at in (*made.glob("*.inc"), *made.glob("*/*.inc"))}
    used |= {str(at) for at in Path("build").glob("*.def")}
    for name in sorted(used):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, folder / name)
    (folder / "commands.json").write_text(json.dumps(recorded, separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
