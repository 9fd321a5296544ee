// stored.c: see stored.h.
#include "stored.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void stored_free(stored *s) {
    for (size_t i = 0; i < s->rows; i++) json_free(s->row[i]);
    free(s->row);
    *s = (stored){0};
}

// What decides what is trained and how it is judged, of its first line.
static int is_of_today(const json *head, const reproduction *t, int quick, const char *path) {
    const char *const words[][2] = {{"table", t->name}, {"common", t->common}, {"measure", t->measure}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(json_text(head, words[i][0]), words[i][1]))
            return cli_fail("reproduce: --from %s: its first line has %s '%s', where this table has '%s'",
                            path, words[i][0], json_text(head, words[i][0]), words[i][1]);
    const struct {
        const char *key;
        long asked;
    } counts[] = {{"seeds", quick ? 1 : t->seeds}, {"eval", t->eval}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const double found = json_number(head, counts[i].key);
        if (found != (double)counts[i].asked)
            return cli_fail("reproduce: --from %s: its first line has %s %g, where this table has %ld", path,
                            counts[i].key, found, counts[i].asked);
    }
    return 0;
}

static int read_lines(stored *s, const reproduction *t, int quick, const char *path, const char *text,
                      size_t size) {
    smx_error e = {0};
    size_t line = 0;
    for (const char *at = text, *end = text + size; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t n = (size_t)((stop ? stop : end) - at);
        json *one = json_parse(at, n, &e);
        if (!one) return cli_fail("reproduce: --from %s: line %zu: %s", path, line + 1, e.message);
        at += n + 1;
        int status = line ? 0 : is_of_today(one, t, quick, path);
        if (!status && json_get(one, "row")) {
            json **more = realloc(s->row, (s->rows + 1) * sizeof *more);
            if (more) {
                s->row = more;
                s->row[s->rows++] = one;
                continue;
            }
            status = cli_fail("out of memory");
        }
        json_free(one);
        if (status) return status;
    }
    return line ? 0 : cli_fail("reproduce: --from %s: it is empty", path);
}

int stored_read(stored *s, const reproduction *t, int quick, const char *path) {
    size_t size;
    *s = (stored){0};
    char *text = cli_read_file(path, &size);
    if (!text) return 2;
    const int status = read_lines(s, t, quick, path, text, size);
    free(text);
    return status;
}

static const json *nth(const json *array, long i) {
    const json *v = array && array->type == JSON_ARRAY ? array->child : NULL;
    while (v && i--) v = v->next;
    return v;
}
static double number_of(const json *v) { return v && v->type == JSON_NUMBER ? v->number : NAN; }
static const char *digest_of(const json *rate, long seed) {
    const json *v = nth(json_get(rate, "digests"), seed);
    return v && v->type == JSON_STRING && strlen(v->string) == 16 &&
                   strspn(v->string, "0123456789abcdef") == 16
               ? v->string
               : "";
}

size_t stored_take(const stored *s, const reproduced_row *row, reproduced *is) {
    const json *line = NULL;
    size_t held = 0, taken = 0;
    for (size_t i = 0; i < s->rows && !line; i++)
        if (!strcmp(json_text(s->row[i], "row"), row->name) &&
            !strcmp(json_text(s->row[i], "config"), row->config))
            line = s->row[i];
    for (size_t r = 0; line && r < is->rates; r++) {
        const json *rate = json_get(json_get(line, "rates"), is->rate[r]);
        for (long i = 0; i < is->seeds; i++) {
            const char *digest = digest_of(rate, i);
            held += *digest != 0;
            if (!*digest || *is->digest[r][i]) continue;
            memcpy(is->digest[r][i], digest, sizeof is->digest[r][i]);
            is->value[r][i] = number_of(nth(json_get(rate, "values"), i));
            is->choice[r][i] = number_of(nth(json_get(rate, "choices"), i));
            taken++;
        }
    }
    size_t weights;
    if (!taken) return 0;
    const double seconds = json_number(line, "seconds");
    if (isfinite(seconds)) is->seconds += seconds * (double)taken / (double)held;
    if (json_size(json_get(line, "weights"), &weights)) is->params = weights;
    return taken;
}
