# tap.sh: for shell tests that print TAP: sourced.
tests=0
check() { # WHAT EXPECTED GOT
    tests=$((tests + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        printf '%s\n' "expected: $2" "got: $3" | sed 's/^/# /'
    fi
}
