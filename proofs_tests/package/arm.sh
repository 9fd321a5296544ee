#!/bin/bash
# Arm's NEON, emulated: cross-compiles the program and compares every digest with the committed list. Skipped
# (said so) without the cross compiler or qemu. TAP on standard output.
set -u
compiler=aarch64-linux-gnu-gcc
if ! command -v $compiler >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    echo 'ok 1 - Arm # SKIP no aarch64-linux-gnu-gcc or no qemu-aarch64 here (packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)'
    echo '1..1'
    exit 0
fi
program=build/$compiler/seqmix
if ! make --no-print-directory -o setup CC=$compiler MACHINE=aarch64 ZLIB=0 LDFLAGS=-static $program >build/test/arm-build.log 2>&1; then
    echo 'not ok 1 - builds for aarch64 (build/test/arm-build.log)'
    echo '1..1'
    exit 1
fi
status=0 n=0
for isa in neon scalar; do
    n=$((n + 1))
    if SMX_ISA=$isa qemu-aarch64 $program selfcheck | cmp -s - proofs_tests/digests.txt; then
        echo "ok $n - $isa gives the committed digests"
    else
        echo "not ok $n - $isa gives the committed digests"
        status=1
    fi
done
echo "1..$n"
exit $status
