// vectors.c: `seqmix vectors`: a full set of test vectors for judging other implementations: inputs, outputs,
// intermediates and gradients of every mechanism, with a manifest that says scale and tolerance of each
// array. The same seed gives the same inputs to the bit on every machine; outputs are as good as its libm
// (1e-15 or so). Long because drawing, judging and writing share one struct.
#include "vectors.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/oracle/compare.h"
#include "hard.h"
#include "cli/oracle/oracle_batch.h"
#include "vectors_text.h"
#include "kernels/core/hash.h"
#include "kernels/core/philox.h"

enum {
    STREAM = 64,       // of the generator: apart from those of the tasks
    ATTEMPTS = 4096,   // at inputs that are good to test with
    FEW_ATTEMPTS = 32, // where other sizes were asked for
    ALL_AGAIN = 16,    // so many attempts at single sequences
    DRAWS = 4,         // of roundings, for the tolerances
    FORMATS = 3,       // f32, f16, bf16
    MOST_SEQUENCES = 256
};
static const double clear_lead = 0x1p-4, loosest = 0x1p-4;

// How often something was drawn, and whether that is no good.
typedef struct {
    unsigned attempt;
    int bad;
} draw_state;

typedef struct {
    vectors_set set;
    uint64_t seed;
    long length, width, batch; // 0: the case's own
    const char *only;          // a mechanism; NULL: all
    int may_fail;              // whether the mechanism can have these sizes is being tried
    const vectors_case *is;
    const oracle_mechanism *mechanism;
    char text[400]; // the parameters, as JSON
    json *params;
    char name[96];
    size_t sequences;                          // of the case; 0: no array has a batch dimension
    const oracle_array *of[ORACLE_MAX_ARRAYS]; // the inputs
    npy inputs[ORACLE_MAX_ARRAYS];
    size_t n_inputs;
    draw_state shared, sequence[MOST_SEQUENCES];  // what all have in common; each sequence of a batch
    oracle_batch exact, rounded;                  // as drawn; inputs moved by rounding
    double scale[2 * ORACLE_MAX_ARRAYS];          // of each result
    double moved[FORMATS][2 * ORACLE_MAX_ARRAYS]; // largest change by rounding, relative to the scale
} work;

static int fail(const work *w, const char *why) {
    if (!w->may_fail) return cli_fail("vectors: case %s: %s", w->name, why);
    cli_note("case %s is left out: %s", w->name, why);
    return 2;
}

// ---- Inputs

static uint64_t hash(const char *text, uint64_t from) { return hash_bytes(from, text, strlen(text)); }

// n numbers of `to` from the `from`-th on; others for each attempt, and for each sequence of a batch.
static void draw(work *w, const oracle_case *c, const char *name, npy *to, size_t from, size_t n,
                 unsigned attempt, size_t sequence) {
    const vectors_range *r = vectors_range_of(w->mechanism->name, name);
    uint64_t index = hash(name, hash(".", hash(w->name, HASH_START)));
    smx_rng rng = rng_open(w->seed, STREAM + attempt, index + sequence);
    const int louder = !strcmp(name, "q") || !strcmp(name, "k") ? w->is->louder : 0;
    if (to->dtype == NPY_I4) {
        vectors_integers((int32_t *)to->data + from, n, c, name, &rng);
        return;
    }
    for (size_t i = from; i < from + n; i++)
        ((double *)to->data)[i] =
            ldexp(r->low + (int)rng_below(&rng, (uint32_t)(r->high - r->low + 1)), louder - r->shift);
}

static void forget_inputs(work *w) {
    for (size_t i = 0; i < w->n_inputs; i++) npy_free(&w->inputs[i]);
    w->n_inputs = 0;
}

static int draw_input(work *w, const oracle_case *c, const oracle_slot *s) {
    npy *a = &w->inputs[w->n_inputs];
    const size_t lead = w->sequences && oracle_of_sequence(s->is);
    *a = (npy){
        s->is->flags & ORACLE_INTEGER ? NPY_I4 : NPY_F8, s->ndim + lead, {w->sequences}, s->count, NULL};
    if (a->ndim > NPY_MAX_DIMS) return fail(w, "an input would have too many dimensions");
    memcpy(a->shape + lead, s->shape, s->ndim * sizeof *a->shape);
    if (lead) a->count *= w->sequences;
    a->data = malloc(a->count * npy_item_size(a->dtype) + 1);
    if (!a->data) return fail(w, "out of memory");
    w->of[w->n_inputs++] = s->is;
    if (!lead) draw(w, c, s->is->name, a, 0, s->count, w->shared.attempt, 0);
    for (size_t i = 0; lead && i < w->sequences; i++)
        draw(w, c, s->is->name, a, i * s->count, s->count, w->sequence[i].attempt, i);
    return 0;
}

static int draw_inputs(work *w) {
    oracle_case c;
    forget_inputs(w);
    int status = oracle_open(&c, w->mechanism, w->params, NULL) || oracle_shapes(&c);
    if (status) fail(w, c.error.message);
    for (size_t i = 0; i < c.n_slots && !status; i++) {
        const oracle_slot *s = &c.slots[i];
        if (s->is->kind == ORACLE_INPUT && !vectors_leaves_out(w->is, s->is->name))
            status = draw_input(w, &c, s);
    }
    oracle_close(&c);
    return status ? 2 : 0;
}

// Rounding could turn a choice: *this* sequence is drawn again.
static void watch_lead(const oracle_case *piece, void *context) {
    draw_state *at = *(draw_state **)context;
    at->bad |= vectors_margin(piece) < clear_lead;
    ++*(draw_state **)context;
}

// Runs the case on the inputs, each number x replaced by x (1 +- u).
static int compute(work *w, oracle_batch *b, double u, smx_rng *signs) {
    oracle_batch_close(b);
    if (oracle_batch_open(b, w->mechanism, w->params, NULL)) return fail(w, b->c.error.message);
    for (size_t i = 0; i < w->n_inputs; i++) {
        npy a = w->inputs[i];
        const size_t bytes = a.count * npy_item_size(a.dtype);
        a.data = malloc(bytes + 1);
        if (!a.data) return fail(w, "out of memory");
        memcpy(a.data, w->inputs[i].data, bytes);
        if (u > 0 && a.dtype == NPY_F8)
            for (size_t k = 0; k < a.count; k++) ((double *)a.data)[k] *= rng_u32(signs) & 1 ? 1 + u : 1 - u;
        const int status = oracle_batch_set(b, w->of[i]->name, &a);
        npy_free(&a);
        if (status) return fail(w, b->c.error.message);
    }
    draw_state *at = w->sequence;
    if (b == &w->exact) {
        b->watch = watch_lead;
        b->context = &at;
    }
    vectors_progress(&w->set, w->name);
    return oracle_batch_run(b) ? fail(w, b->c.error.message) : 0;
}

// ---- Scales and tolerances

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

// The array's largest; of a gradient at least 1 % of the case's largest gradient, so that one that is zero
// but for rounding is not held to the rounding of zero.
static void find_scales(work *w) {
    const oracle_batch_result *r = w->exact.results;
    double most = 0;
    for (size_t i = 0; i < w->exact.n_results; i++) {
        w->scale[i] = largest(r[i].data, r[i].count);
        if (r[i].gradient) most = fmax(most, w->scale[i]);
    }
    for (size_t i = 0; i < w->exact.n_results; i++)
        if (r[i].gradient) w->scale[i] = fmax(w->scale[i], 0.01 * most);
}

// How far a result moved; what moved too far is no good to test with.
static void note_moves(work *w, int f, size_t i) {
    const oracle_batch_result *r = &w->exact.results[i];
    const double *b = w->rounded.results[i].data, scale = w->scale[i];
    for (size_t n = scale > 0 ? r->count : 0; n-- > 0;) {
        const double moved = fabs(r->data[n] - b[n]) / scale;
        draw_state *of = r->shared || !w->sequences ? &w->shared : &w->sequence[n / r->piece];
        w->moved[f][i] = fmax(w->moved[f][i], moved);
        of->bad |= !(2 * moved <= loosest);
    }
}

static int any_bad(const work *w) {
    int bad = w->shared.bad;
    for (size_t i = 0; i < MOST_SEQUENCES; i++) bad |= w->sequence[i].bad;
    return bad;
}

// From the coarsest format to the finest; ends early where even that shows bad inputs.
static int find_tolerances(work *w) {
    memset(w->moved, 0, sizeof w->moved);
    smx_rng signs = rng_open(w->seed, STREAM, hash(w->name, 0));
    for (int f = FORMATS - 1; f >= 0 && !any_bad(w); f--)
        for (int k = 0; k < DRAWS; k++) {
            if (compute(w, &w->rounded, ldexp(1, -compare_formats[1 + f].digits), &signs)) return 2;
            for (size_t i = 0; i < w->exact.n_results; i++) note_moves(w, f, i);
        }
    return 0;
}

// The format's own tolerance, or twice what rounding the inputs moves, rounded up to two digits.
static double tolerance(const work *w, int f, size_t i) {
    double tol = 2 * w->moved[f][i], least = compare_formats[1 + f].tol;
    if (tol <= least) return least;
    double unit = pow(10, floor(log10(tol)) - 1);
    return fmin(ceil(tol / unit) * unit, loosest);
}

// ---- Writing

static int write_inputs(work *w) {
    fprintf(w->set.manifest, ",\n   \"inputs\": {");
    for (size_t i = 0; i < w->n_inputs; i++)
        if (vectors_put(&w->set, w->name, "", w->of[i]->name, &w->inputs[i], "", !i)) return 2;
    fprintf(w->set.manifest, "}");
    return 0;
}

static int write_results(work *w, const char *part, oracle_kind kind, const char *prefix) {
    int first = 1;
    fprintf(w->set.manifest, ",\n   \"%s\": {", part);
    for (size_t i = 0; i < w->exact.n_results; i++) {
        const oracle_batch_result *r = &w->exact.results[i];
        if (r->is->kind != kind) continue;
        npy a = {NPY_F8, r->ndim, {0}, r->count, r->data};
        memcpy(a.shape, r->shape, sizeof a.shape);
        char judged[160];
        snprintf(judged, sizeof judged,
                 ", \"scale\": %.17g, \"f32_tol\": %.3g, \"f16_tol\": %.3g, \"bf16_tol\": %.3g", w->scale[i],
                 tolerance(w, 0, i), tolerance(w, 1, i), tolerance(w, 2, i));
        if (vectors_put(&w->set, w->name, prefix, r->is->name, &a, judged, first)) return 2;
        first = 0;
    }
    fprintf(w->set.manifest, "}");
    return 0;
}

// In the parameters the number of `key`, where it is there, becomes n (0: stays).
static void put_size(char *text, size_t size, const char *key, long n) {
    char name[16], rest[400];
    snprintf(name, sizeof name, "\"%s\":", key);
    char *at = n ? strstr(text, name) : NULL;
    if (!at) return;
    at += strlen(name);
    snprintf(rest, sizeof rest, "%s", at + strspn(at, "0123456789"));
    snprintf(at, size - (size_t)(at - text), "%ld%s", n, rest);
}

// The case by its name, with the sizes that were asked for.
static int open_case(work *w) {
    smx_error error;
    w->mechanism = oracle_find(w->is->mechanism);
    snprintf(w->name, sizeof w->name, "%s_%s", w->is->mechanism, w->is->name);
    snprintf(w->text, sizeof w->text, "%s", w->is->params);
    put_size(w->text, sizeof w->text, "L", w->length);
    put_size(w->text, sizeof w->text, "D", w->width);
    const long sequences = w->batch ? w->batch : w->is->batch;
    w->sequences = w->mechanism && oracle_has_sequences(w->mechanism) ? (size_t)sequences : 0;
    json_free(w->params);
    w->params = json_parse(w->text, strlen(w->text), &error);
    return w->mechanism && w->params ? 0
                                     : fail(w, w->mechanism ? error.message : "there is no such mechanism");
}

// The sequences of a batch that are no good are drawn again, each by itself; everything where that does not
// help, for a weight may be at fault.
static void draw_again(work *w, unsigned attempt) {
    const int all = w->shared.bad || !w->sequences || attempt % ALL_AGAIN == 0;
    w->shared = (draw_state){w->shared.attempt + all, 0};
    for (draw_state *s = w->sequence; s < w->sequence + MOST_SEQUENCES; s++)
        *s = (draw_state){s->attempt + (all || s->bad), 0};
}

static int find_inputs(work *w) {
    memset(w->sequence, 0, sizeof w->sequence);
    w->shared = (draw_state){0};
    for (unsigned attempt = 1;; draw_again(w, attempt++)) {
        if (attempt > (w->may_fail ? FEW_ATTEMPTS : ATTEMPTS))
            return fail(w, "no inputs were found that rounding does not move far");
        if (draw_inputs(w) || compute(w, &w->exact, 0, NULL)) return 2;
        if (any_bad(w)) continue;
        find_scales(w);
        if (find_tolerances(w)) return 2;
        if (!any_bad(w)) return 0;
    }
}

// *n counts the cases that are in the set.
static int make_case(work *w, size_t *n) {
    if (open_case(w)) return 2;
    w->may_fail =
        w->length || w->width || w->batch; // a case that cannot have these sizes is left out, and named
    const int found = !find_inputs(w), left_out = !found && w->may_fail;
    w->may_fail = 0;
    if (!found) return left_out ? 0 : 2;
    const int first = !(*n)++;
    fprintf(w->set.manifest,
            "%s\n  {\"name\": \"%s\", \"mechanism\": \"%s\", \"mode\": \"%s\",\n   \"params\": %s",
            first ? "" : ",", w->name, w->mechanism->name, w->is->name, w->text);
    if (w->sequences) fprintf(w->set.manifest, ", \"batch\": [%zu]", w->sequences);
    if (write_inputs(w) || write_results(w, "outputs", ORACLE_OUTPUT, "") ||
        write_results(w, "intermediates", ORACLE_MIDDLE, "mid_") ||
        write_results(w, "gradients", ORACLE_INPUT, "d_"))
        return 2;
    fprintf(w->set.manifest, "}");
    return 0;
}

static int is_wanted(const work *w) { return !w->only || !strcmp(w->only, w->is->mechanism); }

static int make_set(work *w, const char *folder) {
    size_t cases = 0;
    int status = vectors_begin(&w->set, folder);
    if (!status)
        fprintf(w->set.manifest,
                "{\"version\": 1, \"suite\": " VECTORS_SUITE
                ", \"note\": \"seqmix %s, seed %llu; README.md tells what is what\",\n"
                " \"f64_tol\": %.3g,\n \"cases\": [",
                SMX_VERSION, (unsigned long long)w->seed, compare_formats[0].tol);
    for (w->is = vectors_cases; w->is->mechanism; w->is++) w->set.of += is_wanted(w);
    for (w->is = vectors_cases; w->is->mechanism && !status; w->is++) {
        if (!is_wanted(w)) continue;
        w->set.at++;
        status = make_case(w, &cases);
    }
    return vectors_end(&w->set, status, vectors_readme, cases);
}

typedef struct {
    const char *out;
    const char *seed, *only;
    const char *config; // whose text it is of; NULL: of the oracle's mechanisms
    long length, width, batch;
    double budget;
    int hard, onnx;
} options;
static const cli_option table[] = {
    {"--out", "DIR", "where to; manifest.json is written last", OPTION_TEXT, offsetof(options, out), 0, 0},
    {"--seed", "N", "the same seed draws the same inputs everywhere (1)", OPTION_TEXT,
     offsetof(options, seed), 0, 0},
    {"--only", "MECHANISM", "its cases alone; `seqmix oracle --list` names them", OPTION_TEXT,
     offsetof(options, only), 0, 0},
    {"--length", "N", "every case at this length, where its mechanism can have it", OPTION_COUNT,
     offsetof(options, length), 1, 4096},
    {"--width", "N", "and at this width", OPTION_COUNT, offsetof(options, width), 1, 1024},
    {"--batch", "N", "every case on N sequences, where its mechanism reads any", OPTION_COUNT,
     offsetof(options, batch), 1, MOST_SEQUENCES},
    {"--hard", NULL,
     "instead, cases of 300 to 4,096 rows with gates shut and open, states handed on, huge and tiny numbers",
     OPTION_FLAG, offsetof(options, hard), 0, 0},
    {"--onnx", NULL,
     "instead, node tests of ONNX's LinearAttention, CausalConvWithState and Attention, and their manifest",
     OPTION_FLAG, offsetof(options, onnx), 0, 0},
    {"--budget", "SECONDS",
     "instead, check_layer's plan: what so many seconds of each mechanism have room for", OPTION_REAL,
     offsetof(options, budget), 0.01, 1e6},
    {0},
};

static int vectors(int argc, char **argv);
const cli_command cli_vectors = {
    .name = "vectors",
    .usage = "['CONFIG'] --out DIR",
    .help = "a set of test vectors for judging other implementations",
    .options = table,
    .plain = offsetof(options, config),
    .most = 1,
    .example = "seqmix vectors --out vectors",
    .run = vectors,
};

static int vectors(int argc, char **argv) {
    options o = {.seed = "1"};
    if (cli_read_options(&cli_vectors, argc, argv, &o)) return 2;
    if (!o.out || strlen(o.out) > 3500) return cli_usage_error(&cli_vectors, "--out DIR");
    const char *const out = o.out, *const seed = o.seed;
    if (!*seed || strlen(seed) > 18 || strspn(seed, "0123456789") != strlen(seed))
        return cli_fail("vectors: --seed is '%.60s'; it must be a whole number of at most 18 digits", seed);
    if (o.config && (o.only || o.onnx || o.budget > 0 || o.width))
        return cli_fail("vectors: of a text, without --%s%s",
                        o.only    ? "only"
                        : o.onnx  ? "onnx"
                        : o.width ? "width"
                                  : "budget",
                        o.width ? ": width is a key of the config" : "");
    if (o.config)
        return vectors_of_text(o.config, out, strtoull(seed, NULL, 10), o.hard, (size_t)o.length,
                               (size_t)o.batch);
    const int other = o.hard + o.onnx + (o.budget > 0);
    if (other && (o.length || o.width || o.batch || other > 1))
        return cli_fail("vectors: --%s is a set with sizes of its own: without --length, --width, --batch%s",
                        o.hard   ? "hard"
                        : o.onnx ? "onnx"
                                 : "budget",
                        o.hard   ? ", --onnx and --budget"
                        : o.onnx ? " and --budget"
                                 : "");
    if (o.only && !oracle_find(o.only))
        return cli_fail("vectors: --only: there is no mechanism '%.60s'; `seqmix oracle --list` names them",
                        o.only);
    if (other) return hard_vectors(out, strtoull(seed, NULL, 10), o.only, o.budget, o.onnx);
    work *w = calloc(1, sizeof *w);
    if (!w) return cli_fail("vectors: out of memory");
    w->seed = strtoull(seed, NULL, 10);
    w->only = o.only;
    w->length = o.length;
    w->width = o.width;
    w->batch = o.batch;
    int status = make_set(w, out);
    forget_inputs(w);
    oracle_batch_close(&w->exact);
    oracle_batch_close(&w->rounded);
    json_free(w->params);
    free(w);
    return status;
}
