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

tensor *filtered(graph *g, const config *c, tensor *x, const char *which, const char *w_name,
                 const char *f_name, filter_opts opts) {
    uint32_t D = (uint32_t)config_int(c, "width"), H = (uint32_t)config_int(c, "heads");
    uint32_t W = (uint32_t)config_int(c, "filter"), taps = opts.two_sided ? 2 * W + 1 : W;
    size_t future = opts.two_sided ? W : 0;
    init start = {opts.multi_head  ? INIT_IDENTITY_HEADS
                  : opts.two_sided ? INIT_IDENTITY_MIDDLE
                                   : INIT_IDENTITY,
                  config_real(c, "filter_std")};
    if (start.kind == INIT_IDENTITY && config_is(c, "filter_start", "decay")) start.kind = INIT_DECAY;
    tensor *y;
    if (!is_filtered(c, which[0])) {
        y = projected(g, c, opts.unit ? op_unitnorm(g, x) : x, w_name);
    } else if (opts.unit) {
        tensor *w = weight_matrix(g, w_name, D, D, start_matrix(c, D, D));
        y = op_unit_projection(g, x, w, graph_param(g, f_name, start, 0, 2, (uint32_t[]){H, taps}), future);
    } else if (opts.multi_head) {
        y = op_conv_heads(g, projected(g, c, x, w_name),
                          graph_param(g, f_name, start, 0, 3, (uint32_t[]){W, H, H}));
    } else {
        y = op_conv(g, projected(g, c, x, w_name), graph_param(g, f_name, start, 0, 2, (uint32_t[]){H, taps}),
                    future);
    }
    return graph_name(g, y, which);
}
