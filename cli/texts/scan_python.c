// scan_python.c: see scan_python.h.
#include "scan_python.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/base/number.h"

typedef struct {
    const equation_scan *s;
    const scan_python_writer *w;
    const char *counter; // of the repeat that is open, and how often it runs
    const equation_node *times;
} python;

static void say(const python *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const python *p, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->w->say(p->w->of, text);
}
static void expression(const python *p, const equation_node *n);
static int is_call(const equation_node *n, const char *name) {
    return n->kind == EQUATION_CALL && !strcmp(n->name, name);
}

// Names of the scan end in _t, so that they are nobody else's.
static void word(const python *p, const equation_node *n) {
    const equation_scan *s = p->s;
    char number[NUMBER_TEXT];
    for (size_t i = 0; i < s->n_weights; i++)
        if (!strcmp(s->weights[i].name, n->name)) {
            say(p, "w['%s']%s", n->name, s->weights[i].per_head ? "[None]" : "[None, None]");
            return;
        }
    int own = p->counter && !strcmp(p->counter, n->name);
    for (size_t i = 0; i < s->n_inputs; i++) own |= !strcmp(s->inputs[i].name, n->name);
    for (size_t i = 0; i < s->n_states; i++) own |= !strcmp(s->states[i].name, n->name);
    for (size_t i = s->first; i < s->end; i++) own |= !strcmp(s->e->lines[i].name, n->name);
    for (size_t i = s->n_numbers; i-- > 0 && !own;)
        if (!strcmp(s->numbers[i].name, n->name)) {
            say(p, "%s", number_write(number, s->numbers[i].is));
            return;
        }
    say(p, "%s_t", n->name);
}
static void two(const python *p, const char *function, const equation_node *a, const equation_node *b) {
    say(p, "%s(", function);
    expression(p, a);
    say(p, ", ");
    expression(p, b);
    say(p, ")");
}
static void call(const python *p, const equation_node *n) {
    if (is_call(n, "part")) {
        const scan_input *in = p->s->inputs;
        while (strcmp(in->name, n->first->name)) in++;
        char name[40];
        p->w->input(p->w->of, (size_t)(in - p->s->inputs), name);
        const equation_node *count = n->first->next->next;
        say(p, "scan_row(%s, _t, %zu, %d, %zu, ", name, p->s->heads, in->shared, in->group);
        expression(p, n->first->next);
        say(p, ", ");
        expression(p, count ? count : p->times);
        say(p, ")");
        return;
    }
    say(p, "scan_%s(", n->name);
    for (const equation_node *a = n->first; a; a = a->next) {
        expression(p, a);
        if (a->next) say(p, ", ");
    }
    say(p, ")");
}
static void expression(const python *p, const equation_node *n) {
    char number[NUMBER_TEXT];
    const equation_node *l = n->first, *r = l ? l->next : NULL;
    switch (n->kind) {
    case EQUATION_NUMBER:
        say(p, "%s", number_write(number, n->number));
        break;
    case EQUATION_WORD:
        word(p, n);
        break;
    case EQUATION_CALL:
        call(p, n);
        break;
    case EQUATION_NEGATE:
        say(p, "-");
        expression(p, l);
        break;
    case EQUATION_ADD:
        two(p, "scan_add", l, r);
        break;
    case EQUATION_SUB:
        two(p, "scan_sub", l, r);
        break;
    case EQUATION_MUL:
        two(p, "scan_mul", l, r);
        break;
    case EQUATION_DIVIDE:
        two(p, "scan_div", l, r);
        break;
    case EQUATION_MATMUL:
        if (is_call(l, "diag"))
            two(p, "scan_rows", l->first, r);
        else if (is_call(r, "diag"))
            two(p, "scan_columns", l, r->first);
        else
            two(p, "scan_product", l, r);
        break;
    }
}
static void lines(python *p, size_t from, size_t end, int indent) {
    for (size_t i = from; i < end; i++) {
        const equation_line *l = &p->s->e->lines[i];
        if (l->kind == LINE_EQUATION) {
            say(p, "%*s%s_t = ", indent, "", l->name);
            expression(p, l->value);
            say(p, "\n");
            continue;
        }
        say(p, "%*sfor %s_t in range(int(", indent, "", l->name);
        expression(p, l->value);
        say(p, ")):\n");
        p->counter = l->name;
        p->times = l->value;
        lines(p, i + 1, l->end, indent + 4);
        p->counter = NULL;
        i = l->end - 1u;
    }
}

void cli_scan_python(const equation_scan *s, const char *out, const scan_python_writer *w) {
    python p = {.s = s, .w = w};
    char name[40], number[NUMBER_TEXT];
    for (size_t i = 0; i < s->n_states; i++) {
        const scan_state *x = &s->states[i];
        say(&p, "    %s_t = ", x->name);
        if (x->learned)
            say(&p, "w['%.10s_start'][None].expand(x.shape[0]", x->name);
        else
            say(&p, "x.new_full((x.shape[0], %zu", s->heads);
        if (x->learned) say(&p, ", -1");
        if (x->shape.rank == 2) x->learned ? say(&p, ", -1") : say(&p, ", %u", x->shape.rows);
        if (x->shape.rank) x->learned ? say(&p, ", -1") : say(&p, ", %u", x->shape.cols);
        x->learned ? say(&p, ")\n") : say(&p, "), %s)\n", number_write(number, x->start));
    }
    say(&p, "    _rows = []\n    for _t in range(x.shape[1]):\n");
    for (size_t i = 0; i < s->n_inputs; i++) {
        const scan_input *in = &s->inputs[i];
        w->input(w->of, i, name);
        say(&p, "        %s_t = scan_row(%s, _t, %zu, %d, %zu)\n", in->name, name, s->heads, in->shared,
            in->group);
    }
    lines(&p, s->first, s->end, 8);
    say(&p, "        _rows.append(torch.cat([");
    for (size_t i = 0; i < s->n_outputs; i++)
        say(&p, "%sscan_flat(%s_t, %zu)", i ? ", " : "", s->outputs[i].name, s->heads);
    say(&p, "], -1))\n    %s = torch.stack(_rows, 1)\n", out);
}
