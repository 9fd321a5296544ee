// test_recurrent.c: LSTM and GRU against the oracle: widths around whole registers, batches, a start and
// the gradient of the end; a sequence in two parts is the whole; no row depends on a later one; saturated
// gates and 4,000 rows stay finite; what may be left out.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

// One problem and what the kernel makes of it; numbers of floats: of y, z, u, a state and what is saved.
typedef struct {
    smx_recurrent p;
    int gru;
    size_t n, nz, nu, ns, kept;
    float *z, *u, *bias, *start, *dy, *dlast;
    float *y, *last, *saved, *dz, *du, *dbias, *dstart;
} problem;

static problem problem_of(smx_recurrent p, int gru, int carried, double size) {
    problem m = {.p = p, .gru = gru};
    const size_t gates = gru ? 3 : 4;
    m.n = p.B * p.L * p.E, m.nz = m.n * gates, m.nu = p.E * p.E * gates, m.ns = p.B * p.E * (gru ? 1 : 2);
    m.kept = m.n * (gru ? 4 : 5);
    m.z = check_random(m.nz, -size, size), m.bias = check_random(3 * p.E, -size, size);
    m.u = check_random(m.nu, -size / sqrt((double)p.E), size / sqrt((double)p.E));
    m.start = carried ? check_random(m.ns, -1, 1) : NULL;
    m.dy = check_random(m.n, -1, 1), m.dlast = carried ? check_random(m.ns, -1, 1) : NULL;
    m.y = check_floats(m.n), m.last = check_floats(m.ns), m.saved = check_floats(m.kept);
    m.dz = check_floats(m.nz), m.du = check_filled(m.nu, 0), m.dbias = check_filled(3 * p.E, 0);
    m.dstart = check_floats(m.ns);
    return m;
}
static void forward(const problem *m) {
    void *scratch = check_scratch(smx_recurrent_fwd_scratch_bytes(&m->p));
    if (m->gru)
        smx_gru_fwd(m->y, m->last, m->saved, m->z, m->u, m->bias, m->start, scratch, &m->p);
    else
        smx_lstm_fwd(m->y, m->last, m->saved, m->z, m->u, m->start, scratch, &m->p);
}
static void backward(const problem *m) {
    void *scratch = check_scratch(smx_recurrent_bwd_scratch_bytes(&m->p));
    if (m->gru)
        smx_gru_bwd(m->dz, m->du, m->dbias, m->dstart, m->dy, m->dlast, m->y, m->u, m->saved, m->start,
                    scratch, &m->p);
    else
        smx_lstm_bwd(m->dz, m->du, m->dstart, m->dy, m->dlast, m->y, m->u, m->saved, m->start, scratch,
                     &m->p);
}

static double *wide(const float *x, size_t n) { return x ? check_widen(x, n) : NULL; }
static double *zeros(size_t n) {
    double *x = check_doubles(n);
    memset(x, 0, n * sizeof *x);
    return x;
}
static void against_ref(const problem *m, double tolerance) {
    const ref_recurrent p = {m->p.B, m->p.L, m->p.E};
    double *z = wide(m->z, m->nz), *u = wide(m->u, m->nu), *bias = wide(m->bias, 3 * p.E),
           *start = wide(m->start, m->ns), *dy = wide(m->dy, m->n), *dlast = wide(m->dlast, m->ns);
    double *y = check_doubles(m->n), *last = check_doubles(m->ns), *dz = check_doubles(m->nz),
           *du = zeros(m->nu), *dbias = zeros(3 * p.E), *dstart = check_doubles(m->ns);
    if (m->gru) {
        assert_int_equal(ref_gru_fwd(y, last, z, u, bias, start, &p), REF_OK);
        assert_int_equal(ref_gru_bwd(dz, du, dbias, dstart, dy, dlast, z, u, bias, start, &p), REF_OK);
        check_close("dbias", m->dbias, dbias, 3 * p.E, tolerance, 1);
    } else {
        assert_int_equal(ref_lstm_fwd(y, last, z, u, start, &p), REF_OK);
        assert_int_equal(ref_lstm_bwd(dz, du, dstart, dy, dlast, z, u, start, &p), REF_OK);
    }
    check_close("y", m->y, y, m->n, tolerance, 1);
    check_close("last", m->last, last, m->ns, tolerance, 1);
    check_close("dz", m->dz, dz, m->nz, tolerance, 1);
    check_close("du", m->du, du, m->nu, tolerance, 1);
    check_close("dstart", m->dstart, dstart, m->ns, tolerance, 1);
}

static void against_oracle(void **state) {
    (void)state;
    static const smx_recurrent shapes[] = {{1, 1, 1},  {2, 3, 5},   {1, 17, 16}, {3, 9, 17},
                                           {5, 20, 8}, {13, 4, 33}, {1, 40, 70}, {2, 270, 6}};
    CHECK_EACH_ISA(isa) {
        check_seed(1911);
        for (size_t i = 0; i < CHECK_COUNT(shapes); i++)
            for (int gru = 0; gru < 2; gru++) {
                const smx_recurrent p = shapes[i];
                check_trying("%s B=%zu L=%zu E=%zu", gru ? "gru" : "lstm", p.B, p.L, p.E);
                const problem m = problem_of(p, gru, i % 2, 1.5);
                forward(&m);
                backward(&m);
                against_ref(&m, 4e-6);
                check_done();
            }
    }
}

// The first rows, then the others from the state that they left, is the whole, to the bit; gradients flow
// back through dstart.
static void in_two_parts(void **state) {
    (void)state;
    enum { L = 30, E = 10, CUT = 11 };
    CHECK_EACH_ISA(isa) {
        check_seed(1912);
        for (int gru = 0; gru < 2; gru++) {
            check_trying("%s in two parts", gru ? "gru" : "lstm");
            const size_t G = gru ? 3 * E : 4 * E, kept = gru ? 4 * E : 5 * E;
            const problem m = problem_of((smx_recurrent){1, L, E}, gru, 1, 1);
            forward(&m);
            backward(&m);
            problem a = m, b = m;
            a.p.L = CUT, b.p.L = L - CUT;
            a.y = check_floats(m.n), a.last = check_floats(m.ns), a.saved = check_floats(m.kept);
            a.dz = check_floats(m.nz), a.du = check_filled(m.nu, 0), a.dstart = check_floats(m.ns);
            a.dbias = check_filled(3 * E, 0);
            b.z += CUT * G, b.dy += CUT * E, b.start = a.last, b.last = check_floats(m.ns);
            b.y = a.y + CUT * E, b.saved = a.saved + CUT * kept, b.dz = a.dz + CUT * G;
            b.dstart = check_floats(m.ns), b.du = a.du, b.dbias = a.dbias;
            forward(&a);
            forward(&b);
            check_same("y", a.y, m.y, m.n);
            check_same("last", b.last, m.last, m.ns);
            backward(&b);
            a.dlast = b.dstart;
            backward(&a);
            check_same("dz", a.dz, m.dz, m.nz);
            check_same("dstart", a.dstart, m.dstart, m.ns);
            check_close("du", a.du, check_widen(m.du, m.nu), m.nu, 2e-6, 1);
            b.last = a.last; // in the place of start
            forward(&b);
            check_same("last in place", a.last, m.last, m.ns);
            check_done();
        }
    }
}

static void causal_words(void **state) {
    (void)state;
    enum { L = 12, E = 9 };
    CHECK_EACH_ISA(isa) {
        check_seed(1913);
        for (int gru = 0; gru < 2; gru++)
            for (size_t t = 0; t < L; t += 5) {
                check_trying("%s, row %zu changed", gru ? "gru" : "lstm", t);
                problem m = problem_of((smx_recurrent){1, L, E}, gru, 0, 1);
                forward(&m);
                float *before = m.y;
                m.y = check_floats(m.n);
                m.z[t * (gru ? 3 : 4) * E] += 1;
                forward(&m);
                check_same("rows before", m.y, before, t * E);
                assert_true(memcmp(m.y + t * E, before + t * E, E * sizeof *before));
                check_done();
            }
    }
}

// Gates at both ends, forget gates that stay open: numbers stay finite and the oracle's.
static void saturated(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(1914);
        for (int gru = 0; gru < 2; gru++) {
            check_trying("%s of 4,000 rows, gates at their ends", gru ? "gru" : "lstm");
            const problem m = problem_of((smx_recurrent){1, 4000, 4}, gru, 1, 60);
            for (size_t i = 0; i < m.nu; i++) m.u[i] *= 0.01f; // not chaotic
            forward(&m);
            backward(&m);
            against_ref(&m, 2e-5); // sums over 4,000 rows
            check_done();
        }
    }
}

static void left_out(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        check_seed(1915);
        for (int gru = 0; gru < 2; gru++) {
            check_trying("%s without last, saved, dstart", gru ? "gru" : "lstm");
            problem m = problem_of((smx_recurrent){2, 7, 5}, gru, 0, 1), bare = m;
            forward(&m);
            backward(&m);
            bare.y = check_floats(m.n), bare.dz = check_floats(m.nz), bare.du = check_filled(m.nu, 0);
            bare.dbias = check_filled(15, 0), bare.last = bare.saved = NULL;
            forward(&bare);
            check_same("y", bare.y, m.y, m.n);
            bare.saved = m.saved, bare.dstart = NULL;
            backward(&bare);
            check_same("dz", bare.dz, m.dz, m.nz);
            const problem none = problem_of((smx_recurrent){1, 0, 5}, gru, 1, 1); // no rows: the state stays
            forward(&none);
            backward(&none);
            check_same("last", none.last, none.start, none.ns);
            check_same("dstart", none.dstart, none.dlast, none.ns);
            check_done();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_oracle), cmocka_unit_test(in_two_parts),
                                       cmocka_unit_test(causal_words), cmocka_unit_test(saturated),
                                       cmocka_unit_test(left_out)};
    return cmocka_run_group_tests_name("recurrent", tests, NULL, NULL);
}
