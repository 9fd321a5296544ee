// scan.c: see scan.h. Each head of each sequence: every row's lines are computed from their trees, and what
// is computed is written down, entry after entry; backward goes through that list from its end.
// Long because the second reading stands alone: every form of the language, and its derivative.
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is written down: rank 0, 1 or 2, `rows` x `cols` numbers from `at` on.
typedef struct {
    char sign;        // of two: + - * / and so on; see apply
    const char *name; // of a function
    int in[3], array; // earlier entries, -1: none; of what is read: the array
    size_t rows, cols, at, from;
    int rank;
} entry;
typedef struct {
    int entry; // -1: a number
    double number;
} term;
typedef struct {
    const char *name;
    term is;
} known;
typedef struct {
    const twin_call *c;
    const equation_scan *s;
    size_t b, head, t;
    entry *list;
    size_t n, room;
    double *v, *g; // values, gradients
    size_t n_v, room_v, room_g;
    known names[128];
    size_t n_names;
    double repeats;
    int failed;
} reader;

static int grow(void **list, size_t need, size_t *room, size_t size) {
    if (need <= *room) return 1;
    const size_t more = need * 2 + 256;
    void *longer = realloc(*list, more * size);
    if (!longer) return 0;
    *list = longer;
    *room = more;
    return 1;
}
static size_t size_of(const entry *e) { return e->rows * e->cols; }
static entry *at(reader *r, term x) { return &r->list[x.entry]; }
static double *value_of(reader *r, int e) { return r->v + r->list[e].at; }

// A new entry; its numbers are the caller's to write.
static term add(reader *r, char sign, const char *name, int rank, size_t rows, size_t cols, term a, term b,
                term c) {
    if (r->failed || !grow((void **)&r->list, r->n + 1, &r->room, sizeof *r->list) ||
        !grow((void **)&r->v, r->n_v + rows * cols, &r->room_v, sizeof *r->v)) {
        r->failed = 1;
        return (term){-1, 0};
    }
    r->list[r->n] = (entry){sign, name, {a.entry, b.entry, c.entry}, -1, rows, cols, r->n_v, 0, rank};
    r->n_v += rows * cols;
    return (term){(int)r->n++, 0};
}
static const term none = {-1, 0};
static term constant(reader *r, double x) {
    const term t = add(r, 'n', "", 0, 1, 1, none, none, none);
    if (!r->failed) *value_of(r, t.entry) = x;
    return t;
}
static term fixed(reader *r, term x) { return x.entry < 0 ? constant(r, x.number) : x; }
// Numbers of an array of the call.
static term read_array(reader *r, size_t array, size_t from, int rank, size_t rows, size_t cols) {
    const term t = add(r, 'r', "", rank, rows, cols, none, none, none);
    if (r->failed) return t;
    r->list[t.entry].array = (int)array;
    r->list[t.entry].from = from;
    memcpy(value_of(r, t.entry), r->c->in[array] + from, rows * cols * sizeof(double));
    return t;
}
// What float32 might have done.
static void finish(reader *r, term x) {
    const entry *e = at(r, x);
    for (size_t i = 0; r->c->rounding > 0 && i < size_of(e); i++)
        r->v[e->at + i] *= 1.0 + r->c->rounding * (2.0 * rng_uniform(r->c->random) - 1.0);
}

// ---- One function, and its derivative -------------------------------------------------------------------
static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double of_one(const char *f, double x) {
    return !strcmp(f, "exp")        ? exp(x)
           : !strcmp(f, "log")      ? log(x)
           : !strcmp(f, "sqrt")     ? sqrt(x)
           : !strcmp(f, "tanh")     ? tanh(x)
           : !strcmp(f, "sigmoid")  ? sigmoid(x)
           : !strcmp(f, "silu")     ? x * sigmoid(x)
           : !strcmp(f, "softplus") ? fmax(x, 0) + log1p(exp(-fabs(x)))
           : !strcmp(f, "relu")     ? fmax(x, 0)
                                    : fabs(x);
}
static double slope_of_one(const char *f, double x) {
    const double s = sigmoid(x), th = tanh(x);
    return !strcmp(f, "exp")        ? exp(x)
           : !strcmp(f, "log")      ? 1 / x
           : !strcmp(f, "sqrt")     ? (x > 0 ? 0.5 / sqrt(x) : 0)
           : !strcmp(f, "tanh")     ? 1 - th * th
           : !strcmp(f, "sigmoid")  ? s * (1 - s)
           : !strcmp(f, "silu")     ? s + x * s * (1 - s)
           : !strcmp(f, "softplus") ? s
           : !strcmp(f, "relu")     ? x > 0
                                    : (x > 0) - (x < 0);
}
static int is_of_one(const char *f) {
    static const char *const list[] = {"exp",  "log",      "sqrt", "tanh", "sigmoid",
                                       "silu", "softplus", "relu", "abs"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(f, list[i])) return 1;
    return 0;
}
static double of_two(char sign, double x, double y) {
    return sign == '+'   ? x + y
           : sign == '-' ? x - y
           : sign == '*' ? x * y
           : sign == '/' ? x / y
           : sign == '>' ? (x > y ? x : y)
                         : (x < y ? x : y);
}
// The derivative for the first (k = 0) or second.
static double slope_of_two(char sign, int k, double x, double y) {
    switch (sign) {
    case '+':
        return 1;
    case '-':
        return k ? -1 : 1;
    case '*':
        return k ? x : y;
    case '/':
        return k ? -x / y / y : 1 / y;
    case '>':
        return (x > y) != k;
    default:
        return (x < y) != k;
    }
}
// A row to length 1, root mean square 1, mean 0 and deviation 1, or its softmax.
static double spread_of(const double *x, size_t n, const char *f, double *mean) {
    double sum = 0;
    *mean = 0;
    if (f[0] == 'l')
        for (size_t i = 0; i < n; i++) *mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) sum += (x[i] - *mean) * (x[i] - *mean);
    if (f[0] == 'u') return sum > 1e-24 ? 1 / sqrt(sum) : 0;
    return 1 / sqrt(sum / (double)n + 1e-5);
}
static void norm_row(double *y, const double *x, size_t n, const char *f) {
    double mean, sum = 0, most = x[0];
    if (strcmp(f, "softmax")) {
        const double by = spread_of(x, n, f, &mean);
        for (size_t i = 0; i < n; i++) y[i] = (x[i] - mean) * by;
        return;
    }
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - most);
    for (size_t i = 0; i < n; i++) y[i] = exp(x[i] - most) / sum;
}
static void norm_row_back(double *dx, const double *dy, const double *y, const double *x, size_t n,
                          const char *f) {
    double mean, along = 0, sum = 0;
    for (size_t i = 0; i < n; i++) along += dy[i] * y[i], sum += dy[i];
    if (!strcmp(f, "softmax")) {
        for (size_t i = 0; i < n; i++) dx[i] += y[i] * (dy[i] - along);
        return;
    }
    const double by = spread_of(x, n, f, &mean), size = f[0] == 'u' ? 1 : (double)n;
    for (size_t i = 0; i < n; i++)
        dx[i] += by * (dy[i] - y[i] * along / size - (f[0] == 'l' ? sum / (double)n : 0));
}

// ---- Forward, a tree at a time --------------------------------------------------------------------------
static term eval(reader *r, const equation_node *n);

static term entrywise(reader *r, char sign, term a, term b) {
    if (a.entry < 0 && b.entry < 0) return (term){-1, of_two(sign, a.number, b.number)};
    a = fixed(r, a);
    b = fixed(r, b);
    if (r->failed) return none;
    const entry *big = at(r, a)->rank >= at(r, b)->rank ? at(r, a) : at(r, b);
    const term t = add(r, sign, "", big->rank, big->rows, big->cols, a, b, none);
    if (r->failed) return none;
    const size_t na = size_of(at(r, a)), nb = size_of(at(r, b));
    for (size_t i = 0; i < size_of(at(r, t)); i++)
        value_of(r, t.entry)[i] =
            of_two(sign, value_of(r, a.entry)[na > 1 ? i : 0], value_of(r, b.entry)[nb > 1 ? i : 0]);
    finish(r, t);
    return t;
}
static term product(reader *r, const equation_node *n) {
    const equation_node *l = n->first, *m = l->next;
    const int dl = l->kind == EQUATION_CALL && !strcmp(l->name, "diag"),
              dm = m->kind == EQUATION_CALL && !strcmp(m->name, "diag");
    const term a = eval(r, dl ? l->first : l), b = eval(r, dm ? m->first : m);
    if (r->failed || a.entry < 0 || b.entry < 0) return r->failed = 1, none;
    const entry x = *at(r, a), y = *at(r, b);
    const char sign = dl ? 'D' : dm ? 'd' : '@';
    // A row left of @ stands, a column right of it lies.
    const size_t rows = dl ? y.rows : dm ? x.rows : x.rank == 2 && y.rank == 2 ? x.rows : 1;
    const size_t cols = dl ? y.cols : dm ? x.cols : y.rank == 2 ? y.cols : x.rows;
    const term t = add(r, sign, "", dl || dm || (x.rank == 2 && y.rank == 2) ? 2 : 1, rows, cols, a, b, none);
    if (r->failed) return none;
    double *o = value_of(r, t.entry);
    const double *u = value_of(r, a.entry), *w = value_of(r, b.entry);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double sum = 0;
            if (dl)
                sum = u[i] * w[i * cols + j];
            else if (dm)
                sum = u[i * cols + j] * w[j];
            else if (y.rank == 2)
                for (size_t k = 0; k < y.rows; k++) sum += u[i * x.cols + k] * w[k * y.cols + j];
            else
                for (size_t k = 0; k < x.cols; k++) sum += u[j * x.cols + k] * w[k];
            o[i * cols + j] = sum;
        }
    finish(r, t);
    return t;
}
static size_t head_columns(const reader *r, const scan_input *in) {
    const size_t n = in->t->shape[in->t->rank - 1];
    return in->shared ? n : n * in->group / r->s->heads;
}
static term read_input(reader *r, size_t i, size_t part, size_t parts) {
    const scan_input *in = &r->s->inputs[i];
    const size_t n = in->t->shape[in->t->rank - 1], each = head_columns(r, in) / parts;
    const size_t column = part * (n / parts) + (in->shared ? 0 : r->head / in->group * each);
    return read_array(r, i, (r->b * r->c->L + r->t) * n + column, each > 1, 1, each);
}
static size_t array_of(const reader *r, const tensor *t) {
    size_t i = r->s->n_inputs;
    while (r->s->in[i] != t) i++;
    return i;
}
static term word(reader *r, const char *name) {
    const equation_scan *s = r->s;
    for (size_t i = r->n_names; i-- > 0;)
        if (!strcmp(r->names[i].name, name)) return r->names[i].is;
    for (size_t i = 0; i < s->n_inputs; i++)
        if (!strcmp(s->inputs[i].name, name)) return read_input(r, i, 0, 1);
    for (size_t i = 0; i < s->n_weights; i++) {
        const scan_weight *w = &s->weights[i];
        const size_t each = (size_t)w->shape.rows * w->shape.cols;
        if (!strcmp(w->name, name))
            return read_array(r, array_of(r, w->t), w->per_head ? r->head * each : 0, (int)w->shape.rank,
                              w->shape.rows, w->shape.cols);
    }
    for (size_t i = s->n_numbers; i-- > 0;)
        if (!strcmp(s->numbers[i].name, name)) return (term){-1, s->numbers[i].is};
    return r->failed = 1, none;
}
static term call(reader *r, const equation_node *n) {
    const char *f = n->name;
    const equation_node *first = n->first, *second = first ? first->next : NULL;
    if (!strcmp(f, "part")) {
        size_t i = 0;
        while (strcmp(r->s->inputs[i].name, first->name)) i++;
        const double part = eval(r, second).number,
                     parts = second->next ? eval(r, second->next).number : r->repeats;
        return read_input(r, i, (size_t)part, (size_t)parts);
    }
    if (!strcmp(f, "power")) {
        const term x = eval(r, first);
        term y = x;
        for (double n = eval(r, second).number; n > 1 && !r->failed; n--) y = entrywise(r, '*', y, x);
        return y;
    }
    term a = eval(r, first), b = second ? eval(r, second) : none;
    if (r->failed) return none;
    if (!strcmp(f, "max") || !strcmp(f, "min"))
        return entrywise(r, f[1] == 'a' ? '>' : '<', fixed(r, a), fixed(r, b));
    if (!strcmp(f, "size")) return (term){-1, a.entry < 0 ? 1 : (double)at(r, a)->cols};
    a = fixed(r, a);
    if (r->failed) return none;
    const entry x = *at(r, a);
    term t;
    double *o;
    if (!strcmp(f, "select")) {
        b = fixed(r, b);
        const term c = fixed(r, eval(r, second->next));
        if (r->failed) return none;
        const entry *big = at(r, a);
        if (at(r, b)->rank > big->rank) big = at(r, b);
        if (at(r, c)->rank > big->rank) big = at(r, c);
        t = add(r, '?', f, big->rank, big->rows, big->cols, a, b, c);
        if (r->failed) return none;
        for (size_t i = 0; i < size_of(at(r, t)); i++) {
            const double chooses = value_of(r, a.entry)[size_of(at(r, a)) > 1 ? i : 0];
            const term from = chooses > 0 ? b : c;
            value_of(r, t.entry)[i] = value_of(r, from.entry)[size_of(at(r, from)) > 1 ? i : 0];
        }
        return t;
    }
    if (is_of_one(f)) {
        t = add(r, 'f', f, x.rank, x.rows, x.cols, a, none, none);
        for (size_t i = 0; !r->failed && i < size_of(&x); i++)
            value_of(r, t.entry)[i] = of_one(f, value_of(r, a.entry)[i]);
    } else if (!strcmp(f, "sum") || !strcmp(f, "dot")) {
        t = add(r, f[0] == 's' ? 'S' : '.', f, 0, 1, 1, a, f[0] == 's' ? none : b, none);
        if (r->failed) return none;
        o = value_of(r, t.entry);
        *o = 0;
        for (size_t i = 0; i < size_of(&x); i++)
            *o += value_of(r, a.entry)[i] * (f[0] == 'd' ? value_of(r, b.entry)[i] : 1);
    } else if (!strcmp(f, "outer")) {
        const size_t cols = at(r, b)->cols;
        t = add(r, 'o', f, 2, x.cols, cols, a, b, none);
        for (size_t i = 0; !r->failed && i < x.cols; i++)
            for (size_t j = 0; j < cols; j++)
                value_of(r, t.entry)[i * cols + j] = value_of(r, a.entry)[i] * value_of(r, b.entry)[j];
    } else if (!strcmp(f, "transpose")) {
        t = add(r, 't', f, 2, x.cols, x.rows, a, none, none);
        for (size_t i = 0; !r->failed && i < size_of(&x); i++)
            value_of(r, t.entry)[i % x.cols * x.rows + i / x.cols] = value_of(r, a.entry)[i];
    } else {
        t = add(r, 'w', f, x.rank, 1, x.cols, a, none, none);
        if (!r->failed) norm_row(value_of(r, t.entry), value_of(r, a.entry), x.cols, f);
    }
    if (!r->failed) finish(r, t);
    return t;
}
static term eval(reader *r, const equation_node *n) {
    static const char signs[] = {
        [EQUATION_ADD] = '+', [EQUATION_SUB] = '-', [EQUATION_MUL] = '*', [EQUATION_DIVIDE] = '/'};
    if (r->failed) return none;
    if (n->kind == EQUATION_NUMBER) return (term){-1, n->number};
    if (n->kind == EQUATION_WORD) return word(r, n->name);
    if (n->kind == EQUATION_CALL) return call(r, n);
    if (n->kind == EQUATION_MATMUL) return product(r, n);
    const term a = eval(r, n->first);
    if (n->kind == EQUATION_NEGATE) return entrywise(r, '*', (term){-1, -1}, a);
    return entrywise(r, signs[n->kind], a, eval(r, n->first->next));
}

// ---- Lines, rows, heads ---------------------------------------------------------------------------------
static void name(reader *r, const char *name, term is) {
    size_t i = 0;
    while (i < r->n_names && strcmp(r->names[i].name, name)) i++;
    if (i == sizeof r->names / sizeof *r->names) {
        r->failed = 1;
        return;
    }
    r->names[i] = (known){name, is};
    if (i == r->n_names) r->n_names++;
}
static void run_lines(reader *r, size_t from, size_t end) {
    for (size_t i = from; i < end && !r->failed; i++) {
        const equation_line *l = &r->s->e->lines[i];
        if (l->kind == LINE_EQUATION) {
            term x = eval(r, l->value);
            for (size_t k = 0; k < r->s->n_states; k++) // a number fills a state
                if (x.entry < 0 && !strcmp(r->s->states[k].name, l->name)) {
                    const scan_shape s = r->s->states[k].shape;
                    const double number = x.number;
                    x = add(r, 'n', "", (int)s.rank, s.rows, s.cols, none, none, none);
                    for (size_t j = 0; !r->failed && j < (size_t)s.rows * s.cols; j++)
                        value_of(r, x.entry)[j] = number;
                }
            name(r, l->name, x);
            continue;
        }
        r->repeats = eval(r, l->value).number;
        for (double j = 0; j < r->repeats && !r->failed; j++) {
            name(r, l->name, (term){-1, j});
            run_lines(r, i + 1, l->end);
        }
        r->repeats = 0;
        i = l->end - 1u;
    }
}
static void begin_states(reader *r) {
    for (size_t i = 0; i < r->s->n_states; i++) {
        const scan_state *s = &r->s->states[i];
        const size_t n = (size_t)s->shape.rows * s->shape.cols;
        term x;
        if (s->learned) {
            x = read_array(r, array_of(r, s->learned), r->head * n, (int)s->shape.rank, s->shape.rows,
                           s->shape.cols);
        } else {
            x = add(r, 'n', "", (int)s->shape.rank, s->shape.rows, s->shape.cols, none, none, none);
            for (size_t k = 0; !r->failed && k < n; k++) value_of(r, x.entry)[k] = s->start;
        }
        name(r, s->name, x);
    }
}
// [state][B][heads][..], one state after the other.
static void keep_states(reader *r) {
    double *to = r->c->last;
    for (size_t i = 0; i < r->s->n_states; i++) {
        const scan_shape s = r->s->states[i].shape;
        const size_t n = (size_t)s.rows * s.cols, heads = r->s->heads;
        const term x = word(r, r->s->states[i].name);
        if (!r->failed) memcpy(to + (r->b * heads + r->head) * n, value_of(r, x.entry), n * sizeof *to);
        to += r->c->B * heads * n;
    }
}
static double *cell(double *out, const reader *r, const scan_output *o) {
    return out + (r->b * r->c->L + r->t) * r->s->out->shape[2] + o->column + r->head * o->cols;
}

static void step_back(reader *r, size_t k) {
    const entry e = r->list[k];
    const double *d = r->g + e.at, *o = r->v + e.at, *x[3];
    double *g[3], unused = 0;
    size_t n[3];
    for (int i = 0; i < 3; i++) {
        const entry *in = e.in[i] < 0 ? NULL : &r->list[e.in[i]];
        x[i] = in ? r->v + in->at : NULL;
        g[i] = in ? r->g + in->at : &unused;
        n[i] = in ? size_of(in) : 0;
    }
    const size_t all = size_of(&e);
    const entry *a = e.in[0] < 0 ? NULL : &r->list[e.in[0]], *b = e.in[1] < 0 ? NULL : &r->list[e.in[1]];
    for (size_t i = 0, row = 0, col = 0; i < all; i++, col++) {
        const size_t ia = n[0] > 1 ? i : 0, ib = n[1] > 1 ? i : 0, ic = n[2] > 1 ? i : 0;
        if (col == e.cols) row++, col = 0;
        if (d[i] == 0) continue;
        switch (e.sign) {
        case '+':
        case '-':
        case '*':
        case '/':
        case '>':
        case '<':
            g[0][ia] += d[i] * slope_of_two(e.sign, 0, x[0][ia], x[1][ib]);
            g[1][ib] += d[i] * slope_of_two(e.sign, 1, x[0][ia], x[1][ib]);
            break;
        case '?':
            if (x[0][ia] > 0)
                g[1][ib] += d[i];
            else
                g[2][ic] += d[i];
            break;
        case 'f':
            g[0][i] += d[i] * slope_of_one(e.name, x[0][i]);
            break;
        case 'S':
        case '.':
            for (size_t j = 0; j < n[0]; j++) {
                g[0][j] += d[i] * (e.sign == '.' ? x[1][j] : 1);
                if (e.sign == '.') g[1][j] += d[i] * x[0][j];
            }
            break;
        case 'd':
            g[0][i] += d[i] * x[1][col]; // S diag(w)
            g[1][col] += d[i] * x[0][i];
            break;
        case 'D':
            g[0][row] += d[i] * x[1][i];
            g[1][i] += d[i] * x[0][row];
            break;
        case 'o':
            g[0][row] += d[i] * x[1][col];
            g[1][col] += d[i] * x[0][row];
            break;
        case 't':
            g[0][col * e.rows + row] += d[i];
            break;
        case '@':
            if (b->rank == 2)
                for (size_t j = 0; j < b->rows; j++) {
                    g[0][row * a->cols + j] += d[i] * x[1][j * b->cols + col];
                    g[1][j * b->cols + col] += d[i] * x[0][row * a->cols + j];
                }
            else
                for (size_t j = 0; j < a->cols; j++) {
                    g[0][col * a->cols + j] += d[i] * x[1][j];
                    g[1][j] += d[i] * x[0][col * a->cols + j];
                }
            break;
        default:
            break;
        }
    }
    if (e.sign == 'w') norm_row_back(g[0], d, o, x[0], e.cols, e.name);
    if (e.sign == 'r')
        for (size_t i = 0; i < all; i++) r->c->din[e.array][e.from + i] += d[i];
    for (int i = 0; i < 3 && r->c->rounding > 0; i++)
        for (size_t j = 0; j < n[i]; j++)
            g[i][j] *= 1.0 + r->c->rounding * (2.0 * rng_uniform(r->c->random) - 1.0);
}

// A head of a sequence, all rows; back: gradients as well.
static void run_head(reader *r, int back) {
    const equation_scan *s = r->s;
    size_t *ends = back ? malloc((r->c->L * s->n_outputs + 1) * sizeof *ends) : NULL;
    if (back && !ends) r->failed = 1;
    r->n = r->n_v = r->n_names = 0;
    begin_states(r);
    for (r->t = 0; r->t < r->c->L && !r->failed; r->t++) {
        run_lines(r, s->first, s->end);
        for (size_t i = 0; i < s->n_outputs && !r->failed; i++) {
            const term x = fixed(r, word(r, s->outputs[i].name));
            if (r->failed) break;
            if (back) ends[r->t * s->n_outputs + i] = at(r, x)->at;
            if (!back)
                memcpy(cell(r->c->out, r, &s->outputs[i]), value_of(r, x.entry),
                       s->outputs[i].cols * sizeof(double));
        }
        // Names of the row are its own; those of the states stay.
        r->n_names = s->n_states;
    }
    if (!back && r->c->last && !r->failed) keep_states(r);
    if (back && !r->failed && !grow((void **)&r->g, r->n_v + 1, &r->room_g, sizeof *r->g)) r->failed = 1;
    back &= !r->failed;
    if (back) memset(r->g, 0, (r->n_v + 1) * sizeof *r->g);
    for (r->t = 0; r->t < r->c->L && back; r->t++)
        for (size_t i = 0; i < s->n_outputs; i++) {
            const double *d = cell((double *)r->c->dout, r, &s->outputs[i]);
            for (size_t k = 0; k < s->outputs[i].cols; k++) r->g[ends[r->t * s->n_outputs + i] + k] += d[k];
        }
    for (size_t k = r->n; back && k-- > 0;) step_back(r, k);
    free(ends);
}
static int run(const twin_call *c, int back) {
    reader *r = calloc(1, sizeof *r);
    if (!r) return -1;
    r->c = c;
    r->s = c->step->scan;
    for (r->b = 0; r->b < c->B; r->b++)
        for (r->head = 0; r->head < r->s->heads && !r->failed; r->head++) run_head(r, back);
    const int failed = r->failed;
    free(r->list);
    free(r->v);
    free(r->g);
    free(r);
    return failed ? -1 : 0;
}
int scan_forward(const twin_call *c) { return run(c, 0); }
int scan_backward(const twin_call *c) { return run(c, 1); }
size_t scan_states(const equation_scan *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_states; i++)
        n += s->heads * s->states[i].shape.rows * s->states[i].shape.cols;
    return n;
}
