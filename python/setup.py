"""Builds the package from a folder that `make wheel` laid out: with the libraries in seqmix/native as they
are, or, in the source distribution, from its sources (compiling.py)."""
import platform
import re
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
from compiling import compile_to  # noqa: E402
from elf import tag_of  # noqa: E402

WINDOWS = (here / "seqmix/native/seqmix.exe").exists()  # laid out by a cross compiler
LIBRARIES = tuple(f"{name}.{'dll' if WINDOWS else 'so'}" for name in ("libseqmix", "libseqmix_oracle"))
WASM = all(
    (here / "seqmix/native" / name).exists() and (here / "seqmix/native" / name).read_bytes()[:4] == b"\0asm"
    for name in LIBRARIES
)
# (the program has nowhere to run in Pyodide)
NATIVE = LIBRARIES if WASM else (*LIBRARIES, "seqmix.exe" if WINDOWS else "seqmix")
# PEP 783: the Pyodide releases whose C library these modules were tried with
PYODIDE = "pyemscripten_2026_0_wasm32"
VERSION = re.search(r'#define SMX_VERSION "(.*)"', (here / "seqmix/include/seqmix/smx.h").read_text())[1]


class Build(build_py):
    def run(self):
        super().run()
        native = Path(self.build_lib) / "seqmix/native"
        native.mkdir(parents=True, exist_ok=True)
        if not all((native / name).exists() for name in NATIVE):
            temporary = Path(self.get_finalized_command("build").build_temp).resolve()
            temporary.mkdir(parents=True, exist_ok=True)
            compile_to(here / "sources", temporary)
            for name in NATIVE:
                self.copy_file(str(temporary / name), str(native / name))
        if not WASM and not WINDOWS:
            (native / "seqmix").chmod(0o755)


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        if WASM:
            return "py3", "none", PYODIDE
        if WINDOWS:
            return "py3", "none", "win_amd64"
        if sys.platform == "darwin":
            return "py3", "none", super().get_tag()[2]
        native = Path(self.get_finalized_command("build").build_lib) / "seqmix/native"
        try:
            return "py3", "none", tag_of([(native / name).read_bytes() for name in NATIVE])
        except ValueError:  # another C library, say: for this machine only
            return "py3", "none", f"linux_{platform.machine()}"


class Platform(Distribution):
    def has_ext_modules(self):
        return True


setup(version=VERSION, distclass=Platform, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
