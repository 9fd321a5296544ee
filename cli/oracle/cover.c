// cover.c: see cover.h.
#include "cover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"

const char *const cover_factors[] = {"mode", "rows",  "heads", "columns", "batch",
                                     "draw", "start", "call",  NULL};
enum { PIECES = 11 };
const char *const cover_calls[] = {"plain",    "no_grad", "inference", "strided", "expanded",
                                   "alone",    "without", "twice",     "thrice",  "interleaved",
                                   "refilled", "pieces",  NULL};

// The edges of blocks of 16, 64, 128 and 1024, and what lies between; the long ones with heads of at most 16
// columns.
static const int rows[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 256, 300, 512};
static const int long_rows[] = {4097, 2048, 1025, 1024};
static const int heads[] = {1, 2, 3, 8}, columns[] = {4, 8, 16, 32, 64, 128}, batch[] = {2, 1, 3, 5};
static const int bins[] = {17, 64, 65, 128, 300}; // rows, where they must be whole bins
// One more level of rows, heads, columns and batch is BETWEEN: another of these each time, between the others
// or beyond. Of blocks of 64 rows: half of one (96, 160), three quarters (112), three or five whole ones; of
// 16 rows each remainder.
enum { BETWEEN = -1, VALUES = 22 };
static const int between[COVER_FACTORS][VALUES + 1] = {[COVER_ROWS] = {96, 192, 32,  320, 40,  112, 33, 384,
                                                                       7,  160, 640, 31,  222, 768, 3,  5,
                                                                       20, 22,  25,  26,  11,  13},
                                                       [COVER_HEADS] = {6, 12, 4, 16},
                                                       [COVER_COLUMNS] = {48, 96, 24, 80, 12, 192, 256},
                                                       [COVER_BATCH] = {4, 7, 16}};
static const double most_work = 12e6;
enum { NARROW = 16, TRIES = 24, BEFORE_LONG = 30 };
#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct {
    cover *p;
    int level[COVER_FACTORS][COVER_LEVELS];
    size_t n[COVER_FACTORS];
    char met[COVER_FACTORS][COVER_LEVELS][COVER_FACTORS][COVER_LEVELS]; // by places in `level`
    char used[COVER_FACTORS][VALUES];                                   // of `between`
    signed char heads_fit[COVER_LEVELS][COVER_LEVELS]; // mode, heads: -1 no, 1 yes, 0 not tried
    smx_rng rng;
    uint64_t seed;
    size_t room;
} search;
typedef struct {
    size_t at[COVER_FACTORS];    // places in `level`
    size_t value[COVER_FACTORS]; // places in `between`, where the level is BETWEEN
} row;

// ---- The search

static int is_between(const search *s, const row *r, int f) { return s->level[f][r->at[f]] == BETWEEN; }

static cover_case case_of(const search *s, const row *r, uint64_t seed) {
    cover_case c = {{0}, seed};
    for (int f = 0; f < COVER_FACTORS; f++)
        c.is[f] = is_between(s, r, f) ? between[f][r->value[f]] : s->level[f][r->at[f]];
    return c;
}

static int fits(search *s, const cover_case *c) {
    const int mode = c->is[COVER_MODE];
    signed char *known = &s->heads_fit[mode][c->is[COVER_HEADS] % COVER_LEVELS];
    if (!(s->p->draws[mode] >> c->is[COVER_DRAW] & 1) ||
        (c->is[COVER_CALL] == PIECES && c->is[COVER_ROWS] < 2))
        return 0;
    if (c->is[COVER_HEADS] && !*known) *known = cover_takes(s->p, mode, c->is[COVER_HEADS], 8) ? 1 : -1;
    return *known >= 0;
}

static int add(search *s, const cover_case *c) {
    if (s->p->n == s->room) {
        cover_case *more = realloc(s->p->cases, (s->room = 2 * s->room + 64) * sizeof *more);
        if (!more) return -1;
        s->p->cases = more;
    }
    s->p->cases[s->p->n++] = *c;
    return 0;
}

static int new_pairs(search *s, const row *r, int take) {
    int found = 0;
    for (int i = 0; i < COVER_FACTORS; i++)
        for (int j = i + 1; j < COVER_FACTORS; j++) {
            char *met = &s->met[i][r->at[i]][j][r->at[j]];
            found += !*met;
            if (take) *met = 1;
        }
    for (int f = 0; f < COVER_FACTORS; f++)
        if (is_between(s, r, f)) {
            found += !s->used[f][r->value[f]];
            if (take) s->used[f][r->value[f]] = 1;
        }
    return found;
}

static size_t any(search *s, cover_factor f) { return rng_below(&s->rng, (uint32_t)s->n[f]); }

static size_t any_value(search *s, cover_factor f) {
    uint32_t n = 0;
    while (between[f][n]) n++;
    return n ? rng_below(&s->rng, n) : 0;
}

static int set_to(search *s, row *r, cover_factor f, int level) {
    for (size_t i = 0; i < s->n[f]; i++)
        if (s->level[f][i] == level) return r->at[f] = i, 1;
    return 0;
}

// Early on each draw once, called plainly on a few narrow heads and many rows: most faults show there, and
// where they begin.
static int add_telling(search *s) {
    for (size_t at = 0; at < s->n[COVER_DRAW]; at++)
        for (int tries = 0; tries < TRIES; tries++) {
            row r = {{0}, {0}};
            r.at[COVER_MODE] = any(s, COVER_MODE);
            r.at[COVER_DRAW] = at;
            r.at[COVER_START] = any(s, COVER_START);
            set_to(s, &r, COVER_ROWS, 512);
            set_to(s, &r, COVER_HEADS, 2);
            set_to(s, &r, COVER_COLUMNS, 16);
            set_to(s, &r, COVER_BATCH, 1);
            const cover_case c = case_of(s, &r, s->seed + 1000 * s->p->n);
            if (!fits(s, &c)) continue;
            new_pairs(s, &r, 1);
            if (add(s, &c)) return -1;
            break;
        }
    return 0;
}

// Each long length at least once; the shorter of them with several draws and ways of calling, one with two
// sequences, one with two heads.
static int add_long(search *s) {
    size_t narrow = 1;
    while (narrow < s->n[COVER_COLUMNS] && s->level[COVER_COLUMNS][narrow] <= NARROW) narrow++;
    for (int at = 0; at < (int)COUNT(long_rows); at++)
        for (int number = 0; number < (long_rows[at] < 2000 ? 3 : 1); number++)
            for (int tries = 0; tries < TRIES; tries++) {
                row r = {{0}, {0}};
                r.at[COVER_MODE] = any(s, COVER_MODE);
                r.at[COVER_COLUMNS] = rng_below(&s->rng, (uint32_t)narrow);
                r.at[COVER_START] = any(s, COVER_START);
                if (number) r.at[COVER_DRAW] = any(s, COVER_DRAW), r.at[COVER_CALL] = any(s, COVER_CALL);
                if (number == 2) set_to(s, &r, COVER_HEADS, 2);
                cover_case c = case_of(s, &r, s->seed + (uint64_t)(100 * at + number + 1));
                c.is[COVER_ROWS] = long_rows[at];
                c.is[COVER_BATCH] = number == 1 && s->n[COVER_BATCH] > 1 ? 2 : 1;
                if (!fits(s, &c)) continue;
                if (add(s, &c)) return -1;
                break;
            }
    return 0;
}

typedef struct {
    unsigned char i, a, j, b;
} pair;

static size_t all_pairs(search *s, pair *to) {
    size_t n = 0;
    for (int i = 0; i < COVER_FACTORS; i++)
        for (int j = i + 1; j < COVER_FACTORS; j++)
            for (size_t a = 0; a < s->n[i]; a++)
                for (size_t b = 0; b < s->n[j]; b++, n++)
                    if (to)
                        to[n] =
                            (pair){(unsigned char)i, (unsigned char)a, (unsigned char)j, (unsigned char)b};
    for (size_t k = n; to && k-- > 1;) {
        const size_t other = rng_below(&s->rng, (uint32_t)k + 1);
        const pair keep = to[k];
        to[k] = to[other];
        to[other] = keep;
    }
    return n;
}

// The next case: of those tried for a pair, that with most pairs that did not meet yet for its work; 0 where
// none fits (too large, or without a meaning). value: in `between`, of the pair's first; < 0: any.
static int find_next(search *s, const pair *w, int value, row *next) {
    double best = -INFINITY;
    for (int tries = 0; tries < TRIES; tries++) {
        row r;
        for (int f = 0; f < COVER_FACTORS; f++) {
            r.at[f] = f == w->i ? w->a : f == w->j ? w->b : any(s, (cover_factor)f);
            r.value[f] = f == w->i && value >= 0 ? (size_t)value : any_value(s, (cover_factor)f);
        }
        const cover_case c = case_of(s, &r, 0);
        const double worth = new_pairs(s, &r, 0) - 3 * cover_work(&c) / most_work;
        if (worth > best && cover_work(&c) <= most_work && fits(s, &c)) best = worth, *next = r;
    }
    return best > -INFINITY;
}

static int add_next(search *s, const row *r) {
    const cover_case c = case_of(s, r, s->seed + 1000 * s->p->n);
    new_pairs(s, r, 1);
    return add(s, &c);
}

// What no case had of `between`.
static int add_unused(search *s) {
    for (int f = 0; f < COVER_FACTORS; f++)
        for (int v = 0; s->level[f][s->n[f] - 1] == BETWEEN && between[f][v]; v++) {
            const unsigned char factor = (unsigned char)f, last = (unsigned char)(s->n[f] - 1);
            const pair alone = {factor, last, factor, last};
            row r;
            if (!s->used[f][v] && find_next(s, &alone, v, &r) && add_next(s, &r)) return -1;
        }
    return 0;
}

static int find_cases(search *s) {
    row r = {{0}, {0}};
    r.at[COVER_ROWS] = s->n[COVER_ROWS] / 2;
    const cover_case c = case_of(s, &r, s->seed);
    const int has_long = s->n[COVER_ROWS] == COUNT(rows) + 1;
    pair *waiting = malloc(all_pairs(s, NULL) * sizeof *waiting + 1);
    int status = waiting ? 0 : -1, told = 0;
    const size_t n = waiting ? all_pairs(s, waiting) : 0;
    if (!status && fits(s, &c)) new_pairs(s, &r, 1), status = add(s, &c);
    if (!status) status = add_telling(s);
    for (size_t k = 0; k < n && !status; k++) {
        const pair *w = &waiting[k];
        if (s->met[w->i][w->a][w->j][w->b]) continue;
        s->met[w->i][w->a][w->j][w->b] = 1;
        if (find_next(s, w, -1, &r)) status = add_next(s, &r);
        if (!status && has_long && !told && s->p->n >= BEFORE_LONG) told = 1, status = add_long(s);
    }
    if (!status && has_long && !told) status = add_long(s);
    if (!status) status = add_unused(s);
    free(waiting);
    return status;
}

static void set_levels(search *s, cover_factor f, const int *of, size_t n) {
    s->n[f] = n;
    memcpy(s->level[f], of, n * sizeof *of);
    if (n > 1 && *between[f]) s->level[f][s->n[f]++] = BETWEEN;
}

static void find_levels(search *s) {
    const cover_for *w = &s->p->what;
    const oracle_mechanism *m = w->mechanism;
    static const int none = 0, one = 1, plain = 0;
    const int is_free = (cover_has(m, "D") && !cover_is_fixed(s->p, "D")) ||
                        (cover_has(m, "dk") && !cover_is_fixed(s->p, "dk")) ||
                        (cover_has(m, "d") && !cover_is_fixed(s->p, "d"));
    int H = cover_has(m, "H")    ? (int)cover_given(s->p, 0, "H")
            : cover_has(m, "Hq") ? (int)cover_given(s->p, 0, "Hv")
                                 : 1,
        width = (int)cover_given(s->p, 0, "D");
    if (H < 1) H = 1;
    const int sized = cover_takes(s->p, 0, H, 8);
    width = width ? width / H : (int)cover_given(s->p, 0, cover_has(m, "dk") ? "dk" : "d");
    const int sequences = oracle_has_sequences(m);
    for (size_t i = 0; i < w->n_modes; i++) s->level[COVER_MODE][s->n[COVER_MODE]++] = (int)i;
    if (!cover_has(m, "L"))
        set_levels(s, COVER_ROWS, &one, 1);
    else if (cover_has(m, "n_bins") || cover_has(m, "C"))
        set_levels(s, COVER_ROWS, bins, COUNT(bins));
    else
        set_levels(s, COVER_ROWS, rows, COUNT(rows));
    if (!sized) {
        set_levels(s, COVER_HEADS, &none, 1);
        set_levels(s, COVER_COLUMNS, &none, 1);
    } else {
        const int same = !cover_heads(s->p);
        set_levels(s, COVER_HEADS, same ? &H : heads, same ? 1 : COUNT(heads));
        set_levels(s, COVER_COLUMNS, is_free ? columns : &width, is_free ? COUNT(columns) : 1);
    }
    set_levels(s, COVER_BATCH, sequences ? batch : &one, sequences ? COUNT(batch) : 1);
    unsigned draws = 0;
    for (size_t i = 0; i < w->n_modes; i++) draws |= s->p->draws[i];
    for (int i = 0; cover_draws[i]; i++)
        if (draws >> i & 1) s->level[COVER_DRAW][s->n[COVER_DRAW]++] = i;
    for (int i = 0; i < 1 + !!w->start; i++) s->level[COVER_START][s->n[COVER_START]++] = i;
    if (!w->calls) set_levels(s, COVER_CALL, &plain, 1);
    for (int i = 0; cover_calls[i]; i++)
        if (w->calls >> i & 1) s->level[COVER_CALL][s->n[COVER_CALL]++] = i;
}

int cover_open(cover *p, const cover_for *what, uint64_t seed) {
    *p = (cover){.what = *what};
    search *s = calloc(1, sizeof *s);
    if (!s) return -1;
    s->p = p;
    s->seed = seed;
    s->rng = rng_open(seed, 65, hash_bytes(HASH_START, what->mechanism->name, strlen(what->mechanism->name)));
    cover_find_draws(p);
    find_levels(s);
    const int status = find_cases(s);
    free(s);
    return status;
}

void cover_close(cover *p) {
    free(p->cases);
    p->cases = NULL;
    p->n = 0;
}

int cover_has_room(const cover_pace *p, const cover_case *next) {
    if (!p->cases) return 1;
    const double rate = (p->used - (double)p->cases * p->least) / p->work;
    return p->used + p->least + rate * cover_work(next) <= p->budget;
}

void cover_took(cover_pace *p, const cover_case *c, double seconds) {
    if (!p->cases || seconds < p->least) p->least = seconds;
    p->used += seconds;
    p->work += cover_work(c);
    p->cases++;
}

// ---- What the wrong cases share

static void name_level(char *text, size_t size, int factor, int level, const char *const *modes) {
    if (factor == COVER_DRAW || factor == COVER_CALL)
        cover_append(text, size, "%s", (factor == COVER_DRAW ? cover_draws : cover_calls)[level]);
    else if (factor == COVER_MODE && modes)
        cover_append(text, size, "%s", modes[level]);
    else if (factor == COVER_START)
        cover_append(text, size, level ? "yes" : "no");
    else
        cover_append(text, size, "%d", level);
}

// How many levels of the factor right cases have.
static int right_levels(const cover_case *cases, const char *wrong, size_t n, int factor) {
    int found = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (wrong[first] || cases[first].is[factor] != cases[i].is[factor])
            if (++first > i) break;
        found += !wrong[i] && first == i;
    }
    return found;
}

static int seen(const cover_case *cases, const char *wrong, size_t n, int factor, int level, int in_wrong) {
    for (size_t i = 0; i < n; i++)
        if (!wrong[i] == !in_wrong && cases[i].is[factor] == level) return 1;
    return 0;
}

void cover_only(char *text, size_t size, const cover_case *cases, const char *wrong, size_t n,
                const char *const *modes) {
    static const char *const words[] = {[COVER_DRAW] = "the draw is",
                                        [COVER_START] = "start states are given:",
                                        [COVER_CALL] = "it is called"};
    *text = 0;
    for (int f = 0; f < COVER_FACTORS; f++) {
        int levels[4], found = 0, least = 0, top = -1, shared = 0;
        for (size_t i = 0; i < n; i++) {
            const int level = cases[i].is[f];
            if (!wrong[i]) {
                if (level > top) top = level;
                continue;
            }
            shared |= seen(cases, wrong, n, f, level, 0);
            if (found == 0 || level < least) least = level;
            int at = 0;
            while (at < found && at < 4 && levels[at] != level) at++;
            if (at == found && found < 4) levels[found++] = level;
        }
        if (top < 0 || shared || !found) continue;
        for (int a = 0; a < found; a++)
            for (int b = a + 1; b < found; b++)
                if (levels[b] < levels[a]) {
                    const int keep = levels[a];
                    levels[a] = levels[b], levels[b] = keep;
                }
        const int above = (f == COVER_ROWS || f == COVER_COLUMNS) && found > 1 && least > top;
        if (!above && (found > 3 || found > right_levels(cases, wrong, n, f))) continue; // says little
        cover_append(text, size, "%s%s ", *text ? "; " : "", f >= COVER_DRAW ? words[f] : cover_factors[f]);
        if (above)
            cover_append(text, size, "above %d", top);
        else
            for (int i = 0; i < found; i++) {
                cover_append(text, size, "%s", i ? ", " : f >= COVER_DRAW ? "" : "= ");
                name_level(text, size, f, levels[i], modes);
            }
    }
}
