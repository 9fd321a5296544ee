// oracle_manifest.c: runs every case of a set of test vectors and writes each output, intermediate and
// gradient under the manifest's own file names.
#include "cli/oracle/sets/manifest.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/oracle/oracle.h"
#include "cli/oracle/oracle_batch.h"

static int set_inputs(oracle_batch *b, const manifest *m, const json *inputs) {
    smx_error *const error = &b->c.error;
    for (const json *a = inputs ? inputs->child : NULL; a; a = a->next) {
        manifest_array is;
        npy value;
        char path[MANIFEST_PATH];
        if (manifest_array_of(m, a, m->folder, path, &is, error)) return -1;
        if (npy_read(&value, path, error)) return -1;
        int status = manifest_fits(&is, &value, path, error);
        if (!status) status = oracle_batch_set(b, a->key, &value);
        npy_free(&value);
        if (status) return -1;
    }
    return 0;
}

// A case that says its batch has that of its arrays.
static int same_batch(oracle_batch *b, const json *says) {
    size_t n = 0, size;
    int same = !says || says->type == JSON_ARRAY;
    for (const json *s = says && same ? says->child : NULL; s && same; s = s->next, n++)
        same = n < b->ndim && json_size(s, &size) && size == b->batch[n];
    if (same && (!says || n == b->ndim)) return 0;
    char have[160];
    return oracle_fail(&b->c, "\"batch\" is not that of the arrays, %s",
                       npy_shape_text(have, sizeof have, b->ndim, b->batch));
}

static int write_arrays(oracle_batch *b, const manifest *m, const json *arrays, oracle_kind kind,
                        const char *out, size_t *written) {
    for (const json *a = arrays ? arrays->child : NULL; a; a = a->next) {
        manifest_array is;
        char path[MANIFEST_PATH], want[160], got[160];
        const oracle_batch_result *r = oracle_batch_result_of(b, kind, a->key);
        if (!r)
            return oracle_fail(&b->c, "%s gives no %s%.40s here", b->c.mechanism->name,
                               kind == ORACLE_INPUT ? "gradient of " : "", a->key);
        if (manifest_array_of(m, a, out, path, &is, &b->c.error)) return -1;
        if (is.ndim != r->ndim || memcmp(is.shape, r->shape, r->ndim * sizeof *r->shape))
            return oracle_fail(&b->c, "%.40s: the manifest says the shape %s, it is %s", a->key,
                               npy_shape_text(want, sizeof want, is.ndim, is.shape),
                               npy_shape_text(got, sizeof got, r->ndim, r->shape));
        if (npy_write(path, NPY_F8, r->ndim, r->shape, r->data, &b->c.error)) return -1;
        ++*written;
    }
    return 0;
}

static int run_case(oracle_batch *b, const manifest *m, const json *entry, const char *out, size_t *written) {
    const json *mechanism = json_get(entry, "mechanism");
    memset(b, 0, sizeof *b);
    if (!mechanism || mechanism->type != JSON_STRING) return oracle_fail(&b->c, "it names no mechanism");
    const oracle_mechanism *is = oracle_find(mechanism->string);
    if (!is) return oracle_fail(&b->c, "there is no mechanism '%.60s'", mechanism->string);
    // A mode that stands beside the parameters is one of them where the mechanism has such a parameter.
    const json *mode = json_get(entry, "mode");
    if (mode && !oracle_allows(is, "mode", mode)) mode = NULL;
    if (oracle_batch_open(b, is, json_get(entry, "params"), mode)) return -1;
    if (set_inputs(b, m, json_get(entry, "inputs")) || same_batch(b, json_get(entry, "batch"))) return -1;
    if (oracle_batch_run(b)) return -1;
    if (write_arrays(b, m, json_get(entry, "outputs"), ORACLE_OUTPUT, out, written)) return -1;
    if (write_arrays(b, m, json_get(entry, "intermediates"), ORACLE_MIDDLE, out, written)) return -1;
    return write_arrays(b, m, json_get(entry, "gradients"), ORACLE_INPUT, out, written);
}

int oracle_manifest_run(const char *path, const char *out) {
    manifest m;
    smx_error error;
    size_t cases = 0, failed = 0, written = 0;
    if (manifest_open(&m, path, &error)) return cli_fail("%s", error.message);
    int status = cli_make_folder(out, "--out");
    for (const json *entry = m.cases->child; entry && !status; entry = entry->next, cases++) {
        oracle_batch b;
        if (run_case(&b, &m, entry, out, &written)) {
            cli_fail("case %s: %s", manifest_case_name(entry), b.c.error.message);
            failed++;
        }
        oracle_batch_close(&b);
    }
    manifest_close(&m);
    cli_finish_folder();
    if (!status)
        printf("oracle: %zu of %zu cases, %zu arrays written to %s\n", cases - failed, cases, written, out);
    return status || failed ? 2 : 0;
}
