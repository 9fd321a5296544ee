#!/bin/bash
# Windows: cross-compiles the Python package's wheel (program and libraries), libseqmix and libseqmix_ref by
# mingw and runs every digest under Wine, on each instruction set of this machine; what the program writes has
# the bytes that it has here; kernels against the oracle, by their own tests. TAP on standard output.
set -u
. proofs_tests/support/tap.sh
compiler=x86_64-w64-mingw32-gcc
if ! command -v $compiler >/dev/null || ! command -v wine >/dev/null || ! echo '#include <zlib.h>' | $compiler -fsyntax-only -x c - 2>/dev/null; then
    printf 'ok 1 - everything # SKIP no %s, no zlib for it or no wine here (packages gcc-mingw-w64-x86-64, libz-mingw-w64-dev, wine64)\n1..1\n' $compiler
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
isas=(scalar sse2 avx2 avx512)
library=build/$compiler/libseqmix.a oracle=build/$compiler/libseqmix_ref.a
options='-std=gnu11 -O2 -static -Iproofs_tests/support/plain -Iinclude -I. -D__USE_MINGW_ANSI_STDIO=1'
make --no-print-directory -o setup CC=$compiler MACHINE=x86_64 PAGE_IN_WHEEL= wheel $library $oracle >"$folder/log" 2>&1 &&
    $compiler $options -o "$folder/windows.exe" \
        proofs_tests/package/elsewhere/library.c cli/team.c $library -pthread -lz -lm >>"$folder/log" 2>&1
check 'the wheel, libseqmix and libseqmix_ref are built by mingw' 0 $?
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
    $compiler $options -o "$folder/$t.exe" $(find proofs_tests/kernels -name $t.c) $library $oracle -pthread -lz -lm >>"$folder/log" 2>&1 &&
        wine "$folder/$t.exe" 2>/dev/null | tr -d '\r' >"$folder/said"
    check "under Wine: $t, kernels against the oracle" "all of $(sed -n '1s/^1\.\.//p' "$folder/said" | grep '^[1-9]')" "all of $(grep -c '^ok' "$folder/said")"
done

# What the wheel brings.
wheel=$(echo build/$compiler/python/dist/seqmix-*-py3-none-win_amd64.whl)
python3 -m zipfile -e "$wheel" "$folder/wheel"
native=$folder/wheel/seqmix/native
config='mixer=cat&task=mqar&seed=2&steps=20'
$compiler $options -o "$folder/wheel.exe" proofs_tests/package/elsewhere/wheel.c >>"$folder/log" 2>&1
digest=$(build/seqmix train "$config" --save "$folder/right.st" 2>/dev/null | grep -o 'digest [0-9a-f]*')
names=$(scripts/exports.sh include/seqmix/{smx,run,state,data}.h cli/team.h python/native/oracle.h)
check "under Wine: the wheel's libraries, each function that Python calls" \
    "$(echo "$names" | wc -l) functions, $digest, oracle 0.5 -2; its tables begin with {\"mechanisms\":[" \
    "$(echo "$names" | wine "$folder/wheel.exe" "$native" "$config" 2>&1 | tr -d '\r' | paste -sd, | sed 's/,/, /g')"

seqmix() { (cd "$folder" && wine "$native/seqmix.exe" "$@" 2>&1); }
check "under Wine: the program's digests" '' "$(diff <(build/seqmix selfcheck) <(seqmix selfcheck) | head -n 5)"
seqmix train "$config" --save new.st >/dev/null
check "under Wine: a checkpoint has the bytes of one from here" '' "$(cmp "$folder/right.st" "$folder/new.st" 2>&1)"
seqmix train "$config" --save new.st >/dev/null
check "under Wine: written over, and nothing left beside it" 'right.st new.st' "$(cd "$folder" && cmp right.st new.st && echo right.st new.st; ls "$folder" -a | grep seqmix-)"
check "under Wine: its answers" "$(build/seqmix eval "$folder/right.st")" "$(seqmix eval new.st)"
check "under Wine: a folder that is not there is a sentence" 'seqmix: not/there.st cannot be written' "$(seqmix train "$config" --save not/there.st | grep -o '^.*written')"
check "under Wine: what is POSIX's is a sentence" 'seqmix: job: not on Windows' "$(seqmix job "$config" --out x | grep -o '^.*Windows;' | tr -d ';')"
seqmix vectors --out set --only softmax_attention_qkv >/dev/null
check "under Wine: its test vectors are right by those of here" 0 "$(build/seqmix vectors --out "$folder/here" --only softmax_attention_qkv >/dev/null && build/seqmix judge --manifest "$folder/here/manifest.json" "$folder/set" >/dev/null; echo $?)"
wineserver -k
echo "1..$tests"
