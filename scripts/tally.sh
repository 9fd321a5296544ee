#!/bin/bash
# Sums what run-test.sh left in build/test: a line per test program, why tests were skipped or failed, and the
# closing line `N passed, N failed, N skipped`. Runs nothing. Exit status 0 only if something passed and
# nothing failed. Failed is also: a program whose verdict is not of today's sources (no .current: judge.mk),
# and a test that proofs_tests/tests.txt lists and nobody reported: tests do not vanish unnoticed. (What may
# be absent has rows that say so, optional:NAME of proofs_tests/skips.txt: there they are skipped.)
set -u

usage() {
    cat <<'EOT'
usage: scripts/tally.sh [--all] [NAME...]  the sum over these test programs (each must have run), or over all that ran;
                                           --all: and every program of proofs_tests/tests.txt must be among them
                                           --all --but "NAME...": except these, which another target judges
       scripts/tally.sh --start            before the first: what ran earlier and was up to date is marked from here on
       scripts/tally.sh --watch PID        while that process runs, says every 20 s what has been compiled since --start
       scripts/tally.sh --record NAME...   write into proofs_tests/tests.txt the tests that these programs reported
STRICT=1 in the environment: a skip that proofs_tests/skips.txt does not expect on this machine fails, and so does a test
that proofs_tests/tests.txt does not list.
EOT
}

cd "$(dirname "$0")/.." || exit 2
PATH=$PWD/build/tools/bin:$PATH # (the python3 that setup.sh chose)
folder=build/test list=proofs_tests/tests.txt skips=proofs_tests/skips.txt
whole=no record=no but=()
case ${1:-} in
    -h | --help) usage; exit 0 ;;
    --start) mkdir -p $folder && date +%s >$folder/started; exit ;;
    --watch)
        before=0
        while sleep 20 >/dev/null && kill -0 "${2:?}" 2>/dev/null; do
            objects=$(find build -name '*.o' -newer $folder/started 2>/dev/null | wc -l)
            if [ "$objects" -gt "$before" ]; then
                seconds=$(($(date +%s) - $(cat $folder/started)))
                printf 'compiled %d files, %d:%02d after the beginning\n' "$objects" $((seconds / 60)) $((seconds % 60))
            fi
            before=$objects
        done
        exit
        ;;
    --all)
        whole=yes
        shift
        if [ "${1:-}" = --but ]; then
            [ -n "${2:-}" ] || { echo 'tally: --but wants the names of programs, as one word: "NAME NAME"' >&2; exit 2; }
            read -r -a but <<<"$2"
            shift 2
        fi
        ;;
    --record) record=yes; shift ;;
    -*) echo "tally: unknown option '$1'; allowed: --start, --watch, --all [--but], --record" >&2; exit 2 ;;
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

# "PROGRAM: TEST", sorted, as in the list: of every program, or of the one named. A program stands in it once,
# whatever compiler (clang/test_gemm) or mode (fast/test_gemm) it also runs under.
reported() { # NAME
    awk -v program="${1##*/}" '{ print program ": " $0 }' "$folder/$1.tests" 2>/dev/null | LC_ALL=C sort -u
}
# A program that skips "everything" (its whole language is missing, say) has no test left that could report.
skips_everything() { grep -q "^skipped	everything	" "$folder/$1.notes" 2>/dev/null; }
machine=$(uname -s -m)

# The rows of skips.txt: their names, patterns and probes. Each probe is run once.
names_of_skips=() patterns=() probes=() line_number=0
while IFS= read -r line; do
    line_number=$((line_number + 1))
    case $line in '' | '#'*) continue ;; esac
    if ! [[ $line =~ ^[a-z][a-z0-9+-]*$'\t'[^$'\t']+$'\t'[^$'\t']+$ ]]; then
        echo "tally: $skips, line $line_number: '$line' is not a name (a-z, digits, + and -), a regular expression and a command, a tab between" >&2
        exit 2
    fi
    IFS=$'\t' read -r name pattern probe <<<"$line"
    names_of_skips+=("$name") patterns+=("$pattern") probes+=("$probe")
done < <(cat $skips 2>/dev/null)
declare -A found=()
is_here() { # PROBE
    if [ -z "${found[$1]+known}" ]; then
        if bash -c "$1" >/dev/null 2>&1; then found[$1]=yes; else found[$1]=no; fi
    fi
    [ "${found[$1]}" = yes ]
}
absent() { # NAME: does any of its probes fail here?
    local i
    for i in "${!names_of_skips[@]}"; do
        if [ "${names_of_skips[i]}" = "$1" ] && ! is_here "${probes[i]}"; then return 0; fi
    done
    return 1
}

# A test is called the same on every machine and every day. Rows of a list (PROGRAM: TEST) whose names hold
# what differs: a version, a date, a folder of this machine's, how many processors it has.
varying() {
    grep -E '[0-9]\.[0-9]+\.[0-9]|[/v][0-9]+\.[0-9]|[0-9]{4}-[0-9]{2}-[0-9]|[ (=:"]/[A-Za-z0-9_.-]+/|[0-9] (cores|CPUs|processors|threads here)|: .*build/(obj|bare)'
}

# The rows that come in, each with what it may be absent without: what it skips for here, and what the list
# says already.
optional() { # PROGRAM
    local kind what why i
    exec 3<&0
    {
        grep "	optional:" $list 2>/dev/null
        while IFS=$'\t' read -r kind what why; do
            if [ "$kind" != skipped ]; then continue; fi
            for i in "${!patterns[@]}"; do
                if [[ $why =~ ${patterns[i]} ]] && [ "${probes[i]}" != false ] && ! is_here "${probes[i]}"; then
                    echo "${1##*/}: $what	optional:${names_of_skips[i]}"
                fi
            done
        done < <(cat "$folder/$1.notes" 2>/dev/null)
    } | awk -F '\t' '
        groups { if (index("," of[$1] ",", "," substr($2, 10) ",") == 0) of[$1] = of[$1] (of[$1] == "" ? "" : ",") substr($2, 10); next }
        { print $1 (of[$1] == "" ? "" : "\toptional:" of[$1]) }' groups=1 - groups= /dev/fd/3
    exec 3<&-
}

if [ $record = yes ]; then
    for name in "${names[@]}"; do
        what='has not run'
        if skips_everything "$name"; then what='skipped everything'; elif [ -s "$folder/$name.tests" ]; then continue; fi
        echo "tally: $name $what; the list is left as it is" >&2
        exit 1
    done
    if line=$(for name in "${names[@]}"; do reported "$name"; done | varying); then
        echo "tally: a name that differs from machine to machine or from day to day: ${line%%$'\n'*}; the list is left as it is" >&2
        exit 1
    fi
    {
        echo "# Every test, by program, as $machine has them. Written by \`make test-list\`, held by \`make test\`:"
        echo '# a test that stands here and does not report has failed.'
        {
            for name in "${names[@]}"; do reported "$name" | optional "$name"; done
            # What other programs have there stays.
            printf '%s\n' "${names[@]##*/}" | awk -F: 'NR == FNR { mine[$1]; next } !/^#/ && !($1 in mine)' - $list 2>/dev/null
        } | LC_ALL=C sort -u
    } >"$list.part" && mv "$list.part" $list
    echo "wrote $list: $(grep -vc '^#' $list) tests"
    exit
fi

# Whether the list is of this kind of machine: others have other instruction sets, and so other tests.
judged=no
if [ -s $list ]; then
    read -r first <$list
    case $first in *"as $machine has"*) judged=yes ;; esac
fi

# Does skips.txt expect this reason on this machine?
expects() { # REASON
    local i
    for i in "${!patterns[@]}"; do
        if [[ $1 =~ ${patterns[i]} ]] && ! is_here "${probes[i]}"; then return 0; fi
    done
    return 1
}

# The tests of a program that are in the list alone, and those that it alone has.
listed() { awk -F '\t' -v program="${1##*/}: " 'index($0, program) == 1 { print $1 }' $list | LC_ALL=C sort -u; }
missing() { LC_ALL=C comm -23 <(listed "$1") <(reported "$1"); }
# May this row be absent here? Then $lacked says for want of what.
lacking() { # ROW
    local -a names
    IFS=, read -r -a names < <(awk -F '\t' -v row="$1" '$1 == row { print substr($2, 10) }' $list)
    for lacked in "${names[@]+"${names[@]}"}"; do
        if absent "$lacked"; then return 0; fi
    done
    return 1
}
unlisted() { LC_ALL=C comm -13 <(listed "$1") <(reported "$1"); }

gather() {
    local name count line kind what why new=0
    for name in "${names[@]}"; do
        if [ ! -s "$folder/$name.count" ]; then
            echo "count	$name	0 1 0 0 0 0"
            echo "note	$name	failed	$name	did not run"
            continue
        elif [ ! -e "$folder/$name.current" ]; then
            echo "count	$name	0 1 0 0 0 0"
            echo "note	$name	failed	$name	could not be made of today's sources: make says why"
            continue
        fi
        read -r -a count <"$folder/$name.count"
        while IFS=$'\t' read -r kind what why; do
            if [ "$kind" = skipped ] && [ "${STRICT:-}" = 1 ] && ! expects "$why"; then
                kind=failed why="skipped, which $skips does not expect here: $why"
                count[1]=$((count[1] + 1)) count[2]=$((count[2] - 1))
            fi
            echo "note	$name	$kind	$what	$why"
        done < <(cat "$folder/$name.notes" 2>/dev/null)
        while IFS= read -r line; do
            count[1]=$((count[1] + 1))
            echo "note	$name	failed	${line#*: }	is called otherwise on another machine or another day"
        done < <(reported "$name" | varying)
        # A program that broke off has said so already.
        if [ $judged = yes ] && [ "${count[1]}" = 0 ] && ! skips_everything "$name"; then
            while IFS= read -r line; do
                if lacking "$line"; then
                    count[2]=$((count[2] + 1))
                    echo "note	$name	skipped	${line#*: }	$lacked is not here"
                else
                    count[1]=$((count[1] + 1))
                    echo "note	$name	failed	${line#*: }	stands in $list and did not report"
                fi
            done < <(missing "$name")
            while IFS= read -r line; do
                new=$((new + 1))
                if [ "${STRICT:-}" = 1 ]; then
                    count[1]=$((count[1] + 1))
                    echo "note	$name	failed	${line#*: }	does not stand in $list (make test-list)"
                fi
            done < <(unlisted "$name")
        fi
        echo "count	$name	${count[*]}"
    done
    if [ $judged = yes ] && [ $whole = yes ]; then
        while IFS= read -r name; do
            echo "count	$name	0 1 0 0 0 0"
            echo "note	$name	failed	$name	its tests stand in $list, and it is no program of \`make test\`"
        done < <(LC_ALL=C comm -23 <(grep -v '^#' $list | cut -d: -f1 | LC_ALL=C sort -u) \
            <(printf '%s\n' "${names[@]##*/}" "${but[@]+"${but[@]}"}" | LC_ALL=C sort -u))
    fi
    if [ $new -gt 0 ]; then echo "new	$new"; fi
}
started=$(cat $folder/started 2>/dev/null || echo 0)

gather | awk -F '\t' -v started="$started" -v list=$list '
$1 == "count" {
    split($3, n, " ")
    names[++rows] = $2
    passed[rows] = n[1]; failed[rows] = n[2]; skipped[rows] = n[3]; seconds[rows] = n[4]; cpu[rows] = n[7]
    earlier[rows] = (n[5] > 0 && n[5] < started)
    total_passed += n[1]; total_failed += n[2]; total_skipped += n[3]; total_seconds += n[4]; total_cpu += n[7]
    if (length($2) > widest) widest = length($2)
}
$1 == "note" && $3 == "skipped" {
    # Tests that share a reason share a line.
    if (!($5 in reason_count)) reasons[++reason_rows] = $5
    if (reason_count[$5]++ < 3) reason_tests[$5] = reason_tests[$5] (reason_tests[$5] == "" ? "" : ", ") ($4 == "everything" ? $4 " of " $2 : $4)
}
$1 == "note" && $3 == "failed" { failures[++failure_rows] = $2 ": " ($4 == $2 ? "" : $4 ($5 == "" ? "" : ": ")) $5 }
$1 == "new" { fresh = $2 }
END {
    if (widest < 12) widest = 12
    printf "\n%-" widest "s  %7s %7s %7s %9s %9s\n", "test program", "passed", "failed", "skipped", "seconds", "of a CPU"
    for (i = 1; i <= rows; i++)
        printf "%-" widest "s  %7d %7d %7d %9.2f %9.2f%s\n", names[i], passed[i], failed[i], skipped[i], seconds[i], cpu[i],
            failed[i] ? "  FAILED" : earlier[i] ? "  (earlier; nothing changed)" : ""
    printf "%-" widest "s  %7d %7d %7d %9.2f %9.2f\n", "all", total_passed, total_failed, total_skipped, total_seconds, total_cpu
    if (reason_rows) print "\nskipped:"
    for (i = 1; i <= reason_rows; i++) {
        r = reasons[i]
        printf "  %s: %s%s\n", r, reason_tests[r], (reason_count[r] > 3 ? " and " reason_count[r] - 3 " more" : "")
    }
    if (failure_rows) print "\nfailed:"
    for (i = 1; i <= failure_rows; i++) print "  " failures[i]
    if (fresh) printf "\n%d new test%s: make test-list puts them into %s\n", fresh, (fresh > 1 ? "s" : ""), list
    printf "\n%d passed, %d failed, %d skipped\n", total_passed, total_failed, total_skipped
    exit (total_failed > 0 || total_passed == 0)
}'
