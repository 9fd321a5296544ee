#!/bin/bash
# Runs libFuzzer programs one after another, each on its own corpus in build/fuzz;
# fails where one finds a fault.
# usage: scripts/fuzz.sh SECONDS PROGRAM...
#        scripts/fuzz.sh seeds FOLDER NAME...   writes FOLDER/NAME/..., what the fuzzing of NAME begins from
set -u
# What a good file looks like, where mutations alone would hardly find it.
seeds() {
    mkdir -p "$home/$1"
    case $1 in
        fuzz_labelled)
            # One image of CIFAR-10, sounds of 16 bits with a chunk before them, lines of a label and a text.
            { printf '\007'; head -c 3072 /dev/zero | tr '\0' '\101'; } >"$home/$1/cifar"
            printf 'RIFF\054\0\0\0WAVEfmt \020\0\0\0\001\0\001\0\200\076\0\0\0\175\0\0\002\0\020\0data\010\0\0\0\001\0\002\0\003\0\004\0' >"$home/$1/wav"
            printf 'RIFF\070\0\0\0WAVEfmt \020\0\0\0\001\0\001\0\200\076\0\0\0\175\0\0\002\0\020\0LIST\003\0\0\0abc\0data\004\0\0\0\001\0\002\0' >"$home/$1/wav_list"
            printf 'good\tit was\nbad\tit was not\r\ngood\tx\n' >"$home/$1/tsv" ;;
        fuzz_table)
            printf '\0\0a;b;"c;d"\n1;2,5;"x ""y"""\r\n;NA;-1e400\n' >"$home/$1/table"
            printf '\0\0a,b\n1,2\n3,4\n5,6\n7,8\n9,1\n2,3\n4,5\n6,7\n8,9\n1,2\n' >"$home/$1/numbers" ;;
        fuzz_grid)
            # What seqmix grid --rungs and a job leave behind the byte that says which it is.
            local folder=$home/grid.seeds file
            rm -rf "$folder"
            build/seqmix grid 'task=mqar&batch=2&steps=6&width=8' rate=0.01,0.02 --rungs 1/3,1 --out "$folder" --eval 4 --every 2 2>/dev/null |
                { printf '\006'; cat; } >"$home/$1/lines"
            build/seqmix job 'task=mqar&batch=2&steps=6&width=8' --out "$folder" --eval 4 --every 2 >/dev/null
            for file in "$folder"/plans/*.plan; do { printf '\000'; cat "$file"; } >"$home/$1/plan"; done
            for file in "$folder"/??/*.json; do { printf '\003'; sed 's/,"checksum.*//' "$file" | tr -d '\n'; } >"$home/$1/result"; done
            printf '\0011/9,0.4,1 1/3' >"$home/$1/rungs"
            printf '\002node7 4711 aaaa/pid:[1] 99 5f\nstep 3 of 9\nv=1\n' >"$home/$1/claim"
            printf '\0040x1.8p-1\n-0x1p-3\n0\n' >"$home/$1/curve"
            printf '\005node7\n1700000000\nwhy\nv=1&task=mqar\n' >"$home/$1/failed" ;;
        fuzz_equations) cp examples/equations/*.eq model/mixers/*.eq "$home/$1" ;;
        fuzz_weights)
            printf '\001{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},"c":{"dtype":"F16","shape":[],"data_offsets":[22,24]},"d":{"dtype":"F64","shape":[1],"data_offsets":[24,32]}}' >"$home/$1/four" ;;
        fuzz_onnx)
            # Three rows of four floats; as two heads, packed dimensions and bfloat16.
            { printf '\000\010\003\010\004\020\001\112\060'; head -c 48 /dev/zero | tr '\0' '\077'; } >"$home/$1/float"
            { printf '\002\012\003\002\003\002\020\020\112\030'; head -c 24 /dev/zero | tr '\0' '\077'; } >"$home/$1/heads" ;;
        fuzz_npy)
            { printf "\223NUMPY\001\0\066\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"; printf '\n\0\0\200\077'; } >"$home/$1/one" ;;
    esac
}
if [ "${1:-}" = seeds ]; then
    home=$2
    for name in "${@:3}"; do seeds "$name"; done
    exit
fi
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
    seeds "$name"
    if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=8192 \
        -dict="$home/words.dict" -artifact_prefix="$home/$name-" -print_final_stats=1 "$home/$name" >"$home/$name.log" 2>&1
    then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$home/$name.log")
        edges=$(grep -o 'cov: [0-9]*' "$home/$name.log" | tail -n 1)
        echo "$name: ${runs:-0} inputs in $seconds s, $(find "$home/$name" -type f | wc -l) kept, ${edges#cov: } edges, no fault"
    else
        failed=1
        echo "$name: FAULT; the end of $home/$name.log:"
        grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$home/$name.log" || tail -n 20 "$home/$name.log"
    fi
done
exit "$failed"
