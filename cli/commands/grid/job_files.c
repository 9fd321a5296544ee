// job_files.c: the files of a job. See job_work.h.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "job_work.h"

int job_is_there(const char *path) {
    struct stat st;
    return !stat(path, &st);
}

int job_set_aside(const char *path, const char *why) {
    char to[JOB_PATH];
    for (int i = 1; i < 1000; i++) {
        if (snprintf(to, sizeof to, "%s.damaged-%d", path, i) >= (int)sizeof to) break;
        if (job_is_there(to)) continue;
        if (rename(path, to)) {
            if (errno == ENOENT) return 0; // another worker was faster
            break;
        }
        cli_note("%s %s; it is now %s, and the job is done again", path, why, to);
        return 0;
    }
    return cli_fail("%s %s, and cannot be renamed: %s", path, why, strerror(errno));
}

void job_clear_away(const job_work *w) {
    unlink(w->checkpoint);
    unlink(w->held_out_file);
    unlink(w->failed);
}

static void print_result(const result *r) {
    if (*r->stopped)
        printf("%s stopped at step %llu\n", r->name, (unsigned long long)r->step);
    else if (isnan(r->value)) // at a rung
        printf("%s step %llu, %s %.6g to choose by, digest %016llx\n", r->name, (unsigned long long)r->step,
               r->metric, r->choice, (unsigned long long)r->digest);
    else
        printf("%s %s %.6g, digest %016llx\n", r->name, r->metric, r->value, (unsigned long long)r->digest);
    fflush(stdout); // the next job may take hours
}

// 1: there is a result, and it is printed; 0: there is none; 2 with the sentence printed.
static int is_done_at(job_work *w, const char *path) {
    result r;
    char why[400];
    size_t size;
    if (!job_is_there(path)) return 0;
    char *text = cli_read_file(path, &size);
    if (!text) return job_is_there(path) ? 2 : 0;
    const int kind = result_read(&r, text, size, why, sizeof why);
    free(text);
    if (kind == RESULT_OTHER) return cli_fail("%s %s", path, why);
    if (kind == RESULT_DAMAGED) return job_set_aside(path, why) ? 2 : 0;
    const int same =
        job_is(&w->j, r.config) && r.eval == w->j.eval && r.every == w->j.every && r.data == w->j.data;
    const int over = path == w->whole, counts = !over || w->until == w->steps || *r.stopped;
    if (same && counts) print_result(&r);
    result_free(&r);
    if (!same) return cli_fail("%s is the result of another config: it was renamed, or edited", path);
    if (over) job_clear_away(w); // of a worker that was slower, and killed
    return counts;
}

int job_is_done(job_work *w) {
    const int done = w->until < w->steps ? is_done_at(w, w->path) : 0;
    return done ? done : is_done_at(w, w->whole);
}

int job_write_result(const job_work *w, const result *r) {
    size_t size;
    char *text = result_text(r, &size);
    if (!text) return cli_fail("out of memory");
    const int over = w->until == w->steps || *r->stopped;
    const int status = cli_write_shared(over ? w->whole : w->path, text, size);
    free(text);
    if (status) return status;
    if (over) job_clear_away(w);
    if (*r->stopped) cli_note("%s", r->stopped);
    print_result(r);
    return 0;
}

int job_make_folder(const job_work *w) {
    char folder[JOB_PATH];
    snprintf(folder, sizeof folder, "%s", w->path);
    *strrchr(folder, '/') = 0;
    return cli_make_folders(folder, "job: --out") ? 2 : cli_can_write(w->path);
}

void job_note_failure(const job_work *w) {
    char text[8192], host[256] = "", why[JOB_PATH];
    gethostname(host, sizeof host - 1);
    const int n = snprintf(text, sizeof text, "%s\n%lld\n%s\n%.3000s\n", host, (long long)time(NULL),
                           cli_failed(), w->j.config);
    (void)!cli_write_pieces(w->failed, &(cli_piece){text, (size_t)n}, 1, 0, why, sizeof why);
}

int job_find_paths(job_work *w) {
    const job *j = &w->j;
    const char *out = w->o.out;
    const int bad =
        w->until < w->steps ? plan_path(j, out, w->until, w->path) : job_path(j, out, ".json", w->path);
    return bad || job_path(j, out, ".json", w->whole) || job_path(j, out, ".safetensors", w->checkpoint) ||
                   job_path(j, out, ".claim", w->claim) || job_path(j, out, ".curve", w->held_out_file) ||
                   job_path(j, out, ".failed", w->failed) || job_path(j, out, ".ranks", w->ranks)
               ? cli_fail("job: --out: the path is too long; at most %d characters are allowed",
                          JOB_PATH - 40)
               : 0;
}
