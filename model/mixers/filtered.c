// filtered.c: (X * F) W. Convolution over time and projection over width commute, so the filter runs after
// the projection, on D columns instead of H copies of them; only the unit norm between the two keeps them in
// the paper's order.
#include "filtered.h"

#include <string.h>

int check_filters(const config *c, const filter_settings *s, const char *letters, smx_error *error) {
    if (strcmp(s->on, "none") && (strspn(s->on, letters) != strlen(s->on) || !*s->on))
        return config_fail(error, c, "filters", "none or some of the letters %s with mixer=%s", letters,
                           c->of_mixer.name);
    return 0;
}

int is_filtered(const filter_settings *s, char which) {
    return strcmp(s->on, "none") && strchr(s->on, which);
}

static init taps_start(const filter_settings *s, filter_opts opts) {
    init start = {opts.multi_head  ? INIT_IDENTITY_HEADS
                  : opts.two_sided ? INIT_IDENTITY_MIDDLE
                                   : INIT_IDENTITY,
                  s->std};
    if (start.kind == INIT_IDENTITY && s->start == FILTER_DECAY) start.kind = INIT_DECAY;
    return start;
}

// [H][W], or [H][2W + 1].
static tensor *taps(graph *g, const config *c, const filter_settings *s, const char *name, filter_opts opts) {
    const uint32_t W = (uint32_t)s->taps, H = (uint32_t)c->common.heads;
    tensor *f =
        graph_param(g, name, taps_start(s, opts), 0, 2, (uint32_t[]){H, opts.two_sided ? 2 * W + 1 : W});
    return opts.positive ? op_square(g, f) : f;
}

// The filter alone, on what is projected already; that itself where the filter is switched off.
static tensor *filter(graph *g, const config *c, const filter_settings *s, tensor *y, const char *which,
                      const char *f_name, filter_opts opts) {
    const uint32_t H = (uint32_t)c->common.heads, W = (uint32_t)s->taps;
    const init start = taps_start(s, opts);
    if (is_filtered(s, which[0])) { // what is filtered can be looked at, too
        char before[] = "k_raw";
        before[0] = which[0];
        graph_name(g, y, before);
    }
    if (is_filtered(s, which[0]) && opts.multi_head)
        y = op_conv_heads(g, y, graph_param(g, f_name, start, 0, 3, (uint32_t[]){W, H, H}));
    else if (is_filtered(s, which[0]))
        y = op_conv(g, y, taps(g, c, s, f_name, opts), opts.two_sided ? W : 0);
    return graph_name(g, y, which);
}

tensor *filtered(graph *g, const config *c, const filter_settings *s, tensor *x, const char *which,
                 const char *w_name, const char *f_name, filter_opts opts) {
    if (!opts.unit) return filter(g, c, s, projected(g, c, x, w_name), which, f_name, opts);
    if (!is_filtered(s, which[0])) return graph_name(g, projected(g, c, op_unitnorm(g, x, 1), w_name), which);
    const uint32_t D = (uint32_t)c->common.width;
    tensor *w = weight_matrix(g, w_name, D, D, start_matrix(c, D, D)), *f = taps(g, c, s, f_name, opts);
    return graph_name(g, op_unit_projection(g, x, w, f, opts.two_sided ? s->taps : 0), which);
}

void filtered_qkv(graph *g, const config *c, const filter_settings *s, tensor *x, filter_opts qk,
                  filter_opts v, tensor *out[3]) {
    static const char *const which[] = {"q", "k", "v"}, *const w_name[] = {"w_q", "w_k", "w_v"},
                             *const f_name[] = {"filter_q", "filter_k", "filter_v"};
    const filter_opts opts[] = {qk, qk, v};
    if (qk.unit || v.unit) {
        for (int i = 0; i < 3; i++) out[i] = filtered(g, c, s, x, which[i], w_name[i], f_name[i], opts[i]);
        return;
    }
    for (int i = 0; i < 3; i++) out[i] = projected(g, c, x, w_name[i]);
    for (int i = 0; i < 3; i++) out[i] = filter(g, c, s, out[i], which[i], f_name[i], opts[i]);
}
