// causal_conv.c: a depthwise convolution that goes on from the rows before, as ONNX's CausalConvWithState
// (opset 27) and Mamba's causal_conv1d have it:
//   z_t = bias + sum_w filter[w] x_{t+w-(W-1)},  y = z, or z sigma(z) (SiLU)
#include <seqmix/ref_cores.h>

#include <math.h>

// Row t + w - (W - 1) of channel c, and its place in x; of the rows before, start's.
static const double *met(const ref_causal_conv_arrays *x, const ref_causal_conv *p, size_t t, size_t w,
                         size_t c) {
    static const double nothing = 0;
    if (t + w + 1 >= p->W) return x->x + (t + w + 1 - p->W) * p->D + c;
    return x->start ? x->start + (t + w) * p->D + c : &nothing;
}

static double before_activation(const ref_causal_conv_arrays *x, const ref_causal_conv *p, size_t t,
                                size_t c) {
    double sum = x->bias ? x->bias[c] : 0;
    for (size_t w = 0; w < p->W; w++) sum += x->filter[c * p->W + w] * *met(x, p, t, w, c);
    return sum;
}

static double sigma(double z) { return z < 0 ? exp(z) / (1 + exp(z)) : 1 / (1 + exp(-z)); }

void ref_causal_conv_fwd(double *y, double *last, const ref_causal_conv_arrays *x, const ref_causal_conv *p) {
    for (size_t t = 0; t < p->L; t++)
        for (size_t c = 0; c < p->D; c++) {
            const double z = before_activation(x, p, t, c);
            y[t * p->D + c] = p->silu ? z * sigma(z) : z;
        }
    for (size_t w = 0; w + 1 < p->W; w++)
        for (size_t c = 0; c < p->D; c++) last[w * p->D + c] = *met(x, p, p->L, w, c);
}

void ref_causal_conv_bwd(const ref_causal_conv_arrays *d, const double *dy, const ref_causal_conv_arrays *x,
                         const ref_causal_conv *p) {
    for (size_t t = 0; t < p->L; t++)
        for (size_t c = 0; c < p->D; c++) {
            const double z = before_activation(x, p, t, c), s = sigma(z);
            const double dz = dy[t * p->D + c] * (p->silu ? s * (1 + z * (1 - s)) : 1);
            if (d->bias) d->bias[c] += dz;
            for (size_t w = 0; w < p->W; w++) {
                d->filter[c * p->W + w] += dz * *met(x, p, t, w, c);
                if (t + w + 1 >= p->W)
                    d->x[(t + w + 1 - p->W) * p->D + c] += dz * x->filter[c * p->W + w];
                else if (d->start)
                    d->start[(t + w) * p->D + c] += dz * x->filter[c * p->W + w];
            }
        }
}
