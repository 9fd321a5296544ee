#!/bin/bash
# Runs libFuzzer programs one after another, each on its own corpus in build/fuzz;
# fails where one finds a fault.
# usage: scripts/fuzz.sh SECONDS PROGRAM...
set -u
case ${1:-} in
    '' | *[!0-9]* | 0) echo "fuzz: FUZZ_SECONDS is '${1:-}'; it must be a whole number above 0" >&2; exit 2 ;;
esac
seconds=$1
shift
home=build/fuzz
mkdir -p "$home"
# words that the readers know, so that mutations hit them
build/seqmix help --man=config | sed -nE 's/^\.(B|SS) ([a-z0-9_]+)$/"\2"/p' | sort -u >"$home/words.dict"
printf '%s\n' '"descr"' '"fortran_order"' '"shape"' '"<f8"' '"True"' '"False"' '"__metadata__"' '"data_offsets"' '"dtype"' \
    '"F32"' '"\\\\u0041"' '"true"' '"false"' '"null"' >>"$home/words.dict"
failed=0
for program in "$@"; do
    name=$(basename "$program")
    mkdir -p "$home/$name"
    if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=8192 \
        -dict="$home/words.dict" -artifact_prefix="$home/$name-" -print_final_stats=1 "$home/$name" >"$home/$name.log" 2>&1
    then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$home/$name.log")
        echo "$name: ${runs:-0} inputs in $seconds s, $(find "$home/$name" -type f | wc -l) kept, no fault"
    else
        failed=1
        echo "$name: FAULT; the end of $home/$name.log:"
        grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$home/$name.log" || tail -n 20 "$home/$name.log"
    fi
done
exit "$failed"
