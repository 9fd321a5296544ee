// digest_by_hand.h: the cases of the kernels that kernels.txt leaves to it (`by hand`): products of matrices,
// and a program that takes every step there is. Included by digest.c only.
#include "kernels/recurrent/program.h"

// Never two draws in one call: compilers choose the order of arguments.
static void run_gemm(run *r) {
    static const struct {
        size_t m, n, k;
    } shapes[] = {{1, 1, 1},    {5, 7, 3},    {12, 32, 16}, {13, 33, 17},
                  {24, 64, 40}, {31, 9, 300}, {50, 21, 520}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned flags = 0; flags < 8; flags++) {
            begin(r);
            const size_t m = shapes[s].m, n = shapes[s].n, k = shapes[s].k;
            const size_t lda = (flags & SMX_TRANS_A ? m : k) + 3, ldb = (flags & SMX_TRANS_B ? k : n) + 1,
                         ldc = n + 2;
            float *a = unit(r, (flags & SMX_TRANS_A ? k : m) * lda),
                  *b = unit(r, (flags & SMX_TRANS_B ? n : k) * ldb);
            float *c = unit(r, m * ldc);
            smx_gemm(c, a, b, scratch(r, smx_gemm_scratch_bytes(m, n, k)), m, n, k, lda, ldb, ldc, flags);
            out(r, "c", c, m * ldc);
        }
}

enum { STATE_S, STATE_N, IN_Q, IN_C, IN_S, HALF, WEIGHT_W }; // registers
static uint16_t register_as(program *p, program_kind kind, size_t rows, size_t cols, uint16_t of) {
    p->registers[p->n_registers] = (program_register){.rows = (uint32_t)rows,
                                                      .cols = (uint32_t)cols,
                                                      .kind = (uint8_t)kind,
                                                      .of = of,
                                                      .number = 0.5f,
                                                      .stride = kind == PROGRAM_INPUT ? (uint32_t)cols : 0,
                                                      .group = 1};
    return (uint16_t)p->n_registers++;
}
// Of up to three registers; the operands that are scalars beside a result that is not are marked.
static uint16_t add_step(program *p, program_op op, size_t rows, size_t cols, size_t operands, uint16_t a,
                         uint16_t b, uint16_t c) {
    const uint16_t in[] = {a, b, c};
    program_step *s = &p->steps[p->n_steps++];
    *s = (program_step){.op = (uint8_t)op, .operands = (uint8_t)operands, .in = {a, b, c}};
    for (size_t i = 0; i < operands && op <= PROGRAM_SELECT; i++)
        if (p->registers[in[i]].rows * p->registers[in[i]].cols == 1 && rows * cols > 1)
            s->scalar |= (uint8_t)(1u << i);
    return s->out = register_as(p, PROGRAM_STEP, rows, cols, 0);
}
static void every_step(program *p, size_t heads, size_t k, size_t v) {
#define VECTOR(op, n, a, b, c) add_step(p, PROGRAM_##op, 1, v, n, a, b, c)
#define MATRIX(op, n, a, b, c) add_step(p, PROGRAM_##op, k, v, n, a, b, c)
    memset(p, 0, sizeof *p);
    p->heads = heads;
    register_as(p, PROGRAM_STATE, k, v, 0);
    register_as(p, PROGRAM_STATE, 1, v, 0);
    register_as(p, PROGRAM_INPUT, 1, k, 0);
    register_as(p, PROGRAM_INPUT, 1, v, 1);
    register_as(p, PROGRAM_INPUT, 1, 1, 2);
    register_as(p, PROGRAM_NUMBER, 1, 1, 0);
    register_as(p, PROGRAM_WEIGHT, v, v, 3);
    const uint16_t gate = add_step(p, PROGRAM_SIGMOID, 1, k, 1, IN_Q, 0, 0),
                   R = MATRIX(ROWS, 2, gate, STATE_S, 0);
    const uint16_t u = VECTOR(VECMAT, 2, IN_Q, R, 0), d = VECTOR(SUB, 2, IN_C, u, 0),
                   e = VECTOR(MUL, 2, d, IN_S, 0);
    const uint16_t S1 = MATRIX(ADD_OUTER, 3, R, IN_Q, e),
                   m = add_step(p, PROGRAM_MATVEC, 1, k, 2, S1, IN_C, 0);
    const uint16_t S2 = MATRIX(SUB_OUTER, 3, S1, m, IN_C), th = VECTOR(TANH, 1, IN_C, 0, 0);
    const uint16_t S3 = MATRIX(COLUMNS, 2, S2, th, 0), T = add_step(p, PROGRAM_TRANSPOSE, v, k, 1, S3, 0, 0);
    const uint16_t MM = add_step(p, PROGRAM_MATMUL, v, v, 2, T, S3, 0), w = VECTOR(VECMAT, 2, STATE_N, MM, 0);
    const uint16_t w2 = VECTOR(VECMAT, 2, w, WEIGHT_W, 0), plus = VECTOR(SOFTPLUS, 1, w2, 0, 0);
    const uint16_t si = VECTOR(SILU, 1, IN_C, 0, 0), ex = VECTOR(EXP, 1, th, 0, 0),
                   sum = VECTOR(ADD, 2, plus, ex, 0);
    const uint16_t lg = VECTOR(LOG, 1, sum, 0, 0), root = VECTOR(SQRT, 1, sum, 0, 0),
                   ratio = VECTOR(DIV, 2, lg, root, 0);
    const uint16_t most = VECTOR(MAX, 2, ratio, si, 0), least = VECTOR(MIN, 2, most, ex, 0);
    const uint16_t relu = VECTOR(RELU, 1, least, 0, 0), size = VECTOR(ABS, 1, w2, 0, 0);
    const uint16_t minus = VECTOR(NEGATE, 1, size, 0, 0), chosen = VECTOR(SELECT, 3, IN_C, relu, minus);
    const uint16_t top = add_step(p, PROGRAM_LARGEST, 1, 1, 1, chosen, 0, 0),
                   below = VECTOR(SUB, 2, chosen, top, 0);
    const uint16_t y = VECTOR(TANH, 1, below, 0, 0), all = add_step(p, PROGRAM_SUM, 1, 1, 1, y, 0, 0);
    const uint16_t dot = add_step(p, PROGRAM_DOT, 1, 1, 2, y, IN_C, 0), o = MATRIX(OUTER, 2, gate, y, 0);
    const uint16_t half = MATRIX(MUL, 2, o, HALF, 0), flat = MATRIX(TANH, 1, S3, 0, 0),
                   both = MATRIX(ADD, 2, flat, half, 0);
    const uint16_t S = MATRIX(COPY, 1, both, 0, 0), moved = VECTOR(ADD, 2, y, dot, 0),
                   n = VECTOR(TANH, 1, moved, 0, 0);
#undef VECTOR
#undef MATRIX
    p->n_states = 2;
    p->states[0] = (program_state){.in = STATE_S, .out = S, .learned = -1, .start = 0.25f};
    p->states[1] = (program_state){.in = STATE_N, .out = n, .learned = 4};
    const uint16_t outputs[] = {y, m, all};
    for (size_t i = 0; i < 3; i++) {
        p->outputs[p->n_outputs++] = (program_output){.from = outputs[i], .column = (uint32_t)p->out_columns};
        p->out_columns += heads * p->registers[outputs[i]].cols;
    }
    p->n_inputs = 3;
    p->n_arrays = 5;
    const size_t columns[] = {heads * k, heads * v, heads, v * v, heads * v};
    for (size_t i = 0; i < 5; i++) p->columns[i] = (uint32_t)columns[i];
    smx_program_plan(p);
}
static void whole_program(run *r, const int backward) {
    static const struct { size_t k, v, L; } cases[] = {{3, 5, 1}, {16, 17, 3}, {3, 2, 70}, {33, 32, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(r);
        const size_t B = 2, H = 2, L = cases[i].L;
        program *p = scratch(r, sizeof *p);
        every_step(p, H, cases[i].k, cases[i].v);
        float *in[5], *din[5];
        for (size_t a = 0; a < 5; a++) {
            const size_t n = a < 3 ? B * L * p->columns[a] : p->columns[a];
            in[a] = unit(r, n);
            din[a] = a < 3 ? blank(r, n) : unit(r, n);
        }
        float *y = blank(r, B * L * p->out_columns), *saved = blank(r, B * smx_program_saved_floats(L, p));
        float *carried = blank(r, B * smx_program_state_floats(p));
        void *work = scratch(r, smx_program_fwd_scratch_bytes(p));
        smx_program_fwd(y, saved, carried, (const float *const *)in, work, 0, B, L, p);
        if (!backward) {
            out(r, "y", y, B * L * p->out_columns);
            continue;
        }
        smx_program_bwd(din, unit(r, B * L * p->out_columns), (const float *const *)in, saved,
                        scratch(r, smx_program_bwd_scratch_bytes(L, p)), B, L, p);
        for (size_t a = 0; a < 5; a++)
            out(r, "gradient", din[a], a < 3 ? B * L * p->columns[a] : p->columns[a]);
    }
}
static void run_program_fwd(run *r) { whole_program(r, 0); }
static void run_program_bwd(run *r) { whole_program(r, 1); }
