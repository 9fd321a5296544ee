// summary_print.c: a summary as CSV, and its best for people.
#include "summary.h"

#include <math.h>
#include <string.h>

#include "cli/cli.h"

int summary_is_column(const summary *s, size_t k) {
    const table *t = s->t;
    return k != t->seed && (t->varies[k] || k == t->mixer || k == t->task);
}

void summary_put_keys_csv(const summary *s, FILE *to, const char *after) {
    for (size_t k = 0; k < s->t->n_keys; k++)
        if (summary_is_column(s, k)) fprintf(to, "%s%s,", s->t->keys[k], after);
}
void summary_put_values_csv(const summary *s, FILE *to, const setting *g) {
    for (size_t k = 0; k < s->t->n_keys; k++) {
        if (!summary_is_column(s, k)) continue;
        table_put_csv(to, summary_row(s, g)->values[k]);
        putc(',', to);
    }
}
void summary_put_number_csv(FILE *to, double x) {
    if (isfinite(x)) fprintf(to, "%.9g", x);
    putc(',', to);
}

void summary_print_csv(const summary *s, FILE *to) {
    char note[SUMMARY_NOTE];
    summary_put_keys_csv(s, to, "");
    fputs("metric,seeds,stopped,mean,low,high,deviation,choice,weights,eval,best,note\n", to);
    for (size_t i = 0; i < s->n; i++) {
        const setting *g = &s->settings[i];
        summary_put_values_csv(s, to, g);
        fprintf(to, "%s,%zu,%zu,", g->metric, g->n, g->stopped);
        summary_put_number_csv(to, g->mean);
        summary_put_number_csv(to, g->low);
        summary_put_number_csv(to, g->high);
        summary_put_number_csv(to, g->deviation);
        summary_put_number_csv(to, g->choice);
        fprintf(to, "%llu,%ld,%d,", (unsigned long long)summary_row(s, g)->r.params,
                summary_row(s, g)->r.eval, g->best);
        *note = 0;
        if (g->best) summary_note(s, g, note);
        table_put_csv(to, note);
        putc('\n', to);
    }
}

void summary_put_cells(const summary *s, FILE *to, const setting *g) {
    for (size_t k = 0; k < s->t->n_keys; k++) {
        if (!summary_is_column(s, k)) continue;
        const char *text = g ? summary_row(s, g)->values[k] : s->t->keys[k];
        char safe[128];
        cli_printable(safe, sizeof safe, text ? text : "-");
        fprintf(to, "%-*.*s  ", s->widths[k], SUMMARY_WIDEST, safe);
    }
}

void summary_print(const summary *s, FILE *to) {
    char note[SUMMARY_NOTE];
    int judged_alike = 1;
    for (size_t i = 0; i < s->t->n; i++) judged_alike &= s->t->rows[i].r.eval == s->t->rows[0].r.eval;
    summary_put_cells(s, to, NULL);
    fprintf(to, "%-9s %5s %9s %9s %9s %9s %9s%s\n", "metric", "seeds", "mean", "lowest", "highest",
            "deviation", "weights", judged_alike ? "" : "      eval");
    for (size_t i = 0; i < s->n; i++) {
        const setting *g = &s->settings[i];
        const result *r = &summary_row(s, g)->r;
        if (!g->best) continue;
        summary_put_cells(s, to, g);
        fprintf(to, "%-9s %5zu %9.4f %9.4f %9.4f ", r->metric, g->n, g->mean, g->low, g->high);
        if (isfinite(g->deviation))
            fprintf(to, "%9.4f", g->deviation);
        else
            fprintf(to, "%9s", "-");
        fprintf(to, " %9llu", (unsigned long long)r->params);
        if (!judged_alike) fprintf(to, " %9ld", r->eval);
        summary_note(s, g, note);
        if (*note) fprintf(to, "  %s", note);
        putc('\n', to);
    }
    if (!s->own_choice)
        fputs("Chosen on the sequences that judge: some results, of an older build, say no other value.\n",
              to);
}
