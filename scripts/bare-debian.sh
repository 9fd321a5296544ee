#!/bin/bash
# Runs `make test` or `make demo` where nothing is installed: a fresh clone inside a Debian 12 chroot that
# has git, make and ca-certificates beside the minimal base, so that setup.sh has to find everything else. Or
# what docs/INSTALL.md says, with the files of `make release`.
# Not a way to deploy: the chroot shares the host's network and is deleted at the end.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: scripts/bare-debian.sh [demo|test|install] [--keep] [--again] [--fresh] [-- COMMAND...]

  test     make test in the chroot (the default)
  demo     make demo in the chroot: waits for the printed address, fetches the page and every file it
           names, then stops the server
  install  each block of INSTALL.md with the files of build/release (scripts/try-install.sh)
  -- COMMAND...  that command in the clone instead, such as -- scripts/setup.sh demo
  --keep   leave the chroot in build/bare/root
  --again  in the chroot that --keep left, as it is: `demo --keep`, then `test --again`, is the README's order
  --fresh  build the base again (it is kept in build/bare/base.tar otherwise)

Needs root (debootstrap, mount, chroot) and the package debootstrap. The last commit is what is cloned.
The host's apt sources and proxy settings, its CA bundle and ~/.npmrc are handed into the chroot, so
that it reaches the same mirrors as the host does.
EOF
}

what=test keep=no again=no fresh=no inside=no
while [ $# -gt 0 ]; do
    arg=$1
    shift
    case $arg in
        --) [ $# -gt 0 ] || { usage >&2; exit 2; }; what='command'; break ;;
        demo | test | install) what=$arg ;;
        --keep) keep=yes ;;
        --again) again=yes ;;
        --fresh) fresh=yes ;;
        --inside-namespace) inside=yes what=$1; break ;;
        -h | --help) usage; exit 0 ;;
        *) echo "bare-debian: unknown argument '$arg'; allowed: demo, test, install, --keep, --again, --fresh" >&2; exit 2 ;;
    esac
done

suite=bookworm
project=$(cd "$(dirname "$0")/.." && pwd)
bare=$project/build/bare
root=$bare/root

say() { echo "bare-debian: $*"; }
die() { echo "bare-debian: $*" >&2; exit 1; }

# --- inside a private mount and process namespace: mounts and processes end with it, even on kill -9 ---
if [ "$inside" = yes ]; then
    mount -t proc proc "$root/proc"
    mount --rbind -o ro /sys "$root/sys" 2>/dev/null || mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/shm" "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
    for node in null zero full random urandom tty; do
        touch "$root/dev/$node"
        mount --bind "/dev/$node" "$root/dev/$node"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s /proc/self/fd/0 "$root/dev/stdin"
    ln -s /proc/self/fd/1 "$root/dev/stdout"
    ln -s /proc/self/fd/2 "$root/dev/stderr"
    ln -s pts/ptmx "$root/dev/ptmx"
    environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
                 LANG=C.UTF-8 TERM="${TERM:-dumb}")
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        if [ -n "${!name:-}" ]; then environment+=("$name=${!name}"); fi
    done
    if [ -f "$root/etc/host-ca.crt" ]; then
        for name in SSL_CERT_FILE NODE_EXTRA_CA_CERTS NPM_CONFIG_CAFILE GIT_SSL_CAINFO CURL_CA_BUNDLE; do
            environment+=("$name=/etc/host-ca.crt")
        done
    fi
    exec env -i "${environment[@]}" chroot "$root" /bin/bash "/root/run-$what.sh"
fi

if [ "$what" = install ] && [ ! -e "$project/build/release/INSTALL.md" ]; then die "build/release is not there (make release)"; fi
[ "$(id -u)" = 0 ] || die "must run as root: debootstrap, mount and chroot need it (try: sudo $0 $what)"
command -v debootstrap >/dev/null || die "debootstrap is missing (apt-get install debootstrap)"
command -v unshare >/dev/null || die "unshare is missing (package util-linux)"

# --- what the host knows about reaching its mirrors ---
# "SITE SUITE" of every Debian bookworm source of the host; empty on another distribution.
host_sources() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
        awk -v s="$suite" '$2 ~ "^" s && !seen[$0]++'
}
host_ca() {
    local file
    for file in "${NODE_EXTRA_CA_CERTS:-}" "${SSL_CERT_FILE:-}" "${NPM_CONFIG_CAFILE:-}" \
        "${npm_config_cafile:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
        if [ -n "$file" ] && [ -r "$file" ]; then echo "$file"; return; fi
    done
}

apt_configuration() {
    # Only what says how to fetch: hooks and pins of the host stay with the host.
    local settings=$root/etc/apt/apt.conf.d/90host file
    apt-config dump 2>/dev/null |
        grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv|AllowRelease|Proxy)' >"$settings" || true
    grep -Eo '"/[^"]+"' "$settings" | tr -d '"' | while read -r file; do
        if [ -f "$file" ]; then install -D -m 600 "$file" "$root$file"; fi
    done || true
    if [ -n "$sources" ]; then
        echo "$sources" | awk '{ print "deb", $1, $2, "main" }' >"$root/etc/apt/sources.list"
    fi
}

started=$(date +%s)
sources=$(host_sources)
mkdir -p "$bare"
if [ "$again" = no ]; then
    rm -rf --one-file-system "$root"
elif [ ! -d "$root/root/seqmix" ]; then
    die "there is no chroot in build/bare/root to be used --again (leave one with --keep)"
fi
trap '[ "$keep" = yes ] || rm -rf --one-file-system "$root"' EXIT

if [ "$again" = yes ]; then
    say "in the chroot of before"
elif [ "$fresh" = yes ] || [ ! -f "$bare/base.tar" ]; then
    mirror=$(echo "$sources" | awk -v s="$suite" '$2 == s { print $1; exit }')
    say "debootstrap of a minimal $suite with git, make and ca-certificates (log: build/bare/debootstrap.log)"
    # shellcheck disable=SC2086
    debootstrap --variant=minbase --include=git,make,ca-certificates "$suite" "$root" $mirror \
        >"$bare/debootstrap.log" 2>&1 || { tail -n 20 "$bare/debootstrap.log" >&2; die "debootstrap failed"; }
    apt_configuration
    chroot "$root" apt-get clean
    rm -rf "$root"/var/lib/apt/lists/*
    tar -C "$root" --one-file-system -cf "$bare/base.tar.part" .
    mv "$bare/base.tar.part" "$bare/base.tar"
else
    say "unpacking build/bare/base.tar"
    mkdir "$root"
    tar -C "$root" -xf "$bare/base.tar"
    apt_configuration
fi

ca=$(host_ca)
if [ -n "$ca" ]; then install -m 644 "$ca" "$root/etc/host-ca.crt"; fi
if [ -f "$HOME/.npmrc" ]; then install -m 600 "$HOME/.npmrc" "$root/root/.npmrc"; fi
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/hosts "$root/etc/hosts"

if [ "$again" = no ]; then
    if [ -n "$(git -C "$project" status --porcelain)" ]; then
        say "the working tree has changes that are not committed; the clone does not have them"
    fi
    say "cloning $(git -C "$project" log -1 --format='%h %s')"
    git clone --quiet --no-hardlinks "$project" "$root/root/seqmix"
fi

cat >"$root/root/run-test.sh" <<'EOF'
cd /root/seqmix && exec make test
EOF
echo 'exec /root/seqmix/scripts/try-install.sh /root/release' >"$root/root/run-install.sh"
# (the chroot is thrown away: dpkg need not wait for the disk)
mkdir -p "$root/etc/dpkg/dpkg.cfg.d" && echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
if [ "$what" = install ]; then rm -rf "$root/root/release" && cp -r "$project/build/release" "$root/root"; fi
cat >"$root/root/run-demo.sh" <<'EOF'
cd /root/seqmix || exit 1
set -m # its own process group, so that it can be stopped as Ctrl-C in a terminal does
make demo </dev/null >/root/demo.log 2>&1 &
server=$!
set +m
tail -f -n +1 --pid=$server /root/demo.log &
until address=$(grep -Eo -m1 'http://localhost:[0-9]+/' /root/demo.log); do
    kill -0 $server 2>/dev/null || { echo "bare-debian: make demo ended before it printed an address"; exit 1; }
    sleep 1
done
export PATH="/root/seqmix/build/tools/bin:$PATH"
node scripts/fetch-page.mjs "$address" || exit 1
kill -INT -- -$server
for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.5
    node scripts/fetch-page.mjs "$address" >/dev/null 2>&1 || { echo "bare-debian: the server has stopped"; exit 0; }
done
echo "bare-debian: the server still answers after it was stopped"
exit 1
EOF

if [ "$what" = command ]; then
    name=$(printf '%q ' "$@")
    echo "cd /root/seqmix && $name" >"$root/root/run-command.sh"
elif [ "$what" = install ]; then
    name='docs/INSTALL.md'
else
    name="make $what"
fi
say "$name in the chroot"
status=0
unshare --mount --propagation private --pid --fork --kill-child \
    bash "$project/scripts/bare-debian.sh" --inside-namespace "$what" || status=$?
if [ "$keep" = yes ]; then say "the chroot is kept in $root"; fi
if [ "$status" = 0 ]; then verdict=passed; else verdict="failed (exit $status)"; fi
say "$name $verdict after $(($(date +%s) - started)) s"
exit "$status"
