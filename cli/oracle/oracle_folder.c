// oracle_folder.c: runs one mechanism on the arrays of a folder, NAME.npy each, and writes NAME.npy of every
// output, mid_NAME.npy of every intermediate and, where dy.npy is given, d_NAME.npy of every gradient.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "kernels/core/sizes.h"
#include "oracle.h"
#include "oracle_batch.h"

typedef struct {
    const oracle_request *r;
    json *params;
    oracle_batch b;
    // With heads apart: how many each input was given with, and what they were found to be called.
    size_t heads[ORACLE_MAX_ARRAYS];
    char found[1024]; // as JSON, ,"NAME":NUMBER each
} folder_run;

static int fail_case(const folder_run *f) {
    return cli_fail("oracle: %s: %s", f->r->mechanism->name, f->b.c.error.message);
}

// Of an array whose rows are all heads side by side: what the number of heads is called, and what a head's
// part of a row is: "d", or "" where that is one number. steps: so many of its rows are one of the others'
// (DeltaProduct's keys). 0: it is no such array, or the layout is bld.
typedef struct {
    char heads[16], columns[16];
    size_t steps;
} apart;
static size_t steps_of(const folder_run *f) {
    size_t n = 0;
    oracle_declared d;
    const json *given = json_get(f->params, "n");
    for (const char *at = f->r->mechanism->params; !n && oracle_next_declared(&at, &d);)
        if (!strcmp(d.name, "n")) n = strtoul(d.value, NULL, 10);
    return given && (!json_size(given, &n) || !n) ? 1 : n; // another n is refused where it is read
}
static int apart_of(const folder_run *f, const oracle_array *a, apart *to) {
    const char *at = a->shape + 2, *times;
    *to = (apart){.steps = 1};
    if (!f->r->layout || strncmp(a->shape, "L ", 2) || strchr(at, ' ')) return 0;
    if (!strcmp(at, "D")) {
        strcpy(to->heads, "H"), strcpy(to->columns, "d");
        return 1;
    }
    if (!strncmp(at, "n*H", 3)) to->steps = steps_of(f), at += 2;
    if (*at != 'H') return 0;
    times = strchr(at, '*');
    snprintf(to->heads, sizeof to->heads, "%.*s", (int)strcspn(at, "*"), at);
    if (times) snprintf(to->columns, sizeof to->columns, "%s", times + 1);
    return 1;
}
// "Hq|Hv" is the larger.
static size_t heads_called(const folder_run *f, const char *name) {
    char first[16];
    const size_t n = strcspn(name, "|");
    snprintf(first, sizeof first, "%.*s", (int)n, name);
    const size_t one = oracle_size(&f->b.c, first), other = name[n] ? oracle_size(&f->b.c, name + n + 1) : 0;
    return one > other ? one : other;
}

// ---- Reading

// [..., H, L, d] becomes [..., L, H*d], or back. n blocks of the first.
static void move_heads(void *to, const void *from, size_t n, size_t H, size_t L, size_t row, int back) {
    for (size_t b = 0; b < n; b++)
        for (size_t h = 0; h < H; h++)
            for (size_t t = 0; t < L; t++) {
                size_t split = ((b * H + h) * L + t) * row, joined = ((b * L + t) * H + h) * row;
                memcpy((char *)to + (back ? split : joined), (const char *)from + (back ? joined : split),
                       row);
            }
}

// One more size that the arrays tell; where it is given, or was told before, nothing.
static int tell(folder_run *f, const char *name, size_t value) {
    char text[48], before[24];
    oracle_declared d;
    int declared = 0;
    for (const char *at = f->r->mechanism->params; !declared && oracle_next_declared(&at, &d);)
        declared = !strcmp(d.name, name) && !strncmp(d.type, "size", 4);
    snprintf(before, sizeof before, ",\"%s\":", name);
    if (!declared || json_get(f->params, name) || strstr(f->found, before)) return 0;
    snprintf(text, sizeof text, "%s%zu", before, value);
    if (strlen(f->found) + strlen(text) >= sizeof f->found) return cli_fail("oracle: too many sizes");
    strcat(f->found, text);
    return 0;
}

static int join_heads(folder_run *f, npy *a, const char *name, const apart *is, size_t *heads) {
    char shape[160];
    const size_t wide = is->columns[0] != 0, least = 2 + wide, first = f->r->layout == ORACLE_BHLD;
    npy_shape_text(shape, sizeof shape, a->ndim, a->shape);
    if (a->ndim < least || a->count == 0)
        return cli_fail("oracle: %s has the shape %s; --layout %s wants [...]%s%s", name, shape,
                        first ? "bhld" : "blhd", first ? "[H][L]" : "[L][H]", wide ? "[d]" : "");
    size_t *tail = a->shape + a->ndim - least, H = tail[!first], L = tail[first], d = wide ? tail[2] : 1;
    if (L % is->steps)
        return cli_fail("oracle: %s has the shape %s: %zu rows, which are no whole number of n = %zu", name,
                        shape, L, is->steps);
    if (first) {
        void *to = malloc(a->count * npy_item_size(a->dtype));
        if (!to) return cli_fail("oracle: not enough memory for %s", name);
        move_heads(to, a->data, a->count / (H * L * d), H, L, d * npy_item_size(a->dtype), 0);
        free(a->data);
        a->data = to;
    }
    tail[0] = L / is->steps;
    tail[1] = is->steps * H * d;
    a->ndim -= wide;
    *heads = H;
    if (strcmp(is->heads, "H") && !strchr(is->heads, '|') && tell(f, is->heads, H)) return -1;
    return wide ? tell(f, is->columns, d) : 0;
}

// H is the most heads that an array has. Each head of an array with fewer is that of H / (its heads) of them,
// side by side: [...][L][h*d] becomes [...][L][H*d].
static int share_heads(folder_run *f) {
    size_t H = 0;
    const json *given = json_get(f->params, "H");
    apart is;
    if (given && !json_size(given, &H)) return cli_fail("oracle: the parameter H must be a whole number");
    for (size_t i = 0; i < f->b.n_inputs && !given; i++)
        if (apart_of(f, f->b.inputs[i].is, &is) && !strcmp(is.heads, "H") && f->heads[i] > H) H = f->heads[i];
    for (size_t i = 0; i < f->b.n_inputs; i++) {
        oracle_batch_input *in = &f->b.inputs[i];
        npy *a = &in->value;
        if (!apart_of(f, in->is, &is) || strcmp(is.heads, "H") || f->heads[i] == H) continue;
        if (!H || H % f->heads[i])
            return cli_fail("oracle: %s has %zu heads, which do not divide H = %zu, %s", in->is->name,
                            f->heads[i], H, given ? "the parameter" : "the most that an array has");
        if (!strcmp(in->is->name, "dy"))
            return cli_fail("oracle: dy has %zu heads; it must have H = %zu, as y", f->heads[i], H);
        const size_t row = a->shape[a->ndim - 1] / (is.steps * f->heads[i]) * npy_item_size(a->dtype),
                     each = H / f->heads[i];
        const size_t parts = a->count * npy_item_size(a->dtype) / row;
        char *to = malloc(size_fits(size_mul(parts, each, row)));
        if (!to) return cli_fail("oracle: not enough memory for %s", in->is->name);
        for (size_t p = 0; p < parts * each; p++)
            memcpy(to + p * row, (const char *)a->data + p / each * row, row);
        free(a->data);
        a->data = to;
        a->count *= each;
        a->shape[a->ndim - 1] *= each;
    }
    return H ? tell(f, "H", H) : 0;
}

// Is NAME (of NAME.npy) an array of the mechanism, whatever the parameters?
static int is_known(const folder_run *f, const char *name) {
    const oracle_array *a = f->r->mechanism->arrays;
    if (!strcmp(name, "cu") && oracle_batch_packs(f->r->mechanism)) return 1;
    for (; a->name; a++) {
        int middle =
            strncmp(name, "mid_", 4) == 0 && a->kind == ORACLE_MIDDLE && strcmp(name + 4, a->name) == 0;
        int gradient =
            strncmp(name, "d_", 2) == 0 && a->kind == ORACLE_INPUT && strcmp(name + 2, a->name) == 0;
        if (middle || gradient || (a->kind != ORACLE_MIDDLE && strcmp(name, a->name) == 0)) return 1;
    }
    return 0;
}

// A misspelt name must not pass for an input that is switched off.
static int no_strangers(const folder_run *f) {
    DIR *d = opendir(f->r->in);
    if (!d) return cli_fail("oracle: --in: %s is not a folder that can be read", f->r->in);
    int status = 0;
    for (struct dirent *e; !status && (e = readdir(d));) {
        char name[256];
        size_t n = strlen(e->d_name);
        if (n < 5 || n >= sizeof name || strcmp(e->d_name + n - 4, ".npy")) continue;
        snprintf(name, sizeof name, "%.*s", (int)(n - 4), e->d_name);
        int input_here = oracle_slot_of(&f->b.c, ORACLE_INPUT, name) != NULL, input_ever = 0;
        for (const oracle_array *a = f->r->mechanism->arrays; a->name; a++)
            input_ever |= a->kind == ORACLE_INPUT && strcmp(a->name, name) == 0;
        if (!input_here && (input_ever || !is_known(f, name)))
            status = cli_fail("oracle: %s/%s is no array of %s%s; seqmix oracle --list %s tells them",
                              f->r->in, e->d_name, f->r->mechanism->name,
                              input_ever ? " with these parameters" : "", f->r->mechanism->name);
    }
    closedir(d);
    return status;
}

static int read_input(folder_run *f, const char *name, const oracle_array *is) {
    char path[4096];
    smx_error error;
    npy value;
    apart by = {0};
    size_t *heads = &f->heads[f->b.n_inputs];
    if ((size_t)snprintf(path, sizeof path, "%s/%s.npy", f->r->in, name) >= sizeof path)
        return cli_fail("oracle: --in: the path is too long");
    if (access(path, F_OK) && (!is || is->flags & ORACLE_OPTIONAL)) return 0;
    if (npy_read(&value, path, &error)) return cli_fail("oracle: %s", error.message);
    int status = is && apart_of(f, is, &by) && join_heads(f, &value, path, &by, heads) ? 2 : 0;
    if (!status && oracle_batch_set(&f->b, name, &value)) status = fail_case(f);
    npy_free(&value);
    return status;
}

static int read_inputs(folder_run *f) {
    int status = 0;
    if (!oracle_slot_of(&f->b.c, ORACLE_INPUT, "cu") && oracle_batch_packs(f->r->mechanism))
        status = read_input(f, "cu", NULL);
    for (size_t i = 0; i < f->b.c.n_slots && !status; i++)
        if (f->b.c.slots[i].is->kind == ORACLE_INPUT)
            status = read_input(f, f->b.c.slots[i].is->name, f->b.c.slots[i].is);
    return status;
}

// ---- Writing

// [...][L][H*d] becomes [...][H][L][d] or [...][L][H][d]; of a gradient whose input came with fewer heads,
// the sums of those that shared one.
static int split_heads(const folder_run *f, oracle_batch_result *r, const apart *is) {
    const size_t H = heads_called(f, is->heads), L = r->shape[r->ndim - 2] * is->steps,
                 d = r->shape[r->ndim - 1] / (is->steps * H), first = f->r->layout == ORACLE_BHLD;
    size_t given = H;
    for (size_t i = 0; r->gradient && i < f->b.n_inputs; i++)
        if (f->b.inputs[i].is == r->is) given = f->heads[i];
    if (is->columns[0] && r->ndim == NPY_MAX_DIMS)
        return cli_fail("oracle: %s would have more than %d dimensions", r->is->name, NPY_MAX_DIMS);
    double *to = malloc((r->count + 1) * sizeof *to);
    if (!to) return cli_fail("oracle: not enough memory for %s", r->is->name);
    // n blocks of `each` heads, `part` numbers a head
    const size_t each = H / given, part = first ? L * d : d, n = r->count / (each * part);
    if (first)
        move_heads(to, r->data, r->count / (H * L * d), H, L, d * sizeof *to, 1);
    else
        memcpy(to, r->data, r->count * sizeof *to);
    for (size_t h = 0; each > 1 && h < n; h++)
        for (size_t i = 0; i < part; i++) {
            double sum = 0;
            for (size_t e = 0; e < each; e++) sum += to[(h * each + e) * part + i];
            to[h * part + i] = sum;
        }
    free(r->data);
    r->data = to;
    r->shape[r->ndim - 2] = first ? given : L, r->shape[r->ndim - 1] = first ? L : given;
    if (is->columns[0]) r->shape[r->ndim++] = d;
    return 0;
}

static int write_result(const folder_run *f, oracle_batch_result *r) {
    char path[4096];
    smx_error error;
    apart is;
    const char *prefix = r->gradient ? "d_" : r->is->kind == ORACLE_MIDDLE ? "mid_" : "";
    if ((size_t)snprintf(path, sizeof path, "%s/%s%s.npy", f->r->out, prefix, r->is->name) >= sizeof path)
        return cli_fail("oracle: --out: the path is too long");
    if (apart_of(f, r->is, &is) && split_heads(f, r, &is)) return 2;
    if (npy_write(path, NPY_F8, r->ndim, r->shape, r->data, &error))
        return cli_fail("oracle: %s", error.message);
    return 0;
}

// The sizes that the arrays told, among the parameters.
static int put_sizes(folder_run *f) {
    char text[6000];
    smx_error error;
    if (!f->found[0]) return 0;
    snprintf(text, sizeof text, "{%s%s%s", f->found + 1, f->params->child ? "," : "", f->r->params + 1);
    json_free(f->params);
    f->params = json_parse(text, strlen(text), &error);
    f->b.c.params = f->params;
    return f->params ? 0 : cli_fail("oracle: %s", error.message);
}

static int run(folder_run *f) {
    smx_error error;
    f->params = json_parse(f->r->params, strlen(f->r->params), &error);
    if (!f->params) return cli_fail("oracle: the parameters: %s", error.message);
    if (oracle_batch_open(&f->b, f->r->mechanism, f->params, NULL)) return fail_case(f);
    if (no_strangers(f) || read_inputs(f) || share_heads(f) || put_sizes(f)) return 2;
    if (oracle_batch_run(&f->b)) return fail_case(f);
    if (cli_make_folder(f->r->out, "--out")) return 2;
    for (size_t i = 0; i < f->b.n_results; i++)
        if (write_result(f, &f->b.results[i])) return 2;
    cli_finish_folder();
    printf("oracle: %s: %zu arrays written to %s\n", f->r->mechanism->name, f->b.n_results, f->r->out);
    return 0;
}

int oracle_folder_run(const oracle_request *request) {
    folder_run *f = calloc(1, sizeof *f);
    if (!f) return cli_fail("oracle: out of memory");
    f->r = request;
    int status = run(f);
    oracle_batch_close(&f->b);
    json_free(f->params);
    free(f);
    return status;
}
