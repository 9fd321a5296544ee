// scan_rows.c: a recurrence as a program (kernels/recurrent/program.h), forward and backward, beside a plain
// C loop that computes the same: what a scan costs over code written for it by hand.
#include "kernels/recurrent/program.h"
#include "rows.h"

#include <seqmix/smx.h>

#include <stdlib.h>

// minGRU: h_t = (1 - z_t) h_{t-1} + z_t c_t, each of D columns a state. a: B, L, D.
// 0 h, 1 z, 2 c, 3 dh, 4 dz, 5 dc, 6 saved.
static const program *mingru(size_t D) {
    static program p;
    const program_register wide = {.rows = 1, .cols = (uint32_t)D, .group = 1};
    enum { ONE, H, Z, C, REST, OLD, NEW, OUT, REGISTERS };
    p = (program){.heads = 1, .out_columns = D, .n_registers = REGISTERS, .n_inputs = 2, .n_arrays = 2};
    for (size_t i = 0; i < REGISTERS; i++) p.registers[i] = wide;
    p.registers[ONE] = (program_register){.rows = 1, .cols = 1, .kind = PROGRAM_NUMBER, .number = 1.0f};
    p.registers[H].kind = PROGRAM_STATE;
    p.registers[Z].kind = p.registers[C].kind = PROGRAM_INPUT;
    p.registers[C].of = 1;
    for (size_t i = REST; i < REGISTERS; i++) p.registers[i].kind = PROGRAM_STEP;
    p.columns[0] = p.columns[1] = (uint32_t)D;
    p.n_steps = 4;
    p.steps[0] = (program_step){.out = REST, .in = {ONE, Z}, .op = PROGRAM_SUB, .operands = 2, .scalar = 1};
    p.steps[1] = (program_step){.out = OLD, .in = {REST, H}, .op = PROGRAM_MUL, .operands = 2};
    p.steps[2] = (program_step){.out = NEW, .in = {Z, C}, .op = PROGRAM_MUL, .operands = 2};
    p.steps[3] = (program_step){.out = OUT, .in = {OLD, NEW}, .op = PROGRAM_ADD, .operands = 2};
    p.n_states = p.n_outputs = 1;
    p.states[0] = (program_state){.in = H, .out = OUT, .learned = -1};
    p.outputs[0] = (program_output){.from = OUT};
    smx_program_plan(&p);
    return &p;
}
static int open_mingru(bench_row *r, smx_error *error) {
    (void)error;
    const size_t B = r->a[0], L = r->a[1], D = r->a[2];
    const program *p = mingru(D);
    for (size_t i = 0; i < 6; i++)
        if (!bench_floats(r, i, B * L * D)) return -1;
    for (size_t i = 0; i < B * L * D; i++) r->x[1][i] = 0.5f + 0.499f * r->x[1][i];
    const size_t forward = smx_program_fwd_scratch_bytes(p), backward = smx_program_bwd_scratch_bytes(L, p);
    if (!bench_floats(r, 6, B * smx_program_saved_floats(L, p))) return -1;
    return bench_scratch(r, forward > backward ? forward : backward);
}
static void check(bench_row *r) {
    double s = 0.0;
    for (size_t k = 0; k < 6; k += k ? 1 : 4)
        for (size_t i = 0; i < r->a[0] * r->a[1] * r->a[2]; i++)
            s += (double)r->x[k][i] * (double)(i % 7 + k);
    r->check = s;
}
static void run_mingru(bench_row *r) {
    const size_t B = r->a[0], L = r->a[1];
    const program *p = mingru(r->a[2]);
    const float *const in[] = {r->x[1], r->x[2]};
    float *const din[] = {r->x[4], r->x[5]};
    smx_program_fwd(r->x[0], r->x[6], NULL, in, r->scratch, 0, B, L, p);
    smx_program_bwd(din, r->x[3], in, r->x[6], r->scratch, B, L, p);
    if (r->check == 0.0) check(r);
}
enum { COLUMNS = 64 }; // known to the compiler, as in code for one shape
static void loop_fwd(float *restrict h, const float *restrict z, const float *restrict c, size_t L) {
    for (size_t j = 0; j < COLUMNS; j++) h[j] = z[j] * c[j];
    for (size_t j = COLUMNS; j < L * COLUMNS; j++) h[j] = (1.0f - z[j]) * h[j - COLUMNS] + z[j] * c[j];
}
static void loop_bwd(float *restrict dz, float *restrict dc, const float *restrict dh,
                     const float *restrict z, const float *restrict c, const float *restrict h, size_t L) {
    float carry[COLUMNS] = {0.0f};
    for (size_t t = L; t-- > 0;)
        for (size_t i = 0; i < COLUMNS; i++) {
            const size_t j = t * COLUMNS + i;
            const float d = carry[i] + dh[j], before = t ? h[j - COLUMNS] : 0.0f;
            dc[j] = d * z[j];
            dz[j] = d * c[j] - d * before;
            carry[i] = d * (1.0f - z[j]);
        }
}
static void run_loop(bench_row *r) {
    const size_t B = r->a[0], L = r->a[1], n = L * COLUMNS;
    for (size_t i = 0; i < B * n; i += n) loop_fwd(r->x[0] + i, r->x[1] + i, r->x[2] + i, L);
    for (size_t i = 0; i < B * n; i += n)
        loop_bwd(r->x[4] + i, r->x[5] + i, r->x[3] + i, r->x[1] + i, r->x[2] + i, r->x[0] + i, L);
    if (r->check == 0.0) check(r);
}
void bench_add_scans(void) {
    for (size_t loop = 0; loop < 2; loop++) {
        bench_row *r = bench_add(loop ? "scan minGRU, a plain C loop" : "scan minGRU B4 L4096 D64",
                                 open_mingru, loop ? run_loop : run_mingru);
        r->a[0] = 4, r->a[1] = 4096, r->a[2] = COLUMNS;
        r->target = loop ? NULL : "<= 2 x a plain C loop";
    }
}
