// gla.c: gated linear attention (Yang et al. 2023, Eq. 3), row by row:
//   S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T,  y_t = scale S_t^T q_t
// One gate a head and row is Mamba-2's SSD (Dao & Gu 2024, Sec. 6),
// one a head for ever is retention (Sun et al. 2023).
#include "gates.h"

#include <stdlib.h>
#include <string.h>

// S += k v^T
static void write_row(double *S, const double *k, const double *v, const ref_state *p) {
    for (size_t a = 0; a < p->dk; a++) ref_axpy(S + a * p->dv, v, k[a], p->dv);
}

void ref_gla_fwd(double *y, double *state, const double *q, const double *k, const double *v, const double *g,
                 const double *start, const ref_state *p) {
    const size_t size = p->dk * p->dv;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++) {
            double *S = state + (b * p->H + h) * size;
            state_begin(S, start, (b * p->H + h) * size, size);
            for (size_t t = 0; t < p->L; t++) {
                const size_t row = (b * p->L + t) * p->H + h;
                gates_apply(S, S, g, p, b, t, h);
                write_row(S, k + row * p->dk, v + row * p->dv, p);
                ref_gemm(y + row * p->dv, q + row * p->dk, S, 1, p->dv, p->dk, p->dk, p->dv, p->dv, 0);
                ref_scale(y + row * p->dv, y + row * p->dv, p->scale, p->dv);
            }
        }
}

// The adjoint of the state, from the last row back: G_t = scale q_t dy_t^T + diag(e^{g_{t+1}}) G_{t+1};
//   dq_t = scale S_t dy_t, dk_t = G_t v_t, dv_t = G_t^T k_t, dg_t = e^{g_t} sum over columns of G_t o S_{t-1}
int ref_gla_bwd(double *dq, double *dk, double *dv, double *dg, double *dstart, const double *dy,
                const double *dstate, const double *q, const double *k, const double *v, const double *g,
                const double *start, const ref_state *p) {
    const size_t size = p->dk * p->dv;
    double *S, *G; // S [L+1]: before each row, and after the last
    void *memory = ref_carve(&S, (p->L + 1) * size, &G, size, REF_END);
    if (!memory) return REF_NO_MEMORY;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++) {
            const size_t head = (b * p->H + h) * size;
            state_begin(S, start, head, size);
            for (size_t t = 0; t < p->L; t++) {
                const size_t row = (b * p->L + t) * p->H + h;
                gates_apply(S + (t + 1) * size, S + t * size, g, p, b, t, h);
                write_row(S + (t + 1) * size, k + row * p->dk, v + row * p->dv, p);
            }
            state_begin(G, dstate, head, size);
            for (size_t t = p->L; t-- > 0;) {
                const size_t row = (b * p->L + t) * p->H + h;
                const double *now = S + (t + 1) * size, *before = S + t * size, *dout = dy + row * p->dv;
                for (size_t a = 0; a < p->dk; a++) {
                    dq[row * p->dk + a] = p->scale * ref_dot(now + a * p->dv, dout, p->dv);
                    ref_axpy(G + a * p->dv, dout, p->scale * q[row * p->dk + a], p->dv);
                    dk[row * p->dk + a] = ref_dot(G + a * p->dv, v + row * p->dv, p->dv);
                }
                ref_gemm(dv + row * p->dv, k + row * p->dk, G, 1, p->dv, p->dk, p->dk, p->dv, p->dv, 0);
                gates_back(G, dg, before, g, p, b, t, h);
            }
            if (dstart) memcpy(dstart + head, G, size * sizeof *G);
        }
    free(memory);
    return REF_OK;
}
