#!/bin/bash
# Runs one test program, keeps its output in build/test/NAME.log, its counts in NAME.count, the names of its
# tests in NAME.tests and why some failed or were skipped in NAME.notes, for tally.sh. Reads cmocka's output,
# TAP, and both reporters of node:test. Judges nothing beyond what these say, except that silence is not
# success: a crash, a time-out, a planned test that never reported and a program that reported no test at all
# each count as failed.
set -u

usage() {
    cat <<'EOF'
usage: scripts/run-test.sh [--status] [--timeout SECONDS] NAME COMMAND...

  --status   the command is one test, and its exit status the verdict (a type checker, a linter)
  --timeout  stop it after this long; 600 if not given
  V=1        in the environment: show the output while it runs

A skipped test gives its reason: in cmocka the last line printed (print_message) before skip(); in TAP and
node:test the text after # SKIP. Exit status: 0 when nothing failed. The .count file of a run in which something
failed or was skipped is dated 1970, so that make runs it again: what was missing may be there by then. (So is one
with SLOW, which says nothing of the page as it is.)
EOF
}

by_status=no timeout_seconds=600
while [ $# -gt 0 ]; do
    case $1 in
        --status) by_status=yes; shift ;;
        --timeout) timeout_seconds=${2:-}; shift 2 || break ;;
        -h | --help) usage; exit 0 ;;
        -*) echo "run-test: unknown option '$1'; allowed: --status, --timeout SECONDS" >&2; exit 2 ;;
        *) break ;;
    esac
done
case $timeout_seconds in
    '' | *[!0-9]*) echo "run-test: --timeout '$timeout_seconds' is not a whole number of seconds" >&2; exit 2 ;;
esac
if [ $# -lt 2 ]; then usage >&2; exit 2; fi
name=$1
shift
case $name in
    /* | *..* | *[!A-Za-z0-9._/+-]*) echo "run-test: '$name' is no name for a file under build/test" >&2; exit 2 ;;
esac

base=$(cd "$(dirname "$0")/.." && pwd)/build/test/$name
log=$base.log
mkdir -p "$(dirname "$base")"
rm -f "$base.count" "$base.notes" "$base.tests" "$base.current"
: >"$log"

clock() { echo "${EPOCHREALTIME:-$(date +%s)}"; }
started=$(clock)

limit=()
if command -v timeout >/dev/null; then limit=(timeout -k 10 "$timeout_seconds"); fi
# cmocka's own format is read in preference to its TAP: its tags are found after a test's unfinished line,
# too.
export CMOCKA_MESSAGE_OUTPUT=STDOUT
"${limit[@]+"${limit[@]}"}" "$@" >>"$log" 2>&1 </dev/null &
running=$!
watching=
if [ "${V:-}" = 1 ]; then
    tail -n +1 -f "$log" &
    watching=$!
fi
# timeout passes the signal on to everything that the command started.
trap 'kill "$running" $watching 2>/dev/null; wait; exit 130' INT TERM HUP
{ wait "$running"; } 2>/dev/null # without the shell's own line about a crash: it is among the failures
status=$?
if [ -n "$watching" ]; then
    sleep 0.2 # the last lines
    kill "$watching"
    wait "$watching" 2>/dev/null
fi
trap - INT TERM HUP
# What it took of processors, with all that it started and waited for: the second line, "1m2.345s 0m1.234s".
times >"$base.times" # (in a pipe it would be that of another shell)
cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4 }' "$base.times")
rm -f "$base.times"

awk -v status="$status" -v by_status="$by_status" -v seconds_allowed="$timeout_seconds" -v notes="$base.notes" -v tests="$base.tests" \
    -v cpu="$cpu" -v name="$name" -v started="$started" -v ended="$(clock)" '
function note(kind, what, why) { print kind "\t" what "\t" why >notes }
function names(what) { if (what != "") print what >tests }
function passes() { passed++ }
function fails(what, why) { failed++; note("failed", what, why) }
function skips(what, why) { skipped++; note("skipped", what, why == "" ? "no reason given" : why) }
function after(mark) { return substr($0, index($0, mark) + length(mark)) }
function trimmed(text) { gsub(/^[ \t]+|[ \t\r]+$/, "", text); return text }

by_status == "yes" { next }

# cmocka. A result belongs to the RUN line before it; the lists at the end of a group repeat results and count
# not. The test may have printed before the tag without ending its line.
/\[==========\] Running [0-9]+ test\(s\)/ { split(after("] Running "), words, " "); planned += words[1]; cmocka = 1; next }
index($0, "[ RUN      ] ") { current = trimmed(after("[ RUN      ] ")); said = ""; next }
current != "" && index($0, "[       OK ] " current) { names(current); passes(); reported++; current = ""; next }
current != "" && index($0, "[  FAILED  ] " current) { names(current); fails(current, said); reported++; current = ""; next }
current != "" && index($0, "[  SKIPPED ] " current) {
    names(current)
    sub(/^[Ss][Kk][Ii][Pp][a-z]*: */, "", said)
    skips(current, said)
    reported++
    current = ""
    next
}
current != "" && trimmed($0) != "" { said = trimmed($0); sub(/^\[[ A-Z]*\] --- /, "", said) }

# The closing block of node:test, in order and unbroken ("# " in its TAP reporter, "ℹ " in its spec reporter),
# so that a test which prints "pass 5" is not taken for it. It counts nested tests, which TAP lines at the
# margin do not.
/^(#|ℹ) tests [0-9]+$/ { at = 1; next }
at == 1 && /^(#|ℹ) suites [0-9]+$/ { at = 2; next }
at == 2 && /^(#|ℹ) pass [0-9]+$/ { node_pass = $3; at = 3; next }
at == 3 && /^(#|ℹ) fail [0-9]+$/ { node_fail = $3; at = 4; next }
at == 4 && /^(#|ℹ) cancelled [0-9]+$/ { node_fail += $3; at = 5; next }
at == 5 && /^(#|ℹ) skipped [0-9]+$/ { node_skip = $3; at = 6; next }
at == 6 && /^(#|ℹ) todo [0-9]+$/ {
    node = 1
    node_passed += node_pass
    node_failed += node_fail + $3 # a test yet to do shows nothing
    node_skipped += node_skip
    at = 0
    next
}
{ at = 0 }
# A file without a test is reported by node:test as one test of the name of the file, and passed.
/^ok [0-9]+ - .*\.[mc]?[jt]s$/ { node_empty++; note("failed", substr($0, index($0, " - ") + 3), "the file holds no test") }

# TAP. Only lines at the margin are counted; nested ones are part of the test above them.
/^1\.\.[0-9]+/ { tap = 1; split($1, ends, /\.\./); tap_planned += ends[2]; next }
/^ *(not )?ok [0-9]+/ {
    nested = /^ /
    bad = /^ *not ok/
    title = $0
    sub(/^ *(not )?ok [0-9]+ *(- )?/, "", title)
    reason = title
    if (match(title, /# *[Ss][Kk][Ii][Pp][A-Za-z]*:? */)) {
        reason = substr(title, RSTART + RLENGTH)
        title = trimmed(substr(title, 1, RSTART - 1))
        # cmocka writes "not ok 3 # SKIP name" and has no place for a reason.
        if (title == "") { title = reason; reason = "" }
        note("skipped", title, reason == "" ? "no reason given" : reason)
        names(title)
        if (!nested) { tap_skipped++; tap_reported++ }
        next
    }
    if (bad) note("failed", title, "")
    else if (title ~ /# *TODO/) { bad = 1; sub(/ *# *TODO.*/, "", title); note("failed", title, "still to do") }
    names(title)
    if (!nested) { tap_reported++; if (bad) tap_failed++; else tap_passed++ }
    next
}
# The spec reporter: a skipped test with its reason, one that failed, one still to do.
/^ *﹣ / { reason = $0; sub(/^.*# */, "", reason); title = trimmed($0); sub(/^﹣ */, "", title); sub(/ \([0-9.]+ms\).*/, "", title)
          note("skipped", title, reason == "SKIP" || reason == $0 ? "no reason given" : reason) }
/^ *✔ .*# TODO/ { title = trimmed($0); sub(/^✔ */, "", title); sub(/ \([0-9.]+ms\).*/, "", title); note("failed", title, "still to do") }
/^ *✖ .*\([0-9.]+ms\)/ && !node { title = trimmed($0); sub(/^✖ */, "", title); sub(/ \([0-9.]+ms\).*/, "", title); note("failed", title, "") }

END {
    if (by_status == "yes") {
        names(name)
        if (status == 0) passes(); else fails(name, "exit status " status)
    } else {
        if (node) {
            passed += node_passed - node_empty
            failed += node_failed + node_empty
            skipped += node_skipped
        } else if (tap || tap_reported) {
            passed += tap_passed
            failed += tap_failed
            skipped += tap_skipped
            if (tap_planned > tap_reported) {
                failed += tap_planned - tap_reported
                note("failed", name, tap_planned - tap_reported " of " tap_planned " planned tests did not report")
            }
            if (!tap) fails(name, "the output has no plan (1..N), so nobody knows whether all tests ran")
        }
        if (planned > reported) {
            failed += planned - reported
            note("failed", name, planned - reported " of " planned " planned tests did not report" \
                (current == "" ? "" : "; it ended in " current))
        }
        if (status == 124) fails(name, "stopped after " seconds_allowed " s")
        else if (status > 128 && status < 160) fails(name, "ended by signal " status - 128)
        else if (status != 0 && !failed) fails(name, "exit status " status ", though no test failed")
        if (passed + failed + skipped == 0) fails(name, "reported no test")
    }
    printf "%d %d %d %.2f %d %d %.2f\n", passed, failed, skipped, ended - started, ended, status, cpu
}' "$log" >"$base.count.part" || exit 2

mv "$base.count.part" "$base.count"
read -r passed failed skipped seconds _ <"$base.count"
if [ "$failed" = 0 ]; then mark=ok; else mark=FAILED; fi
touch "$base.current"
# How far all of them are, where `make test` says how many there are.
place='' began=$(cat build/test/started 2>/dev/null)
if [ -n "${TESTS_IN_ALL:-}" ] && [ -n "$began" ]; then
    seconds_gone=$(($(date +%s) - began))
    place=$(printf '  %d of %d, %d:%02d' "$(find build/test -name '*.current' -newer build/test/started | wc -l)" "$TESTS_IN_ALL" \
        $((seconds_gone / 60)) $((seconds_gone % 60)))
fi
printf '%-6s %-32s %5d passed, %d failed, %d skipped  %8s s%s\n' "$mark" "$name" "$passed" "$failed" "$skipped" "$seconds" "$place"
if [ "$failed" != 0 ] || [ "$skipped" != 0 ] || [ "${SLOW:-0}" != 0 ]; then touch -t 197001020000 "$base.count"; fi
if [ "$failed" != 0 ]; then
    if [ "${V:-}" != 1 ]; then
        echo "---- what failed, and the end of build/test/$name.log"
        grep -A 19 '^not ok' "$log" | head -n 60
        tail -n 40 "$log"
        echo "----"
    fi
    exit 1
fi
