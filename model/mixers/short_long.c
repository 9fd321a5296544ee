// short_long.c: the short-long convolution ([CHELA] Eqs. 7-8; docs/MECHANISMS.md#chela) as a part of mixers,
// and its exact fusion.
#include "short_long.h"

#include <stdio.h>
#include <string.h>

size_t short_taps(size_t length) {
    size_t k = 0;
    for (uint64_t power = 1; power < (uint64_t)length * length; power *= 10) k++;
    return k + 1;
}

static tensor *kernels(graph *g, const char *name, size_t D, size_t taps, init start) {
    return graph_param(g, name, start, 0, 2, (uint32_t[]){(uint32_t)D, (uint32_t)taps});
}

tensor *long_conv(graph *g, const config *c, const long_settings *s, tensor *x) {
    size_t D = x->shape[x->rank - 1];
    tensor *k = kernels(g, "conv_k", D, c->common.length, (init){INIT_LONG, 0.3});
    tensor *skip = s->skip ? weight_vector(g, "conv_skip", D, 1.0) : NULL;
    return op_longconv(g, x, k, skip, s->squash);
}

tensor *two_sided_conv(graph *g, const config *c, const long_settings *s, tensor *x) {
    tensor *past = long_conv(g, c, s, x);
    tensor *k = kernels(g, "conv_ahead", x->shape[x->rank - 1], c->common.length, (init){INIT_LONG, 0.3});
    tensor *later = op_shift(g, op_reverse(g, x), 1);
    later = op_reverse(g, op_longconv(g, later, k, NULL, s->squash));
    return op_add(g, past, later);
}

tensor *short_long(graph *g, const config *c, const long_settings *conv, int fused, int causal, tensor *x) {
    size_t D = x->shape[x->rank - 1], n = short_taps(c->common.length);
    tensor *s;
    if (fused) {
        s = op_conv(g, x, kernels(g, "short", D, n > 3 ? n : 3, (init){INIT_IDENTITY, 0.1}), 0);
    } else {
        tensor *s_3 = op_conv(g, x, kernels(g, "short_3", D, 3, (init){INIT_IDENTITY, 0.1}), 0);
        tensor *s_n = op_conv(g, x, kernels(g, "short_n", D, n, (init){INIT_NORMAL, 0.1}), 0);
        s = op_add(g, s_3, s_n);
    }
    s = graph_name(g, op_silu(g, s), "short");
    return (causal ? long_conv : two_sided_conv)(g, c, conv, s);
}

// Taps of channel c added to the first taps of `to`.
static void add_taps(float *to, size_t width, const float *data, const param *from) {
    size_t taps = from->shape[1];
    for (size_t i = 0; i < from->n; i++) to[i / taps * width + i % taps] += data[from->offset + i];
}

int short_long_fuse(params *to, const params *from) {
    for (size_t i = 0; i < to->count; i++) {
        const param *w = to->list[i], *same = params_find(from, w->name);
        if (same && same->n == w->n) {
            memcpy(to->data + w->offset, from->data + same->offset, w->n * sizeof *to->data);
            continue;
        }
        char name[80];
        snprintf(name, sizeof name, "%s_3", w->name);
        const param *three = params_find(from, name);
        snprintf(name, sizeof name, "%s_n", w->name);
        const param *many = params_find(from, name);
        if (!three || !many || three->shape[1] > w->shape[1] || many->shape[1] > w->shape[1]) return -1;
        memset(to->data + w->offset, 0, w->n * sizeof *to->data);
        add_taps(to->data + w->offset, w->shape[1], from->data, three);
        add_taps(to->data + w->offset, w->shape[1], from->data, many);
    }
    return 0;
}
