// reproduction.c: see reproduction.h.
#include "reproduction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/grid/result.h"
#include "cli/grid/table/table.h"
#include "model/run/language/language.h"
#include "stored.h"

long reproduction_eval(const reproduction *t, int quick) { return quick && t->eval > 1000 ? 1000 : t->eval; }

int reproduction_job(const reproduction *t, const reproduced_row *row, const char *rate, long seed, int quick,
                     job *j) {
    char text[1000];
    smx_error e = {0};
    *j = (job){0};
    const int n = snprintf(text, sizeof text, "%s&%s&%s%srate=%s&seed=%ld", t->common, row->config,
                           quick ? t->quick : "", quick ? "&fast=0&" : "", rate, seed);
    if (n >= (int)sizeof text) return cli_fail("reproduce: the config of %s is too long", row->name);
    config *c = config_parse(text, 0, &e);
    int status = c ? 0 : cli_fail("reproduce: %s, %s: %s", t->name, row->name, e.message);
    if (!status && job_of(j, c, reproduction_eval(t, quick), 0)) status = cli_fail("out of memory");
    if (!status && job_read_files(j, c, &e)) status = cli_fail("reproduce: %s: %s", t->name, e.message);
    config_free(c);
    return status;
}

static void read_rates(const char *rates, reproduced *is) {
    is->rates = 0;
    for (const char *at = rates; is->rates < REPRODUCED_RATES;) {
        const size_t n = strcspn(at, ",");
        snprintf(is->rate[is->rates++], sizeof *is->rate, "%.*s", (int)n, at);
        if (!at[n]) return;
        at += n + 1;
    }
}

// Its result, where there is one: 1, 0, or 2 with the sentence printed.
static int read_result(const reproduction *t, const job *j, const char *folder, reproduced *is, size_t r,
                       long s) {
    char path[JOB_PATH], why[200];
    size_t size;
    result found;
    if (job_path(j, folder, ".json", path)) return cli_fail("reproduce: --out: the path is too long");
    if (access(path, F_OK)) return 0;
    char *text = cli_read_file(path, &size);
    if (!text) return 2;
    const int what = result_read(&found, text, size, why, sizeof why);
    free(text);
    if (what != RESULT_WHOLE || !job_is(j, found.config)) {
        cli_note("%s %s: the same command without it trains again", path,
                 what == RESULT_WHOLE ? "is of another training" : why);
        if (what == RESULT_WHOLE) result_free(&found);
        return 0;
    }
    if (!*found.stopped && strcmp(found.metric, t->measure)) {
        cli_fail("reproduce: %s is judged by %s, not by %s", path, found.metric, t->measure);
        return result_free(&found), 2;
    }
    is->value[r][s] = *found.stopped ? NAN : found.value;
    is->choice[r][s] = *found.stopped ? NAN : found.choice;
    snprintf(is->digest[r][s], sizeof is->digest[r][s], "%016llx", (unsigned long long)found.digest);
    is->params = found.params;
    is->seconds += found.machine.processor_seconds;
    result_free(&found);
    return 1;
}

// The rate whose seeds are best on the sequences that only choose.
static void choose(const reproduction *t, reproduced *is) {
    double best = NAN;
    is->best = REPRODUCED_RATES;
    for (size_t r = 0; r < is->rates; r++) {
        double sum = 0;
        for (long s = 0; s < is->seeds; s++) sum += is->choice[r][s];
        if (isnan(sum) || (!isnan(best) && !table_better(t->measure, sum, best))) continue;
        best = sum;
        is->best = r;
    }
    if (is->best == REPRODUCED_RATES) return;
    is->mean = 0;
    is->least = INFINITY;
    is->most = -INFINITY;
    for (long s = 0; s < is->seeds; s++) {
        const double x = is->value[is->best][s];
        is->mean += x / (double)is->seeds;
        is->least = fmin(is->least, x);
        is->most = fmax(is->most, x);
    }
}

int reproduction_read(const reproduction *t, const reproduced_row *row, int quick, const char *folder,
                      const stored *from, reproduced *is) {
    *is = (reproduced){.seeds = quick ? 1 : t->seeds};
    read_rates(quick ? t->quick_rate : t->rate, is);
    for (size_t r = 0; r < is->rates; r++)
        for (long s = 0; s < is->seeds; s++) {
            job j;
            is->value[r][s] = is->choice[r][s] = NAN;
            int found = reproduction_job(t, row, is->rate[r], s + 1, quick, &j);
            if (!found) found = read_result(t, &j, folder, is, r, s);
            job_free(&j);
            if (found == 2) return 2;
            is->missing += !found;
        }
    if (from) is->missing -= stored_take(from, row, is);
    if (!is->missing)
        choose(t, is);
    else
        is->best = REPRODUCED_RATES;
    return 0;
}

const char *reproduction_verdict(const reproduced *better, const reproduced *worse, const char *measure) {
    if (better->missing || worse->missing) return "not run";
    if (better->best == REPRODUCED_RATES || worse->best == REPRODUCED_RATES) return "cannot tell";
    const double sign = table_better(measure, 1, 0) ? 1 : -1, gap = better->seeds > 1 ? 0 : QUICK_GAP;
    const double least = fmin(sign * better->least, sign * better->most),
                 most = fmax(sign * better->least, sign * better->most),
                 other_least = fmin(sign * worse->least, sign * worse->most),
                 other_most = fmax(sign * worse->least, sign * worse->most);
    if (least - other_most > gap) return "holds";
    if (other_least - most > gap) return "does not hold";
    return "cannot tell";
}

const char *reproduction_reached(const reproduced *is, double paper) {
    if (is->missing) return "not run";
    if (is->best == REPRODUCED_RATES || 100 * is->most < paper - AS_FAR) return "does not hold";
    return 100 * is->least >= paper - AS_FAR ? "holds" : "cannot tell";
}
