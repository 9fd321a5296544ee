// filtered.c: (X * F) W. Convolution over time and projection over width commute, so the filter runs after the projection,
// on D columns instead of H copies of them; only the unit norm between the two keeps them in the paper's order.
#include "filtered.h"

#include <string.h>

int check_filters(const config *c, const char *letters, smx_error *error) {
    const char *on = config_word(c, "filters");
    if (strcmp(on, "none") && (strspn(on, letters) != strlen(on) || !*on))
        return config_fail(error, c, "filters", "none or some of the letters %s with mixer=%s", letters,
                           config_word(c, "mixer"));
    return 0;
}

int is_filtered(const config *c, char which) {
    const char *on = config_word(c, "filters");
    return strcmp(on, "none") && strchr(on, which);
}

static init filter_start(const config *c, filter_opts opts) {
    init start = {opts.multi_head  ? INIT_IDENTITY_HEADS
                  : opts.two_sided ? INIT_IDENTITY_MIDDLE
                                   : INIT_IDENTITY,
                  config_real(c, "filter_std")};
    if (start.kind == INIT_IDENTITY && config_is(c, "filter_start", "decay")) start.kind = INIT_DECAY;
    return start;
}

// The filter alone, on what is projected already; that itself where the filter is switched off.
static tensor *filter(graph *g, const config *c, tensor *y, const char *which, const char *f_name,
                      filter_opts opts) {
    const uint32_t H = (uint32_t)config_int(c, "heads"), W = (uint32_t)config_int(c, "filter");
    const init start = filter_start(c, opts);
    if (is_filtered(c, which[0]) && opts.multi_head)
        y = op_conv_heads(g, y, graph_param(g, f_name, start, 0, 3, (uint32_t[]){W, H, H}));
    else if (is_filtered(c, which[0]))
        y = op_conv(g, y,
                    graph_param(g, f_name, start, 0, 2, (uint32_t[]){H, opts.two_sided ? 2 * W + 1 : W}),
                    opts.two_sided ? W : 0);
    return graph_name(g, y, which);
}

tensor *filtered(graph *g, const config *c, tensor *x, const char *which, const char *w_name,
                 const char *f_name, filter_opts opts) {
    if (!opts.unit) return filter(g, c, projected(g, c, x, w_name), which, f_name, opts);
    if (!is_filtered(c, which[0])) return graph_name(g, projected(g, c, op_unitnorm(g, x), w_name), which);
    const uint32_t D = (uint32_t)config_int(c, "width"), H = (uint32_t)config_int(c, "heads");
    const uint32_t W = (uint32_t)config_int(c, "filter"), taps = opts.two_sided ? 2 * W + 1 : W;
    tensor *w = weight_matrix(g, w_name, D, D, start_matrix(c, D, D));
    tensor *f = graph_param(g, f_name, filter_start(c, opts), 0, 2, (uint32_t[]){H, taps});
    return graph_name(g, op_unit_projection(g, x, w, f, opts.two_sided ? W : 0), which);
}

void filtered_qkv(graph *g, const config *c, tensor *x, filter_opts qk, filter_opts v, tensor *out[3]) {
    static const char *const which[] = {"q", "k", "v"}, *const w_name[] = {"w_q", "w_k", "w_v"},
                             *const f_name[] = {"filter_q", "filter_k", "filter_v"};
    const filter_opts opts[] = {qk, qk, v};
    if (qk.unit || v.unit) {
        for (int i = 0; i < 3; i++) out[i] = filtered(g, c, x, which[i], w_name[i], f_name[i], opts[i]);
        return;
    }
    for (int i = 0; i < 3; i++) out[i] = projected(g, c, x, w_name[i]);
    for (int i = 0; i < 3; i++) out[i] = filter(g, c, out[i], which[i], f_name[i], opts[i]);
}
