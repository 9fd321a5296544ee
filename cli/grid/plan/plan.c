// plan.c: see plan.h.
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "kernels/core/hash.h"
#include "model/base/number.h"

#define FORMAT "seqmix-plan 2"

// ---- The text -------------------------------------------------------------------------------------------

// "1/3" or "0.25": above 0 and at most 1; 0 where it is none.
static double read_share(const char *text, const char **end) {
    char *at;
    double x = number_read(text, &at);
    if (at > text && *at == '/') {
        const char *below = at + 1;
        const double y = number_read(below, &at);
        x = at > below && y > 0.0 ? x / y : 0.0;
    }
    *end = at;
    return at > text && x > 0.0 && x <= 1.0 ? x : 0.0;
}

// ":2" after a share, or nothing, which is all of them: 0.
static size_t read_few(const char *text, const char **end) {
    *end = text;
    if (*text != ':') return 0;
    const size_t digits = strspn(text + 1, "0123456789");
    const size_t few = digits && digits <= 9 ? (size_t)atol(text + 1) : 0;
    if (few) *end = text + 1 + digits; // else what follows is no comma
    return few;
}

// "~0.03" after that, or nothing: 0.
static double read_within(const char *text, const char **end) {
    char *at;
    *end = text;
    if (*text != '~') return 0.0;
    const double x = number_read(text + 1, &at);
    if (at == text + 1 || !(x > 0.0 && x <= 1e9)) return 0.0; // what follows is no comma
    *end = at;
    return x;
}

// Adds the rung x, of so many seeds: 0, or -1: it is none above the last.
static int add_rung(plan *p, double x, size_t few, double within) {
    const size_t n = p->n_rungs;
    if (n == MOST_RUNGS || !(x <= 1.0) || !(x > (n ? p->rungs[n - 1] : 0.0))) return -1;
    if (x == 1.0 && (few || within > 0.0)) return -1;
    if (n && few && (!p->few[n - 1] || few < p->few[n - 1])) return -1;
    p->rungs[n] = x;
    p->few[n] = few;
    p->within[n] = within;
    p->n_rungs++;
    return 0;
}

int plan_read_rungs(plan *p, const char *rungs, const char *keep, size_t seeds) {
    const char *at = rungs, *end;
    int whole = 0;
    for (p->n_rungs = 0; !whole && p->n_rungs < MOST_RUNGS; at = end + 1) {
        const double x = read_share(at, &end);
        const size_t few = read_few(end, &end);
        const double within = read_within(end, &end);
        if (x == 0.0 || (*end && *end != ',') || few > seeds || add_rung(p, x, few, within)) break;
        whole = !*end;
    }
    if (!whole || p->n_rungs < 2 || p->rungs[p->n_rungs - 1] != 1.0)
        return cli_fail(
            "grid: --rungs %.60s is not allowed: it must be 2 to %d shares of the steps, each above the one "
            "before, the last 1, such as 0.15,0.65,1; a colon after a share says how many of the grid's %zu seeds "
            "train up to it, never fewer than before; ~0.03 behind it, that those go on who are within 0.03 of the "
            "best, such as 0.1:1,0.7:1~0.03,1",
            rungs, MOST_RUNGS, seeds);
    p->keep = read_share(keep, &end);
    if (p->keep == 0.0 || p->keep == 1.0 || *end)
        return cli_fail("grid: --keep %.40s is not allowed: it must be a share between 0 and 1, such as 1/2",
                        keep);
    return 0;
}

int plan_add(plan *p, const char *config_text, uint64_t steps, const char *name) {
    plan_rival *longer = realloc(p->rivals, (p->n + 1) * sizeof *longer);
    if (longer) p->rivals = longer;
    plan_rival one = {.config = longer ? strdup(config_text) : NULL, .steps = name ? steps : 0};
    if (!one.config) return cli_fail("out of memory");
    if (name) snprintf(one.name, sizeof one.name, "%s", name);
    p->rivals[p->n++] = one;
    return 0;
}

void plan_free(plan *p) {
    for (size_t i = 0; i < p->n; i++) free(p->rivals[i].config);
    free(p->rivals);
    *p = (plan){0};
}

char *plan_text(const plan *p, size_t *size) {
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) return NULL;
    fputs(FORMAT "\nrungs", to);
    for (size_t i = 0; i < p->n_rungs; i++) {
        fprintf(to, " %.17g", p->rungs[i]);
        if (p->few[i]) fprintf(to, ":%zu", p->few[i]);
        if (p->within[i] > 0.0) fprintf(to, "~%.17g", p->within[i]);
    }
    fprintf(to, "\nkeep %.17g\neval %ld\nevery %ld\nseeds %zu\n", p->keep, p->eval, p->every, p->seeds);
    for (size_t i = 0; i < p->n; i++) {
        const plan_rival *r = &p->rivals[i];
        if (*r->name) fprintf(to, "%s %llu ", r->name, (unsigned long long)r->steps);
        fprintf(to, "%s\n", r->config);
    }
    return fclose(to) ? free(text), NULL : text;
}

static void name_of(char name[JOB_NAME], const char *text, size_t size) {
    snprintf(name, JOB_NAME, "%016llx", (unsigned long long)hash_bytes(HASH_START, text, size));
}

static int file_of(const char *folder, const char *name, char path[JOB_PATH]) {
    return snprintf(path, JOB_PATH, "%s/plans/%s.plan", folder, name) < JOB_PATH
               ? 0
               : cli_fail("grid: --out: the path is too long");
}

int plan_leave(plan *p, const char *folder) {
    char path[JOB_PATH], place[JOB_PATH];
    size_t size;
    struct stat st;
    char *text = plan_text(p, &size);
    if (!text) return cli_fail("out of memory");
    name_of(p->name, text, size);
    int status = file_of(folder, p->name, path);
    if (!status && stat(path, &st)) {
        snprintf(place, sizeof place, "%s/plans", folder);
        status = cli_make_folders(place, "grid: --out") ? 2 : cli_write_shared(path, text, size);
    }
    free(text);
    return status;
}

// The next line of *at, ended in place; NULL where there is none.
static char *next_line(char **at) {
    char *line = *at, *end = strchr(line, '\n');
    if (!end) return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

// The number of a line "key 12", at least `least`; -1: it is no such line.
static long count_of(const char *line, const char *key, long least) {
    const size_t n = strlen(key);
    if (!line || strncmp(line, key, n) || line[n] != ' ') return -1;
    const char *digits = line + n + 1;
    const size_t many = strspn(digits, "0123456789");
    if (!many || many > 10 || digits[many]) return -1;
    const long x = atol(digits);
    return x < least ? -1 : x;
}

// "CONFIG", or "NAME STEPS CONFIG".
static int add_line(plan *p, char *line) {
    enum { DIGITS = JOB_NAME - 1 };
    if (strspn(line, "0123456789abcdef") != DIGITS || line[DIGITS] != ' ') return plan_add(p, line, 0, NULL);
    char *end;
    const uint64_t steps = strtoull(line + DIGITS + 1, &end, 10);
    if (!steps || steps > UINT64_C(1) << 52 || *end != ' ' || line[DIGITS + 1] == '-') return -1;
    line[DIGITS] = 0;
    return plan_add(p, end + 1, steps, line);
}

int plan_parse(plan *p, char *at) {
    char *line = next_line(&at), *end;
    if (!line || strcmp(line, FORMAT) || !(line = next_line(&at)) || strncmp(line, "rungs", 5)) return -1;
    for (line += 5; *line == ' '; line = end) {
        const double x = strtod(line, &end);
        const char *after = end;
        const size_t few = read_few(after, &after);
        const double within = read_within(after, &after);
        if (add_rung(p, x, few, within)) return -1;
        end += after - end;
    }
    if (*line || p->n_rungs < 2 || p->rungs[p->n_rungs - 1] != 1.0) return -1;
    if (!(line = next_line(&at)) || strncmp(line, "keep ", 5)) return -1;
    p->keep = strtod(line + 5, &end);
    if (!(p->keep > 0.0 && p->keep < 1.0) || *end) return -1;
    p->eval = count_of(next_line(&at), "eval", 1);
    p->every = count_of(next_line(&at), "every", 0);
    const long seeds = count_of(next_line(&at), "seeds", 1);
    if (p->eval < 0 || p->every < 0 || seeds < 0) return -1;
    p->seeds = (size_t)seeds;
    for (size_t r = 0; r < p->n_rungs; r++)
        if (p->few[r] > p->seeds) return -1;
    while ((line = next_line(&at)))
        if (add_line(p, line)) return -1;
    return !*at && p->n && p->n % p->seeds == 0 ? 0 : -1;
}

int plan_open(plan *p, const char *folder, const char *name) {
    char path[JOB_PATH], right[JOB_NAME];
    size_t size;
    *p = (plan){0};
    if (file_of(folder, name, path)) return 2;
    char *text = cli_read_file(path, &size);
    if (!text) return 2;
    name_of(right, text, size);
    text[size] = 0; // there is room for it
    snprintf(p->name, sizeof p->name, "%s", right);
    const int bad = strcmp(right, name) || strlen(text) != size || plan_parse(p, text);
    free(text);
    return bad ? cli_fail("%s is no whole plan: seqmix grid --rungs with the same grid writes it again", path)
               : 0;
}
