"""elf.py: what an ELF file asks of the machine: which libraries, and which versions of their symbols. From
these follows a wheel's platform tag (PEP 600): manylinux_<x>_<y> means that nothing newer than glibc x.y is
needed, and nothing beyond what every such system has.

    python3 elf.py WHEEL       says what is in it; exits with 1 where the name promises more than the files
    keep
"""
from __future__ import annotations

import re
import struct
import sys
import zipfile

# Of what PEP 600 takes for granted, what we may use.
EVERYWHERE = {
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "libz.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
MACHINES = {62: "x86_64", 183: "aarch64"}
NEEDED, STRTAB, VERNEED, VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


class Elf:
    """machine; needed: libraries; versions: {library: symbol versions}. ValueError where the bytes are no
    64-bit ELF."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no little-endian 64-bit ELF")
        self._data = data
        machine = struct.unpack_from("<H", data, 18)[0]
        self.machine = MACHINES.get(machine, f"machine {machine}")
        at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", data, at + i * size) for i in range(count)]
        self._loads = [(h[3], h[2], h[5]) for h in headers if h[0] == 1]  # address, offset, length
        entries: list[tuple[int, int]] = []
        for h in headers:
            if h[0] == 2:
                entries = list(struct.iter_unpack("<qQ", data[h[2] : h[2] + h[5]]))
        values = dict(entries)
        self._strings = self._offset(values.get(STRTAB, 0))
        self.needed = [self._string(value) for tag, value in entries if tag == NEEDED]
        self.versions = dict(self._version_needs(values.get(VERNEED, 0), values.get(VERNEEDNUM, 0)))

    def _offset(self, address: int) -> int:
        for start, offset, length in self._loads:
            if start <= address < start + length:
                return offset + address - start
        return 0

    def _string(self, at: int) -> str:
        at += self._strings
        return self._data[at : self._data.index(b"\0", at)].decode()

    def _version_needs(self, address: int, count: int):
        at = self._offset(address)
        for _ in range(count):
            _, names, file, first, following = struct.unpack_from("<HHIII", self._data, at)
            found, name_at = set(), at + first
            for _ in range(names):
                _, _, _, name, next_name = struct.unpack_from("<IHHII", self._data, name_at)
                found.add(self._string(name))
                name_at += next_name
            yield self._string(file), found
            at += following


def tag_of(files: list[bytes]) -> str:
    """The platform tag that all these ELF files keep together; ValueError says what keeps them from one."""
    newest, machines = (2, 5), set()
    for elf in map(Elf, files):
        machines.add(elf.machine)
        for library in set(elf.needed) - EVERYWHERE:
            raise ValueError(f"{library} is needed, which not every system has")
        for version in set().union(*elf.versions.values()) if elf.versions else ():
            if found := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version):
                newest = max(newest, (int(found[1]), int(found[2])))
    if len(machines) != 1:
        raise ValueError(f"files for {', '.join(sorted(machines))}")
    return f"manylinux_{newest[0]}_{newest[1]}_{machines.pop()}"


def main(path: str) -> int:
    with zipfile.ZipFile(path) as wheel:
        found = {i.filename: wheel.read(i) for i in wheel.infolist() if wheel.open(i).read(4) == b"\x7fELF"}
    for name, data in found.items():
        elf = Elf(data)
        versions = sorted(
            set().union(*elf.versions.values()), key=lambda v: [int(n) for n in re.findall(r"\d+", v)]
        )
        print(
            f"{name}: {elf.machine}; needs {', '.join(elf.needed)}; newest"
            f" {versions[-1] if versions else 'of no version'}"
        )
    tag = tag_of(list(found.values()))
    promised = path.rsplit("-", 1)[1].removesuffix(".whl")
    print(f"keeps {tag}" + ("" if promised == tag else f", its name says {promised}"))
    return promised != tag


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
