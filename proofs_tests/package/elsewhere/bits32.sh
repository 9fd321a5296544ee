#!/bin/bash
# Where a size_t has 32 bits, under the address and undefined-behaviour sanitizers: sizes of states near what
# it holds (test_sizes), states and checkpoints, and the program's own digests. Skipped (said so) where the
# compiler builds nothing for 32-bit x86. TAP on standard output.
set -u
tests='test_sizes test_reading_on test_checkpoint'
tool=build/tools/bin/gcc-32
mkdir -p build/test build/tools/bin
# (SSE2: without it x86 computes other bits. The kernel's headers lie beside those of the 64-bit library.)
cat >$tool <<'END'
#!/bin/sh
exec gcc -m32 -msse2 -mfpmath=sse -idirafter "/usr/include/$(gcc -print-multiarch)" "$@"
END
chmod +x $tool
if ! echo 'int main(void) { return sizeof(long) != 4; }' | $tool -fsanitize=address,undefined -x c - -o build/test/bits32 2>/dev/null || ! build/test/bits32; then
    echo 'ok 1 - 32 bits # SKIP the compiler builds nothing for 32-bit x86 here (Debian: libc6-dev-i386 lib32gcc-12-dev)'
    echo '1..1'
    exit 0
fi
n=0 status=0
verdict() { # STATUS TEXT
    n=$((n + 1))
    [ "$1" = 0 ] && echo "ok $n - $2" || { echo "not ok $n - $2"; status=1; }
}
variant=build/gcc-32-address-undefined
options='-fsanitize=address,undefined -fno-sanitize-recover=all -g1 -O1 -std=gnu11 -ffp-contract=off'
if ! make --no-print-directory -j"$(nproc)" -o setup CC=gcc-32 SAN=address,undefined MACHINE=i686 ZLIB=0 $variant/seqmix $variant/libseqmix.a >build/test/bits32.log 2>&1; then
    verdict 1 'builds for 32 bits (build/test/bits32.log)'
    echo '1..1'
    exit 1
fi
# A calloc that is too large is refused, as anywhere. (Leaks are looked for in 64 bits.)
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
for t in $tests; do
    $tool $options -Iproofs_tests/support/plain -Iinclude -I. proofs_tests/model/$t.c $variant/libseqmix.a -lm -o build/test/$t-32 >>build/test/bits32.log 2>&1 &&
        build/test/$t-32 >build/test/$t-32.log 2>&1
    verdict $? "$t"
    grep '^not ok\|ERROR: Addr\|runtime error' build/test/$t-32.log | sed 's/^/# /'
done
$variant/seqmix selfcheck | cmp -s - proofs_tests/digests.txt
verdict $? 'the digests are the committed ones'
echo "1..$n"
exit $status
