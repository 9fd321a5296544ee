// hyena.c: Hyena (Poli et al. 2023, Def. 3.1 and Sec. 3.3; docs/MECHANISMS.md#hyena): long convolutions
// between gates, their filters said by a small network of the position.
//   v, x_1 .. x_N = conv_3(X W);  z = v;  for n = 1 .. N: z = x_n o (h_n * z + skip_n z);  out = z W_o
//   h = (sin(f (sin(f (pos W_1 + b_1)) W_2 + b_2)) W_3) (e^{-rate t / (length - 1)} + 0.05)
//   pos_t = t / (length - 1), then cosines and sines of its first whole turns
// length is the config's, whatever is read: a shorter sequence meets the first taps, a longer one new ones.
#include "mixer.h"
#include "attention_parts.h"

#include "kernels/core/mathd.h"

#include <stdio.h>

typedef struct {
    size_t order, hidden, bands;
    double frequency, decay;
} hyena_settings;

static const config_key keys[] = {
    INT_KEY("hyena_order", hyena_settings, order, "2", 1, 4, "gates and long convolutions (N)", "mixer"),
    INT_KEY("filter_width", hyena_settings, hidden, "16", 1, 1024, "inner width of the filters' network",
            "mixer"),
    INT_KEY("bands", hyena_settings, bands, "2", 0, 64, "cosines and sines of the position that it reads",
            "mixer"),
    REAL_KEY("frequency", hyena_settings, frequency, "10", 0, 100, "of the network's sines (f)", "mixer"),
    REAL_KEY("filter_decay", hyena_settings, decay, "1", 0, 100,
             "times the published rates at which filters fade; 0: they do not", "mixer"),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_heads_without_inner_position(c, error);
}

// [L][1 + 2 bands], pos over the config's length
static void fill_positions(float *data, const uint32_t *shape, double unit) {
    const size_t bands = shape[1] / 2;
    for (size_t t = 0; t < shape[0]; t++) {
        *data++ = (float)((double)t * unit);
        for (size_t k = 1; k <= bands; k++, data += 2) {
            double s, cosine;
            md_sincos(&s, &cosine, 6.283185307179586477 * (double)k * (double)t * unit);
            data[0] = (float)cosine, data[1] = (float)s;
        }
    }
}
// [L][channels]: rates from ln(100) / 1.5 to ln(100) / 0.3, the published ones, spaced evenly. They keep what
// lies far back small, and small what reaches it: without them (filter_decay=0) short sequences are learnt in
// fewer steps.
static void fill_windows(float *data, const uint32_t *shape, double unit) {
    const double least = 4.605170185988091368 / 1.5, most = 4.605170185988091368 / 0.3;
    for (size_t t = 0; t < shape[0]; t++)
        for (size_t c = 0; c < shape[1]; c++) {
            const double share = shape[1] > 1 ? (double)c / (double)(shape[1] - 1) : 0;
            *data++ = (float)(md_exp(-(least + share * (most - least)) * (double)t * unit) + 0.05);
        }
}

// sin(f (x W + b))
static tensor *layer(graph *g, const config *c, tensor *x, const char *w, const char *b) {
    const hyena_settings *s = c->mixer;
    const size_t in = x->shape[1];
    tensor *z = op_linear(g, x, weight_matrix(g, w, in, s->hidden, start_matrix(c, in, s->hidden)),
                          weight_vector(g, b, s->hidden, 0.0));
    return op_sin(g, op_scale(g, z, s->frequency));
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const hyena_settings *s = c->mixer;
    const size_t D = c->common.width, N = s->order;
    const double unit = 1.0 / (double)(c->common.length > 1 ? c->common.length - 1 : 1);
    const uint32_t L = (uint32_t)g->L, all = (uint32_t)(N * D);
    tensor *h = op_table(g, fill_positions, 2, (uint32_t[]){L, (uint32_t)(1 + 2 * s->bands)}, unit);
    h = layer(g, c, h, "filter_1", "filter_b1");
    h = layer(g, c, h, "filter_2", "filter_b2");
    h = op_linear(g, h, weight_matrix(g, "filter_3", s->hidden, all, start_matrix(c, s->hidden, all)), NULL);
    tensor *windows = op_table(g, fill_windows, 2, (uint32_t[]){L, all}, unit * s->decay);
    h = graph_name(g, op_mul(g, h, windows), "filters");
    tensor *w_in = weight_matrix(g, "w_in", D, (N + 1) * D, start_matrix(c, D, (N + 1) * D));
    tensor *wide = op_linear(g, x, w_in, NULL);
    tensor *taps =
        graph_param(g, "conv", (init){INIT_UNIFORM, 0.5}, 0, 2, (uint32_t[]){(uint32_t)((N + 1) * D), 3});
    wide = op_conv(g, wide, taps, 0);
    tensor *z = graph_name(g, op_columns(g, wide, 0, D, 1), "v");
    for (size_t n = 0; n < N; n++) {
        char name[16];
        snprintf(name, sizeof name, "skip_%zu", n + 1);
        tensor *kernel = op_turn(g, h, n * D, D);
        z = op_longconv(g, z, kernel, weight_vector(g, name, D, 1.0), 0.0);
        tensor *gate = op_columns(g, wide, (n + 1) * D, D, 1);
        z = op_mul(g, gate, z);
    }
    return output_projection(g, c, graph_name(g, z, "z"));
}

const mixer mixer_hyena = {
    .name = "hyena",
    .title = "Hyena",
    .help = "Long convolutions between gates; a small network computes the filters, tap by tap.",
    .source = "Poli et al. 2023, Def. 3.1",
    .cost = "N L log L D",
    .keys = keys,
    .settings = sizeof(hyena_settings),
    .check = check,
    .build = build,
    .modes = MODES("hyena_order=1~hyena_order=3&bands=0"),
};
