// vectors_set.c: an array of a set of test vectors: its file, and its entry in the manifest.
#include <stdio.h>

#include "cli/cli.h"
#include "vectors.h"

int vectors_put(vectors_set *set, const char *of, const char *prefix, const char *name, const npy *a,
                const char *judged, int first) {
    char path[4096], file[256];
    smx_error error;
    snprintf(file, sizeof file, "%s.%s%s.npy", of, prefix, name);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", set->folder, file) >= sizeof path)
        return cli_fail("vectors: --out: the path is too long");
    if (npy_write(path, a->dtype, a->ndim, a->shape, a->data, &error))
        return cli_fail("vectors: %s", error.message);
    fprintf(set->manifest, "%s\n    \"%s\": {\"file\": \"%s\", \"shape\": [", first ? "" : ",", name, file);
    for (size_t d = 0; d < a->ndim; d++) fprintf(set->manifest, d ? ", %zu" : "%zu", a->shape[d]);
    fprintf(set->manifest, "], \"dtype\": \"%s\"%s}", npy_dtype_name(a->dtype), judged);
    set->arrays++;
    return 0;
}

void vectors_progress(vectors_set *set, const char *name) {
    const double now = cli_seconds();
    if (set->began == 0) set->began = set->told = now;
    if (now - set->told < 10) return;
    set->told = now;
    const double spent = now - set->began, left = spent / (double)set->at * (double)(set->of - set->at);
    cli_note("vectors: case %zu of %zu, %s, after %.0f s; about %.0f s more", set->at, set->of, name, spent,
             left);
}
