// table.c: see table.h.
#include "table.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/base/number.h"
#include "model/run/language.h"
#include "model/settings/pairs.h"

static int out_of_memory(void) { return cli_fail("out of memory for the table"); }

// ---- Keys -----------------------------------------------------------------------------------------------

static size_t key_of(const table *t, const char *name) {
    for (size_t k = 0; k < t->n_keys; k++)
        if (!strcmp(t->keys[k], name)) return k;
    return t->n_keys;
}

static int open_keys(table *t) {
    config *c = config_parse("", 0, NULL);
    if (!c) return out_of_memory();
    t->keys = calloc(c->n, sizeof *t->keys);
    t->numeric = calloc(c->n, 1);
    t->varies = calloc(c->n, 1);
    int bad = !t->keys || !t->numeric || !t->varies;
    for (size_t k = 0; !bad && k < c->n; k++, t->n_keys++) {
        const config_key *key = c->values[k].key;
        t->numeric[k] = key->type == KEY_INT || key->type == KEY_REAL || key->type == KEY_FLAG;
        bad = !(t->keys[k] = strdup(key->name));
    }
    config_free(c);
    if (bad) return out_of_memory();
    t->seed = key_of(t, "seed");
    t->mixer = key_of(t, "mixer");
    t->task = key_of(t, "task");
    t->rate = key_of(t, "rate");
    return 0;
}

typedef struct {
    const table *t;
    table_row *row;
    char *at;
    size_t next; // a config's keys stand in the order of the language
} reading;
static int keep_value(void *arg, const char *key, const char *value, smx_error *error) {
    reading *r = arg;
    (void)error;
    for (size_t i = 0; i < r->t->n_keys; i++) {
        const size_t k = (r->next + i) % r->t->n_keys;
        if (strcmp(r->t->keys[k], key)) continue;
        r->row->values[k] = r->at;
        r->at = strcpy(r->at, value) + strlen(value) + 1;
        r->next = k + 1;
        return 0;
    }
    return 1; // no key of ours
}

// 0; 1: the config is none of this version's; 2.
static int split(const table *t, table_row *row) {
    row->values = calloc(t->n_keys, sizeof *row->values);
    row->texts = malloc(strlen(row->r.config) + 1);
    if (!row->values || !row->texts) return out_of_memory();
    reading r = {t, row, row->texts, 0};
    return pairs_visit(pairs_run(row->r.config, 0), keep_value, &r, NULL) != 0 || !row->values[t->seed] ||
           !row->values[t->mixer] || !row->values[t->task];
}

// ---- Reading --------------------------------------------------------------------------------------------

static void row_free(table_row *row) {
    result_free(&row->r);
    free(row->values);
    free(row->texts);
    *row = (table_row){0};
}

static int leave_out(size_t *count, const char *path, const char *why) {
    if (++*count <= 20) cli_note("%s %s; it is left as it is, and not in the table", path, why);
    return 1;
}

static int add(table *t, const char *path, const char *name) {
    char why[400], right[JOB_NAME];
    size_t size;
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        table_row *longer = realloc(t->rows, room * sizeof *longer);
        if (!longer) return out_of_memory();
        t->rows = longer;
        t->room = room;
    }
    char *text = cli_read_file(path, &size);
    if (!text) return 2;
    table_row *row = &t->rows[t->n];
    *row = (table_row){0};
    const int kind = result_read(&row->r, text, size, why, sizeof why);
    free(text);
    if (kind != RESULT_WHOLE) return leave_out(kind == RESULT_OTHER ? &t->foreign : &t->damaged, path, why);
    job_name(right, row->r.config, row->r.eval);
    int status =
        strcmp(right, row->r.name) || strncmp(name, right, JOB_NAME - 1)
            ? leave_out(&t->foreign, path, "has a name that is not its config's: it was renamed, or edited")
            : split(t, row);
    if (status == 1 && row->values)
        leave_out(&t->foreign, path, "has a config that this version of seqmix does not know");
    if (status)
        row_free(row);
    else
        t->n++;
    return status;
}

static int hexadecimal(const char *name, size_t n) {
    return strspn(name, "0123456789abcdef") >= n && strlen(name) >= n;
}

static int read_one(table *t, const char *folder, const char *name) {
    char path[2 * JOB_PATH];
    const size_t n = strlen(name);
    const char *ending = n >= JOB_NAME - 1 ? name + JOB_NAME - 1 : "";
    if (*name == '.') return 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!hexadecimal(name, JOB_NAME - 1)) return leave_out(&t->foreign, path, "is no file of a job");
    if (!strcmp(ending, ".safetensors")) return t->begun++, 0;
    if (!strcmp(ending, ".json")) return add(t, path, name);
    if (strstr(ending, ".damaged-")) return 0; // was said when it was set aside
    return leave_out(&t->foreign, path, "is no file of a job");
}

static int read_folder(table *t, const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return cli_fail("%s cannot be read: %s", folder, strerror(errno));
    int status = 0;
    for (struct dirent *e; status < 2 && (e = readdir(d));) {
        const int one = read_one(t, folder, e->d_name);
        if (one > status) status = one;
    }
    closedir(d);
    return status;
}

// ---- Order ----------------------------------------------------------------------------------------------

int table_compare(const table *t, size_t k, const table_row *a, const table_row *b) {
    const char *x = a->values[k], *y = b->values[k];
    if (!x || !y) return (x != NULL) - (y != NULL);
    if (!t->numeric[k]) return strcmp(x, y);
    const double u = number_read(x, NULL), v = number_read(y, NULL);
    return (u > v) - (u < v);
}

int table_better(const char *metric, double a, double b) { return strcmp(metric, "bits") ? a > b : a < b; }

static const table *sorting; // qsort takes no context
static int by_keys(const void *a, const void *b) {
    const table_row *x = a, *y = b;
    int order = 0;
    for (size_t k = 0; k < sorting->n_keys && !order; k++)
        if (sorting->varies[k] && k != sorting->seed) order = table_compare(sorting, k, x, y);
    if (!order) order = (x->r.eval > y->r.eval) - (x->r.eval < y->r.eval);
    if (!order) order = table_compare(sorting, sorting->seed, x, y);
    return order ? order : strcmp(x->r.name, y->r.name);
}

// A key varies where rows that have it say different things of it.
static void find_varying(table *t) {
    for (size_t k = 0; k < t->n_keys; k++) {
        const table_row *first = NULL;
        for (size_t i = 0; i < t->n && !t->varies[k]; i++) {
            if (!t->rows[i].values[k]) continue;
            if (!first) first = &t->rows[i];
            t->varies[k] = table_compare(t, k, first, &t->rows[i]) != 0;
        }
    }
}

int table_read(table *t, const char *folder) {
    char path[JOB_PATH];
    *t = (table){0};
    if (open_keys(t)) return 2;
    DIR *d = opendir(folder);
    if (!d) return cli_fail("%s cannot be read: %s", folder, strerror(errno));
    int status = 0;
    for (struct dirent *e; status < 2 && (e = readdir(d));) {
        if (strlen(e->d_name) != 2 || !hexadecimal(e->d_name, 2)) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
        const int one = read_folder(t, path);
        if (one > status) status = one;
    }
    closedir(d);
    if (status == 2) return 2;
    find_varying(t);
    sorting = t;
    if (t->n) qsort(t->rows, t->n, sizeof *t->rows, by_keys);
    return status;
}

void table_free(table *t) {
    for (size_t i = 0; i < t->n; i++) row_free(&t->rows[i]);
    for (size_t k = 0; k < t->n_keys; k++) free(t->keys[k]);
    free(t->rows);
    free(t->keys);
    free(t->numeric);
    free(t->varies);
    *t = (table){0};
}

// ---- As text --------------------------------------------------------------------------------------------

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

static const char *const measures[] = {"value",         "accuracy", "sequence_accuracy", "r2", "bits",
                                       "held_out_loss", "loss"};
enum { MEASURES = sizeof measures / sizeof *measures };
static double measure(const result *r, size_t i) {
    const double all[MEASURES] = {r->value,         r->accuracy, r->sequence_accuracy, r->r2, r->bits,
                                  r->held_out_loss, r->loss};
    return all[i];
}

void table_print_json(const table *t, FILE *to) {
    for (size_t i = 0; i < t->n; i++) {
        const table_row *row = &t->rows[i];
        fprintf(to, "{\"name\":\"%s\"", row->r.name);
        for (size_t k = 0; k < t->n_keys; k++) {
            if (!is_column(t, k) || !row->values[k]) continue;
            fprintf(to, ",\"%s\":", t->keys[k]);
            if (t->numeric[k])
                fputs(row->values[k], to);
            else
                cli_put_json_text(to, row->values[k]);
        }
        fprintf(to, ",\"eval\":%ld,\"stopped\":", row->r.eval);
        cli_put_json_text(to, row->r.stopped);
        fprintf(to, ",\"step\":%llu,\"params\":%llu,\"metric\":\"%s\"", (unsigned long long)row->r.step,
                (unsigned long long)row->r.params, row->r.metric);
        for (size_t m = 0; m < MEASURES; m++) {
            fprintf(to, ",\"%s\":", measures[m]);
            cli_put_json_number(to, measure(&row->r, m), 9);
        }
        fprintf(to, ",\"digest\":\"%016llx\",\"config\":", (unsigned long long)row->r.digest);
        cli_put_json_text(to, row->r.config);
        fputs("}\n", to);
    }
}

void table_print_csv(const table *t, FILE *to) {
    fputs("name", to);
    for (size_t k = 0; k < t->n_keys; k++)
        if (is_column(t, k)) fprintf(to, ",%s", t->keys[k]);
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

void table_print_machines(const table *t, FILE *to) {
    fputs("name,host,isa,threads,from,seconds,processor_seconds,ended\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const result_machine *m = &t->rows[i].r.machine;
        fprintf(to, "%s,", t->rows[i].r.name);
        table_put_csv(to, m->host);
        fprintf(to, ",%s,%ld,%llu,%.3f,%.3f,%.0f\n", m->isa, m->threads, (unsigned long long)m->from,
                m->seconds, m->processor_seconds, m->ended);
    }
}
