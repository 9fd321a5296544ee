// summary.c: see summary.h.
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/base/number.h"
#include "model/settings/value.h"

// ---- Settings -------------------------------------------------------------------------------------------

static int is_over(const summary *s, size_t k) {
    for (size_t i = 0; i < s->n_over; i++)
        if (s->over[i] == k) return 1;
    return 0;
}

static int read_over(summary *s, const char *over) {
    const table *t = s->t;
    if (!over) {
        s->over[s->n_over++] = t->rate;
        return 0;
    }
    for (const char *at = over;;) {
        const size_t n = strcspn(at, ",");
        size_t k = 0;
        while (k < t->n_keys && (strlen(t->keys[k]) != n || strncmp(t->keys[k], at, n))) k++;
        if (k == t->n_keys || k == t->seed)
            return cli_fail("collect: --best %.60s: there is no key %.*s to choose the best of", over, (int)n,
                            at);
        if (s->n_over == MOST_BEST) return cli_fail("collect: --best takes at most %d keys", MOST_BEST);
        s->over[s->n_over++] = k;
        if (!at[n]) return 0;
        at += n + 1;
    }
}

static const table_row *first_of(const summary *s, const setting *g) { return &s->t->rows[g->from]; }

// Do two rows say the same of every key that varies, but the seed and (over) those of which the best is
// looked for?
static int alike(const summary *s, const table_row *a, const table_row *b, int over) {
    const table *t = s->t;
    if (a->r.eval != b->r.eval) return 0;
    for (size_t k = 0; k < t->n_keys; k++)
        if (t->varies[k] && k != t->seed && !(over && is_over(s, k)) && table_compare(t, k, a, b)) return 0;
    return 1;
}

static void measure(const summary *s, setting *g) {
    double sum = 0.0;
    for (size_t i = 0; i < g->n; i++) {
        const double x = s->t->rows[g->from + i].r.value;
        g->stopped += !isfinite(x);
        sum += x;
        if (!i || x < g->low) g->low = x;
        if (!i || x > g->high) g->high = x;
    }
    g->mean = sum / (double)g->n;
    if (g->stopped) g->mean = g->low = g->high = NAN;
}

// qsort takes no context.
static const summary *sorting;
static int by_rest(const void *a, const void *b) {
    const setting *x = *(setting *const *)a, *y = *(setting *const *)b;
    const table_row *u = first_of(sorting, x), *v = first_of(sorting, y);
    int order = (u->r.eval > v->r.eval) - (u->r.eval < v->r.eval);
    for (size_t k = 0; k < sorting->t->n_keys && !order; k++)
        if (sorting->t->varies[k] && k != sorting->t->seed && !is_over(sorting, k))
            order = table_compare(sorting->t, k, u, v);
    return order ? order : (x->from > y->from) - (x->from < y->from);
}

// The first of `over` whose best value has none beyond it among those tried, though one would be allowed.
static void find_edge(const summary *s, setting *const *among, size_t n, setting *best) {
    const table *t = s->t;
    for (size_t o = 0; o < s->n_over && !best->edge; o++) {
        const size_t k = s->over[o];
        const char *text = first_of(s, best)->values[k];
        size_t below = 0, above = 0;
        if (!t->limits[k].numeric || !text) continue;
        for (size_t i = 0; i < n; i++) {
            const int order = table_compare(t, k, first_of(s, among[i]), first_of(s, best));
            below += order < 0;
            above += order > 0;
        }
        const double x = number_read(text, NULL);
        best->largest = below && !above && x < t->limits[k].high;
        if (best->largest || (above && !below && x > t->limits[k].low)) best->edge = o + 1;
    }
}

// A setting of which a seed stopped is none's best, nor is one with fewer seeds than another; of equals the
// first.
static int is_better(const char *metric, const setting *a, const setting *b) {
    return a->n != b->n ? a->n > b->n : table_better(metric, a->mean, b->mean);
}
static int choose(summary *s) {
    setting **order = malloc((s->n + 1) * sizeof *order);
    if (!order) return cli_fail("out of memory");
    for (size_t i = 0; i < s->n; i++) order[i] = &s->settings[i];
    sorting = s;
    qsort(order, s->n, sizeof *order, by_rest);
    for (size_t i = 0, j; i < s->n; i = j) {
        const table_row *row = first_of(s, order[i]);
        setting *best = NULL;
        for (j = i; j < s->n && alike(s, row, first_of(s, order[j]), 1); j++)
            if (isfinite(order[j]->mean) && (!best || is_better(row->r.metric, order[j], best)))
                best = order[j];
        if (!best) continue;
        best->best = 1;
        for (size_t k = i; k < j; k++) best->behind += order[k]->n < best->n;
        find_edge(s, order + i, j - i, best);
    }
    free(order);
    return 0;
}

int summary_of(summary *s, const table *t, const char *over) {
    *s = (summary){.t = t};
    if (read_over(s, over)) return 2;
    s->settings = calloc(t->n + 1, sizeof *s->settings);
    if (!s->settings) return cli_fail("out of memory");
    for (size_t i = 0; i < t->n; i++) {
        setting *last = s->n ? &s->settings[s->n - 1] : NULL;
        if (last && alike(s, first_of(s, last), &t->rows[i], 0))
            last->n++;
        else
            s->settings[s->n++] = (setting){.from = i, .n = 1};
    }
    for (size_t i = 0; i < s->n; i++) measure(s, &s->settings[i]);
    return choose(s);
}

void summary_free(summary *s) {
    free(s->settings);
    *s = (summary){0};
}

// ---- Pairs ----------------------------------------------------------------------------------------------

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
static char *find_shared(const summary *s, size_t key) {
    const table *t = s->t;
    char *shared = malloc(t->n_keys);
    for (size_t k = 0; shared && k < t->n_keys; k++)
        shared[k] = t->varies[k] && k != t->seed && k != key && !is_over(s, k) && !hangs_on(t, k, key);
    return shared;
}

static int comparable(const table *t, const table_row *a, const table_row *b, const char *shared) {
    if (a->r.eval != b->r.eval || strcmp(a->r.metric, b->r.metric)) return 0;
    for (size_t k = 0; k < t->n_keys; k++)
        if (shared[k] && a->values[k] && b->values[k] && table_compare(t, k, a, b)) return 0;
    return 1;
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

int summary_pairs(const summary *s, const char *baseline, comparison **pairs, size_t *n) {
    const table *t = s->t;
    const char *equals = strchr(baseline, '=');
    size_t key = 0, room = 0, held = 0;
    while (key < t->n_keys && (!equals || strlen(t->keys[key]) != (size_t)(equals - baseline) ||
                               strncmp(t->keys[key], baseline, strlen(t->keys[key]))))
        key++;
    *pairs = NULL;
    *n = 0;
    if (key == t->n_keys && equals && equals > baseline) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", equals - baseline < 63 ? (int)(equals - baseline) : 63, baseline);
        return cli_fail("collect: --baseline %.60s: there is no key %s; the nearest is %s", baseline, name,
                        value_meant_key(name, key_name, t));
    }
    if (key == t->n_keys || key == t->seed)
        return cli_fail("collect: --baseline %.60s is not allowed: it must be a key and a value, such as "
                        "mixer=attention",
                        baseline);
    char *shared = find_shared(s, key);
    if (!shared) return cli_fail("out of memory");
    for (size_t j = 0; j < s->n; j++) {
        const setting *b = &s->settings[j];
        const char *value = first_of(s, b)->values[key];
        if (!b->best || !value || strcmp(value, equals + 1)) continue;
        held++;
        for (size_t i = 0; i < s->n; i++) {
            const setting *a = &s->settings[i];
            const table_row *row = first_of(s, a);
            if (!a->best || (row->values[key] && !strcmp(row->values[key], equals + 1)) ||
                !comparable(t, row, first_of(s, b), shared))
                continue;
            if (*n == room) {
                room = room ? 2 * room : 64;
                comparison *longer = realloc(*pairs, room * sizeof *longer);
                if (!longer) {
                    free(shared);
                    return cli_fail("out of memory");
                }
                *pairs = longer;
            }
            (*pairs)[*n] = (comparison){.a = a, .b = b};
            compare(s, &(*pairs)[(*n)++]);
        }
    }
    if (!held) return cli_fail("collect: --baseline %.60s: no result in the table is of it", baseline);
    return correct(*pairs, *n);
}

// ---- As text --------------------------------------------------------------------------------------------

static int is_column(const summary *s, size_t k) {
    const table *t = s->t;
    return k != t->seed && (t->varies[k] || k == t->mixer || k == t->task);
}

static void put_keys(const summary *s, FILE *to, const char *after) {
    for (size_t k = 0; k < s->t->n_keys; k++)
        if (is_column(s, k)) fprintf(to, "%s%s,", s->t->keys[k], after);
}
static void put_values(const summary *s, FILE *to, const setting *g) {
    for (size_t k = 0; k < s->t->n_keys; k++) {
        if (!is_column(s, k)) continue;
        table_put_csv(to, first_of(s, g)->values[k]);
        putc(',', to);
    }
}
static void put_number(FILE *to, double x) {
    if (isfinite(x)) fprintf(to, "%.9g", x);
    putc(',', to);
}

void summary_print_csv(const summary *s, FILE *to) {
    char note[SUMMARY_NOTE];
    put_keys(s, to, "");
    fputs("metric,seeds,stopped,mean,low,high,best,note\n", to);
    for (size_t i = 0; i < s->n; i++) {
        const setting *g = &s->settings[i];
        put_values(s, to, g);
        fprintf(to, "%s,%zu,%zu,", first_of(s, g)->r.metric, g->n, g->stopped);
        put_number(to, g->mean);
        put_number(to, g->low);
        put_number(to, g->high);
        fprintf(to, "%d,", g->best);
        *note = 0;
        if (g->best) summary_note(s, g, note);
        table_put_csv(to, note);
        putc('\n', to);
    }
}

void summary_print_pairs_csv(const summary *s, const comparison *c, size_t n, FILE *to) {
    put_keys(s, to, "");
    put_keys(s, to, "_of_baseline");
    fputs("metric,pairs,better,alike,mean_difference,p,p_holm\n", to);
    for (size_t i = 0; i < n; i++) {
        put_values(s, to, c[i].a);
        put_values(s, to, c[i].b);
        fprintf(to, "%s,%zu,%zu,%zu,", first_of(s, c[i].a)->r.metric, c[i].pairs, c[i].wins, c[i].ties);
        put_number(to, c[i].difference);
        fprintf(to, "%.6g,%.6g\n", c[i].p, c[i].holm);
    }
}

// Columns wide enough for what stands in them.
enum { MOST_COLUMNS = 256, WIDEST = 24 };
static void find_widths(const summary *s, int widths[MOST_COLUMNS]) {
    for (size_t k = 0; k < s->t->n_keys && k < MOST_COLUMNS; k++) {
        size_t width = strlen(s->t->keys[k]);
        for (size_t i = 0; i < s->n; i++) {
            const char *text = first_of(s, &s->settings[i])->values[k];
            if (text && strlen(text) > width) width = strlen(text);
        }
        widths[k] = width > WIDEST ? WIDEST : (int)width;
    }
}

static void put_cells(const summary *s, FILE *to, const int widths[MOST_COLUMNS], const setting *g) {
    for (size_t k = 0; k < s->t->n_keys && k < MOST_COLUMNS; k++) {
        if (!is_column(s, k)) continue;
        const char *text = g ? first_of(s, g)->values[k] : s->t->keys[k];
        char safe[128];
        cli_printable(safe, sizeof safe, text ? text : "-");
        fprintf(to, "%-*.*s  ", widths[k], WIDEST, safe);
    }
}

void summary_note(const summary *s, const setting *g, char to[SUMMARY_NOTE]) {
    int at = 0;
    *to = 0;
    if (g->edge)
        at =
            snprintf(to, SUMMARY_NOTE, "the %s %.60s tried: try %s ones", g->largest ? "largest" : "smallest",
                     s->t->keys[s->over[g->edge - 1]], g->largest ? "larger" : "smaller");
    if (g->behind)
        snprintf(to + at, SUMMARY_NOTE - (size_t)at, "%s%zu with fewer seeds not considered", at ? "; " : "",
                 g->behind);
}

void summary_print(const summary *s, FILE *to) {
    char note[SUMMARY_NOTE];
    int widths[MOST_COLUMNS];
    find_widths(s, widths);
    put_cells(s, to, widths, NULL);
    fprintf(to, "%-9s %5s %9s %9s %9s\n", "metric", "seeds", "mean", "lowest", "highest");
    for (size_t i = 0; i < s->n; i++) {
        const setting *g = &s->settings[i];
        if (!g->best) continue;
        put_cells(s, to, widths, g);
        fprintf(to, "%-9s %5zu %9.4f %9.4f %9.4f", first_of(s, g)->r.metric, g->n, g->mean, g->low, g->high);
        summary_note(s, g, note);
        if (*note) fprintf(to, "  %s", note);
        putc('\n', to);
    }
}

void summary_print_pairs(const summary *s, const char *baseline, const comparison *c, size_t n, FILE *to) {
    int widths[MOST_COLUMNS];
    find_widths(s, widths);
    fprintf(
        to,
        "\nagainst %s, seed by seed (Wilcoxon's signed-rank test, exact, two-sided; Holm's correction for %zu)\n",
        baseline, n);
    put_cells(s, to, widths, NULL);
    fprintf(to, "%-9s %5s %6s %10s %9s %9s\n", "metric", "pairs", "better", "difference", "p", "p (Holm)");
    for (size_t i = 0; i < n; i++) {
        put_cells(s, to, widths, c[i].a);
        fprintf(to, "%-9s %5zu %6zu %+10.4f %9.4g %9.4g\n", first_of(s, c[i].a)->r.metric, c[i].pairs,
                c[i].wins, c[i].difference, c[i].p, c[i].holm);
    }
}
