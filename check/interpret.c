// interpret.c: see interpret.h.
#include "interpret.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/philox.h"
#include "scan.h"
#include "twins.h"

typedef struct {
    const void *key; // a weight, or the tensor itself
    size_t n;
    double *value, *gradient;
} slot;
struct interpreter {
    const graph *g;
    const equation_trace *t;
    slot *slots;
    size_t n_slots, largest;
    double **last; // [steps]: of a scan the states after the last row; else NULL
    double *part;  // gradients on their way, [EQUATION_INPUTS][largest]; one as a transform rounds it
};

static const void *key_of(const tensor *t) { return t->weight ? (const void *)t->weight : (const void *)t; }
static slot *find(const interpreter *i, const tensor *t) {
    const void *key = t ? key_of(t) : NULL;
    for (size_t s = 0; key && s < i->n_slots; s++)
        if (i->slots[s].key == key) return &i->slots[s];
    return NULL;
}
static int add(interpreter *i, const tensor *t) {
    if (!t || find(i, t)) return 0;
    slot *s = &i->slots[i->n_slots++];
    *s = (slot){key_of(t), t->n, calloc(t->n, sizeof(double)), calloc(t->n, sizeof(double))};
    if (t->n > i->largest) i->largest = t->n;
    return s->value && s->gradient ? 0 : -1;
}

interpreter *interpreter_open(const graph *g, const equation_trace *t, const tensor *y) {
    interpreter *i = calloc(1, sizeof *i);
    int failed = !i;
    if (i) {
        i->g = g;
        i->t = t;
        size_t most = 1;
        for (size_t s = 0; s < t->n; s++) most += equation_inputs(&t->steps[s]) + 1;
        i->slots = calloc(most, sizeof *i->slots);
        i->last = calloc(t->n + 1, sizeof *i->last);
        failed = !i->slots || !i->last || add(i, y);
    }
    for (size_t s = 0; !failed && s < t->n; s++) {
        for (size_t a = 0; a < equation_inputs(&t->steps[s]); a++)
            failed |= add(i, equation_input(&t->steps[s], a));
        failed |= add(i, t->steps[s].out);
    }
    for (size_t s = 0; !failed && s < t->n; s++)
        if (t->steps[s].scan)
            failed = !(i->last[s] = calloc(scan_states(t->steps[s].scan) * g->B + 1, sizeof(double)));
    if (!failed) failed = !(i->part = calloc((EQUATION_INPUTS + 1) * i->largest + 1, sizeof *i->part));
    if (!failed) return i;
    interpreter_close(i);
    return NULL;
}
void interpreter_close(interpreter *i) {
    if (!i) return;
    for (size_t s = 0; s < i->n_slots; s++) {
        free(i->slots[s].value);
        free(i->slots[s].gradient);
    }
    for (size_t s = 0; i->last && s < i->t->n; s++) free(i->last[s]);
    free(i->last);
    free(i->slots);
    free(i->part);
    free(i);
}
double *interpreter_value(interpreter *i, const tensor *t) {
    slot *s = find(i, t);
    return s ? s->value : NULL;
}
double *interpreter_gradient(interpreter *i, const tensor *t) {
    slot *s = find(i, t);
    return s ? s->gradient : NULL;
}

// What a step gives is rounded entry by entry; a long convolution is computed by a transform, which rounds
// every entry to the size of the largest.
static int transforms(const equation_step *s) {
    const char *name = s->function->name;
    return !strcmp(name, "longconv") || !strncmp(name, "s4d", 3);
}
static void move(double *x, size_t n, double rounding, int by_largest, smx_rng *random) {
    double largest = 0.0;
    for (size_t i = 0; by_largest && i < n; i++) largest = fmax(largest, fabs(x[i]));
    for (size_t i = 0; rounding > 0.0 && i < n; i++)
        x[i] += (by_largest ? largest : x[i]) * rounding * (2.0 * rng_uniform(random) - 1.0);
}
static twin_call call_of(const interpreter *i, const equation_step *s, double rounding, smx_rng *random) {
    twin_call c = {
        .step = s, .B = i->g->B, .L = i->g->L, .H = s->call.heads, .rounding = rounding, .random = random};
    for (size_t a = 0; a < equation_inputs(s); a++) {
        const slot *in = find(i, equation_input(s, a));
        c.in[a] = in ? in->value : NULL;
    }
    const slot *out = find(i, s->out);
    c.out = out->value;
    c.dout = out->gradient;
    c.last = i->last[s - i->t->steps];
    return c;
}

int interpreter_forward(interpreter *i, double rounding, uint64_t seed) {
    smx_rng random = rng_open(seed, RNG_EVAL, 0);
    for (size_t s = 0; s < i->t->n; s++) {
        const equation_step *step = &i->t->steps[s];
        const twin_call c = call_of(i, step, rounding, &random);
        const twin *t = twin_find(step->function->name);
        if (!t || t->forward(&c)) return -1;
        move(c.out, step->out->n, rounding, transforms(step), &random);
    }
    return 0;
}

int interpreter_backward(interpreter *i, const tensor *y, const double *dy, double rounding, uint64_t seed) {
    smx_rng random = rng_open(seed, RNG_EVAL, 1);
    for (size_t s = 0; s < i->n_slots; s++) memset(i->slots[s].gradient, 0, i->slots[s].n * sizeof(double));
    memcpy(find(i, y)->gradient, dy, y->n * sizeof *dy);
    for (size_t s = i->t->n; s-- > 0;) {
        const equation_step *step = &i->t->steps[s];
        twin_call c = call_of(i, step, rounding, &random);
        const twin *t = twin_find(step->function->name);
        if (transforms(step)) {
            double *rounded = i->part + EQUATION_INPUTS * i->largest;
            memcpy(rounded, c.dout, step->out->n * sizeof *rounded);
            move(rounded, step->out->n, rounding, 1, &random);
            c.dout = rounded;
        }
        for (size_t a = 0; a < equation_inputs(step); a++) {
            const tensor *in = equation_input(step, a);
            if (!in) continue;
            c.din[a] = i->part + a * i->largest;
            memset(c.din[a], 0, in->n * sizeof(double));
        }
        if (!t || t->backward(&c)) return -1;
        for (size_t a = 0; a < equation_inputs(step); a++) {
            if (!c.din[a]) continue;
            const slot *in = find(i, equation_input(step, a));
            move(c.din[a], in->n, rounding, transforms(step), &random);
            for (size_t k = 0; k < in->n; k++) in->gradient[k] += c.din[a][k];
        }
    }
    return 0;
}

const double *interpreter_states(interpreter *i, const equation_step *s) { return i->last[s - i->t->steps]; }
