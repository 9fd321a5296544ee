// oracle_folder.c: runs one mechanism on the arrays of a folder, NAME.npy each, and writes NAME.npy of every
// output, mid_NAME.npy of every intermediate and, where dy.npy is given, d_NAME.npy of every gradient.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "oracle.h"
#include "oracle_batch.h"

typedef struct {
    const oracle_request *r;
    json *params;
    oracle_batch b;
} folder_run;

static int fail_case(const folder_run *f) {
    return cli_fail("oracle: %s: %s", f->r->mechanism->name, f->b.c.error.message);
}

// With --layout bhld: q, k, v, marks and y, whose rows are all heads side by side.
static int apart(const folder_run *f, const oracle_array *a) {
    return f->r->heads_apart && strcmp(a->shape, "L D") == 0;
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

static int join_heads(npy *a, const char *name, size_t *heads) {
    char shape[160];
    if (a->ndim < 3 || a->count == 0)
        return cli_fail("oracle: %s has the shape %s; --layout bhld wants [...][H][L][d]", name,
                        npy_shape_text(shape, sizeof shape, a->ndim, a->shape));
    size_t *tail = a->shape + a->ndim - 3, H = tail[0], L = tail[1], d = tail[2];
    if (*heads && *heads != H)
        return cli_fail("oracle: %s has %zu heads; the parameter H or an array before it says %zu", name, H,
                        *heads);
    size_t row = d * npy_item_size(a->dtype);
    void *to = malloc(a->count * npy_item_size(a->dtype));
    if (!to) return cli_fail("oracle: not enough memory for %s", name);
    move_heads(to, a->data, a->count / (H * L * d), H, L, row, 0);
    free(a->data);
    a->data = to;
    tail[0] = L;
    tail[1] = H * d;
    a->ndim--;
    *heads = H;
    return 0;
}

// Is NAME (of NAME.npy) an array of the mechanism, whatever the parameters?
static int is_known(const folder_run *f, const char *name) {
    const oracle_array *a = f->r->mechanism->arrays;
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

static int read_inputs(folder_run *f, size_t *heads) {
    char path[4096];
    smx_error error;
    for (size_t i = 0; i < f->b.c.n_slots; i++) {
        const oracle_array *is = f->b.c.slots[i].is;
        npy value;
        if (is->kind != ORACLE_INPUT) continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s.npy", f->r->in, is->name) >= sizeof path)
            return cli_fail("oracle: --in: the path is too long");
        if (access(path, F_OK) && is->flags & ORACLE_OPTIONAL) continue;
        if (npy_read(&value, path, &error)) return cli_fail("oracle: %s", error.message);
        int status = apart(f, is) && join_heads(&value, path, heads) ? 2 : 0;
        if (!status && oracle_batch_set(&f->b, is->name, &value)) status = fail_case(f);
        npy_free(&value);
        if (status) return status;
    }
    return 0;
}

// ---- Writing

static int write_result(const folder_run *f, oracle_batch_result *r) {
    char path[4096];
    smx_error error;
    size_t shape[NPY_MAX_DIMS], ndim = r->ndim;
    const char *prefix = r->gradient ? "d_" : r->is->kind == ORACLE_MIDDLE ? "mid_" : "";
    memcpy(shape, r->shape, sizeof shape);
    if ((size_t)snprintf(path, sizeof path, "%s/%s%s.npy", f->r->out, prefix, r->is->name) >= sizeof path)
        return cli_fail("oracle: --out: the path is too long");
    if (apart(f, r->is)) {
        if (ndim == NPY_MAX_DIMS)
            return cli_fail("oracle: %s would have more than %d dimensions", r->is->name, NPY_MAX_DIMS);
        const size_t H = oracle_size(&f->b.c, "H"), L = shape[ndim - 2], d = shape[ndim - 1] / H;
        double *to = malloc((r->count + 1) * sizeof *to);
        if (!to) return cli_fail("oracle: not enough memory for %s", r->is->name);
        move_heads(to, r->data, r->count / (H * L * d), H, L, d * sizeof *to, 1);
        free(r->data);
        r->data = to;
        shape[ndim - 2] = H, shape[ndim - 1] = L, shape[ndim] = d;
        ndim++;
    }
    if (npy_write(path, NPY_F8, ndim, shape, r->data, &error)) return cli_fail("oracle: %s", error.message);
    return 0;
}

// H as the arrays have it, among the parameters.
static int put_heads(folder_run *f, size_t heads) {
    char text[4200];
    smx_error error;
    if (!heads || json_get(f->params, "H")) return 0;
    snprintf(text, sizeof text, "{\"H\":%zu%s%s", heads, f->params->child ? "," : "", f->r->params + 1);
    json_free(f->params);
    f->params = json_parse(text, strlen(text), &error);
    f->b.c.params = f->params;
    return f->params ? 0 : cli_fail("oracle: %s", error.message);
}

static int run(folder_run *f) {
    smx_error error;
    f->params = json_parse(f->r->params, strlen(f->r->params), &error);
    if (!f->params) return cli_fail("oracle: the parameters: %s", error.message);
    size_t heads = 0;
    const json *given = json_get(f->params, "H");
    if (f->r->heads_apart && given && !json_size(given, &heads))
        return cli_fail("oracle: the parameter H must be a whole number");
    if (oracle_batch_open(&f->b, f->r->mechanism, f->params, NULL)) return fail_case(f);
    if (no_strangers(f) || read_inputs(f, &heads) || put_heads(f, heads)) return 2;
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
