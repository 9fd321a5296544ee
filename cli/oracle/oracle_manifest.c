// oracle_manifest.c: runs every case of a set of test vectors and writes each output, intermediate and
// gradient under the manifest's own file names.
#include "manifest.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "oracle.h"

static int set_inputs(oracle_case *c, const manifest *m, const json *inputs) {
    for (const json *a = inputs ? inputs->child : NULL; a; a = a->next) {
        manifest_array is;
        npy value;
        char path[MANIFEST_PATH];
        if (manifest_array_of(m, a, m->folder, path, &is, &c->error)) return -1;
        if (npy_read(&value, path, &c->error)) return -1;
        int status = manifest_fits(&is, &value, path, &c->error);
        if (!status) status = oracle_set(c, a->key, &value);
        npy_free(&value);
        if (status) return -1;
    }
    return 0;
}

static int write_arrays(oracle_case *c, const manifest *m, const json *arrays, oracle_kind kind,
                        const char *out, size_t *written) {
    for (const json *a = arrays ? arrays->child : NULL; a; a = a->next) {
        manifest_array is;
        char path[MANIFEST_PATH], want[160], got[160];
        const oracle_slot *s = oracle_slot_of(c, kind, a->key);
        const double *data = !s ? NULL : kind == ORACLE_INPUT ? s->grad : s->data;
        if (!data)
            return oracle_fail(c, "%s gives no %s%.40s here", c->mechanism->name,
                               kind == ORACLE_INPUT ? "gradient of " : "", a->key);
        if (manifest_array_of(m, a, out, path, &is, &c->error)) return -1;
        if (is.ndim != s->ndim || memcmp(is.shape, s->shape, s->ndim * sizeof *s->shape))
            return oracle_fail(c, "%.40s: the manifest says the shape %s, it is %s", a->key,
                               npy_shape_text(want, sizeof want, is.ndim, is.shape),
                               npy_shape_text(got, sizeof got, s->ndim, s->shape));
        if (npy_write(path, NPY_F8, s->ndim, s->shape, data, &c->error)) return -1;
        ++*written;
    }
    return 0;
}

static int run_case(oracle_case *c, const manifest *m, const json *entry, const char *out, size_t *written) {
    const json *mechanism = json_get(entry, "mechanism");
    memset(c, 0, sizeof *c);
    if (!mechanism || mechanism->type != JSON_STRING) return oracle_fail(c, "it names no mechanism");
    const oracle_mechanism *is = oracle_find(mechanism->string);
    if (!is) return oracle_fail(c, "there is no mechanism '%.60s'", mechanism->string);
    // A mode that stands beside the parameters is one of them where the mechanism has such a parameter.
    const json *mode = json_get(entry, "mode");
    if (mode && !oracle_allows(is, "mode", mode)) mode = NULL;
    if (oracle_open(c, is, json_get(entry, "params"), mode)) return -1;
    if (set_inputs(c, m, json_get(entry, "inputs")) || oracle_run(c)) return -1;
    if (write_arrays(c, m, json_get(entry, "outputs"), ORACLE_OUTPUT, out, written)) return -1;
    if (write_arrays(c, m, json_get(entry, "intermediates"), ORACLE_MIDDLE, out, written)) return -1;
    return write_arrays(c, m, json_get(entry, "gradients"), ORACLE_INPUT, out, written);
}

int oracle_manifest_run(const char *path, const char *out) {
    manifest m;
    smx_error error;
    size_t cases = 0, failed = 0, written = 0;
    if (manifest_open(&m, path, &error)) return cli_fail("%s", error.message);
    int status = cli_make_folder(out, "--out");
    for (const json *entry = m.cases->child; entry && !status; entry = entry->next, cases++) {
        oracle_case c;
        if (run_case(&c, &m, entry, out, &written)) {
            cli_fail("case %s: %s", manifest_case_name(entry), c.error.message);
            failed++;
        }
        oracle_close(&c);
    }
    manifest_close(&m);
    cli_finish_folder();
    if (!status)
        printf("oracle: %zu of %zu cases, %zu arrays written to %s\n", cases - failed, cases, written, out);
    return status || failed ? 2 : 0;
}
