// vectors_set.c: a set of test vectors as it is written: its folder, its arrays and their entries in the
// manifest, its README.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "vectors.h"

int vectors_begin(vectors_set *set, const char *folder) {
    if (cli_make_folder(folder, "--out")) return 2;
    set->folder = folder;
    set->manifest = open_memstream(&set->text, &set->size);
    return set->manifest ? 0 : cli_fail("vectors: out of memory");
}

static int write_file(const vectors_set *set, const char *name, const char *bytes, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", set->folder, name);
    return cli_write_file(path, bytes, size);
}

int vectors_end(vectors_set *set, int status, const char *readme, size_t cases) {
    if (set->manifest) {
        fprintf(set->manifest, "\n ]}\n");
        int bad = ferror(set->manifest);
        bad |= fclose(set->manifest);
        if (!status && (bad || !readme)) status = cli_fail("vectors: out of memory");
    }
    if (!status) status = write_file(set, "README.md", readme, strlen(readme));
    cli_finish_folder();
    if (!status) status = write_file(set, "manifest.json", set->text, set->size);
    if (!status) printf("vectors: %zu cases, %zu arrays in %s\n", cases, set->arrays, set->folder);
    free(set->text);
    return status;
}

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
