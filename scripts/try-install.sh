#!/bin/bash
# Runs every block of INSTALL.md in FOLDER, which holds a release's files, as its reader would: a shell in a
# folder with these files and nothing else, five minutes at most after Debian's packages (of a processor,
# where the machine is busy). What it prints at the end has to be what stands under the block. TAP on standard
# output. It installs packages: for the chroot of `scripts/bare-debian.sh install`.
set -u
folder=${1:?usage: scripts/try-install.sh FOLDER}
apt-get update >/dev/null || exit 1
export DEBIAN_FRONTEND=noninteractive
blocks=$(mktemp -d)
# N.title, N.sh, N.text
awk -v to="$blocks" '
    /^## / { title = substr($0, 4) }
    /^```sh$/ { file = to "/" ++n ".sh"; print title >(to "/" n ".title"); next }
    /^```text$/ { file = to "/" n ".text"; next }
    /^```$/ { file = ""; next }
    file { print >file }' "$folder/INSTALL.md"
run_block() { (cd "$place" && timeout 1800 bash -e "$blocks/$n.sh") >>"$blocks/$n.said" 2>&1 </dev/null; }
n=0 failed=0
while [ -e "$blocks/$((n + 1)).title" ]; do
    n=$((n + 1))
    title=$(cat "$blocks/$n.title") place=$(mktemp -d)
    cp "$folder"/* "$place"
    bash -ec "$(grep '^apt-get ' "$blocks/$n.sh")" >"$blocks/$n.said" 2>&1 </dev/null
    sed -i '/^apt-get /d' "$blocks/$n.sh"
    TIMEFORMAT='%R %U %S'
    { time run_block; } 2>"$blocks/$n.time"
    status=$?
    awk -v title="$title" -v status=$status '{
        printf "# %s: %d s, of processors %d s, exit %d\n", title, $1, $2 + $3, status
        exit $1 > 300 && $2 + $3 > 300
    }' "$blocks/$n.time" || status=late
    if [ $status = 0 ] && tail -n "$(wc -l <"$blocks/$n.text")" "$blocks/$n.said" | cmp -s - "$blocks/$n.text"; then
        echo "ok $n - $title"
    else
        echo "not ok $n - $title"
        failed=1
        tail -n 30 "$blocks/$n.said" | sed 's/^/# /'
    fi
    rm -rf "$place"
done
echo "1..$n"
exit $failed
