// progress.c: see progress.h.
#include "progress.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "kernels/core/hash.h"
#include "cli/grid/plan/names.h"
#include "cli/grid/plan/plan.h"

typedef struct {
    names done, kept, claimed, at_rung;
} found;

static int add_running(progress *p, const char *path, const char *name) {
    claim_state state;
    if (claim_read(path, &state) || !state.lives) return 0;
    progress_running *longer = realloc(p->running, (p->n_running + 1) * sizeof *longer);
    if (!longer) return -1;
    p->running = longer;
    progress_running *one = &p->running[p->n_running++];
    snprintf(one->name, sizeof one->name, "%.16s", name);
    one->claim = state;
    return 1;
}

void progress_parse_failed(char *text, progress_failed *failed) {
    char *line = text, *field[4] = {"", "", "", ""};
    for (int i = 0; i < 4 && line; i++) field[i] = strsep(&line, "\n");
    snprintf(failed->host, sizeof failed->host, "%s", field[0]);
    snprintf(failed->why, sizeof failed->why, "%s", field[2]);
    snprintf(failed->about, sizeof failed->about, "%s", field[3]);
}

static int add_failed(progress *p, const char *path, const char *name) {
    char text[8192] = "";
    struct stat st;
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    const int bad = fstat(fileno(f), &st);
    fclose(f);
    if (bad) return 0;
    if (!p->n_failed) p->now = claim_time_there(path);
    progress_failed *longer = realloc(p->failed, (p->n_failed + 1) * sizeof *longer);
    if (!longer) return -1;
    p->failed = longer;
    progress_failed *one = &p->failed[p->n_failed++];
    snprintf(one->name, sizeof one->name, "%.16s", name);
    progress_parse_failed(text, one);
    one->ago = p->now > st.st_mtime ? (double)(p->now - st.st_mtime) : 0.0;
    return 0;
}

static int note_file(progress *p, found *f, const char *folder, const char *name) {
    char path[2 * JOB_PATH];
    if (strspn(name, "0123456789abcdef") < JOB_NAME - 1) return 0;
    const char *ending = name + JOB_NAME - 1;
    char digits[JOB_NAME];
    snprintf(digits, sizeof digits, "%.16s", name);
    const uint64_t id = strtoull(digits, NULL, 16);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!strcmp(ending, ".json")) return names_add(&f->done, id) < 0;
    if (!strcmp(ending, ".safetensors")) return names_add(&f->kept, id) < 0;
    if (!strncmp(ending, ".rung-", 6)) return names_add(&f->at_rung, id) < 0;
    if (!strcmp(ending, ".failed")) return add_failed(p, path, name) < 0;
    if (strcmp(ending, ".claim")) return 0;
    const int lives = add_running(p, path, name);
    return lives < 0 || (lives && names_add(&f->claimed, id) < 0);
}

static int read_below(progress *p, found *f, const char *folder) {
    DIR *d = opendir(folder);
    int bad = 0;
    for (struct dirent *e; d && !bad && (e = readdir(d));) bad = note_file(p, f, folder, e->d_name);
    if (d) closedir(d);
    return bad;
}

// Names that are in a and in none of the others.
static size_t count(const names *a, const names *b, const names *c, const names *d) {
    size_t n = 0;
    for (size_t i = 0; i < a->room; i++)
        n += a->at[i] && !names_have(b, a->at[i]) && !names_have(c, a->at[i]) && !names_have(d, a->at[i]);
    return n;
}

// A job that failed and is done, or at work again, has not failed.
static void forget_failed(progress *p, const found *f) {
    size_t kept = 0;
    for (size_t i = 0; i < p->n_failed; i++) {
        const uint64_t id = strtoull(p->failed[i].name, NULL, 16);
        if (!names_have(&f->done, id) && !names_have(&f->claimed, id)) p->failed[kept++] = p->failed[i];
    }
    p->n_failed = kept;
}

int progress_of(progress *p, const char *folder) {
    char path[JOB_PATH];
    found f = {0};
    int bad = 0;
    *p = (progress){0};
    DIR *d = opendir(folder);
    if (!d) return cli_fail("%s cannot be read: %s", folder, strerror(errno));
    for (struct dirent *e; !bad && (e = readdir(d));)
        if (strlen(e->d_name) == 2 && strspn(e->d_name, "0123456789abcdef") == 2 &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
            bad = read_below(p, &f, path);
    closedir(d);
    p->begun = count(&f.kept, &f.done, &f.claimed, &f.done);
    p->left_behind = count(&f.at_rung, &f.done, &f.claimed, &f.kept);
    forget_failed(p, &f);
    names_free(&f.done), names_free(&f.kept), names_free(&f.claimed), names_free(&f.at_rung);
    return bad ? cli_fail("out of memory") : 0;
}

void progress_free(progress *p) {
    free(p->running);
    free(p->failed);
    *p = (progress){0};
}

// How many jobs the plan of a line has, the first time that it is named; 0: it has none, or not again.
static size_t planned(const char *line, const char *folder, names *seen) {
    const char *at = strstr(line, " --plan ");
    char name[JOB_NAME];
    plan p;
    if (!at) return 0;
    snprintf(name, sizeof name, "%s", at + strlen(" --plan "));
    if (names_add(seen, strtoull(name, NULL, 16)) != 1) return 0;
    const size_t n = plan_open(&p, folder, name) ? 0 : p.n;
    plan_free(&p);
    return n;
}

size_t progress_count(char *at, const char *folder) {
    size_t n = 0, script;
    names seen = {0}, plans = {0};
    for (char *line; (line = strsep(&at, "\n"));) {
        int whole = 0; // sscanf counts a number also where other words follow it
        if (sscanf(line, "# %9zu jobs in %n", &script, &whole) == 1 && whole) n = script;
        if (strncmp(line, "seqmix job ", 11)) continue;
        if (folder && strstr(line, " --plan "))
            n += planned(line, folder, &plans);
        else
            n += names_add(&seen, hash_bytes(HASH_START, line, strlen(line))) == 1;
    }
    names_free(&seen);
    names_free(&plans);
    return n;
}

size_t progress_jobs(const char *path, const char *folder) {
    size_t size;
    char *text = cli_read_file(path, &size);
    if (!text) return 0;
    text[size] = 0; // there is room for it
    const size_t n = progress_count(text, folder);
    free(text);
    return n;
}
