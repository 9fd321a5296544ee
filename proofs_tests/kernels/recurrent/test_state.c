// test_state.c: gated linear attention and the delta rule against the oracle: every kind of gates, lengths
// around the blocks of 16 and 64 rows, widths around whole groups, closed gates, shared keys; a sequence in
// two parts equals the whole, in random pieces its words; nothing leaks back; 2,100 rows stay finite.
#include "proofs_tests/support/check.h"
#include <seqmix/ref_cores.h>

typedef void forward(float *, float *, float *, const smx_state_rows *, const float *, void *,
                     const smx_state *);
typedef void backward(const smx_state_gradients *, float *, const float *, const float *,
                      const smx_state_rows *, const float *, void *, const smx_state *);
enum { GLA, DELTA, ERASE, RULES }; // ERASE: the delta rule with keys of their own to erase
static const char *const rule_names[] = {"gla", "delta", "delta with erase"};
static forward *const forwards[] = {smx_gla_fwd, smx_delta_fwd, smx_delta_fwd};
static backward *const backwards[] = {smx_gla_bwd, smx_delta_bwd, smx_delta_bwd};

// One problem and what the kernel makes of it; numbers of floats: of q, v, beta, g and a state.
typedef struct {
    smx_state p;
    int delta, carried; // carried: with a start and a gradient of the last state
    size_t nk, nv, nb, ng, ns, kept;
    float *q, *k, *v, *beta, *g, *erase, *start, *dy, *dlast;
    float *y, *last, *states, *dq, *dk, *dv, *dbeta, *dg, *derase, *dstart;
} problem;

// hard: gates near 0 and down to -1e4, half of them closed
static problem problem_of(smx_state p, int delta, int carried, int hard) {
    problem m = {.p = p, .delta = delta, .carried = carried};
    const size_t rows = p.B * p.L;
    m.nk = rows * p.dk * (p.shared ? 1 : p.H);
    m.nv = rows * p.H * p.dv;
    m.nb = rows * p.H;
    m.ng = p.gates == SMX_GATES_FIXED ? p.H : p.gates == SMX_GATES_CHANNEL ? m.nb * p.dk : m.nb;
    m.ns = p.B * p.H * p.dk * p.dv;
    m.kept = p.B * smx_state_floats(p.L, p.H, p.dk, p.dv);
    const double size = delta ? 1 / sqrt((double)p.dk) : 1;
    m.q = check_random(m.nk, -1, 1);
    m.k = check_random(m.nk, -size, size);
    m.v = check_random(m.nv, -1, 1);
    m.beta = check_random(m.nb, 0, 1);
    m.erase = delta == ERASE ? check_random(m.nk, -size, size) : NULL;
    m.g = check_random(m.ng, -1, 0);
    for (size_t i = 0; i < m.ng && hard; i++)
        m.g[i] = (float)-exp(check_uniform(-30, check_next() % 2 ? -1 : log(1e4)));
    m.start = carried ? check_random(m.ns, -1, 1) : NULL;
    m.dy = check_random(m.nv, -1, 1);
    m.dlast = carried ? check_random(m.ns, -1, 1) : NULL;
    m.y = check_floats(m.nv), m.last = check_floats(m.ns), m.states = check_floats(m.kept);
    m.dq = check_floats(m.nk), m.dk = check_floats(m.nk), m.dv = check_floats(m.nv);
    m.dbeta = check_floats(m.nb), m.dg = check_filled(m.ng, 0), m.dstart = check_floats(m.ns);
    m.derase = m.erase ? check_floats(m.nk) : NULL;
    return m;
}
static smx_state_rows rows_of(const problem *m) {
    return (smx_state_rows){m->q, m->k, m->v, m->beta, m->g, m->erase};
}
static void run_forward(const problem *m) {
    const smx_state_rows x = rows_of(m);
    forwards[m->delta](m->y, m->last, m->states, &x, m->start,
                       check_scratch(smx_state_fwd_scratch_bytes(&m->p)), &m->p);
}
static void run_backward(const problem *m) {
    const smx_state_rows x = rows_of(m);
    const smx_state_gradients dx = {m->dq, m->dk, m->dv, m->dbeta, m->dg, m->derase};
    backwards[m->delta](&dx, m->dstart, m->dy, m->dlast, &x, m->states,
                        check_scratch(smx_state_bwd_scratch_bytes(&m->p)), &m->p);
}
static void run(const problem *m) {
    run_forward(m);
    run_backward(m);
}

// Keys that heads share, once for each head; and the sum of the heads' gradients.
static double *keys(const float *x, const problem *m) {
    const size_t H = m->p.H, dk = m->p.dk, rows = m->p.B * m->p.L;
    double *to = check_doubles(rows * H * dk);
    for (size_t i = 0; i < rows * H * dk; i++) to[i] = x[m->p.shared ? i / (H * dk) * dk + i % dk : i];
    return to;
}
static double *summed(const double *x, const problem *m) {
    const size_t H = m->p.H, dk = m->p.dk, rows = m->p.B * m->p.L;
    double *to = check_doubles(m->nk);
    memset(to, 0, m->nk * sizeof *to);
    for (size_t i = 0; i < rows * H * dk; i++) to[m->p.shared ? i / (H * dk) * dk + i % dk : i] += x[i];
    return to;
}

// A gradient that cancels to 0 keeps the rounding of its terms, which are about 1.
static void agree(const char *what, const float *got, const double *want, size_t n, double tolerance) {
    double largest = 1;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(want[i]));
    check_close(what, got, want, n, tolerance, largest);
}
// What the oracle says of a problem.
typedef struct {
    double *y, *last, *dq, *dk, *dv, *dbeta, *dg, *derase, *dstart;
} answer;
// With keys of their own to erase, diagonal plus low rank: a = -beta k, b = e^g erase, beta v.
static void oracle_erases(answer *a, double *dq, double *dk, double *derase, const problem *m,
                          const double *beta, const double *g, const ref_dplr_arrays *x, const ref_state *w) {
    const size_t dk_ = w->dk, dv = w->dv, n = w->B * w->L * w->H, all = n * dk_;
    double *erase = keys(m->erase, m), *weighted = check_doubles(n * dv), *low = check_doubles(all),
           *read = check_doubles(all), *dlow = check_doubles(all), *dread = check_doubles(all);
    ref_dplr_arrays in = *x, d = {dq, dk, a->dv, dlow, dread, w->gates ? a->dg : NULL, a->dstart};
    in.v = weighted, in.a = low, in.b = read, in.g = w->gates ? in.g : NULL;
    for (size_t i = 0; i < n * dv; i++) weighted[i] = x->v[i] * beta[i / dv], a->dv[i] = 0;
    for (size_t i = 0; i < all; i++) {
        low[i] = -beta[i / dk_] * x->k[i];
        read[i] = erase[i];
        dq[i] = dk[i] = dlow[i] = dread[i] = 0;
    }
#define GATE(i)                                                                                              \
    (w->gates == REF_GATES_CHANNEL ? (i) : w->gates == REF_GATES_HEAD ? (i) / dk_ : (i) / dk_ % w->H)
    for (size_t i = 0; i < all && w->gates; i++) read[i] *= exp(g[GATE(i)]);
    memset(a->dstart, 0, m->ns * sizeof *a->dstart);
    memset(a->dbeta, 0, n * sizeof *a->dbeta);
    assert_int_equal(ref_dplr_fwd(a->y, a->last, &in, w), REF_OK);
    const double *dlast = m->dlast ? check_widen(m->dlast, m->ns) : NULL;
    assert_int_equal(ref_dplr_bwd(&d, check_widen(m->dy, m->nv), dlast, &in, w), REF_OK);
    for (size_t i = 0; i < n * dv; i++) a->dbeta[i / dv] += a->dv[i] * x->v[i], a->dv[i] *= beta[i / dv];
    for (size_t i = 0; i < all; i++) {
        a->dbeta[i / dk_] -= dlow[i] * x->k[i];
        dk[i] -= dlow[i] * beta[i / dk_];
        derase[i] = dread[i] * (w->gates ? exp(g[GATE(i)]) : 1);
        if (w->gates) a->dg[GATE(i)] += dread[i] * read[i];
    }
}
// Its gla has no beta: it takes v times beta, and so gives the gradient of both.
static answer oracle(const problem *m) {
    const smx_state *p = &m->p;
    const ref_state w = {p->B, p->L, p->H, p->dk, p->dv, (ref_gates)p->gates, p->scale};
    const size_t all = p->B * p->L * p->H * p->dk;
    double *q = keys(m->q, m), *k = keys(m->k, m), *v = check_widen(m->v, m->nv),
           *g = check_widen(m->g, m->ng);
    double *beta = check_widen(m->beta, m->nb), *start = m->start ? check_widen(m->start, m->ns) : NULL;
    double *dy = check_widen(m->dy, m->nv), *dlast = m->dlast ? check_widen(m->dlast, m->ns) : NULL;
    double *dq = check_doubles(all), *dk = check_doubles(all);
    answer a = {.y = check_doubles(m->nv),
                .last = check_doubles(m->ns),
                .dv = check_doubles(m->nv),
                .dbeta = check_doubles(m->nb),
                .dg = check_doubles(m->ng),
                .dstart = check_doubles(m->ns)};
    memset(a.dg, 0, m->ng * sizeof *a.dg);
    if (m->delta == ERASE) {
        double *derase = check_doubles(all);
        oracle_erases(&a, dq, dk, derase, m, beta, g,
                      &(ref_dplr_arrays){.q = q, .k = k, .v = v, .g = g, .start = start}, &w);
        a.derase = summed(derase, m);
    } else if (m->delta) {
        assert_int_equal(ref_delta_fwd(a.y, a.last, q, k, v, beta, g, start, &w), REF_OK);
        assert_int_equal(
            ref_delta_bwd(dq, dk, a.dv, a.dbeta, a.dg, a.dstart, dy, dlast, q, k, v, beta, g, start, &w),
            REF_OK);
    } else {
        double *weighted = check_doubles(m->nv);
        for (size_t i = 0; i < m->nv; i++) weighted[i] = v[i] * beta[i / p->dv];
        ref_gla_fwd(a.y, a.last, q, k, weighted, g, start, &w);
        assert_int_equal(ref_gla_bwd(dq, dk, a.dv, a.dg, a.dstart, dy, dlast, q, k, weighted, g, start, &w),
                         REF_OK);
        memset(a.dbeta, 0, m->nb * sizeof *a.dbeta);
        for (size_t i = 0; i < m->nv; i++) {
            a.dbeta[i / p->dv] += a.dv[i] * v[i];
            a.dv[i] *= beta[i / p->dv];
        }
    }
    a.dq = summed(dq, m), a.dk = summed(dk, m);
    return a;
}
// Of each gate's gradient, what it adds up over channels and, fixed, over rows, each term by its size: the
// oracle gives them where each channel of each row has a gate of its own.
static double *gate_terms(const problem *m) {
    const smx_state *p = &m->p;
    const size_t n = p->B * p->L * p->H * p->dk, same = p->gates == SMX_GATES_CHANNEL ? 1 : p->dk;
    const size_t cycle = p->gates == SMX_GATES_FIXED ? p->H : n;
    problem own = *m;
    own.p.gates = SMX_GATES_CHANNEL, own.ng = n, own.g = check_floats(n);
    for (size_t i = 0; i < n; i++) own.g[i] = m->g[i / same % cycle];
    const double *terms = oracle(&own).dg;
    double *sums = check_doubles(m->ng);
    memset(sums, 0, m->ng * sizeof *sums);
    for (size_t i = 0; i < n; i++) sums[i / same % cycle] += fabs(terms[i]);
    return sums;
}
static void against_ref(const problem *m) {
    const answer a = oracle(m);
    const double tolerance = 2e-6;
    agree("y", m->y, a.y, m->nv, tolerance);
    agree("last", m->last, a.last, m->ns, tolerance);
    agree("dq", m->dq, a.dq, m->nk, tolerance);
    agree("dk", m->dk, a.dk, m->nk, tolerance);
    agree("dv", m->dv, a.dv, m->nv, tolerance);
    if (m->erase) agree("derase", m->derase, a.derase, m->nk, tolerance);
    agree("dbeta", m->dbeta, a.dbeta, m->nb, tolerance);
    if (m->p.gates) {
        const double *terms = gate_terms(m);
        double largest = 1;
        for (size_t i = 0; i < m->ng; i++) largest = fmax(largest, terms[i]);
        check_close("dg", m->dg, a.dg, m->ng, tolerance, largest);
    }
    agree("dstart", m->dstart, a.dstart, m->ns, tolerance);
}

// The same words; in fast mode the compiler fuses other products here than there.
static void as_whole(const char *what, const float *got, const float *want, size_t n) {
    const int fast = smx_fast(0);
    smx_fast(fast);
    if (fast)
        agree(what, got, check_widen(want, n), n, 2e-6);
    else
        check_same(what, got, want, n);
}
// Each sequence in random pieces, from its start on, gives the words of the whole, and after whole blocks its
// state.
static void row_by_row(const problem *m) {
    const smx_state *p = &m->p;
    void (*const push[])(float *, float *, const smx_state_rows *, void *, size_t,
                         const smx_state *) = {smx_gla_push, smx_delta_push, smx_delta_push};
    smx_state part = *p;
    part.B = 1;
    const size_t keys = p->dk * (p->shared ? 1 : p->H), all = p->H * p->dk * p->dv;
    const size_t gates = p->gates == SMX_GATES_CHANNEL ? p->H * p->dk : p->gates == SMX_GATES_HEAD ? p->H : 0;
    float *y = check_floats(m->nv);
    void *scratch = check_scratch(smx_state_push_scratch_bytes(p));
    for (size_t b = 0; b < p->B; b++) {
        float *carried = check_filled(smx_state_carried_floats(&part), 0);
        if (m->start) memcpy(carried, m->start + b * all, all * sizeof *carried);
        for (size_t t = 0; t < p->L; t += part.L) {
            const size_t row = b * p->L + t, rows = 1 + check_next() % 40;
            const smx_state_rows x = {m->q + row * keys,         m->k + row * keys,
                                      m->v + row * p->H * p->dv, m->beta + row * p->H,
                                      m->g + row * gates,        m->erase ? m->erase + row * keys : NULL};
            part.L = rows < p->L - t ? rows : p->L - t;
            push[m->delta](y + row * p->H * p->dv, carried, &x, scratch, t, &part);
        }
        if (p->L % SMX_STATE_ROWS == 0) as_whole("state row by row", carried, m->last + b * all, all);
    }
    as_whole("row by row", y, m->y, m->nv);
}

static void against_oracle(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 15, 16, 17, 63, 64, 65, 150};
    static const struct {
        size_t B, H, dk, dv;
        int shared;
    } widths[] = {{1, 1, 1, 1, 0}, {2, 3, 4, 6, 0}, {1, 2, 17, 21, 0}, {2, 2, 16, 33, 1}};
    CHECK_EACH_ISA(isa) {
        check_seed(1901);
        for (int delta = 0; delta < RULES; delta++)
            for (int gates = SMX_GATES_NONE; gates <= SMX_GATES_CHANNEL; gates++)
                for (size_t i = 0; i < CHECK_COUNT(lengths); i++)
                    for (size_t j = 0; j < CHECK_COUNT(widths); j++)
                        for (int hard = 0; hard <= (gates > SMX_GATES_NONE); hard++) {
                            const smx_state p = {widths[j].B,  lengths[i], widths[j].H,      widths[j].dk,
                                                 widths[j].dv, gates,      widths[j].shared, 0.5f};
                            check_trying("%s L=%zu H=%zu dk=%zu dv=%zu gates=%d shared=%d hard=%d",
                                         rule_names[delta], p.L, p.H, p.dk, p.dv, gates, p.shared, hard);
                            const problem m = problem_of(p, delta, (i + j) % 2, hard);
                            run(&m);
                            against_ref(&m);
                            row_by_row(&m);
                            check_done();
                        }
    }
}

// Keys or queries about 2^-96, below which states lose what they hold. A block in which nothing comes there
// has loops of its own, and must give the words that it gives beside one more channel, so small that no block
// with it is taken for such.
static void small_keys(void **state) {
    (void)state;
    enum { L = 48, H = 2, dk = 5, dv = 4, TRIES = 48 };
    CHECK_EACH_ISA(isa) {
        check_seed(1907);
        for (int i = 0; i < TRIES; i++) {
            const int delta = i % RULES, size = -70 - i / 2, keys = i / 2 % 3 < 2, queries = i / 2 % 3 > 0;
            check_trying("%s, %s%s about 2^%d", rule_names[delta], keys ? "keys " : "",
                         queries ? "queries" : "", size);
            const problem m = problem_of((smx_state){1, L, H, dk, dv, SMX_GATES_CHANNEL, 0, 1}, delta, 0, 0);
            for (size_t j = 0; j < m.nk; j++) {
                m.q[j] = ldexpf(m.q[j], queries ? size : 0), m.k[j] = ldexpf(m.k[j], keys ? size : 0);
                if (m.erase) m.erase[j] = ldexpf(m.erase[j], queries ? size : 0);
                if (i % 4 < 2) m.g[j] *= 0.1f;
            }
            run(&m);
            row_by_row(&m);
            smx_state wider = m.p;
            wider.dk++;
            problem w = problem_of(wider, delta, 0, 0);
            w.v = m.v, w.beta = m.beta, w.dy = m.dy;
            for (size_t j = 0; j < w.nk; j++) {
                const size_t c = j % (dk + 1), at = j / (dk + 1) * dk + c;
                w.q[j] = w.k[j] = 0x1p-120f, w.g[j] = -0.5f;
                if (w.erase) w.erase[j] = c < dk ? m.erase[at] : 0x1p-120f;
                if (c < dk) w.q[j] = m.q[at], w.k[j] = m.k[at], w.g[j] = m.g[at];
            }
            run(&w);
            as_whole("y", w.y, m.y, m.nv);
            as_whole("dv", w.dv, m.dv, m.nv);
            for (size_t row = 0; row < L * H; row++) {
                as_whole("dq", w.dq + row * (dk + 1), m.dq + row * dk, dk);
                as_whole("dk", w.dk + row * (dk + 1), m.dk + row * dk, dk);
                as_whole("dg", w.dg + row * (dk + 1), m.dg + row * dk, dk);
            }
            check_done();
        }
    }
}

// What may be left out: beta of gla is 1, no states are kept, gradients that nobody wants are not written.
static void left_out(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(1902);
        check_trying("gla without beta, start, last, states");
        const smx_state p = {1, 40, 2, 4, 16, SMX_GATES_HEAD,
                             0, 1}; // whole columns, the last block cut short
        problem m = problem_of(p, 0, 0, 0);
        for (size_t i = 0; i < m.nb; i++) m.beta[i] = 1;
        run(&m);
        float *y = check_floats(m.nv), *dq = check_floats(m.nk), *dk = check_floats(m.nk),
              *dv = check_floats(m.nv);
        const smx_state_rows x = {m.q, m.k, m.v, NULL, m.g, NULL};
        const smx_state_gradients dx = {dq, dk, dv, NULL, NULL, NULL};
        smx_gla_fwd(y, NULL, NULL, &x, NULL, check_scratch(smx_state_fwd_scratch_bytes(&p)), &p);
        check_same("y", y, m.y, m.nv);
        smx_gla_bwd(&dx, NULL, m.dy, NULL, &x, m.states, check_scratch(smx_state_bwd_scratch_bytes(&p)), &p);
        check_same("dq", dq, m.dq, m.nk);
        check_same("dk", dk, m.dk, m.nk);
        check_same("dv", dv, m.dv, m.nv);
        const smx_state none[] = {{0, 4, 2, 3, 3, SMX_GATES_NONE, 0, 1},
                                  {1, 0, 2, 3, 3, SMX_GATES_NONE, 0, 1}};
        for (int i = 0; i < 2; i++) { // no sequences; no rows: the state stays
            const problem e = problem_of(none[i], 1, 1, 0);
            run(&e);
            check_same("last", e.last, e.start, e.ns);
            check_same("dstart", e.dstart, e.dlast, e.ns);
        }
        check_done();
    }
}

// The first rows, then the others from the state that they left:
// to the bit at a multiple of 64, to rounding elsewhere.
static void in_two_parts(void **state) {
    (void)state;
    static const size_t cuts[] = {64, 1, 37, 128};
    enum { L = 150, H = 2, dk = 8, dv = 12 };
    CHECK_EACH_ISA(isa) {
        check_seed(1903);
        for (int delta = 0; delta < RULES; delta++)
            for (size_t i = 0; i < CHECK_COUNT(cuts); i++) {
                const size_t cut = cuts[i], rest = L - cut;
                check_trying("%s cut at %zu", rule_names[delta], cut);
                problem m = problem_of((smx_state){1, L, H, dk, dv, SMX_GATES_CHANNEL, 0, 0.4f}, delta, 1, 0);
                run(&m);
                problem a = m, b = m; // the later part first: its dstart is what the earlier one gets
                a.p.L = cut, b.p.L = rest;
                a.y = check_floats(m.nv), a.last = check_floats(m.ns), b.last = check_floats(m.ns);
                a.dq = check_floats(m.nk), a.dg = check_floats(m.ng), a.dstart = check_floats(m.ns);
                a.states = check_floats(m.kept), b.states = check_floats(m.kept);
                a.dk = check_floats(m.nk), a.dv = check_floats(m.nv), a.dbeta = check_floats(m.nb);
                run_forward(&a);
                b.q += cut * H * dk, b.k += cut * H * dk, b.g += cut * H * dk, b.v += cut * H * dv;
                if (m.erase) {
                    a.derase = check_floats(m.nk);
                    b.erase += cut * H * dk, b.derase = a.derase + cut * H * dk;
                }
                b.beta += cut * H, b.dy += cut * H * dv, b.start = a.last;
                b.y = a.y + cut * H * dv, b.dq = a.dq + cut * H * dk, b.dk = a.dk + cut * H * dk;
                b.dg = a.dg + cut * H * dk, b.dv = a.dv + cut * H * dv, b.dbeta = a.dbeta + cut * H;
                b.dstart = check_floats(m.ns);
                run(&b);
                a.dlast = b.dstart;
                run_backward(&a);
                const struct {
                    const char *name;
                    float *got, *want;
                    size_t n;
                } pairs[] = {{"y", a.y, m.y, m.nv},
                             {"last", b.last, m.last, m.ns},
                             {"dq", a.dq, m.dq, m.nk},
                             {"dk", a.dk, m.dk, m.nk},
                             {"dv", a.dv, m.dv, m.nv},
                             {"dbeta", a.dbeta, m.dbeta, m.nb},
                             {"dg", a.dg, m.dg, m.ng},
                             {"dstart", a.dstart, m.dstart, m.ns},
                             {"derase", a.derase, m.derase, m.erase ? m.nk : 0}};
                for (size_t j = 0; j < CHECK_COUNT(pairs); j++)
                    if (cut % 64 == 0)
                        check_same(pairs[j].name, pairs[j].got, pairs[j].want, pairs[j].n);
                    else
                        check_close(pairs[j].name, pairs[j].got, check_widen(pairs[j].want, pairs[j].n),
                                    pairs[j].n, 3e-6, 0);
                check_done();
            }
    }
}

// dg as a plain recurrence in float has it, row by row: R = e^g S, S = R + k u^T, dg = <dR, R>.
static float *plain_gates(const problem *m) {
    const smx_state *p = &m->p;
    const size_t dk = p->dk, dv = p->dv, size = dk * dv;
    float *dg = check_filled(m->ng, 0), *R = check_floats(p->L * size), *S = check_floats(size),
          *miss = check_floats(p->L * dv), *G = check_floats(size), *du = check_floats(dv);
    for (size_t head = 0; head < p->B * p->H; head++) {
        const size_t b = head / p->H, h = head % p->H;
        for (size_t i = 0; i < size; i++) S[i] = m->start ? m->start[head * size + i] : 0;
        for (size_t i = 0; i < size; i++) G[i] = m->dlast ? m->dlast[head * size + i] : 0;
        for (size_t step = 0; step < 2 * p->L; step++) { // forward, then backward
            const int back = step >= p->L;
            const size_t t = back ? 2 * p->L - 1 - step : step, row = (b * p->L + t) * p->H + h;
            const float *q = m->q + row * dk, *k = m->k + row * dk, *v = m->v + row * dv,
                        *dy = m->dy + row * dv;
            float *Rt = R + t * size, *e = miss + t * dv;
            const float *erase = m->erase ? m->erase + row * dk : k;
            for (size_t i = 0; i < size && back; i++) G[i] += p->scale * q[i / dv] * dy[i % dv];
            for (size_t j = 0; j < dv && back; j++) {
                du[j] = 0;
                for (size_t a = 0; a < dk; a++) du[j] += G[a * dv + j] * k[a];
            }
            for (size_t a = 0; a < dk; a++) {
                const size_t at = p->gates == SMX_GATES_FIXED     ? h
                                  : p->gates == SMX_GATES_CHANNEL ? row * dk + a
                                                                  : row;
                const float alpha = (float)exp((double)m->g[at]);
                float sum = 0;
                for (size_t j = 0; j < dv; j++) {
                    const size_t i = a * dv + j;
                    if (!back) Rt[i] = alpha * S[i];
                    if (!back) continue;
                    if (m->delta) G[i] -= erase[a] * m->beta[row] * du[j];
                    sum += G[i] * Rt[i];
                    G[i] *= alpha;
                }
                if (back) dg[at] += sum;
            }
            for (size_t j = 0; j < dv && !back; j++) {
                e[j] = v[j];
                for (size_t a = 0; a < dk && m->delta; a++) e[j] -= Rt[a * dv + j] * erase[a];
                for (size_t a = 0; a < dk; a++) S[a * dv + j] = Rt[a * dv + j] + k[a] * m->beta[row] * e[j];
            }
        }
    }
    return dg;
}
// The largest error of the gates at one level.
static double off(const float *got, const double *want, const problem *m, float level) {
    double error = 0;
    for (size_t i = 0; i < m->ng; i++)
        if (m->g[i] == level) error = isnan(got[i]) ? INFINITY : fmax(error, fabs(got[i] - want[i]));
    return error;
}

// The gates' gradient alone, at gates from open to shut: no further from the oracle than 16 times what the
// plain recurrence is, or 16 roundings of what is summed. Gates of each level are compared among themselves,
// or open ones would hide what is wrong at those that are shut.
static void gates_alone(void **state) {
    (void)state;
    static const float levels[] = {0, -1e-3f, -1, -8, -12, -16, -20, -40, -80};
    enum { MIXED = CHECK_COUNT(levels) };
    static const size_t lengths[] = {2, 15, 16, 17, 33, 64, 65, 140, 4097};
    CHECK_EACH_ISA(isa) {
        check_seed(1908);
        for (int delta = 0; delta < RULES; delta++)
            for (int gates = SMX_GATES_FIXED; gates <= SMX_GATES_CHANNEL; gates++)
                for (size_t i = 0; i < CHECK_COUNT(lengths); i++)
                    for (size_t j = 0; j <= MIXED; j++) {
                        const size_t L = lengths[i];
                        if (L > 1000 && (delta == ERASE || (j < MIXED && levels[j] != -20))) continue;
                        problem m = problem_of((smx_state){1, L, 3, 5, 7, gates, 0, 0.4f}, delta, i % 2, 0);
                        for (size_t a = 0; a < m.ng; a++)
                            m.g[a] = levels[j < MIXED ? j : check_next() % MIXED];
                        run(&m);
                        const double *want = oracle(&m).dg;
                        const double *terms = gate_terms(&m);
                        const float *plain = plain_gates(&m);
                        for (size_t a = 0; a < MIXED; a++) {
                            if (j < MIXED && a != j) continue;
                            const double error = off(m.dg, want, &m, levels[a]);
                            const double theirs = off(plain, want, &m, levels[a]);
                            double rounding = 0;
                            for (size_t b = 0; b < m.ng; b++)
                                if (m.g[b] == levels[a]) rounding = fmax(rounding, 0x1p-24 * terms[b]);
                            check_trying("%s L=%zu gates=%d, %s gates, those at %g", rule_names[delta], L,
                                         gates, j < MIXED ? "equal" : "mixed", (double)levels[a]);
                            if (!(error <= 16 * fmax(theirs, rounding)))
                                check_fail(
                                    "off by %.2g; a plain recurrence by %.2g, a rounding of all terms is %.2g",
                                    error, theirs, rounding);
                        }
                        check_done();
                    }
    }
}

static void causal_words(void **state) {
    (void)state;
    enum { L = 70, H = 1, dk = 6, dv = 5 };
    CHECK_EACH_ISA(isa)
    for (int delta = 0; delta < RULES; delta++) {
        check_seed(1904);
        problem m = problem_of((smx_state){1, L, H, dk, dv, SMX_GATES_CHANNEL, 0, 1}, delta, 0, 0);
        void *scratch = check_scratch(smx_state_fwd_scratch_bytes(&m.p));
        run(&m);
        float *again = check_floats(m.nv);
        for (size_t t = 0; t < L; t += 3) {
            check_trying("%s, row %zu changed", rule_names[delta], t);
            for (size_t c = 0; c < dk; c++) m.q[t * dk + c] += 1, m.k[t * dk + c] += 1, m.g[t * dk + c] *= 2;
            for (size_t c = 0; c < dk && m.erase; c++) m.erase[t * dk + c] += 1;
            for (size_t c = 0; c < dv; c++) m.v[t * dv + c] += 1;
            m.beta[t] *= 0.5f;
            const smx_state_rows x = rows_of(&m);
            forwards[delta](again, NULL, NULL, &x, NULL, scratch, &m.p);
            check_same("earlier rows", again, m.y, t * dv);
            if (!memcmp(again + t * dv, m.y + t * dv, dv * sizeof *again))
                check_fail("its own row is as before");
            memcpy(m.y, again, m.nv * sizeof *again);
        }
        check_done();
    }
}

// 2,100 rows with gates of all sizes, unit keys for the delta rule as its layer gives them.
static void long_sequences(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa)
    for (int delta = 0; delta < RULES; delta++)
        for (int gates = SMX_GATES_HEAD; gates <= SMX_GATES_CHANNEL; gates++) {
            check_seed(1905);
            check_trying("%s of 2,100 rows, gates=%d", rule_names[delta], gates);
            problem m = problem_of((smx_state){1, 2100, 2, 8, 4, gates, 0, 0.35f}, delta, 1, 1);
            for (size_t row = 0; row < m.nk / 8 && delta; row++) {
                double square = 0;
                for (size_t c = 0; c < 8; c++) square += m.k[row * 8 + c] * m.k[row * 8 + c];
                for (size_t c = 0; c < 8; c++) m.k[row * 8 + c] /= (float)sqrt(square);
            }
            run(&m);
            against_ref(&m);
            check_done();
        }
}

// Gates of -infinity, and such that e^g underflows, forget what was before, and say so: nothing is NaN, their
// own gradients are 0, and all else is the oracle's. All are closed, or some: the first and last rows of
// blocks and segments, and others.
static void closed(void **state) {
    (void)state;
    static const float shut[] = {-INFINITY, -3.4e38f, -200, -88};
    CHECK_EACH_ISA(isa)
    for (int delta = 0; delta < RULES; delta++)
        for (int gates = SMX_GATES_FIXED; gates <= SMX_GATES_CHANNEL; gates++)
            for (size_t i = 0; i < 2 * CHECK_COUNT(shut); i++) {
                const float value = shut[i / 2];
                const int all = i % 2;
                check_seed(1906);
                check_trying("%s, %s gates of %g, gates=%d", rule_names[delta], all ? "all" : "some",
                             (double)value, gates);
                problem m = problem_of((smx_state){1, 150, 2, 5, 4, gates, 0, 1}, delta, 1, 0);
                for (size_t a = 0; a < m.ng; a++) {
                    const size_t row = a * m.nb / m.ng / m.p.H, of_block = row % 16;
                    const int border = (of_block == 0 || of_block == 15) && row / 16 % 2;
                    if (all || border || check_next() % 8 == 0) m.g[a] = value;
                }
                run(&m);
                against_ref(&m);
                row_by_row(&m);
                for (size_t a = 0; a < m.ng; a++)
                    if (m.g[a] == value && m.dg[a] != 0)
                        check_fail("dg[%zu] is %g, expected 0", a, (double)m.dg[a]);
                for (size_t a = 0; a < m.ns && all; a++)
                    if (m.dstart[a] != 0) check_fail("dstart[%zu] is %g, expected 0", a, (double)m.dstart[a]);
                check_done();
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_oracle), cmocka_unit_test(left_out),
                                       cmocka_unit_test(in_two_parts),   cmocka_unit_test(causal_words),
                                       cmocka_unit_test(long_sequences), cmocka_unit_test(closed),
                                       cmocka_unit_test(small_keys),     cmocka_unit_test(gates_alone)};
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
