// test_causality.c: the audit of every mixer in every mode: what is measured is what the mixer says of
// itself, causal modes keep every earlier word (or, through an FFT, its value up to rounding), and the known
// leaks are found.
#include "proofs_tests/support/check.h"
#include "model/run/language/language.h"

#include "model/audit/audit.h"
#include "model/mixers/mixer.h"
#include <seqmix/run.h>

static audit_result audit(const char *text, double *share) {
    smx_error e = {0};
    audit_result r = {0};
    check_trying("%s", text);
    config *c = config_parse(text, 0, &e);
    if (!c || audit_mixer(&r, share, c, &e)) check_fail("%s", e.message);
    config_free(c);
    return r;
}

// The page that readers get; tests run in the project's folder.
static char *read_page(void) {
    FILE *f = fopen("docs/CAUSALITY.md", "rb");
    char *text = calloc(1, 1 << 16);
    if (!f || !text) check_fail("docs/CAUSALITY.md cannot be read");
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static void claims_are_measured(void **state) {
    (void)state;
    size_t modes = 0, by_fft = 0;
    char *page = read_page();
    for (size_t m = 0; mixers[m]; m++) {
        char text[1024];
        for (size_t i = 0; audit_mode(text, sizeof text, mixers[m]->name, i); i++, modes++) {
            const audit_result r = audit(text, NULL);
            if (r.measured != r.claimed) check_fail("sees %zu tokens ahead, says %zu", r.measured, r.claimed);
            if (!(r.rounding <= AUDIT_ROUNDING)) check_fail("moves beyond its reach by %g", r.rounding);
            if (!(r.fft_rounding <= AUDIT_ROUNDING)) check_fail("moves by FFT by %g", r.fft_rounding);
            by_fft += r.by_fft;
            char row[512];
            audit_row(row, sizeof row, mixers[m]->name, text, &r);
            if (!strstr(page, row))
                check_fail("docs/CAUSALITY.md lacks the row '%s'; its last line says how it is made", row);
        }
    }
    free(page);
    print_message("%zu modes\n", modes);
    assert_true(modes > 40 && by_fft > 3);
}

// The leaks of the sources (docs/ERRATA.md) and the modes that mend them, written out.
static void known_reaches(void **state) {
    (void)state;
    static const struct {
        const char *config;
        size_t reach;
    } known[] = {
        {"mixer=las&length=20&width=8&heads=2&pool=centred&window=5", 2},
        {"mixer=las&length=20&width=8&heads=2&pool=centred&window=9", 4},
        {"mixer=las&length=20&width=8&heads=2&pool=centred&window=9&chunk=3", 2},
        {"mixer=las&length=20&width=8&heads=2&pool=masked&window=9", 0},
        {"mixer=las&length=20&width=8&heads=2&pool=trailing&window=9", 0},
        {"mixer=cat&length=20&width=8&filter=4&value_filter=two_sided", 4},
        {"mixer=cat&length=20&width=8&filter=4&value_filter=two_sided&filters=qk", 0},
        {"mixer=attention&length=20&width=8&causal=0", 19},
        {"mixer=attention&length=20&width=8&causal=0&chunk=6", 5},
        {"mixer=attention&length=1&width=8&causal=0", 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(known); i++) {
        const audit_result r = audit(known[i].config, NULL);
        if (r.measured != known[i].reach || r.claimed != known[i].reach)
            check_fail("sees %zu ahead, says %zu, is to be %zu", r.measured, r.claimed, known[i].reach);
    }
}

// Which row is moved by which: in blocks of 6, all by all, and nothing across.
static void rows_are_named(void **state) {
    (void)state;
    static double share[20 * 20];
    audit("mixer=attention&length=20&width=8&causal=0&chunk=6", share);
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 20; j++) {
            const double s = share[i * 20 + j];
            if (!(s <= 1) || (s > AUDIT_ROUNDING) != (i / 6 == j / 6))
                check_fail("row %zu is moved by row %zu: %g", i, j, s);
        }
}

// Who trains a leaking mode on targets before the end is told; nobody else is.
static void leaks_are_told(void **state) {
    (void)state;
    static const struct {
        const char *config, *says;
    } runs[] = {
        {"mixer=las&pool=centred&window=5&task=mqar", "sees 2 tokens ahead"},
        {"mixer=las&pool=centred&window=3&task=sc", "sees 1 token ahead"},
        {"mixer=las&pool=masked&task=mqar", ""},
        {"mixer=cat&value_filter=two_sided&task=mqar", "sees 3 tokens ahead"},
        {"mixer=cat&value_filter=two_sided&task=ar", ""}, // one target, at the last token
        {"mixer=attention&causal=0&task=smnist&length=28", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(runs); i++) {
        smx_error e = {0};
        check_trying("%s", runs[i].config);
        smx_run *r = smx_run_open(runs[i].config, &e);
        if (!r) check_fail("%s", e.message);
        const char *said = smx_run_warning(r);
        if (!strstr(said, runs[i].says) || !*said != !*runs[i].says) check_fail("says '%s'", said);
        smx_run_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_are_measured), cmocka_unit_test(known_reaches),
                                       cmocka_unit_test(rows_are_named), cmocka_unit_test(leaks_are_told)};
    return cmocka_run_group_tests_name("causality", tests, NULL, NULL);
}
