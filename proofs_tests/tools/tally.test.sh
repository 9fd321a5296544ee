#!/bin/bash
# Tests run-test.sh, tally.sh and judge.mk on made-up test programs that pass, fail, skip, crash, hang and say
# nothing. Prints TAP, so it runs under run-test.sh itself. Works in a copy of its own, away from build/test.
set -u
unset STRICT SLOW TESTS_IN_ALL # what a run around this one asks for
cd "$(dirname "$0")/../../scripts" || exit 2
project=$(dirname "$PWD")
. ../proofs_tests/support/tap.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/scripts"
cp run-test.sh tally.sh judge.mk "$copy/scripts"
cd "$copy" || exit 2

# COUNTS EXIT OUTPUT: a program that prints OUTPUT (with printf) and leaves with EXIT has these counts.
counted() { # WHAT COUNTS EXIT OUTPUT
    # shellcheck disable=SC2016
    scripts/run-test.sh program bash -c 'printf "$1"; exit "$2"' - "$4" "$3" >/dev/null 2>&1
    verdict=$?
    check "$1" "$2" "$(cut -d' ' -f1-3 build/test/program.count)"
    read -r _ failures _ <<<"$2"
    check "$1: the exit status agrees" $((failures > 0)) "$verdict"
}

run='[==========] Running'
counted 'cmocka: one of each' '1 1 1' 1 "$run 3 test(s).\n[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n[  ERROR   ] --- 1 != 2\n\
[  FAILED  ] b\n[ RUN      ] c\nno folder\n[  SKIPPED ] c\n[==========] 3 test(s) run.\n[  PASSED  ] 1 test(s).\n\
[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] c\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] b\n"
check 'cmocka: the reason of a skip is what was printed before it' 'skipped	c	no folder' \
    "$(grep skipped build/test/program.notes)"
check 'cmocka: the reason of a failure is kept' 'failed	b	1 != 2' "$(grep failed build/test/program.notes)"
counted 'cmocka: two groups, text before the tag' '2 0 0' 0 \
    "$run 1 test(s).\n[ RUN      ] a\nhalf a line[       OK ] a\n$run 1 test(s).\n[ RUN      ] a\n[       OK ] a\n"
counted 'cmocka: ends within a test with status 0' '1 2 0' 0 \
    "$run 3 test(s).\n[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n"
counted 'cmocka: all pass and then a bad status' '1 1 0' 3 "$run 1 test(s).\n[ RUN      ] a\n[       OK ] a\n"
counted 'cmocka: an empty group' '0 1 0' 0 "$run 0 test(s).\n[==========] 0 test(s) run.\n"
counted 'TAP: one of each' '1 1 1' 1 '1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no folder\n'
check 'TAP: the reason of a skip' 'skipped	c	no folder' "$(grep skipped build/test/program.notes)"
counted 'TAP: a planned test is missing' '1 1 0' 0 '1..2\nok 1 - a\n'
counted 'TAP: no plan' '1 1 0' 0 'ok 1 - a\n'
counted 'TAP: still to do' '1 1 0' 0 '1..2\nok 1 - a\nok 2 - b # TODO later\n'
counted 'TAP: nested tests belong to the test above' '1 0 0' 0 '1..1\n    ok 1 - in\n    ok 2 - in\nok 1 - a\n'
end_of_node() { printf '# tests 9\\n# suites 1\\n# pass %s\\n# fail %s\\n# cancelled %s\\n# skipped %s\\n# todo %s\\n' "$@"; }
counted 'node: counts nested tests too' '4 0 2' 0 "ok 1 - a\n1..1\n$(end_of_node 4 0 0 2 0)"
counted 'node: failed, cancelled and still to do are failures' '4 6 0' 1 "1..1\n$(end_of_node 4 1 2 0 3)"
counted 'node: the spec reporter' '4 0 1' 0 "﹣ c (0.1ms) # no browser\n$(end_of_node 4 0 0 1 0 | sed 's/#/ℹ/g')"
check 'node: the reason of a skip, spec reporter' 'skipped	c	no browser' "$(grep skipped build/test/program.notes)"
counted 'node: a file without a test' '0 1 0' 0 "ok 1 - /x/empty.test.mjs\n1..1\n$(end_of_node 1 0 0 0 0)"
counted 'node: a test that prints a count' '0 1 0' 0 '# pass 5\n'
counted 'silence' '0 1 0' 0 ''
counted 'silence and a bad status' '0 1 0' 2 ''

of() { cut -d' ' -f1-3 "build/test/$1.count"; }
# shellcheck disable=SC2016
scripts/run-test.sh crash bash -c 'kill -SEGV $$' >/dev/null 2>&1
check 'a crash fails' '0 1 0' "$(of crash)"
check 'a crash names its signal' 'failed	crash	ended by signal 11' "$(cat build/test/crash.notes)"
scripts/run-test.sh --timeout 1 hang sleep 60 >/dev/null 2>&1
check 'a program that hangs is stopped and fails' '0 1 0' "$(of hang)"
scripts/run-test.sh absent ./absent >/dev/null 2>&1
check 'a program that is not there fails' '0 1 0' "$(of absent)"
scripts/run-test.sh --status good true >/dev/null
check '--status: status 0 passes' '1 0 0' "$(of good)"
scripts/run-test.sh --status bad false >/dev/null
check '--status: status 1 fails' '0 1 0' "$(of bad)"
touch newer
check 'a failed run is older than anything, so that make repeats it' yes "$([ build/test/bad.count -ot newer ] && echo yes)"
SLOW=300 scripts/run-test.sh --status good true >/dev/null
check 'so is one with SLOW, which says nothing of a page as it is' yes "$([ build/test/good.count -ot newer ] && echo yes)"

last_line() { scripts/tally.sh "$@" 2>/dev/null | tail -n 1; }
status_of() { scripts/tally.sh "$@" >/dev/null 2>&1; echo $?; }
check 'tally: the sum over the named' '1 passed, 1 failed, 0 skipped' "$(last_line good bad)"
check 'tally: a failure is a failure' 1 "$(status_of good bad)"
check 'tally: all is well' 0 "$(status_of good)"
check 'tally: what did not run has failed' '1 passed, 1 failed, 0 skipped' "$(last_line good never)"
check 'tally: what did not run fails the sum' 1 "$(status_of good never)"
scripts/run-test.sh skips printf '1..5\nok 1 # SKIP no x\nok 2 # SKIP no x\nok 3 # SKIP no x\nok 4 # SKIP no x\nok 5 - y\n' >/dev/null
check 'tally: skipped tests are counted' '1 passed, 0 failed, 4 skipped' "$(last_line skips)"
check 'tally: and their reason is said' 1 "$(scripts/tally.sh skips | grep -c 'no x')"

# make: programs of one source each, judged as `make test` judges.
cat >Makefile <<'END'
SHELL := /bin/bash
.DELETE_ON_ERROR:
.SECONDARY:
include scripts/judge.mk
build/test/%.count: build/%
	@$(RUN) $* $< $(JUDGED)
build/made build/other: build/%: %.c
	@gcc $< -o $@
test: ; $(call judge,,made other)
END
source_of() { printf '#include <stdio.h>\nint main(void) { puts("%s"); }\n' "$2" >"$1"; } # FILE TAP
judged() { make test >out 2>&1; echo "$? $(grep -E '^[0-9]+ passed, ' out)"; }
unset MAKEFLAGS MAKELEVEL MFLAGS
source_of made.c '1..1\nok 1 - a'
source_of other.c '1..1\nok 1 - b'
check 'make: both pass' '0 2 passed, 0 failed, 0 skipped' "$(judged)"
sleep 1.1 # what ran earlier is known by the second
check 'make: they pass again' '0 2 passed, 0 failed, 0 skipped' "$(judged)"
check 'make: each says how far all are' '2 of 2' "$(rm build/test/*.count && make test | grep -Eo '[0-9] of 2' | sort | tail -n 1)"
make test >out
check 'make: without being run again' 2 "$(grep -c 'earlier; nothing changed' out)"
check 'make: with SLOW they are' '0 2 passed, 0 failed, 0 skipped 0' \
    "$(SLOW=50 judged) $(grep -c 'earlier; nothing changed' out)"
echo 'no C' >made.c
check 'make: a test that no longer compiles fails, its older verdict notwithstanding' \
    '2 1 passed, 1 failed, 0 skipped' "$(judged)"
check 'make: and is named' 1 "$(grep -c '^  made: could not be made' out)"
source_of made.c '1..1\nok 1 - a # SKIP no x'
check 'make: a skip' '0 1 passed, 0 failed, 1 skipped' "$(judged)"
printf '#!/bin/bash\nprintf "1..1\\nok 1 - a\\n"\n' >build/made # what was missing is there now, and no source changed
touch -t 200001010000 made.c build/made
check 'make: a program that skipped is run again' '0 2 passed, 0 failed, 0 skipped' "$(judged)"
rm -r Makefile made.c other.c out build/made build/other

# The list of tests.
tests_of() { scripts/run-test.sh "$1" printf "$2" >/dev/null; }
mkdir proofs_tests
tests_of good '1..2\nok 1 - a\nok 2 - b\n'
tests_of fast/good '1..2\nok 1 - a\nok 2 - b\n'
check 'list: written' 'wrote proofs_tests/tests.txt: 2 tests' "$(scripts/tally.sh --record good fast/good)"
check 'list: all is well' '4 passed, 0 failed, 0 skipped' "$(last_line --all good fast/good)"
tests_of good '1..1\nok 1 - a\n'
check 'list: a test that is gone' '3 passed, 1 failed, 0 skipped' "$(last_line good fast/good)"
check 'list: is named' 1 "$(scripts/tally.sh good | grep -c '^  good: b: stands in proofs_tests/tests.txt')"
tests_of bad '1..1\nok 1 - c\n'
check 'list: a program that is gone' '1 passed, 1 failed, 0 skipped' "$(last_line --all bad)"
check 'list: a program that another target judges' '1 passed, 0 failed, 0 skipped' "$(last_line --all --but 'other good' bad)"
check 'list: --but without names is refused' 2 "$(status_of --all --but '')"
check 'list: a new test is told' 1 "$(scripts/tally.sh bad | grep -c '^1 new test')"
check 'list: and fails where STRICT=1' '1 passed, 1 failed, 0 skipped' "$(STRICT=1 last_line bad)"
sed -i.old '1s/as .* has them/as Plan9 mips has them/' proofs_tests/tests.txt
check 'list: of another machine, it is not held against this one' '1 passed, 0 failed, 0 skipped' \
    "$(STRICT=1 last_line good)"
check 'list: one program more, the others as they were' 'bad: c good: a good: b' \
    "$(scripts/tally.sh --record bad >/dev/null; grep -v '^#' proofs_tests/tests.txt | paste -sd' ')"

# What may be skipped.
printf '# a line of words\ncat\t^no cat$\ttest -e cat\ndog\t^no dog$\ttrue\n' >proofs_tests/skips.txt
tests_of skips '1..3\nok 1 - a\nok 2 - b # SKIP no cat\nok 3 - c # SKIP no dog\n'
check 'skips: told' '1 passed, 0 failed, 2 skipped' "$(last_line skips)"
check 'skips: STRICT=1 forgives what the machine lacks, and nothing else' '1 passed, 1 failed, 1 skipped' \
    "$(STRICT=1 last_line skips)"
for row in $'^no cat$\ttest -e cat' $'no cat\tcat\ttest -e cat' $'cat\t\ttest -e cat' $'cat\t^no cat$\ttest -e cat\ttrue' 'cat ^no cat$ true'; do
    printf 'cat\t^no cat$\ttest -e cat\n%s\n' "$row" >rows
    check "skips: a row that is no name, pattern and command is refused: $(echo "$row" | tr '\t' ,)" \
        "2 tally: proofs_tests/skips.txt, line 2: '$row' is not a name (a-z, digits, + and -), a regular expression and a command, a tab between" \
        "$(mv proofs_tests/skips.txt kept && mv rows proofs_tests/skips.txt; said=$(scripts/tally.sh skips 2>&1 >/dev/null); echo "$? $said"; mv kept proofs_tests/skips.txt)"
done
tests_of skips '1..2\nok 1 - a\nok 2 - b # SKIP no bird\n'
check 'skips: STRICT=1 and a reason that nobody expects' '1 passed, 1 failed, 0 skipped' "$(STRICT=1 last_line skips)"
tests_of good '1..1\nok 1 - everything # SKIP no cat\n'
check 'skips: a program that skips everything misses no test of the list' '0 passed, 0 failed, 1 skipped' \
    "$(STRICT=1 last_line good)"
check 'skips: and the reason stands with its name' 1 "$(scripts/tally.sh good | grep -c '^  no cat: everything of good$')"
check 'skips: nor is that what is recorded' 'tally: good skipped everything; the list is left as it is' \
    "$(scripts/tally.sh --record good 2>&1)"
tests_of good '1..1\nok 1 - everything # SKIP no dog\n'
check 'skips: STRICT=1 and everything for a reason that does not hold' '0 passed, 1 failed, 0 skipped' \
    "$(STRICT=1 last_line good)"

# Rows of what may be absent.
rows() { grep -v '^#' proofs_tests/tests.txt | paste -sd, | tr '\t' ' '; }
tests_of cats '1..2\nok 1 - a\nok 2 - b # SKIP no cat\n'
scripts/tally.sh --record cats >/dev/null
check 'optional: a test that skips is recorded with what it lacks' 'bad: c,cats: a,cats: b optional:cat,good: a,good: b' "$(rows)"
tests_of cats '1..1\nok 1 - a\n'
check 'optional: where that is absent, a row that is missing is skipped' '1 passed, 0 failed, 1 skipped' "$(STRICT=1 last_line cats)"
check 'optional: for that reason' 1 "$(scripts/tally.sh cats | grep -c '^  cat is not here: b$')"
touch cat
check 'optional: where it is there, the row has failed' '1 passed, 1 failed, 0 skipped' "$(STRICT=1 last_line cats)"
tests_of cats '1..2\nok 1 - a\nok 2 - b\n'
check 'optional: it is recorded again as it was' 'bad: c,cats: a,cats: b optional:cat,good: a,good: b' \
    "$(scripts/tally.sh --record cats >/dev/null; rows)"
check 'optional: and reports like any other' '2 passed, 0 failed, 0 skipped' "$(STRICT=1 last_line cats)"
rm cat

# What differs from machine to machine is no name.
for name in 'Chrome/156.0.8078.79, both' 'firefox/153.7' 'Node v20.20.2' 'on 2026-11-23' 'reads /tmp/x/a.txt' 'on 8 cores' 'no FMA in build/obj/gcc'; do
    tests_of varies "1..1\nok 1 - $name\n"
    check "names: $(echo "$name" | tr -d '0-9./-'): refused by the list" yes \
        "$(scripts/tally.sh --record varies 2>&1 | grep -q '^tally: a name that differs' && echo yes)"
    check "names: $(echo "$name" | tr -d '0-9./-'): red where it is reported" '1 passed, 1 failed, 0 skipped' "$(last_line varies)"
done
tests_of varies '1..1\nok 1 - [mixer=chela&squash=0.05] 1/2 of docs/API.md in --save FOLDER/no/such\n'
check 'names: what a test says of itself stays' '1 passed, 0 failed, 0 skipped' "$(last_line varies)"
rm -r proofs_tests
check 'names: none in the list of this project' '' \
    "$(varying_of() { sed -n "/^varying() {/,/^}/p" "$project/scripts/tally.sh"; }; eval "$(varying_of)"; varying <"$project/proofs_tests/tests.txt")"

check 'optional: each row of this project names a row of skips.txt' '' \
    "$(LC_ALL=C comm -23 <(sed -n 's/.*\toptional://p' "$project/proofs_tests/tests.txt" | tr , '\n' | LC_ALL=C sort -u) <(grep -v '^#' "$project/proofs_tests/skips.txt" | cut -f 1 | LC_ALL=C sort -u))"
check 'skips: no reason of this project stands in two rows' '' "$(grep -v '^#' "$project/proofs_tests/skips.txt" | cut -f 2 | sort | uniq -d)"

rm -r build/test
check 'tally: nothing ran' '0 passed, 0 failed, 0 skipped' "$(last_line)"
check 'tally: nothing ran, so it fails' 1 "$(status_of)"
check 'no stray file is left' 'build newer scripts' "$(echo *)"
echo "1..$tests"
