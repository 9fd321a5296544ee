// table_print.c: a table of results as JSON lines and as CSV, and who computed them.
#include "table.h"

#include <math.h>
#include <string.h>

#include "cli/cli.h"

// Task and mixer always, what else varies, and the seed.
static int is_column(const table *t, size_t k) {
    return t->varies[k] || k == t->task || k == t->mixer || k == t->seed;
}

void table_put_csv(FILE *to, const char *text) {
    if (!text) return;
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"') putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

static const char *const measures[] = {
    "value", "accuracy", "sequence_accuracy", "r2", "bits", "held_out_loss", "loss", "choice"};
enum { MEASURES = sizeof measures / sizeof *measures };
static double measure(const result *r, size_t i) {
    const double all[MEASURES] = {
        r->value, r->accuracy, r->sequence_accuracy, r->r2, r->bits, r->held_out_loss, r->loss, r->choice};
    return all[i];
}

void table_print_json(const table *t, FILE *to) {
    for (size_t i = 0; i < t->n; i++) {
        const table_row *row = &t->rows[i];
        fprintf(to, "{\"name\":\"%s\"", row->r.name);
        for (size_t k = 0; k < t->n_keys; k++) {
            if (!is_column(t, k) || !row->values[k]) continue;
            fprintf(to, ",\"%s\":", t->keys[k]);
            if (t->limits[k].numeric)
                fputs(row->values[k], to);
            else
                cli_put_json_text(to, row->values[k]);
        }
        fprintf(to, ",\"eval\":%ld", row->r.eval);
        if (row->r.data) fprintf(to, ",\"files\":\"%016llx\"", (unsigned long long)row->r.data);
        fputs(",\"stopped\":", to);
        cli_put_json_text(to, row->r.stopped);
        fprintf(to, ",\"step\":%llu,\"params\":%llu,\"metric\":\"%s\"", (unsigned long long)row->r.step,
                (unsigned long long)row->r.params, row->r.metric);
        for (size_t m = 0; m < MEASURES; m++) {
            fprintf(to, ",\"%s\":", measures[m]);
            cli_put_json_number(to, measure(&row->r, m), 9);
        }
        fprintf(to, ",\"digest\":\"%016llx\",\"config\":", (unsigned long long)row->r.digest);
        cli_put_json_text(to, row->config);
        fputs("}\n", to);
    }
}

// Does any training read files? Then a column has the digest of what they held.
static int any_files(const table *t) {
    size_t i = 0;
    while (i < t->n && !t->rows[i].r.data) i++;
    return i < t->n;
}

void table_print_csv(const table *t, FILE *to) {
    fputs("name", to);
    for (size_t k = 0; k < t->n_keys; k++)
        if (is_column(t, k)) fprintf(to, ",%s", t->keys[k]);
    const int files = any_files(t);
    if (files) fputs(",files", to);
    fputs(",eval,stopped,step,params,metric", to);
    for (size_t m = 0; m < MEASURES; m++) fprintf(to, ",%s", measures[m]);
    fputs(",digest\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const table_row *row = &t->rows[i];
        fputs(row->r.name, to);
        for (size_t k = 0; k < t->n_keys; k++) {
            if (!is_column(t, k)) continue;
            putc(',', to);
            table_put_csv(to, row->values[k]);
        }
        if (files && row->r.data)
            fprintf(to, ",%016llx", (unsigned long long)row->r.data);
        else if (files)
            putc(',', to);
        fprintf(to, ",%ld,", row->r.eval);
        table_put_csv(to, row->r.stopped);
        fprintf(to, ",%llu,%llu,%s", (unsigned long long)row->r.step, (unsigned long long)row->r.params,
                row->r.metric);
        for (size_t m = 0; m < MEASURES; m++)
            if (isfinite(measure(&row->r, m)))
                fprintf(to, ",%.9g", measure(&row->r, m));
            else
                putc(',', to);
        fprintf(to, ",%016llx\n", (unsigned long long)row->r.digest);
    }
}

static void put_point(const table_row *row, FILE *to, const char *curve, uint64_t step, double value) {
    fprintf(to, "%s,%s,%llu,", row->r.name, curve, (unsigned long long)step);
    if (isfinite(value)) fprintf(to, "%.9g", value);
    putc('\n', to);
}

void table_print_curves(const table *t, FILE *to) {
    fputs("name,curve,step,value\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const result *r = &t->rows[i].r;
        for (size_t k = 0; k < r->n_curve; k++) {
            const uint64_t end = (k + 1) * r->stride; // the mean of the steps up to it
            put_point(&t->rows[i], to, "loss", end < r->step ? end : r->step, r->curve[k]);
        }
        for (size_t k = 0; k < r->n_held_out; k++)
            put_point(&t->rows[i], to, r->metric, (k + 1) * (uint64_t)r->every, r->held_out[k]);
    }
}

void table_print_machines(const table *t, FILE *to) {
    fputs("name,host,isa,threads,from,seconds,processor_seconds,ended,build\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const result_machine *m = &t->rows[i].r.machine;
        fprintf(to, "%s,", t->rows[i].r.name);
        table_put_csv(to, m->host);
        fprintf(to, ",%s,%ld,%llu,%.3f,%.3f,%.0f,%s\n", m->isa, m->threads, (unsigned long long)m->from,
                m->seconds, m->processor_seconds, m->ended, m->build);
    }
}
