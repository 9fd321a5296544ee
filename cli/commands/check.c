// check.c: seqmix check: what can be known of a mixer's equations without training them (check/check.h).
#include "cli/cli.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "cli/texts/texts.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"

// Line `wanted` of a text, without what a terminal would not show.
static void print_line(const char *text, unsigned wanted) {
    char line[200], clean[400];
    for (unsigned n = 1; n < wanted && *text; text++) n += *text == '\n';
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    cli_printable(clean, sizeof clean, line);
    printf("    %u: %s\n", wanted, clean);
}

// The sign of what is no number says nothing.
static double plain(double x) { return isnan(x) ? fabs((double)NAN) : x; }

static void print_rows(const check_report *r) {
    printf("\n  %-18s %9s  %-18s %-18s\n", "", "numbers", "float32 - double", "central differences");
    for (size_t i = 0; i < r->n_rows; i++) {
        const check_row *row = &r->rows[i];
        printf("  %-18s %9zu  %8.1e of %6.0e  ", i ? row->name : "y", row->n, plain(row->error),
               plain(row->allowed));
        if (row->difference >= 0)
            printf("%8.1e of  1e-05", row->difference);
        else
            printf("%s", i ? "(a gradient stops)" : "");
        printf("%s\n", row->fine ? "" : "  WRONG");
    }
    printf("  (of y the values, of x and the weights the gradients; by the largest number)\n\n");
}
static void print_rest(const check_report *r, const char *text) {
    if (r->ahead) {
        printf("It sees %zu row%s ahead, because of\n", r->ahead, r->ahead == 1 ? "" : "s");
        print_line(text, r->ahead_line);
    } else
        printf("It is causal: no output depends on a later row.\n");
    if (r->ahead != r->says_ahead)
        printf("Its operations say that it may see %zu row%s ahead.\n", r->says_ahead,
               r->says_ahead == 1 ? "" : "s");
    if (r->n_lengths) {
        int finite = 1;
        for (size_t i = 0; i < r->n_lengths; i++) finite &= isfinite(r->growth[i]);
        printf("Its gradients %s: |dx| for a unit gradient at the last row is", r->stable ? "stay"
                                                                                : finite
                                                                                    ? "GROW with the length"
                                                                                    : "are NOT finite");
        for (size_t i = 0; i < r->n_lengths; i++)
            printf("%s %.3g (L %zu)", i ? "," : "", plain(r->growth[i]), r->lengths[i]);
        puts(".");
    }
    if (*r->not_finite)
        printf(
            "On inputs %d times as large %s%s is NOT finite: an exponential, a logarithm or a gate leaves float32.\n",
            CHECK_LARGE, strcmp(r->not_finite, "y") ? "the gradient of " : "", r->not_finite);
    else if (r->n_lengths)
        printf("On inputs %d times as large y and every gradient are finite.\n", CHECK_LARGE);
    for (size_t i = 0; i < CHECK_COSTS; i++)
        if (r->cost[i].flops >= 0)
            printf("At length %zu a token costs %.0f FLOPs forward and %.0f bytes kept for backward.\n",
                   r->cost[i].length, r->cost[i].flops, r->cost[i].bytes);
    printf("It has %zu weights.\n", r->weights);
}

static void json_member(const char *name, double x, const char *after) {
    printf("\"%s\":", name);
    cli_json_number(x, 9);
    fputs(after, stdout);
}
static const char *truth(int yes) { return yes ? "true" : "false"; }
static void print_json(const check_report *r) {
    printf("{\"passes\":%s,\"computes\":%s,\"differentiates\":%s,\"causal\":%s,\"stable\":%s,\"length\":%zu,"
           "\"weights\":%zu,\"ahead\":%zu,\"ahead_line\":%u,\"rows\":[",
           truth(check_passes(r)), truth(r->computes), truth(r->differentiates), truth(r->causal),
           truth(r->stable), r->length, r->weights, r->ahead, r->ahead_line);
    for (size_t i = 0; i < r->n_rows; i++) {
        const check_row *row = &r->rows[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
        cli_json_text(row->name);
        printf(",\"numbers\":%zu,", row->n);
        json_member("error", row->error, ",");
        json_member("allowed", row->allowed, ",");
        json_member("difference", row->difference >= 0 ? row->difference : NAN, ",");
        printf("\"fine\":%s}", truth(row->fine));
    }
    printf("],\"growth\":[");
    for (size_t i = 0; i < r->n_lengths; i++) {
        printf("%s{\"length\":%zu,", i ? "," : "", r->lengths[i]);
        json_member("gradient", r->growth[i], "}");
    }
    printf("],\"large\":{\"times\":%d,\"not_finite\":", CHECK_LARGE);
    if (*r->not_finite)
        cli_json_text(r->not_finite);
    else
        printf("null");
    printf("},\"cost\":[");
    for (size_t i = 0, n = 0; i < CHECK_COSTS; i++)
        if (r->cost[i].flops >= 0) {
            printf("%s{\"length\":%zu,", n++ ? "," : "", r->cost[i].length);
            json_member("flops", r->cost[i].flops, ",");
            json_member("products", r->cost[i].flops / 2, ","); // the name of before, for one version
            json_member("bytes", r->cost[i].bytes, "}");
        }
    puts("]}");
}

typedef struct {
    const char *config;
    int json;
} options;
static const cli_option table[] = {
    {"--json", NULL, "the same for programs; difference null: not tried", OPTION_FLAG,
     offsetof(options, json), 0, 0},
    {0},
};
static int check(int argc, char **argv);
const cli_command cli_check = {
    .name = "check",
    .usage = "'CONFIG'",
    .help =
        "a mixer's equations against the oracle in double, their gradients, causality, stability and cost",
    .options = table,
    .plain = offsetof(options, config),
    .most = 1,
    .example = "seqmix check 'mixer=equations&eq=@my.eq'",
    .run = check,
};

static int check(int argc, char **argv) {
    options o = {0};
    smx_error e = {0};
    char equations[8300];
    if (cli_read_options(&cli_check, argc, argv, &o) || cli_refuse_several("check", o.config)) return 2;
    if (!o.config) return cli_usage_error(&cli_check, "a config");
    check_report *r = calloc(1, sizeof *r);
    config *c = r ? cli_config_with_text(o.config, equations, sizeof equations, &e) : NULL;
    int status = !c ? 2 : 0;
    if (c) {
        const mixer *m = mixer_of(c);
        status = (m->check && m->check(c, c->common.length, &e)) || check_config(r, c, 1, &e) ? 2 : 0;
    }
    if (!status) cli_note_unread(o.config, o.config);
    if (status) {
        cli_fail("%s", e.message);
    } else if (o.json) {
        print_json(r);
        status = !check_passes(r);
    } else {
        printf("%s\n", check_passes(r) ? "The equations pass." : "The equations do NOT pass.");
        printf(
            "On %zu rows: the float32 run %s what the oracle computes in double, and its gradients %s with differences of "
            "its outputs.\n",
            r->length, r->computes ? "computes" : "does NOT compute",
            r->differentiates ? "agree" : "do NOT agree");
        print_rows(r);
        print_rest(r, equations);
        status = !check_passes(r);
    }
    config_free(c);
    free(r);
    return status;
}
