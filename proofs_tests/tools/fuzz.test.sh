#!/bin/bash
# Tests that each fuzz target begins, and passes on the files that its fuzzing begins from and on 200 changes
# of each: a target that stops at once, or that refuses what its reader allows, would be seen by `make fuzz`
# alone. Prints TAP, so it runs under run-test.sh.
set -u
cd "$(dirname "$0")/../.." || exit 2
. proofs_tests/support/tap.sh
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
for program in build/fuzz-begins/fuzz_*; do
    name=$(basename "$program")
    scripts/fuzz.sh seeds "$seeds" "$name"
    printf 'task=mqar&mixer=cat&width=8' >"$seeds/$name/any"
    head -c 300 "$program" >"$seeds/$name/bytes"
    timeout 120 "$program" 200 "$seeds/$name"/* >"$seeds/out" 2>&1
    check "$name: begins, and passes on its seeds" 0 $?
    tail -n 3 "$seeds/out" | sed 's/^/# /'
done
check 'targets' "$(find proofs_tests/fuzz -name 'fuzz_*.c' | wc -l)" "$tests"
echo "1..$tests"
