"""run.py VENV FILE: runs a pytest file with the Python of VENV, where the wheel is installed, and reports in TAP. Where the
environment could not be made, VENV/why says so, and "everything" is skipped: scripts/tally.sh knows that word."""
import os
import subprocess
import sys
from pathlib import Path

PLUGIN = """
import pytest

class Tap:
    def __init__(self):
        self.n = 0
    def line(self, ok, title, why=""):
        self.n += 1
        print(f"\\n{'ok' if ok else 'not ok'} {self.n} - {title}{why}", flush=True)
    def pytest_runtest_logreport(self, report):
        title = report.nodeid.split("::", 1)[-1].replace("#", "no.")
        if report.skipped:
            self.line(True, title, " # SKIP " + str(report.longrepr[2]).removeprefix("Skipped: "))
        elif report.failed:
            print(report.longreprtext)
            self.line(False, title + (f" ({report.when})" if report.when != "call" else ""))
        elif report.when == "call":
            self.line(True, title)
    def pytest_collectreport(self, report):
        if report.failed:
            print(report.longreprtext)
            self.line(False, f"{report.nodeid} (collecting)")
        elif report.skipped:
            self.line(True, "everything", " # SKIP " + str(report.longrepr[2]).removeprefix("Skipped: "))

def main(file):
    tap = Tap()
    status = pytest.main(["-p", "no:cacheprovider", "-q", "--no-header", "--no-summary", "--tb=no", file], plugins=[tap])
    print(f"1..{tap.n}")
    return 0 if tap.n else int(status)
"""


def main(venv: Path, file: str) -> int:
    why = venv / "why"
    if why.exists():
        print(f"ok 1 - everything # SKIP {why.read_text().strip()}\n1..1")
        return 0
    start = f"import sys\n{PLUGIN}\nsys.exit(main(sys.argv[1]))"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""}
    return subprocess.run([str(venv / "bin/python"), "-c", start, file], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
