// test_nan.c: a NaN is seen. Maxima pass it over, so each kernel with one in it is asked: a row of logits
// that are NaN gives NaN, forward and backward, whole and row by row, and the other rows keep their words.
#include "kernels/recurrent/program.h"
#include "model/ops/ops.h"
#include "proofs_tests/support/check.h"

enum { L = 61, H = 2 };

static int all_nan(const float *x, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += isnan(x[i]) != 0;
    return count == n;
}

// o and dq of `row`, of every head, must be NaN; all other rows of o as in `want`, of dq finite.
static void only_row(const char *what, const float *got, const float *want, size_t row, size_t D) {
    if (!all_nan(got + row * D, D)) check_fail("%s of row %zu is %g", what, row, (double)got[row * D]);
    check_same(what, got, want, row * D);
    check_same(what, got + (row + 1) * D, want + (row + 1) * D, (L - row - 1) * D);
}

typedef struct {
    const char *name;
    size_t d, chunk, pool, sliding;
    int causal, tables;
} kind;
static const kind kinds[] = {
    {"attention", 16, 0, 0, 0, 1, 0}, {"attention, 5 columns", 5, 0, 0, 0, 1, 0},
    {"both ways", 16, 0, 0, 0, 0, 0}, {"chunks", 16, 30, 0, 0, 1, 0},
    {"LaS", 16, 0, 5, 0, 1, 1},       {"a sliding window", 16, 0, 0, 20, 1, 0},
};

static smx_attention shape_of(const kind *of, const float *table) {
    return (smx_attention){.B = 1,
                           .L = L,
                           .D = H * of->d,
                           .H = H,
                           .stride = H * of->d,
                           .causal = of->causal,
                           .scale = 0.3f,
                           .decay_table = of->tables ? table : NULL,
                           .chunk = of->chunk,
                           .pool_window = of->pool,
                           .sliding = of->sliding};
}

typedef struct {
    float *o, *stats, *dq, *dk, *dv;
} result;
static result attend(const float *q, const float *k, const float *v, const float *dout,
                     const smx_attention *p) {
    const size_t n = L * p->D;
    const result r = {check_floats(n), check_floats(2 * H * L), check_floats(n), check_floats(n),
                      check_floats(n)};
    smx_attention_fwd(r.o, r.stats, q, k, v, check_scratch(smx_attention_fwd_scratch_bytes(p)), p);
    smx_attention_bwd(r.dq, r.dk, r.dv, dout, q, k, v, r.o, r.stats,
                      check_scratch(smx_attention_bwd_scratch_bytes(p)), p);
    return r;
}

static void queries(void **state) {
    (void)state;
    static const size_t rows[] = {0, 1, 15, 23, 24, 47, 60};
    CHECK_EACH_ISA(isa)
    for (size_t a = 0; a < CHECK_COUNT(kinds); a++)
        for (size_t b = 0; b < CHECK_COUNT(rows); b++) {
            const kind *of = kinds + a;
            const size_t row = rows[b], D = H * of->d, n = L * D;
            check_seed(77);
            check_trying("%s, q of row %zu is NaN", of->name, row);
            float *q = check_random(n, -1, 1), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1);
            const float *dout = check_random(n, -1, 1), *table = check_random(H * (2 * L - 1), 0.1, 1);
            const smx_attention p = shape_of(of, table);
            const result sound = attend(q, k, v, dout, &p);
            for (size_t h = 0; h < H; h++) q[row * D + h * of->d + of->d / 2] = NAN; // one column is enough
            const result got = attend(q, k, v, dout, &p);
            only_row("o", got.o, sound.o, row, D);
            only_row("dq", got.dq, sound.dq, row, D);
            if (!all_nan(got.dk + row * D, D) || !all_nan(got.dv + row * D, D))
                check_fail("the gradients of its own key and value are numbers");
            if (of->causal) { // row by row, one at a time and seven
                for (size_t step = 1; step <= 7; step += 6) {
                    float *kept = check_filled(smx_attention_kept_floats(&p), 0), *o = check_floats(n);
                    void *scratch = check_scratch(smx_attention_push_scratch_bytes(&p));
                    for (size_t t = 0; t < L; t += step)
                        smx_attention_push(o + t * D, kept, q + t * D, k + t * D, v + t * D, scratch, t,
                                           L - t < step ? L - t : step, &p);
                    only_row("o of row by row", o, sound.o, row, D);
                }
            }
            if (!of->pool) {
                const float mix[H * H] = {1, 0.5f, 0.25f, 1};
                float *o = check_floats(n), *dmix = check_filled(H * H, 0), *dq = check_floats(n);
                smx_attention_maps_fwd(o, got.stats, q, k, v, mix,
                                       check_scratch(smx_attention_maps_fwd_scratch_bytes(&p)), &p);
                smx_attention_maps_bwd(dq, got.dk, got.dv, dmix, dout, q, k, v, mix, got.stats,
                                       check_scratch(smx_attention_maps_bwd_scratch_bytes(&p)), &p);
                if (!all_nan(o + row * D, D) || !all_nan(dq + row * D, D) || !all_nan(dmix, H * H))
                    check_fail("mixed maps say nothing of it");
            }
            check_done();
        }
}

// What is not finite in a later key stays out of every earlier row of o; in a later value, of those more than
// 23 and half a pool before it (smx.h), and of all of them row by row.
static void later_rows(void **state) {
    (void)state;
    static const float values[] = {NAN, INFINITY, -INFINITY};
    CHECK_EACH_ISA(isa)
    for (size_t a = 0; a < CHECK_COUNT(kinds); a++)
        for (size_t i = 0; i < 3 * L; i++) {
            const kind *of = kinds + a;
            const size_t row = i / 3, D = H * of->d, n = L * D, apart = 23 + of->pool / 2;
            if (!of->causal) continue;
            check_seed(80);
            check_trying("%s, a later row %zu is %g", of->name, row, (double)values[i % 3]);
            float *qkv[3] = {check_random(n, -1, 1), check_random(n, -1, 1), check_random(n, -1, 1)};
            const float *dout = check_random(n, -1, 1), *table = check_random(H * (2 * L - 1), 0.1, 1);
            const smx_attention p = shape_of(of, table);
            const result sound = attend(qkv[0], qkv[1], qkv[2], dout, &p);
            for (int k = 1; k < 3; k++) {
                float before[16 * H], *at = qkv[k] + row * D, *o = check_floats(n);
                memcpy(before, at, D * sizeof *at);
                for (size_t c = 0; c < D; c++) at[c] = values[i % 3];
                const size_t kept = k == 1 ? row : row > apart ? row - apart : 0;
                const result got = attend(qkv[0], qkv[1], qkv[2], dout, &p);
                check_same("o of earlier rows", got.o, sound.o, kept * D);
                float *carried = check_filled(smx_attention_kept_floats(&p), 0);
                void *scratch = check_scratch(smx_attention_push_scratch_bytes(&p));
                for (size_t t = 0; t < row; t++)
                    smx_attention_push(o + t * D, carried, qkv[0] + t * D, qkv[1] + t * D, qkv[2] + t * D,
                                       scratch, t, 1, &p);
                check_same("o of earlier rows, row by row", o, sound.o, row * D);
                memcpy(at, before, D * sizeof *at);
            }
            check_done();
        }
}

static void landmarks(void **state) {
    (void)state;
    enum { D = 16, BLOCK = 8 };
    static const size_t rows[] = {0, 7, 8, 30, 60};
    CHECK_EACH_ISA(isa)
    for (size_t b = 0; b < CHECK_COUNT(rows); b++) {
        const size_t row = rows[b], n = L * D;
        check_seed(78);
        check_trying("landmarks, q of row %zu is NaN", row);
        const smx_landmark p = {.B = 1, .L = L, .D = D, .H = H, .stride = D, .block = BLOCK, .scale = 0.3f};
        float *q = check_random(n, -1, 1), *k = check_random(n, -1, 1), *v = check_random(n, -1, 1);
        const float *marks = check_random(n, -1, 1), *dout = check_random(n, -1, 1);
        float *o[2], *dq[2], *dk = check_floats(n), *dv = check_floats(n);
        for (int i = 0; i < 2; i++) {
            float *stats = check_floats(2 * H * L);
            int32_t *chosen = check_ints(H * L);
            o[i] = check_floats(n), dq[i] = check_floats(n);
            for (size_t h = 0; h < H && i; h++) q[row * D + h * D / H] = NAN;
            smx_landmark_fwd(o[i], stats, chosen, q, k, v, marks,
                             check_scratch(smx_landmark_fwd_scratch_bytes(&p)), &p);
            smx_landmark_bwd(dq[i], dk, dv, dout, q, k, v, o[i], stats, chosen,
                             check_scratch(smx_landmark_bwd_scratch_bytes(&p)), &p);
        }
        only_row("o", o[1], o[0], row, D);
        only_row("dq", dq[1], dq[0], row, D);
        check_done();
    }
}

// A NaN in a key, value or landmark: every row of the head that sees it, and no earlier one.
static void landmarks_of_nan(void **state) {
    (void)state;
    enum { D = 16, BLOCK = 8, N = L * D };
    CHECK_EACH_ISA(isa)
    for (size_t mark = BLOCK - 1; mark < L; mark += BLOCK) {
        check_seed(79);
        check_trying("the landmark of row %zu is NaN", mark);
        const smx_landmark p = {.B = 1, .L = L, .D = D, .H = H, .stride = D, .block = BLOCK, .scale = 0.3f};
        const float *q = check_random(N, -1, 1), *k = check_random(N, -1, 1), *v = check_random(N, -1, 1);
        float *marks = check_random(N, -1, 1), *o = check_floats(N), *dq = check_floats(N);
        float *stats = check_floats(2 * H * L), *dk = check_floats(N), *dv = check_floats(N);
        int32_t *chosen = check_ints(H * L);
        marks[mark * D + 3] = NAN; // of the first head
        smx_landmark_fwd(o, stats, chosen, q, k, v, marks, check_scratch(smx_landmark_fwd_scratch_bytes(&p)),
                         &p);
        smx_landmark_bwd(dq, dk, dv, q, q, k, v, o, stats, chosen,
                         check_scratch(smx_landmark_bwd_scratch_bytes(&p)), &p);
        for (size_t i = 0; i < N; i++) {
            const int seen = i / D / BLOCK > mark / BLOCK && i % D < D / H;
            if (isnan(o[i]) != seen || isnan(dq[i]) != seen) check_fail("row %zu: %g", i / D, (double)o[i]);
        }
        check_done();
    }
}

// One step of a program, entry by entry, an operand of which is NaN in one entry. (What chooses between two
// is compared with 0, no more.)
static void steps_of_programs(void **state) {
    (void)state;
    enum { V = 19, ROWS = 3, AT = V + 7 };
    static program list;
    program *p = &list;
    CHECK_EACH_ISA(isa)
    for (size_t op = PROGRAM_COPY; op <= PROGRAM_SELECT; op++)
        for (size_t k = op == PROGRAM_SELECT; k < PROGRAM_OPERANDS; k++) {
            const size_t operands = op == PROGRAM_SELECT ? 3 : op >= PROGRAM_ADD ? 2 : 1;
            if (k >= operands) continue;
            check_trying("step %zu, operand %zu", op, k);
            memset(p, 0, sizeof *p);
            p->heads = 1;
            for (size_t i = 0; i <= operands; i++)
                p->registers[i] = (program_register){.rows = 1,
                                                     .cols = V,
                                                     .kind = i < operands ? PROGRAM_INPUT : PROGRAM_STEP,
                                                     .of = (uint16_t)i,
                                                     .stride = V,
                                                     .group = 1};
            p->steps[0] = (program_step){
                .op = (uint8_t)op, .operands = (uint8_t)operands, .in = {0, 1, 2}, .out = (uint16_t)operands};
            p->outputs[0] = (program_output){.from = (uint16_t)operands};
            p->n_registers = operands + 1, p->n_steps = p->n_outputs = 1, p->out_columns = V;
            p->n_inputs = p->n_arrays = operands;
            for (size_t i = 0; i < operands; i++) p->columns[i] = V;
            smx_program_plan(p);
            float *in[3];
            for (size_t i = 0; i < operands; i++)
                in[i] = check_random(ROWS * V, 0.1, 2); // above 0: select's b
            if (op == PROGRAM_SELECT && k == 2) in[0][AT] = -1;
            in[k][AT] = NAN;
            float *y = check_floats(ROWS * V);
            smx_program_fwd(y, NULL, NULL, (const float *const *)in,
                            check_scratch(smx_program_fwd_scratch_bytes(p)), 0, 1, ROWS, p);
            for (size_t i = 0; i < ROWS * V; i++)
                if (isnan(y[i]) != (i == AT)) check_fail("entry %zu is %g", i, (double)y[i]);
            check_done();
        }
}

static void losses(void **state) {
    (void)state;
    enum { N = 3 };
    CHECK_EACH_ISA(isa)
    for (size_t V = 1; V < 40; V += 7)
        for (int whole = 0; whole < 2; whole++) {
            check_trying("cross-entropy over %zu, %s NaN", V, whole ? "all" : "one of them");
            float *x = check_random(N * V, -1, 1), *dx = check_floats(N * V), loss[N], stats[2 * N];
            const int32_t target[N] = {0, 0, (int32_t)V - 1};
            for (size_t c = whole ? 0 : V - 1; c < V; c++) x[V + c] = NAN;
            smx_cross_entropy_fwd(loss, stats, x, target, N, V);
            smx_cross_entropy_bwd(dx, x, target, stats, N, V, 1);
            if (!isnan(loss[1]) || !all_nan(dx + V, V)) check_fail("the loss is %g", (double)loss[1]);
            for (size_t i = 0; i < V; i++)
                if (isnan(loss[0]) || isnan(loss[2]) || isnan(dx[i]) || isnan(dx[2 * V + i]))
                    check_fail("another row is NaN");
            check_done();
        }
}

static void bins(void **state) {
    (void)state;
    enum { D = 19, BINS = 3, O = 2, R = 24 };
    CHECK_EACH_ISA(isa)
    for (size_t row = 0; row < R; row++) {
        check_trying("the largest of each bin, row %zu is NaN", row);
        float *x = check_random(R * D, -1, 1), *e = check_floats(BINS * O * D), *dx = check_floats(R * D);
        const float *de = check_filled(BINS * O * D, 1);
        int32_t *where = check_ints(BINS * O * D);
        for (size_t c = 0; c < D; c++) x[row * D + c] = NAN;
        if (row + 1 < R) x[(row + 1) * D] = NAN; // the first stays
        smx_maxpool_fwd(e, where, x, 1, R, D, BINS, O);
        smx_maxpool_bwd(dx, de, where, 1, R, D, BINS, O);
        for (size_t w = 0; w < BINS * O; w++)
            for (size_t c = 0; c < D; c++) {
                const size_t at = (w / O * D + c) * O + w % O, per = R / (BINS * O);
                const int second = c == 0 && row + 1 < R && (row + 1) / per == w && row / per != w;
                if (row / per == w ? !isnan(e[at]) || where[at] != (int32_t)row : !second && isnan(e[at]))
                    check_fail("window %zu, column %zu: %g of row %d", w, c, (double)e[at], where[at]);
            }
        check_done();
    }
}

// Of operations without a kernel: the larger of two, entry by entry, of which either may be NaN.
static void larger_of_two(void **state) {
    (void)state;
    enum { ROWS = 6, D = 2 };
    params p = {.seed = 0};
    smx_error error = {.message = ""};
    graph *g = graph_new(GRAPH_TRAIN, &p, 1, ROWS);
    float *values = check_random(ROWS * D, -1, 1);
    values[3 * D] = values[3 * D + 1] = NAN;
    g->values = values;
    tensor *start = graph_param(g, "x", (init){INIT_CONSTANT, 0}, 0, 2, (uint32_t[]){ROWS, D});
    tensor *x = op_bias(g, op_values(g, D), start);
    tensor *y = op_max(g, x, op_shift(g, x, 1)); // the shifted is NaN a row later
    if (g->failed || params_create(&p, 1, &error) || graph_plan(g, y, &error)) fail_msg("%s", error.message);
    graph_forward(g);
    check_trying("max(x, shift(x))");
    for (size_t i = 0; i < ROWS * D; i++)
        if (isnan(y->data[i]) != (i / D == 3 || i / D == 4))
            check_fail("row %zu is %g", i / D, (double)y->data[i]);
    graph_free(g);
    params_free(&p);
    check_done();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(queries),
                                       cmocka_unit_test(later_rows),
                                       cmocka_unit_test(landmarks),
                                       cmocka_unit_test(landmarks_of_nan),
                                       cmocka_unit_test(steps_of_programs),
                                       cmocka_unit_test(losses),
                                       cmocka_unit_test(bins),
                                       cmocka_unit_test(larger_of_two)};
    return cmocka_run_group_tests_name("nan", tests, NULL, NULL);
}
