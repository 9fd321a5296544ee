// hard.c: see hard.h. Lengths of 300 to 4,096 rows, last blocks that are not full, gates that are shut and
// open, states that are handed on, numbers beyond what float32's exp takes and others that vanish beside
// eps, and several draws of the same.
//
// Judged in float64 and float32: rounding every input to bfloat16 moves such results too far to tell a
// fault by. Long because three sets share how a case is drawn and written.
#include "hard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/oracle/compare.h"
#include "kernels/core/hash.h"
#include "kernels/core/philox.h"
#include "cli/oracle/oracle_batch.h"
#include "cli/oracle/cover.h"
#include "cli/oracle/onnx/onnx.h"

static const char about[] =
    "The hard set (`seqmix vectors --hard`), check_layer's plan (`seqmix vectors --budget`), or node tests of ONNX's\n"
    "operators (`seqmix vectors --onnx`: the folders test_*): long sequences, last "
    "blocks that are not full, gates shut and "
    "open, states\n"
    "handed on, huge and tiny numbers. For float64 and float32: there are no tolerances for float16 and "
    "bfloat16, and some\n"
    "numbers are beyond float16. `seqmix judge --manifest manifest.json FOLDER` says what kind of fault "
    "errors suggest.\n\n";

typedef struct {
    const hard_case *is;
    size_t batch;          // sequences; 0: one, and no array has a batch dimension
    const char *plan;      // what the manifest says of a case of the plan, or NULL
    const onnx_case *onnx; // of a case that is a node test, too
    uint64_t seed;
    vectors_set set;
    size_t made;
    char name[96];
    json *params;
    oracle_batch exact, moved; // as drawn; inputs off by one rounding of float32
    const oracle_array *of[ORACLE_MAX_ARRAYS];
    npy inputs[ORACLE_MAX_ARRAYS];
    size_t n_inputs;
} work;

static int fail(const work *w, const char *why) { return cli_fail("vectors: %s: %s", w->name, why); }

static uint64_t hash(const char *text, uint64_t from) { return hash_bytes(from, text, strlen(text)); }

// The item of `drawn` at `at`: its sign, where it is the input's, or '+', which is all inputs'; else 0.
// *value: what follows the sign.
static char item_of(const char *at, const char *input, const char **value) {
    const size_t n = strcspn(at, "*:^%+ ");
    *value = at + n + 1;
    return at[n] == '+' || (n == strlen(input) && !strncmp(at, input, n)) ? at[n] : 0;
}

static const char *next_item(const char *at) {
    return at + strcspn(at, " ") + strspn(at + strcspn(at, " "), " ");
}

// x [n] as vectors_range_of says, or one of the values that `drawn` gives.
static void draw_numbers(const work *w, const char *input, double *x, size_t n, smx_rng *rng) {
    const vectors_range *r = vectors_range_of(w->is->mechanism, input);
    double value[16];
    size_t values = 0;
    const char *at = w->is->drawn ? w->is->drawn : "", *v;
    for (; *at; at = next_item(at))
        if (item_of(at, input, &v) == ':')
            for (values = 0, v--; (*v == ':' || *v == ',') && values < 16;)
                value[values++] = strtod(v + 1, (char **)&v);
    for (size_t i = 0; i < n; i++)
        x[i] = values ? value[rng_below(rng, (uint32_t)values)]
                      : ldexp(r->low + (int)rng_below(rng, (uint32_t)(r->high - r->low + 1)), -r->shift);
}

// The other items of `drawn`, in order, on x [n], in rows of d.
static void change_numbers(const work *w, const char *input, double *x, size_t n, size_t d, smx_rng *rng) {
    const vectors_range *r = vectors_range_of(w->is->mechanism, input);
    const char *at = w->is->drawn ? w->is->drawn : "", *v;
    for (; *at; at = next_item(at)) {
        const char sign = item_of(at, input, &v);
        const int number = sign && sign != ':' && sign != '+' ? atoi(v) : 0;
        int power = sign == '*' ? number : 0, keep = 1;
        for (size_t i = 0; sign && sign != ':' && i < n; i++) {
            if (sign == '^' && i % d == 0) power = (int)rng_below(rng, (uint32_t)number + 1);
            if (sign == '%' && i % d == 0) keep = (int)rng_below(rng, 100) < number;
            if (sign == '+')
                x[i] = (float)fmin(
                    fmax(x[i] + ldexp(rng_u32(rng) * 0x1p-32 - 0.5, -r->shift), ldexp(r->low, -r->shift)),
                    ldexp(r->high, -r->shift));
            else
                x[i] = keep ? ldexp(x[i], power) : 0;
        }
    }
}

static int left_out(const hard_case *is, const char *name) {
    const char *at = is->without;
    for (size_t n = strlen(name); at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, name, n) && (at[n] == ' ' || !at[n])) return 1;
    return 0;
}

static int draw_input(work *w, const oracle_case *c, const oracle_slot *s) {
    const size_t lead = w->batch && oracle_of_sequence(s->is), pieces = lead ? w->batch : 1;
    npy *a = &w->inputs[w->n_inputs];
    smx_rng rng = rng_open(w->seed, 64, hash(s->is->name, hash(".hard.", hash(w->name, HASH_START))));
    *a = (npy){
        s->is->flags & ORACLE_INTEGER ? NPY_I4 : NPY_F8, s->ndim + lead, {pieces}, s->count * pieces, NULL};
    if (a->ndim > NPY_MAX_DIMS) return fail(w, "an input would have too many dimensions");
    memcpy(a->shape + lead, s->shape, s->ndim * sizeof *a->shape);
    a->data = malloc(a->count * npy_item_size(a->dtype) + 1);
    if (!a->data) return fail(w, "out of memory");
    w->of[w->n_inputs++] = s->is;
    for (size_t i = 0; i < pieces && a->dtype == NPY_I4; i++)
        vectors_integers((int32_t *)a->data + i * s->count, s->count, c, s->is->name, &rng);
    if (a->dtype == NPY_I4) return 0;
    draw_numbers(w, s->is->name, a->data, a->count, &rng);
    change_numbers(w, s->is->name, a->data, a->count, a->ndim ? a->shape[a->ndim - 1] : 1, &rng);
    return 0;
}

static int draw_inputs(work *w) {
    oracle_case c;
    int status = oracle_open(&c, oracle_find(w->is->mechanism), w->params, NULL) || oracle_shapes(&c);
    if (status) fail(w, c.error.message);
    for (size_t i = 0; i < c.n_slots && !status; i++) {
        const oracle_slot *s = &c.slots[i];
        if (s->is->kind == ORACLE_INPUT && !left_out(w->is, s->is->name)) status = draw_input(w, &c, s);
    }
    oracle_close(&c);
    return status;
}

// 0; 2 with the sentence printed; 1: a case of the plan that the mechanism does not take.
static int compute(work *w, oracle_batch *b, double u) {
    smx_rng signs = rng_open(w->seed, 64, hash(w->name, 0));
    int status = oracle_batch_open(b, oracle_find(w->is->mechanism), w->params, NULL);
    for (size_t i = 0; i < w->n_inputs && !status; i++) {
        npy a = w->inputs[i];
        const size_t bytes = a.count * npy_item_size(a.dtype);
        a.data = malloc(bytes + 1);
        if (!a.data) return fail(w, "out of memory");
        memcpy(a.data, w->inputs[i].data, bytes);
        for (size_t k = 0; u > 0 && a.dtype == NPY_F8 && k < a.count; k++)
            ((double *)a.data)[k] *= rng_u32(&signs) & 1 ? 1 + u : 1 - u;
        status = oracle_batch_set(b, w->of[i]->name, &a);
        npy_free(&a);
    }
    if (!status) status = oracle_batch_run(b);
    return !status ? 0 : w->plan ? 1 : fail(w, b->c.error.message);
}

static double scale_of(const oracle_batch_result *r) {
    double most = 0;
    for (size_t n = 0; n < r->count; n++)
        most = fmax(most, isfinite(r->data[n]) ? fabs(r->data[n]) : INFINITY);
    return most;
}

// The scale of the i-th result: of a gradient at least `least`.
static double scale_at(const work *w, size_t i, double least) {
    const oracle_batch_result *r = &w->exact.results[i];
    return fmax(scale_of(r), r->gradient ? least : 0);
}

static double tolerance_at(const work *w, size_t i, double scale) {
    const oracle_batch_result *r = &w->exact.results[i], *m = &w->moved.results[i];
    double most = 0;
    for (size_t n = 0; scale > 0 && n < r->count; n++)
        most = fmax(most, fabs(r->data[n] - m->data[n]) / scale);
    return fmax(compare_format_named("f32")->tol, 8 * most);
}

// Judges nothing: results that are not finite, or that a rounding of the inputs moves too far.
static int is_no_test(const work *w, double least) {
    for (size_t i = 0; i < w->exact.n_results; i++) {
        const double scale = scale_at(w, i, least);
        if (w->exact.results[i].is->kind != ORACLE_MIDDLE &&
            (isinf(scale) || !(tolerance_at(w, i, scale) <= 0x1p-4)))
            return 1;
    }
    return 0;
}

static int write_results(work *w, const char *part, oracle_kind kind, const char *prefix, double least) {
    int first = 1;
    fprintf(w->set.manifest, "},\n   \"%s\": {", part);
    for (size_t i = 0; i < w->exact.n_results; i++) {
        const oracle_batch_result *r = &w->exact.results[i];
        if (r->is->kind != kind) continue;
        const double scale = scale_at(w, i, least);
        char judged[160];
        const int k = w->onnx && kind == ORACLE_OUTPUT ? onnx_output(w->onnx, r->is->name) : -1;
        const int n = snprintf(judged, sizeof judged, ", \"scale\": %.17g, \"f32_tol\": %.2g", scale,
                               tolerance_at(w, i, scale));
        if (k >= 0)
            snprintf(judged + n, sizeof judged - (size_t)n, ", \"onnx\": {\"output\": %d, \"heads\": %zu}", k,
                     onnx_heads(w->onnx, &w->exact.c, r->is->name));
        npy a = {NPY_F8, r->ndim, {0}, r->count, r->data};
        memcpy(a.shape, r->shape, sizeof a.shape);
        if (vectors_put(&w->set, w->name, prefix, r->is->name, &a, judged, first)) return 2;
        first = 0;
    }
    return 0;
}

static int write_case(work *w, double least) {
    fprintf(w->set.manifest,
            "%s\n  {\"name\": \"%s\", \"mechanism\": \"%s\", \"mode\": \"%s\",\n   \"params\": %s,\n   ",
            w->made++ ? "," : "", w->name, w->is->mechanism, w->is->name, w->is->params);
    if (w->batch) fprintf(w->set.manifest, "\"batch\": [%zu], ", w->batch);
    if (w->plan) fprintf(w->set.manifest, "\"plan\": {%s},\n   ", w->plan);
    fprintf(w->set.manifest, "\"inputs\": {");
    for (size_t i = 0; i < w->n_inputs; i++)
        if (vectors_put(&w->set, w->name, "", w->of[i]->name, &w->inputs[i], "", !i)) return 2;
    if (write_results(w, "outputs", ORACLE_OUTPUT, "", 0) ||
        write_results(w, "gradients", ORACLE_INPUT, "d_", least))
        return 2;
    fprintf(w->set.manifest, "}}");
    return w->onnx ? onnx_write(w->set.folder, w->name, w->onnx, &w->exact) : 0;
}

static int make_case(work *w, const hard_case *is) {
    smx_error error;
    w->is = is;
    snprintf(w->name, sizeof w->name, "%s_%s", is->mechanism, is->name);
    w->params = json_parse(is->params, strlen(is->params), &error);
    if (!w->params) return fail(w, error.message);
    int status = draw_inputs(w) ? 2 : 0;
    if (!w->plan && !status) vectors_progress(&w->set, w->name);
    if (!status) status = compute(w, &w->exact, 0);
    if (!status) status = compute(w, &w->moved, 0x1p-24);
    double gradients = 0;
    for (size_t i = 0; i < w->exact.n_results && !status; i++)
        if (w->exact.results[i].gradient) gradients = fmax(gradients, scale_of(&w->exact.results[i]));
    if (!status && w->plan && is_no_test(w, 0.01 * gradients)) status = 1;
    if (!status) status = write_case(w, 0.01 * gradients);
    for (size_t i = 0; i < w->n_inputs; i++) npy_free(&w->inputs[i]);
    w->n_inputs = 0;
    oracle_batch_close(&w->exact);
    oracle_batch_close(&w->moved);
    json_free(w->params);
    w->params = NULL;
    return status == 1 ? 0 : status;
}

// ---- Cases of the plan

enum { HUGE_IN_FLOAT32 = 30 };

typedef struct {
    cover p;
    json *params[COVER_LEVELS];
    const vectors_case *of[COVER_LEVELS]; // each mode's
} planned;

static int open_planned(planned *all, const oracle_mechanism *m, uint64_t seed) {
    cover_for what = {.mechanism = m, .huge = HUGE_IN_FLOAT32, .saturated = 1};
    memset(all, 0, sizeof *all);
    for (const vectors_case *v = vectors_cases; v->mechanism && what.n_modes < COVER_LEVELS; v++) {
        if (strcmp(v->mechanism, m->name) || v->batch || v->louder) continue;
        all->of[what.n_modes] = v;
        all->params[what.n_modes] = json_parse(v->params, strlen(v->params), NULL);
        if (!all->params[what.n_modes]) return -1;
        what.modes[what.n_modes] = all->params[what.n_modes];
        what.n_modes++;
    }
    for (const oracle_array *a = m->arrays; a->name; a++) what.start |= cover_is_state(a);
    return what.n_modes ? cover_open(&all->p, &what, seed) : 0;
}

static void close_planned(planned *all) {
    cover_close(&all->p);
    for (size_t i = 0; i < COVER_LEVELS; i++) json_free(all->params[i]);
}

// The inputs that the mode leaves out, its states apart, and the states of a case without.
static void say_without(char *text, size_t size, const planned *all, const cover_case *c) {
    const hard_case of_mode = {.without = all->of[c->is[COVER_MODE]]->without};
    *text = 0;
    const oracle_array *a = all->p.what.mechanism->arrays;
    for (; a->name; a++)
        if (a->kind == ORACLE_INPUT &&
            (cover_is_state(a) ? !c->is[COVER_START] : left_out(&of_mode, a->name)))
            snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? " " : "", a->name);
}

static int make_planned(work *w, const planned *all, const cover_case *c) {
    const oracle_mechanism *m = all->p.what.mechanism;
    char name[80], params[3 * COVER_PARAMS], without[400], drawn[COVER_DRAWN], plan[300];
    const char *mode = all->of[c->is[COVER_MODE]]->name;
    const hard_case is = {m->name, name, params, without, drawn};
    json *own = cover_params(&all->p, c, params, sizeof params);
    if (!own) return fail(w, "out of memory");
    json_free(own);
    say_without(without, sizeof without, all, c);
    cover_drawn(drawn, &all->p, c);
    snprintf(name, sizeof name, "%s_plan%llu", mode, (unsigned long long)(c->seed - w->seed));
    int n = snprintf(plan, sizeof plan, "\"mode\": \"%s\", \"draw\": \"%s\"", mode,
                     cover_draws[c->is[COVER_DRAW]]);
    for (int f = COVER_ROWS; f < COVER_CALL; f++)
        if (f != COVER_DRAW)
            n += snprintf(plan + n, sizeof plan - (size_t)n, ", \"%s\": %d", cover_factors[f], c->is[f]);
    w->batch = oracle_has_sequences(m) ? (size_t)c->is[COVER_BATCH] : 0;
    w->plan = plan;
    const int status = make_case(w, &is);
    w->plan = NULL;
    return status;
}

// What so many seconds have room for, the most telling cases first; what was left out as too long comes last,
// when it is better known how long cases take.
static int make_plan(work *w, const oracle_mechanism *m, double seconds) {
    planned *all = malloc(sizeof *all);
    int status = all ? open_planned(all, m, w->seed) : -1;
    const size_t n = status ? 0 : all->p.n;
    char *made = calloc(n + 1, 1);
    if (status || !made) status = cli_fail("vectors: out of memory");
    cover_pace pace = {.budget = seconds};
    for (size_t k = 0; !status && k < 2 * n; k++) {
        const cover_case *c = &all->p.cases[k % n];
        if (made[k % n] || !cover_has_room(&pace, c)) continue;
        const double from = cli_processor_seconds(); // so that the set hangs little on who else computes
        status = make_planned(w, all, c);
        cover_took(&pace, c, cli_processor_seconds() - from);
        made[k % n] = 1;
    }
    if (!status && pace.cases < n) {
        int most = 0;
        for (size_t i = 0; i < n; i++)
            if (!made[i] && all->p.cases[i].is[COVER_ROWS] > most) most = all->p.cases[i].is[COVER_ROWS];
        cli_note("vectors: %s: %zu of %zu cases; --budget %g had no room for the others, of up to %d rows",
                 m->name, pace.cases, n, seconds, most);
    }
    free(made);
    if (all) close_planned(all);
    free(all);
    return status ? 2 : 0;
}

static int make_onnx(work *w, const char *only) {
    int status = 0;
    for (const onnx_case *c = onnx_cases; c->is.mechanism; c++)
        w->set.of += !only || !strcmp(only, c->is.mechanism);
    for (const onnx_case *c = onnx_cases; c->is.mechanism && !status; c++) {
        if (only && strcmp(only, c->is.mechanism)) continue;
        w->set.at++;
        w->onnx = c;
        w->batch = c->batch;
        status = make_case(w, &c->is);
    }
    return status;
}

static int make_all(work *w, const char *only, double seconds, int onnx) {
    int status = 0;
    if (onnx) return make_onnx(w, only);
    if (seconds > 0) {
        size_t n = 0;
        for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m))
            n += !only || !strcmp(only, m->name);
        cli_note("vectors: %zu mechanisms, at most %g s each", n, seconds);
        for (const oracle_mechanism *m = oracle_next(NULL); m && !status; m = oracle_next(m))
            if (!only || !strcmp(only, m->name)) status = make_plan(w, m, seconds);
        return status;
    }
    for (const hard_case *c = hard_cases; c->mechanism; c++)
        w->set.of += !only || !strcmp(only, c->mechanism);
    for (const hard_case *c = hard_cases; c->mechanism && !status; c++) {
        if (only && strcmp(only, c->mechanism)) continue;
        w->set.at++;
        status = make_case(w, c);
    }
    return status;
}

int hard_vectors(const char *out, uint64_t seed, const char *only, double seconds, int onnx) {
    work *w = calloc(1, sizeof *w);
    if (!w) return cli_fail("vectors: out of memory");
    w->seed = seed;
    int status = vectors_begin(&w->set, out);
    if (!status) {
        fprintf(w->set.manifest,
                "{\"version\": 1, \"suite\": " VECTORS_SUITE
                ", \"note\": \"seqmix %s, the %s, seed %llu\",\n \"f64_tol\": 1e-10,\n "
                "\"cases\": [",
                SMX_VERSION,
                onnx          ? "ONNX set"
                : seconds > 0 ? "plan"
                              : "hard set",
                (unsigned long long)seed);
        status = make_all(w, only, seconds, onnx);
    }
    char *readme = malloc(sizeof about + strlen(vectors_readme));
    if (readme) {
        strcpy(readme, about);
        strcat(readme, vectors_readme);
    }
    status = vectors_end(&w->set, status, readme, w->made);
    free(readme);
    free(w);
    return status;
}
