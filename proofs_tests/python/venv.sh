#!/bin/sh
# Makes the environment of the Python tests: the Python that scripts/setup.sh chose builds the wheel, and a
# fresh venv gets it with nothing from anywhere else. Where it lacks something, FOLDER/why says what.
# usage: venv.sh FOLDER MAKE ABOUT, what `scripts/setup.sh python` says
set -eu
folder=$1 make=$2 about=$3
rm -rf "$folder"
case $about in
    *' lacks '*)
        mkdir -p "$folder"
        case $about in
            'python3 lacks '*) echo 'needs python3' ;;
            *) echo "needs python3 with ${about##* lacks } (Debian: python3-NAME)" ;;
        esac >"$folder/why"
        exit
        ;;
esac
$make --no-print-directory wheel
python3 -m venv --system-site-packages --without-pip "$folder"
python3 -m pip --python "$folder/bin/python" --disable-pip-version-check --quiet install --no-index --no-cache-dir --no-deps "$(dirname "$folder")"/dist/*.whl
