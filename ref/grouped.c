// grouped.c: heads that share: ONNX's LinearAttention (onnx/reference/ops/op_linear_attention.py, opset 27)
// with more queries than states, onnxruntime's with more states than queries, and KDA's grouped values. Every
// array is copied to the most heads, then it is gla.c or kda.c; gradients of copies are summed.
#include <seqmix/ref_cores.h>

#include <stdlib.h>
#include <string.h>

void ref_heads_spread(double *to, const double *from, size_t N, size_t many, size_t few, size_t d) {
    for (size_t r = 0; r < N; r++)
        for (size_t h = 0; h < many; h++)
            memcpy(to + (r * many + h) * d, from + (r * few + h / (many / few)) * d, d * sizeof *to);
}

void ref_heads_gather(double *to, const double *from, size_t N, size_t few, size_t many, size_t d) {
    for (size_t r = 0; r < N; r++)
        for (size_t h = 0; h < many; h++)
            ref_axpy(to + (r * few + h / (many / few)) * d, from + (r * many + h) * d, 1, d);
}

// Each array's rows, heads and columns, in the order of the fields.
enum { FIELDS = 6 };
typedef struct {
    size_t rows, heads, columns;
} extent;
static void extents(extent *e, const ref_grouped *p) {
    const size_t g = p->gates == REF_GATES_CHANNEL ? p->dk : 1;
    const extent all[FIELDS] = {{p->L, p->Hq, p->dk},       {p->L, p->Hk, p->dk}, {p->L, p->Hv, p->dv},
                                {p->L, p->beta_columns, 1}, {p->L, p->Hv, g},     {1, p->Hv, p->dk * p->dv}};
    memcpy(e, all, sizeof all);
}
static size_t most(const ref_grouped *p) { return p->Hq > p->Hv ? p->Hq : p->Hv; }

// Arrays of all heads: zero, or the copies of x. NULL stays NULL. The memory, or NULL.
static void *spread(ref_kda_arrays *to, const ref_grouped_arrays *x, const ref_grouped *p, int copy) {
    double *const from[FIELDS] = {x->q, x->k, x->v, x->beta, x->g, x->start};
    double **const fields[FIELDS] = {&to->q, &to->k, &to->v, &to->beta, &to->g, &to->start};
    extent e[FIELDS];
    extents(e, p);
    size_t n[FIELDS];
    for (int i = 0; i < FIELDS; i++) n[i] = from[i] ? e[i].rows * most(p) * e[i].columns : 0;
    void *memory = ref_carve(fields[0], n[0], fields[1], n[1], fields[2], n[2], fields[3], n[3], fields[4],
                             n[4], fields[5], n[5], REF_END);
    for (int i = 0; memory && i < FIELDS; i++)
        if (!from[i])
            *fields[i] = NULL;
        else if (copy)
            ref_heads_spread(*fields[i], from[i], e[i].rows, most(p), e[i].heads, e[i].columns);
    return memory;
}

static ref_state sizes(const ref_grouped *p) {
    return (ref_state){1, p->L, most(p), p->dk, p->dv, p->gates, p->scale};
}

int ref_grouped_fwd(double *y, double *state, const ref_grouped_arrays *x, const ref_grouped *p) {
    const ref_state s = sizes(p);
    const size_t size = p->dk * p->dv;
    ref_kda_arrays r = {0};
    double *all;
    void *memory = spread(&r, x, p, 1), *states = ref_carve(&all, s.H * size, REF_END);
    int status = memory && states ? REF_OK : REF_NO_MEMORY;
    if (!status && x->beta) status = ref_kda_fwd(y, all, &r, &s);
    if (!status && !x->beta) ref_gla_fwd(y, all, r.q, r.k, r.v, r.g, r.start, &s);
    for (size_t h = 0; !status && h < p->Hv; h++)
        memcpy(state + h * size, all + h * (s.H / p->Hv) * size, size * sizeof *state);
    free(states);
    free(memory);
    return status;
}

int ref_grouped_bwd(const ref_grouped_arrays *d, const double *dy, const ref_grouped_arrays *x,
                    const ref_grouped *p) {
    const ref_state s = sizes(p);
    ref_kda_arrays r = {0}, dr = {0};
    void *memory = spread(&r, x, p, 1), *gradients = spread(&dr, x, p, 0);
    int status = memory && gradients ? REF_OK : REF_NO_MEMORY;
    if (!status)
        status = x->beta ? ref_kda_bwd(&dr, dy, NULL, &r, &s)
                         : ref_gla_bwd(dr.q, dr.k, dr.v, dr.g, dr.start, dy, NULL, r.q, r.k, r.v, r.g,
                                       r.start, &s);
    extent e[FIELDS];
    extents(e, p);
    double *const to[FIELDS] = {d->q, d->k, d->v, d->beta, d->g, d->start}, *const from[FIELDS] = {
                                                                                dr.q,    dr.k, dr.v,
                                                                                dr.beta, dr.g, dr.start};
    for (int i = 0; !status && i < FIELDS; i++)
        if (to[i] && from[i]) ref_heads_gather(to[i], from[i], e[i].rows, e[i].heads, s.H, e[i].columns);
    free(gradients);
    free(memory);
    return status;
}
