// recurrent.c: LSTM and GRU, all sequences of a batch at once, row by row: a product of what they carry with
// U, then the cells. Backward takes the rows in reverse; the gradient of U is one product a sequence at the
// end.
//   LSTM  c = f c' + i g, h = o tanh c:  do = dh tanh c, dc += dh o (1 - tanh^2 c),
//         di = dc g, df = dc c', dg = dc i, dc' = dc f
//   GRU   h = (1 - z) n + z h':  dn = dh (1 - z), dz = dh (h' - n), dr = dn' a_n, dh' = dh z,
//         n' = z_n + r a_n before the tanh
#include "kernels/core/tile_narrow.h"
#include "kernels/core/ahead.h"
#include "recurrent_layout.h"

SMX_USES(add)
SMX_USES(bias_bwd)
SMX_USES(gate_bwd)
SMX_USES(gate_fwd)
SMX_USES(gemm)
SMX_USES(mul)
SMX_USES(sigmoid_bwd)
SMX_USES(sigmoid_fwd)
SMX_USES(tanh_bwd)
SMX_USES(tanh_fwd)

// The caller's sizes and arrays, and what differs: gates, floats of E that a row keeps, and that are carried.
typedef struct {
    const smx_recurrent *p;
    recurrent_layout l;
    size_t gates, kept, carried;
    float *scratch;
} call;
static call call_of(const smx_recurrent *p, void *scratch, int gru, int backward) {
    return (call){p, recurrent_layout_of(p, backward), gru ? 3 : 4, gru ? 4 : 5, gru ? 1 : 2, scratch};
}
static int is_gru(const call *c) { return c->gates == 3; }

// Every row is multiplied by the same [k][n] = u or its transpose: laid out once, as panels that the tile
// product reads from end to end. One sequence has one row at a time, which reads the matrix as it is.
_Static_assert(RECURRENT_PANEL % TILE_N == 0, "the layout has room for every width");
static void lay_panels(float *to, const float *u, size_t by_row, size_t by_column, size_t k, size_t n,
                       size_t width) {
    for (size_t j = 0; j < n; j += width)
        for (size_t i = 0; i < k; i++, to += width)
            for (size_t c = 0; c < width; c++) to[c] = j + c < n ? u[i * by_row + (j + c) * by_column] : 0.0f;
}
static void times_panels(float *y, size_t ldy, const float *x, size_t ldx, const float *panels, size_t width,
                         size_t m, size_t n, size_t k, int add) {
    for (size_t j = 0; j < n; j += width)
        product(y + j, ldy, x, ldx, 1, panels + j * k, width, m, smx_min(width, n - j), k, add);
}

// One row of every sequence, then the next of every sequence: they lie far apart, where no processor expects
// them, and in few sets of a cache, which drop what is asked for much too early.
enum { AHEAD = 3 }; // sequences
static int asks(const call *c) { return smx_private_ahead && c->p->B * c->p->L * c->p->E >= (size_t)1 << 15; }
SMX_INLINE void ask(const float *x, size_t n) {
    for (size_t i = 0; i < n; i += 16) __builtin_prefetch(x + i);
}

// ---- Forward --------------------------------------------------------------------------------------------
// One row of one sequence, over E numbers: z and a [gates E], state [carried][E], kept: what is saved.

#if defined(__wasm__) // the module is downloaded, and has these kernels: natively their calls cost a tenth
static void lstm_row(float *state, float *kept, const float *z, const float *a, size_t E) {
    float *c = state + E;
    SMX_FN(add)(kept, z, a, 4 * E);
    SMX_FN(sigmoid_fwd)(kept, kept, 2 * E);
    SMX_FN(tanh_fwd)(kept + 2 * E, kept + 2 * E, E);
    SMX_FN(sigmoid_fwd)(kept + 3 * E, kept + 3 * E, E);
    SMX_FN(mul)(c, c, kept + E, E);
    SMX_FN(mul)(kept + 4 * E, kept, kept + 2 * E, E);
    SMX_FN(add)(c, c, kept + 4 * E, E);
    memcpy(kept + 4 * E, c, E * sizeof *c);
    SMX_FN(tanh_fwd)(state, c, E);
    SMX_FN(mul)(state, state, kept + 3 * E, E);
}
#else
// Columns j.. of an array of E, of which the last register's may be fewer; and the way back.
SMX_INLINE vf part(const float *x, size_t n) {
    if (n >= SMX_W) return vf_load(x);
    float t[SMX_W] = {0};
    memcpy(t, x, n * sizeof *t);
    return vf_load(t);
}
SMX_INLINE void put(float *y, vf x, size_t n) {
    if (n >= SMX_W) {
        vf_store(y, x);
        return;
    }
    float t[SMX_W];
    vf_store(t, x);
    memcpy(y, t, n * sizeof *t);
}

static void lstm_row(float *state, float *kept, const float *z, const float *a, size_t E) {
    for (size_t j = 0; j < E; j += SMX_W) {
        const size_t n = E - j;
        float *c = state + E + j, *to = kept + j;
        const vf i = vf_sigmoid(part(z + j, n) + part(a + j, n));
        const vf f = vf_sigmoid(part(z + E + j, n) + part(a + E + j, n));
        const vf g = vf_tanh(part(z + 2 * E + j, n) + part(a + 2 * E + j, n));
        const vf o = vf_sigmoid(part(z + 3 * E + j, n) + part(a + 3 * E + j, n));
        const vf next = vf_madd(i, g, part(c, n) * f);
        put(to, i, n);
        put(to + E, f, n);
        put(to + 2 * E, g, n);
        put(to + 3 * E, o, n);
        put(to + 4 * E, next, n);
        put(c, next, n);
        put(state + j, vf_tanh(next) * o, n);
    }
}
#endif
static void gru_row(float *state, float *kept, const float *z, float *a, const float *bias, size_t E) {
    SMX_FN(add)(a, a, bias, 3 * E);
    memcpy(kept + 3 * E, a + 2 * E, E * sizeof *a);
    SMX_FN(add)(kept, z, a, 2 * E);
    SMX_FN(sigmoid_fwd)(kept, kept, 2 * E);
    SMX_FN(mul)(kept + 2 * E, kept, kept + 3 * E, E);
    SMX_FN(add)(kept + 2 * E, kept + 2 * E, z + 2 * E, E);
    SMX_FN(tanh_fwd)(kept + 2 * E, kept + 2 * E, E);
    SMX_FN(gate_fwd)(state, kept + E, state, kept + 2 * E, E);
}

static void forward(float *restrict y, float *last, float *restrict saved, const float *z, const float *u,
                    const float *bias, const float *start, const call *c) {
    const size_t B = c->p->B, L = c->p->L, E = c->p->E, G = c->gates * E, S = c->carried * E;
    float *state = c->scratch + c->l.state, *a = c->scratch + c->l.a, *panels = c->scratch + c->l.panels;
    const size_t kept = c->kept * E, width = panel_width();
    const int lay = B > 1 && L > 1, ahead = asks(c);
    if (lay) lay_panels(panels, u, G, 1, E, G, width);
    if (start)
        memcpy(state, start, B * S * sizeof *state);
    else
        memset(state, 0, B * S * sizeof *state);
    for (size_t t = 0; t < L; t++) {
        if (lay)
            times_panels(a, G, state, S, panels, width, B, G, E, 0);
        else
            SMX_FN(gemm)(a, state, u, c->scratch + c->l.gemm, B, G, E, S, G, G, 0);
        for (size_t b = 0; b < B; b++) {
            const size_t row = b * L + t,
                         later = b + AHEAD < B ? row + AHEAD * L : (b + AHEAD - B) * L + t + 1;
            float *keep = saved ? saved + row * kept : c->scratch + c->l.row;
            if (ahead && later < B * L) {
                ask(z + later * G, G);
                if (saved) ask(saved + later * kept, kept);
            }
            if (is_gru(c))
                gru_row(state + b * S, keep, z + row * G, a + b * G, bias, E);
            else
                lstm_row(state + b * S, keep, z + row * G, a + b * G, E);
        }
        smx_settle(state, smx_round_up(B * S, 16));
        for (size_t b = 0; b < B; b++) memcpy(y + (b * L + t) * E, state + b * S, E * sizeof *y);
    }
    if (last) memcpy(last, state, B * S * sizeof *last);
}

// ---- Backward -------------------------------------------------------------------------------------------
// One row: d [carried][E], the gradient of the state after it, becomes that of the state before, but for what
// goes through U. dz and da [gates E]; before: c or h of the row before. t [E]: room.

#if defined(__wasm__)
static void lstm_row_bwd(float *d, float *dz, const float *dy, const float *kept, const float *before,
                         float *t, size_t E) {
    float *dc = d + E, *u = t + E;
    SMX_FN(add)(d, d, dy, E);
    SMX_FN(tanh_fwd)(t, kept + 4 * E, E);
    SMX_FN(mul)(u, d, t, E);
    SMX_FN(sigmoid_bwd)(dz + 3 * E, u, kept + 3 * E, E);
    SMX_FN(mul)(u, d, kept + 3 * E, E);
    SMX_FN(tanh_bwd)(u, u, t, E);
    SMX_FN(add)(dc, dc, u, E);
    SMX_FN(mul)(dz, dc, kept + 2 * E, E);
    SMX_FN(mul)(dz + E, dc, before, E);
    SMX_FN(sigmoid_bwd)(dz, dz, kept, 2 * E);
    SMX_FN(mul)(u, dc, kept, E);
    SMX_FN(tanh_bwd)(dz + 2 * E, u, kept + 2 * E, E);
    SMX_FN(mul)(dc, dc, kept + E, E);
    memset(d, 0, E * sizeof *d);
}
#else
static void lstm_row_bwd(float *d, float *dz, const float *dy, const float *kept, const float *before,
                         float *room, size_t E) {
    (void)room;
    const vf one = vf_set(1.0f);
    for (size_t j = 0; j < E; j += SMX_W) {
        const size_t n = E - j;
        const float *from = kept + j;
        float *to = dz + j;
        const vf i = part(from, n), f = part(from + E, n), g = part(from + 2 * E, n);
        const vf o = part(from + 3 * E, n), t = vf_tanh(part(from + 4 * E, n));
        const vf dh = part(d + j, n) + part(dy + j, n);
        const vf dc = part(d + E + j, n) + (dh * o) * ((one - t) * (one + t));
        put(to, (dc * g) * (i * (one - i)), n);
        put(to + E, (dc * part(before + j, n)) * (f * (one - f)), n);
        put(to + 2 * E, (dc * i) * ((one - g) * (one + g)), n);
        put(to + 3 * E, (dh * t) * (o * (one - o)), n);
        put(d + j, vf_set(0.0f), n);
        put(d + E + j, dc * f, n);
    }
}
#endif
static void gru_row_bwd(float *d, float *dz, float *da, const float *dy, const float *kept,
                        const float *before, float *t, size_t E) {
    const float *n = kept + 2 * E;
    float *dn = dz + 2 * E;
    SMX_FN(add)(t, d, dy, E);
    SMX_FN(gate_bwd)(dz + E, d, dn, t, kept + E, before, n, E);
    SMX_FN(tanh_bwd)(dn, dn, n, E);
    SMX_FN(mul)(dz, dn, kept + 3 * E, E);
    SMX_FN(sigmoid_bwd)(dz, dz, kept, 2 * E);
    memcpy(da, dz, 2 * E * sizeof *da);
    SMX_FN(mul)(da + 2 * E, dn, kept, E);
}

static void backward(float *restrict dz, float *restrict du, float *restrict dbias, float *dstart,
                     const float *dy, const float *dlast, const float *y, const float *u, const float *saved,
                     const float *start, const call *c) {
    const size_t B = c->p->B, L = c->p->L, E = c->p->E, G = c->gates * E, S = c->carried * E;
    float *d = c->scratch + c->l.state, *panels = c->scratch + c->l.panels, *gemm = c->scratch + c->l.gemm;
    float *rows = c->scratch + c->l.a; // da of one row of each sequence, near each other
    float *zeros = c->scratch + c->l.row, *room = zeros + E;
    memset(zeros, 0, E * sizeof *zeros);
    float *da = is_gru(c) ? c->scratch + c->l.da : dz; // of h U (+ bias), every row
    const size_t kept = c->kept * E, width = B > 1 ? panel_width() : E;
    const int ahead = asks(c);
    lay_panels(panels, u, 1, G, G, E, width);
    if (dlast)
        memcpy(d, dlast, B * S * sizeof *d);
    else
        memset(d, 0, B * S * sizeof *d);
    for (size_t t = L; t-- > 0;) {
        for (size_t b = 0; b < B; b++) {
            const size_t row = b * L + t;
            const float *keep = saved + row * kept, *first = start ? start + b * S : zeros;
            const size_t later = b + AHEAD < B ? row + AHEAD * L : (b + AHEAD - B) * L + t - 1;
            if (ahead && later - 1 < B * L - 1) { // of the row before as well
                ask(saved + later * kept - E, kept);
                ask(dy + later * E, E);
                ask(dz + later * G, G);
                if (is_gru(c)) ask(da + later * G, G);
            }
            if (is_gru(c))
                gru_row_bwd(d + b * S, dz + row * G, da + row * G, dy + row * E, keep,
                            t ? y + (row - 1) * E : first, room, E);
            else
                lstm_row_bwd(d + b * S, dz + row * G, dy + row * E, keep,
                             t       ? keep - E
                             : start ? first + E
                                     : zeros,
                             room, E);
            memcpy(rows + b * G, da + row * G, G * sizeof *rows);
        }
        smx_settle(d, smx_round_up(B * S, 16));
        if (B > 1)
            times_panels(d, S, rows, G, panels, width, B, E, G, 1);
        else
            SMX_FN(gemm)(d, rows, panels, gemm, B, E, G, G, E, S, SMX_ACCUMULATE);
    }
    if (dstart) memcpy(dstart, d, B * S * sizeof *d);
    for (size_t b = 0; b < B && L; b++) {
        const float *of = da + b * L * G;
        const unsigned flags = SMX_TRANS_A | SMX_ACCUMULATE;
        if (start) SMX_FN(gemm)(du, start + b * S, of, gemm, E, G, 1, E, G, G, flags);
        SMX_FN(gemm)(du, y + b * L * E, of + G, gemm, E, G, L - 1, E, G, G, flags);
    }
    if (dbias) SMX_FN(bias_bwd)(dbias, da, B * L, G);
}

SMX_COPY(void, lstm_fwd)
(float *restrict y, float *last, float *restrict saved, const float *z, const float *u, const float *start,
 void *scratch, const smx_recurrent *p) {
    const call c = call_of(p, scratch, 0, 0);
    forward(y, last, saved, z, u, NULL, start, &c);
}
SMX_COPY(void, lstm_bwd)
(float *restrict dz, float *restrict du, float *dstart, const float *dy, const float *dlast, const float *y,
 const float *u, const float *saved, const float *start, void *scratch, const smx_recurrent *p) {
    const call c = call_of(p, scratch, 0, 1);
    backward(dz, du, NULL, dstart, dy, dlast, y, u, saved, start, &c);
}
SMX_COPY(void, gru_fwd)
(float *restrict y, float *last, float *restrict saved, const float *z, const float *u, const float *bias,
 const float *start, void *scratch, const smx_recurrent *p) {
    const call c = call_of(p, scratch, 1, 0);
    forward(y, last, saved, z, u, bias, start, &c);
}
SMX_COPY(void, gru_bwd)
(float *restrict dz, float *restrict du, float *restrict dbias, float *dstart, const float *dy,
 const float *dlast, const float *y, const float *u, const float *saved, const float *start, void *scratch,
 const smx_recurrent *p) {
    const call c = call_of(p, scratch, 1, 1);
    backward(dz, du, dbias, dstart, dy, dlast, y, u, saved, start, &c);
}
