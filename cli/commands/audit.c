// audit.c: seqmix audit: how far ahead each mixer sees in each of its modes, as a Markdown table; or one
// config in detail; or what the mixers do not depend on.
#include "cli/cli.h"
#include "model/run/language/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/audit/audit.h"
#include "model/audit/invariances.h"
#include "model/mixers/mixer.h"

enum { MAX_LENGTH = 1024 };

static int audit_all(void) {
    int wrong = 0;
    printf(AUDIT_TABLE_HEAD);
    for (size_t m = 0; mixers[m]; m++) {
        char text[1024];
        for (size_t i = 0; audit_mode(text, sizeof text, mixers[m]->name, i); i++) {
            smx_error e = {0};
            audit_result r;
            config *c = config_parse(text, 0, &e);
            if (!c || audit_mixer(&r, NULL, c, &e)) {
                config_free(c);
                return cli_fail("%s", e.message);
            }
            char row[512];
            audit_row(row, sizeof row, mixers[m]->name, text, &r);
            puts(row);
            fflush(stdout);
            wrong |= r.claimed != r.measured;
            config_free(c);
        }
    }
    return wrong;
}

static int audit_one(const char *text) {
    smx_error e = {0};
    config *c = config_parse(text, 0, &e);
    if (!c) return cli_fail("%s", e.message);
    const size_t L = c->common.length;
    double *share = L <= MAX_LENGTH ? malloc(L * L * sizeof *share) : NULL;
    audit_result r;
    int status = 0;
    if (!share)
        status = cli_fail("length=%zu does not fit: an audit takes at most %d rows", L, MAX_LENGTH);
    else if (audit_mixer(&r, share, c, &e))
        status = cli_fail("%s", e.message);
    if (!status) {
        cli_note_unread(text, text);
        printf("%zu changes of %zu rows: an output sees %zu token%s ahead; the mixer says %zu.\n", r.draws, L,
               r.measured, r.measured == 1 ? "" : "s", r.claimed);
        if (r.rounding > 0.0)
            printf("Rows further ahead move outputs by rounding: %.1e of the largest move.\n", r.rounding);
        if (r.by_fft)
            printf(
                "That is where it reads on. Training and prediction take long convolutions by FFT, whose rounding "
                "reaches every row: %.0e of the largest output.\n",
                r.fft_rounding);
        for (size_t i = 0; i < L; i++) {
            size_t last = i;
            for (size_t j = i + 1; j < L; j++)
                if (share[i * L + j] > AUDIT_ROUNDING) last = j;
            if (last > i) printf("row %zu is moved by row %zu\n", i, last);
        }
        if (c->common.norm == NORM_BATCH)
            puts(
                "norm=batch, around the mixer: while training an output sees every row of the batch, later ones "
                "too; afterwards none, by the running statistics.");
        status = r.measured != r.claimed;
    }
    free(share);
    config_free(c);
    return status;
}

// The rows of docs/INVARIANCES.md.
static int audit_invariances(void) {
    void *pools[2];
    smx_parallel_for hook = cli_threads(2, &pools[0]);
    if (!hook || !cli_threads(3, &pools[1])) return cli_fail("no threads can be had");
    char config[8000], text[1000];
    const char *row, *last = NULL;
    invariances found = {0};
    smx_error e = {0};
    invariances_head(text, sizeof text);
    puts(text);
    for (size_t i = 0;; i++) {
        const char *next = invariance_config(config, sizeof config, i, &row);
        if (last && (!next || strcmp(row, last))) {
            invariances_row(text, sizeof text, last, &found);
            puts(text);
            fflush(stdout);
            found = (invariances){0};
        }
        if (!next) return 0;
        last = row;
        if (invariances_measure(&found, config, hook, pools, 2, &e))
            return cli_fail("%s: %s", config, e.message);
    }
}
static int audit_digests(void) {
    char config[8000];
    const char *row;
    for (size_t i = 0; invariance_config(config, sizeof config, i, &row); i++) {
        smx_error e = {0};
        const uint64_t digest = invariance_digest(config, &e);
        if (!digest) return cli_fail("%s: %s", config, e.message);
        printf("%016llx  %s\n", (unsigned long long)digest, config);
    }
    return 0;
}

typedef struct {
    const char *config;
    int invariances, digests;
} options;
static const cli_option table[] = {
    {"--invariances", NULL, "what answers and training do not depend on, of every mixer, measured",
     OPTION_FLAG, offsetof(options, invariances), 0, 0},
    {"--digests", NULL, "of each config that --invariances tries, its trained weights' digest", OPTION_FLAG,
     offsetof(options, digests), 0, 0},
    {0},
};

static int audit(int argc, char **argv);
const cli_command cli_audit = {
    .name = "audit",
    .usage = "['CONFIG']",
    .help = "how far ahead each mixer sees in each mode, measured; or one config in detail",
    .options = table,
    .most = 1,
    .example = "seqmix audit 'mixer=las&length=64'",
    .run = audit,
};

static int audit(int argc, char **argv) {
    options o = {0};
    if (cli_read_options(&cli_audit, argc, argv, &o) || cli_refuse_several("audit", o.config)) return 2;
    if (o.config && (o.invariances || o.digests))
        return cli_fail("--%s is of every mixer: no CONFIG", o.digests ? "digests" : "invariances");
    return o.digests       ? audit_digests()
           : o.invariances ? audit_invariances()
           : o.config      ? audit_one(o.config)
                           : audit_all();
}
