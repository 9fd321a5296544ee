// gates.h: where a state begins and how its rows decay, as gla.c and delta.c read and differentiate it.
// For those two only.
#ifndef REF_GATES_H
#define REF_GATES_H

#include <seqmix/ref.h>

#include <math.h>
#include <string.h>

// One head of `start`; zeros where there is none.
static inline void state_begin(double *S, const double *start, size_t head, size_t size) {
    if (start)
        memcpy(S, start + head, size * sizeof *S);
    else
        memset(S, 0, size * sizeof *S);
}

// Where the gate of key channel a of head h at row t of sequence b stands;
// NULL: there is none, the state does not decay.
static inline const double *gate_at(const double *g, const ref_state *p, size_t b, size_t t, size_t h,
                                    size_t a) {
    const size_t row = b * p->L + t;
    switch (p->gates) {
    case REF_GATES_FIXED:
        return g + h;
    case REF_GATES_HEAD:
        return g + row * p->H + h;
    case REF_GATES_CHANNEL:
        return g + (row * p->H + h) * p->dk + a;
    default:
        return NULL;
    }
}
// R = diag(e^g) S
static inline void gates_apply(double *R, const double *S, const double *g, const ref_state *p, size_t b,
                               size_t t, size_t h) {
    for (size_t a = 0; a < p->dk; a++) {
        const double *gate = gate_at(g, p, b, t, h, a);
        ref_scale(R + a * p->dv, S + a * p->dv, gate ? exp(*gate) : 1, p->dv);
    }
}
// From dR to dS, in place; the gates' gradients, e^g <dR_a, S_a>, are added to dg (NULL: not wanted).
static inline void gates_back(double *dR, double *dg, const double *S, const double *g, const ref_state *p,
                              size_t b, size_t t, size_t h) {
    for (size_t a = 0; a < p->dk; a++) {
        const double *gate = gate_at(g, p, b, t, h, a);
        if (!gate) continue;
        if (dg) dg[gate - g] += exp(*gate) * ref_dot(dR + a * p->dv, S + a * p->dv, p->dv);
        ref_scale(dR + a * p->dv, dR + a * p->dv, exp(*gate), p->dv);
    }
}

#endif
