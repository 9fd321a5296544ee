// syntax.c: see syntax.h. Recursive descent, one function a rule. Long because each form of the grammar
// stands beside its sentence of what was expected.
#include "syntax.h"

#include <stdio.h>
#include <string.h>

#include "model/base/error.h"
#include "model/base/number.h"

typedef struct {
    equations *e;
    const char *at, *line_start;
    unsigned line, depth;
    smx_error *error;
    // Bodies that are open: the line that opens each, and how far its lines are indented (NULL: none came
    // yet).
    size_t n_open, opener[EQUATION_BODIES];
    const double *keys; // given, or NULL
    // The if whose lines are read: how far it is indented, and what stood before it.
    struct {
        const char *at; // NULL: none
        size_t n, deeper, n_lines, n_nodes, n_open;
        unsigned line;
        uint8_t holds, empty;
    } when;
    struct {
        const char *at;
        size_t n;
    } indent[EQUATION_BODIES + 1];
} parser;

int equations_vfail(smx_error *error, unsigned line, unsigned column, const char *sentence, va_list list) {
    char text[320];
    vsnprintf(text, sizeof text, sentence, list);
    return error_about(error, "eq", "", "", "eq, line %u, column %u: %s", line, column, text);
}
int equations_fail(smx_error *error, unsigned line, unsigned column, const char *sentence, ...) {
    va_list list;
    va_start(list, sentence);
    equations_vfail(error, line, column, sentence, list);
    va_end(list);
    return -1;
}

// Letters and digits of any locale are those of ASCII.
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') p->at++;
    if (*p->at == '#')
        while (*p->at && *p->at != '\n') p->at++;
}
static unsigned column(const parser *p) { return (unsigned)(p->at - p->line_start) + 1; }

// What stands at the parser's place, for a sentence.
static const char *found(const parser *p, char *to, size_t size) {
    const unsigned char c = (unsigned char)*p->at;
    if (!c || c == '\n')
        snprintf(to, size, "end of the line");
    else if (c < 32 || c > 126)
        snprintf(to, size, "byte %u", c);
    else
        snprintf(to, size, "'%c'", c);
    return to;
}
// The name of the Greek letter at the place; NULL: there is none.
static const char *greek(const char *at, char name[12]) {
    static const char letters[] =
        "alpha   beta    gamma   delta   epsilon zeta    eta     theta   iota    kappa   lambda  "
        "mu      nu      xi      omicron pi      rho     sigma   sigma   tau     upsilon phi     "
        "chi     psi     omega   ";
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] != 0xce && c[0] != 0xcf) return NULL;
    const unsigned letter = ((c[0] & 31u) << 6 | (c[1] & 63u)) - 0x391,
                   i = letter < 25 ? letter : letter - 32;
    if (i >= 25) return NULL;
    snprintf(name, 12, "%.*s", (int)strcspn(letters + 8 * i, " "), letters + 8 * i);
    return name;
}
// What people write who know another language, and what stands here in its place.
static const char *meant(const parser *p, char to[40]) {
    static const char product[] = "; * is the product entry by entry, @ that with a matrix",
                      transposes[] = "; only a scan transposes: transpose(S)",
                      compares[] = "; nothing is compared: max(a, b), relu(x), in a scan select(c, a, b)",
                      root[] = "; a root is sqrt(x)", powers[] = "; powers are x^2, x^3",
                      hash[] = "; # begins a comment";
    static const struct {
        const char *sign, *here;
    } signs[] = {{";", "; each equation has a line of its own"},
                 {":", "; lines have no colons, and a text defines no functions"},
                 {"=", "; a line is name = value, h = h + x for h += x"},
                 {"\xc3\x97", product},
                 {"\xc2\xb7", product},
                 {"\xe2\x8a\x99", product},
                 {"\xe2\x88\x98", product},
                 {"\xe2\x8a\x97", "; in a scan outer(a, b)"},
                 {"\xe2\x88\x91", "; sum_heads(x), or cumsum(x) over the rows"},
                 {"\xe2\x88\x92", "; minus is -"},
                 {"\xc2\xb2", powers},
                 {"\xc2\xb3", powers},
                 {"\xe2\x88\x9a", root},
                 {"\xcf", "; Greek letters are spelt: phi, epsilon"},
                 {".T", transposes},
                 {"'", transposes},
                 {"<", compares},
                 {">", compares},
                 {"/", hash},
                 {"{", "; names have letters, digits and _; shift(x, 1) is the row before"},
                 {"[", "; join(a, b) has the columns of both"},
                 {"|", "; abs(x)"}};
    char letter[12];
    if (greek(p->at, letter)) {
        snprintf(to, 40, "; Greek letters are spelt: %s", letter);
        return to;
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(p->at, signs[i].sign, strlen(signs[i].sign))) return signs[i].here;
    if (is_letter(*p->at)) return "; a product needs @ or *, and there is no def, return or for";
    return *p->at == '.' && is_letter(p->at[1]) ? "; functions have no prefix: relu(x)" : "";
}
static equation_node *expected(parser *p, const char *what) {
    char is[40], here[40];
    equations_fail(p->error, p->line, column(p), "unexpected %s: expected %s%s", found(p, is, sizeof is),
                   what, meant(p, here));
    return NULL;
}

static equation_node *make(parser *p, equation_kind kind, unsigned at_column) {
    if (p->e->n_nodes == EQUATION_NODES) {
        equations_fail(p->error, p->line, at_column, "the text has more than %d parts", EQUATION_NODES);
        return NULL;
    }
    equation_node *n = &p->e->nodes[p->e->n_nodes++];
    *n = (equation_node){.kind = kind, .line = (uint16_t)p->line, .column = (uint16_t)at_column};
    return n;
}

// A name that stands at the parser's place; 0, or -1 with the error.
static int read_name(parser *p, char name[EQUATION_NAME]) {
    size_t n = 0;
    while (is_letter(p->at[n]) || is_digit(p->at[n])) n++;
    if (n >= EQUATION_NAME)
        return equations_fail(p->error, p->line, column(p),
                              "the name %.20s... has %zu letters; at most %d are allowed", p->at, n,
                              EQUATION_NAME - 1);
    memcpy(name, p->at, n);
    name[n] = 0;
    p->at += n;
    return 0;
}

static int read_number(parser *p, double *x) {
    char digits[40];
    size_t n = 0;
    for (const char *c = p->at; n + 1 < sizeof digits; c++) {
        const int sign = n && (*c == '+' || *c == '-') && (c[-1] == 'e' || c[-1] == 'E');
        if (!is_digit(*c) && *c != '.' && !sign && !(n && (*c == 'e' || *c == 'E'))) break;
        digits[n++] = *c;
    }
    digits[n] = 0;
    char *end;
    *x = number_read(digits, &end);
    if (end == digits || *end || !(*x - *x == 0.0)) return expected(p, "a number"), -1;
    p->at += n;
    return 0;
}

static equation_node *sum(parser *p); // and the blanks behind it

static equation_node *call(parser *p, equation_node *n) {
    equation_node **last = &n->first;
    n->kind = EQUATION_CALL;
    p->at++;
    skip_blanks(p);
    while (*p->at != ')') {
        char key[EQUATION_NAME] = "";
        const char *back = p->at;
        if (is_letter(*p->at)) { // a key, if = follows
            if (read_name(p, key)) return NULL;
            skip_blanks(p);
            if (*p->at == '=')
                p->at++;
            else
                p->at = back, key[0] = 0;
        }
        equation_node *argument = sum(p);
        if (!argument) return NULL;
        memcpy(argument->key, key, sizeof key);
        *last = argument;
        last = &argument->next;
        if (*p->at != ',') break;
        p->at++;
        skip_blanks(p);
        if (*p->at == ')') return expected(p, "an argument");
    }
    if (*p->at != ')') return expected(p, n->first ? "',' or ')'" : "an argument or ')'");
    p->at++;
    return n;
}

static equation_node *called(parser *p, const char *name, unsigned at) {
    equation_node *n = make(p, EQUATION_CALL, at);
    if (n) snprintf(n->name, sizeof n->name, "%s", name);
    return n;
}
// Behind x[from, at the colon.
static equation_node *slice(parser *p, equation_node *x, equation_node *from) {
    if (*p->at != ':') return expected(p, "':' (x[0:4] has the columns 0 to 3)");
    equation_node *n = called(p, "[:]", x->column);
    if (n && !from) from = make(p, EQUATION_NUMBER, column(p));
    if (!n || !from) return NULL;
    n->first = x;
    x->next = from;
    p->at++;
    skip_blanks(p);
    if (*p->at == ',') return expected(p, "']' (x[:8] is of all rows)");
    if (*p->at != ']' && !(from->next = sum(p))) return NULL;
    if (*p->at != ']') return expected(p, "']'");
    p->at++;
    return n;
}
// Of a word: [size] { [size] }, or [from:to]
static equation_node *sizes(parser *p, equation_node *n) {
    for (equation_node **last = &n->first; *p->at == '['; last = &(*last)->next) {
        p->at++;
        skip_blanks(p);
        if (last == &n->first && *p->at == ':') return slice(p, n, NULL);
        if (!(*last = sum(p))) return NULL;
        if (last == &n->first && *p->at == ':') {
            equation_node *from = n->first;
            n->first = NULL; // it is no size
            return slice(p, n, from);
        }
        if (*p->at != ']') return expected(p, "']'");
        p->at++;
        const char *back = p->at;
        skip_blanks(p);
        if (*p->at != '[') p->at = back;
    }
    return n;
}

// part { "[" [ sum ] ":" [ sum ] "]" }; a word's brackets are taken already.
static equation_node *sliced(parser *p, equation_node *n) {
    for (const char *back = p->at; n; back = p->at) {
        skip_blanks(p);
        if (*p->at != '[') {
            p->at = back;
            break;
        }
        p->at++;
        skip_blanks(p);
        equation_node *from = NULL;
        if (*p->at != ':' && !(from = sum(p))) return NULL;
        n = slice(p, n, from);
    }
    return n;
}
// n { ("^" | "**") plain }
static equation_node *factor(parser *p);
static equation_node *powers(parser *p, equation_node *n) {
    for (;;) {
        const char *back = p->at;
        if (n) skip_blanks(p);
        const int two = *p->at == '*' && p->at[1] == '*';
        if (!n || !(two || *p->at == '^')) return p->at = back, n;
        equation_node *power = called(p, "power", column(p));
        p->at += 1 + two;
        if (*p->at == 'T' && !is_letter(p->at[1])) {
            equations_fail(p->error, p->line, column(p), "only a scan transposes: transpose(S)");
            return NULL;
        }
        if (!power || !(n->next = factor(p))) return NULL;
        power->first = n;
        n = power;
    }
}
static equation_node *factor(parser *p) {
    skip_blanks(p);
    equation_node *n;
    const unsigned at = column(p);
    if (++p->depth > EQUATION_DEPTH) {
        equations_fail(p->error, p->line, at, "nested deeper than %d", EQUATION_DEPTH);
        return NULL;
    }
    if (*p->at == '-') {
        p->at++;
        n = make(p, EQUATION_NEGATE, at);
        if (n && !(n->first = factor(p))) n = NULL;
        p->depth--;
        return n;
    } else if (*p->at == '(') {
        p->at++;
        n = sum(p);
        if (n && *p->at != ')')
            n = expected(p, "')'");
        else if (n)
            p->at++;
    } else if (is_letter(*p->at)) {
        n = make(p, EQUATION_WORD, at);
        if (n && read_name(p, n->name)) n = NULL;
        if (n) skip_blanks(p);
        if (n && *p->at == '(') {
            n = call(p, n);
        } else if (n) {
            n = sizes(p, n);
        }
    } else if (is_digit(*p->at) || *p->at == '.') {
        n = make(p, EQUATION_NUMBER, at);
        if (n && read_number(p, &n->number)) n = NULL;
    } else {
        n = expected(p, "a name, a number or '('");
    }
    n = powers(p, sliced(p, n));
    p->depth--;
    return n;
}

// left { sign right }: of equal rank, from the left. kinds: of each of the signs.
static equation_node *chain(parser *p, equation_node *(*part)(parser *), const char *signs,
                            const equation_kind *kinds) {
    equation_node *left = part(p);
    for (;;) {
        if (!left) return NULL;
        skip_blanks(p);
        const char *sign = *p->at ? strchr(signs, *p->at) : NULL;
        if (!sign) return left;
        equation_node *n = make(p, kinds[sign - signs], column(p));
        p->at++;
        if (!n) return NULL;
        n->first = left;
        left->next = part(p);
        left = left->next ? n : NULL;
    }
}
static equation_node *product(parser *p) {
    static const equation_kind kinds[] = {EQUATION_MUL, EQUATION_MATMUL, EQUATION_DIVIDE};
    return chain(p, factor, "*@/", kinds);
}
static equation_node *sum(parser *p) {
    static const equation_kind kinds[] = {EQUATION_ADD, EQUATION_SUB};
    return chain(p, product, "+-", kinds);
}

int equations_key(const equation_line *l, double *value) {
    const equation_node *n = l->value;
    *value = 0.0;
    if (l->kind == LINE_CHOICE) return 1;
    if (l->kind != LINE_EQUATION || l->depth) return 0;
    const double sign = n->kind == EQUATION_NEGATE ? -1.0 : 1.0;
    if (n->kind == EQUATION_NEGATE) n = n->first;
    if (!l->name[0] || n->kind != EQUATION_NUMBER) return 0;
    *value = sign * n->number;
    return 1;
}

// ---- Lines ----------------------------------------------------------------------------------------------
// Whether the word stands at the parser's place, a name or the like after it; then it is passed over.
static int keyword(parser *p, const char *word) {
    const size_t n = strlen(word);
    const char *back = p->at;
    if (strncmp(p->at, word, n) || is_letter(p->at[n]) || is_digit(p->at[n])) return 0;
    p->at += n;
    skip_blanks(p);
    if (is_letter(*p->at) || is_digit(*p->at) || *p->at == '(') return 1;
    p->at = back;
    return 0;
}
static equation_node *named(parser *p, const char *what) {
    skip_blanks(p);
    if (!is_letter(*p->at)) return expected(p, what);
    equation_node *n = make(p, EQUATION_WORD, column(p));
    return n && !read_name(p, n->name) ? n : NULL;
}
static equation_node *state(parser *p) {
    equation_node *n = named(p, "the name of a state");
    if (n) skip_blanks(p);
    return n ? sizes(p, n) : NULL;
}
static equation_node *input(parser *p) {
    skip_blanks(p);
    const unsigned at = column(p);
    if (!keyword(p, "shared")) {
        equation_node *n = named(p, "the name of a tensor");
        if (n) skip_blanks(p);
        return n && *p->at == '(' ? call(p, n) : n;
    }
    equation_node *n = make(p, EQUATION_CALL, at);
    if (!n) return NULL;
    memcpy(n->name, "shared", sizeof "shared");
    n->first = named(p, "the name of a tensor");
    return n->first ? n : NULL;
}
// Parts with commas between them.
static equation_node *listed(parser *p, equation_node *(*part)(parser *)) {
    equation_node *first = NULL, **last = &first;
    for (;;) {
        if (!(*last = part(p))) return NULL;
        last = &(*last)->next;
        skip_blanks(p);
        if (*p->at != ',') return first;
        p->at++;
    }
}
static int scan_header(parser *p, equation_line *l) {
    static const char *const words[] = {"heads", "columns", "one"};
    if (!(l->value = listed(p, state))) return -1;
    if (!keyword(p, "over")) return expected(p, "',', or over and the tensors that the scan reads"), -1;
    if (!(l->over = listed(p, input))) return -1;
    if (!keyword(p, "by")) return 0;
    const unsigned at = column(p);
    char name[EQUATION_NAME];
    if (read_name(p, name)) return -1;
    for (l->by = BY_HEADS; l->by <= BY_ONE; l->by++)
        if (!strcmp(words[l->by], name)) return 0;
    return equations_fail(p->error, p->line, at, "by %s: heads, columns or one", name);
}
static int repeat_header(parser *p, equation_line *l) {
    if (read_name(p, l->name)) return -1;
    skip_blanks(p);
    if (!keyword(p, "in")) return expected(p, "in and how often: repeat j in 2"), -1;
    return (l->value = sum(p)) ? 0 : -1;
}
// WORD { "|" WORD }
static equation_node *word(parser *p) {
    skip_blanks(p);
    equation_node *n = make(p, EQUATION_WORD, column(p));
    if (!is_letter(*p->at) && !is_digit(*p->at)) return expected(p, "a word");
    return n && !read_name(p, n->name) ? n : NULL;
}
static int choice(parser *p, equation_line *l) {
    l->kind = LINE_CHOICE;
    for (equation_node **last = &l->value;; last = &(*last)->next) {
        if (!(*last = word(p))) return -1;
        for (equation_node *n = l->value; n != *last; n = n->next)
            if (!strcmp(n->name, (*last)->name))
                return equations_fail(p->error, p->line, (*last)->column, "%s stands there twice", n->name);
        skip_blanks(p);
        if (*p->at != '|') return 0;
        p->at++;
    }
}
static int is_choice(const char *at) {
    at += strspn(at, " \t");
    const char *from = at;
    while (is_letter(*at) || is_digit(*at)) at++;
    return at > from && at[strspn(at, " \t")] == '|';
}
static int equation(parser *p, equation_line *l) {
    const char *back = p->at;
    if (is_letter(*p->at)) { // a name, if = follows
        if (read_name(p, l->name)) return -1;
        skip_blanks(p);
        if (*p->at == '=')
            p->at++;
        else
            p->at = back, l->name[0] = 0;
    }
    if (l->name[0] && is_choice(p->at)) return choice(p, l);
    return (l->value = sum(p)) ? 0 : -1;
}

// ---- Lines of one value of a key ------------------------------------------------------------------------
// Behind if. 0, or -1 with the error.
static int condition(parser *p, const char *indent, size_t n) {
    const unsigned at = column(p);
    char name[EQUATION_NAME];
    const equation_node *found = NULL, *one = NULL;
    double value = 0.0;
    size_t keys = 0;
    equation_line *l = p->e->lines, *end = l + p->e->n_lines;
    if (read_name(p, name)) return -1;
    for (; l < end && strcmp(l->name, name); l++) keys += (size_t)equations_key(l, &value);
    skip_blanks(p);
    if (*p->at == '=') {
        p->at++;
        if (!(found = word(p))) return -1;
    }
    int fits = l < end && equations_key(l, &value);
    if (fits && p->keys && keys < EQUATION_KEYS) value = p->keys[keys];
    int holds = value != 0.0;
    if (fits && l->kind == LINE_CHOICE) {
        double place = value;
        for (one = l->value; place > 0 && one->next; place--) one = one->next;
        holds = found ? !strcmp(one->name, found->name) : one->name[0] != '0';
        fits = !found && strchr("01", l->value->name[0]);
        for (one = l->value; found && one && !fits; one = one->next) fits = !strcmp(one->name, found->name);
    } else if (found) {
        fits = 0;
    }
    if (!fits)
        return equations_fail(
            p->error, p->line, at,
            "if %s%s%s: above it stands %s = 1 or %s = this | that, a key of the text, and behind "
            "if one of its words, if %s=this",
            name, found ? "=" : "", found ? found->name : "", name, name, name);
    l->asked = 1;
    skip_blanks(p);
    if (*p->at && *p->at != '\n') return expected(p, "the end of the line"), -1;
    p->when.at = indent, p->when.n = n, p->when.line = p->line;
    p->when.n_lines = p->e->n_lines, p->when.n_nodes = p->e->n_nodes, p->when.n_open = p->n_open;
    p->when.holds = (uint8_t)holds, p->when.empty = 1;
    return 0;
}
static int nothing_in(parser *p, unsigned line, unsigned column, const char *what) {
    return equations_fail(p->error, line, column, "nothing stands in this %s; its lines are indented", what);
}
static int nothing_in_body(parser *p) {
    const equation_line *l = &p->e->lines[p->opener[p->n_open - 1]];
    return nothing_in(p, l->line, l->column, l->kind == LINE_SCAN ? "scan" : "repeat");
}
static int end_condition(parser *p) {
    if (p->when.at && p->when.empty) return nothing_in(p, p->when.line, (unsigned)p->when.n + 1, "if");
    if (p->when.at && p->n_open > p->when.n_open && !p->indent[p->n_open].at) return nothing_in_body(p);
    while (p->when.at && p->n_open > p->when.n_open)
        p->e->lines[p->opener[--p->n_open]].end = (uint16_t)p->e->n_lines;
    if (p->when.at && !p->when.holds) p->e->n_lines = p->when.n_lines, p->e->n_nodes = p->when.n_nodes;
    p->when.at = NULL;
    return 0;
}

// Which body the line stands in, by its indentation [at, at + n). 0, or -1 with the error.
static int enter_body(parser *p, const char *at, size_t n) {
    const size_t open = p->n_open;
    const equation_line *opener = open ? &p->e->lines[p->opener[open - 1]] : NULL;
    if (open && !p->indent[open].at) { // its first line
        if (n <= p->indent[open - 1].n || memcmp(at, p->indent[open - 1].at, p->indent[open - 1].n))
            return equations_fail(p->error, p->line, (unsigned)n + 1,
                                  "the lines of the %s of line %u must be indented deeper than it",
                                  opener->kind == LINE_SCAN ? "scan" : "repeat", opener->line);
        for (size_t i = 1; i < n; i++)
            if (at[i] != at[0])
                return equations_fail(p->error, p->line, (unsigned)i + 1, "tabs and blanks are mixed");
        p->indent[open].at = at;
        p->indent[open].n = n;
    }
    while (p->n_open && n < p->indent[p->n_open].n)
        p->e->lines[p->opener[--p->n_open]].end = (uint16_t)p->e->n_lines;
    const int fits = p->n_open ? n == p->indent[p->n_open].n : n <= p->indent[0].n;
    if (!fits || (p->n_open && memcmp(at, p->indent[p->n_open].at, n)))
        return equations_fail(p->error, p->line, (unsigned)n + 1,
                              "this line is indented unlike those before it, by other blanks or tabs");
    return 0;
}
static int close_bodies(parser *p) {
    if (p->n_open && !p->indent[p->n_open].at) return nothing_in_body(p);
    while (p->n_open) p->e->lines[p->opener[--p->n_open]].end = (uint16_t)p->e->n_lines;
    return 0;
}

// The line at the parser's place, if there is something on it. 0, or -1 with the error.
static int line(parser *p) {
    skip_blanks(p);
    if (*p->at == '\n' || !*p->at) return 0;
    size_t indent = (size_t)(p->at - p->line_start), deeper = 0;
    if (p->when.at && indent <= p->when.n && end_condition(p)) return -1;
    if (p->e->n_lines == EQUATION_LINES)
        return equations_fail(p->error, p->line, column(p), "more than %d equations", EQUATION_LINES);
    if (p->when.at) { // as far in as their if; the first of them says how far they are
        if (p->when.empty) p->when.deeper = indent - p->when.n;
        p->when.empty = 0;
        if (indent - p->when.n < p->when.deeper)
            return equations_fail(p->error, p->line, column(p),
                                  "this line is indented unlike those before it, by other blanks or tabs");
        deeper = p->when.deeper;
    }
    if (p->n_open && enter_body(p, p->line_start + deeper, indent - deeper)) return -1;
    const char *back = p->at;
    if (keyword(p, "if") && is_letter(*p->at)) {
        if (p->when.at) return equations_fail(p->error, p->line, column(p), "an if cannot stand below an if");
        return condition(p, p->line_start, indent);
    }
    p->at = back;
    equation_line *l = &p->e->lines[p->e->n_lines++];
    *l = (equation_line){.line = (uint16_t)p->line,
                         .column = (uint16_t)column(p),
                         .depth = (uint8_t)p->n_open,
                         .deeper = (uint16_t)deeper};
    if (keyword(p, "scan") && is_letter(*p->at))
        l->kind = LINE_SCAN;
    else if ((p->at = back, keyword(p, "repeat")) && is_letter(*p->at))
        l->kind = LINE_REPEAT;
    else
        p->at = back;
    if (l->kind != LINE_EQUATION && p->n_open == EQUATION_BODIES)
        return equations_fail(p->error, p->line, l->column, "bodies stand within each other twice at most");
    if (l->kind == LINE_SCAN && l->depth)
        return equations_fail(p->error, p->line, l->column, "a scan cannot stand in a scan");
    if (l->kind == LINE_REPEAT && !l->depth)
        return equations_fail(p->error, p->line, l->column, "repeat stands in the lines of a scan");
    if (l->kind != LINE_EQUATION) {
        if (!p->n_open) p->indent[0].at = p->line_start + deeper, p->indent[0].n = indent - deeper;
        p->opener[p->n_open++] = p->e->n_lines - 1;
        p->indent[p->n_open].at = NULL;
    }
    if (l->kind == LINE_SCAN     ? scan_header(p, l)
        : l->kind == LINE_REPEAT ? repeat_header(p, l)
                                 : equation(p, l))
        return -1;
    double number;
    if (p->when.at && equations_key(l, &number))
        return equations_fail(p->error, p->line, l->column, "the key %s cannot stand below an if", l->name);
    if (l->kind == LINE_CHOICE && l->depth)
        return equations_fail(p->error, p->line, l->column, "a key with words cannot stand in a scan");
    skip_blanks(p);
    // (Papers write a product as two factors side by side.)
    if (*p->at && *p->at != '\n')
        return expected(p, "an operator (@: matrix product) or the end of the line"), -1;
    return 0;
}

int equations_parse(equations *e, const char *text, const double *keys, smx_error *error) {
    e->n_lines = e->n_nodes = 0;
    if (strlen(text) > EQUATION_TEXT)
        return error_about(error, "eq", "", "", "eq has %zu bytes; at most %d are allowed", strlen(text),
                           EQUATION_TEXT);
    parser p = {.e = e, .at = text, .line_start = text, .line = 1, .error = error, .keys = keys};
    for (;;) {
        if (line(&p)) return -1;
        if (!*p.at) break;
        p.line_start = ++p.at;
        p.line++;
    }
    if (end_condition(&p) || close_bodies(&p)) return -1;
    return e->n_lines
               ? 0
               : error_about(error, "eq", "", "", "eq holds no equation; a line such as y = x @ w is one");
}
