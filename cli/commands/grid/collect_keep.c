// collect_keep.c: collect --keep best: the weights of every best, for all of its seeds: trained again, to the
// bit what the result says, into FOLDER/best/NAME.safetensors.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/grid/job.h"
#include "collect_keep.h"

// 0; 1: the weights are others than the result says; 2.
static int keep_one(const result *r, const char *path) {
    smx_error e = {0};
    size_t size;
    smx_metrics m;
    smx_run *run = smx_run_open(r->config, &e);
    if (!run) return cli_fail("%s", e.message);
    cli_use_threads(run);
    smx_run_metrics(run, &m);
    int status = smx_run_step(run, m.steps, &e) ? cli_fail("%s", e.message) : 0;
    if (!status && smx_run_digest(run) != r->digest) {
        cli_note(
            "%s: what is trained here has other weights than the result says: not kept (--recheck tells more)",
            r->name);
        status = 1;
    }
    void *bytes = status ? NULL : smx_run_save(run, &size, &e);
    if (!status) status = bytes ? cli_write_file(path, bytes, size) : cli_fail("%s", e.message);
    free(bytes);
    smx_run_close(run);
    return status;
}

int collect_keep(const summary *s, const char *folder) {
    char path[JOB_PATH];
    struct stat st;
    size_t kept = 0;
    int worst = 0;
    if (snprintf(path, sizeof path, "%s/best", folder) >= (int)sizeof path - 40)
        return cli_fail("collect: --out: the path is too long");
    if (cli_make_folders(path, "collect: --keep")) return 2;
    for (size_t i = 0; i < s->n && worst < 2; i++)
        for (size_t k = 0; s->settings[i].best && k < s->settings[i].n && worst < 2; k++) {
            const result *r = &s->t->rows[s->settings[i].from + k].r;
            snprintf(path, sizeof path, "%s/best/%s.safetensors", folder, r->name);
            const int status = stat(path, &st) ? keep_one(r, path) : 0;
            kept += status == 0;
            if (status > worst) worst = status;
        }
    if (worst < 2) printf("\nweights of the best: %zu files in %s/best\n", kept, folder);
    return worst;
}
