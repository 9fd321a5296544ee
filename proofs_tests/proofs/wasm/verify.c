// verify.c: the exports of verify.wasm: the proofs and errata as the native tests have them, one test at a
// time, and the constructions as flat functions (pointers, 32-bit sizes and doubles). wasm/loader/verify.ts
// is the only caller. Nothing is computed here. A precision is 0 (float32, kernels) or 1 (double, oracle); a
// result of -1 means no memory.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/audit/audit.h"
#include "model/run/language/language.h"
#include "cmocka.h"
#include "proofs_tests/constructions/constructions.h"

// Where text goes: one call per line.
__attribute__((import_module("env"), import_name("verify_say"))) void verify_say(const char *text);

void *verify_alloc(size_t bytes) { return calloc(bytes ? bytes : 1, 1); }
void verify_free(void *memory) { free(memory); }

// ---- Checks ---------------------------------------------------------------------------------------------
enum { MOST_CHECKS = 128 };
static struct {
    const char *group, *name;
    void (*run)(void **state);
} checks[MOST_CHECKS];
static size_t check_count;

int verify_list(const char *group, const struct CMUnitTest *tests, size_t n) {
    for (size_t i = 0; i < n && check_count < MOST_CHECKS; i++, check_count++) {
        checks[check_count].group = group;
        checks[check_count].name = tests[i].name;
        checks[check_count].run = tests[i].test;
    }
    return 0;
}
void print_message(const char *format, ...) {
    static char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    verify_say(text);
}
_Noreturn void fail_msg(const char *format, ...) {
    static char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    verify_say(text);
    __builtin_trap();
}

#define GROUPS(X)                                                                                            \
    X(proof_las_b1)                                                                                          \
    X(proof_las_smooth)                                                                                      \
    X(proof_cat_thm1)                                                                                        \
    X(proof_cat_cor1)                                                                                        \
    X(proof_cat_thm2) X(proof_cat_thm3) X(proof_cat_prop12) X(proof_focus) X(proof_chela) X(test_errata)
#define DECLARE(file) int verify_main_##file(void);
#define LIST(file) verify_main_##file();
GROUPS(DECLARE)
size_t verify_count(void) {
    if (!check_count) {
        GROUPS(LIST)
    }
    return check_count;
}
const char *verify_group(size_t i) { return i < verify_count() ? checks[i].group : ""; }
const char *verify_name(size_t i) { return i < verify_count() ? checks[i].name : ""; }
// Traps where the check fails.
void verify_run(size_t i) {
    if (i >= verify_count()) fail_msg("there is no check %zu", i);
    checks[i].run(NULL);
}

// ---- Constructions --------------------------------------------------------------------------------------
int verify_las_b1(double *y, double *map, const double *kernel, const double *x, size_t L, size_t D,
                  double slack, unsigned flags, int precision) {
    return con_las_b1(y, map, kernel, x, L, D, slack, flags, precision);
}
// wq [P][H P], P = L + 1, H = 1 or, signed, 2: the part of W_q that speaks of positions
void verify_las_b1_wq(double *wq, const double *kernel, size_t L, double slack, unsigned flags) {
    const int H = flags & CON_B1_SIGNED ? 2 : 1;
    for (int h = 0; h < H; h++) con_las_b1_wq(wq, kernel, L, L + 1, (size_t)H, h, slack, flags);
}
int verify_conv(double *y, const double *x, const double *f, size_t L, size_t D, size_t W, size_t future,
                int precision) {
    return con_conv(y, x, f, L, D, W, future, precision);
}
int verify_recall(double *y, double *map, const double *x, const double *filter, size_t L, size_t D, size_t N,
                  double c, int delay, int mask_starts, int no_norm, int precision) {
    const con_recall m = {.L = L,
                          .D = D,
                          .N = N,
                          .filter = filter,
                          .c = c,
                          .delay = delay,
                          .mask_starts = mask_starts,
                          .no_norm = no_norm};
    return con_recall_fwd(y, map, x, &m, precision);
}
int verify_attention(double *o, double *map, const double *q, const double *k, const double *v, size_t L,
                     size_t D, size_t H, int precision) {
    return con_attention(o, map, q, k, v, NULL, L, D, H, precision);
}
double verify_wrong_cosine(const double *table, size_t V, size_t D, const double *filter, size_t N,
                           int starts) {
    return con_wrong_cosine(table, V, D, filter, N, starts);
}
int verify_copy(int32_t *answer, double *y, double *query, double *map, const int32_t *tokens, size_t length,
                size_t S, size_t L, double epsilon, int precision) {
    const con_copy m = {.S = S, .L = L, .epsilon = epsilon};
    return con_copy_look(answer, y, query, map, tokens, length, &m, precision);
}
double verify_landmark_threshold(size_t L, size_t block, double sigma) {
    return con_landmark_threshold(L, block, sigma);
}
int verify_landmark_trials(size_t L, size_t D, size_t block, double sigma, int rho, double seed, size_t first,
                           size_t trials, int precision) {
    const con_landmark m = {.L = L, .D = D, .block = block, .sigma = sigma, .rho = rho};
    return (int)con_landmark_trials(&m, (uint64_t)seed, first, trials, precision);
}
double verify_pole_radius(double a1, double a2) { return con_pole_radius(a1, a2); }
int verify_focus(double *y, const double *x, const double *theta, size_t L, size_t bins, size_t F, int carry,
                 int precision) {
    return con_focus_filter(y, x, theta, L, bins, F, carry, precision);
}

// ---- Who sees the future --------------------------------------------------------------------------------
static smx_error failure;
const char *verify_error(void) { return failure.message; }
// claimed, measured, draws, rounding; share [L][L] as audit_mixer says, L the config's length,
// at most `rows`. NULL: verify_error.
const double *verify_audit(double *share, size_t rows, const char *text) {
    static double out[4];
    audit_result r;
    config *c = config_parse(text, 0, &failure);
    if (!c) return NULL;
    int status = -1;
    if (c->common.length != rows)
        config_fail(&failure, c, "length", "as long as the map that was asked for");
    else
        status = audit_mixer(&r, share, c, &failure);
    config_free(c);
    if (status) return NULL;
    out[0] = (double)r.claimed;
    out[1] = (double)r.measured;
    out[2] = (double)r.draws;
    out[3] = r.rounding;
    return out;
}
