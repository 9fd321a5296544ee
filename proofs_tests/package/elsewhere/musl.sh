#!/bin/bash
# Another C library: builds the program with musl, all of it in one file, and compares every digest with the
# committed list; the program trains, saves and goes on. Skipped (said so) without musl-gcc. TAP on standard
# output.
set -u
if ! command -v musl-gcc >/dev/null; then
    echo 'ok 1 - musl # SKIP no musl-gcc here (package musl-tools)'
    echo '1..1'
    exit 0
fi
program=build/musl-gcc/seqmix status=0 n=0
# One instruction set: the kernels call nothing of a C library.
case $(uname -m) in x86_64) isa=sse2 ;; aarch64) isa=neon ;; *) isa=scalar ;; esac
if ! make --no-print-directory -o setup CC=musl-gcc ZLIB=0 LDFLAGS='-static -pthread' ISAS=$isa FUSED= $program >build/test/musl-build.log 2>&1; then
    echo 'not ok 1 - builds with musl (build/test/musl-build.log)'
    echo '1..1'
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
says() {
    n=$((n + 1))
    if "$@" >"$folder/said" 2>&1; then echo "ok $n - $title"; else
        status=1
        echo "not ok $n - $title"
        sed 's/^/# /' "$folder/said"
    fi
}
title='musl gives the committed digests'
says $program selfcheck --against proofs_tests/digests.txt
title='and with two threads'
says $program selfcheck --threads 2 --against proofs_tests/digests.txt
title='trains and saves'
says $program train 'mixer=cat&task=mqar&steps=20' --eval 4 --save "$folder/run"
title='goes on'
says $program train steps=30 --load "$folder/run" --eval 4
echo "1..$n"
exit $status
