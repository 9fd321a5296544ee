// build.c: see build.h. One walk over the trees, depth first and from the left, so the order of nodes is that
// of the text. Long because it is one walk: lines, expressions, calls and weights are of the same text, and
// call each other.
#include "build.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/base/names.h"
#include "model/base/number.h"
#include "model/settings/language.h"

typedef struct {
    double number;
    tensor *tensor; // NULL: a number, or the graph has failed
    long ahead;     // rows that the tensor sees ahead of its own
} value;

// A name that the text has assigned; `line`: where, 0 the input.
typedef struct {
    const char *name;
    value is;
    size_t line;
} binding;

typedef struct {
    const char *name; // of the weight
    init start;
    const equation_node *at;
    int used, learned; // learned: of a state
} given_start;

typedef struct {
    graph *g;
    const equations *e;
    const equation_surroundings *s;
    binding names[2 * EQUATION_LINES + 1]; // (a scan's states may be used after it, beside its lines)
    size_t n_names;
    uint8_t used[EQUATION_LINES + 1];
    given_start starts[EQUATION_LINES];
    size_t n_starts;
    size_t n_keys;
    unsigned line; // that is read
    equation_trace *trace;
    const equation_node *output; // a product that ends the text, if it does end with one
    const equation_node *beside; // right of the last * or +
    const char *hint;            // to who meant a weight by it
    size_t out;                  // the line whose value is the text's
    const char *text;
    long scan_ahead; // the most that a tensor of the scan sees ahead
    equations *copy; // for the trace
} builder;

_Static_assert(EQUATION_KEYS == (int)CONFIG_OWN_KEYS, "a text's keys are the config's");
enum { NAME_LETTERS = 16 }; // of a tensor or weight, behind the block's prefix
static const value failed;

static value fail(builder *b, const equation_node *at, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));
static void vfail(void *of, const equation_node *at, const char *sentence, va_list list) {
    builder *b = of;
    if (b->g->failed) return;
    graph_fail(b->g, "eq");
    equations_vfail(&b->g->error, at->line, at->column, sentence, list);
}
static value fail(builder *b, const equation_node *at, const char *sentence, ...) {
    va_list list;
    va_start(list, sentence);
    vfail(b, at, sentence, list);
    va_end(list);
    return failed;
}
static value of_tensor(builder *b, tensor *t) { return b->g->failed ? failed : (value){.tensor = t}; }
static size_t last(const tensor *t) { return t->shape[t->rank - 1]; }

// ---- Names ------------------------------------------------------------------------------------------------
static binding *find(builder *b, const char *name) {
    for (size_t i = b->n_names; i-- > 0;)
        if (!strcmp(b->names[i].name, name)) return &b->names[i];
    return NULL;
}
static const char *nearer(const char *name, const char *best, const char *other) {
    return name_distance(name, other) < name_distance(name, best) ? other : best;
}
// The function that a word of three letters or more begins; NULL: none.
static const char *begun_function(const char *name) {
    const size_t n = strlen(name);
    for (const equation_function *f = equation_functions; n >= 3 && f->name; f++)
        if (!strncmp(f->name, name, n)) return f->name;
    return NULL;
}
static const char *nearest(builder *b, const char *name) {
    const char *best = begun_function(name);
    if (best) return best;
    best = "x";
    for (size_t i = 0; i < b->n_names; i++) best = nearer(name, best, b->names[i].name);
    return best;
}
// NULL: none is near.
static const char *nearest_function(const char *name) {
    static const struct {
        const char *name, *here;
    } elsewhere[] = {{"softmax", "softmax_heads(x), or attention(q, k, v), which has it inside"},
                     {"sum", "sum_heads(x), or cumsum(x) over the rows"},
                     {"logsigmoid", "-softplus(-x)"},
                     {"concat", "join(a, b)"},
                     {"pow", "x^2"},
                     {"min", "-max(-a, -b)"},
                     {"cat", "join(a, b)"},
                     {"matmul", "x @ w, or attention and sum_heads(a * b) of two tensors"},
                     {"einsum", "x @ w, or attention and sum_heads(a * b) of two tensors"},
                     {"outer", "outer(a, b) in a scan"},
                     {"transpose", "transpose(S) in a scan"},
                     {"where", "select(c, a, b) in a scan"},
                     {"select", "select(c, a, b) in a scan"},
                     {"clamp", "max(a, b)"},
                     {"norm", "unitnorm_heads(x)"},
                     {"rms", "rms_heads(x), or rmsnorm(x, gain)"},
                     {"sigma", "sigmoid(x)"},
                     {"attn", "attention(q, k, v)"},
                     {"roll", "shift(x, 1)"},
                     {"flip", "reverse(x)"},
                     {"ones", "0 * x + 1"},
                     {"zeros", "0 * x"},
                     {"dropout", "the key dropout"},
                     {"dot", "sum_heads(a * b)"}};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (!strcmp(name, elsewhere[i].name)) return elsewhere[i].here;
    const char *best = begun_function(name);
    if (best) return best;
    best = equation_functions[0].name;
    for (const equation_function *f = equation_functions; f->name; f++) best = nearer(name, best, f->name);
    return 2 * name_distance(name, best) <= strlen(name) ? best : NULL;
}

// ---- Weights ----------------------------------------------------------------------------------------------
// The sizes that weight_shapes names, of a weight that meets D columns and has n in its brackets (0:
// nothing).
static uint32_t weight_shape(const builder *b, weight_role role, size_t D, size_t n, uint32_t shape[3]) {
    const equation_surroundings *s = b->s;
    uint32_t rank = 0;
    for (const char *c = weight_shapes[role]; *c; c++) {
        const size_t fallback = *c == 'H'                ? s->heads
                                : *c == 't'              ? s->taps
                                : *c == 'l'              ? s->length
                                : *c == '1' || *c == '2' ? (size_t)(*c - '0')
                                : *c == 's'              ? 16
                                : *c == '3' || *c == '4' ? D / (size_t)(*c - '0')
                                                         : D;
        const size_t size = n && strchr("dtls1", *c) ? n : fallback;
        shape[rank++] = size ? (uint32_t)size : 1; // (too narrow: refused when the function looks)
    }
    return rank;
}
// Tensors and weights have room for short names only.
static int too_long(builder *b, const equation_node *at, const char *name) {
    if (strlen(name) <= NAME_LETTERS) return 0;
    fail(b, at, "the name %s has %zu letters; at most %d are allowed", name, strlen(name), NAME_LETTERS);
    return 1;
}
static value eval(builder *b, const equation_node *n);

// What stands in a weight's brackets, 0: nothing; -1 where it is no size.
static long size_in_brackets(builder *b, const equation_node *at) {
    char text[NUMBER_TEXT];
    if (!at->first) return 0;
    if (at->first->next) return fail(b, at, "%s: two sizes are for weights in a scan", at->name), -1;
    const value v = eval(b, at->first);
    if (b->g->failed) return -1;
    if (!v.tensor && v.number >= 1.0 && v.number <= 65536.0 && v.number == (double)(uint32_t)v.number)
        return (long)v.number;
    fail(b, at, "%s[%s]: the size must be a whole number from 1 to 65536", at->name,
         !v.tensor ? number_write(text, v.number) : "a tensor");
    return -1;
}
// Of a weight.
static init given(builder *b, size_t i) {
    b->starts[i].used = 1;
    if (b->starts[i].learned) fail(b, b->starts[i].at, "only a scan's state starts as learned");
    return b->starts[i].start;
}
static value weight(builder *b, const equation_node *at, weight_role role, size_t D) {
    if (too_long(b, at, at->name)) return failed;
    const long size = size_in_brackets(b, at);
    if (size < 0) return failed;
    uint32_t shape[4] = {0};
    const uint32_t rank = weight_shape(b, role, D, (size_t)size, shape);
    const int is_bias = role == WEIGHT_VALUE && !strncmp(at->name, "b_", 2);
    init start = b->s->start(b->s->config, is_bias ? WEIGHT_BIAS : role, shape);
    for (size_t i = 0; i < b->n_starts; i++)
        if (!strcmp(b->starts[i].name, at->name)) start = given(b, i);
    const int decays = role == WEIGHT_MATRIX || role == WEIGHT_OUTPUT || role >= WEIGHT_CARRIED_4;
    return of_tensor(b, graph_param(b->g, at->name, start, decays, rank, shape));
}
// A word that is no assigned name: a weight, where one can stand.
static int is_new(builder *b, const equation_node *n) {
    return n->kind == EQUATION_WORD && !find(b, n->name);
}

// ---- Expressions ------------------------------------------------------------------------------------------
static tensor *eval_tensor(builder *b, const equation_node *n, const char *what, long *ahead) {
    const value v = eval(b, n);
    if (!v.tensor)
        fail(b, n, "%s is a number; it must be a tensor%s", what,
             (*what == 'a' || *what == 'b') && !what[1]
                 ? "; max(x, 0) is relu(x), 0 * x + 2 is a tensor of twos"
                 : "");
    if (v.ahead > *ahead) *ahead = v.ahead;
    return b->g->failed ? NULL : v.tensor;
}
static void add_step(builder *b, const equation_function *f, const function_call *c,
                     const equation_scan *scan, tensor *out) {
    if (!b->trace || b->trace->n == EQUATION_STEPS) return;
    equation_step *step = &b->trace->steps[b->trace->n++];
    *step = (equation_step){.function = f, .scan = scan, .out = out, .line = b->line};
    if (c) memcpy(&step->call, c, sizeof *c);
    step->call.heads = b->s->heads;
}
// The function on arguments that fit their kinds; ahead: the most that one of them sees ahead.
static value apply(builder *b, const equation_node *at, const equation_function *f, const function_call *c,
                   long ahead) {
    char why[160];
    for (size_t i = 0; i < FUNCTION_ARGUMENTS && !f->any_shape; i++) {
        const tensor *t = c->tensor[i];
        if (t && !t->weight && (t->rank != 3 || t->shape[0] != b->g->B || t->shape[1] != b->g->span))
            return fail(b, at, "%s: %s has no row for each row of x", f->name, f->arguments[i].name);
    }
    if (f->check && f->check(c, why, sizeof why)) return fail(b, at, "%s: %s", f->name, why);
    if (f->ahead) ahead += f->ahead(c);
    value v = of_tensor(b, function_apply(f, c));
    v.ahead = ahead;
    if (v.tensor) add_step(b, f, c, NULL, v.tensor);
    return v;
}
// The function that a sign stands for, of up to three tensors, or of one and a number.
static value sign(builder *b, const equation_node *at, const char *name, value x, tensor *y, tensor *z,
                  double number) {
    function_call c = {.g = b->g, .heads = b->s->heads};
    c.tensor[0] = x.tensor, c.tensor[1] = y, c.tensor[2] = z;
    c.real[1] = number;
    return b->g->failed ? failed : apply(b, at, function_find(name), &c, x.ahead);
}
static value scaled(builder *b, const equation_node *at, value x, double factor) {
    return sign(b, at, "scale", x, NULL, NULL, factor);
}
static value binary(builder *b, const equation_node *at, const char *name, value x, value y) {
    if (y.ahead > x.ahead) x.ahead = y.ahead;
    return sign(b, at, name, x, y.tensor, NULL, 0.0);
}

static value product_with_matrix(builder *b, const equation_node *n, const equation_node *bias) {
    value x = {.ahead = LONG_MIN};
    const equation_node *w = n->first->next;
    if (is_new(b, n->first) && !n->first->first && w->kind == EQUATION_WORD && !is_new(b, w))
        return fail(b, n->first, "the weight stands right of @: %s @ %s", w->name, n->first->name);
    x.tensor = eval_tensor(b, n->first, "what stands left of @", &x.ahead);
    if (!x.tensor) return failed;
    if (!is_new(b, w))
        return fail(b, w, "right of @ stands the name of a weight%s%s%s",
                    w->kind == EQUATION_WORD ? "; " : "",
                    w->kind == EQUATION_WORD ? w->name : ", perhaps with its columns: x @ w[8]",
                    w->kind == EQUATION_WORD
                        ? " is a tensor (two tensors meet in attention, in sum_heads(a * b) or in a scan)"
                        : "");
    const value m = weight(b, w, n == b->output ? WEIGHT_OUTPUT : WEIGHT_MATRIX, last(x.tensor));
    if (!m.tensor) return failed;
    tensor *add = bias ? weight(b, bias, WEIGHT_BIAS, m.tensor->shape[1]).tensor : NULL;
    return sign(b, n, "linear", x, m.tensor, add, 0.0);
}
// `name` (add or mul) of two tensors alike, or of one with a row that meets all of its own.
static value joined(builder *b, const equation_node *n, const char *name, value x, value y,
                    const char *hint) {
    const tensor *s = x.tensor, *t = y.tensor;
    if (b->g->failed) return failed;
    if (last(s) == last(t) && (s->rank == 1) != (t->rank == 1))
        return binary(b, n, name[0] == 'a' ? "bias" : "gain", s->rank == 1 ? y : x, s->rank == 1 ? x : y);
    if (last(s) == last(t) && s->n == t->n && s->rank == t->rank) return binary(b, n, name, x, y);
    const size_t H = b->s->heads;
    if (last(s) == H || last(t) == H) hint = "; per_head(s) has a column for each of x";
    return fail(b, n, "the sides are %zu and %zu wide; they must be alike%s", last(s), last(t), hint);
}
static value sum_of(builder *b, const equation_node *n) {
    const equation_node *l = n->first, *r = l->next;
    const int minus = n->kind == EQUATION_SUB, bias = is_new(b, r) && !r->first && !strncmp(r->name, "b_", 2);
    if (bias && minus) return fail(b, r, "%s is a bias: it is added", r->name);
    if (bias && l->kind == EQUATION_MATMUL) return product_with_matrix(b, l, r); // one operation
    const value x = eval(b, l);
    if (b->g->failed) return failed;
    if (bias) {
        if (!x.tensor) return fail(b, l, "a bias is added to a tensor, not to a number");
        return sign(b, n, "bias", x, weight(b, r, WEIGHT_BIAS, last(x.tensor)).tensor, NULL, 0.0);
    }
    b->beside = r;
    b->hint = " (a bias begins with b_: x + b_o)";
    value y = eval(b, r);
    if (b->g->failed) return failed;
    if (!x.tensor && !y.tensor) return (value){.number = minus ? x.number - y.number : x.number + y.number};
    if (!y.tensor) return sign(b, n, "offset", x, NULL, NULL, minus ? -y.number : y.number);
    if (minus) y = scaled(b, n, y, -1.0);
    if (!x.tensor) return sign(b, n, "offset", y, NULL, NULL, x.number);
    return joined(b, n, "add", x, y, "");
}
static const char no_matrix[] = // of who writes *
    " (@ is the product with a matrix, conv a filter, * w[width] a gain)";
static value product_of(builder *b, const equation_node *n) {
    const int divided = n->kind == EQUATION_DIVIDE;
    const value x = eval(b, n->first);
    if (b->g->failed) return failed;
    if (!divided) b->beside = n->first->next, b->hint = no_matrix;
    value y = eval(b, n->first->next); // (of what failed nothing more is made)
    if (b->g->failed) return failed;
    if (divided && !y.tensor && y.number == 0.0) return fail(b, n, "a division by 0");
    if (!x.tensor && !y.tensor) return (value){.number = divided ? x.number / y.number : x.number * y.number};
    if (!y.tensor) return scaled(b, n, x, divided ? 1.0 / y.number : y.number);
    if (divided && x.tensor && x.tensor->rank == y.tensor->rank && x.tensor->n == y.tensor->n)
        return binary(b, n, "divide", x, y);
    if (divided) { // as divide computes it
        y = sign(b, n, "log", y, NULL, NULL, 0.0);
        y = sign(b, n, "exp", scaled(b, n, y, -1.0), NULL, NULL, 0.0);
    }
    return x.tensor ? joined(b, n, "mul", x, y, divided ? "" : no_matrix) : scaled(b, n, y, x.number);
}

// ---- Calls ------------------------------------------------------------------------------------------------
static int word_place(const char *words, const char *word) {
    const size_t n = strlen(word);
    for (int i = 0; *words; i++) {
        const size_t m = strcspn(words, "|");
        if (m == n && !memcmp(words, word, n)) return i;
        words += m + (words[m] == '|');
    }
    return -1;
}
static int take_number(builder *b, const equation_node *n, const function_argument *a, function_call *c,
                       size_t i) {
    const int whole = a->kind == ARGUMENT_NUMBER;
    const value v = eval(b, n);
    if (b->g->failed) return -1;
    if (v.tensor || !(v.number >= a->least && v.number <= a->most) ||
        (whole && v.number != (double)(size_t)v.number)) {
        char least[NUMBER_TEXT], most[NUMBER_TEXT];
        fail(b, n, "%s must be a %snumber from %s to %s%s", strcmp(a->name, "to") ? a->name : "a power",
             whole ? "whole " : "", number_write(least, a->least), number_write(most, a->most),
             strcmp(a->name, "to") ? "" : POWERS);
        return -1;
    }
    c->number[i] = (size_t)v.number;
    c->real[i] = v.number;
    return 0;
}
static int take(builder *b, const equation_node *n, const function_argument *a, function_call *c, size_t i,
                long *ahead) {
    int place;
    switch ((argument_kind)a->kind) {
    case ARGUMENT_TENSOR:
        c->tensor[i] = eval_tensor(b, n, a->name, ahead);
        return c->tensor[i] ? 0 : -1;
    case ARGUMENT_WEIGHT:
        if (!is_new(b, n)) return fail(b, n, "%s must be the name of a weight", a->name), -1;
        c->tensor[i] =
            weight(b, n, (weight_role)a->role, i ? last(c->tensor[a->role == WEIGHT_SUM_BIAS]) : b->s->width)
                .tensor;
        return c->tensor[i] ? 0 : -1;
    case ARGUMENT_NUMBER:
    case ARGUMENT_REAL:
        return take_number(b, n, a, c, i);
    case ARGUMENT_WORD:
        place = n->kind == EQUATION_WORD ? word_place(a->words, n->name) : -1;
        if (place < 0) return fail(b, n, "%s must be one of %s", a->name, a->words), -1;
        c->number[i] = (size_t)place;
        return 0;
    case ARGUMENT_END:
        break;
    }
    return -1;
}
// x[from:to], x[from:]
static value slice(builder *b, const equation_node *n) {
    const equation_node *x = n->first, *from = x->next, *to = from->next;
    value v = {.ahead = LONG_MIN};
    v.tensor = eval_tensor(b, x, "what has columns", &v.ahead);
    const value begin = b->g->failed ? failed : eval(b, from),
                end = to && !b->g->failed ? eval(b, to) : failed;
    if (b->g->failed) return failed;
    const double first = begin.number, past = to ? end.number : (double)last(v.tensor);
    function_call c = {.g = b->g, .heads = b->s->heads};
    if (begin.tensor || end.tensor || !(first >= 0 && first < past && past <= (double)last(v.tensor)) ||
        first != (double)(size_t)first || past != (double)(size_t)past)
        return fail(b, from, "columns are whole numbers from 0 to %zu, the first before the last",
                    last(v.tensor));
    c.tensor[0] = v.tensor;
    c.number[1] = (size_t)first;
    c.number[2] = (size_t)(past - first);
    return apply(b, n, function_find("columns"), &c, v.ahead);
}
// name[size], where a tensor can stand: a weight as a value, that others may use by its name.
static value new_value(builder *b, const equation_node *n) {
    if (b->n_names == sizeof b->names / sizeof *b->names)
        return fail(b, n, "the text has more than %zu names", sizeof b->names / sizeof *b->names);
    function_call c = {.g = b->g, .heads = b->s->heads};
    c.tensor[0] = weight(b, n, WEIGHT_VALUE, 1).tensor;
    if (b->g->failed) return failed;
    const value v = apply(b, n, function_find("value"), &c, LONG_MIN);
    b->names[b->n_names++] = (binding){n->name, v, 0};
    return v;
}
// Whether nothing below 0 comes of it: of a call, or of the line that assigned the name.
static int is_positive(builder *b, const equation_node *n) {
    static const char *const list[] = {"sigmoid", "softplus", "exp", "relu", "elu1", "abs"};
    if (n->kind == EQUATION_WORD) {
        const binding *name = find(b, n->name);
        if (!name || !name->line) return 0;
        n = b->e->lines[name->line - 1].value;
    }
    for (size_t i = 0; i < sizeof list / sizeof *list && n->kind == EQUATION_CALL; i++)
        if (!strcmp(n->name, list[i])) return 1;
    return 0;
}
static value call(builder *b, const equation_node *n) {
    if (!strcmp(n->name, "[:]")) return slice(b, n);
    const equation_function *f = function_find(n->name);
    if (!f) {
        const char *near = nearest_function(n->name);
        return fail(b, n, near ? "there is no function %s; the nearest is %s" : "there is no function %s",
                    n->name, near);
    }
    const size_t count = function_arguments(f);
    const equation_node *given[FUNCTION_ARGUMENTS] = {NULL};
    size_t at = 0;
    for (const equation_node *a = n->first; a; a = a->next) {
        size_t i = at;
        if (a->key[0]) {
            for (i = 0; i < count && strcmp(f->arguments[i].name, a->key);) i++;
            if (i == count) return fail(b, a, "%s has no argument %s", f->name, a->key);
            at = FUNCTION_ARGUMENTS; // what follows needs a key too
        } else if (at++ >= count) {
            return fail(b, a,
                        at > FUNCTION_ARGUMENTS ? "an argument without a key after one with a key"
                                                : "%s takes %zu arguments",
                        f->name, count);
        }
        if (given[i]) return fail(b, a, "%s is given twice", f->arguments[i].name);
        if (!strcmp(f->arguments[i].name, "gates") && is_positive(b, a))
            return fail(b, a, "gates are logarithms, at most 0: -softplus(z)");
        given[i] = a;
    }
    function_call c = {.g = b->g, .heads = b->s->heads};
    long ahead = LONG_MIN;
    for (size_t i = 0; i < count; i++) {
        const function_argument *a = &f->arguments[i];
        if (given[i] ? take(b, given[i], a, &c, i, &ahead) : 0) return failed;
        if (given[i]) continue;
        if (a->kind == ARGUMENT_NUMBER || a->kind == ARGUMENT_REAL)
            c.number[i] = a->fallback < 0 ? b->s->width / b->s->heads : (size_t)a->fallback,
            c.real[i] = a->fallback;
        else if (a->kind != ARGUMENT_WORD && !a->optional)
            return fail(b, n, "%s is missing argument %s", f->name, a->name);
    }
    return apply(b, n, f, &c, ahead);
}

// Numbers of the config, where the text has assigned nothing of that name.
static int number_of_config(const builder *b, const char *name, double *number) {
    const equation_surroundings *s = b->s;
    const struct {
        const char *name;
        size_t is;
    } list[] = {{"width", s->width}, {"heads", s->heads}, {"length", s->length}, {"filter", s->taps}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i].name, name)) return *number = (double)list[i].is, 1;
    return 0;
}
static value eval(builder *b, const equation_node *n) {
    binding *name;
    value v;
    switch (n->kind) {
    case EQUATION_NUMBER:
        return (value){.number = n->number};
    case EQUATION_WORD:
        name = find(b, n->name);
        v = failed;
        if (!name && !n->first && number_of_config(b, n->name, &v.number)) return v;
        if (!name && n->first) return new_value(b, n);
        for (size_t i = 0; !name && i < b->e->n_lines; i++) // (its own line: i + 1 is not below it)
            if (b->e->lines[i].line > n->line && !b->e->lines[i].depth &&
                !strcmp(b->e->lines[i].name, n->name))
                return fail(b, n, "%s is assigned below, in line %u", n->name, b->e->lines[i].line);
            else if (b->e->lines[i].line == n->line && !strcmp(b->e->lines[i].name, n->name))
                return fail(
                    b, n,
                    "%s is what this line assigns; its value of the row before is a scan's state, shift(x, 1) is that of x",
                    n->name);
        if (!name && function_find(n->name))
            return fail(b, n, "%s is a function: %s(...)%s", n->name, n->name, n == b->beside ? b->hint : "");
        if (!name)
            return fail(b, n, "%s was not assigned, and no weight can stand here; the nearest name is %s%s",
                        n->name, nearest(b, n->name), n == b->beside ? b->hint : "");
        if (n->first)
            return fail(b, n,
                        "%s is a tensor: only a new weight takes a size in brackets; %s[0:4] has columns, "
                        "shift(%s, 1) the row before",
                        n->name, n->name, n->name);
        b->used[name->line] = 1;
        return name->is;
    case EQUATION_NEGATE:
        v = eval(b, n->first);
        if (b->g->failed) return failed;
        return !v.tensor ? (value){.number = -v.number} : scaled(b, n, v, -1.0);
    case EQUATION_ADD:
    case EQUATION_SUB:
        return sum_of(b, n);
    case EQUATION_MUL:
    case EQUATION_DIVIDE:
        return product_of(b, n);
    case EQUATION_MATMUL:
        return product_with_matrix(b, n, NULL);
    case EQUATION_CALL:
        return call(b, n);
    }
    return failed;
}

// ---- Lines ------------------------------------------------------------------------------------------------
// start(w_dt, uniform, 0.1): how a weight starts, wherever the line stands.
static const struct {
    const char *name;
    init_kind kind;
} start_kinds[] = {
    {"normal", INIT_NORMAL},       {"uniform", INIT_UNIFORM},     {"constant", INIT_CONSTANT},
    {"identity", INIT_IDENTITY},   {"decay", INIT_DECAY},         {"long", INIT_LONG},
    {"step", INIT_STEP},           {"step_plus", INIT_STEP_PLUS}, {"count", INIT_COUNT},
    {"log_count", INIT_LOG_COUNT}, {"forget", INIT_FORGET},       {"middle", INIT_IDENTITY_MIDDLE},
    {"heads", INIT_IDENTITY_HEADS}};
static int is_start(const equation_line *l) {
    return l->kind == LINE_EQUATION && !l->depth && !l->name[0] && l->value->kind == EQUATION_CALL &&
           !strcmp(l->value->name, "start");
}
static void read_start(builder *b, const equation_node *n) {
    const equation_node *name = n->first, *kind = name ? name->next : NULL, *scale = kind ? kind->next : NULL;
    if (!kind || name->kind != EQUATION_WORD || kind->kind != EQUATION_WORD || (scale && scale->next)) {
        fail(b, n, "start takes a weight, a kind and a number: start(w_dt, uniform, 0.1)");
        return;
    }
    for (size_t i = 0; i < sizeof start_kinds / sizeof *start_kinds; i++) {
        if (strcmp(start_kinds[i].name, kind->name)) continue;
        value v = {.number = 1.0};
        if (scale) v = eval(b, scale);
        if (!b->g->failed && (v.tensor || !(v.number >= -1e6 && v.number <= 1e6)))
            fail(b, scale, "a number from -1e6 to 1e6");
        b->starts[b->n_starts++] = (given_start){name->name, {start_kinds[i].kind, v.number}, name, 0, 0};
        return;
    }
    if (!strcmp(kind->name, "learned") && !scale) {
        b->starts[b->n_starts++] = (given_start){name->name, {INIT_CONSTANT, 0}, name, 0, 1};
        return;
    }
    fail(
        b, kind,
        "a weight cannot start as %s: normal, uniform, constant, identity, decay, long, step, step_plus, count, log_count, forget, middle or heads",
        kind->name);
}

// The line whose value is the text's: that of y, else the last.
static size_t output_line(const equations *e) {
    size_t at = 0;
    for (size_t i = 0; i < e->n_lines; i++)
        if (!is_start(&e->lines[i]) && e->lines[i].kind != LINE_CHOICE) at = i;
    for (size_t i = 0; i < e->n_lines; i++)
        if (!strcmp(e->lines[i].name, "y")) at = i;
    return at;
}

// The number that a key's word is, of 0 | 1; of other words its place.
static double chosen(const equation_node *word, double place) {
    for (double i = place; i > 0 && word->next; i--) word = word->next;
    char *end;
    const double number = number_read(word->name, &end);
    return *end ? place : number;
}
static void read_line(builder *b, size_t i) {
    const equation_line *l = &b->e->lines[i];
    const equation_node *at = l->value;
    const equation_node here = {.line = l->line, .column = l->column};
    if (function_find(l->name) || !strcmp(l->name, "start")) {
        fail(b, &here, "%s is a function; a tensor needs another name", l->name);
        return;
    }
    if (!strcmp(l->name, "x")) {
        fail(b, &here, "x is the input; a tensor needs another name");
        return;
    }
    if (too_long(b, &here, l->name)) return;
    double number;
    value v;
    b->line = l->line;
    if (equations_key(l, &number)) {
        if (find(b, l->name)) fail(b, &here, "%s is assigned already; a key is assigned once", l->name);
        if (b->n_keys == CONFIG_OWN_KEYS) fail(b, &here, "more than %d keys", CONFIG_OWN_KEYS);
        v = (value){.number = b->g->failed ? number : b->s->keys[b->n_keys++]};
        if (l->kind == LINE_CHOICE) v.number = chosen(at, v.number);
    } else {
        v = eval(b, at);
    }
    if (b->g->failed) return;
    if (v.tensor && l->name[0] && strchr(v.tensor->name, '#'))
        graph_name(b->g, v.tensor, l->name); // not yet named
    b->names[b->n_names++] = (binding){l->name[0] ? l->name : "y", v, i + 1};
}

// ---- Scans ------------------------------------------------------------------------------------------------
static tensor *scan_tensor(void *of, const equation_node *name) {
    builder *b = of;
    tensor *t = eval_tensor(b, name, name->name, &b->scan_ahead);
    if (t && (t->rank != 3 || t->shape[0] != b->g->B || t->shape[1] != b->g->span))
        fail(b, name, "%s has no row for each row of x", name->name);
    return b->g->failed ? NULL : t;
}
static tensor *scan_weight_of(void *of, const equation_node *at, const char *name, uint32_t rank,
                              const uint32_t *shape) {
    builder *b = of;
    const int per_head =
        at ? at->first && at->first->kind == EQUATION_WORD && !strcmp(at->first->name, "heads") : 1;
    const int matrix = at && rank - (uint32_t)per_head == 2;
    init start = {INIT_CONSTANT, at && strncmp(name, "b_", 2) ? 1.0 : 0.0};
    if (matrix) start = b->s->start(b->s->config, WEIGHT_MATRIX, shape + per_head);
    if (at && (too_long(b, at, name) || find(b, name))) {
        fail(b, at, "%s is assigned outside the scan: it must stand behind over", name);
        return NULL;
    }
    for (size_t i = 0; i < b->n_starts && at; i++)
        if (!strcmp(b->starts[i].name, name)) start = given(b, i);
    if (b->g->failed) return NULL;
    return graph_param(b->g, name, start, matrix, rank, shape);
}
static int scan_start(void *of, const char *name, double *number) {
    builder *b = of;
    for (size_t i = 0; i < b->n_starts; i++) {
        given_start *s = &b->starts[i];
        if (strcmp(s->name, name)) continue;
        s->used = 1;
        if (s->start.kind != INIT_CONSTANT) fail(b, s->at, "a state starts constant or learned");
        *number = s->start.scale;
        return s->learned ? 2 : 1;
    }
    return 0;
}
static int uses(const equation_node *n, const char *name) {
    for (; n; n = n->next)
        if ((n->kind == EQUATION_WORD && !strcmp(n->name, name)) || uses(n->first, name)) return 1;
    return 0;
}
static int scan_wanted(void *of, size_t line, const char *name) {
    const builder *b = of;
    const equation_line *lines = b->e->lines;
    const size_t end = lines[line].end;
    if (b->out > line && b->out < end && !strcmp(lines[b->out].name, name)) return 1;
    for (size_t i = end; i < b->e->n_lines; i++)
        if (!lines[i].depth && uses(lines[i].kind == LINE_SCAN ? lines[i].over : lines[i].value, name) &&
            !is_start(&lines[i]))
            return 1;
    return 0;
}
static int scan_reserved(void *of, const char *name) {
    (void)of;
    return function_find(name) != NULL || !strcmp(name, "start") || !strcmp(name, "shared") ||
           !strcmp(name, "grouped");
}
static const equation_function scan_function = {.name = "scan"};
// Who computes the scan in another way reads its lines again, which must then live as long as the graph.
static const equations *lasting(builder *b) {
    if (!b->trace) return b->e;
    if (!b->copy && (b->copy = graph_own(b->g, sizeof *b->copy))) {
        equations_parse(b->copy, b->text, b->s->keys, NULL);
    }
    return b->copy ? b->copy : b->e;
}
static void read_scan(builder *b, size_t at) {
    equation_scan *s = graph_own(b->g, sizeof *s);
    const equations *e = lasting(b);
    const scan_around around = {b->g,           b,          b->s->heads, b->s->width,  vfail, scan_tensor,
                                scan_weight_of, scan_start, scan_wanted, scan_reserved};
    if (!s) return;
    for (size_t i = 0; i < b->n_names; i++) // numbers of the text that it uses
        for (size_t l = at; l < b->e->lines[at].end && b->names[i].line; l++)
            if (uses(b->e->lines[l].value, b->names[i].name) || uses(b->e->lines[l].over, b->names[i].name))
                b->used[b->names[i].line] = 1;
    b->line = b->e->lines[at].line;
    b->scan_ahead = LONG_MIN;
    for (const char *const *name = (const char *const[]){"width", "heads", "length", "filter", NULL}; *name;
         name++) {
        s->numbers[s->n_numbers].name = *name;
        number_of_config(b, *name, &s->numbers[s->n_numbers++].is);
    }
    for (size_t i = 0; i < b->n_names && s->n_numbers < SCAN_NUMBERS; i++)
        if (!b->names[i].is.tensor && b->names[i].line)
            s->numbers[s->n_numbers++] =
                (scan_number){e->lines[b->names[i].line - 1].name, b->names[i].is.number};
    tensor *all = equations_scan(s, e, at, &around);
    if (!all || b->g->failed) return;
    add_step(b, &scan_function, NULL, s, all);
    for (size_t i = 0; i < s->n_outputs; i++) {
        const scan_output *o = &s->outputs[i];
        value v = {.tensor = all, .ahead = b->scan_ahead};
        if (s->n_outputs > 1) {
            function_call c = {.g = b->g, .heads = b->s->heads};
            c.tensor[0] = all;
            c.number[1] = o->column;
            c.number[2] = o->cols * s->heads;
            v = apply(b, NULL, function_find("columns"), &c, b->scan_ahead);
        }
        const equation_node here = {.line = (uint16_t)b->line, .column = b->e->lines[at].column};
        if (b->g->failed || too_long(b, &here, o->name)) return;
        graph_name(b->g, v.tensor, o->name);
        b->names[b->n_names++] = (binding){o->name, v, 0};
    }
}

tensor *equations_build(graph *g, const equations *e, const equation_surroundings *s, tensor *x,
                        equation_trace *trace) {
    builder *b = graph_own(g, sizeof *b);
    if (!b) return x;
    *b = (builder){.g = g, .e = e, .s = s, .trace = trace, .text = s->text};
    if (trace) trace->n = 0;
    b->names[b->n_names++] = (binding){"x", {.tensor = x}, 0};
    const size_t out = b->out = output_line(e);
    if (e->lines[out].value->kind == EQUATION_MATMUL) b->output = e->lines[out].value;
    for (size_t i = 0; i < e->n_lines && !g->failed; i++)
        if (is_start(&e->lines[i])) read_start(b, e->lines[i].value);
    tensor *y = NULL;
    long ahead = 0;
    for (size_t i = 0; i < e->n_lines && !g->failed; i++) {
        if (is_start(&e->lines[i]) || e->lines[i].depth) continue;
        if (e->lines[i].kind == LINE_SCAN) {
            read_scan(b, i);
            const binding *last_of = out > i && out < e->lines[i].end ? find(b, e->lines[out].name) : NULL;
            if (last_of && !g->failed) y = last_of->is.tensor, ahead = last_of->is.ahead;
            continue;
        }
        read_line(b, i);
        if (i == out && !g->failed)
            y = b->names[b->n_names - 1].is.tensor, ahead = b->names[b->n_names - 1].is.ahead;
    }
    const equation_line *last_line = &e->lines[out];
    const equation_node at = {.line = last_line->line, .column = last_line->column};
    if (!g->failed && !y) fail(b, &at, "the result is a number; it must be a tensor as wide as x");
    if (!g->failed && (y->rank != x->rank || y->n != x->n || last(y) != last(x)))
        fail(b, &at, "the result is %zu wide; it must be as wide as x, %zu", last(y), last(x));
    for (size_t i = 0; i < e->n_lines && !g->failed; i++) {
        const equation_line *l = &e->lines[i];
        const equation_node here = {.line = l->line, .column = l->column};
        if (i != out && !is_start(l) && !l->depth && l->kind != LINE_SCAN && !l->asked && !b->used[i + 1])
            fail(b, &here, "nothing uses %s", l->name[0] ? l->name : "this result");
    }
    for (size_t i = 0; i < b->n_starts && !g->failed; i++)
        if (!b->starts[i].used) fail(b, b->starts[i].at, "there is no weight %s", b->starts[i].name);
    if (trace) trace->ahead = ahead < 0 ? 0 : ahead >= (long)g->L ? (long)g->L - 1 : ahead;
    return g->failed ? x : y;
}
