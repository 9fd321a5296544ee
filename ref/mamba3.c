// mamba3.c: Mamba-3 with one input and output a head (2603.15569; state-spaces/mamba
// tests/ops/triton/test_mamba3_siso.py), row by row:
//   angle_t = angle_{t-1} + theta_t;  k~, q~: columns 2j, 2j+1 turned by angle j, j < R;
//   S_t = e^g S_{t-1} + (1 - lam) dt e^g k~_{t-1} v_{t-1}^T + lam dt k~_t v_t^T,  y = S_t^T q~ + skip v
#include <seqmix/ref_cores.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// (a, b) -> (a cos - b sin, a sin + b cos) for R pairs; way -1: back.
static void turn(double *to, const double *from, const double *angle, size_t N, size_t R, double way) {
    memcpy(to, from, N * sizeof *to);
    for (size_t j = 0; j < R; j++) {
        const double c = cos(angle[j]), s = way * sin(angle[j]), a = from[2 * j], b = from[2 * j + 1];
        to[2 * j] = a * c - b * s;
        to[2 * j + 1] = a * s + b * c;
    }
}

// One head: S [L+1][N][P]; k~ and v [L+1] of the row before each, and of the last; angle [L+1][R]; q~ [L][N].
typedef struct {
    double *S, *k, *v, *angle, *q;
} track;

static void copy(double *to, const double *from, size_t head, size_t n) {
    if (from)
        memcpy(to, from + head * n, n * sizeof *to);
    else
        memset(to, 0, n * sizeof *to);
}

static void run(const track *s, const ref_mamba3_arrays *x, const ref_mamba3 *p, size_t h) {
    const size_t N = p->N, P = p->P, R = p->R, size = N * P;
    copy(s->S, x->S, h, size);
    copy(s->k, x->k_before, h, N);
    copy(s->v, x->v_before, h, P);
    copy(s->angle, x->angle, h, R);
    for (size_t t = 0; t < p->L; t++) {
        const size_t row = t * p->H + h;
        double *angle = s->angle + (t + 1) * R, *k = s->k + (t + 1) * N, *v = s->v + (t + 1) * P;
        ref_add(angle, s->angle + t * R, x->theta + row * R, R);
        turn(k, x->k + row * N, angle, N, R, 1);
        turn(s->q + t * N, x->q + row * N, angle, N, R, 1);
        memcpy(v, x->v + row * P, P * sizeof *v);
        const double open = exp(x->g[row]), dt = x->dt[row], lam = x->lam[row];
        for (size_t c = 0; c < N; c++) {
            double *S = s->S + (t + 1) * size + c * P;
            ref_scale(S, s->S + t * size + c * P, open, P);
            ref_axpy(S, s->v + t * P, (1 - lam) * dt * open * s->k[t * N + c], P);
            ref_axpy(S, v, lam * dt * k[c], P);
        }
    }
}

static void *take(track *s, const ref_mamba3 *p) {
    const size_t L = p->L + 1;
    return ref_carve(&s->S, L * p->N * p->P, &s->k, L * p->N, &s->v, L * p->P, &s->angle, L * p->R, &s->q,
                     L * p->N, REF_END);
}

int ref_mamba3_fwd(double *y, double *last, double *k_last, const ref_mamba3_arrays *x, const ref_mamba3 *p) {
    const size_t N = p->N, P = p->P, size = N * P;
    track s;
    void *memory = take(&s, p);
    if (!memory) return REF_NO_MEMORY;
    for (size_t h = 0; h < p->H; h++) {
        run(&s, x, p, h);
        for (size_t t = 0; t < p->L; t++) {
            const size_t row = t * p->H + h;
            ref_gemm(y + row * P, s.q + t * N, s.S + (t + 1) * size, 1, P, N, N, P, P, 0);
            if (x->skip) ref_axpy(y + row * P, x->v + row * P, x->skip[h], P);
        }
        memcpy(last + h * size, s.S + p->L * size, size * sizeof *last);
        if (k_last) memcpy(k_last + h * N, s.k + p->L * N, N * sizeof *k_last);
    }
    free(memory);
    return REF_OK;
}

// d of x and of the angles, from d of x turned: by turning back; dangle_j += dout x (out turned by a
// quarter).
static void turn_back(double *dx, double *dangle, const double *dout, const double *out, const double *angle,
                      double *scratch, size_t N, size_t R) {
    turn(scratch, dout, angle, N, R, -1);
    ref_axpy(dx, scratch, 1, N);
    for (size_t j = 0; j < R; j++) dangle[j] += dout[2 * j + 1] * out[2 * j] - dout[2 * j] * out[2 * j + 1];
}

// From the last row back, G = dS_t: with m = (1 - lam) dt e^g and w = lam dt the weights of the two writes,
//   dm = <G, k~' v'^T>, dk~' = m G v', dv' = m G^T k~', the same for w; dg = e^g <G, S'> + m dm
int ref_mamba3_bwd(const ref_mamba3_arrays *d, const double *dy, const ref_mamba3_arrays *x,
                   const ref_mamba3 *p) {
    const size_t N = p->N, P = p->P, R = p->R, size = N * P;
    track s;
    double *G, *dk, *dk_before, *dv_before, *dq, *dangle, *scratch;
    void *kept = take(&s, p), *memory = ref_carve(&G, size, &dk, N, &dk_before, N, &dv_before, P, &dq, N,
                                                  &dangle, R, &scratch, N, REF_END);
    const int status = kept && memory ? REF_OK : REF_NO_MEMORY;
    for (size_t h = 0; !status && h < p->H; h++) {
        run(&s, x, p, h);
        memset(G, 0, size * sizeof *G);
        memset(dk_before, 0, N * sizeof *dk_before);
        memset(dv_before, 0, P * sizeof *dv_before);
        memset(dangle, 0, R * sizeof *dangle);
        for (size_t t = p->L; t-- > 0;) {
            const size_t row = t * p->H + h;
            const double *dout = dy + row * P, *q = s.q + t * N, *k = s.k + (t + 1) * N, *was = s.k + t * N,
                         *angle = s.angle + (t + 1) * R;
            const double open = exp(x->g[row]), dt = x->dt[row], lam = x->lam[row],
                         before = (1 - lam) * dt * open, now = lam * dt;
            double dopen = 0, dbefore = 0, dnow = 0;
            // what the next row needed of this one's k~ and v
            memcpy(dk, dk_before, N * sizeof *dk);
            ref_axpy(d->v + row * P, dv_before, 1, P);
            memset(dv_before, 0, P * sizeof *dv_before);
            if (x->skip) {
                d->skip[h] += ref_dot(dout, x->v + row * P, P);
                ref_axpy(d->v + row * P, dout, x->skip[h], P);
            }
            for (size_t c = 0; c < N; c++) {
                double *Gc = G + c * P;
                dq[c] = ref_dot(s.S + (t + 1) * size + c * P, dout, P);
                ref_axpy(Gc, dout, q[c], P);
                const double along = ref_dot(Gc, x->v + row * P, P), along_was = ref_dot(Gc, s.v + t * P, P);
                dnow += along * k[c];
                dk[c] += now * along;
                ref_axpy(d->v + row * P, Gc, now * k[c], P);
                dbefore += along_was * was[c];
                dk_before[c] = before * along_was;
                ref_axpy(dv_before, Gc, before * was[c], P);
                dopen += ref_dot(Gc, s.S + t * size + c * P, P);
                ref_scale(Gc, Gc, open, P);
            }
            d->g[row] += open * dopen + before * dbefore;
            d->dt[row] += (1 - lam) * open * dbefore + lam * dnow;
            d->lam[row] += dt * (dnow - open * dbefore);
            turn_back(d->q + row * N, dangle, dq, q, angle, scratch, N, R);
            turn_back(d->k + row * N, dangle, dk, k, angle, scratch, N, R);
            ref_axpy(d->theta + row * R, dangle, 1, R);
        }
        if (d->S) ref_axpy(d->S + h * size, G, 1, size);
        if (d->k_before) ref_axpy(d->k_before + h * N, dk_before, 1, N);
        if (d->v_before) ref_axpy(d->v_before + h * P, dv_before, 1, P);
        if (d->angle) ref_axpy(d->angle + h * R, dangle, 1, R);
    }
    free(memory);
    free(kept);
    return status;
}
