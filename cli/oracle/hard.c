// hard.c: see hard.h. Lengths of 300 to 4,096 rows, last blocks that are not full, gates that are shut and
// open, states that are handed on, numbers beyond what float32's exp takes and others that vanish beside
// eps, and several draws of the same.
//
// Judged in float64 and float32: rounding every input to bfloat16 moves such results too far to tell a
// fault by.
#include "hard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "compare.h"
#include "kernels/hash.h"
#include "kernels/philox.h"
#include "vectors.h"

typedef struct {
    const char *mechanism, *name, *params, *without;
    // What is drawn otherwise than vectors_range_of says: "NAME*E" is 2^E times that, "NAME:A,B,C" one of
    // these at each place; separated by spaces. NULL: nothing.
    const char *drawn;
} hard_case;

#define SHUT "g:0,-0.000244140625,-0.125,-8,-90,-300"
#define SHUT_WHOLE "g:0,-0.000244140625,-0.125,-5,-80,-inf"
#define OPEN "g:0,-0.0001220703125,-0.00048828125"

static const hard_case cases[] = {
    {"softmax_attention_qkv", "tail300", "{\"L\":300,\"D\":16,\"H\":2}", "filter_maps", NULL},
    {"softmax_attention_qkv", "tail1031", "{\"L\":1031,\"D\":8,\"H\":2}", "filter_maps", NULL},
    {"softmax_attention_qkv", "both_sides", "{\"L\":515,\"D\":8,\"H\":1,\"causal\":false}", "filter_maps",
     NULL},
    {"softmax_attention_qkv", "saturated", "{\"L\":333,\"D\":16,\"H\":2}", "filter_maps", "q*4 k*4"},
    {"softmax_attention_qkv", "faint", "{\"L\":400,\"D\":8,\"H\":1}", "filter_maps", "q*-12 k*-12 v*-30"},
    {"softmax_attention_qkv", "rope", "{\"L\":1500,\"D\":8,\"H\":1,\"pos\":\"rope\"}", "filter_maps", NULL},
    {"softmax_attention_qkv", "alibi", "{\"L\":700,\"D\":8,\"H\":2,\"pos\":\"alibi\"}", "filter_maps", NULL},
    {"las_attention_qkv", "tail", "{\"L\":1000,\"D\":8,\"H\":2,\"P\":5}", NULL, NULL},
    {"las_attention_qkv", "chunk128", "{\"L\":1000,\"D\":8,\"H\":2,\"P\":5,\"chunk\":128}", NULL, NULL},
    {"las_attention_qkv", "saturated", "{\"L\":300,\"D\":8,\"H\":1,\"P\":3}", NULL, "q*4 k*4"},
    {"linear_attention", "tail4095", "{\"L\":4095,\"D\":8,\"H\":2}", NULL, NULL},
    {"linear_attention", "sum", "{\"L\":1999,\"D\":8,\"H\":2,\"normaliser\":\"sum\"}", NULL, NULL},
    {"linear_attention", "rms_faint", "{\"L\":700,\"D\":8,\"H\":2,\"normaliser\":\"rms\"}", NULL,
     "q*-4 k*-4 v*-2"},
    {"linear_attention", "loud", "{\"L\":700,\"D\":8,\"H\":2}", NULL, "q*20 k*20 v*20"},
    {"gla_core", "channel", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6,\"mode\":\"channel\"}", NULL, NULL},
    {"gla_core", "channel_b", "{\"L\":449,\"H\":1,\"dk\":16,\"dv\":8,\"mode\":\"channel\"}", NULL, NULL},
    {"gla_core", "channel_shut", "{\"L\":1025,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"channel\"}", NULL, SHUT},
    {"gla_core", "channel_shut_b", "{\"L\":330,\"H\":2,\"dk\":4,\"dv\":8,\"mode\":\"channel\"}", "s0", SHUT},
    {"gla_core", "channel_closing", "{\"L\":400,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"channel\"}", NULL,
     "g:-2,-3,-4"},
    {"gla_core", "head_open", "{\"L\":4096,\"H\":2,\"dk\":4,\"dv\":4,\"mode\":\"head\"}", "s0", OPEN},
    {"gla_core", "head_shut", "{\"L\":700,\"H\":2,\"dk\":8,\"dv\":8,\"mode\":\"head\"}", NULL, SHUT},
    {"gla_core", "head_state", "{\"L\":321,\"H\":2,\"dk\":8,\"dv\":4,\"mode\":\"head\"}", NULL, "s0*6"},
    {"gla_core", "retention", "{\"L\":2049,\"H\":3,\"dk\":4,\"dv\":4,\"mode\":\"retention\"}", NULL, NULL},
    {"gla_core", "loud", "{\"L\":300,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"head\"}", NULL, "v*60 s0*60 q*-30"},
    {"delta_core", "plain", "{\"L\":1500,\"H\":2,\"dk\":8,\"dv\":8}", NULL, NULL},
    {"delta_core", "plain_b", "{\"L\":300,\"H\":1,\"dk\":16,\"dv\":8}", "s0", NULL},
    {"delta_core", "beta_ends", "{\"L\":517,\"H\":2,\"dk\":8,\"dv\":8}", NULL, "beta:0,1,0.5"},
    {"delta_core", "head", "{\"L\":4096,\"H\":1,\"dk\":8,\"dv\":4,\"mode\":\"head\"}", NULL, OPEN},
    {"delta_core", "head_shut", "{\"L\":523,\"H\":2,\"dk\":8,\"dv\":8,\"mode\":\"head\"}", NULL, SHUT},
    {"delta_core", "channel", "{\"L\":300,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"channel\"}", NULL, NULL},
    {"delta_core", "channel_shut", "{\"L\":401,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"channel\"}", NULL, SHUT},
    {"selective_scan", "long", "{\"L\":4096,\"D\":4,\"S\":4}", NULL, "dt*-6"},
    {"selective_scan", "steps_apart", "{\"L\":333,\"D\":4,\"S\":4}", NULL,
     "dt:0.0001220703125,0.5,24"}, // nearly nothing, and all forgotten
    {"mega_ema", "long", "{\"L\":4096,\"D\":4,\"S\":2}", NULL, NULL},
    {"s4d", "long", "{\"L\":2000,\"D\":2,\"S\":4}", NULL, NULL},
    {"long_conv", "tail", "{\"L\":2047,\"D\":4}", NULL, NULL},
    {"short_conv", "depthwise", "{\"L\":1000,\"D\":12,\"groups\":12,\"W\":4}", NULL, NULL},
    {"short_conv", "two_sided", "{\"L\":515,\"D\":8,\"groups\":2,\"W\":7,\"future\":3}", NULL, NULL},
    {"sliding_core", "window64", "{\"L\":333,\"H\":2,\"d\":4,\"W\":64}", NULL, NULL},
    {"sliding_core", "saturated", "{\"L\":300,\"H\":1,\"d\":8,\"W\":100}", NULL, "q*4 k*4"},
    {"based_core", "tail", "{\"L\":450,\"H\":2,\"dk\":4,\"dv\":6}", NULL, NULL},
    {"hyena_core", "two", "{\"L\":515,\"D\":4,\"N\":2}", "x_2 h_2 skip_2 x_3 h_3 skip_3", NULL},
    {"lstm", "long", "{\"L\":1500,\"D\":6,\"E\":8}", NULL, NULL},
    {"lstm", "saturated", "{\"L\":300,\"D\":6,\"E\":8}", NULL, "x*5 b*3"},
    {"gru", "long", "{\"L\":1500,\"D\":6,\"E\":8}", NULL, NULL},
    {"gru", "saturated", "{\"L\":300,\"D\":6,\"E\":8}", NULL, "x*5 bx*3"},
    {"layer_norm", "loud", "{\"L\":300,\"D\":12}", NULL, "x*50"},
    {"layer_norm", "faint", "{\"L\":300,\"D\":12}", NULL, "x*-12"}, // eps decides
    {"rms_norm", "faint", "{\"L\":300,\"D\":12}", NULL, "x*-12"},
    {"batch_norm", "rows300", "{\"N\":300,\"D\":12}", NULL, NULL},
    {"batch_norm", "loud", "{\"N\":449,\"D\":6}", NULL, "x*20"},
    {"batch_norm", "faint", "{\"N\":300,\"D\":6}", NULL, "x*-12"}, // eps decides
    {"dropout", "long", "{\"N\":450,\"D\":6,\"p\":0.3,\"seed\":11,\"step\":5,\"place\":1}", NULL, NULL},
    {"long_conv", "bidirectional", "{\"L\":433,\"D\":4,\"causal\":false}", NULL, NULL},
    {"las_attention_qkv", "bidirectional", "{\"L\":333,\"D\":8,\"H\":2,\"P\":4,\"causal\":false}", NULL,
     NULL},
    {"linear_attention", "bidirectional",
     "{\"L\":400,\"D\":8,\"H\":2,\"normaliser\":\"rms\",\"causal\":false}", NULL, NULL},
    {"cross_entropy", "loud", "{\"L\":300,\"V\":17}", NULL, "logits*8"},
    {"delta_core", "packed", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":4,\"mode\":\"packed\",\"N\":5}", NULL,
     SHUT_WHOLE},
    {"gla_core", "packed", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":4,\"mode\":\"packed\",\"N\":5}", NULL,
     SHUT_WHOLE},
    {"dplr_core", "channel", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6}", NULL, NULL},
    {"dplr_core", "shut", "{\"L\":321,\"H\":2,\"dk\":8,\"dv\":8}", NULL, SHUT_WHOLE},
    {"dplr_core", "open", "{\"L\":1025,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"head\"}", NULL, OPEN " a*-3"},
    {"kda_core", "channel", "{\"L\":512,\"H\":2,\"dk\":8,\"dv\":6}", NULL, NULL},
    {"kda_core", "shut", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":8}", NULL, SHUT_WHOLE " beta:0,1,2"},
    {"kda_core", "zero_keys", "{\"L\":385,\"H\":1,\"dk\":4,\"dv\":8}", NULL, "k:0,0,0,0.5"},
    {"kda_core", "grouped", "{\"L\":300,\"H\":2,\"HV\":6,\"dk\":8,\"dv\":4,\"mode\":\"grouped\"}", NULL,
     "beta:0,1,2"},
    {"deltaproduct_core", "shut", "{\"L\":300,\"H\":2,\"n\":2,\"dk\":8,\"dv\":6}", NULL,
     SHUT_WHOLE " beta:0,1,2"},
    {"gdn2_core", "shut", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6}", NULL, SHUT_WHOLE " b:0,1,0.5 w:0,1"},
    {"rwkv7_core", "long", "{\"L\":1025,\"H\":2,\"dk\":8,\"dv\":8}", NULL, "g:-0.6,-0.03125,-0.25"},
    {"rwkv7_core", "ends", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":8}", NULL, "a:0,1,0.5 g:0,-0.5"},
    {"comba_core", "shut", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6}", NULL, SHUT_WHOLE " beta:0,1,0.5"},
    {"linear_attention_core", "shut",
     "{\"L\":300,\"Hq\":4,\"Hk\":2,\"Hv\":2,\"dk\":8,\"dv\":6,\"g_columns\":16,\"beta_columns\":2}", NULL,
     SHUT_WHOLE},
    {"linear_attention_core", "more_states",
     "{\"L\":300,\"Hq\":2,\"Hk\":2,\"Hv\":4,\"dk\":8,\"dv\":4,\"g_columns\":4,\"beta_columns\":1}", NULL,
     "beta:0,1,0.5"},
    {"attn_core", "window128", "{\"L\":385,\"H\":4,\"Hkv\":2,\"d\":8,\"window\":128}", NULL, NULL},
    {"attn_core", "saturated", "{\"L\":300,\"H\":2,\"Hkv\":2,\"d\":8,\"softcap\":50}", "q_gain k_gain",
     "q*4 k*4"},
    {"attn_core", "sinks", "{\"L\":300,\"H\":2,\"Hkv\":1,\"d\":8}", "q_gain k_gain", "sinks:-80,90"},
    {"attn_core", "packed", "{\"L\":300,\"H\":2,\"Hkv\":2,\"d\":8,\"mode\":\"packed\",\"N\":6}", NULL, NULL},
    {"fox_core", "shut", "{\"L\":300,\"H\":2,\"Hkv\":1,\"d\":8}", NULL, SHUT_WHOLE},
    {"fox_core", "open", "{\"L\":1025,\"H\":1,\"Hkv\":1,\"d\":8}", NULL, OPEN},
    {"path_core", "gated", "{\"L\":321,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"gated\"}", NULL,
     "g:0,-0.125,-8 beta:0,1,2"},
    {"diff_core", "long", "{\"L\":300,\"H\":2,\"Hkv\":1,\"d\":8,\"lam_init\":0.8}", NULL, NULL},
    {"loglinear_core", "shut", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6,\"levels\":10}", NULL, SHUT_WHOLE},
    {"loglinear_core", "power", "{\"L\":512,\"H\":1,\"dk\":8,\"dv\":8,\"levels\":10}", NULL, OPEN},
    {"mlstm_core", "saturated", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6}", NULL, "i:-40,0,6 f:-80,3,60"},
    {"mlstm_core", "exp", "{\"L\":300,\"H\":1,\"dk\":8,\"dv\":8,\"mode\":\"exp\"}", "s0 n0 m0", NULL},
    {"slstm_core", "long", "{\"L\":512,\"D\":6,\"H\":2,\"d\":4}", "h0 c0 n0 m0", NULL},
    {"slstm_core", "saturated", "{\"L\":300,\"D\":6,\"H\":2,\"d\":4}", NULL, "x*4 b*3"},
    {"hgrn2_core", "shut", "{\"L\":300,\"H\":2,\"dk\":8,\"dv\":6}", NULL, SHUT_WHOLE},
    {"rglru_core", "long", "{\"L\":1025,\"D\":8}", NULL, NULL},
    {"rglru_core", "saturated", "{\"L\":300,\"D\":8,\"mode\":\"reset\"}", NULL,
     "ga:-30,0,40 gi:-90,2,50 lam:-20,0,6"},
    {"mingru_core", "saturated", "{\"L\":300,\"D\":8,\"mode\":\"log\"}", NULL, "z:-90,-3,0,2,60"},
    {"minlstm_core", "saturated", "{\"L\":300,\"D\":8}", NULL, "f:-90,-3,2,60 i:-90,-3,2,60"},
    {"mamba3_core", "shut", "{\"L\":300,\"H\":2,\"N\":8,\"P\":6,\"R\":2}", NULL, SHUT_WHOLE " lam:0,0.5,1"},
    {"mesa_core", "long", "{\"L\":300,\"H\":2,\"dk\":4,\"dv\":6}", "s0 kk0", SHUT_WHOLE},
    {"ttt_core", "norm", "{\"L\":300,\"H\":1,\"d\":8,\"B\":16,\"mode\":\"norm\"}", NULL, NULL},
    {"ttt_core", "plain", "{\"L\":321,\"H\":2,\"d\":8,\"B\":1}", "tau", NULL},
    {"kda_layer", "long", "{\"L\":300,\"D\":8,\"H\":2,\"W\":4,\"f_rank\":3,\"g_rank\":3}", NULL, NULL},
    {"gdn2_layer", "long", "{\"L\":300,\"D\":8,\"H\":2,\"W\":4,\"f_rank\":3,\"g_rank\":3}", NULL, NULL},
    {"deltaproduct_layer", "long", "{\"L\":300,\"D\":8,\"H\":2,\"W\":4}", NULL, NULL},
    {"comba_layer", "long", "{\"L\":300,\"D\":8,\"H\":2,\"W\":4}", NULL, NULL},
    {"rwkv7_layer", "long",
     "{\"L\":300,\"D\":8,\"H\":2,\"d_rank\":3,\"a_rank\":3,\"g_rank\":3,\"gn_eps\":0.00390625}", NULL, NULL},
    {"hgrn2_layer", "long", "{\"L\":300,\"D\":8,\"H\":2}", NULL, NULL},
    {"griffin_layer", "long", "{\"L\":300,\"D\":8,\"H\":2,\"W\":4}", NULL, NULL},
    {"fox_layer", "pro", "{\"L\":300,\"D\":8,\"H\":2,\"mode\":\"pro\"}", NULL, NULL},
    {"mamba3_layer", "long", "{\"L\":300,\"D\":8,\"H\":2,\"N\":6,\"R\":2}", NULL, NULL},
    {0},
};

static const char about[] =
    "The hard set (`seqmix vectors --hard`): long sequences, last blocks that are not full, gates shut and "
    "open, states\n"
    "handed on, huge and tiny numbers. For float64 and float32: there are no tolerances for float16 and "
    "bfloat16, and some\n"
    "numbers are beyond float16. `seqmix judge --manifest manifest.json FOLDER` says what kind of fault "
    "errors suggest.\n\n";

typedef struct {
    const hard_case *is;
    vectors_set set;
    char name[96];
    json *params;
    oracle_case exact, moved;
} work;

static uint64_t hash(const char *text, uint64_t from) { return hash_bytes(from, text, strlen(text)); }

// What `drawn` says of the input: its place there behind the name, at '*' or ':'; NULL: nothing.
static const char *otherwise(const hard_case *is, const char *input) {
    const size_t n = strlen(input);
    for (const char *at = is->drawn; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, input, n) && (at[n] == '*' || at[n] == ':')) return at + n;
    return NULL;
}

static void draw(const work *w, uint64_t seed, const oracle_slot *s, npy *to) {
    const char *other = otherwise(w->is, s->is->name);
    const vectors_range *r = vectors_range_of(w->is->mechanism, s->is->name);
    smx_rng rng = rng_open(seed, 64, hash(s->is->name, hash(".hard.", hash(w->name, HASH_START))));
    double value[16];
    size_t values = 0;
    for (const char *at = other; at && (*at == ':' || *at == ',') && values < 16;)
        value[values++] = strtod(at + 1, (char **)&at);
    const int louder = other && *other == '*' ? atoi(other + 1) : 0;
    if (to->dtype == NPY_I4) {
        vectors_integers(to->data, to->count, &w->exact, s->is->name, &rng);
        return;
    }
    for (size_t i = 0; i < to->count; i++)
        ((double *)to->data)[i] =
            values
                ? value[rng_below(&rng, (uint32_t)values)]
                : ldexp(r->low + (int)rng_below(&rng, (uint32_t)(r->high - r->low + 1)), louder - r->shift);
}

static int left_out(const hard_case *is, const char *name) {
    const char *at = is->without;
    for (size_t n = strlen(name); at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, name, n) && (at[n] == ' ' || !at[n])) return 1;
    return 0;
}

static const double *result(const oracle_case *c, oracle_kind kind, size_t i) {
    const oracle_slot *s = &c->slots[i];
    return s->is->kind != kind ? NULL : kind == ORACLE_INPUT ? s->grad : s->data;
}

static double scale_of(const oracle_case *c, oracle_kind kind, size_t i) {
    const double *x = result(c, kind, i);
    double most = 0;
    for (size_t n = x ? c->slots[i].count : 0; n-- > 0;) most = fmax(most, fabs(x[n]));
    return most;
}

// Draws the inputs, writes them, and gives them to both runs; those of `moved` are off by one rounding of
// float32.
static int open_inputs(work *w, uint64_t seed) {
    int first = 1;
    smx_rng signs = rng_open(seed, 64, hash(w->name, 0));
    for (size_t i = 0; i < w->exact.n_slots; i++) {
        const oracle_slot s = w->exact.slots[i];
        if (s.is->kind != ORACLE_INPUT || left_out(w->is, s.is->name)) continue;
        npy a = {s.is->flags & ORACLE_INTEGER ? NPY_I4 : NPY_F8, s.ndim, {0}, s.count, NULL};
        memcpy(a.shape, s.shape, sizeof a.shape);
        a.data = malloc(a.count * npy_item_size(a.dtype) + 1);
        if (!a.data) return cli_fail("vectors: out of memory");
        draw(w, seed, &s, &a);
        int status = vectors_put(&w->set, w->name, "", s.is->name, &a, "", first);
        first = 0;
        if (!status && oracle_set(&w->exact, s.is->name, &a))
            status = cli_fail("vectors: %s: %s", w->name, w->exact.error.message);
        for (size_t k = 0; !status && a.dtype == NPY_F8 && k < a.count; k++)
            ((double *)a.data)[k] *= rng_u32(&signs) & 1 ? 1 + 0x1p-24 : 1 - 0x1p-24;
        if (!status && oracle_set(&w->moved, s.is->name, &a))
            status = cli_fail("vectors: %s: %s", w->name, w->moved.error.message);
        npy_free(&a);
        if (status) return status;
    }
    return 0;
}

static int write_results(work *w, const char *part, oracle_kind kind, const char *prefix, double least) {
    int first = 1;
    fprintf(w->set.manifest, "},\n   \"%s\": {", part);
    for (size_t i = 0; i < w->exact.n_slots; i++) {
        const oracle_slot *s = &w->exact.slots[i];
        const double *exact = result(&w->exact, kind, i), *moved = result(&w->moved, kind, i);
        if (!exact) continue;
        const double scale = fmax(scale_of(&w->exact, kind, i), least);
        double most = 0;
        for (size_t n = 0; scale > 0 && n < s->count; n++)
            most = fmax(most, fabs(exact[n] - moved[n]) / scale);
        char judged[96];
        snprintf(judged, sizeof judged, ", \"scale\": %.17g, \"f32_tol\": %.2g", scale,
                 fmax(compare_format_named("f32")->tol, 8 * most));
        npy a = {NPY_F8, s->ndim, {0}, s->count, (void *)exact};
        memcpy(a.shape, s->shape, sizeof a.shape);
        if (vectors_put(&w->set, w->name, prefix, s->is->name, &a, judged, first)) return 2;
        first = 0;
    }
    return 0;
}

static int make_case(work *w, uint64_t seed, int first) {
    smx_error error;
    const oracle_mechanism *m = oracle_find(w->is->mechanism);
    snprintf(w->name, sizeof w->name, "%s_%s", w->is->mechanism, w->is->name);
    w->params = json_parse(w->is->params, strlen(w->is->params), &error);
    if (!m || !w->params) return cli_fail("vectors: %s: %s", w->name, m ? error.message : "no mechanism");
    if (oracle_open(&w->exact, m, w->params, NULL) || oracle_shapes(&w->exact))
        return cli_fail("vectors: %s: %s", w->name, w->exact.error.message);
    if (oracle_open(&w->moved, m, w->params, NULL) || oracle_shapes(&w->moved))
        return cli_fail("vectors: %s: %s", w->name, w->moved.error.message);
    fprintf(w->set.manifest,
            "%s\n  {\"name\": \"%s\", \"mechanism\": \"%s\", \"mode\": \"%s\",\n   \"params\": %s,\n   "
            "\"inputs\": {",
            first ? "" : ",", w->name, m->name, w->is->name, w->is->params);
    if (open_inputs(w, seed)) return 2;
    vectors_progress(&w->set, w->name);
    if (oracle_run(&w->exact)) return cli_fail("vectors: %s: %s", w->name, w->exact.error.message);
    if (oracle_run(&w->moved)) return cli_fail("vectors: %s: %s", w->name, w->moved.error.message);
    double gradients = 0;
    for (size_t i = 0; i < w->exact.n_slots; i++)
        gradients = fmax(gradients, scale_of(&w->exact, ORACLE_INPUT, i));
    if (write_results(w, "outputs", ORACLE_OUTPUT, "", 0) ||
        write_results(w, "gradients", ORACLE_INPUT, "d_", 0.01 * gradients))
        return 2;
    fprintf(w->set.manifest, "}}");
    return 0;
}

int hard_vectors(const char *out, uint64_t seed, const char *only) {
    char path[4096], *text = NULL;
    size_t size = 0;
    if (cli_make_folder(out, "--out")) return 2;
    work *w = calloc(1, sizeof *w);
    if (!w || !(w->set.manifest = open_memstream(&text, &size))) {
        free(w);
        return cli_fail("vectors: out of memory");
    }
    w->set.folder = out;
    fprintf(w->set.manifest,
            "{\"version\": 1, \"note\": \"seqmix %s, the hard set, seed %llu\",\n \"f64_tol\": 1e-10,\n "
            "\"cases\": [",
            SMX_VERSION, (unsigned long long)seed);
    int status = 0;
    size_t made = 0;
    for (w->is = cases; w->is->mechanism; w->is++) w->set.of += !only || !strcmp(only, w->is->mechanism);
    for (w->is = cases; w->is->mechanism && !status; w->is++) {
        if (only && strcmp(only, w->is->mechanism)) continue;
        w->set.at = made + 1;
        status = make_case(w, seed, !made++);
        oracle_close(&w->exact);
        oracle_close(&w->moved);
        json_free(w->params);
        w->params = NULL;
    }
    fprintf(w->set.manifest, "\n ]}\n");
    int bad = ferror(w->set.manifest);
    bad |= fclose(w->set.manifest);
    if (!status && bad) status = cli_fail("vectors: out of memory");
    char *readme = malloc(sizeof about + strlen(vectors_readme));
    if (!readme && !status) status = cli_fail("vectors: out of memory");
    snprintf(path, sizeof path, "%s/README.md", out);
    if (!status) {
        strcpy(readme, about);
        strcat(readme, vectors_readme);
        status = cli_write_file(path, readme, strlen(readme));
    }
    free(readme);
    cli_finish_folder();
    snprintf(path, sizeof path, "%s/manifest.json", out);
    if (!status) status = cli_write_file(path, text, size);
    if (!status) printf("vectors: %zu cases, %zu arrays in %s\n", made, w->set.arrays, out);
    free(text);
    free(w);
    return status;
}
