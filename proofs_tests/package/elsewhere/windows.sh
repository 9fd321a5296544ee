#!/bin/bash
# Windows: cross-compiles libseqmix and libseqmix_ref by mingw and runs every digest under Wine, on each
# instruction set of this machine; errors are the sentences that they are here; kernels against the oracle, by
# their own tests. (The program is POSIX's.) TAP on standard output.
set -u
. proofs_tests/support/tap.sh
compiler=x86_64-w64-mingw32-gcc
if ! command -v $compiler >/dev/null || ! command -v wine >/dev/null; then
    printf 'ok 1 - everything # SKIP no %s or no wine here (packages gcc-mingw-w64-x86-64, wine64)\n1..1\n' $compiler
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
isas=(scalar sse2 avx2 avx512)
library=build/$compiler/libseqmix.a oracle=build/$compiler/libseqmix_ref.a
options='-std=gnu11 -O2 -static -Iproofs_tests/support/plain -Iinclude -I. -D__USE_MINGW_ANSI_STDIO=1'
make --no-print-directory -o setup CC=$compiler MACHINE=x86_64 ISAS="${isas[*]}" FUSED= HARDENED= ZLIB=0 $library $oracle >"$folder/log" 2>&1 &&
    $compiler $options -o "$folder/windows.exe" \
        proofs_tests/package/elsewhere/windows.c cli/team.c $library -pthread -lm >>"$folder/log" 2>&1
check 'libseqmix and libseqmix_ref are built by mingw' 0 $?
[ -e "$folder/windows.exe" ] || tail -n 20 "$folder/log" | sed 's/^/# /'
{ cat proofs_tests/digests.txt proofs_tests/digests_configs.txt && build/seqmix train 'mixer=cat&task=mqar&length=32&pairs=20' 2>&1 | sed 's/^seqmix: //'; } >"$folder/right"
export WINEPREFIX=$folder/wine WINEDEBUG=-all
wineboot --init >/dev/null 2>&1
for isa in "${isas[@]}"; do
    if [[ $isa == avx* ]] && ! grep -qw ${isa/512/512vl} /proc/cpuinfo; then
        tests=$((tests + 1))
        echo "ok $tests - under Wine, $isa: every digest, after a save and an opening; and a sentence # SKIP this processor has no $isa"
        continue
    fi
    SMX_ISA=$isa wine "$folder/windows.exe" proofs_tests/digests_configs.txt 2>"$folder/wrong" | tr -d '\r' >"$folder/said"
    check "under Wine, $isa: every digest, after a save and an opening; and a sentence" '' "$(diff "$folder/right" "$folder/said" | head -n 20)"
done
for t in test_activation test_attention test_conv test_gemm test_landmark test_las test_linattn test_loss test_norm test_recurrent test_scan; do
    $compiler $options -o "$folder/$t.exe" $(find proofs_tests/kernels -name $t.c) $library $oracle -pthread -lm >>"$folder/log" 2>&1 &&
        wine "$folder/$t.exe" 2>/dev/null | tr -d '\r' >"$folder/said"
    check "under Wine: $t, kernels against the oracle" "all of $(sed -n '1s/^1\.\.//p' "$folder/said" | grep '^[1-9]')" "all of $(grep -c '^ok' "$folder/said")"
done
wineserver -k
echo "1..$tests"
