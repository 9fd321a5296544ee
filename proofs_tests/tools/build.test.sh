#!/bin/bash
# What make makes again: on a copy of the sources, with a compiler that reads them, writes what they include
# and leaves empty objects: what was compiled is a list of names. Prints TAP, so it runs under run-test.sh.
set -u
unset CC ZLIB CPPFLAGS SETUP_FOR MAKEFLAGS MAKELEVEL MFLAGS
cd "$(dirname "$0")/../.." || exit 2
. proofs_tests/support/tap.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
find Makefile include kernels model ref tasks cli check bench wasm scripts python proofs_tests \
    \( -name Makefile -o -name '*.[ch]' -o -name '*.mk' -o -name '*.def' -o -name '*.inc' -o -name '*.table' -o -name '*.awk' -o -name kernels.txt -o -name setup.sh \) \
    -exec cp -p --parents {} "$copy" \; || exit 2
cat >"$copy/cc" <<'EOF'
#!/bin/bash
# Compiles nothing: the dependencies, an empty object, its name into the list, its level into another.
[[ " $* " == *" -c "* ]] || exec gcc "$@"
words=() level=none
while [ $# -gt 0 ]; do
    case $1 in
        -c) words+=(-E) ;;
        -o) object=$2; shift ;;
        -O?) level=$1 words+=("$1") ;;
        *) words+=("$1") ;;
    esac
    shift
done
gcc "${words[@]}" -MF "${object%.o}.d" -MT "$object" -o /dev/null && : >"$object" && {
    echo "${object#build/obj/cc-pic/}" >>made
    echo "${object#build/obj/cc-pic/} $level" >>levels
}
EOF
chmod +x "$copy/cc"
cd "$copy" || exit 2
# Two instruction sets: where a kernel is compiled twice, it is compiled often.
makes() { rm -f made && make -s CC=./cc ISAS='scalar sse2' FUSED= "$@" build/cc/libseqmix.a >log 2>&1 || sed 's/^/# /' log; }
made() { if [ -f made ]; then sort made; fi; }
count() { made | grep -c "${1:-}"; }
folders() { made | sed 's|/.*||' | sort -u | tr '\n' ' '; }

makes
check 'everything is compiled' 'kernels model scalar sse2 tasks ' "$(folders)"
all=$(count)
makes
check 'and nothing again' 0 "$(count)"

rm build/obj/cc-pic/sse2/kernels/rows/gemm.o build/obj/cc-pic/model/run/train.o
makes
check 'an object that was deleted is made again, and no other' $'model/run/train.o\nsse2/kernels/rows/gemm.o' "$(made)"

makes ZLIB=0
check 'another flag: what takes it is compiled again' 'tasks ' "$(folders)"
makes
check 'and back' 'tasks ' "$(folders)"
makes FLAGS_sse2=-DSMX_ANOTHER
check 'a flag of one instruction set' 'sse2 ' "$(folders)"
sed -i 's/^KERNEL_CFLAGS := .*/& -fno-ident/' Makefile
makes FLAGS_sse2=-DSMX_ANOTHER
check 'a flag of the kernels, in the Makefile itself' 'scalar sse2 ' "$(folders)"
makes FLAGS_sse2=-DSMX_ANOTHER WARN=-Wall
check 'a flag of all' "$all" "$(count)"
# The program's own objects come at -O1; what they are made of (build.inc names the library's) does not.
rm -rf build/obj/cc-pic levels
make -s CC=./cc SETUP_FOR=program ISAS='scalar sse2' FUSED= build/obj/cc-pic/cli/grid/builds.o >log 2>&1 || sed 's/^/# /' log
check 'a level of the program alone is none of the library' $'cli -O1\nmodel -O2\ntasks -O2' \
    "$(grep -E '^(cli|model|tasks)/' levels | sed 's|/.* | |' | sort -u)"
echo "1..$tests"
