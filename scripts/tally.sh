#!/bin/bash
# Sums what run-test.sh left in build/test: a line per test program, why tests were skipped or failed, and the closing
# line `N passed, N failed, N skipped`. Runs nothing. Exit status 0 only if something passed and nothing failed.
set -u

usage() {
    cat <<'EOF'
usage: scripts/tally.sh [NAME...]     the sum over these test programs (each must have run), or over all that ran
       scripts/tally.sh --start       before the first: what ran earlier and was up to date is marked from here on
EOF
}

cd "$(dirname "$0")/.." || exit 2
folder=build/test
case ${1:-} in
    -h | --help) usage; exit 0 ;;
    --start) mkdir -p $folder && date +%s >$folder/started; exit ;;
    -*) echo "tally: unknown option '$1'; allowed: --start" >&2; exit 2 ;;
esac

names=("$@")
if [ $# = 0 ] && [ -d $folder ]; then
    while read -r file; do
        file=${file#"$folder/"}
        names+=("${file%.count}")
    done < <(find $folder -name '*.count' | sort)
fi
if [ ${#names[@]} = 0 ]; then
    echo "tally: no test has run: there is no .count file in $folder" >&2
    echo '0 passed, 0 failed, 0 skipped'
    exit 1
fi
started=$(cat $folder/started 2>/dev/null || echo 0)

for name in "${names[@]}"; do
    if [ -s "$folder/$name.count" ]; then
        echo "count	$name	$(cat "$folder/$name.count")"
        if [ -s "$folder/$name.notes" ]; then
            while IFS= read -r line; do echo "note	$name	$line"; done <"$folder/$name.notes"
        fi
    else
        echo "count	$name	0 1 0 0 0 0"
        echo "note	$name	failed	$name	did not run"
    fi
done | awk -F '\t' -v started="$started" '
$1 == "count" {
    split($3, n, " ")
    names[++rows] = $2
    passed[rows] = n[1]; failed[rows] = n[2]; skipped[rows] = n[3]; seconds[rows] = n[4]
    earlier[rows] = (n[5] > 0 && n[5] < started)
    total_passed += n[1]; total_failed += n[2]; total_skipped += n[3]; total_seconds += n[4]
    if (length($2) > widest) widest = length($2)
}
$1 == "note" && $3 == "skipped" {
    # Tests that share a reason share a line.
    if (!($5 in reason_count)) reasons[++reason_rows] = $5
    if (reason_count[$5]++ < 3) reason_tests[$5] = reason_tests[$5] (reason_tests[$5] == "" ? "" : ", ") $4
}
$1 == "note" && $3 == "failed" { failures[++failure_rows] = $2 ": " ($4 == $2 ? "" : $4 ($5 == "" ? "" : ": ")) $5 }
END {
    if (widest < 12) widest = 12
    printf "\n%-" widest "s  %7s %7s %7s %9s\n", "test program", "passed", "failed", "skipped", "seconds"
    for (i = 1; i <= rows; i++)
        printf "%-" widest "s  %7d %7d %7d %9.2f%s\n", names[i], passed[i], failed[i], skipped[i], seconds[i],
            failed[i] ? "  FAILED" : earlier[i] ? "  (earlier; nothing changed)" : ""
    if (reason_rows) print "\nskipped:"
    for (i = 1; i <= reason_rows; i++) {
        r = reasons[i]
        printf "  %s: %s%s\n", r, reason_tests[r], (reason_count[r] > 3 ? " and " reason_count[r] - 3 " more" : "")
    }
    if (failure_rows) print "\nfailed:"
    for (i = 1; i <= failure_rows; i++) print "  " failures[i]
    printf "\n%d passed, %d failed, %d skipped\n", total_passed, total_failed, total_skipped
    exit (total_failed > 0 || total_passed == 0)
}'
