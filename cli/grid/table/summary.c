// summary.c: see summary.h.
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/base/number.h"
#include "model/settings/value.h"

// ---- Settings -------------------------------------------------------------------------------------------

int summary_is_over(const summary *s, size_t k) {
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

const table_row *summary_row(const summary *s, const setting *g) { return &s->t->rows[g->from]; }

// Do two rows say the same of every key that varies, but the seed and (over) those of which the best is
// looked for?
static int alike(const summary *s, const table_row *a, const table_row *b, int over) {
    const table *t = s->t;
    if (a->r.eval != b->r.eval || a->r.every != b->r.every || a->r.data != b->r.data) return 0;
    for (size_t k = 0; k < t->n_keys; k++)
        if (t->varies[k] && k != t->seed && !(over && summary_is_over(s, k)) && table_compare(t, k, a, b))
            return 0;
    return 1;
}

static void measure(const summary *s, setting *g) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < g->n; i++) {
        const result *r = &s->t->rows[g->from + i].r;
        const double x = r->value;
        g->stopped += !isfinite(x);
        if (*r->metric && !*g->metric) memcpy(g->metric, r->metric, sizeof g->metric);
        g->mixed |= *r->metric && strcmp(r->metric, g->metric);
        g->choice += (s->own_choice ? r->choice : x) / (double)g->n;
        g->seconds += r->machine.processor_seconds / (double)g->n;
        sum += x;
        if (!i || x < g->low) g->low = x;
        if (!i || x > g->high) g->high = x;
    }
    g->mean = sum / (double)g->n;
    for (size_t i = 0; i < g->n; i++) {
        const double off = s->t->rows[g->from + i].r.value - g->mean;
        squares += off * off;
    }
    g->deviation = g->n > 1 ? sqrt(squares / (double)(g->n - 1)) : NAN;
    if (g->stopped || g->mixed) g->mean = g->low = g->high = g->deviation = g->choice = NAN;
}

// qsort takes no context.
static const summary *sorting;
static int by_rest(const void *a, const void *b) {
    const setting *x = *(setting *const *)a, *y = *(setting *const *)b;
    const table_row *u = summary_row(sorting, x), *v = summary_row(sorting, y);
    int order = (u->r.eval > v->r.eval) - (u->r.eval < v->r.eval);
    if (!order) order = (u->r.data > v->r.data) - (u->r.data < v->r.data);
    if (!order) order = (u->r.every > v->r.every) - (u->r.every < v->r.every);
    for (size_t k = 0; k < sorting->t->n_keys && !order; k++)
        if (sorting->t->varies[k] && k != sorting->t->seed && !summary_is_over(sorting, k))
            order = table_compare(sorting->t, k, u, v);
    return order ? order : (x->from > y->from) - (x->from < y->from);
}

// The first of `over` whose best value has none beyond it among those tried, though one would be allowed.
static void find_edge(const summary *s, setting *const *among, size_t n, setting *best) {
    const table *t = s->t;
    for (size_t o = 0; o < s->n_over && !best->edge; o++) {
        const size_t k = s->over[o];
        const char *text = summary_row(s, best)->values[k];
        size_t below = 0, above = 0, as_good = 0;
        if (!t->limits[k].numeric || !text) continue;
        for (size_t i = 0; i < n; i++) {
            const int order = table_compare(t, k, summary_row(s, among[i]), summary_row(s, best));
            below += order < 0;
            above += order > 0;
            as_good += order && among[i]->choice == best->choice; // where all are perfect, none lies beyond
        }
        if (as_good) continue;
        const double x = number_read(text, NULL);
        best->largest = below && !above && x < t->limits[k].high;
        if (best->largest || (above && !below && x > t->limits[k].low)) best->edge = o + 1;
    }
}

// A setting of which a seed stopped is none's best, nor is one with fewer seeds than another; of equals the
// first.
static int is_better(const char *metric, const setting *a, const setting *b) {
    return a->n != b->n ? a->n > b->n : table_better(metric, a->choice, b->choice);
}
// The first two results that were judged by different measures, so that none of these settings is a best.
static void note_mixed(const summary *s, setting *const *among, size_t n) {
    const result *first = NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < among[i]->n; k++) {
            const result *r = &s->t->rows[among[i]->from + k].r;
            if (!*r->metric) continue; // it stopped
            if (!first) first = r;
            if (!strcmp(r->metric, first->metric)) continue;
            cli_note(
                "%s is judged by %s, %s by %s: no best is chosen among these; see results.csv, and remove "
                "or do again what is wrong",
                first->name, first->metric, r->name, r->metric);
            return;
        }
}
static int choose(summary *s) {
    setting **order = malloc((s->n + 1) * sizeof *order);
    if (!order) return cli_fail("out of memory");
    for (size_t i = 0; i < s->n; i++) order[i] = &s->settings[i];
    sorting = s;
    qsort(order, s->n, sizeof *order, by_rest);
    for (size_t i = 0, j; i < s->n; i = j) {
        const table_row *row = summary_row(s, order[i]);
        setting *best = NULL;
        const char *metric = "";
        int mixed = 0;
        for (j = i; j < s->n && alike(s, row, summary_row(s, order[j]), 1); j++) {
            if (!*metric) metric = order[j]->metric;
            mixed |= order[j]->mixed || (*order[j]->metric && strcmp(order[j]->metric, metric));
            if (isfinite(order[j]->mean) && (!best || is_better(metric, order[j], best))) best = order[j];
        }
        if (mixed) note_mixed(s, order + i, j - i);
        if (!best || mixed) continue;
        best->best = 1;
        for (size_t k = i; k < j; k++) {
            best->behind += order[k]->n < best->n;
            best->equals += order[k] != best && order[k]->n == best->n && order[k]->choice == best->choice;
        }
        if (!s->t->rungs) find_edge(s, order + i, j - i, best); // what was left behind was tried, too
    }
    free(order);
    return 0;
}

// A column is wide enough for what stands in it.
static int width_of(const summary *s, size_t k) {
    size_t width = strlen(s->t->keys[k]);
    for (size_t i = 0; i < s->n; i++) {
        const char *text = summary_row(s, &s->settings[i])->values[k];
        if (text && strlen(text) > width) width = strlen(text);
    }
    return width > SUMMARY_WIDEST ? SUMMARY_WIDEST : (int)width;
}

int summary_of(summary *s, const table *t, const char *over) {
    *s = (summary){.t = t};
    if (read_over(s, over)) return 2;
    s->settings = calloc(t->n + 1, sizeof *s->settings);
    s->widths = calloc(t->n_keys + 1, sizeof *s->widths);
    if (!s->settings || !s->widths) return cli_fail("out of memory");
    for (size_t i = 0; i < t->n; i++) {
        setting *last = s->n ? &s->settings[s->n - 1] : NULL;
        if (last && alike(s, summary_row(s, last), &t->rows[i], 0))
            last->n++;
        else
            s->settings[s->n++] = (setting){.from = i, .n = 1};
    }
    s->own_choice = 1;
    for (size_t i = 0; i < t->n; i++)
        if (isfinite(t->rows[i].r.value) && !isfinite(t->rows[i].r.choice)) s->own_choice = 0;
    for (size_t i = 0; i < s->n; i++) measure(s, &s->settings[i]);
    for (size_t k = 0; k < t->n_keys; k++) s->widths[k] = width_of(s, k);
    return choose(s);
}

void summary_note(const summary *s, const setting *g, char to[SUMMARY_NOTE]) {
    int at = 0;
    *to = 0;
    if (g->edge)
        at =
            snprintf(to, SUMMARY_NOTE, "the %s %.60s tried: try %s ones", g->largest ? "largest" : "smallest",
                     s->t->keys[s->over[g->edge - 1]], g->largest ? "larger" : "smaller");
    if (g->equals)
        at += snprintf(to + at, SUMMARY_NOTE - (size_t)at, "%s%zu %s as good: the first is taken",
                       at ? "; " : "", g->equals, g->equals == 1 ? "other is" : "others are");
    if (g->behind)
        snprintf(to + at, SUMMARY_NOTE - (size_t)at, "%s%zu with fewer seeds not considered", at ? "; " : "",
                 g->behind);
}

void summary_free(summary *s) {
    free(s->settings);
    free(s->widths);
    *s = (summary){0};
}
