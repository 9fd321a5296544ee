// test_sizes.c: how large a state is, where a product of its sizes goes past 2^31 and 2^32: every mixer in
// every mode, as many sequences and rows as may be asked for, is either refused or has the memory that its
// rows need. And no file makes a loader work for long by what it claims. A size_t of 32 bits is where it
// matters: bits32.sh builds this program so, and states.test.mjs asks the WebAssembly module the same.
#include "proofs_tests/support/check.h"

#include <time.h>

#include "kernels/core/hash.h"
#include "model/audit/audit.h"
#include "model/mixers/mixer.h"
#include <seqmix/state.h>

enum { MOST_ROWS = 1 << 26, SMALL = 1 << 13 }; // from SMALL on nothing is rounded up by much
static const char *const positions[] = {"none", "sinusoidal", "rope", "alibi"};

// The run of mode i of a mixer, or NULL: no such mode, or none that reads on.
static smx_run *run_of(const char *mode, const char *position) {
    char text[1280];
    smx_error e;
    const int heads = strstr(mode, "heads=") != NULL;
    snprintf(text, sizeof text, "%s&task=cumsum&batch=1&length=64&width=32&position=%s%s", mode, position,
             heads ? "" : "&heads=2");
    check_trying("%s", text);
    smx_run *r = smx_run_open(text, &e);
    smx_run_state *s = r ? smx_state_open(r, 1, 64, &e) : NULL;
    if (r && !s) smx_run_close(r);
    smx_state_close(s);
    return s ? r : NULL;
}
static void each(void (*what)(smx_run *r), size_t *n) {
    for (size_t k = 0; mixers[k]; k++) {
        char mode[1024];
        for (size_t i = 0; audit_mode(mode, sizeof mode, mixers[k]->name, i); i++)
            for (size_t p = 0; p < CHECK_COUNT(positions); p++) {
                if (p && strstr(mode, "position=")) continue;
                smx_run *r = run_of(mode, positions[p]);
                if (!r) continue;
                what(r);
                smx_run_close(r);
                ++*n;
            }
    }
}

// ---- Asked for --------------------------------------------------------------------------------------------
static size_t refused, larger;
static void pushes(smx_run *r, size_t B, size_t most) {
    smx_error e = {0};
    smx_run_state *s = smx_state_open(r, B, most, &e);
    float *values = calloc(4 * B, sizeof *values);
    if (!s && !strstr(e.message, "out of memory")) check_fail("%s", e.message);
    if (s && smx_state_push(s, NULL, values, 2, NULL, &e)) check_fail("%s", e.message);
    smx_state_close(s);
    free(values);
}
static void grows_as_its_rows(smx_run *r) {
    const size_t sequences[] = {1, 3, 64, 1024};
    smx_error e = {0};
    const double few = (double)smx_state_bytes(r, 1, SMALL, &e),
                 each_row = ((double)smx_state_bytes(r, 1, 2 * SMALL, &e) - few) / SMALL;
    if (few == 0 || each_row < 0) check_fail("%s", e.message);
    for (size_t i = 0; i < CHECK_COUNT(sequences); i++) {
        const size_t B = sequences[i];
        int was_refused = 0;
        for (size_t m = 2 * SMALL; m <= MOST_ROWS / B;
             m = m < MOST_ROWS / B / 2 ? 2 * m + 5 : m + MOST_ROWS / B / 8) {
            const double bytes = (double)smx_state_bytes(r, B, m, &e),
                         wanted = (double)B * (few + each_row * (double)(m - SMALL));
            if (!bytes) {
                if (!strstr(e.message, "out of memory")) check_fail("%s", e.message);
                if (wanted < 0x1p24)
                    check_fail("%zu sequences of %zu rows, %.0f bytes: %s", B, m, wanted, e.message);
                was_refused = 1;
                refused++;
                continue;
            }
            if (was_refused && each_row > 0)
                check_fail("%zu sequences: %zu rows take %.0f bytes, and fewer were refused", B, m, bytes);
            if (fabs(bytes - wanted) > 0.02 * wanted + 65536.0 * (double)B)
                check_fail("%zu sequences of %zu rows take %.0f bytes; %.0f were expected", B, m, bytes,
                           wanted);
            larger += wanted > 0x1p31;
            if (bytes < 0x1p24) pushes(r, B, m);
        }
    }
}
static void every_size(void **unused) {
    (void)unused;
    size_t n = 0;
    each(grows_as_its_rows, &n);
    print_message("%zu settings, %zu sizes refused, %zu beyond 2^31 bytes\n", n, refused, larger);
    assert_true(n > 60);
    if (sizeof(size_t) == 4) assert_true(refused > 100);
    if (sizeof(size_t) == 8) assert_true(larger > 100);
}

// ---- Claimed ----------------------------------------------------------------------------------------------
enum { SEQUENCES = 2, MOST, ROWS, FLOATS, HEAD = 8 + 8 * 6 };
static void put(unsigned char *bytes, size_t word, uint64_t value) {
    for (size_t i = 0; i < 8; i++) bytes[8 + 8 * word + i] = (unsigned char)(value >> (8 * i));
}
// Whatever comes of it: soon, and what is loaded reads on.
static void loads_soon(smx_run *r, unsigned char *bytes, size_t size, const char *what) {
    smx_error e = {0};
    uint64_t sum = hash_bytes(HASH_START, bytes, size - 8);
    for (size_t i = 0; i < 8; i++, sum >>= 8) bytes[size - 8 + i] = (unsigned char)sum;
    const clock_t from = clock();
    smx_run_state *s = smx_state_load(r, bytes, size, &e);
    smx_state_form form = {.sequences = 1};
    if (s) smx_state_look(s, &form);
    float *values = calloc(form.sequences, sizeof *values);
    if (s && form.rows < form.most && smx_state_push(s, NULL, values, 1, NULL, &e) &&
        !strstr(e.message, "finite"))
        check_fail("%s", e.message);
    smx_state_close(s);
    free(values);
    const double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    if (seconds > 3) check_fail("%s: %.1f s for a state of %zu bytes", what, seconds, size);
}
static void claims(smx_run *r) {
    smx_error e = {0};
    smx_run_state *s = smx_state_open(r, 1, 64, &e);
    const float values[3] = {1, -1, 0.5f};
    if (!s || smx_state_push(s, NULL, values, 3, NULL, &e)) check_fail("%s", e.message);
    size_t size;
    unsigned char *good = smx_state_save(s, &size, &e), *bytes = malloc(size);
    if (!good || !bytes) check_fail("%s", e.message);
    smx_state_close(s);
    memcpy(bytes, good, size);
    put(bytes, MOST, MOST_ROWS);
    loads_soon(r, bytes, size, "2^26 rows");
    put(bytes, ROWS, MOST_ROWS - 3);
    loads_soon(r, bytes, size, "2^26 rows, most of them read");
    for (size_t numbers = 1; numbers < 40 && HEAD + 4 * numbers < size; numbers += numbers < 8 ? 1 : 7) {
        put(bytes, ROWS, 3);
        put(bytes, FLOATS, numbers);
        loads_soon(r, bytes, HEAD + 4 * numbers + 8, "2^26 rows in a few numbers");
        put(bytes, SEQUENCES, numbers);
        put(bytes, MOST, MOST_ROWS / numbers);
        loads_soon(r, bytes, HEAD + 4 * numbers + 8, "as many sequences as numbers");
        put(bytes, SEQUENCES, 1);
        put(bytes, MOST, MOST_ROWS);
    }
    free(bytes);
    free(good);
}
static void every_claim(void **unused) {
    (void)unused;
    size_t n = 0;
    each(claims, &n);
    assert_true(n > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_size), cmocka_unit_test(every_claim)};
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
