// table.c: see table.h.
#include "table.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "kernels/core/hash.h"
#include "model/base/number.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"
#include "cli/grid/plan/usual.h"

static int out_of_memory(void) { return cli_fail("out of memory for the table"); }

// ---- Keys -----------------------------------------------------------------------------------------------

static size_t key_of(const table *t, const char *name) {
    for (size_t k = 0; k < t->n_keys; k++)
        if (!strcmp(t->keys[k], name)) return k;
    return t->n_keys;
}

// A key more, of which no row says anything so far; -1: out of memory.
static int add_key(table *t, const config_key *key) {
    const size_t n = t->n_keys + 1;
    char **keys = realloc(t->keys, n * sizeof *keys);
    if (keys) t->keys = keys;
    table_limits *limits = realloc(t->limits, n * sizeof *limits);
    if (limits) t->limits = limits;
    char *varies = realloc(t->varies, n);
    if (varies) t->varies = varies;
    char *name = strdup(key->name);
    int bad = !keys || !limits || !varies || !name;
    for (size_t i = 0; i < t->n && !bad; i++) {
        char **values = realloc(t->rows[i].values, n * sizeof *values);
        if (values) (t->rows[i].values = values)[n - 1] = NULL;
        bad = !values;
    }
    if (bad) return free(name), -1;
    t->keys[n - 1] = name;
    t->varies[n - 1] = 0;
    t->limits[n - 1] =
        (table_limits){key->type == KEY_INT || key->type == KEY_REAL || key->type == KEY_FLAG, key->min,
                       key->max, !strcmp(key->group, "model") || !strcmp(key->group, "mixer")};
    t->n_keys = n;
    return 0;
}

static int open_keys(table *t) {
    config *c = config_parse("", 0, NULL);
    int bad = !c;
    for (size_t k = 0; !bad && k < c->n; k++) bad = add_key(t, c->values[k].key);
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
    return 0; // v=1
}

// Does the text of a config give the key?
static int is_key(void *key, const char *name, const char *value, smx_error *error) {
    (void)value, (void)error;
    return !strcmp(key, name);
}
static int gives(const char *text, const char *key) {
    return pairs_visit(pairs_run(text, 0), is_key, (void *)key, NULL) == 1;
}

static void note_older(table *t, const config *c, const char *was) {
    t->older++;
    for (size_t i = 0; i < c->n; i++) {
        const char *key = c->values[i].key->name;
        const size_t at = strlen(t->lacking), n = strlen(key);
        if (!c->values[i].said || !strcmp(key, "threads") || gives(was, key)) continue;
        const char *there = strstr(t->lacking, key);
        if (there && (there[n] == 0 || there[n] == ',') && (there == t->lacking || there[-1] == ' '))
            continue;
        if (at + n + 3 < sizeof t->lacking)
            snprintf(t->lacking + at, sizeof t->lacking - at, "%s%s", at ? ", " : "", key);
    }
}

// Of a config: its keys, and all values but numbers, which give a run no other keys (but that of its blocks).
static int hash_kind(void *kind, const char *key, const char *value, smx_error *error) {
    uint64_t *h = kind;
    char *end;
    (void)error;
    number_read(value, &end);
    const int number = end > value && !*end && strcmp(key, "blocks");
    *h = hash_bytes(*h, key, strlen(key) + 1);
    if (!number) *h = hash_bytes(*h, value, strlen(value) + 1);
    return 0;
}
static uint64_t kind_of(const char *text) {
    uint64_t h = HASH_START;
    pairs_visit(pairs_run(text, 0), hash_kind, &h, NULL);
    return h;
}

// Reads the row's config and completes it, row->config where that is another text. 0; 1: it is no config of
// this build; 2.
static int complete(table *t, table_row *row) {
    job j = {0};
    config *c = config_parse(row->r.config, 0, NULL);
    if (!c) return 1;
    int bad = job_of(&j, c, row->r.eval, row->r.every) != 0;
    for (size_t i = 0; i < c->n && !bad; i++)
        if (c->values[i].said && key_of(t, c->values[i].key->name) == t->n_keys)
            bad = add_key(t, c->values[i].key) != 0;
    if (!bad && strcmp(j.config, row->r.config)) {
        note_older(t, c, row->r.config);
        row->completed = j.config;
        j.config = NULL;
    } else if (!bad) {
        bad = names_add(&t->whole, kind_of(row->r.config)) < 0;
    }
    config_free(c);
    job_free(&j);
    return bad ? out_of_memory() : 0;
}

// The row's config, and its values. 0; 1: it is no config of this build; 2.
static int split(table *t, table_row *row) {
    // Reading a config takes longer than all else here: one of each kind is enough where it is complete.
    const int status = names_have(&t->whole, kind_of(row->r.config)) ? 0 : complete(t, row);
    if (status) return status;
    row->config = row->completed ? row->completed : row->r.config;
    row->values = calloc(t->n_keys, sizeof *row->values);
    row->texts = malloc(strlen(row->config) + 1);
    if (!row->values || !row->texts) return out_of_memory();
    reading r = {t, row, row->texts, 0};
    pairs_visit(pairs_run(row->config, 0), keep_value, &r, NULL);
    return 0;
}

// ---- Reading --------------------------------------------------------------------------------------------

static void row_free(table_row *row) {
    result_free(&row->r);
    free(row->completed);
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
    struct stat st;
    if (stat(path, &st)) { // listed, and gone meanwhile
        snprintf(why, sizeof why, "cannot be read: %s", strerror(errno));
        return leave_out(&t->damaged, path, why);
    }
    char *text = cli_read_file(path, &size);
    if (!text) return 1;
    table_row *row = &t->rows[t->n];
    *row = (table_row){0};
    const int kind = result_read(&row->r, text, size, why, sizeof why);
    free(text);
    if (kind != RESULT_WHOLE) return leave_out(kind == RESULT_OTHER ? &t->foreign : &t->damaged, path, why);
    char *told = usual_left_out(row->r.config, NULL);
    if (!told) return row_free(row), out_of_memory();
    job_name(right, told, row->r.eval, row->r.every, row->r.data);
    free(told);
    // Of before, when every key counted:
    if (strcmp(right, row->r.name)) job_name(right, row->r.config, row->r.eval, row->r.every, row->r.data);
    int status = 0;
    if (strcmp(right, row->r.name) || strncmp(name, right, JOB_NAME - 1))
        status =
            leave_out(&t->foreign, path, "has a name that is not its config's: it was renamed, or edited");
    else if ((status = split(t, row)) == 1)
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
    if (!strcmp(ending, ".claim")) return t->running++, 0;
    static const char *const others[] = {".claim", ".curve", ".failed",
                                         ".ranks"}; // of jobs at work, or that failed
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(ending, others[i], strlen(others[i]))) return 0;
    if (!strcmp(ending, ".json")) return add(t, path, name);
    if (!strncmp(ending, ".rung-", 6)) return t->rungs++, 0;
    if (strstr(ending, ".damaged-")) return 0; // was said when it was set aside
    return leave_out(&t->foreign, path, "is no file of a job");
}

// A folder that goes while it is read (a server that is gone) ends its list early.
static int leave_rest(table *t, const char *folder, int error) {
    char why[400];
    snprintf(why, sizeof why, "cannot be read to its end: %s", strerror(error));
    return leave_out(&t->damaged, folder, why);
}

static int read_folder(table *t, const char *folder) {
    DIR *d = opendir(folder);
    char why[400];
    if (!d) {
        snprintf(why, sizeof why, "cannot be read: %s", strerror(errno));
        return leave_out(&t->damaged, folder, why);
    }
    int status = 0;
    for (struct dirent *e; status < 2 && (errno = 0, e = readdir(d));) {
        const int one = read_one(t, folder, e->d_name);
        if (one > status) status = one;
    }
    if (status < 2 && errno) status = leave_rest(t, folder, errno);
    closedir(d);
    return status;
}

// ---- Order ----------------------------------------------------------------------------------------------

int table_compare(const table *t, size_t k, const table_row *a, const table_row *b) {
    const char *x = a->values[k], *y = b->values[k];
    if (!x || !y) return (x != NULL) - (y != NULL);
    if (!t->limits[k].numeric) return strcmp(x, y);
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
    if (!order) order = (x->r.data > y->r.data) - (x->r.data < y->r.data);
    if (!order) order = table_compare(sorting, sorting->seed, x, y);
    if (!order) order = (x->r.every > y->r.every) - (x->r.every < y->r.every);
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

static int same_training(const table_row *a, const table_row *b) {
    return a->r.eval == b->r.eval && a->r.every == b->r.every && a->r.data == b->r.data &&
           !strcmp(a->config, b->config);
}

// Rows from..from+n-1 are of one training. 0: they say the same; 1: not, with the sentence printed; 2.
static int agree(const table *t, const char *folder, size_t from, size_t n) {
    char what[200];
    const result *a = &t->rows[from].r;
    for (size_t i = 1; i < n; i++) {
        const result *b = &t->rows[from + i].r;
        const int differs = result_differs(a, b, what, sizeof what);
        if (differs < 0) return out_of_memory();
        if (!differs) continue;
        cli_fail(
            "%s/%.2s/%s.json and %s/%.2s/%s.json are of the same training, and say %s; neither is in the "
            "table: remove the wrong one (collect --recheck trains again)",
            folder, a->name, a->name, folder, b->name, b->name, what);
        return 1;
    }
    return 0;
}

// Rows of one training stand beside each other: the first stays, by its name, or none.
static int take_once(table *t, const char *folder) {
    size_t kept = 0, twice = 0;
    int status = 0;
    for (size_t i = 0, n; i < t->n; i += n) {
        for (n = 1; i + n < t->n && same_training(&t->rows[i], &t->rows[i + n]); n++) twice++;
        const int one = status < 2 ? agree(t, folder, i, n) : 2;
        if (one > status) status = one;
        for (size_t k = one ? 0 : 1; k < n; k++) row_free(&t->rows[i + k]);
        if (one) {
            twice -= n - 1;
            continue;
        }
        t->rows[kept++] = t->rows[i];
        if (kept <= i) t->rows[i] = (table_row){0};
    }
    t->n = kept;
    if (status == 2) return 2;
    if (*t->lacking)
        cli_note("%zu %s written by an older build, whose configs have no key %s: today's %s taken for it",
                 t->older, t->older == 1 ? "result was" : "results were", t->lacking,
                 strchr(t->lacking, ',') ? "defaults are" : "default is");
    if (twice)
        cli_note("%zu %s there twice, under %s of an older build: counted once", twice,
                 twice == 1 ? "result is" : "results are", twice == 1 ? "a name" : "names");
    return status;
}

static int take_current(table *t) {
    char *earlier = malloc(t->n + 1);
    if (!earlier) return out_of_memory();
    const int found = table_find_earlier(t, earlier);
    size_t kept = 0;
    for (size_t i = 0; i < t->n && found == 1; i++) {
        if (earlier[i])
            row_free(&t->rows[i]);
        else
            t->rows[kept++] = t->rows[i];
    }
    if (found == 1) t->n = kept;
    free(earlier);
    return found == 2 ? 2 : 0;
}

int table_read(table *t, const char *folder) {
    char path[JOB_PATH];
    *t = (table){0};
    if (open_keys(t)) return 2;
    DIR *d = opendir(folder);
    if (!d) return cli_fail("%s cannot be read: %s", folder, strerror(errno));
    int status = 0;
    for (struct dirent *e; status < 2 && (errno = 0, e = readdir(d));) {
        if (strlen(e->d_name) != 2 || !hexadecimal(e->d_name, 2)) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
        const int one = read_folder(t, path);
        if (one > status) status = one;
    }
    if (status < 2 && errno) status = leave_rest(t, folder, errno);
    closedir(d);
    if (status == 2 || take_current(t)) return 2;
    find_varying(t);
    sorting = t;
    if (t->n) qsort(t->rows, t->n, sizeof *t->rows, by_keys);
    const int once = take_once(t, folder);
    memset(t->varies, 0, t->n_keys);
    find_varying(t);
    return once > status ? once : status;
}

int table_fail_empty(const table *t, const char *folder) {
    if (t->begun)
        return cli_fail("there is no result in %s yet: %zu %s begun", folder, t->begun,
                        t->begun == 1 ? "job is" : "jobs are");
    if (t->damaged + t->foreign) return cli_fail("there is no result in %s that could be read", folder);
    char logs[JOB_PATH];
    DIR *d = snprintf(logs, sizeof logs, "%s/logs", folder) < (int)sizeof logs ? opendir(logs) : NULL;
    if (d) {
        closedir(d);
        return cli_fail("there is no result in %s yet: no job is done; its tasks' logs are in %s", folder,
                        logs);
    }
    return cli_fail("there is no result in %s: it must be the folder that jobs were given with --out",
                    folder);
}

void table_free(table *t) {
    for (size_t i = 0; i < t->n; i++) row_free(&t->rows[i]);
    for (size_t k = 0; k < t->n_keys; k++) free(t->keys[k]);
    free(t->rows);
    free(t->keys);
    free(t->limits);
    free(t->varies);
    names_free(&t->whole);
    *t = (table){0};
}
