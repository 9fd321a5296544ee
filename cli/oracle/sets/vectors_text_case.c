// vectors_text_case.c: see vectors_text_case.h.
#include "vectors_text_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/graph/graph.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"
#include "model/settings/pairs.h"

int text_fail(const text_work *w, const char *why) { return cli_fail("vectors: case %s: %s", w->name, why); }
int text_no_memory(const text_work *w) { return text_fail(w, "there is no memory for it"); }

// ---- Its graph --------------------------------------------------------------------------------------------
// The config with another text, malloc'ed.
static char *with_lines(const config *c, const char *lines) {
    const char *text = config_get(c, "eq");
    size_t size = 3 * (strlen(text) + strlen(lines)) + 64;
    for (size_t i = 0; i < c->n; i++)
        size += strlen(c->values[i].key->name) + 3 * strlen(c->values[i].text) + 2;
    char *all = malloc(size), *to = all, *eq = malloc(strlen(text) + strlen(lines) + 1);
    if (all && eq) {
        sprintf(eq, "%s%s", lines, text);
        for (size_t i = 0; i < c->n; i++) {
            if (!c->values[i].said || !strcmp(c->values[i].key->name, "eq")) continue;
            to += sprintf(to, "%s=", c->values[i].key->name);
            to = pairs_encode(to, c->values[i].text);
            *to++ = '&';
        }
        to += sprintf(to, "eq=");
        *pairs_encode(to, eq) = 0;
    }
    if (!eq) {
        free(all);
        all = NULL;
    }
    free(eq);
    return all;
}
// Lines by which states that start at 0 start at a weight; 0: none does.
static int start_lines(char *to, size_t size, const equation_trace *t) {
    size_t n = 0;
    *to = 0;
    for (size_t s = 0; s < t->n; s++)
        for (size_t k = 0; t->steps[s].scan && k < t->steps[s].scan->n_states; k++) {
            const scan_state *is = &t->steps[s].scan->states[k];
            if (!is->learned && is->start == 0 && n < size)
                n += (size_t)snprintf(to + n, size - n, "start(%s, learned)\n", is->name);
        }
    return n > 0 && n < size;
}
// What the interpreter may keep of a scan: each line's numbers of every row, in one head, and gradients.
static double memory_of(const text_work *w) {
    double most = 0;
    for (size_t s = 0; s < w->b.trace->n; s++) {
        const equation_scan *scan = w->b.trace->steps[s].scan;
        double numbers = 0;
        for (size_t k = 0; scan && k < scan->n_states; k++)
            numbers += (double)scan->states[k].shape.rows * scan->states[k].shape.cols;
        const double kept = scan ? numbers * (double)(scan->end - scan->first + 1) * 5 * sizeof(double) : 0;
        most = fmax(most, kept * (double)w->b.g->L);
    }
    return most;
}
int text_open_graph(text_work *w, const config *c, size_t sequences, size_t length, smx_error *error) {
    const mixer *m = mixer_of(c);
    return (m->check && m->check(c, length, error)) ||
           mixer_graph_open(&w->b, c, GRAPH_TRAIN, sequences, length, error) ||
           params_create(&w->b.p, w->seed, error);
}
void text_close_graph(text_work *w) {
    mixer_graph_close(&w->b);
    memset(&w->b, 0, sizeof w->b);
}
int text_left_out(const text_work *w, const char *why) {
    cli_note("case %s is left out: %s", w->name, why);
    return 1;
}
// 0, 2 with the sentence printed, or 1: this text has no such case.
int text_open_case(text_work *w) {
    char lines[2048];
    smx_error error = {0};
    const size_t sequences = w->batch ? w->batch : 1;
    w->c->common.length = w->length;
    if (text_open_graph(w, w->c, sequences, w->length, &error)) return text_left_out(w, error.message);
    if (w->is->started) {
        if (!start_lines(lines, sizeof lines, w->b.trace)) return 1;
        char *all = with_lines(w->c, lines);
        if (!all) return text_no_memory(w);
        w->own = config_parse(all, 0, &error);
        free(all);
        text_close_graph(w);
        if (!w->own) return text_left_out(w, error.message);
        w->own->common.length = w->length;
        if (text_open_graph(w, w->own, sequences, w->length, &error)) return text_left_out(w, error.message);
    }
    const double memory = memory_of(w);
    if (memory > MOST_MEMORY) {
        snprintf(lines, sizeof lines,
                 "in double its scan would keep %.1f GB; a smaller width, or more heads, takes less",
                 memory / 1e9);
        return text_left_out(w, lines);
    }
    w->i = interpreter_open(w->b.g, w->b.trace, w->b.y);
    return w->i ? 0 : text_no_memory(w);
}
void text_close_case(text_work *w) {
    for (size_t k = 0; k < w->n_inputs; k++) free(w->inputs[k].value);
    for (size_t k = 0; k < w->n_results; k++) {
        free(w->results[k].exact);
        free(w->results[k].moved);
    }
    w->n_inputs = w->n_results = 0;
    interpreter_close(w->i);
    w->i = NULL;
    text_close_graph(w);
    config_free(w->own);
    w->own = NULL;
}

// ---- Its arrays -------------------------------------------------------------------------------------------
static int fits(const text_work *w) { return w->n_inputs < ARRAYS && w->n_results < 2 * ARRAYS - 1; }

// A tensor's shape; rows of one sequence without the batch dimension.
static size_t shape_of(size_t *shape, const tensor *t, int sequences, size_t batch) {
    size_t ndim = 0;
    for (uint32_t d = sequences && !batch; d < t->rank && ndim < NPY_MAX_DIMS; d++)
        shape[ndim++] = t->shape[d];
    return ndim;
}
static int add_input(text_work *w, const char *name, text_role is, const tensor *t, const tensor *like) {
    text_input *in = &w->inputs[w->n_inputs];
    if (!fits(w)) return text_fail(w, "the text has too many weights");
    *in = (text_input){.is = is, .t = t, .n = like->n};
    snprintf(in->name, sizeof in->name, "%s", name);
    in->ndim = shape_of(in->shape, like, is == ROWS || is == GRADIENT, w->batch);
    in->value = calloc(in->n, sizeof *in->value);
    if (!in->value) return text_no_memory(w);
    w->n_inputs++;
    return 0;
}
static int add_result(text_work *w, const char *name, int gradient, size_t n, size_t ndim,
                      const size_t *shape) {
    text_result *r = &w->results[w->n_results];
    if (!fits(w)) return text_fail(w, "the text has too many weights or states");
    *r = (text_result){.gradient = gradient, .n = n, .ndim = ndim};
    snprintf(r->name, sizeof r->name, "%s", name);
    memcpy(r->shape, shape, ndim * sizeof *shape);
    r->exact = calloc(n, sizeof *r->exact);
    r->moved = calloc(n, sizeof *r->moved);
    w->n_results++;
    return r->exact && r->moved ? 0 : text_no_memory(w);
}
static int add_states(text_work *w) {
    const size_t B = w->batch ? w->batch : 1;
    for (size_t k = 0; k < w->b.trace->n; k++) {
        const equation_scan *scan = w->b.trace->steps[k].scan;
        for (size_t s = 0; scan && s < scan->n_states; s++) {
            const scan_state *is = &scan->states[s];
            char name[88];
            size_t ndim = 0, shape[NPY_MAX_DIMS];
            if (w->batch) shape[ndim++] = w->batch;
            shape[ndim++] = scan->heads;
            if (is->shape.rank == 2) shape[ndim++] = is->shape.rows;
            if (is->shape.rank >= 1) shape[ndim++] = is->shape.cols;
            snprintf(name, sizeof name, "%s_last", is->name);
            if (add_result(w, name, 0, B * scan->heads * is->shape.rows * is->shape.cols, ndim, shape))
                return 2;
        }
    }
    return 0;
}
// The k-th array's name in its file.
static void file_name(const text_work *w, size_t k, char *to, size_t size) {
    const text_result *r = k < w->n_inputs ? NULL : &w->results[k - w->n_inputs];
    snprintf(to, size, "%s%s", r && r->gradient ? "d_" : "", r ? r->name : w->inputs[k].name);
}
// Whether two files would have one name: of a weight d_x, say.
static int clash(const text_work *w) {
    char a[100], b[100];
    for (size_t k = 0; k < w->n_inputs + w->n_results; k++)
        for (size_t m = 0; m < k; m++) {
            file_name(w, k, a, sizeof a);
            file_name(w, m, b, sizeof b);
            if (!strcmp(a, b))
                return cli_fail(
                    "vectors: two arrays of the set would be called %s: give the text's weight or "
                    "state another name",
                    a);
        }
    return 0;
}
int text_add_arrays(text_work *w) {
    const mixer_graph *b = &w->b;
    size_t shape[NPY_MAX_DIMS];
    if (add_input(w, "x", ROWS, b->x, b->x) ||
        add_result(w, "y", 0, b->y->n, shape_of(shape, b->y, 1, w->batch), shape) || add_states(w) ||
        add_result(w, "x", 1, b->x->n, shape_of(shape, b->x, 1, w->batch), shape))
        return 2;
    for (size_t k = 0; k < b->p.count; k++) {
        const param *p = b->p.list[k];
        const tensor *t = p == b->start->weight ? NULL : mixer_graph_tensor(b, p);
        if (!t) continue;
        const char *dot = strrchr(p->name, '.'), *name = dot ? dot + 1 : p->name;
        const size_t n = strlen(name), end = strlen("_start");
        int start = 0;
        for (size_t s = 0; s < b->trace->n; s++)
            for (size_t i = 0; b->trace->steps[s].scan && i < b->trace->steps[s].scan->n_states; i++)
                start |= b->trace->steps[s].scan->states[i].learned &&
                         b->trace->steps[s].scan->states[i].learned->weight == p;
        start &= n > end && !strcmp(name + n - end, "_start");
        if (add_input(w, name, start ? START : WEIGHT, t, t) ||
            add_result(w, name, 1, t->n, shape_of(shape, t, 0, 0), shape))
            return 2;
    }
    return add_input(w, "dy", GRADIENT, NULL, b->y) || clash(w) ? 2 : 0;
}
