#!/bin/bash
# The source distribution as its users build it: alone in a folder outside the tree, without git, make, a
# network or a compiler cache, by pip and the setuptools that is there; then the package's tests, file by
# file, with what that installed. TAP on standard output.
set -u
. proofs_tests/support/tap.sh
built=build/python
why=$(cat $built/venv/why 2>/dev/null)
[ "$(uname -s)" = Linux ] || why='the wheel is made on Linux'
if [ -n "$why" ]; then
    printf 'ok 1 - everything # SKIP %s\n1..1\n' "$why"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=$(command -v python3)
mkdir -p "$folder/dist" "$folder/alone" && cp $built/dist/*.tar.gz "$folder/dist"
alone() { (cd "$folder/alone" && env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$folder/alone" LANG=C.UTF-8 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 "$@"); }
alone "$python" -m pip wheel --no-build-isolation --no-deps -w ../dist "$folder"/dist/*.tar.gz >"$folder/log" 2>&1
check 'pip makes a wheel of the archive alone' 0 $?
alone "$python" -m venv --system-site-packages --without-pip ../venv >>"$folder/log" 2>&1 &&
    alone "$python" -m pip --python ../venv/bin/python install --no-deps "$folder"/dist/*.whl >>"$folder/log" 2>&1
check 'which installs' 0 $?
[ -x "$folder/venv/bin/seqmix" ] || sed 's/^/# /' "$folder/log" | tail -n 30
for file in proofs_tests/python/test_*.py; do
    "$python" proofs_tests/python/run.py "$folder/venv" "$file" >"$folder/said" 2>&1
    check "$(basename "$file") with what it installed" '' "$(grep '^not ok\|^Traceback' "$folder/said")"
    grep -q '^ok' "$folder/said" || check "$(basename "$file") reports" 'ok' "$(tail -n 3 "$folder/said")"
done
echo "1..$tests"
