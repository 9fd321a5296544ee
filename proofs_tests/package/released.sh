#!/bin/bash
# A release as it is made and used: `make release` here and in a fresh clone elsewhere, compiled anew by
# somebody else, gives the same bytes; each way of docs/INSTALL.md gives its first result in a bare Debian.
# TAP on standard output.
set -u
. proofs_tests/support/tap.sh
if ! git rev-parse HEAD >/dev/null 2>&1; then
    printf 'ok 1 - everything # SKIP needs a git repository\n1..1\n'
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
there=$folder/another/folder
make --no-print-directory release >"$folder/log" 2>&1
check 'make release' 0 $?
git clone --quiet --shared . "$there" && ln -s "$PWD/node_modules" "$there/node_modules"
(umask 077 && cd "$there" && env TZ=Pacific/Chatham LC_ALL=C USER=somebody CCACHE_DISABLE=1 make --no-print-directory release) >>"$folder/log" 2>&1
check 'make release in a fresh clone, in another folder' 0 $?
grep -q '^not\|rror' "$folder/log" && tail -n 30 "$folder/log" | sed 's/^/# /'
check 'gives the same bytes' '' "$(diff build/release/SHA256SUMS "$there/build/release/SHA256SUMS" 2>&1)"
if [ "$(id -u)" != 0 ]; then
    why='needs root'
elif ! command -v debootstrap >/dev/null; then
    why='needs debootstrap'
else
    why=
    scripts/bare-debian.sh install >"$folder/bare" 2>&1
fi
while read -r title; do
    tests=$((tests + 1))
    if [ -n "$why" ]; then
        echo "ok $tests - a bare Debian: $title # SKIP $why"
    elif grep -q "^ok [0-9]* - $title\$" "$folder/bare"; then
        echo "ok $tests - a bare Debian: $title"
    else
        echo "not ok $tests - a bare Debian: $title"
        sed 's/^/# /' "$folder/bare" | tail -n 40
    fi
done < <(awk '/^## / { title = substr($0, 4) } /^```sh$/ { print title }' docs/INSTALL.md)
echo "1..$tests"
