#!/bin/bash
# Arm's NEON, emulated: cross-compiles the program and compares every digest with the committed list, and so
# the library by clang, the compiler of macOS; then Arm shares a training with two processes of this machine
# (rank.c). Skipped (said so) without the cross compiler or qemu. TAP on standard output.
set -u
compiler=aarch64-linux-gnu-gcc
if ! command -v $compiler >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    echo 'ok 1 - Arm # SKIP no aarch64-linux-gnu-gcc or no qemu-aarch64 here (packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)'
    echo '1..1'
    exit 0
fi
program=build/$compiler/seqmix
if ! make --no-print-directory -o setup CC=$compiler MACHINE=aarch64 ZLIB=0 LDFLAGS=-static $program build/$compiler/libseqmix.a >build/test/arm-build.log 2>&1; then
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

made=build/clang-aarch64 clang=$PWD/build/test/clang-aarch64 log=build/test/arm-clang.log
if command -v clang >/dev/null; then
    printf '#!/bin/sh\nexec clang --target=aarch64-linux-gnu "$@"\n' >"$clang" && chmod +x "$clang"
    make --no-print-directory -o setup CC="$clang" MACHINE=aarch64 ZLIB=0 $made/libseqmix.a >$log 2>&1 &&
        "$clang" -std=gnu11 -static -Iinclude -I. -o $made/library proofs_tests/package/elsewhere/library.c cli/team.c $made/libseqmix.a -pthread -lm >>$log 2>&1
fi
for isa in neon scalar; do
    n=$((n + 1))
    if ! command -v clang >/dev/null; then
        echo "ok $n - $isa by clang gives the committed digests # SKIP no clang here (package clang)"
    elif SMX_ISA=$isa qemu-aarch64 $made/library 2>&1 | grep '^[0-9a-f]\{16\}  ' | cmp -s - proofs_tests/digests.txt; then
        echo "ok $n - $isa by clang gives the committed digests"
    else
        echo "not ok $n - $isa by clang gives the committed digests ($log)"
        status=1
    fi
done

# What a training shared by processes comes to (digest and instruction set of each), beside one process.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
config='mixer=cat&task=mqar&mlp=1&norm=rms&batch=11&steps=5'
n=$((n + 1))
for a in 0 1 2; do
    for b in 0 1 2; do [ $a = $b ] || mkfifo "$folder/$a-$b"; done
done
if ${CC:-cc} -std=gnu11 -Iinclude proofs_tests/package/elsewhere/rank.c build/libseqmix.a -lz -lm -o "$folder/rank" &&
    $compiler -std=gnu11 -static -Iinclude proofs_tests/package/elsewhere/rank.c build/$compiler/libseqmix.a -lm -o "$folder/rank-arm"; then
    timeout 600 "$folder/rank" 0 3 "$folder" "$config" 5 >"$folder/0" &
    SMX_ISA=scalar timeout 600 "$folder/rank" 2 3 "$folder" "$config" 5 >"$folder/2" &
    timeout 600 qemu-aarch64 "$folder/rank-arm" 1 3 "$folder" "$config" 5 >"$folder/1"
    wait
fi
alone=$(build/seqmix train "$config" --eval 0 --json | sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p')
if [ "$(cut -d ' ' -f 1 "$folder"/[012] | sort -u)" = "$alone" ] && grep -q neon "$folder/1"; then
    echo "ok $n - a training shared with an Arm process gives the digest of one process"
else
    echo "not ok $n - a training shared with an Arm process gives the digest of one process"
    head "$folder"/[012] | sed "s/^/# /; \$a # alone: $alone"
    status=1
fi
echo "1..$n"
exit $status
