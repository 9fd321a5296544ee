// audit.c: seqmix audit: how far ahead each mixer sees in each of its modes, as a Markdown table;
// or one config in detail.
#include "cli/cli.h"
#include "model/run/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/audit/audit.h"
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
        printf("%zu changes of %zu rows: an output sees %zu tokens ahead; the mixer says %zu.\n", r.draws, L,
               r.measured, r.claimed);
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

static int audit(int argc, char **argv);
const cli_command cli_audit = {
    .name = "audit",
    .usage = "['CONFIG']",
    .help = "how far ahead each mixer sees in each mode, measured; or one config in detail",
    .most = 1,
    .example = "seqmix audit 'mixer=las&length=64'",
    .run = audit,
};

static int audit(int argc, char **argv) {
    const char *config = NULL;
    if (cli_read_options(&cli_audit, argc, argv, &config) || cli_refuse_several("audit", config)) return 2;
    return config ? audit_one(config) : audit_all();
}
