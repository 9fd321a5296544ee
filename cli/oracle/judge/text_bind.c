// text_bind.c: see text_bind.h.
#include "text_bind.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/base/error.h"

typedef struct {
    const char *at;
    size_t n;
} word;
typedef enum { LINE, SCAN, START } line_kind; // LINE: name = ..., or the last, without a name
typedef struct {
    const char *from, *to; // a scan with its lines
    line_kind kind;
    word name; // what is assigned, or starts
    int keep;
} statement;
enum { MOST_STATEMENTS = 400, MOST_WORDS = 2000 };
typedef struct {
    statement list[MOST_STATEMENTS];
    size_t n;
    word needed[MOST_WORDS];
    size_t n_needed;
    int full; // there are more lines or names than that
} reading;

static int begins(char c) { return isalpha((unsigned char)c) || c == '_'; }
static int goes_on(char c) { return isalnum((unsigned char)c) || c == '_'; }
static int is(word w, const char *name) { return strlen(name) == w.n && !memcmp(w.at, name, w.n); }
// The next name from *at on, comments and numbers passed over; none: n is 0.
static word next_word(const char **at, const char *end) {
    while (*at < end && !begins(**at)) {
        if (**at == '#')
            while (*at < end && **at != '\n') ++*at;
        else if (isdigit((unsigned char)**at))
            while (*at < end && (goes_on(**at) || **at == '.')) ++*at;
        else
            ++*at;
    }
    word w = {*at, 0};
    while (*at < end && goes_on(**at)) ++*at;
    w.n = (size_t)(*at - w.at);
    return w;
}
static int mentions(const char *from, const char *end, const char *name) {
    for (word w = next_word(&from, end); w.n; w = next_word(&from, end))
        if (is(w, name)) return 1;
    return 0;
}
static const char *blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at;
}
static const char *line_end(const char *at) {
    while (*at && *at != '\n') at++;
    return at;
}
// NAME of `NAME = ...` on the line, n 0: it assigns nothing.
static word assigned(const char *line, const char *end) {
    const char *at = blanks(line, end);
    word w = {at, 0};
    while (at < end && begins(*w.at) && goes_on(*at)) at++;
    w.n = (size_t)(at - w.at);
    at = blanks(at, end);
    if (!(at < end && *at == '=')) w.n = 0;
    return w;
}

static void read_text(reading *r, const char *text) {
    size_t depth = 0;
    r->n = r->n_needed = 0;
    r->full = 0;
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line_end(line);
        const char *at = blanks(line, end);
        if (at == end || *at == '#') continue;
        statement *last = r->n ? &r->list[r->n - 1] : NULL;
        if (last && last->kind == SCAN && (size_t)(at - line) > depth) {
            last->to = end;
            continue;
        }
        r->full = r->n == MOST_STATEMENTS;
        if (r->full) return;
        statement *s = &r->list[r->n++];
        *s = (statement){line, end, LINE, assigned(line, end), 0};
        depth = (size_t)(at - line);
        const char *behind = at;
        const word first = next_word(&behind, end);
        behind = blanks(behind, end);
        if (s->name.n || first.at != at) continue;
        if (is(first, "scan") && behind < end && begins(*behind)) s->kind = SCAN;
        if (is(first, "start") && behind < end && *behind == '(') {
            s->kind = START;
            s->name = next_word(&behind, end);
        }
    }
}
// Whether a scan's states (1), or also what its lines assign, are named so.
static int scan_makes(const statement *s, const char *name, int states_alone) {
    const char *at = s->from;
    next_word(&at, s->to); // scan
    for (word w = next_word(&at, s->to); w.n && !is(w, "over"); w = next_word(&at, s->to)) {
        if (is(w, name)) return 1;
        while (at < s->to && *at == '[') // its sizes
            while (at < s->to && *at++ != ']') {
            }
    }
    for (const char *line = line_end(s->from); !states_alone && line < s->to; line = line_end(line + 1))
        if (is(assigned(line + 1, line_end(line + 1)), name)) return 1;
    return 0;
}

int text_assigns(const char *text, const char *name) {
    reading r;
    read_text(&r, text);
    for (size_t i = 0; i < r.n; i++)
        if (r.list[i].kind == LINE && is(r.list[i].name, name)) return 1;
    return 0;
}
int text_has_state(const char *text, const char *name) {
    reading r;
    read_text(&r, text);
    for (size_t i = 0; i < r.n; i++)
        if (r.list[i].kind == SCAN && scan_makes(&r.list[i], name, 1)) return 1;
    return 0;
}
int text_multiplies(const char *text, const char *name) {
    const char *end = text + strlen(text), *at = text;
    for (word w = next_word(&at, end); w.n; w = next_word(&at, end)) {
        const char *before = w.at;
        while (before > text && before[-1] == ' ') before--;
        if (is(w, name) && before > text && before[-1] == '@') return 1;
    }
    return 0;
}

static void need(reading *r, const char *from, const char *end) {
    for (word w = next_word(&from, end); w.n; w = next_word(&from, end)) {
        r->full |= r->n_needed == MOST_WORDS;
        if (!r->full) r->needed[r->n_needed++] = w;
    }
}
static int is_needed(const reading *r, const char *name) {
    for (size_t i = 0; i < r->n_needed; i++)
        if (is(r->needed[i], name)) return 1;
    return 0;
}
static const text_bound *bound(const text_names *names, word w) {
    for (size_t i = 0; i < names->n; i++)
        if (is(w, names->list[i].name)) return &names->list[i];
    return NULL;
}
static int is_made(const text_names *names, word w) {
    for (size_t i = 0; i < names->n_made; i++)
        if (is(w, names->made[i].name)) return 1;
    return 0;
}
static void spell(char *to, size_t size, word w) { snprintf(to, size, "%.*s", (int)w.n, w.at); }

// From the output backwards: what is used by what is kept.
static void choose(reading *r, const text_names *names) {
    char name[64];
    need(r, names->output, names->output + strlen(names->output));
    for (size_t i = r->n; i-- > 0;) {
        statement *s = &r->list[i];
        if (s->kind == SCAN) {
            for (size_t k = 0; k < r->n_needed && !s->keep; k++) {
                spell(name, sizeof name, r->needed[k]);
                s->keep = scan_makes(s, name, 0);
            }
        } else if (s->kind == LINE && s->name.n && !bound(names, s->name) && !is_made(names, s->name)) {
            spell(name, sizeof name, s->name);
            s->keep = is_needed(r, name);
        }
        if (s->keep) need(r, s->name.n ? s->name.at + s->name.n : s->from, s->to);
    }
    for (size_t i = 0; i < names->n_made; i++)
        if (is_needed(r, names->made[i].name))
            need(r, names->made[i].is, names->made[i].is + strlen(names->made[i].is));
    for (size_t i = 0; i < r->n; i++) { // how weights and states start
        statement *s = &r->list[i];
        if (s->kind != START) continue;
        const text_bound *b = bound(names, s->name);
        spell(name, sizeof name, s->name);
        s->keep = is_needed(r, name) && !(b && b->kind != TEXT_WEIGHT);
    }
}

typedef struct {
    char *to;
    size_t n, size;
} writer;
static void say(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(w->to + w->n, w->size - w->n, format, list);
    va_end(list);
    w->n += (size_t)n < w->size - w->n ? (size_t)n : w->size - w->n - 1;
}
// As it stands, but for `width`, which was x's, and for x.
static void copy(writer *w, const char *from, const char *end, const text_names *names) {
    const char *at = from;
    for (word v = next_word(&at, end); v.n; v = next_word(&at, end)) {
        const int x = names->renamed && is(v, "x");
        if (!x && !is(v, "width")) continue;
        say(w, "%.*s", (int)(v.at - from), from);
        if (x)
            say(w, "x_in");
        else
            say(w, "%zu", names->inner);
        from = at;
    }
    say(w, "%.*s", (int)(end - from), from);
}

int text_bind(char *to, size_t size, const char *text, const text_names *names, smx_error *error) {
    static const char *const given[] = {"heads", "length", "filter", "width"};
    reading r;
    writer w = {to, 0, size};
    char name[64];
    read_text(&r, text);
    choose(&r, names);
    if (r.full)
        return error_say(error, "the text has more than %d lines, or reads more than %d names",
                         MOST_STATEMENTS, MOST_WORDS);
    const int own = !names->width; // x is the text's
    if (!own && !names->renamed && is_needed(&r, "x") &&
        !mentions(names->output, names->output + strlen(names->output), "x"))
        for (size_t i = 0; i < r.n; i++)
            if (r.list[i].keep && mentions(r.list[i].from, r.list[i].to, "x"))
                return error_say(
                    error,
                    "the case does not give x, which the text's line '%.*s' reads: bind what it assigns",
                    (int)(line_end(r.list[i].from) - r.list[i].from) % 60, r.list[i].from);
    for (size_t i = 0; i < r.n_needed; i++) { // numbers that the case has and the text does not assign
        spell(name, sizeof name, r.needed[i]);
        const double is_number = names->number ? names->number(names->context, name) : NAN;
        int known = isnan(is_number) || bound(names, r.needed[i]) != NULL || text_assigns(text, name) ||
                    strlen(name) != r.needed[i].n;
        for (size_t k = 0; k < i && !known; k++) known = is(r.needed[k], name);
        for (size_t k = 0; k < sizeof given / sizeof *given; k++) known |= !strcmp(name, given[k]);
        for (size_t k = 0; k < r.n && !known; k++)
            known = r.list[k].kind == SCAN && scan_makes(&r.list[k], name, 0);
        if (!known) say(&w, "%s = %.17g\n", name, is_number);
    }
    for (size_t i = 0; i < names->n; i++) {
        const text_bound *b = &names->list[i];
        if (b->kind == TEXT_START) say(&w, "start(%s, learned)\n", b->name);
        if (b->kind == TEXT_ROWS && !own && is_needed(&r, b->name))
            say(&w, "%s = columns(x, %zu, %zu)\n", strcmp(b->name, "x") ? b->name : "x_in", b->column,
                b->columns);
    }
    for (size_t i = 0; i < names->n_made; i++)
        if (is_needed(&r, names->made[i].name)) say(&w, "%s = %s\n", names->made[i].name, names->made[i].is);
    for (size_t i = 0; i < r.n; i++) {
        if (!r.list[i].keep) continue;
        copy(&w, r.list[i].from, r.list[i].to, names);
        say(&w, "\n");
    }
    const int narrow = !own && names->width > names->result;
    say(&w, narrow ? "y = join(" : "y = ");
    copy(&w, names->output, names->output + strlen(names->output), names);
    if (narrow) say(&w, ", columns(x, 0, %zu) * 0)", names->width - names->result);
    say(&w, "\n");
    return w.n + 1 < size ? 0
                          : error_say(error, "the text has more than %zu characters with its names", size);
}
