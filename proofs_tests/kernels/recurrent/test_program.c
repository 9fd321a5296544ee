// test_program.c: a program whose states are a h + b runs many rows at a time (program_columns.h) with the
// bits of row by row: random programs of every step that works entry by entry, forward, backward, continued,
// with widths around whole registers; and which programs are taken.
#include "kernels/recurrent/program.h"
#include "proofs_tests/support/check.h"

static size_t below(size_t n) { return (size_t)(check_next() % n); }
static uint16_t add_register(program *p, program_kind kind, size_t cols) {
    p->registers[p->n_registers] =
        (program_register){.rows = 1, .cols = (uint32_t)cols, .kind = (uint8_t)kind, .group = 1};
    return (uint16_t)p->n_registers++;
}
static uint16_t add_step(program *p, program_op op, size_t operands, const uint16_t *in, size_t cols) {
    program_step *s = &p->steps[p->n_steps++];
    *s = (program_step){.op = (uint8_t)op, .operands = (uint8_t)operands};
    for (size_t i = 0; i < operands; i++) {
        s->in[i] = in[i];
        if (cols > 1 && p->registers[in[i]].cols == 1) s->scalar |= (uint8_t)(1u << i);
    }
    return s->out = add_register(p, PROGRAM_STEP, cols);
}
// A step of what is known already; LOG, SQRT and DIV of what is positive, so that few entries are NaN.
static uint16_t draw_step(program *p, const uint16_t *known, size_t n, size_t cols) {
    static const uint8_t operands[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3};
    const program_op op = (program_op)below(PROGRAM_SELECT + 1);
    uint16_t in[3];
    for (size_t i = 0; i < 3; i++) in[i] = known[below(n)];
    if (operands[op] > 1 && p->registers[in[0]].kind == PROGRAM_NUMBER) in[1] = known[0]; // an input
    if (operands[op] == 1 && p->registers[in[0]].kind == PROGRAM_NUMBER) in[0] = known[0];
    if (op == PROGRAM_LOG || op == PROGRAM_SQRT) in[0] = add_step(p, PROGRAM_SIGMOID, 1, in, cols);
    if (op == PROGRAM_DIV && p->registers[in[1]].kind != PROGRAM_NUMBER)
        in[1] = add_step(p, PROGRAM_SOFTPLUS, 1, in + 1, cols);
    return add_step(p, op, operands[op], in, cols);
}
enum { INPUTS = 3, MOST = 64 };
// Heads of `cols` columns; some arrays are read by every head alike, or in two parts.
static void draw_program(program *p, size_t heads, size_t cols) {
    memset(p, 0, sizeof *p);
    p->heads = heads;
    uint16_t known[MOST], all[MOST], states[2], ends[2];
    size_t n = 0, m = 0;
    p->n_states = 1 + below(2);
    for (size_t i = 0; i < INPUTS; i++) {
        const uint16_t r = add_register(p, PROGRAM_INPUT, cols);
        const size_t shared = i == 2 && below(2);
        p->registers[r].of = (uint16_t)i;
        p->registers[r].stride = shared ? 0 : (uint32_t)cols;
        p->columns[i] = (uint32_t)(shared ? cols : heads * cols);
        p->summed[i] = shared && heads > 1;
        known[n++] = r;
    }
    const uint16_t number = add_register(p, PROGRAM_NUMBER, 1);
    p->registers[number].number = 0.75f;
    known[n++] = number;
    for (size_t i = 0; i < p->n_states; i++) states[i] = add_register(p, PROGRAM_STATE, cols);
    p->n_inputs = p->n_arrays = INPUTS;
    for (size_t i = 0, k = below(4); i < k; i++) known[n] = draw_step(p, known, n, cols), n++;
    for (size_t i = 0; i < p->n_states; i++) {
        uint16_t a = known[below(n)], b = known[below(n)];
        if (a == number) a = known[0];
        if (b == number) b = known[1];
        a = add_step(p, PROGRAM_SIGMOID, 1, &a, cols);
        const uint16_t faded[] = {below(2) ? a : states[i], 0};
        const uint16_t pair[] = {faded[0], faded[0] == a ? states[i] : a};
        const uint16_t old = add_step(p, PROGRAM_MUL, 2, pair, cols);
        if (below(2)) known[n] = draw_step(p, known, n, cols), b = known[n], n++;
        if (i && !below(3)) b = ends[0]; // (another state: not by columns)
        const uint16_t sum[] = {below(2) ? old : b, 0}, both[] = {sum[0], sum[0] == old ? b : old};
        ends[i] = add_step(p, PROGRAM_ADD, 2, both, cols);
        p->states[i] = (program_state){.in = states[i], .out = ends[i], .learned = -1, .start = 0.5f};
    }
    if (below(2)) {
        p->states[0].learned = INPUTS;
        p->columns[p->n_arrays++] = (uint32_t)(heads * cols);
    }
    memcpy(all, known, n * sizeof *all), m = n;
    for (size_t i = 0; i < p->n_states; i++) all[m++] = ends[i];
    if (!below(3)) all[m++] = states[0]; // (the state before: not by columns)
    for (size_t i = 0, k = below(4); i < k; i++) all[m] = draw_step(p, all, m, cols), m++;
    for (size_t i = 0, k = 1 + below(2); i < k; i++) {
        uint16_t from = i ? (uint16_t)(p->n_registers - 1) : ends[below(p->n_states)];
        if (i && from == p->outputs[0].from) break;
        p->outputs[p->n_outputs++] = (program_output){.from = from, .column = (uint32_t)p->out_columns};
        p->out_columns += heads * cols;
    }
    smx_program_plan(p);
}

typedef struct {
    float *y, *carried, *din[PROGRAM_ARRAYS];
} result;
static size_t size_of(const program *p, size_t i, size_t B, size_t L) {
    return i < p->n_inputs ? B * L * p->columns[i] : p->columns[i];
}
static result run(const program *p, const float *const *in, const float *dy, size_t B, size_t L, size_t cut) {
    result r = {.y = check_floats(B * L * p->out_columns),
                .carried = check_floats(B * smx_program_state_floats(p))};
    float *saved = check_floats(B * smx_program_saved_floats(L, p));
    void *scratch = check_scratch(smx_program_fwd_scratch_bytes(p));
    smx_program_fwd(r.y, saved, NULL, in, scratch, 0, B, L, p);
    for (size_t i = 0; i < p->n_arrays; i++) {
        const size_t n = size_of(p, i, B, L);
        r.din[i] = i == 1 ? NULL : i < p->n_inputs ? check_floats(n) : check_filled(n, 0.25f);
    }
    smx_program_bwd(r.din, dy, in, saved, check_scratch(smx_program_bwd_scratch_bytes(L, p)), B, L, p);
    if (B == 1 && cut) { // read in two pieces
        float *y = check_floats(L * p->out_columns);
        const float *rest[PROGRAM_ARRAYS];
        for (size_t i = 0; i < p->n_arrays; i++)
            rest[i] = in[i] + (i < p->n_inputs ? cut * p->columns[i] : 0);
        smx_program_fwd(y, NULL, r.carried, in, scratch, 0, 1, cut, p);
        smx_program_fwd(y + cut * p->out_columns, NULL, r.carried, rest, scratch, cut, 1, L - cut, p);
        check_same("y in pieces", y, r.y, L * p->out_columns);
    } else {
        memset(r.carried, 0, B * smx_program_state_floats(p) * sizeof(float));
    }
    return r;
}
static void columns_are_rows(void **state) {
    (void)state;
    static const size_t widths[] = {1, 5, 16, 17, 64, 70}, lengths[] = {1, 2, 15, 16, 17, 50};
    static program p, rows;
    CHECK_EACH_ISA(isa) {
        size_t taken = 0, left = 0;
        check_seed(41);
        for (size_t i = 0; i < 400; i++) {
            const size_t cols = widths[below(6)], L = lengths[below(6)], B = 1 + below(2),
                         heads = 1 + below(2);
            draw_program(&p, heads, cols);
            check_trying("program %zu: %zu heads of %zu columns, %zu rows, %zu steps", i, heads, cols, L,
                         p.n_steps);
            if (!p.by_columns) {
                left++;
                continue;
            }
            taken++;
            rows = p;
            rows.by_columns = 0;
            rows.segment = 64;
            float *in[PROGRAM_ARRAYS];
            for (size_t k = 0; k < p.n_arrays; k++) in[k] = check_random(size_of(&p, k, B, L), -2, 2);
            float *dy = check_random(B * L * p.out_columns, -1, 1);
            for (size_t k = 0; k < B * L * p.out_columns; k++) // zeros keep their sign
                if (dy[k] > 0.0f) dy[k] = (const float[]){0.0f, -0.0f, -0x1p-149f}[below(3)];
            const size_t cut = L > 1 ? 1 + below(L - 1) : 0;
            const result got = run(&p, (const float *const *)in, dy, B, L, cut),
                         want = run(&rows, (const float *const *)in, dy, B, L, cut);
            check_same("y", got.y, want.y, B * L * p.out_columns);
            check_same("carried", got.carried, want.carried, B * smx_program_state_floats(&p));
            for (size_t k = 0; k < p.n_arrays; k++)
                if (got.din[k]) check_same("a gradient", got.din[k], want.din[k], size_of(&p, k, B, L));
            check_done();
        }
        check_trying("400 programs");
        if (taken < 150 || left < 20) check_fail("%zu by columns, %zu row by row", taken, left);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
