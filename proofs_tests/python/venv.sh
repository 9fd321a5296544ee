#!/bin/sh
# Makes the environment of the Python tests: the first Python that has what the wheel and the tests need
# builds the wheel, and a fresh venv gets it with nothing from anywhere else. Where there is none,
# FOLDER/why says what is missing. usage: venv.sh FOLDER MAKE
set -eu
folder=$1 make=$2
rm -rf "$folder"
for python in python3 /usr/bin/python3; do
    command -v "$python" >/dev/null || continue
    missing=$("$python" - <<'END'
import importlib.util as u
# (a folder of such a name, like the build/ of a project, is found without an origin)
print(" ".join(m for m in ("numpy", "setuptools", "wheel", "build", "pytest", "hypothesis", "pip", "venv") if not getattr(u.find_spec(m), "origin", None)))
END
    ) || missing=numpy
    [ -z "$missing" ] && break
done
if [ -n "${missing-python3}" ]; then
    mkdir -p "$folder"
    if [ -n "${missing-}" ]; then echo "needs python3 with $missing (Debian: python3-NAME)"; else echo "needs python3"; fi >"$folder/why"
    exit
fi
$make --no-print-directory PYTHON="$python" wheel
"$python" -m venv --system-site-packages --without-pip "$folder"
"$python" -m pip --python "$folder/bin/python" --disable-pip-version-check --quiet install --no-index --no-cache-dir --no-deps "$(dirname "$folder")"/dist/*.whl
