// ceilings.c: what this machine can at most: rows of arithmetic in registers and of memory,
// for every instruction set of ceilings.def.
#include "rows.h"

#include <stdio.h>
#include <string.h>

#define ISA(name)                                                                                            \
    double bench_ceiling_##name(size_t n, float z);                                                          \
    void bench_triad_##name(float *restrict a, const float *b, const float *c, float s, size_t n);
#include "ceilings.def"
#undef ISA
static const struct {
    const char *isa;
    double (*ceiling)(size_t, float);
    void (*triad)(float *restrict, const float *, const float *, float, size_t);
} ceilings[] = {
#define ISA(name) {#name, bench_ceiling_##name, bench_triad_##name},
#include "ceilings.def"
#undef ISA
};
enum { N_CEILINGS = sizeof ceilings / sizeof *ceilings };

static volatile float zero; // keeps the compiler from knowing the constants
// zen4 is a mixture of two widths with one ceiling.
static int is(size_t i, const char *isa) {
    return !strcmp(ceilings[i].isa, strcmp(isa, "zen4") ? isa : "avx512");
}
double bench_ceiling(const char *isa, size_t n) {
    for (size_t i = 0; i < N_CEILINGS; i++)
        if (is(i, isa)) return ceilings[i].ceiling(n, zero);
    return 0.0;
}
void bench_triad(const char *isa, float *a, const float *b, const float *c, float s, size_t n) {
    for (size_t i = 0; i < N_CEILINGS; i++)
        if (is(i, isa)) ceilings[i].triad(a, b, c, s, n);
}

// a: rounds, which ceiling
static int open_ceiling(bench_row *r, smx_error *error) {
    (void)error;
    r->a[0] = 20000;
    return 0;
}
static void run_ceiling(bench_row *r) { r->flops = ceilings[r->a[1]].ceiling(r->a[0], zero); }
// a: floats of one array
static int open_triad(bench_row *r, smx_error *error) {
    (void)error;
    const size_t n = r->a[0];
    r->flops = 2.0 * (double)n;
    r->moved = 12.0 * (double)n;
    return bench_floats(r, 0, n) && bench_floats(r, 1, n) && bench_floats(r, 2, n) ? 0 : -1;
}
static void run_triad(bench_row *r) { bench_triad(smx_isa(), r->x[0], r->x[1], r->x[2], 0.5f, r->a[0]); }

static int usable(const char *isa) { // "avx2fma" counts as avx2 with fused instructions
    if (smx_fast_isa() && !strcmp(smx_fast_isa(), isa)) return 1;
    const size_t n = strcspn(isa, "f");
    const int fused = isa[n] && strlen(isa) > n + 2;
#if defined(__x86_64__)
    if (fused && !__builtin_cpu_supports("fma")) return 0;
#else
    (void)fused; // x86's name for it
#endif
    for (size_t i = 0; smx_isa_name(i); i++)
        if (strlen(smx_isa_name(i)) == n && !strncmp(smx_isa_name(i), isa, n)) return 1;
    return 0;
}

void bench_add_ceilings(void) {
    char name[96];
    for (size_t i = 0; i < N_CEILINGS; i++) {
        if (!usable(ceilings[i].isa)) continue;
        snprintf(name, sizeof name, "ceiling/%s", ceilings[i].isa);
        bench_add(name, open_ceiling, run_ceiling)->a[1] = i;
    }
    bench_add("triad/0.75MB", open_triad, run_triad)->a[0] = 62464;
    bench_add("triad/12MB", open_triad, run_triad)->a[0] = 1000000;
    bench_add("triad/192MB", open_triad, run_triad)->a[0] = 16000000;
}
