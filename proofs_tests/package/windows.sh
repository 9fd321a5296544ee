#!/bin/bash
# Windows: cross-compiles libseqmix by mingw and runs every digest under Wine, up to AVX2; errors are the
# sentences that they are here. (The program is POSIX's.) TAP on standard output.
set -u
. proofs_tests/support/tap.sh
compiler=x86_64-w64-mingw32-gcc
if ! command -v $compiler >/dev/null || ! command -v wine >/dev/null; then
    printf 'ok 1 - everything # SKIP no %s or no wine here (packages gcc-mingw-w64-x86-64, wine64)\n1..1\n' $compiler
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
isas=(scalar sse2)
grep -qw avx2 /proc/cpuinfo && isas+=(avx2)
library=build/$compiler/libseqmix.a
make --no-print-directory -o setup CC=$compiler MACHINE=x86_64 ISAS="${isas[*]}" FUSED= HARDENED= ZLIB=0 $library >"$folder/log" 2>&1 &&
    $compiler -std=gnu11 -O2 -static -Iinclude -I. -D__USE_MINGW_ANSI_STDIO=1 -o "$folder/windows.exe" \
        proofs_tests/package/windows.c cli/team.c $library -pthread -lm >>"$folder/log" 2>&1
check 'libseqmix is built by mingw' 0 $?
[ -e "$folder/windows.exe" ] || tail -n 20 "$folder/log" | sed 's/^/# /'
{ cat proofs_tests/digests.txt proofs_tests/digests_configs.txt && build/seqmix train 'mixer=cat&task=mqar&length=32&pairs=20' 2>&1 | sed 's/^seqmix: //'; } >"$folder/right"
export WINEPREFIX=$folder/wine WINEDEBUG=-all
wineboot --init >/dev/null 2>&1
for isa in "${isas[@]}"; do
    SMX_ISA=$isa wine "$folder/windows.exe" proofs_tests/digests_configs.txt 2>"$folder/wrong" | tr -d '\r' >"$folder/said"
    check "under Wine, $isa: every digest, after a save and an opening; and a sentence" '' "$(diff "$folder/right" "$folder/said" | head -n 20)"
done
wineserver -k
echo "1..$tests"
