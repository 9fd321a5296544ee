"""The wheel: what its name promises is what its files need; nothing of this machine is in it; the program
that comes with it is the program; it imports without NumPy's start; and its source distribution holds all
that its recorded commands name."""
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import seqmix

ROOT = Path(__file__).parents[2]
BUILT = Path(sys.prefix).parent
WHEEL, SDIST = next((BUILT / "dist").glob("*.whl")), next((BUILT / "dist").glob("*.tar.gz"))
sys.path.insert(0, str(ROOT / "python"))
import elf  # noqa: E402


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def native(name):
    return (Path(seqmix.__file__).parent / "native" / name).read_bytes()


def test_one_version():
    version = re.search(r'#define SMX_VERSION "(.*)"', (ROOT / "include/seqmix/smx.h").read_text())[1]
    assert seqmix.__version__ == version == metadata.version("seqmix")
    assert WHEEL.name.startswith(f"seqmix-{version}-py3-none-") and SDIST.name == f"seqmix-{version}.tar.gz"


def test_the_name_keeps_its_promise():
    done = run(sys.executable, ROOT / "python/elf.py", WHEEL)
    assert done.returncode == 0, done.stdout
    assert not re.search("gomp|asan", done.stdout)
    promised = re.search(r"manylinux_(\d+)_(\d+)_", WHEEL.name)
    needed = [
        int(n)
        for n in run(
            "sh",
            "-c",
            (
                f"objdump -T {Path(seqmix.__file__).parent}/native/* | grep -o 'GLIBC_2[.][0-9]*' | sed"
                " 's/.*[.]//'"
            ),
        ).stdout.split()
    ]
    assert not needed or max(needed) == int(promised[2])  # (no objdump: nothing to compare with)


def test_a_promise_too_old_is_noticed(tmp_path):
    older = tmp_path / re.sub(r"manylinux_\d+_\d+", "manylinux_2_17", WHEEL.name)
    older.write_bytes(WHEEL.read_bytes())
    done = run(sys.executable, ROOT / "python/elf.py", older)
    assert done.returncode == 1 and "its name says manylinux_2_17" in done.stdout


def test_a_library_that_not_everyone_has_is_noticed():
    data = native("libseqmix.so").replace(b"libz.so.1\0", b"libq.so.1\0")
    with pytest.raises(ValueError, match="libq.so.1 is needed"):
        elf.tag_of([data])
    with pytest.raises(ValueError, match="no little-endian 64-bit ELF"):
        elf.tag_of([b"#!/bin/sh\n"])


def test_nothing_of_this_machine_is_in_it():
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        for name in names:
            assert str(ROOT).encode() not in wheel.read(name), name
    assert "seqmix/py.typed" in names and "seqmix/native/libseqmix.so" in names
    assert not [n for n in names if n.startswith("sources") or n.endswith(".c")]


def test_the_program_is_the_program():
    script = Path(sys.prefix) / "bin/seqmix"
    config = "mixer=cat&task=mqar&steps=3&length=32&vocab=32&pairs=4"
    mine, theirs = (
        json.loads(run(p, "train", config, "--json").stdout.splitlines()[-1])
        for p in (script, ROOT / "build/seqmix")
    )
    assert mine["digest"] == theirs["digest"]
    assert run(script, "train", "mixer=dog").returncode == 2
    assert run(sys.executable, "-m", "seqmix", "help").stdout == run(ROOT / "build/seqmix", "help").stdout


def test_import_starts_nothing_else():
    code = "import sys, seqmix; print([m for m in ('numpy', 'torch', 'asyncio') if m in sys.modules])"
    done = run(sys.executable, "-c", code)
    assert done.stdout.strip() == "[]", done.stderr


def test_only_public_names_are_exported():
    text = run(
        "nm", "-D", "--defined-only", Path(seqmix.__file__).parent / "native/libseqmix_oracle.so"
    ).stdout
    if not text:
        pytest.skip("needs nm")
    assert {line.split()[-1] for line in text.splitlines()} == {
        f"smx_oracle_{n}" for n in "tables open close error set shapes run margin get explain plan plan_only".split()
    }


def test_the_source_distribution_is_whole(tmp_path):
    with tarfile.open(SDIST) as archive:
        archive.extractall(tmp_path)
    top = next(tmp_path.iterdir())
    recorded = json.loads((top / "sources/commands.json").read_text())
    assert recorded.keys() == {"x86_64", "aarch64"}
    for machine in recorded.values():
        assert len(machine["link"]) == 3 and len(machine["compile"]) > 100
        made = {c[-1] for c in machine["compile"]}
        assert all(w in made for c in machine["link"] for w in c[:-1] if w.endswith(".o"))
        assert all((top / "sources" / w).exists() for c in machine["compile"] for w in c if w.endswith(".c"))
    assert (
        not list(top.glob("seqmix/native/*")) and (top / "setup.py").exists() and (top / "LICENSE").exists()
    )
    # one file of each room compiles from it, as recorded, and each that includes what make generates
    commands = {c[c.index("-c") + 1]: c for c in recorded[os.uname().machine]["compile"]}
    chosen = {name.rsplit("/", 1)[0]: c for name, c in commands.items()}
    assert {"kernels", "ref", "model/run", "cli/oracle", "python/native"} <= chosen.keys()
    generated = [n for n in commands if re.search(r'"\S+\.(inc|def)"', (top / "sources" / n).read_text())]
    assert {"kernels/dispatch.c", "cli/commands/export.c", "cli/grid/builds.c"} <= set(generated)
    for command in (*chosen.values(), *(commands[name] for name in generated)):
        done = run(
            "cc",
            "-fsyntax-only",
            *[w for w in command if not w.startswith("@") and w != "-o"],
            cwd=top / "sources",
        )
        assert done.returncode == 0, done.stderr
