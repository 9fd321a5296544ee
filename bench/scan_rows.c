// scan_rows.c: a recurrence as a program (kernels/recurrent/program.h), forward and backward, beside code
// written by hand that computes the same: a plain C loop, and for the delta rule the kernel.
#include "kernels/recurrent/program.h"
#include "rows.h"

#include <seqmix/smx.h>

#include <math.h>
#include <stdio.h>

enum { COLUMNS = 64, INPUTS = 3 }; // known to the compiler, as in code for one shape
// What is computed of up to three inputs, each row by row, COLUMNS of them states.
typedef struct {
    size_t inputs;
    program p;
    void (*fwd)(float *h, const float *const *in, size_t L);
    void (*bwd)(float *const *din, const float *dh, const float *const *in, const float *h, size_t L);
} recurrence;

static uint16_t add_register(program *p, program_kind kind, size_t rows, size_t cols, float number) {
    p->registers[p->n_registers] = (program_register){
        .rows = (uint32_t)rows, .cols = (uint32_t)cols, .kind = (uint8_t)kind, .number = number, .group = 1};
    return (uint16_t)p->n_registers++;
}
// A step of up to three operands; of steps that work entry by entry one may be a scalar.
static uint16_t add_step(program *p, program_op op, size_t rows, size_t cols, size_t operands, uint16_t a,
                         uint16_t b, uint16_t c) {
    const program_register *first = &p->registers[a];
    const int scalar = op <= PROGRAM_SELECT && operands == 2 && first->cols == 1 && cols > 1;
    const uint16_t out = add_register(p, PROGRAM_STEP, rows, cols, 0.0f);
    p->steps[p->n_steps++] = (program_step){.out = out,
                                            .in = {a, b, c},
                                            .op = (uint8_t)op,
                                            .operands = (uint8_t)operands,
                                            .scalar = (uint8_t)scalar};
    return out;
}
static uint16_t unary(program *p, program_op op, uint16_t a) {
    return add_step(p, op, 1, p->registers[a].cols, 1, a, 0, 0);
}
static uint16_t binary(program *p, program_op op, uint16_t a, uint16_t b) {
    return add_step(p, op, 1, p->registers[b].cols, 2, a, b, 0);
}
// Inputs are registers 0 on, then the state; h = decay h + gain is the last step.
static void end_program(program *p, size_t inputs, uint16_t decay, uint16_t gain) {
    const uint16_t faded = binary(p, PROGRAM_MUL, decay, (uint16_t)inputs);
    const uint16_t out = binary(p, PROGRAM_ADD, faded, gain);
    p->heads = p->n_states = p->n_outputs = 1;
    p->out_columns = COLUMNS;
    p->n_inputs = p->n_arrays = inputs;
    p->states[0] = (program_state){.in = (uint16_t)inputs, .out = out, .learned = -1};
    p->outputs[0] = (program_output){.from = out};
    smx_program_plan(p);
}
static void begin_program(program *p, size_t inputs) {
    for (size_t i = 0; i < inputs; i++) {
        p->registers[add_register(p, PROGRAM_INPUT, 1, COLUMNS, 0.0f)].of = (uint16_t)i;
        p->columns[i] = COLUMNS;
    }
    add_register(p, PROGRAM_STATE, 1, COLUMNS, 0.0f);
}

// minGRU: h_t = (1 - z_t) h_{t-1} + z_t c_t
static void mingru_fwd(float *restrict h, const float *const *in, size_t L) {
    const float *restrict z = in[0], *restrict c = in[1];
    for (size_t j = 0; j < COLUMNS; j++) h[j] = z[j] * c[j];
    for (size_t j = COLUMNS; j < L * COLUMNS; j++) h[j] = (1.0f - z[j]) * h[j - COLUMNS] + z[j] * c[j];
}
static void mingru_bwd(float *const *din, const float *restrict dh, const float *const *in,
                       const float *restrict h, size_t L) {
    const float *restrict z = in[0], *restrict c = in[1];
    float *restrict dz = din[0], *restrict dc = din[1], carry[COLUMNS] = {0.0f};
    for (size_t t = L; t-- > 0;)
        for (size_t i = 0; i < COLUMNS; i++) {
            const size_t j = t * COLUMNS + i;
            const float d = carry[i] + dh[j], before = t ? h[j - COLUMNS] : 0.0f;
            dc[j] = d * z[j];
            dz[j] = d * c[j] - d * before;
            carry[i] = d * (1.0f - z[j]);
        }
}
static recurrence *mingru(void) {
    static recurrence r = {.inputs = 2, .fwd = mingru_fwd, .bwd = mingru_bwd};
    program *p = &r.p;
    if (p->n_steps) return &r;
    begin_program(p, 2);
    const uint16_t one = add_register(p, PROGRAM_NUMBER, 1, 1, 1.0f);
    const uint16_t rest = binary(p, PROGRAM_SUB, one, 0), gain = binary(p, PROGRAM_MUL, 0, 1);
    end_program(p, 2, rest, gain);
    return &r;
}

// RG-LRU: h_t = e^g_t h_{t-1} + sqrt(1 - e^(2 g_t)) i_t u_t, g below 0
static void rglru_fwd(float *restrict h, const float *const *in, size_t L) {
    const float *restrict g = in[0], *restrict i = in[1], *restrict u = in[2];
    for (size_t j = 0; j < L * COLUMNS; j++) {
        const float before = j < COLUMNS ? 0.0f : h[j - COLUMNS];
        h[j] = expf(g[j]) * before + sqrtf(1.0f - expf(2.0f * g[j])) * i[j] * u[j];
    }
}
static void rglru_bwd(float *const *din, const float *restrict dh, const float *const *in,
                      const float *restrict h, size_t L) {
    const float *restrict g = in[0], *restrict i = in[1], *restrict u = in[2];
    float *restrict dg = din[0], *restrict di = din[1], *restrict du = din[2], carry[COLUMNS] = {0.0f};
    for (size_t t = L; t-- > 0;)
        for (size_t k = 0; k < COLUMNS; k++) {
            const size_t j = t * COLUMNS + k;
            const float d = carry[k] + dh[j], before = t ? h[j - COLUMNS] : 0.0f;
            const float a = expf(g[j]), square = expf(2.0f * g[j]), root = sqrtf(1.0f - square);
            du[j] = d * (root * i[j]);
            di[j] = d * u[j] * root;
            dg[j] = -2.0f * (d * u[j] * i[j] * 0.5f / root * square) + d * before * a;
            carry[k] = d * a;
        }
}
static recurrence *rglru(void) {
    static recurrence r = {.inputs = 3, .fwd = rglru_fwd, .bwd = rglru_bwd};
    program *p = &r.p;
    if (p->n_steps) return &r;
    begin_program(p, 3);
    const uint16_t one = add_register(p, PROGRAM_NUMBER, 1, 1, 1.0f),
                   two = add_register(p, PROGRAM_NUMBER, 1, 1, 2.0f);
    const uint16_t decay = unary(p, PROGRAM_EXP, 0), twice = binary(p, PROGRAM_MUL, two, 0);
    const uint16_t square = unary(p, PROGRAM_EXP, twice), rest = binary(p, PROGRAM_SUB, one, square);
    const uint16_t root = unary(p, PROGRAM_SQRT, rest), gate = binary(p, PROGRAM_MUL, root, 1);
    end_program(p, 3, decay, binary(p, PROGRAM_MUL, gate, 2));
    return &r;
}

// a: B, L, which. x: 0 h, 1 dh, 2 saved, then inputs, then their gradients.
static recurrence *recurrence_of(const bench_row *r) { return r->a[2] ? rglru() : mingru(); }
static int open_scan(bench_row *r, smx_error *error) {
    (void)error;
    const size_t B = r->a[0], L = r->a[1], n = B * L * COLUMNS;
    const recurrence *q = recurrence_of(r);
    for (size_t i = 0; i < 3 + 2 * q->inputs; i++)
        if (i != 2 && !bench_floats(r, i, n)) return -1;
    for (size_t i = 0; i < n; i++) // z in 0..1, g below 0
        r->x[3][i] = r->a[2] ? -0.5f + 0.499f * r->x[3][i] : 0.5f + 0.499f * r->x[3][i];
    const size_t forward = smx_program_fwd_scratch_bytes(&q->p),
                 backward = smx_program_bwd_scratch_bytes(L, &q->p);
    if (!bench_floats(r, 2, B * smx_program_saved_floats(L, &q->p))) return -1;
    return bench_scratch(r, forward > backward ? forward : backward);
}
static void check(bench_row *r) {
    double s = 0.0;
    for (size_t k = 0; k < 3 + 2 * recurrence_of(r)->inputs; k += k ? 1 : 3)
        for (size_t i = 0; i < r->a[0] * r->a[1] * COLUMNS; i++)
            s += (double)r->x[k][i] * (double)(i % 7 + k);
    r->check = s;
}
static void run_scan(bench_row *r) {
    const size_t B = r->a[0], L = r->a[1];
    const recurrence *q = recurrence_of(r);
    const float *const *in = (const float *const *)(r->x + 3);
    smx_program_fwd(r->x[0], r->x[2], NULL, in, r->scratch, 0, B, L, &q->p);
    smx_program_bwd(r->x + 3 + q->inputs, r->x[1], in, r->x[2], r->scratch, B, L, &q->p);
    if (r->check == 0.0) check(r);
}
static void run_loop(bench_row *r) {
    const size_t B = r->a[0], L = r->a[1], n = L * COLUMNS;
    const recurrence *q = recurrence_of(r);
    const float *in[INPUTS];
    float *din[INPUTS];
    for (size_t backward = 0; backward < 2; backward++)
        for (size_t b = 0; b < B; b++) {
            for (size_t i = 0; i < q->inputs; i++)
                in[i] = r->x[3 + i] + b * n, din[i] = r->x[3 + q->inputs + i] + b * n;
            if (backward)
                q->bwd(din, r->x[1] + b * n, in, r->x[0] + b * n, L);
            else
                q->fwd(r->x[0] + b * n, in, L);
        }
    if (r->check == 0.0) check(r);
}
// ---- The delta rule with a gate a channel -----------------------------------------------------------------
// S = diag(e^g) S;  S += k (beta (v - S^T k))^T;  y = S^T q. a: B, L, H, d, kernel.
// 0 y, 1 dy, 2 saved, then q, k, v, beta, g and their gradients.
enum { DELTA_ROWS = 3, DELTA_INPUTS = 5 };
static const program *delta_program(size_t H, size_t d) {
    static program made[2];
    program *p = &made[d > 16];
    if (p->n_steps) return p;
    uint16_t in[DELTA_INPUTS];
    for (size_t i = 0; i < DELTA_INPUTS; i++) {
        const size_t cols = i == 3 ? 1 : d;
        in[i] = add_register(p, PROGRAM_INPUT, 1, cols, 0.0f);
        p->registers[in[i]].of = (uint16_t)i;
        p->registers[in[i]].stride = (uint32_t)cols;
        p->columns[i] = (uint32_t)(H * cols);
    }
    const uint16_t S = add_register(p, PROGRAM_STATE, d, d, 0.0f), a = unary(p, PROGRAM_EXP, in[4]);
    const uint16_t R = add_step(p, PROGRAM_ROWS, d, d, 2, a, S, 0);
    const uint16_t u = binary(p, PROGRAM_SUB, in[2], binary(p, PROGRAM_VECMAT, in[1], R));
    const uint16_t w = binary(p, PROGRAM_MUL, in[3], u);
    const uint16_t out = add_step(p, PROGRAM_ADD_OUTER, d, d, 3, R, in[1], w);
    const uint16_t y = binary(p, PROGRAM_VECMAT, in[0], out);
    p->heads = H, p->n_states = p->n_outputs = 1;
    p->out_columns = H * d;
    p->n_inputs = p->n_arrays = DELTA_INPUTS;
    p->states[0] = (program_state){.in = S, .out = out, .learned = -1};
    p->outputs[0] = (program_output){.from = y};
    smx_program_plan(p);
    return p;
}
static smx_state delta_shape(const bench_row *r) {
    return (smx_state){.B = r->a[0],
                       .L = r->a[1],
                       .H = r->a[2],
                       .dk = r->a[3],
                       .dv = r->a[3],
                       .gates = SMX_GATES_CHANNEL,
                       .scale = 1.0f};
}
static int open_delta(bench_row *r, smx_error *error) {
    (void)error;
    const size_t B = r->a[0], L = r->a[1], H = r->a[2], d = r->a[3], N = B * L * H;
    const program *q = delta_program(H, d);
    const smx_state p = delta_shape(r);
    const size_t saved = B * (r->a[4] ? smx_state_floats(L, H, d, d) : smx_program_saved_floats(L, q));
    for (size_t i = 0; i < DELTA_ROWS + 2 * DELTA_INPUTS; i++)
        if (!bench_floats(r, i, i == 2 ? saved : N * ((i - DELTA_ROWS) % DELTA_INPUTS == 3 && i > 2 ? 1 : d)))
            return -1;
    for (size_t i = 0; i < N * d; i++) r->x[7][i] = (r->x[7][i] - 1.0f) / 32.0f; // -1/16..0
    for (size_t i = 0; i < N; i++) {
        float *k = r->x[4] + i * d, square = 0.0f;
        for (size_t c = 0; c < d; c++) square += k[c] * k[c];
        for (size_t c = 0; c < d; c++) k[c] /= sqrtf(square);
        r->x[6][i] = 0.5f + 0.5f * r->x[6][i];
    }
    const size_t sizes[] = {smx_state_fwd_scratch_bytes(&p), smx_state_bwd_scratch_bytes(&p),
                            smx_program_fwd_scratch_bytes(q), smx_program_bwd_scratch_bytes(L, q)};
    size_t most = 0;
    for (size_t i = 0; i < 4; i++) most = sizes[i] > most ? sizes[i] : most;
    return bench_scratch(r, most);
}
static void run_delta(bench_row *r) {
    const program *q = delta_program(r->a[2], r->a[3]);
    const smx_state p = delta_shape(r);
    float *const *x = r->x + DELTA_ROWS, *const *dx = x + DELTA_INPUTS;
    if (r->a[4]) {
        const smx_state_rows rows = {.q = x[0], .k = x[1], .v = x[2], .beta = x[3], .g = x[4]};
        const smx_state_gradients grads = {.q = dx[0], .k = dx[1], .v = dx[2], .beta = dx[3], .g = dx[4]};
        smx_delta_fwd(r->x[0], NULL, r->x[2], &rows, NULL, r->scratch, &p);
        smx_delta_bwd(&grads, NULL, r->x[1], NULL, &rows, r->x[2], r->scratch, &p);
    } else {
        const float *const *in = (const float *const *)x;
        smx_program_fwd(r->x[0], r->x[2], NULL, in, r->scratch, 0, p.B, p.L, q);
        smx_program_bwd(dx, r->x[1], in, r->x[2], r->scratch, p.B, p.L, q);
    }
    if (r->check == 0.0)
        for (size_t k = 0; k < DELTA_INPUTS; k++)
            for (size_t i = 0; i < p.B * p.L * p.H * (k == 3 ? 1 : p.dk); i++)
                r->check += (double)dx[k][i] * (double)(i % 7 + k);
}
void bench_add_scans(void) {
    for (size_t d = 16; d <= 64; d += 48)
        for (size_t kernel = 0; kernel < 2; kernel++) {
            char name[96];
            snprintf(name, sizeof name, "scan delta rule%s B4 L4096 H4 d%zu", kernel ? ", the kernel" : "",
                     d);
            bench_row *r = bench_add(name, open_delta, run_delta);
            r->a[0] = r->a[2] = 4, r->a[1] = 4096, r->a[3] = d, r->a[4] = kernel;
            r->target = kernel ? NULL : "<= 3 x the kernel";
        }
    static const char *const name[2][2] = {{"scan minGRU B4 L4096 D64", "scan minGRU, a plain C loop"},
                                           {"scan RG-LRU B4 L4096 D64", "scan RG-LRU, a plain C loop"}};
    for (size_t which = 0; which < 2; which++)
        for (size_t loop = 0; loop < 2; loop++) {
            bench_row *r = bench_add(name[which][loop], open_scan, loop ? run_loop : run_scan);
            r->a[0] = 4, r->a[1] = 4096, r->a[2] = which;
            r->target = loop ? NULL : "<= 2 x a plain C loop";
        }
}
