// proved.c: see proved.h. A mechanism that a theorem speaks of is a line of the table below.
#include "proved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/oracle/oracle_cases.h"
#include "ref/bounds.h"

// One case's inputs as doubles, and what is made of them.
typedef struct {
    oracle_case c;
    struct {
        const char *name;
        double *x;
        size_t count;
    } input[ORACLE_MAX_ARRAYS];
    size_t n_inputs, count; // count: of the output
    double *exact, *bound;
} rows;

static const double *input(const rows *r, const char *name, size_t *count) {
    for (size_t i = 0; i < r->n_inputs; i++)
        if (!strcmp(r->input[i].name, name)) {
            *count = r->input[i].count;
            return r->input[i].x;
        }
    *count = 0;
    return NULL;
}
static int read_inputs(rows *r, const manifest *m, const json *entry) {
    const json *inputs = json_get(entry, "inputs");
    for (const json *a = inputs ? inputs->child : NULL; a; a = a->next) {
        manifest_array is;
        char path[MANIFEST_PATH];
        npy x;
        smx_error error;
        if (r->n_inputs == ORACLE_MAX_ARRAYS || manifest_array_of(m, a, m->folder, path, &is, &error) ||
            npy_read(&x, path, &error))
            return 0;
        double *to = manifest_fits(&is, &x, path, &error) ? NULL : malloc((x.count + 1) * sizeof *to);
        for (size_t i = 0; to && i < x.count; i++) to[i] = npy_value(&x, i);
        if (to) {
            r->input[r->n_inputs].name = a->key;
            r->input[r->n_inputs].count = x.count;
            r->input[r->n_inputs++].x = to;
        }
        npy_free(&x);
        if (!to) return 0;
    }
    return 1;
}

// ---- The theorems' rows; 1: the arrays fit ----------------------------------------------------------------

// The kernels take eps and scale as float32: what that changes is added to the bound by proved_of.
static int norm_rows(rows *r, int layer) {
    size_t n = 0, n_gain = 0, n_bias = 0;
    const size_t D = oracle_size(&r->c, "D");
    const double *x = input(r, "x", &n), *gain = input(r, "gain", &n_gain), *bias = input(r, "bias", &n_bias);
    const double eps = (float)oracle_real(&r->c, "eps");
    if (!x || !gain || (layer && !bias) || !D || n != r->count || n % D || n_gain != D ||
        n_bias != (layer ? D : 0))
        return 0;
    for (size_t at = 0; at < n; at += D)
        if (layer)
            ref_bound_layer_norm(r->exact + at, r->bound + at, x + at, gain, bias, D, eps);
        else
            ref_bound_rms_norm(r->exact + at, r->bound + at, x + at, gain, D, eps);
    return 1;
}
static int layer_norm(rows *r) { return norm_rows(r, 1); }
static int rms_norm(rows *r) { return norm_rows(r, 0); }

// H heads of queries over Hkv of keys and values, rows of all sequences one after the other.
static int attention(rows *r, size_t H, size_t Hkv, size_t d, double scale) {
    const size_t L = oracle_size(&r->c, "L"), Dq = H * d, Dk = Hkv * d;
    const int causal = oracle_flag(&r->c, "causal");
    size_t nq = 0, nk = 0, nv = 0;
    const double *q = input(r, "q", &nq), *k = input(r, "k", &nk), *v = input(r, "v", &nv);
    if (!q || !k || !v || !L || !Dq || !Dk || H % Hkv || nq != r->count || nk != nv || nq % (L * Dq) ||
        nk != nq / (L * Dq) * L * Dk)
        return 0;
    double *weights = malloc(L * sizeof *weights);
    for (size_t row = 0; weights && row < nq / Dq; row++)
        for (size_t h = 0; h < H; h++) {
            const size_t i = row % L, first = (row - i) * Dk + h / (H / Hkv) * d, at = row * Dq + h * d;
            const ref_bound_heads p = {causal ? i + 1 : L, causal ? REF_BOUND_AFTER : 0, d, d, Dk, Dk,
                                       (float)scale};
            ref_bound_attention(r->exact + at, r->bound + at, q + at, k + first, v + first, weights, &p);
        }
    free(weights);
    return weights != NULL;
}
static int softmax_attention(rows *r) {
    const size_t H = oracle_size(&r->c, "H"), d = H ? oracle_size(&r->c, "D") / H : 0;
    size_t maps;
    if (oracle_choice(&r->c, "pos") || oracle_choice(&r->c, "qk_norm") || input(r, "filter_maps", &maps))
        return 0;
    return attention(r, H, H, d, 1 / sqrt((double)d));
}
static int attn_core(rows *r) {
    const size_t d = oracle_size(&r->c, "d");
    const double scale = oracle_real(&r->c, "scale");
    size_t n;
    if (oracle_choice(&r->c, "mode") || oracle_size(&r->c, "window") || oracle_real(&r->c, "softcap") != 0 ||
        input(r, "sinks", &n) || input(r, "q_gain", &n) || input(r, "k_gain", &n))
        return 0;
    return attention(r, oracle_size(&r->c, "H"), oracle_size(&r->c, "Hkv"), d,
                     scale != 0 ? scale : 1 / sqrt((double)d));
}

static const struct {
    const char *mechanism, *output, *theorem;
    int (*fill)(rows *r);
} theorems[] = {
    {"softmax_attention_qkv", "y", "SoftmaxRow.attention_row_error", softmax_attention},
    {"attn_core", "y", "SoftmaxRow.attention_row_error", attn_core},
    {"rms_norm", "y", "NormRow.rms_norm_error", rms_norm},
    {"layer_norm", "y", "NormRow.layer_norm_error", layer_norm},
};

// ---- A case -----------------------------------------------------------------------------------------------

// The exact row beside the reference: what lies between them (eps in float32) is the reference's own; more
// than a bound, and it is another function.
static int same_function(const rows *r, const double *ref) {
    for (size_t i = 0; i < r->count; i++) {
        const double off = fabs(r->exact[i] - ref[i]);
        if (!(r->bound[i] < INFINITY)) continue;
        if (!(off <= r->bound[i])) return 0;
        r->bound[i] += off;
    }
    return 1;
}

proved proved_of(const manifest *m, const json *entry, const char *name, const double *ref, size_t count) {
    const json *is = json_get(entry, "mechanism"), *mode = json_get(entry, "mode"),
               *params = json_get(entry, "params");
    const char *const mechanism = is && is->type == JSON_STRING ? is->string : "";
    size_t t = 0;
    const size_t all = sizeof theorems / sizeof *theorems;
    while (t < all && (strcmp(theorems[t].mechanism, mechanism) || strcmp(theorems[t].output, name))) t++;
    if (t == all || !params || !count) return (proved){NULL, NULL};
    rows r = {.count = count};
    const oracle_mechanism *of = oracle_find(mechanism);
    int fine = !oracle_open(&r.c, of, params, mode && oracle_allows(of, "mode", mode) ? mode : NULL) &&
               !oracle_shapes(&r.c) && read_inputs(&r, m, entry);
    r.exact = malloc(count * sizeof *r.exact);
    r.bound = malloc(count * sizeof *r.bound);
    fine = fine && r.exact && r.bound && theorems[t].fill(&r) && same_function(&r, ref);
    for (size_t i = 0; i < r.n_inputs; i++) free(r.input[i].x);
    free(r.exact);
    oracle_close(&r.c);
    if (fine) return (proved){r.bound, theorems[t].theorem};
    free(r.bound);
    return (proved){NULL, NULL};
}
void proved_free(proved *p) {
    free(p->bound);
    p->bound = NULL;
}

proved_worst proved_judge(const proved *p, const double *got, const double *ref, size_t count) {
    proved_worst w = {0, 0, 0, 0};
    for (size_t i = 0; p->bound && i < count; i++) {
        if (!(p->bound[i] < INFINITY)) continue;
        const double error = compare_error(got[i], ref[i]), part = error / p->bound[i];
        if (w.bound > 0 && !(part > w.part)) continue;
        w = (proved_worst){part, error, p->bound[i], i};
    }
    return w;
}
int proved_past(const proved_worst *w) { return !(w->error <= w->bound); }
