"""The wheel: what its name promises is what its files need; nothing of this machine is in it; the program
that comes with it is the program; it imports without NumPy's start; and its source distribution holds every
file that building reads (sdist.sh builds it)."""
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
import compiling  # noqa: E402
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
    assert recorded.keys() == {"Linux x86_64", "Linux aarch64", "Darwin arm64"}
    for machine in recorded.values():
        assert len(machine["link"]) == 3 and len(machine["compile"]) > 100
        made = {c[-1] for c in machine["compile"]}
        assert all(w in made for c in machine["link"] for w in c[:-1] if w.endswith(".o"))
        assert all((top / "sources" / w).exists() for c in machine["compile"] for w in c if w.endswith(".c"))
    assert (
        not list(top.glob("seqmix/native/*")) and (top / "setup.py").exists() and (top / "LICENSE").exists()
    )
    # Each library's list of what it shows, by the option that its linker takes, and no option of another one.
    option = {"Linux": "-Wl,--version-script=", "Darwin": "-Wl,-exported_symbols_list,"}
    for name, machine in recorded.items():
        system = name.split()[0]
        lists = [w.removeprefix(option[system]) for c in machine["link"] for w in c if w.startswith(option[system])]
        assert [(top / "sources" / w).exists() for w in lists] == [True, True]
        assert system == "Linux" or not [w for c in machine["link"] for w in c if re.search(r"^-s$|version-script|-z,", w)]
    # Every file that compiling reads, by the compiler's own account, is in it: the sources of the same flags
    # in one call.
    alike = {}
    for command in recorded[" ".join(os.uname()[::4])]["compile"]:
        at = command.index("-c")
        flags = command[:at]
        alike.setdefault((*flags, *command[at + 4 :]), set()).add(command[at + 1])
    read = set()
    for flags, names in alike.items():
        done = run("cc", "-MM", *flags, *sorted(names), cwd=top / "sources")
        assert done.returncode == 0, done.stderr
        read |= {w for w in done.stdout.replace("\\\n", " ").split() if not w.endswith(":")}
    assert len(read) > 400 and {"kernels/dispatch.c", "model/graph/op.h", "cli/commands/grid/report_page.inc"} <= read
    made = {w for w in read if re.search(r"(^|/)build/", w)}
    assert {Path(w).name for w in made} == {
        "kernels.def",
        "mixer_texts.def",
        "optimisers.def",
        "build.inc",
        *(f"{file.stem}.inc" for file in (ROOT / "cli/export").glob("*.py")),
    }
    assert not [w for w in read if w.startswith(("/", ".."))]


def test_a_build_is_named_by_its_own_compiler(tmp_path):
    with tarfile.open(SDIST) as archive:
        (member,) = (m for m in archive.getmembers() if m.name.endswith("/build.inc"))
        recorded = tmp_path / "build.inc"
        recorded.write_bytes(archive.extractfile(member).read())
    compiler = tmp_path / "other cc"
    compiler.write_text('#!/bin/sh\nprintf "%s\\n" \'other "cc" 7\\1\' more\n')
    compiler.chmod(0o755)
    compiling.say_build(recorded, tmp_path / "made", [str(compiler)], ["-O2", "-DSMX_HAVE_neon"])
    lines = (tmp_path / "made/build.inc").read_text().splitlines()
    assert lines[0] == recorded.read_text().splitlines()[0] and lines[0].startswith("#define BUILD_SOURCES")
    assert lines[1:] == ['#define BUILD_COMPILER "other cc 71"', '#define BUILD_FLAGS "-O2 -DSMX_HAVE_neon"']
    with pytest.raises(SystemExit, match="built by a C compiler: nocc"):
        compiling.say_build(recorded, tmp_path / "made", ["nocc"], [])


def links(text):
    return re.findall(r"\]\(([^)]+)\)", re.sub("(?s)```.*?```", "", text))


def test_its_page_links_to_what_is_there(tmp_path):
    about = metadata.metadata("seqmix")
    assert about["Author"] == "the seqmix authors" and "attention" in about["Keywords"] and about["License"] == "MIT"
    assert "Typing :: Typed" in about.get_all("Classifier")
    for link in links(about.get_payload() or about["Description"]):
        assert link.startswith("https://"), link
    done = run(sys.executable, "python/describe.py", "https://example.org/a/b", "9.8.7", tmp_path, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    page = "https://example.org/a/b/blob/v9.8.7/"
    found = links((tmp_path / "README.md").read_text())
    names = [link.removeprefix(f"{page}docs/") for link in found]
    assert found and names == links((ROOT / "docs/PYTHON.md").read_text()) and len(set(found) & set(names)) == 0
    addresses = re.findall(r'= "(https:.*)"', (tmp_path / "pyproject.toml").read_text().split("[project.urls]")[1])
    files = [a.removeprefix(page) for a in addresses if a.startswith(page)]
    assert len(addresses) == 4 and len(files) == 2
    assert all((ROOT / name).exists() for name in (*files, *(f"docs/{name.partition('#')[0]}" for name in names)))
