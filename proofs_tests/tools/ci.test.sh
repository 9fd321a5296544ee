#!/bin/bash
# Tests .ci/run on a made-up project: its parts, its sum and its exit status; what is red, what cannot begin,
# what is cut off. Prints TAP, so it runs under run-test.sh.
set -u
unset STRICT MAKEFLAGS MAKELEVEL MFLAGS CI_SECONDS CI_SHARE_SECONDS
cd "$(dirname "$0")/../.." || exit 2
. proofs_tests/support/tap.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/.ci" "$copy/scripts" "$copy/commands"
cp .ci/run "$copy/.ci"
cd "$copy" || exit 2
git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m one # one commit: the turn of the second part

command_is() { printf '#!/bin/bash\n%s\n' "$2" >"$1" && chmod +x "$1"; }
# What make test, both bare runs and the slow parts do; each part that ran leaves its name in `ran`.
project() { # TEST DEMO BARE-TEST A B
    printf 'test: ; @echo "test $$STRICT" >>ran; %s\ntest-page: ; @echo "page $$STRICT" >>ran; echo "1 passed, 0 failed, 0 skipped"\ntest-package: ; @echo "package $$STRICT" >>ran; echo "1 passed, 0 failed, 0 skipped"\ntest-tree: ; @echo "tree $$STRICT" >>ran; echo "1 passed, 0 failed, 0 skipped"\nslow-parts: ; @echo a b\na: ; @echo a >>ran; %s\nb: ; @echo b >>ran; %s\n' "$1" "$4" "$5" >Makefile
    command_is scripts/bare-debian.sh "echo \"bare \$*\" >>ran; case \$1 in demo) $2 ;; *) $3 ;; esac"
}
ci() { rm -f ran; PATH=$copy/commands:$PATH bash .ci/run </dev/null >out 2>&1; status=$?; echo "$status $(tail -n 1 out)"; }
command_is commands/id 'echo 0'
command_is commands/apt-get :
command_is commands/debootstrap :
good='echo "5 passed, 0 failed, 1 skipped"'

project "$good" : "$good" "$good" 'echo it works'
check 'all is well: the sum, demo and a part without a count as one each' '0 20 passed, 0 failed, 3 skipped' "$(ci)"
check 'strictly here, then the two commands, then the slow parts in turn' 'test 1,page 1,package 1,tree 1,bare demo --keep,bare test --again,b,a' "$(paste -sd, ran)"
project "echo '7 passed, 2 failed, 0 skipped'; exit 1" : "$good" "$good" "$good"
check 'red here is red' '1 26 passed, 2 failed, 3 skipped' "$(ci)"
project 'exit 3' : "$good" "$good" "$good"
check 'what ends badly without a count has failed' '1 19 passed, 1 failed, 3 skipped' "$(ci)"
project "$good" 'exit 1' "$good" "$good" "$good"
check 'make demo that fails in the bare Debian, or a bare Debian that cannot begin, is red' '1 18 passed, 1 failed, 3 skipped' "$(ci)"
check 'and nothing is tested there' 0 "$(grep -c 'bare test' ran)"
project "$good" : "echo '3 passed, 1 failed, 0 skipped'; exit 1" "$good" "$good"
check 'a test that fails in the bare Debian is red' '1 22 passed, 1 failed, 3 skipped' "$(ci)"
project "$good" : "$good" "$good" 'sleep 60'
check 'a part that is cut off by time is no failure' '0 14 passed, 0 failed, 2 skipped' "$(CI_SHARE_SECONDS=6 ci)"
check 'and it is said' 1 "$(grep -c '^b: cut off by time after [0-9]* s$' out)"
check 'none begins after that' 0 "$(grep -c '^a$' ran)"
project 'sleep 60' : "$good" "$good" "$good"
check 'the ordinary run that is stopped is red' 1 "$(CI_SECONDS=2 ci | cut -c1)"
check 'and said' 1 "$(grep -c '^here: .*stopped after [0-9]* s' out)"
command_is commands/id 'echo 1000'
project "$good" 'exit 1' 'exit 1' "$good" "$good"
check 'who is not root: the bare Debian is not tried' '0 18 passed, 0 failed, 3 skipped' "$(ci)"
check 'and one line says so' 1 "$(grep -c '^bare Debian: not tried' out)"
echo "1..$tests"
