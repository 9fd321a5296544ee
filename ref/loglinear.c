// loglinear.c: log-linear attention (2506.04761; fla/ops/log_linear_attn/naive.py): each row weighs the past
// by the size of the block that it lies in,
//   y_i = scale sum_{j<=i} e^{g_{j+1} + .. + g_i} level_i[l(i, j)] (q_i.k_j) v_j
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// i's bits from the lowest: each stands for a block, [i' - 2^b, i') with i' = i without the bits below b.
size_t ref_loglinear_level(size_t i, size_t j) {
    for (size_t b = 0, end = i; j < end; b++)
        if (i >> b & 1) {
            end -= (size_t)1 << b;
            if (j >= end) return b + 1;
        }
    return 0;
}

int ref_loglinear_fwd(double *y, const ref_loglinear_arrays *x, const ref_state *p, size_t levels) {
    memset(y, 0, p->L * p->H * p->dv * sizeof *y);
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            const size_t row = i * p->H + h;
            double gates = 0;
            for (size_t j = i + 1; j-- > 0;) {
                const size_t at = j * p->H + h;
                const double s = p->scale * ref_dot(x->q + row * p->dk, x->k + at * p->dk, p->dk);
                ref_axpy(y + row * p->dv, x->v + at * p->dv,
                         exp(gates) * x->level[row * levels + ref_loglinear_level(i, j)] * s, p->dv);
                gates += x->g[at];
            }
        }
    return REF_OK;
}

int ref_loglinear_bwd(const ref_loglinear_arrays *d, const double *dy, const ref_loglinear_arrays *x,
                      const ref_state *p, size_t levels) {
    const size_t dk = p->dk, dv = p->dv;
    double *term; // of the row's sum, times dy
    void *memory = ref_carve(&term, p->L, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++)
        for (size_t i = 0; i < p->L; i++) {
            const size_t row = i * p->H + h;
            const double *dout = dy + row * dv;
            double gates = 0, all = 0;
            for (size_t j = i + 1; j-- > 0;) {
                const size_t at = j * p->H + h, l = row * levels + ref_loglinear_level(i, j);
                const double s = p->scale * ref_dot(x->q + row * dk, x->k + at * dk, dk), open = exp(gates),
                             weight = open * x->level[l], dweight = ref_dot(dout, x->v + at * dv, dv);
                ref_axpy(d->v + at * dv, dout, weight * s, dv);
                d->level[l] += open * s * dweight;
                ref_axpy(d->q + row * dk, x->k + at * dk, p->scale * weight * dweight, dk);
                ref_axpy(d->k + at * dk, x->q + row * dk, p->scale * weight * dweight, dk);
                term[j] = weight * s * dweight;
                gates += x->g[at];
            }
            for (size_t j = 0; j < i; j++)
                d->g[(j + 1) * p->H + h] += all += term[j]; // in all terms before it
        }
    free(memory);
    return REF_OK;
}
