// scan.c: see scan.h. The header's names and sizes; then the body, line by line, as steps over registers:
// each tree is walked once, depth first and from the left. Long because the walk is one, and each form has
// its sentence.
#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/names.h"
#include "model/ops/ops.h"

// A register; or a number, -1 less its place among the walk's constants. (One word: with a struct of both
// this file's part of the module was a tenth larger.)
typedef int value;
enum { NOTHING = -1000000, SCAN_CONSTANTS = 1024 };
typedef struct {
    const char *name;
    value is;
    int used;
    uint16_t line, column;
} binding;
typedef struct {
    equation_scan *s;
    const scan_around *o;
    program *p;
    scan_shape shapes[PROGRAM_REGISTERS];
    double constants[SCAN_CONSTANTS]; // each number once
    int n_constants;
    binding names[SCAN_LINES * 8 + PROGRAM_STATES];
    size_t n_names;
    uint8_t read[PROGRAM_INPUTS];
    int weight_reg[PROGRAM_ARRAYS];
    uint8_t assigned[PROGRAM_STATES];
    double repeats; // of the repeat that is open; 0: none
    const char *counter;
    double count;
    int failed;
} walk;

static const scan_shape scalar = {0, 1, 1};
// (A vector of length 1 is a scalar.)
static const scan_shape *shape_in(scan_shape *to, uint32_t rank, size_t rows, size_t cols) {
    to->rank = rank == 1 && cols == 1 ? 0 : rank;
    to->rows = rank == 2 ? (uint32_t)rows : 1;
    to->cols = (uint32_t)cols;
    return to;
}
#define SHAPE(rank, rows, cols) shape_in(&(scan_shape){0, 0, 0}, rank, rows, cols)
static int same(const scan_shape *a, const scan_shape *b) { return !memcmp(a, b, sizeof *a); }
static const char *told(char to[48], const scan_shape *s) {
    if (s->rank == 2)
        snprintf(to, 48, "a matrix [%u][%u]", s->rows, s->cols);
    else if (s->rank)
        snprintf(to, 48, "a vector of %u", s->cols);
    else
        snprintf(to, 48, "a scalar");
    return to;
}

static value fail(walk *w, const equation_node *at, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));
static value fail(walk *w, const equation_node *at, const char *sentence, ...) {
    va_list list;
    va_start(list, sentence);
    w->o->fail(w->o->builder, at, sentence, list);
    va_end(list);
    w->failed = 1;
    return NOTHING;
}
static value number(walk *w, const equation_node *at, double x) {
    for (int i = 0; i < w->n_constants; i++)
        if (!memcmp(&w->constants[i], &x, sizeof x)) return -1 - i;
    if (w->n_constants == SCAN_CONSTANTS) {
        fail(w, at, "this scan has too many numbers; %d are allowed", SCAN_CONSTANTS);
        return NOTHING;
    }
    w->constants[w->n_constants] = x;
    return -1 - w->n_constants++;
}
static double number_of(const walk *w, value v) { return w->constants[-1 - v]; }
static const scan_shape *of(const walk *w, value v) { return v < 0 ? &scalar : &w->shapes[v]; }

// ---- Registers and steps --------------------------------------------------------------------------------
static int new_register(walk *w, const equation_node *at, program_kind kind, const scan_shape *shape) {
    program *p = w->p;
    if (p->n_registers == PROGRAM_REGISTERS || (uint64_t)shape->rows * shape->cols > SCAN_STATE_FLOATS) {
        fail(w, at,
             p->n_registers == PROGRAM_REGISTERS ? "this scan has too many steps; %d are allowed"
                                                 : "more than %d numbers in one head",
             p->n_registers == PROGRAM_REGISTERS ? PROGRAM_STEPS : SCAN_STATE_FLOATS);
        return -1;
    }
    w->shapes[p->n_registers] = *shape;
    p->registers[p->n_registers] =
        (program_register){.rows = shape->rows, .cols = shape->cols, .kind = (uint8_t)kind, .group = 1};
    return (int)p->n_registers++;
}
// The register of a number in a shape; one for all places of that number.
static int number_register(walk *w, const equation_node *at, double x, const scan_shape *shape) {
    for (size_t r = 0; r < w->p->n_registers; r++)
        if (w->p->registers[r].kind == PROGRAM_NUMBER && w->p->registers[r].number == (float)x &&
            same(&w->shapes[r], shape))
            return (int)r;
    const int r = new_register(w, at, PROGRAM_NUMBER, shape);
    if (r >= 0) w->p->registers[r].number = (float)x;
    return r;
}
static int register_of(walk *w, const equation_node *at, value v) {
    return v >= 0 ? v : number_register(w, at, number_of(w, v), &scalar);
}
static value step(walk *w, const equation_node *at, program_op op, const scan_shape *shape, size_t operands,
                  value a, value b, value c) {
    const value in[PROGRAM_OPERANDS] = {a, b, c};
    program_step s = {.op = (uint8_t)op, .operands = (uint8_t)operands};
    for (size_t i = 0; i < operands && !w->failed; i++) {
        const int r = register_of(w, at, in[i]);
        if (w->failed) break;
        s.in[i] = (uint16_t)r;
        if (op <= PROGRAM_SELECT && !w->shapes[r].rank && shape->rank) s.scalar |= (uint8_t)(1u << i);
    }
    if (w->failed) return NOTHING;
    if (w->p->n_steps == PROGRAM_STEPS) {
        fail(w, at, "this scan has too many steps; %d are allowed", PROGRAM_STEPS);
        return NOTHING;
    }
    const int out = new_register(w, at, PROGRAM_STEP, shape);
    if (w->failed) return NOTHING;
    s.out = (uint16_t)out;
    w->p->steps[w->p->n_steps++] = s;
    return out;
}
static value unary(walk *w, const equation_node *at, program_op op, value a) {
    return step(w, at, op, of(w, a), 1, a, NOTHING, NOTHING);
}
// Entry by entry: shapes alike, or one a scalar.
static value binary(walk *w, const equation_node *at, program_op op, value a, value b, const char *hint) {
    const scan_shape *x = of(w, a), *y = of(w, b);
    char left[48], right[48];
    if (w->failed) return NOTHING;
    if (x->rank && y->rank && !same(x, y)) {
        fail(w, at, "the sides are %s and %s; they must be alike, or one a scalar%s", told(left, x),
             told(right, y), hint);
        return NOTHING;
    }
    return step(w, at, op, x->rank ? x : y, 2, a, b, NOTHING);
}

// ---- Names ----------------------------------------------------------------------------------------------
static binding *find(walk *w, const char *name) {
    for (size_t i = w->n_names; i-- > 0;)
        if (!strcmp(w->names[i].name, name)) return &w->names[i];
    return NULL;
}
static int find_input(const equation_scan *s, const char *name) {
    for (size_t i = 0; i < s->n_inputs; i++)
        if (!strcmp(s->inputs[i].name, name)) return (int)i;
    return -1;
}
static int find_state(const equation_scan *s, const char *name) {
    for (size_t i = 0; i < s->n_states; i++)
        if (!strcmp(s->states[i].name, name)) return (int)i;
    return -1;
}
static int find_weight(const equation_scan *s, const char *name) {
    for (size_t i = 0; i < s->n_weights; i++)
        if (!strcmp(s->weights[i].name, name)) return (int)i;
    return -1;
}
static int find_number(const equation_scan *s, const char *name, double *x) {
    for (size_t i = s->n_numbers; i-- > 0;)
        if (!strcmp(s->numbers[i].name, name)) return *x = s->numbers[i].is, 1;
    return 0;
}
static size_t columns_of(const tensor *t) { return t->shape[t->rank - 1]; }
// Columns of an input in one head.
static size_t head_columns(const equation_scan *s, const scan_input *in) {
    const size_t n = columns_of(in->t);
    return in->shared ? n : n / (s->heads / in->group);
}
// Columns of an input, or those of part `part` of `parts`, as a register: one for all places that read them.
static value input_value(walk *w, const equation_node *at, size_t i, size_t part, size_t parts) {
    const scan_input *in = &w->s->inputs[i];
    program *p = w->p;
    const uint32_t each = (uint32_t)(head_columns(w->s, in) / parts),
                   column = (uint32_t)(columns_of(in->t) / parts * part);
    w->read[i] = 1;
    for (size_t r = 0; r < p->n_registers; r++)
        if (p->registers[r].kind == PROGRAM_INPUT && p->registers[r].of == i &&
            p->registers[r].cols == each && p->registers[r].column == column)
            return (value)r;
    const int r = new_register(w, at, PROGRAM_INPUT, SHAPE(1, 1, each));
    if (r < 0) return NOTHING;
    p->registers[r].of = (uint16_t)i;
    p->registers[r].column = column;
    p->registers[r].stride = in->shared ? 0 : each;
    p->registers[r].group = (uint32_t)in->group;
    if (in->shared || in->group > 1 || parts > 1) p->summed[i] = 1;
    return r;
}

// ---- Sizes: numbers of the text, and columns of inputs --------------------------------------------------
static double size_value(walk *w, const equation_node *n) {
    double a = 0, b = 0;
    switch (n->kind) {
    case EQUATION_NUMBER:
        return n->number;
    case EQUATION_WORD:
        if (!n->first && w->counter && !strcmp(n->name, w->counter)) return w->count;
        if (!n->first && find_input(w->s, n->name) >= 0)
            return (double)head_columns(w->s, &w->s->inputs[find_input(w->s, n->name)]);
        if (!n->first && find_number(w->s, n->name, &a)) return a;
        fail(w, n,
             "%s is no size: a tensor of this scan's list (its columns in one head), or numbers and keys",
             n->name);
        return 0;
    case EQUATION_NEGATE:
        return -size_value(w, n->first);
    case EQUATION_ADD:
    case EQUATION_SUB:
    case EQUATION_MUL:
    case EQUATION_DIVIDE:
        a = size_value(w, n->first);
        b = w->failed ? 1 : size_value(w, n->first->next);
        return n->kind == EQUATION_ADD   ? a + b
               : n->kind == EQUATION_SUB ? a - b
               : n->kind == EQUATION_MUL ? a * b
                                         : a / b;
    case EQUATION_CALL:
        if (!strcmp(n->name, "size") && n->first && !n->first->next) return size_value(w, n->first);
        fail(w, n, "a size is made of numbers, keys and tensors of this scan's list");
        return 0;
    case EQUATION_MATMUL:
        break;
    }
    fail(w, n, "a size is made of numbers, keys and tensors of this scan's list");
    return 0;
}
static size_t whole_size(walk *w, const equation_node *n) {
    const double x = size_value(w, n);
    if (w->failed) return 0;
    if (x >= 1 && x <= 65536 && x == (double)(size_t)x) return (size_t)x;
    fail(w, n, "a size must be a whole number from 1 to 65536");
    return 0;
}

// ---- Weights --------------------------------------------------------------------------------------------
static value weight(walk *w, const equation_node *n) {
    equation_scan *s = w->s;
    const int known = find_weight(s, n->name);
    if (known >= 0) {
        if (n->first) fail(w, n, "%s: only a new weight takes sizes in brackets", n->name);
        return w->weight_reg[known];
    }
    const equation_node *sizes = n->first;
    scan_weight x = {.name = n->name};
    if (sizes && sizes->kind == EQUATION_WORD && !sizes->first && !strcmp(sizes->name, "heads"))
        x.per_head = 1, sizes = sizes->next;
    uint32_t rank = 0, shape[3] = {0};
    if (x.per_head) shape[rank++] = (uint32_t)s->heads;
    size_t size[2] = {1, 1}, n_sizes = 0;
    for (; sizes && n_sizes < 2 && !w->failed; sizes = sizes->next) {
        size[n_sizes] = whole_size(w, sizes);
        shape[rank++] = (uint32_t)size[n_sizes++];
    }
    if (sizes && !w->failed) fail(w, n, "%s has too many sizes: [a][b], or [heads][a][b]", n->name);
    if (w->failed) return NOTHING;
    if (s->n_in == PROGRAM_ARRAYS)
        return fail(w, n, "more than %d tensors, weights and learnt starts in one scan", PROGRAM_ARRAYS);
    shape_in(&x.shape, (uint32_t)n_sizes, size[0], n_sizes == 2 ? size[1] : size[0]);
    const int r = new_register(w, n, PROGRAM_WEIGHT, &x.shape);
    if (r < 0) return NOTHING;
    x.t = w->o->weight(w->o->builder, n, n->name, rank, shape);
    if (!x.t || w->o->g->failed) return w->failed = 1, NOTHING;
    w->p->registers[r].of = (uint16_t)s->n_in;
    w->p->registers[r].stride = x.per_head ? x.shape.rows * x.shape.cols : 0;
    w->p->columns[s->n_in] = (uint32_t)x.t->n;
    s->in[s->n_in++] = x.t;
    w->weight_reg[s->n_weights] = r;
    s->weights[s->n_weights++] = x;
    return r;
}

// ---- Expressions ----------------------------------------------------------------------------------------
static value eval(walk *w, const equation_node *n);

static value word(walk *w, const equation_node *n) {
    double x;
    if (w->counter && !strcmp(n->name, w->counter)) return number(w, n, w->count);
    if (!n->first) {
        binding *b = find(w, n->name);
        if (b) return b->used = 1, b->is;
        const int i = find_input(w->s, n->name);
        if (i >= 0) return input_value(w, n, (size_t)i, 0, 1);
        if (find_number(w->s, n->name, &x)) return number(w, n, x);
    }
    if (n->first || find_weight(w->s, n->name) >= 0) {
        if (n->first && (find(w, n->name) || find_input(w->s, n->name) >= 0))
            return fail(
                w, n,
                "%s: only a new weight takes sizes in brackets; a state holds the row before, part(k, j, "
                "n) has columns",
                n->name);
        return weight(w, n);
    }
    return fail(
        w, n,
        "%s stands neither in the scan's list nor above: a tensor must stand behind over, and a weight "
        "names its sizes, %.12s[a][b]",
        n->name, n->name);
}
static int is_call(const equation_node *n, const char *name) {
    return n->kind == EQUATION_CALL && !strcmp(n->name, name);
}
// The arguments of a call; 0 where there are not as many.
static int arguments(walk *w, const equation_node *n, size_t count, const equation_node **to) {
    size_t i = 0;
    for (const equation_node *a = n->first; a; a = a->next) {
        if (a->key[0]) return fail(w, a, "%s has no argument %s", n->name, a->key), 0;
        if (i < count) to[i] = a;
        i++;
    }
    if (i == count) return 1;
    fail(w, n, "%s takes %zu argument%s", n->name, count, count == 1 ? "" : "s");
    return 0;
}
static int wants(walk *w, const equation_node *at, value v, uint32_t rank, const char *what) {
    char is[48];
    const scan_shape *s = of(w, v);
    if (w->failed) return 0;
    // A scalar is a vector of length 1.
    if (v >= 0 && (s->rank == rank || (rank == 1 && !s->rank))) return 1;
    fail(w, at, "%s must be a %s; this is %s", what, rank == 2 ? "matrix" : "vector",
         v < 0 ? "a number" : told(is, s));
    return 0;
}
static value outer(walk *w, const equation_node *n, value from, int minus) {
    const equation_node *at[2];
    if (!arguments(w, n, 2, at)) return NOTHING;
    const value a = eval(w, at[0]);
    const value b = w->failed ? NOTHING : eval(w, at[1]);
    if (w->failed || !wants(w, at[0], a, 1, "what outer takes") || !wants(w, at[1], b, 1, "what outer takes"))
        return NOTHING;
    const scan_shape *s = SHAPE(2, of(w, a)->cols, of(w, b)->cols);
    if (from >= 0 && same(of(w, from), s))
        return step(w, n, minus ? PROGRAM_SUB_OUTER : PROGRAM_ADD_OUTER, s, 3, from, a, b);
    return step(w, n, PROGRAM_OUTER, s, 2, a, b, NOTHING);
}
static value sum_of(walk *w, const equation_node *n) {
    const int minus = n->kind == EQUATION_SUB;
    const equation_node *l = n->first, *r = l->next;
    const value a = eval(w, l);
    if (w->failed) return NOTHING;
    if (is_call(r, "outer") && of(w, a)->rank == 2) { // one step, where it fits
        const value b = outer(w, r, a, minus);
        if (w->failed) return NOTHING;
        const program_step *last = &w->p->steps[w->p->n_steps - 1];
        if (last->op != PROGRAM_OUTER || last->out != b) return b;
        return binary(w, n, minus ? PROGRAM_SUB : PROGRAM_ADD, a, b, "");
    }
    const value b = eval(w, r);
    if (w->failed) return NOTHING;
    if (a < 0 && b < 0) return number(w, n, number_of(w, a) + (minus ? -number_of(w, b) : number_of(w, b)));
    return binary(w, n, minus ? PROGRAM_SUB : PROGRAM_ADD, a, b,
                  of(w, a)->rank + of(w, b)->rank == 3 ? "; outer(a, b) is a matrix" : "");
}
static value product(walk *w, const equation_node *n) {
    const int divide = n->kind == EQUATION_DIVIDE;
    const value a = eval(w, n->first);
    const value b = w->failed ? NOTHING : eval(w, n->first->next);
    if (w->failed) return NOTHING;
    if (a < 0 && b < 0 && !(divide && number_of(w, b) == 0))
        return number(w, n, divide ? number_of(w, a) / number_of(w, b) : number_of(w, a) * number_of(w, b));
    const uint32_t ranks = of(w, a)->rank + of(w, b)->rank;
    return binary(w, n, divide ? PROGRAM_DIV : PROGRAM_MUL, a, b,
                  divide ? ""
                  : ranks == 3
                      ? "; diag(w) @ S multiplies rows, S @ diag(w) columns"
                      : "; dot(a, b) sums products, outer(a, b) is a matrix, @ the product with one");
}
static int fits(walk *w, const equation_node *n, size_t left, size_t right) {
    if (left == right) return 1;
    fail(w, n, "%zu columns left of @ meet %zu rows in each head", left, right);
    return 0;
}
static value diagonal(walk *w, const equation_node *n) {
    const equation_node *at;
    if (!arguments(w, n, 1, &at)) return NOTHING;
    const value d = eval(w, at);
    return !w->failed && wants(w, at, d, 1, "what diag takes") ? d : NOTHING;
}
static value matmul(walk *w, const equation_node *n) {
    const equation_node *l = n->first, *r = l->next;
    const int left = is_call(l, "diag"), right = is_call(r, "diag") && !left;
    const value a = left ? diagonal(w, l) : eval(w, l);
    const value b = w->failed ? NOTHING : right ? diagonal(w, r) : eval(w, r);
    if (w->failed) return NOTHING;
    const scan_shape *x = of(w, a), *y = of(w, b);
    if (a < 0 || b < 0) return fail(w, n, "@ is a product with a matrix, not with a number");
    if (left)
        return wants(w, r, b, 2, "right of diag(w) @") && fits(w, n, x->cols, y->rows)
                   ? step(w, n, PROGRAM_ROWS, y, 2, a, b, NOTHING)
                   : NOTHING;
    if (right)
        return wants(w, l, a, 2, "left of @ diag(w)") && fits(w, n, x->cols, y->cols)
                   ? step(w, n, PROGRAM_COLUMNS, x, 2, a, b, NOTHING)
                   : NOTHING;
    if (x->rank < 2 && y->rank < 2)
        return fail(
                   w, n,
                   "@ is a product with a matrix; dot(a, b) is that of two vectors, outer(a, b) makes a matrix"),
               NOTHING;
    if (x->rank == 2 && y->rank == 2)
        return fits(w, n, x->cols, y->rows)
                   ? step(w, n, PROGRAM_MATMUL, SHAPE(2, x->rows, y->cols), 2, a, b, NOTHING)
                   : NOTHING;
    if (x->rank == 2)
        return fits(w, n, x->cols, y->cols)
                   ? step(w, n, PROGRAM_MATVEC, SHAPE(1, 1, x->rows), 2, a, b, NOTHING)
                   : NOTHING;
    return fits(w, n, x->cols, y->rows) ? step(w, n, PROGRAM_VECMAT, SHAPE(1, 1, y->cols), 2, a, b, NOTHING)
                                        : NOTHING;
}

// ---- Calls ----------------------------------------------------------------------------------------------
static value sum_entries(walk *w, const equation_node *n, value a) {
    return of(w, a)->rank ? step(w, n, PROGRAM_SUM, &scalar, 1, a, NOTHING, NOTHING) : a;
}
static value dot(walk *w, const equation_node *n, value a, value b) {
    return of(w, a)->rank ? step(w, n, PROGRAM_DOT, &scalar, 2, a, b, NOTHING)
                          : binary(w, n, PROGRAM_MUL, a, b, "");
}
// a times 1 / root, as norm.c has it
static value by_root(walk *w, const equation_node *n, value a, value root, value square) {
    value by = binary(w, n, PROGRAM_DIV, number(w, n, 1), root, "");
    if (square >= 0) // rows of length 0 stay
        by = step(w, n, PROGRAM_SELECT, &scalar, 3,
                  binary(w, n, PROGRAM_SUB, square, number(w, n, 1e-24), ""), by, number(w, n, 0));
    return w->failed ? NOTHING : binary(w, n, PROGRAM_MUL, a, by, "");
}
static value over_mean_square(walk *w, const equation_node *n, value a) {
    const value mean = binary(w, n, PROGRAM_DIV, dot(w, n, a, a), number(w, n, (double)of(w, a)->cols), "");
    return by_root(
        w, n, a, unary(w, n, PROGRAM_SQRT, binary(w, n, PROGRAM_ADD, mean, number(w, n, 1e-5), "")), NOTHING);
}
static value normed(walk *w, const equation_node *n, value a) {
    if (!strcmp(n->name, "unitnorm")) {
        const value square = dot(w, n, a, a);
        return by_root(w, n, a, unary(w, n, PROGRAM_SQRT, square), square);
    }
    if (!strcmp(n->name, "rms")) return over_mean_square(w, n, a);
    if (!strcmp(n->name, "layernorm")) {
        const value mean =
            binary(w, n, PROGRAM_DIV, sum_entries(w, n, a), number(w, n, (double)of(w, a)->cols), "");
        return over_mean_square(w, n, binary(w, n, PROGRAM_SUB, a, mean, ""));
    }
    value m = of(w, a)->rank ? step(w, n, PROGRAM_LARGEST, &scalar, 1, a, NOTHING, NOTHING)
                             : unary(w, n, PROGRAM_COPY, a); // softmax
    m = unary(w, n, PROGRAM_EXP, binary(w, n, PROGRAM_SUB, a, m, ""));
    return binary(w, n, PROGRAM_DIV, m, sum_entries(w, n, m), "");
}
static value part(walk *w, const equation_node *n) {
    const equation_node *name = n->first, *at = name ? name->next : NULL, *count = at ? at->next : NULL;
    if (!at || (count && count->next) || name->kind != EQUATION_WORD || name->first)
        return fail(w, n, "part(k, j), or part(k, j, parts), of a tensor of the scan's list");
    const int i = find(w, name->name) ? -1 : find_input(w->s, name->name);
    if (i < 0) return fail(w, n, "part(k, j), or part(k, j, parts), of a tensor of the scan's list");
    if (!count && !w->repeats)
        return fail(w, n, "outside a repeat part names how many parts there are: part(%.16s, 0, 2)",
                    name->name);
    const double parts = count ? (double)whole_size(w, count) : w->repeats,
                 j = w->failed ? 0 : size_value(w, at);
    if (w->failed) return NOTHING;
    if (!(j >= 0 && j < parts && j == (double)(size_t)j))
        return fail(w, at, "the number of a part must be a whole one from 0 to %u", (unsigned)parts - 1);
    if (head_columns(w->s, &w->s->inputs[i]) % (size_t)parts)
        return fail(w, n, "%s has %zu columns a head, which are not %u equal parts", name->name,
                    head_columns(w->s, &w->s->inputs[i]), (unsigned)parts);
    return input_value(w, n, (size_t)i, (size_t)j, (size_t)parts);
}
static const struct {
    const char *name;
    uint8_t op;
} unaries[] = {{"exp", PROGRAM_EXP},           {"log", PROGRAM_LOG},   {"sqrt", PROGRAM_SQRT},
               {"tanh", PROGRAM_TANH},         {"silu", PROGRAM_SILU}, {"sigmoid", PROGRAM_SIGMOID},
               {"softplus", PROGRAM_SOFTPLUS}, {"relu", PROGRAM_RELU}, {"abs", PROGRAM_ABS}};
static const char *const functions[] = {
#define SCAN_FUNCTION(name, form, says) name,
#include "scan_functions.def"
};
static int is_function(const char *name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i], name)) return 1;
    return 0;
}
static const char *nearest(const char *name) {
    if (!strcmp(name, "norm")) return "sqrt(dot(a, a))";
    const char *best = functions[0];
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (name_distance(name, functions[i]) < name_distance(name, best)) best = functions[i];
    return best;
}
static value power(walk *w, const equation_node *n) {
    const equation_node *at[2];
    if (!arguments(w, n, 2, at)) return NOTHING;
    const value x = eval(w, at[0]);
    const double times = w->failed ? 0 : size_value(w, at[1]);
    if (w->failed) return NOTHING;
    if (!(times >= 1 && times <= 64 && times == (double)(size_t)times))
        return fail(w, at[1], "a power is a whole number from 1 to 64" POWERS);
    value square = x, y = NOTHING;
    for (size_t n_times = (size_t)times; n_times && !w->failed; n_times >>= 1) {
        if (n_times & 1) y = y == NOTHING ? square : binary(w, n, PROGRAM_MUL, y, square, "");
        if (n_times > 1) square = binary(w, n, PROGRAM_MUL, square, square, "");
    }
    return y;
}
static value call(walk *w, const equation_node *n) {
    const equation_node *at[3];
    if (!strcmp(n->name, "power")) return power(w, n);
    if (!strcmp(n->name, "[:]")) return fail(w, n, "in a scan part(k, j, n) takes columns");
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (!strcmp(unaries[i].name, n->name)) {
            if (!arguments(w, n, 1, at)) return NOTHING;
            value a = eval(w, at[0]);
            return w->failed ? NOTHING : unary(w, n, (program_op)unaries[i].op, a);
        }
    if (!strcmp(n->name, "outer")) return outer(w, n, NOTHING, 0);
    if (!strcmp(n->name, "part")) return part(w, n);
    if (!strcmp(n->name, "diag"))
        return fail(w, n, "diag stands beside a product: diag(w) @ S multiplies rows, S @ diag(w) columns");
    const int two = !strcmp(n->name, "max") || !strcmp(n->name, "min"), is_dot = !strcmp(n->name, "dot");
    const int select = !strcmp(n->name, "select");
    if (!is_function(n->name))
        return fail(w, n,
                    w->o->reserved(w->o->builder, n->name)
                        ? "a scan has no function %s: it stands in a line above; the nearest is %s"
                        : "a scan has no function %s; the nearest is %s",
                    n->name, nearest(n->name));
    const size_t count = select ? 3 : two || is_dot ? 2 : 1;
    value a[3] = {NOTHING, NOTHING, NOTHING};
    if (!arguments(w, n, count, at)) return NOTHING;
    for (size_t i = 0; i < count; i++) {
        a[i] = eval(w, at[i]);
        if (w->failed) return NOTHING;
    }
    if (two) return binary(w, n, n->name[1] == 'a' ? PROGRAM_MAX : PROGRAM_MIN, a[0], a[1], "");
    if (is_dot) {
        char x[48], y[48];
        if (!wants(w, at[0], a[0], 1, "what dot takes") || !wants(w, at[1], a[1], 1, "what dot takes"))
            return NOTHING;
        if (!same(of(w, a[0]), of(w, a[1])))
            return fail(w, n, "dot of %s and %s", told(x, of(w, a[0])), told(y, of(w, a[1])));
        return dot(w, n, a[0], a[1]);
    }
    if (select) {
        const scan_shape *s = &scalar;
        for (size_t i = 0; i < 3; i++)
            if (of(w, a[i])->rank) s = of(w, a[i]);
        for (size_t i = 0; i < 3; i++)
            if (of(w, a[i])->rank && !same(of(w, a[i]), s))
                return fail(w, n, "select takes values of one shape, or scalars");
        return step(w, n, PROGRAM_SELECT, s, 3, a[0], a[1], a[2]);
    }
    const scan_shape *s = of(w, a[0]);
    if (!strcmp(n->name, "size")) {
        if (s->rank == 2) return fail(w, n, "size takes a vector");
        return number(w, n, s->cols);
    }
    if (a[0] < 0) a[0] = number_register(w, n, number_of(w, a[0]), &scalar);
    if (w->failed) return NOTHING;
    if (!strcmp(n->name, "sum")) return sum_entries(w, n, a[0]);
    if (!strcmp(n->name, "transpose"))
        return wants(w, at[0], a[0], 2, "what transpose takes")
                   ? step(w, n, PROGRAM_TRANSPOSE, SHAPE(2, s->cols, s->rows), 1, a[0], NOTHING, NOTHING)
                   : NOTHING;
    return wants(w, at[0], a[0], 1, "what a norm or softmax takes") ? normed(w, n, a[0]) : NOTHING;
}
static value eval(walk *w, const equation_node *n) {
    value v;
    switch (n->kind) {
    case EQUATION_NUMBER:
        return number(w, n, n->number);
    case EQUATION_WORD:
        return word(w, n);
    case EQUATION_NEGATE:
        v = eval(w, n->first);
        return w->failed ? NOTHING : v < 0 ? number(w, n, -number_of(w, v)) : unary(w, n, PROGRAM_NEGATE, v);
    case EQUATION_ADD:
    case EQUATION_SUB:
        return sum_of(w, n);
    case EQUATION_MUL:
    case EQUATION_DIVIDE:
        return product(w, n);
    case EQUATION_MATMUL:
        return matmul(w, n);
    case EQUATION_CALL:
        return call(w, n);
    }
    return NOTHING;
}

// ---- Lines ----------------------------------------------------------------------------------------------
static void assign(walk *w, const equation_line *l) {
    const equation_node here = {.line = l->line, .column = l->column};
    char left[48], right[48];
    double x;
    if (!l->name[0]) {
        fail(w, &here, "a line of a scan assigns a name: o = ...");
        return;
    }
    if (!strcmp(l->name, "x") || find_input(w->s, l->name) >= 0 || is_function(l->name) ||
        w->o->reserved(w->o->builder, l->name) || find_number(w->s, l->name, &x) ||
        find_weight(w->s, l->name) >= 0 || (w->counter && !strcmp(w->counter, l->name))) {
        fail(w, &here,
             "%s is taken: x, functions, weights, numbers and tensors of the scan's list keep their names",
             l->name);
        return;
    }
    value v = eval(w, l->value);
    if (w->failed) return;
    const int state = find_state(w->s, l->name);
    if (state >= 0) {
        const scan_shape *wanted = &w->s->states[state].shape;
        if (v < 0) v = number_register(w, l->value, number_of(w, v), wanted);
        if (w->failed) return;
        if (!same(of(w, v), wanted)) {
            fail(w, &here, "the state %s is %s, and this is %s%s", l->name, told(left, wanted),
                 told(right, of(w, v)),
                 wanted->rank == 2 && of(w, v)->rank == 1 ? "; outer(a, b) is a matrix" : "");
            return;
        }
        w->assigned[state] = 1;
        for (size_t i = 0; i < w->n_names; i++) // a state's is the first binding of its name
            if (!strcmp(w->names[i].name, l->name)) w->names[i].is = v;
        return;
    }
    binding *b = find(w, l->name);
    if (!b) {
        if (w->n_names == sizeof w->names / sizeof *w->names) return; // (never: lines are counted)
        b = &w->names[w->n_names++];
        *b = (binding){.name = l->name, .line = l->line, .column = l->column};
    }
    b->is = v;
}
static void run_lines(walk *w, size_t from, size_t end) {
    for (size_t i = from; i < end && !w->failed; i++) {
        const equation_line *l = &w->s->e->lines[i];
        if (l->kind == LINE_EQUATION) {
            assign(w, l);
            continue;
        }
        const size_t times = whole_size(w, l->value); // (a scan cannot stand here)
        if (w->failed) return;
        if (times > SCAN_REPEATS) fail(w, l->value, "at most %d repeats", SCAN_REPEATS);
        w->repeats = (double)times;
        w->counter = l->name;
        for (size_t j = 0; j < times && !w->failed; j++) {
            w->count = (double)j;
            run_lines(w, i + 1, l->end);
        }
        w->counter = NULL;
        w->repeats = 0;
        i = l->end - 1u;
    }
}

// ---- The header -----------------------------------------------------------------------------------------
static void read_inputs(walk *w, const equation_line *l) {
    equation_scan *s = w->s;
    for (const equation_node *n = l->over; n && !w->failed; n = n->next) {
        const int shared = is_call(n, "shared"), grouped = is_call(n, "grouped");
        const equation_node *name = shared || grouped ? n->first : n;
        if (s->n_inputs == PROGRAM_INPUTS) {
            fail(w, n, "a scan reads at most %d tensors", PROGRAM_INPUTS);
            return;
        }
        if (!name || name->kind != EQUATION_WORD || name->first ||
            (grouped && (!name->next || name->next->next)) ||
            (n->kind == EQUATION_CALL && !shared && !grouped)) {
            fail(w, n, "behind over stand names of tensors, shared b, or grouped(k, 2)");
            return;
        }
        if (find_input(s, name->name) >= 0 || find_state(s, name->name) >= 0) {
            fail(w, name, "%s stands in this scan's head already", name->name);
            return;
        }
        scan_input *in = &s->inputs[s->n_inputs];
        *in = (scan_input){.name = name->name, .shared = shared, .group = 1};
        in->t = w->o->tensor(w->o->builder, name);
        if (!in->t || w->o->g->failed) {
            w->failed = 1;
            return;
        }
        if (grouped) in->group = whole_size(w, name->next);
        s->n_inputs++;
    }
}
static const equation_node *input_node(const equation_line *l, size_t i) {
    const equation_node *n = l->over;
    while (i--) n = n->next;
    return n;
}
static void divide_heads(walk *w, const equation_line *l) {
    equation_scan *s = w->s;
    s->heads = l->by == BY_ONE ? 1 : w->o->heads;
    for (size_t i = 0; i < s->n_inputs && l->by == BY_COLUMNS; i++)
        if (!s->inputs[i].shared) {
            s->heads = columns_of(s->inputs[i].t) * s->inputs[i].group;
            break;
        }
    for (size_t i = 0; i < s->n_inputs && !w->failed; i++) {
        const scan_input *in = &s->inputs[i];
        const size_t n = columns_of(in->t);
        if (!in->shared && (s->heads % in->group || n % (s->heads / in->group)))
            fail(
                w, input_node(l, i),
                "%s has %zu columns, which %zu heads do not divide; shared %.16s gives all of them to every head",
                in->name, n, s->heads, in->name);
        else if (l->by == BY_COLUMNS && !in->shared && n != s->heads / in->group)
            fail(w, input_node(l, i), "by columns: %s has %zu columns, and the first tensor of the list %zu",
                 in->name, n, s->heads);
        w->p->columns[i] = (uint32_t)n;
        s->in[s->n_in++] = in->t;
    }
}
static void read_states(walk *w, const equation_line *l) {
    equation_scan *s = w->s;
    uint64_t all = 0;
    for (const equation_node *n = l->value; n && !w->failed; n = n->next) {
        if (s->n_states == PROGRAM_STATES) {
            fail(w, n, "a scan has at most %d states", PROGRAM_STATES);
            return;
        }
        if (find_state(s, n->name) >= 0 || find_input(s, n->name) >= 0 || !strcmp(n->name, "x") ||
            is_function(n->name) || w->o->reserved(w->o->builder, n->name)) {
            fail(w, n, "%s is taken: a state needs a name of its own", n->name);
            return;
        }
        size_t size[2] = {1, 1}, rank = 0;
        for (const equation_node *m = n->first; m && !w->failed; m = m->next) {
            if (rank == 2)
                fail(w, n, "the state %s has more than two sizes: [rows][columns] of a head", n->name);
            if (!w->failed) size[rank++] = whole_size(w, m);
        }
        if (w->failed) return;
        scan_state *x = &s->states[s->n_states++];
        *x = (scan_state){.name = n->name, .line = n->line, .column = n->column};
        shape_in(&x->shape, (uint32_t)rank, size[0], rank == 2 ? size[1] : size[0]);
        all += (uint64_t)size[0] * size[1] * s->heads;
        if (all > SCAN_STATE_FLOATS) {
            fail(w, n, "the states of a sequence have more than %d numbers (2^22)", SCAN_STATE_FLOATS);
            return;
        }
        if (all * w->o->g->B > SCAN_BATCH_FLOATS) {
            fail(w, n, "the states of %zu sequences have more than %d numbers (2^26)", w->o->g->B,
                 SCAN_BATCH_FLOATS);
            return;
        }
        const int r = new_register(w, n, PROGRAM_STATE, &x->shape);
        if (r < 0) return;
        w->names[w->n_names++] =
            (binding){.name = n->name, .is = r, .line = n->line, .column = n->column, .used = 1};
    }
}
static void start_states(walk *w, const equation_line *l) {
    equation_scan *s = w->s;
    const equation_node *n = l->value;
    for (size_t i = 0; i < s->n_states && !w->failed; i++, n = n->next) {
        scan_state *x = &s->states[i];
        program_state *to = &w->p->states[i];
        char name[EQUATION_NAME + 8];
        *to = (program_state){.in = (uint16_t)i, .learned = -1}; // (registers of states are the first)
        const int how = w->o->start(w->o->builder, x->name, &x->start);
        to->start = (float)x->start;
        if (how != 2) continue;
        if (s->n_in == PROGRAM_ARRAYS) {
            fail(w, n, "more than %d tensors, weights and learnt starts in one scan", PROGRAM_ARRAYS);
            return;
        }
        uint32_t shape[3] = {(uint32_t)s->heads}, rank = 1;
        if (x->shape.rank == 2) shape[rank++] = x->shape.rows;
        if (x->shape.rank) shape[rank++] = x->shape.cols;
        snprintf(name, sizeof name, "%.10s_start", x->name);
        x->learned = w->o->weight(w->o->builder, NULL, name, rank, shape);
        if (!x->learned || w->o->g->failed) {
            w->failed = 1;
            return;
        }
        w->p->columns[s->n_in] = (uint32_t)x->learned->n;
        to->learned = (int16_t)s->n_in;
        s->in[s->n_in++] = x->learned;
    }
}

// ---- What the text sees afterwards ----------------------------------------------------------------------
static void end_states(walk *w, const equation_line *l) {
    equation_scan *s = w->s;
    uint8_t ends[PROGRAM_REGISTERS] = {0};
    const equation_node *n = l->value;
    for (size_t i = 0; i < s->n_states && !w->failed; i++, n = n->next) {
        value v = find(w, s->states[i].name)->is;
        if (!w->assigned[i]) {
            fail(w, n, "the state %s is never assigned in the lines of this scan", n->name);
            return;
        }
        if (w->p->registers[v].kind != PROGRAM_STEP || ends[v]) v = unary(w, n, PROGRAM_COPY, v);
        if (w->failed) return;
        find(w, s->states[i].name)->is = v;
        ends[v] = 1;
        w->p->states[i].out = (uint16_t)v;
    }
}
static void give_outputs(walk *w, size_t line) {
    equation_scan *s = w->s;
    program *p = w->p;
    for (size_t i = 0; i < w->n_names && !w->failed; i++) {
        const binding *b = &w->names[i];
        const equation_node at = {.line = b->line, .column = b->column};
        const int wanted = w->o->wanted(w->o->builder, line, b->name);
        if (!wanted && !b->used) fail(w, &at, "nothing uses %s", b->name);
        if (!wanted || w->failed) continue;
        value v = b->is;
        if (of(w, v)->rank == 2) {
            fail(w, &at,
                 "%s is a matrix in each head and cannot be used after the scan; q @ %.16s is a row of it",
                 b->name, b->name);
            return;
        }
        if (p->n_outputs == PROGRAM_OUTPUTS) {
            fail(w, &at, "more than %d names of this scan are used after it", PROGRAM_OUTPUTS);
            return;
        }
        if (v < 0 || p->registers[v].kind != PROGRAM_STEP) v = unary(w, &at, PROGRAM_COPY, v);
        if (w->failed) return;
        const uint32_t cols = of(w, v)->cols;
        s->outputs[s->n_outputs++] = (scan_output){b->name, (uint32_t)p->out_columns, cols};
        p->outputs[p->n_outputs++] =
            (program_output){.from = (uint16_t)v, .column = (uint32_t)p->out_columns};
        p->out_columns += cols * s->heads;
    }
    if (!w->failed && !s->n_outputs) {
        const equation_line *l = &s->e->lines[line];
        const equation_node at = {.line = l->line, .column = l->column};
        fail(w, &at, "nothing of this scan is used after it");
    }
}

// A program of scalars: its heads become the columns of one head, so that lanes have work.
static void lay_side_by_side(walk *w) {
    program *p = w->p;
    uint8_t wide[PROGRAM_REGISTERS] = {0};
    for (size_t r = 0; r < p->n_registers; r++)
        if (w->shapes[r].rank || p->registers[r].group > 1) return;
    if (w->s->heads == 1) return;
    const uint32_t H = (uint32_t)w->s->heads;
    for (size_t r = 0; r < p->n_registers; r++) {
        program_register *x = &p->registers[r];
        if (x->kind == PROGRAM_STATE ||
            ((x->kind == PROGRAM_INPUT || x->kind == PROGRAM_WEIGHT) && x->stride))
            wide[r] = 1;
    }
    for (size_t k = 0; k < p->n_steps; k++)
        for (size_t i = 0; i < p->steps[k].operands; i++) wide[p->steps[k].out] |= wide[p->steps[k].in[i]];
    for (size_t i = 0; i < p->n_states; i++)
        if (!wide[p->states[i].out]) return; // (a state that depends on NOTHING of its head)
    for (size_t i = 0; i < p->n_outputs; i++)
        if (!wide[p->outputs[i].from]) return;
    for (size_t r = 0; r < p->n_registers; r++)
        if (wide[r]) p->registers[r].cols = H;
    for (size_t k = 0; k < p->n_steps; k++)
        for (size_t i = 0; i < p->steps[k].operands; i++)
            if (wide[p->steps[k].out] && !wide[p->steps[k].in[i]]) p->steps[k].scalar |= (uint8_t)(1u << i);
    p->heads = 1;
}

tensor *equations_scan(equation_scan *s, const equations *e, size_t at, const scan_around *around) {
    const equation_line *l = &e->lines[at];
    const equation_node here = {.line = l->line, .column = l->column};
    walk *w = calloc(1, sizeof *w);
    program *p = calloc(1, sizeof *p);
    tensor *out = NULL;
    s->e = e;
    s->first = at + 1;
    s->end = l->end;
    if (!w || !p) {
        graph_fail(around->g, "out of memory for a scan");
    } else {
        w->s = s, w->o = around, w->p = p;
        if (s->end - s->first > SCAN_LINES) fail(w, &here, "a scan has at most %d lines", SCAN_LINES);
        if (!w->failed) read_inputs(w, l);
        if (!w->failed) divide_heads(w, l);
        if (!w->failed) read_states(w, l);
        if (!w->failed) start_states(w, l);
        if (!w->failed) run_lines(w, s->first, s->end);
        if (!w->failed) end_states(w, l);
        for (size_t i = 0; i < s->n_inputs && !w->failed; i++)
            if (!w->read[i]) fail(w, input_node(l, i), "nothing in this scan reads %s", s->inputs[i].name);
        if (!w->failed) give_outputs(w, at);
    }
    if (w && p && !w->failed && !around->g->failed) {
        p->n_states = s->n_states;
        p->n_inputs = s->n_inputs;
        p->n_arrays = s->n_in;
        p->heads = s->heads;
        lay_side_by_side(w);
        smx_program_plan(p);
        out = s->out = op_program(around->g, s->in, s->n_in, p);
    }
    free(w);
    free(p);
    return out;
}
