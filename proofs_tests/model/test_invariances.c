// test_invariances.c: batch size, place in the batch, the pieces that a state reads, threads, instruction set
// and later rows change no bit of any mixer's answers or training, in every mode and in texts with scans
// (long convolutions: no more than 3e-5 of the largest logit, in two columns).
#include "proofs_tests/support/check.h"

#include "cli/team.h"
#include "model/audit/invariances.h"

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 17);
    if (!f || !text) check_fail("%s cannot be read", path);
    assert_true(fread(text, 1, (1 << 17) - 1, f) > 0);
    fclose(f);
    return text;
}

// Their sums are taken by FFT where all rows are there, and directly by a state (docs/STATES.md).
static int is_convolved(const char *row) {
    static const char *const rows[] = {"longconv", "s4d", "chela", "hyena", "focus"};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++)
        if (!strcmp(row, rows[i])) return 1;
    return 0;
}

static void judge_row(const char *page, const char *row, const invariances *found) {
    check_trying("%s", row);
    for (int i = 0; i < INVARIANCES; i++) {
        const double most = is_convolved(row) && (i == BY_STATE || i == BY_LATER) ? 3e-5 : 0.0;
        if (!(found->by[i] <= most))
            check_fail("%s: logits or weights differ by %.2g", invariance_names[i], found->by[i]);
    }
    char line[1000];
    invariances_row(line, sizeof line, row, found);
    if (!strstr(page, line))
        check_fail("docs/INVARIANCES.md lacks the row '%s'; its last line says how it is made", line);
}

static void every_config(void **state) {
    (void)state;
    smx_team *teams[] = {smx_team_open(2), smx_team_open(3)};
    assert_true(teams[0] && teams[1]);
    char *page = read_text("docs/INVARIANCES.md"), config[8000], text[1000];
    invariances_head(text, sizeof text);
    if (!strstr(page, text)) check_fail("docs/INVARIANCES.md lacks the head '%s'", text);
    const char *row, *last = NULL;
    invariances found = {0};
    size_t configs = 0, rows = 0, measured = 0;
    for (size_t i = 0;; i++, configs++) {
        const char *next = invariance_config(config, sizeof config, i, &row);
        if (last && (!next || strcmp(row, last))) {
            judge_row(page, last, &found);
            for (int k = 0; k < INVARIANCES; k++) measured += found.by[k] > 0.0;
            rows++;
            found = (invariances){0};
        }
        if (!next) break;
        last = row;
        smx_error e = {0};
        check_trying("%s", config);
        if (invariances_measure(&found, config, smx_team_for, (void *const *)teams, 2, &e))
            check_fail("%s", e.message);
    }
    print_message("%zu configs in %zu rows; %zu cells with a figure\n", configs, rows, measured);
    assert_true(configs > 100 && rows > 20 && measured > 0);
    smx_team_close(teams[0]);
    smx_team_close(teams[1]);
    free(page);
}

// The list that other compilers and browsers are held against (digests, browsers), by this compiler.
static void digests(void **state) {
    (void)state;
    char *list = read_text("proofs_tests/digests_configs.txt"), config[8000], line[8100];
    const char *row, *at = list;
    for (size_t i = 0; invariance_config(config, sizeof config, i, &row); i++) {
        smx_error e = {0};
        const int n = snprintf(line, sizeof line, "%016llx  %s\n",
                               (unsigned long long)invariance_digest(config, &e), config);
        check_trying("%s", config);
        if (strncmp(at, line, (size_t)n))
            check_fail("proofs_tests/digests_configs.txt wants another line than %.16s", line);
        at += n;
    }
    if (*at) check_fail("proofs_tests/digests_configs.txt has more lines: %.60s", at);
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_config), cmocka_unit_test(digests)};
    return cmocka_run_group_tests_name("invariances", tests, NULL, NULL);
}
