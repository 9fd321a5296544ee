// vectors_text.c: see vectors_text.h. What is right is what the interpreter in double makes of the text
// (check/interpret.h); tolerances are what rounding does to it, measured. Inputs are the same to the bit on
// every machine.
#include "vectors_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/texts/texts.h"
#include "cli/oracle/compare.h"
#include "kernels/core/hash.h"
#include "kernels/core/philox.h"
#include "vectors_text_case.h"

// ---- The cases --------------------------------------------------------------------------------------------
static const text_case easy[] = {
    {"rows", PLAIN, 1, 0, 0},     {"rows", PLAIN, 2, 0, 0},   {"rows", PLAIN, 15, 0, 0},
    {"rows", PLAIN, 16, 0, 0},    {"rows", PLAIN, 17, 0, 0},  {"rows", PLAIN, 63, 0, 0},
    {"rows", PLAIN, 64, 0, 0},    {"rows", PLAIN, 65, 0, 0},  {"rows", PLAIN, 127, 0, 0},
    {"rows", PLAIN, 128, 0, 0},   {"rows", PLAIN, 129, 0, 0}, {"batch", PLAIN, 24, 3, 0},
    {"started", PLAIN, 24, 0, 1}, {"quiet", QUIET, 24, 0, 0}, {"zeros", ZEROS, 24, 0, 0},
    {NULL, PLAIN, 0, 0, 0},
};
static const text_case hard[] = {
    {"rows", PLAIN, 300, 0, 0},    {"rows", PLAIN, 512, 0, 0},  {"rows", PLAIN, 1025, 0, 0},
    {"rows", PLAIN, 4096, 0, 0},   {"batch", PLAIN, 300, 3, 0}, {"started", PLAIN, 300, 0, 1},
    {"loud", LOUD, 300, 0, 0},     {"quiet", QUIET, 300, 0, 0}, {"zeros", ZEROS, 300, 0, 0},
    {"steady", STEADY, 300, 0, 0}, {NULL, PLAIN, 0, 0, 0},
};

enum {
    STREAM = 65,    // of the generator
    ATTEMPTS = 16,  // at inputs that are good to test with
    FOR_HALVES = 1, // of them, for inputs that are good in float16 and bfloat16, too
    DRAWS = 3,      // of roundings, for the tolerances
    FURTHER = 16,   // roundings
    LONG = 512      // rows beyond which there is one draw
};
static const double loosest = 0x1p-4, loosest_f32 = 0x1p-8, f64_tol = 1e-10;

static const char *const role_names[] = {"rows", "weight", "start", "dy"};

// ---- Numbers ----------------------------------------------------------------------------------------------
// To eight significant bits, so that it is the same number in bfloat16, float16 and float32; or to float32.
static double rounded(const text_work *w, double x) {
    int e;
    const double m = frexp(x, &e);
    return w->hard ? (double)(float)x : ldexp(rint(ldexp(m, 8)), e - 8);
}
static int draw_rows(text_work *w, text_input *in, smx_rng *random) {
    const size_t D = in->shape[in->ndim - 1];
    const drawing how = w->is->how;
    double *alike = calloc(D, sizeof *alike);
    if (!alike) return text_no_memory(w);
    const double size = how == LOUD ? 8 : how == QUIET ? 0x1p-6 : 1;
    for (size_t c = 0; c < D; c++) alike[c] = rng_normal(random);
    int zero = 0;
    for (size_t k = 0; k < in->n; k++) {
        if (k % D == 0) zero = how == ZEROS && rng_below(random, 3) == 0;
        const double z = rng_normal(random);
        in->value[k] = zero ? 0 : rounded(w, how == STEADY ? 4 * alike[k % D] + z / 2 : size * z);
    }
    free(alike);
    return 0;
}
static int draw(text_work *w, unsigned attempt) {
    for (size_t k = 0; k < w->n_inputs; k++) {
        text_input *in = &w->inputs[k];
        uint64_t of = hash_bytes(HASH_START, w->name, strlen(w->name));
        of = hash_bytes(of, in->name, strlen(in->name) + 1);
        smx_rng random = rng_open(w->seed, STREAM + attempt, of);
        if (in->is == ROWS) {
            if (draw_rows(w, in, &random)) return 2;
            continue;
        }
        // Away from 0 and 1, where weights start that one would not see.
        const param *p = in->t ? in->t->weight : NULL;
        for (size_t n = 0; n < in->n; n++) {
            const double z = rng_normal(&random), start = p ? (double)w->b.p.data[p->offset + n % p->n] : 0;
            in->value[n] = rounded(w, in->is == WEIGHT ? start + 0.1 * z : in->is == START ? z / 2 : z);
        }
    }
    return 0;
}
static void put(text_result *r, const double *from, int exact) {
    memcpy(exact ? r->exact : r->moved, from, r->n * sizeof *from);
}
// Forward and backward on inputs of which each number x is x (1 +- u), each step's results moved by up to
// `rounding` of themselves; into exact or moved.
static int compute(text_work *w, double u, double rounding, uint64_t seed, int exact) {
    smx_rng signs = rng_open(seed, STREAM, 1);
    double *dy = NULL;
    for (size_t k = 0; k < w->n_inputs; k++) {
        const text_input *in = &w->inputs[k];
        double *to = in->t ? interpreter_value(w->i, in->t) : (dy = malloc((in->n + 1) * sizeof *dy));
        for (size_t n = 0; to && n < in->n; n++)
            to[n] = u > 0 ? in->value[n] * (rng_u32(&signs) & 1 ? 1 + u : 1 - u) : in->value[n];
    }
    int status = !dy || interpreter_forward(w->i, rounding, seed);
    size_t at = 0;
    if (!status) put(&w->results[at++], interpreter_value(w->i, w->b.y), exact);
    for (size_t k = 0; !status && k < w->b.trace->n; k++) {
        const equation_step *s = &w->b.trace->steps[k];
        if (!s->scan) continue;
        const double *from = interpreter_states(w->i, s);
        for (size_t i = 0; i < s->scan->n_states; i++, at++) {
            put(&w->results[at], from, exact);
            from += w->results[at].n;
        }
    }
    if (!status) status = interpreter_backward(w->i, w->b.y, dy, rounding, seed);
    for (size_t k = 0; !status && k < w->n_inputs; k++) {
        if (!w->inputs[k].t) continue;
        put(&w->results[at++], interpreter_gradient(w->i, w->inputs[k].t), exact);
    }
    free(dy);
    vectors_progress(&w->set, w->name);
    return status ? text_no_memory(w) : 0;
}

static double largest(const double *x, size_t n) {
    double m = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= m)) m = fabs(x[i]);
    return m;
}
// Of a gradient at least 1 % of the case's largest.
static void find_scales(text_work *w) {
    double most = 0;
    for (text_result *r = w->results; r < w->results + w->n_results; r++) {
        r->scale = largest(r->exact, r->n);
        if (r->gradient) most = fmax(most, r->scale);
    }
    for (text_result *r = w->results; r < w->results + w->n_results; r++)
        if (r->gradient) r->scale = fmax(r->scale, 0.01 * most);
}
static const double room[FORMATS] = {32, 2, 2}; // sums inside a step round more often than once
static double tolerance(const text_result *r, int f) {
    return fmax(compare_formats[1 + f].tol, room[f] * r->off[f]);
}
static double off_by(const text_result *r) {
    double most = 0;
    for (size_t n = 0; n < r->n && r->scale > 0; n++)
        most = fmax(most, fabs(r->exact[n] - r->moved[n]) / r->scale);
    return most;
}
static int has_scan(const text_work *w) {
    int found = 0;
    for (size_t s = 0; s < w->b.trace->n; s++) found |= w->b.trace->steps[s].scan != NULL;
    return found;
}
// What rounding each step to float32 does to each result, or the inputs to that half. 1: too much to test
// with, or numbers that are not finite.
static int find_tolerances(text_work *w, int f) {
    int bad = 0;
    const double u = ldexp(1, -compare_formats[1 + f].digits);
    for (text_result *r = w->results; r < w->results + w->n_results; r++) {
        r->off[f] = 0;
        bad |= !isfinite(r->scale);
    }
    const int is_long = w->length > LONG;
    for (uint64_t k = 0; k < (is_long ? 1 : DRAWS) && !bad; k++) {
        if (compute(w, u, f ? 0 : u, w->seed + 1 + k, 0)) return 2;
        for (text_result *r = w->results; r < w->results + w->n_results; r++) {
            r->off[f] = fmax(r->off[f], off_by(r));
            bad |= !(tolerance(r, f) <= (f ? loosest : loosest_f32));
        }
    }
    // A choice or maximum that a hair decides falls otherwise a little further off.
    if (!bad && !f && !(is_long && has_scan(w))) {
        if (compute(w, FURTHER * u, FURTHER * u, w->seed, 0)) return 2;
        for (text_result *r = w->results; r < w->results + w->n_results; r++)
            bad |= !(off_by(r) <= 16 * FURTHER * fmax(r->off[f], u));
    }
    return bad;
}
// An attempt at inputs, judged in as many formats as rounding allows; 1: not even in float32.
static int try_inputs(text_work *w, unsigned attempt) {
    if (draw(w, attempt) || compute(w, 0, 0, w->seed, 1)) return 2;
    find_scales(w);
    w->formats = 0;
    for (int status = 0; !status && w->formats < (w->hard ? 1 : FORMATS); w->formats += !status)
        if ((status = find_tolerances(w, w->formats)) == 2) return 2;
    return !w->formats;
}

// ---- Writing ----------------------------------------------------------------------------------------------
static int write_results(text_work *w, int gradient) {
    int first = 1;
    fprintf(w->set.manifest, "},\n   \"%s\": {", gradient ? "gradients" : "outputs");
    for (const text_result *r = w->results; r < w->results + w->n_results; r++) {
        char judged[160];
        if (r->gradient != gradient) continue;
        int n = snprintf(judged, sizeof judged, ", \"scale\": %.17g", r->scale);
        for (int f = 0; f < w->formats; f++)
            n += snprintf(judged + n, sizeof judged - (size_t)n, ", \"%s_tol\": %.2g",
                          compare_formats[1 + f].name, tolerance(r, f));
        npy a = {NPY_F8, r->ndim, {0}, r->n, r->exact};
        memcpy(a.shape, r->shape, sizeof a.shape);
        if (vectors_put(&w->set, w->name, gradient ? "d_" : "", r->name, &a, judged, first)) return 2;
        first = 0;
    }
    return 0;
}
static int write_case(text_work *w) {
    fprintf(
        w->set.manifest,
        "%s\n  {\"name\": \"%s\", \"mechanism\": \"equations\", \"mode\": \"%s\",\n   \"params\": {\"L\": %zu, "
        "\"D\": %zu, \"H\": %zu}, ",
        w->made++ ? "," : "", w->name, w->is->kind, w->length, w->c->common.width, w->c->common.heads);
    if (w->batch) fprintf(w->set.manifest, "\"batch\": [%zu], ", w->batch);
    fprintf(w->set.manifest, "\"formats\": [\"f64\"");
    for (int f = 0; f < w->formats; f++) fprintf(w->set.manifest, ", \"%s\"", compare_formats[1 + f].name);
    fprintf(w->set.manifest, "],\n   \"inputs\": {");
    for (size_t k = 0; k < w->n_inputs; k++) {
        char told[40];
        const text_input *in = &w->inputs[k];
        npy a = {NPY_F8, in->ndim, {0}, in->n, in->value};
        memcpy(a.shape, in->shape, sizeof a.shape);
        snprintf(told, sizeof told, ", \"role\": \"%s\"", role_names[in->is]);
        if (vectors_put(&w->set, w->name, "", in->name, &a, told, !k)) return 2;
    }
    if (write_results(w, 0) || write_results(w, 1)) return 2;
    fprintf(w->set.manifest, "}}");
    return 0;
}
static int make_case(text_work *w) {
    snprintf(w->name, sizeof w->name, "equations_%s_%zu", w->is->kind, w->length);
    int status = text_open_case(w);
    if (!status) status = text_add_arrays(w);
    int found = 0;
    for (unsigned attempt = 0; !status && !found && attempt < ATTEMPTS; attempt++) {
        const int bad = try_inputs(w, attempt);
        if (bad == 2) status = 2;
        found = !bad && (w->hard || w->formats == FORMATS || attempt >= FOR_HALVES);
    }
    if (!status && !found) status = text_left_out(w, "no inputs were found that rounding does not move far");
    if (!status) status = write_case(w);
    text_close_case(w);
    return status == 1 ? 0 : status;
}

static const char readme[] =
    "The arrays of one text of equations, made by `seqmix vectors CONFIG`: each case's are CASE.NAME.npy (float64).\n\n"
    "- `x` [L][D], and the text's weights under their names; `S_start` [heads][...]: where a scan's state S starts,\n"
    "  where that is no number of the text. `dy`: the gradient at y.\n"
    "- `y` [L][D]; `S_last` [heads][...]: the state after the last row.\n"
    "- `d_NAME`: the gradient of sum(y * dy) by that input.\n"
    "- A case with \"batch\": [B] has [B] in front of x, dy, y, S_last and d_x; weights and starts are shared, and their\n"
    "  gradients are sums over the batch.\n\n"
    "Cases: `rows` of so many rows; `batch`; `started`: states start elsewhere than at 0; `quiet`, `loud`: x small and\n"
    "large; `zeros`: a third of x's rows are 0; `steady`: large rows that are nearly alike, so that gates are shut, or\n"
    "open, throughout. manifest.json has each array's shape, scale and tolerances. Write what your code makes of a case\n"
    "under the same names into a folder of its own, then\n\n"
    "    seqmix judge --manifest manifest.json FOLDER --f32\n\n"
    "In the sets without --hard every input has eight significant bits, the same number in bfloat16, float16 and float32.\n"
    "The hard set is for float64 and float32.\n\nThe text:\n\n";

// With the text below it; malloc'ed, NULL without memory.
static char *readme_of(const char *text) {
    char *all = malloc(sizeof readme + 5 * strlen(text) + 8), *to = all;
    if (!all) return NULL;
    to += sprintf(to, "%s    ", readme);
    for (const char *at = text; *at; at++) {
        *to++ = *at;
        if (*at == '\n' && at[1]) to += sprintf(to, "    ");
    }
    *to = 0;
    return all;
}

static int make_set(text_work *w, size_t length, size_t batch) {
    const text_case *const cases = w->hard ? hard : easy;
    int status = 0;
    for (int count = 1; count >= 0 && !status; count--)
        for (w->is = cases; w->is->kind && !status; w->is++) {
            // At one length, each kind once.
            if (length && w->is != cases && !strcmp(w->is->kind, w->is[-1].kind)) continue;
            if (count) {
                w->set.of++;
                continue;
            }
            w->set.at++;
            w->length = length ? length : w->is->length;
            w->batch = batch ? batch : w->is->batch;
            status = make_case(w);
        }
    if (!status && !w->made) status = cli_fail("vectors: no case of this text is good to test with");
    return status;
}

int vectors_of_text(const char *config_text, const char *out, uint64_t seed, int is_hard, size_t length,
                    size_t batch) {
    char equations[8300];
    smx_error error = {0};
    if (cli_refuse_several("vectors", config_text)) return 2;
    config *c = cli_config_with_text(config_text, equations, sizeof equations, &error);
    if (!c) return cli_fail("%s", error.message);
    cli_note_unread(config_text, config_text);
    text_work *w = calloc(1, sizeof *w);
    if (!w) {
        config_free(c);
        return cli_fail("vectors: out of memory");
    }
    w->c = c;
    w->seed = seed;
    w->hard = is_hard;
    int status = text_open_graph(w, c, 1, c->common.length, &error); // what is wrong with the text itself
    text_close_graph(w);
    status = status ? cli_fail("%s", error.message) : vectors_begin(&w->set, out);
    if (!status) {
        fprintf(w->set.manifest,
                "{\"version\": 1, \"suite\": " VECTORS_SUITE
                ", \"note\": \"seqmix %s, seed %llu%s\",\n \"config\": ",
                SMX_VERSION, (unsigned long long)seed, is_hard ? ", the hard cases" : "");
        cli_put_json_text(w->set.manifest, config_text);
        fprintf(w->set.manifest, ",\n \"text\": ");
        cli_put_json_text(w->set.manifest, equations);
        fprintf(w->set.manifest, ",\n \"f64_tol\": %.3g,\n \"cases\": [", f64_tol);
        status = make_set(w, length, batch);
    }
    char *about = readme_of(equations);
    status = vectors_end(&w->set, status, about, w->made);
    free(about);
    free(w);
    config_free(c);
    return status;
}
