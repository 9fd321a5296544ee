// check.c: see check.h.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixer_graph.h"
#include "interpret.h"
#include "kernels/core/philox.h"
#include "model/base/error.h"
#include "model/graph/graph.h"

enum { B = 2, MOST_LENGTH = 64, TRIES = 3, DIRECTIONS = 2 };

// ---- float32 against double, double against central differences -------------------------------------------
// What is judged, row after row: y, then the gradients of the leaves (x and the weights, in order of name).
typedef struct {
    mixer_graph *b;
    interpreter *i;
    double *dy;                     // [B][L][D]
    double *single, *exact, *moved; // [all rows]: float32, double, double as rounding might move it
    size_t total;
} judge;

static void fill(judge *j) {
    const mixer_graph *b = j->b;
    const float *start = b->p.data + b->start->weight->offset;
    double *x = interpreter_value(j->i, b->x);
    for (size_t k = 0; x && k < b->x->n; k++) x[k] = (double)(start[k % b->start->n] + b->values[k]);
    for (size_t w = 0; w < b->p.count; w++) {
        const tensor *t = mixer_graph_tensor(b, b->p.list[w]);
        double *to = t && t != b->x ? interpreter_value(j->i, t) : NULL;
        for (size_t k = 0; to && k < t->n; k++) to[k] = b->p.data[b->p.list[w]->offset + k];
    }
}
static double largest(const double *x, size_t n) {
    double m = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= m)) m = fabs(x[i]);
    return m;
}
static double apart(const double *x, const double *y, size_t n) {
    double m = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= m)) m = fabs(x[i] - y[i]);
    return m;
}

// The double run's rows; the gradient of x is summed over the sequences.
static int run_double(judge *j, double *to, double rounding, uint64_t seed) {
    const mixer_graph *b = j->b;
    if (interpreter_forward(j->i, rounding, seed) || interpreter_backward(j->i, b->y, j->dy, rounding, seed))
        return -1;
    memcpy(to, interpreter_value(j->i, b->y), b->y->n * sizeof *to);
    to += b->y->n;
    for (size_t w = 0; w < b->p.count; w++) {
        const param *p = b->p.list[w];
        const tensor *t = mixer_graph_tensor(b, p);
        const double *from = t ? interpreter_gradient(j->i, t) : NULL;
        memset(to, 0, p->n * sizeof *to);
        for (size_t k = 0; from && k < t->n; k++) to[k % p->n] += from[k];
        to += p->n;
    }
    return 0;
}
static void run_single(judge *j) {
    mixer_graph *b = j->b;
    memset(b->p.grad, 0, b->p.total * sizeof *b->p.grad);
    graph_forward(b->g);
    double *to = j->single;
    for (size_t k = 0; k < b->y->n; k++) *to++ = b->y->data[k];
    for (size_t k = 0; k < b->y->n; k++) b->y->grad[k] = (float)j->dy[k];
    graph_backward(b->g);
    for (size_t w = 0; w < b->p.count; w++)
        for (size_t k = 0; k < b->p.list[w]->n; k++) *to++ = b->p.grad[b->p.list[w]->offset + k];
}

// dy . y of the double run as it stands.
static double objective(const judge *j) {
    const double *y = interpreter_value(j->i, j->b->y);
    double sum = 0;
    for (size_t k = 0; k < j->b->y->n; k++) sum += j->dy[k] * y[k];
    return sum;
}
// The leaf moved by h along signs that the seed draws; the objective there.
static double moved_objective(judge *j, const tensor *t, size_t n, double h, uint64_t seed) {
    smx_rng random = rng_open(seed, RNG_EVAL, 2);
    double *x = interpreter_value(j->i, t);
    double *signs = malloc(n * sizeof *signs);
    for (size_t k = 0; signs && k < n; k++) signs[k] = rng_uniform(&random) < 0.5 ? -h : h;
    for (size_t k = 0; signs && k < t->n; k++) x[k] += signs[k % n];
    const int status = interpreter_forward(j->i, 0, 0);
    const double there = objective(j); // before x, which may be y, is what it was
    fill(j);
    free(signs);
    return signs && !status ? there : NAN;
}
// |derivative along the signs - that of the gradient| by the gradient's size; Richardson's step of two
// widths. A kink between the two (a maximum, a choice) shows in one direction or width: the best of a few
// counts.
static double differ(judge *j, const param *p, const double *gradient, uint64_t seed) {
    const tensor *t = mixer_graph_tensor(j->b, p);
    const double *y = interpreter_value(j->i, j->b->y);
    double size = 0, best = INFINITY,
           terms = 0; // terms: whose sum the objective is, for a gradient that cancels
    for (size_t k = 0; k < j->b->y->n; k++) terms += fabs(j->dy[k] * y[k]);
    for (size_t k = 0; k < p->n; k++) size += gradient[k] * gradient[k];
    for (size_t d = 0; t && d < DIRECTIONS + 1 && !(best < 1e-6); d++) {
        const double h = d < 1 ? 1e-4 : 1e-6;
        smx_rng random = rng_open(seed + d, RNG_EVAL, 2);
        double along = 0;
        for (size_t k = 0; k < p->n; k++) along += rng_uniform(&random) < 0.5 ? -gradient[k] : gradient[k];
        const double one =
            (moved_objective(j, t, p->n, h, seed + d) - moved_objective(j, t, p->n, -h, seed + d)) / (2 * h);
        const double two =
            (moved_objective(j, t, p->n, h / 2, seed + d) - moved_objective(j, t, p->n, -h / 2, seed + d)) /
            h;
        const double off = fabs((4 * two - one) / 3 - along) / (sqrt(size) + 1e-6 * terms + 1e-30);
        if (off < best) best = off;
    }
    return t ? best : 0;
}

// Of a parameter: without what stands before the dot.
static const char *leaf_name(const param *p) {
    const char *dot = strrchr(p->name, '.');
    return dot ? dot + 1 : p->name;
}
static int judge_rows(check_report *r, judge *j, int gradients_stop, uint64_t seed) {
    const mixer_graph *b = j->b;
    const size_t rows = b->p.count + 1;
    if (rows > CHECK_ROWS) return -1;
    double *worst = calloc(rows, sizeof *worst);
    int status = worst ? run_double(j, j->exact, 0, 0) : -1;
    run_single(j);
    for (uint64_t t = 1; !status && t <= TRIES; t++) {
        status = run_double(j, j->moved, 0x1p-24, seed + t);
        size_t at = 0;
        for (size_t k = 0; k < rows; k++) {
            const size_t n = k ? b->p.list[k - 1]->n : b->y->n;
            const double d = apart(j->moved + at, j->exact + at, n);
            if (!(d <= worst[k])) worst[k] = d;
            at += n;
        }
    }
    r->n_rows = status ? 0 : rows;
    for (size_t k = 0, at = 0; k < r->n_rows; k++) {
        const param *p = k ? b->p.list[k - 1] : NULL;
        const size_t n = p ? p->n : b->y->n;
        const double top = largest(j->exact + at, n), by = top > 0 ? top : 1;
        check_row *row = &r->rows[k];
        *row = (check_row){.n = n, .difference = -1};
        snprintf(row->name, sizeof row->name, "%s", p ? leaf_name(p) : "y");
        row->error = apart(j->single + at, j->exact + at, n) / by;
        // Sums inside an equation round more often than once.
        row->allowed = (32 * worst[k] + 0x1p-20 * top) / by;
        if (p && !gradients_stop) row->difference = differ(j, p, j->exact + at, seed + 100 * k);
        row->fine = row->error <= row->allowed && !(row->difference > 1e-5);
        at += n;
    }
    free(worst);
    return status;
}

// landmark_keys that only choose let no gradient through: central differences would see one.
static int stops_gradients(const equation_trace *t) {
    for (size_t s = 0; s < t->n; s++)
        if (!strcmp(t->steps[s].function->name, "landmark_keys") && !t->steps[s].call.number[3]) return 1;
    return 0;
}

int check_numbers(check_report *r, const config *c, size_t length, uint64_t seed, smx_error *error) {
    mixer_graph b;
    judge j = {.b = &b};
    const uint64_t env = smx_fpenv_enter();
    int status =
        mixer_graph_open(&b, c, GRAPH_TRAIN, B, length, error) || mixer_graph_start(&b, seed, error) ? -1 : 0;
    r->length = length;
    r->says_ahead = status ? 0 : (size_t)b.trace->ahead;
    if (!status) {
        smx_rng random = rng_open(seed, RNG_EVAL, 3);
        r->weights = 0;
        for (size_t w = 0; w < b.p.count; w++) {
            const param *p = b.p.list[w];
            if (p != b.start->weight) r->weights += p->n;
            j.total += p->n;
            // Away from 0 and 1, where weights start that one would not see.
            for (size_t k = 0; k < p->n; k++) b.p.data[p->offset + k] += (float)(0.1 * rng_normal(&random));
        }
        for (size_t k = 0; k < b.y->n; k++) b.values[k] = (float)(0.5 * rng_normal(&random));
        j.total += b.y->n;
        j.i = interpreter_open(b.g, b.trace, b.y);
        j.dy = malloc(b.y->n * sizeof *j.dy);
        j.single = malloc(3 * j.total * sizeof *j.single);
        if (!j.i || !j.dy || !j.single) {
            status = error_say(error, "there is no memory for a check");
        } else {
            j.exact = j.single + j.total;
            j.moved = j.exact + j.total;
            for (size_t k = 0; k < b.y->n; k++) j.dy[k] = (double)(float)rng_normal(&random);
            fill(&j);
            if (judge_rows(r, &j, stops_gradients(b.trace), seed))
                status = error_say(error, "there is no memory for a check, or more than %d weights",
                                   CHECK_ROWS - 1);
        }
    }
    interpreter_close(j.i);
    free(j.dy);
    free(j.single);
    mixer_graph_close(&b);
    smx_fpenv_leave(env);
    r->computes = r->differentiates = !status;
    for (size_t k = 0; k < r->n_rows; k++) {
        r->computes &= r->rows[k].error <= r->rows[k].allowed;
        r->differentiates &= !(r->rows[k].difference > 1e-5);
    }
    return status;
}

// ---- Who sees the future ---------------------------------------------------------------------------------
// The row of x that an entry of t may know of: its own; of a bin its last.
static size_t row_of(const graph *g, const tensor *t, size_t entry) {
    const size_t rows = t->shape[1], inner = t->n / t->shape[0] / rows;
    return (entry / inner % rows + 1) * (g->L / rows) - 1;
}
// The first row before j that moved, else j.
static size_t moved_before(const graph *g, const tensor *t, const double *now, const double *then, size_t j) {
    size_t first = j;
    for (size_t k = 0; t->rank >= 3 && k < t->n; k++)
        if (now[k] != then[k] && row_of(g, t, k) < first) first = row_of(g, t, k);
    return first;
}
static int find_leak(check_report *r, const config *c, uint64_t seed, smx_error *error) {
    mixer_graph b;
    judge j = {.b = &b};
    int status =
        mixer_graph_open(&b, c, GRAPH_TRAIN, 1, r->length, error) || mixer_graph_start(&b, seed, error) ? -1
                                                                                                        : 0;
    const size_t L = r->length, D = c->common.width, n = status ? 0 : b.trace->n;
    double **then = calloc(n + 1, sizeof *then);
    int *early = calloc(n + 1, sizeof *early);
    if (!status) j.i = interpreter_open(b.g, b.trace, b.y);
    if (!status && (!then || !early || !j.i)) status = error_say(error, "there is no memory for a check");
    r->ahead = r->ahead_line = 0;
    smx_rng random = rng_open(seed, RNG_EVAL, 4);
    for (size_t k = 0; !status && k < L * D; k++) b.values[k] = (float)rng_normal(&random);
    if (!status) fill(&j), interpreter_forward(j.i, 0, 0);
    for (size_t s = 0; !status && s < n; s++) {
        const tensor *t = b.trace->steps[s].out;
        then[s] = malloc(t->n * sizeof **then);
        if (then[s]) memcpy(then[s], interpreter_value(j.i, t), t->n * sizeof **then);
        if (!then[s]) status = error_say(error, "there is no memory for a check");
    }
    for (size_t row = 1; !status && row < L; row++) {
        double *x = interpreter_value(j.i, b.x);
        for (size_t k = 0; k < D; k++) x[row * D + k] += 0.5 + rng_uniform(&random);
        interpreter_forward(j.i, 0, 0);
        for (size_t s = 0; s < n; s++) {
            const equation_step *step = &b.trace->steps[s];
            const size_t first =
                moved_before(b.g, step->out, interpreter_value(j.i, step->out), then[s], row);
            early[s] = first < row;
            int inherited = 0;
            for (size_t e = 0; e < s; e++)
                for (size_t a = 0; a < equation_inputs(step); a++)
                    inherited |= early[e] && equation_input(step, a) == b.trace->steps[e].out;
            if (early[s] && !inherited && !r->ahead_line) r->ahead_line = step->line;
            if (step->out == b.y && row - first > r->ahead) r->ahead = row - first;
        }
        fill(&j);
    }
    if (!r->ahead) r->ahead_line = 0; // what was seen early was held back again
    for (size_t s = 0; then && s < n; s++) free(then[s]);
    free(then);
    free(early);
    interpreter_close(j.i);
    mixer_graph_close(&b);
    return status;
}

// ---- Gradients over the length, and cost -----------------------------------------------------------------
// Both passes of a graph of L rows: x drawn from a normal distribution and multiplied by `times`, the
// gradient at y of length 1, the same in each column of the last row.
static int run_drawn(mixer_graph *b, const config *c, size_t L, double times, uint64_t seed) {
    if (mixer_graph_open(b, c, GRAPH_TRAIN, 1, L, NULL) || mixer_graph_start(b, seed, NULL)) return -1;
    const size_t D = c->common.width;
    smx_rng random = rng_open(seed, RNG_EVAL, 5);
    memset(b->p.grad, 0, b->p.total * sizeof *b->p.grad);
    for (size_t k = 0; k < L * D; k++)
        b->p.data[b->start->weight->offset + k] = (float)(times * rng_normal(&random));
    graph_forward(b->g);
    memset(b->y->grad, 0, b->y->n * sizeof *b->y->grad);
    for (size_t k = 0; k < D; k++) b->y->grad[(L - 1) * D + k] = 1.0f / sqrtf((float)D);
    graph_backward(b->g);
    return 0;
}
static void measure_growth(check_report *r, const config *c, uint64_t seed) {
    r->n_lengths = 0;
    for (size_t L = 64; L <= 1024; L *= 2) {
        mixer_graph b;
        if (!run_drawn(&b, c, L, 1, seed)) {
            const size_t D = c->common.width;
            double sum = 0;
            for (size_t k = 0; k < L * D; k++) {
                const double d = b.p.grad[b.start->weight->offset + k];
                sum += d * d;
            }
            r->lengths[r->n_lengths] = L;
            r->growth[r->n_lengths++] = sqrt(sum);
        }
        mixer_graph_close(&b);
    }
    r->stable = 1;
    // Where the gradient at y cancels in a norm or a softmax, all that is left is rounding, which may vanish.
    for (size_t i = 0; i < r->n_lengths; i++)
        r->stable &= r->growth[i] <= 100 * fmax(r->growth[0], 0x1p-10) && r->growth[i] < 1e6;
}
// Gates shut, exponentials overflow and logarithms meet 0 on inputs that training may come to.
static void find_not_finite(check_report *r, const config *c, uint64_t seed) {
    mixer_graph b;
    const char *found = NULL;
    if (!run_drawn(&b, c, MOST_LENGTH, CHECK_LARGE, seed)) {
        for (size_t w = b.p.count; w-- > 0;) {
            const param *p = b.p.list[w];
            for (size_t k = 0; k < p->n; k++)
                if (!isfinite(b.p.grad[p->offset + k])) found = leaf_name(p);
        }
        for (size_t k = 0; k < b.y->n; k++)
            if (!isfinite(b.y->data[k])) found = "y";
    }
    snprintf(r->not_finite, sizeof r->not_finite, "%s", found ? found : "");
    mixer_graph_close(&b);
}
static void measure_cost(check_report *r, const config *c) {
    static const size_t lengths[CHECK_COSTS] = {1024, 65536};
    for (size_t i = 0; i < CHECK_COSTS; i++) {
        mixer_graph b;
        r->cost[i].length = lengths[i];
        r->cost[i].flops = r->cost[i].bytes = -1;
        if (!mixer_graph_open(&b, c, GRAPH_TRAIN, 1, lengths[i], NULL)) {
            double flops = 0, floats = 0;
            for (size_t k = 0; k < b.g->n_nodes; k++) {
                flops += (double)b.g->nodes[k].flops;
                floats += (double)(b.g->nodes[k].out->n + b.g->nodes[k].saved_n);
            }
            r->cost[i].flops = flops / (double)lengths[i];
            r->cost[i].bytes = 4 * floats / (double)lengths[i];
        }
        mixer_graph_close(&b);
    }
}

int check_config(check_report *r, const config *c, uint64_t seed, smx_error *error) {
    const size_t most = c->common.length < MOST_LENGTH ? c->common.length : MOST_LENGTH;
    memset(r, 0, sizeof *r);
    // Rows that a choice or a maximum decides by a hair may fall otherwise in float32: then other draws must
    // do.
    int status = 0;
    for (uint64_t t = 0; t < 3; t++) {
        status = check_numbers(r, c, most, seed + t, error);
        if (status && most < c->common.length)
            status = check_numbers(r, c, c->common.length, seed + t, error);
        if (status || (r->computes && r->differentiates)) break;
    }
    const uint64_t env = smx_fpenv_enter();
    if (!status) status = find_leak(r, c, seed, error);
    if (!status) measure_growth(r, c, seed), find_not_finite(r, c, seed), measure_cost(r, c);
    r->causal = !r->ahead;
    smx_fpenv_leave(env);
    return status;
}
int check_passes(const check_report *r) {
    return r->computes && r->differentiates && r->stable && r->ahead <= r->says_ahead;
}
