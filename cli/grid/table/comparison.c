// comparison.c: see comparison.h.
#include "comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/run/language/language.h"
#include "model/settings/value.h"

// Does what rows say of k hang on `key` alone? A mixer's own settings do, where it was tried with no others.
static int hangs_on(const table *t, size_t k, size_t key) {
    const table_row *known[64]; // one row of each value of key
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const table_row *row = &t->rows[i];
        size_t j = 0;
        while (j < n && table_compare(t, key, known[j], row)) j++;
        if (j == n && n == sizeof known / sizeof *known) return 0;
        if (j == n) known[n++] = row;
        if (table_compare(t, k, known[j], row)) return 0;
    }
    return 1;
}

// Of each key: must pairs say the same of it? Not of the baseline's own and what hangs on it, nor of what the
// best was chosen of.
static char *find_shared(const summary *s, size_t key, int equal) {
    const table *t = s->t;
    char *shared = malloc(t->n_keys);
    for (size_t k = 0; shared && k < t->n_keys; k++)
        shared[k] = t->varies[k] && k != t->seed && k != key && !summary_is_over(s, k) &&
                    !(equal && t->limits[k].of_model) && !hangs_on(t, k, key);
    return shared;
}

// "" where two settings can be compared; else why not.
static void find_obstacle(const table *t, const table_row *a, const table_row *b, const char *shared,
                          char why[200]) {
    *why = 0;
    if (a->r.eval != b->r.eval)
        snprintf(why, 200, "it was judged on %ld sequences, the baseline on %ld (--eval)", a->r.eval,
                 b->r.eval);
    else if (strcmp(a->r.metric, b->r.metric))
        snprintf(why, 200, "it was judged by %s, the baseline by %s", *a->r.metric ? a->r.metric : "nothing",
                 *b->r.metric ? b->r.metric : "nothing");
    else if (a->r.data != b->r.data)
        snprintf(why, 200, "its file held something else than the baseline's");
    for (size_t k = 0; k < t->n_keys && !*why; k++)
        if (shared[k] && a->values[k] && b->values[k] && table_compare(t, k, a, b))
            snprintf(why, 200, "it has %.40s=%.40s, the baseline %.40s", t->keys[k], a->values[k],
                     b->values[k]);
}

// Large over small.
static double times(double x, double y) { return x > y ? x / y : y / x; }
static double weights_of(const summary *s, const setting *g) { return (double)summary_row(s, g)->r.params; }
static int are_equal(const summary *s, const setting *a, const setting *b, int equal) {
    if (equal == EQUAL_WEIGHTS) return times(weights_of(s, a), weights_of(s, b)) <= 1.1;
    return equal != EQUAL_SECONDS || times(a->seconds, b->seconds) <= 1.25;
}

static void compare(const summary *s, comparison *c) {
    const table *t = s->t;
    double d[WILCOXON_MOST], sum = 0.0;
    size_t used;
    for (size_t i = 0, j = 0; i < c->a->n && j < c->b->n && c->pairs < WILCOXON_MOST;) {
        const table_row *a = &t->rows[c->a->from + i], *b = &t->rows[c->b->from + j];
        const int order = table_compare(t, t->seed, a, b);
        if (!order) {
            const double x = a->r.value - b->r.value;
            c->wins += table_better(a->r.metric, a->r.value, b->r.value);
            c->ties += x == 0.0;
            sum += x;
            d[c->pairs++] = x;
        }
        i += order <= 0;
        j += order >= 0;
    }
    c->difference = c->pairs ? sum / (double)c->pairs : NAN;
    const double half = student_half(d, c->pairs);
    c->low = c->difference - half;
    c->high = c->difference + half;
    c->p = wilcoxon(d, c->pairs, &used);
}

static int by_p(const void *a, const void *b) {
    const double x = (*(comparison *const *)a)->p, y = (*(comparison *const *)b)->p;
    return (x > y) - (x < y);
}

// Holm: the k-th smallest of n times n - k + 1, and no less than a smaller one's.
static int correct(comparison *c, size_t n) {
    comparison **order = malloc((n + 1) * sizeof *order);
    if (!order) return cli_fail("out of memory");
    for (size_t i = 0; i < n; i++) order[i] = &c[i];
    qsort(order, n, sizeof *order, by_p);
    double least = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double p = order[i]->p * (double)(n - i);
        if (p > least) least = p < 1.0 ? p : 1.0;
        order[i]->holm = least;
    }
    free(order);
    return 0;
}

static const char *key_name(const void *of, size_t i) {
    const table *t = of;
    return i < t->n_keys ? t->keys[i] : NULL;
}

// The key of "mixer=attention", where it is one and the value may be: 0, or 2 with the sentence printed.
static int read_baseline(const table *t, const char *baseline, size_t *key) {
    const char *equals = strchr(baseline, '=');
    size_t k = 0;
    smx_error e = {0};
    while (k < t->n_keys && (!equals || strlen(t->keys[k]) != (size_t)(equals - baseline) ||
                             strncmp(t->keys[k], baseline, strlen(t->keys[k]))))
        k++;
    *key = k;
    if (k == t->n_keys && equals && equals > baseline) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", equals - baseline < 63 ? (int)(equals - baseline) : 63, baseline);
        return cli_fail("collect: --baseline %.60s: there is no key %s; the nearest is %s", baseline, name,
                        value_meant_key(name, key_name, t));
    }
    if (k == t->n_keys || k == t->seed)
        return cli_fail("collect: --baseline %.60s is not allowed: it must be a key and a value, such as "
                        "mixer=attention",
                        baseline);
    if (k == t->mixer || k == t->task) { // a name that there is not would be waited for in vain
        config *c = config_parse(baseline, 0, &e);
        if (!c) return cli_fail("collect: --baseline: %s", e.message);
        config_free(c);
    }
    return 0;
}

static int add(comparisons *c, const summary *s, const setting *a, const setting *b) {
    comparison *longer = realloc(c->at, (c->n + 1) * sizeof *longer);
    if (!longer) return cli_fail("out of memory");
    c->at = longer;
    c->at[c->n] = (comparison){.a = a, .b = b};
    compare(s, &c->at[c->n++]);
    const double ratio = times(weights_of(s, a), weights_of(s, b));
    c->unequal += ratio > 1.1;
    if (ratio > c->most) c->most = ratio;
    return 0;
}

static int has(const summary *s, const setting *g, size_t key, const char *value) {
    const char *text = summary_row(s, g)->values[key];
    return text && !strcmp(text, value);
}

// a against every best of the baseline, or the best of those that are equal.
static int compare_with_all(comparisons *c, const summary *s, const setting *a, size_t key, const char *value,
                            const char *shared) {
    const size_t before = c->n;
    const setting *chosen = NULL;
    char why[200] = "", first[200] = "";
    for (size_t i = 0; i < s->n; i++) {
        const setting *b = &s->settings[i];
        if (!b->best || !has(s, b, key, value)) continue;
        find_obstacle(s->t, summary_row(s, a), summary_row(s, b), shared, why);
        if (!*why && !are_equal(s, a, b, c->equal))
            snprintf(why, sizeof why, "no setting of the baseline has as many %s",
                     c->equal == EQUAL_WEIGHTS ? "weights, to a tenth" : "seconds, to a quarter");
        if (*why && !*first) snprintf(first, sizeof first, "%s", why);
        if (*why) continue;
        if (!c->equal && add(c, s, a, b)) return 2;
        if (c->equal && (!chosen || table_better(summary_row(s, a)->r.metric, b->choice, chosen->choice)))
            chosen = b;
    }
    if (chosen && add(c, s, a, chosen)) return 2;
    if (c->n > before || c->alone++) return 0;
    const char *name = summary_row(s, a)->values[key];
    snprintf(c->why, sizeof c->why, "%s=%.40s: %s", s->t->keys[key], name ? name : "-", first);
    return 0;
}

int comparisons_of(comparisons *c, const summary *s, const char *baseline, int equal) {
    size_t key, held = 0;
    int status = 0;
    *c = (comparisons){.equal = equal};
    if (read_baseline(s->t, baseline, &key)) return 2;
    const char *value = strchr(baseline, '=') + 1;
    for (size_t i = 0; i < s->n; i++) held += s->settings[i].best && has(s, &s->settings[i], key, value);
    if (!held) {
        snprintf(c->why, sizeof c->why, "no result in the table is of it%s", s->t->begun ? " yet" : "");
        return 0;
    }
    char *shared = find_shared(s, key, equal);
    if (!shared) return cli_fail("out of memory");
    // In the order of the baseline's settings where each is compared with all of them.
    for (size_t i = 0; i < s->n && !status; i++) {
        const setting *a = &s->settings[i];
        if (a->best && !has(s, a, key, value)) status = compare_with_all(c, s, a, key, value, shared);
    }
    free(shared);
    return status ? status : correct(c->at, c->n);
}

void comparisons_free(comparisons *c) {
    free(c->at);
    *c = (comparisons){0};
}

// ---- As text --------------------------------------------------------------------------------------------

void comparisons_print_csv(const comparisons *c, const summary *s, FILE *to) {
    summary_put_keys_csv(s, to, "");
    summary_put_keys_csv(s, to, "_of_baseline");
    fputs("metric,pairs,better,alike,mean_difference,p,p_holm,low,high,weights,weights_of_baseline\n", to);
    for (size_t i = 0; i < c->n; i++) {
        const comparison *one = &c->at[i];
        const result *a = &summary_row(s, one->a)->r, *b = &summary_row(s, one->b)->r;
        summary_put_values_csv(s, to, one->a);
        summary_put_values_csv(s, to, one->b);
        fprintf(to, "%s,%zu,%zu,%zu,", a->metric, one->pairs, one->wins, one->ties);
        summary_put_number_csv(to, one->difference);
        fprintf(to, "%.6g,%.6g,", one->p, one->holm);
        summary_put_number_csv(to, one->low);
        summary_put_number_csv(to, one->high);
        fprintf(to, "%llu,%llu\n", (unsigned long long)a->params, (unsigned long long)b->params);
    }
}

void comparisons_print(const comparisons *c, const summary *s, const char *baseline, FILE *to) {
    fprintf(
        to,
        "\nagainst %s, seed by seed (Wilcoxon's signed-rank test, exact, two-sided; Holm's correction for %zu; "
        "Student's 95 %% interval)\n",
        baseline, c->n);
    if (c->n) {
        summary_put_cells(s, to, NULL);
        fprintf(to, "%-9s %5s %6s %10s %9s %9s %9s %9s %9s\n", "metric", "pairs", "better", "difference", "p",
                "p (Holm)", "from", "to", "weights");
    }
    for (size_t i = 0; i < c->n; i++) {
        const comparison *one = &c->at[i];
        summary_put_cells(s, to, one->a);
        fprintf(to, "%-9s %5zu %6zu %+10.4f %9.4g %9.4g %+9.4f %+9.4f %9.2f\n",
                summary_row(s, one->a)->r.metric, one->pairs, one->wins, one->difference, one->p, one->holm,
                one->low, one->high, weights_of(s, one->a) / weights_of(s, one->b));
    }
    comparisons_print_remarks(c, to);
}

void comparisons_print_remarks(const comparisons *c, FILE *to) {
    if (c->alone)
        fprintf(to, "%zu %s nothing to be compared with; %s\n", c->alone, c->alone == 1 ? "has" : "have",
                c->why);
    if (c->unequal && !c->equal)
        fprintf(
            to,
            "Unequal: in %zu of %zu one has up to %.1f times as many weights (blocks, heads, width): --equal "
            "weights or --equal seconds compares with what is as large\n",
            c->unequal, c->n, c->most);
}
