"""Builds the package from a folder that `make wheel` laid out: with the libraries in seqmix/native as they
are, or, in the source distribution, by the recorded commands of the Makefile (sources/commands.json): a C
compiler and zlib's headers are all it takes."""
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
from elf import tag_of  # noqa: E402

NATIVE = ("libseqmix.so", "libseqmix_oracle.so", "seqmix")
VERSION = re.search(r'#define SMX_VERSION "(.*)"', (here / "seqmix/include/seqmix/smx.h").read_text())[1]


def compile_to(folder: Path) -> None:
    sources = here / "sources"
    commands = json.loads((sources / "commands.json").read_text()).get(platform.machine())
    if not commands:
        sys.exit(f"seqmix is built for x86_64 and aarch64 Linux; this is {platform.machine()}")
    objects, compiler = folder / "objects", shlex.split(os.environ.get("CC", "cc"))

    def run(command):
        words = [str(objects / w[1:]) if w.startswith("@") else w for w in command]
        Path(words[-1]).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*compiler, *words], cwd=sources, check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, commands["compile"]))
    for command in commands["link"]:
        run(command)
        name = Path(command[-1]).name
        os.replace(objects / command[-1][1:], folder / name)


class Build(build_py):
    def run(self):
        super().run()
        native = Path(self.build_lib) / "seqmix/native"
        native.mkdir(parents=True, exist_ok=True)
        if not all((native / name).exists() for name in NATIVE):
            temporary = Path(self.get_finalized_command("build").build_temp).resolve()
            temporary.mkdir(parents=True, exist_ok=True)
            compile_to(temporary)
            for name in NATIVE:
                self.copy_file(str(temporary / name), str(native / name))
        (native / "seqmix").chmod(0o755)


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        native = Path(self.get_finalized_command("build").build_lib) / "seqmix/native"
        try:
            return "py3", "none", tag_of([(native / name).read_bytes() for name in NATIVE])
        except ValueError:  # another C library, say: for this machine only
            return "py3", "none", f"linux_{platform.machine()}"


class Platform(Distribution):
    def has_ext_modules(self):
        return True


setup(version=VERSION, distclass=Platform, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
