#!/bin/bash
# Tests setup.sh on made-up machines, folders of commands that are its whole PATH: what each purpose asks
# for and what it leaves alone, and what somebody reads where it cannot be had. And that the Makefile asks for
# what a goal takes. Prints TAP, so it runs under run-test.sh. Installs nothing.
set -u
unset CC ZLIB CHROMIUM SYSTEM_PYTHON CPPFLAGS LDFLAGS SETUP_FOR MAKEFLAGS MAKELEVEL MFLAGS # what a run around this one asks for
cd "$(dirname "$0")/../.." || exit 2
. proofs_tests/support/tap.sh
project=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/scripts" "$copy/commands"
cp scripts/setup.sh "$copy/scripts"
cp package-lock.json "$copy"

for command in bash sh cat cksum date dirname env flock grep head id ln mkdir readlink rm sed sleep tail tr uname; do
    path=$(command -v $command) && ln -s "$path" "$copy/commands/$command"
done
# A command of the made-up machine: NAME and what it does (a line of shell).
command_is() { rm -f "$copy/commands/$1" && printf '#!/bin/sh\n%s\n' "$2" >"$copy/commands/$1" && chmod +x "$copy/commands/$1"; }
gone() { for one in "$@"; do rm -f "$copy/commands/$one"; done; }
# A compiler that finds every header and library but those whose names fit this.
compiler_lacks() { command_is "$1" "! { cat; echo \"\$@\"; } | grep -Eq '$2'"; }
setup() { (cd "$copy" && env PATH="$copy/commands" SYSTEM_PYTHON="$copy/system/python3" "${with[@]}" scripts/setup.sh "$@" 2>&1 </dev/null); }
with=(A=1)
# What Debian's line asks for.
asked() { setup --quiet "$@" | sed -n 's/^ *Debian, Ubuntu *apt-get install //p'; }

command_is id 'echo 1000' # neither root nor sudo
check 'program: a compiler and zlib' 'gcc libc6-dev zlib1g-dev' "$(asked program)"
check 'native: and cmocka' 'gcc libc6-dev zlib1g-dev libcmocka-dev' "$(asked native)"
check 'serve: Node.js alone' 'nodejs' "$(asked serve)"
check 'demo: what makes the page, no browser' 'gcc libc6-dev zlib1g-dev emscripten nodejs npm' "$(asked demo)"
check 'test: everything' 'gcc libc6-dev zlib1g-dev libcmocka-dev emscripten nodejs npm clang' \
    "$(asked test | sed 's/ chromium[a-z-]*$//')"
check 'without a purpose: as test' "$(asked test)" "$(asked)"
setup program >/dev/null
check 'what is missing fails' 1 $?
check 'clang is asked for where it compiles' 'clang libc6-dev zlib1g-dev' "$(with=(CC=clang) && asked program)"
check 'and gcc for the page all the same' "$(asked demo)" "$(with=(CC=clang) && asked demo)"
check 'without zlib where nobody asks for it' 'gcc libc6-dev' "$(with=(ZLIB=0) && asked program)"
check 'a compiler that is none is named' 'setup: CC=icc compiles no program here that includes stdio.h; allowed: a C compiler (gcc, clang)' \
    "$(with=(CC=icc) && setup program)"

# What the tests can do without.
options() { setup --quiet "$1" | sed -n 's/^ *on Debian, Ubuntu *apt-get install //p' | sed 's/ libflint-arb-dev libflint-dev//'; }
check 'test: what some tests take is named apart' 'firefox-esr webkit2gtk-driver xvfb xauth python3-numpy python3-setuptools python3-wheel python3-build python3-pytest python3-hypothesis python3-pip g++ cmake pkg-config mypy groff-base clang-format zsh fish' \
    "$(options test | sed 's/^webkit/firefox-esr webkit/')"
check 'all: and what test-all takes' yes "$([[ "$(options all)" == *' coq '*' python3-torch '*' openmpi-bin '* ]] && echo yes)"
# (On x86-64 alone.)
check 'all: programs of 32 bits' "$([ "$(uname -m)" = x86_64 ] && echo yes)" \
    "$([[ "$(options all)" == *' libc6-dev-i386 lib32gcc-'[0-9]*'-dev'* ]] && echo yes)"
check 'site: what makes pages of the documents' 'python3-sphinx python3-myst-parser furo' "$(options site)"
check 'program: nothing of that' '' "$(options program)$(options native)$(options demo)"

compiler_lacks gcc 'cmocka'
check 'a compiler and zlib: the program needs no more' 'setup: everything is there' "$(setup program)"
check 'and --quiet says nothing' '' "$(setup --quiet program)"
check 'cmocka alone is missing' 'libcmocka-dev' "$(asked native)"
compiler_lacks gcc 'zlib'
check 'zlib alone is missing' 'zlib1g-dev' "$(asked program)"
compiler_lacks gcc 'stdio|zlib|cmocka'
check 'a compiler without headers' 'gcc libc6-dev zlib1g-dev' "$(asked program)"

command_is sudo 'exit 1'
check 'sudo that asks for a password, and no terminal' 'installing needs root, and sudo asks for a password; they are in these packages:' \
    "$(command_is apt-get :; setup program | sed -n '2s/^setup: //p')"
gone sudo

# apt as root: it says sizes where it is asked to assume no, and what went wrong.
command_is id 'echo 0'
# shellcheck disable=SC2016
command_is apt-get 'case "$*" in
    *assume-no*) echo "Need to get 51.9 MB of archives."; echo "After this operation, 203 MB of additional disk space will be used." ;;
    *update*) exit 1 ;;
    *) i=0; while [ $i -lt 20 ]; do echo "Err:$i somewhere"; i=$((i + 1)); done; echo "E: Failed to fetch it  Could not resolve the mirror"; exit 100 ;;
esac'
check 'apt: what it installs, how much that is, and why it could not' \
    'setup: missing: gcc, zlib (log: build/setup.log)
setup: apt-get update failed; trying with the package lists that are there
setup: installing with apt-get: gcc libc6-dev zlib1g-dev (51.9 MB to fetch, 203 MB of disk)
    E: Failed to fetch it  Could not resolve the mirror
setup: apt-get could not install gcc libc6-dev zlib1g-dev (why: see above, and build/setup.log)' "$(setup program)"
command_is apt-get "case \"\$*\" in *assume-no*) ;; *install*) printf '#!/bin/sh\n' >$copy/commands/gcc ;; esac"
check 'apt: installs, and all is there' 'setup: missing: gcc, zlib (log: build/setup.log)
setup: installing with apt-get: gcc libc6-dev zlib1g-dev
setup: everything is there (fetched and installed in N s)' "$(setup program | sed 's/in [0-9]* s)$/in N s)/')"

# Everything needed is there; some of the rest can be had, and one of them cannot.
for one in gcc clang emcc npm chromium; do command_is "$one" :; done
command_is node 'echo v22.99.0'
mkdir -p "$copy/node_modules"
(cd "$copy" && echo "$(cksum <package-lock.json) $(uname -sm)" >node_modules/.seqmix-packages)
command_is python3 'echo 2 3.11.0'
for one in firefox WebKitWebDriver xvfb-run g++ cmake pkg-config mypy clang-format zsh sphinx-build; do command_is "$one" :; done
command_is apt-cache 'case "$2" in groff-base|fish|zsh) echo "  Candidate: 1.0" ;; *) echo "  Candidate: (none)" ;; esac'
command_is apt-get "case \"\$*\" in *assume-no*) echo 'Need to get 2 MB of archives.' ;; *install*) echo \"\$*\" >>$copy/asked; printf '#!/bin/sh\n' >$copy/commands/fish; $(command -v chmod) +x $copy/commands/fish ;; esac"
check 'options: all there, nothing is said' '' "$(command_is groff :; command_is fish :; setup --quiet test | grep -v Arb; gone groff fish)"
check 'options: what is fetched is said first, and what stays away after' "setup: some tests take these, and are skipped without: groff, zsh, fish
setup: installing with apt-get: groff-base zsh fish (2 MB to fetch
setup: not there, so that the tests skip what takes them: groff
setup: everything is there (fetched and installed in N s)" "$(setup test | sed 's/ Arb, / /; s/, Arb$//; s/in [0-9]* s)$/in N s)/')"
check 'options: in one call' 1 "$(grep -c 'install --no-install-recommends groff-base zsh fish' "$copy/asked")"
check 'options: what could not be had is not tried again' '' "$(setup --quiet test)"
rm -r "$copy/build/tools"
gone fish
command_is id 'echo 1000'
check 'options: without root the tests run all the same, and it is said what they skip' 'setup: the tests skip what they lack of these: groff, zsh, fish' \
    "$(setup test | sed 's/ Arb, / /' | head -n 1)"
check 'options: said once' '' "$(setup --quiet test)"

# Which python3: the first on PATH (of pyenv, conda), or the system's, to which packages bring modules. As
# they are asked: "RANK VERSION MODULES THAT IT LACKS".
rm -r "$copy/build/tools"
mkdir "$copy/system"
gone clang-format # an option, so that setup looks at options
link="$copy/build/tools/bin/python3"
python_of_system() { printf '#!/bin/sh\n%s\n' "$1" >"$copy/system/python3" && chmod +x "$copy/system/python3"; }
# What setup chose, what of it was reported missing, where the link leads.
chosen() { # PURPOSE
    local said leads
    said=$(setup --quiet "$1" | grep -o "Python's packages" | head -n 1)
    leads=$(readlink "$link")
    echo "$(setup python), ${said:-all there}, ${leads#"$copy/"}"
    rm -f "$copy"/build/tools/without-*
}
lacking='0 3.12.1 setuptools wheel build numpy pytest hypothesis'
command_is python3 "echo $lacking"
check 'python: one alone that lacks modules is said' "python3: $copy/commands/python3 3.12.1 lacks setuptools wheel build numpy pytest hypothesis, Python's packages, " \
    "$(chosen test)"
python_of_system 'echo 2 3.11.2'
check "python: the first lacks what the system's has, so that is taken" "python3: $copy/system/python3 3.11.2, all there, system/python3" "$(chosen test)"
check 'python: for the wheel as well' "python3: $copy/system/python3 3.11.2, all there, system/python3" "$(rm "$link"; chosen demo)"
check 'python: a make below another finds the same' "python3: $copy/system/python3 3.11.2" \
    "$(cd "$copy" && env PATH="$copy/build/tools/bin:$copy/build/tools/bin:$copy/commands" SYSTEM_PYTHON="$copy/system/python3" scripts/setup.sh python)"
command_is python3 'exit 127'
check 'python: so where the first does not run' "python3: $copy/system/python3 3.11.2, all there, system/python3" "$(chosen test)"
command_is python3 'echo 2 3.12.1'
check 'python: the first that has them all is left to lead' "python3: $copy/commands/python3 3.12.1, all there, " "$(chosen test)"
python_of_system 'echo 3 3.11.2'
check "python: the system's with PyTorch as well" "python3: $copy/system/python3 3.11.2, all there, system/python3" "$(chosen test)"
rm "$copy/system/python3"
check 'python: one that was removed is no longer led to' "python3: $copy/commands/python3 3.12.1, all there, " "$(chosen test)"
command_is python3 "echo $lacking"
command_is id 'echo 0'
command_is apt-cache 'echo "  Candidate: 1.0"'
command_is apt-get "case \"\$*\" in *install*python3-numpy*) printf '#!/bin/sh\necho 2 3.11.2\n' >$copy/system/python3; $(command -v chmod) +x $copy/system/python3 ;; esac"
check "python: what packages bring to the system's is used at once" "python3: $copy/system/python3 3.11.2, system/python3" \
    "$(setup --quiet test | grep 'not there.*Python'; setup python), $(readlink "$link" | sed "s|$copy/||")"
gone python3
rm "$copy/system/python3"
check 'python: none at all' 'python3 lacks setuptools wheel build numpy pytest hypothesis pip venv, ' "$(setup python), $(readlink "$link")"
real=$(command -v python3)
if [ -n "$real" ]; then
    command_is python3 "exec $real \"\$@\""
    check 'python: a real one is looked at' yes "$(setup python | grep -Eq '^python3: [^ ]+ [0-9.]+( lacks .*)?$' && echo yes)"
    mkdir "$copy/none" && command_is python3 "exec $real -S -I \"\$@\""
    check 'python: without its packages it lacks them, and none of its own' 'lacks setuptools wheel build numpy pytest hypothesis' \
        "$(setup python | grep -o 'lacks.*' | sed 's/ pip//')"
else
    tests=$((tests + 2)) && printf 'ok %d - %s # SKIP needs python3\n' $((tests - 1)) 'python: a real one is looked at' \
        $tests 'python: without its packages it lacks them, and none of its own'
fi

check 'an unknown purpose names those that there are' \
    "setup: unknown argument 'everything'; allowed: --quiet, program, native, serve, demo, site, test, all, python" "$(setup everything)"

# shellcheck disable=SC2016
printf '$(info $(SETUP_FOR))\n$(error )\n' >"$copy/purpose.mk"
purpose() { (cd "$project" && make -f Makefile -f "$copy/purpose.mk" "$@" 2>/dev/null); }
for line in 'program build/seqmix' 'program install CC=clang' 'native test-quick' 'native build/seqmix build/tests/test_errata' \
    'native SAN=address,undefined test-quick' 'demo wheel' 'site site' 'program wheel PAGE_IN_WHEEL=' 'test test' 'test build/seqmix format'; do
    # shellcheck disable=SC2086
    check "make ${line#* }: setup for ${line%% *}" "${line%% *}" "$(purpose ${line#* })"
done
echo "1..$tests"
