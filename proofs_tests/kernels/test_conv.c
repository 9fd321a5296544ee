// test_conv.c: both short convolutions against the oracle: lengths around the row tile, taps around the tap
// tile and past L, look-ahead, padded rows, groups from one to D, and directional differences.
#include "proofs_tests/support/check.h"
#include <seqmix/ref.h>

// Sums of up to W (forward) or L (gradient of f) products in [-1, 1]: an error of sqrt(terms) eps is typical,
// and terms eps the limit. Relative to the largest output.
static double tolerance(size_t terms) { return 6e-8 * (4 + 2 * sqrt((double)terms)); }

typedef struct {
    size_t B, L, D, groups, W, future, extra; // extra floats in each row of x; y has twice as many
} conv_shape;
static const conv_shape shapes[] = {
    {1, 1, 1, 1, 1, 0, 0},      {1, 1, 16, 1, 3, 0, 0},    {2, 3, 5, 1, 4, 0, 1},
    {2, 7, 16, 2, 3, 0, 0},     {1, 8, 16, 16, 3, 0, 4},   {3, 9, 17, 17, 3, 0, 0},
    {2, 17, 24, 3, 8, 0, 3},    {2, 16, 32, 2, 9, 0, 0},   {1, 64, 32, 2, 3, 0, 64},
    {2, 64, 64, 4, 21, 0, 0},   {1, 40, 48, 3, 64, 0, 0},  {2, 65, 12, 4, 17, 0, 7},
    {1, 33, 8, 2, 7, 3, 0},     {2, 30, 16, 4, 43, 21, 5}, {1, 5, 32, 1, 15, 14, 0},
    {2, 10, 20, 20, 25, 12, 2}, {1, 300, 16, 1, 4, 0, 0},  {1, 515, 20, 5, 10, 4, 0},
    {1, 270, 33, 3, 300, 0, 0}, {0, 9, 16, 1, 3, 0, 0},    {2, 0, 16, 1, 3, 0, 0},
};

typedef struct {
    const conv_shape *s;
    const double *x, *f, *weights;
    double *y;
} conv_context;
static size_t rows_x(const conv_shape *s) { return s->B * s->L * (s->D + s->extra); }
static size_t rows_y(const conv_shape *s) { return s->B * s->L * (s->D + 2 * s->extra); }
static double conv_inner(const conv_context *c, const double *x, const double *f) {
    const conv_shape *s = c->s;
    for (size_t i = 0; i < rows_y(s); i++) c->y[i] = 0.0;
    ref_conv_fwd(c->y, x, f, s->B, s->L, s->D, s->groups, s->W, s->future, s->D + s->extra,
                 s->D + 2 * s->extra);
    return check_inner(c->weights, c->y, rows_y(s));
}
static double conv_of_x(const double *x, void *p) { return conv_inner(p, x, ((conv_context *)p)->f); }
static double conv_of_f(const double *f, void *p) { return conv_inner(p, ((conv_context *)p)->x, f); }

static void conv(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const conv_shape *s = shapes; s < shapes + CHECK_COUNT(shapes); s++) {
            check_trying("conv B=%zu L=%zu D=%zu groups=%zu W=%zu future=%zu extra=%zu", s->B, s->L, s->D,
                         s->groups, s->W, s->future, s->extra);
            const size_t ldx = s->D + s->extra, ldy = s->D + 2 * s->extra, nx = rows_x(s), ny = rows_y(s);
            const smx_conv p = {s->B, s->L, s->D, s->groups, s->W, s->future, ldx, ldy};
            const size_t nf = s->groups * s->W, bytes = smx_conv_scratch_bytes(&p);
            float *x = check_random(nx, -1, 1), *f = check_random(nf, -1, 1), *dy = check_random(ny, -1, 1);
            // What stands between rows must stay: the same 0.5 on both sides.
            float *y = check_filled(ny, 0.5f), *dx = check_filled(nx, 0.5f), *df = check_random(nf, -1, 1);
            float *df_only = check_copy(df, nf), *dx_only = check_filled(nx, 0.5f);
            double *xd = check_widen(x, nx), *fd = check_widen(f, nf), *dyd = check_widen(dy, ny);
            double *want_y = check_widen(y, ny), *want_dx = check_widen(dx, nx),
                   *want_df = check_widen(df, nf);
            ref_conv_fwd(want_y, xd, fd, s->B, s->L, s->D, s->groups, s->W, s->future, ldx, ldy);
            ref_conv_bwd(want_dx, want_df, dyd, xd, fd, s->B, s->L, s->D, s->groups, s->W, s->future, ldx,
                         ldy);

            smx_conv_fwd(y, x, f, check_scratch(bytes), &p);
            check_close("y", y, want_y, ny, tolerance(s->W), 0);
            smx_conv_bwd(dx, df, dy, x, f, check_scratch(bytes), &p);
            check_close("dx", dx, want_dx, nx, tolerance(s->W), 0);
            check_close("df", df, want_df, nf, tolerance(s->B * s->L * s->D / s->groups), 0);
            smx_conv_bwd(dx_only, NULL, dy, x, f, check_scratch(bytes), &p);
            check_same("dx without df", dx_only, dx, nx);
            smx_conv_bwd(NULL, df_only, dy, x, f, check_scratch(bytes), &p);
            check_same("df without dx", df_only, df, nf);

            // The gaps between rows are no part of the loss.
            for (size_t i = 0; i < ny; i++)
                if (i % ldy >= s->D) dyd[i] = 0.0;
            for (size_t i = 0; i < nx; i++)
                if (i % ldx >= s->D) dx[i] = 0.0f;
            float *df_zero = check_filled(nf, 0.0f);
            smx_conv_bwd(NULL, df_zero, dy, x, f, check_scratch(bytes), &p);
            conv_context c = {s, xd, fd, dyd, check_doubles(ny)};
            check_direction("dx", conv_of_x, &c, x, dx, nx, 1e-5);
            check_direction("df", conv_of_f, &c, f, df_zero, nf, 1e-4);
            check_done();
        }
    }
}

// Calling for the batch or for one sequence after the other gives the same words: callers may split it.
static void conv_batch_splits(void **state) {
    (void)state;
    enum { B = 3, L = 29, D = 24, G = 3, W = 5, N = L * D };
    CHECK_EACH_ISA(isa) {
        check_trying("conv_bwd of %d sequences", B);
        const smx_conv all = {B, L, D, G, W, 0, D, D}, one = {1, L, D, G, W, 0, D, D};
        const size_t bytes = smx_conv_scratch_bytes(&all);
        float *x = check_random(B * N, -1, 1), *f = check_random(G * W, -1, 1),
              *dy = check_random(B * N, -1, 1);
        float *dx = check_floats(B * N), *df = check_filled(G * W, 0), *dx1 = check_floats(B * N);
        float *df1 = check_filled(G * W, 0);
        smx_conv_bwd(dx, df, dy, x, f, check_scratch(bytes), &all);
        for (int b = 0; b < B; b++)
            smx_conv_bwd(dx1 + b * N, df1, dy + b * N, x + b * N, f, check_scratch(bytes), &one);
        check_same("dx", dx1, dx, B * N);
        check_same("df", df1, df, G * W);
        check_done();
    }
}

typedef struct {
    size_t B, L, D, H, W, extra;
} heads_shape;
static const heads_shape head_shapes[] = {
    {1, 1, 1, 1, 1, 0},    {1, 1, 4, 4, 3, 0},    {2, 3, 6, 2, 5, 1},    {2, 8, 16, 4, 3, 0},
    {1, 17, 20, 5, 4, 0},  {2, 16, 32, 2, 3, 3},  {1, 64, 32, 4, 3, 64}, {2, 33, 24, 8, 21, 0},
    {1, 40, 63, 7, 64, 0}, {1, 300, 18, 9, 2, 0}, {1, 65, 48, 6, 7, 5},  {0, 5, 8, 2, 3, 0},
    {2, 0, 8, 2, 3, 0},
};
typedef struct {
    const heads_shape *s;
    const double *x, *f, *weights;
    double *y;
} heads_context;
static double heads_inner(const heads_context *c, const double *x, const double *f) {
    const heads_shape *s = c->s;
    const size_t n = s->B * s->L * (s->D + 2 * s->extra);
    for (size_t i = 0; i < n; i++) c->y[i] = 0.0;
    ref_conv_heads_fwd(c->y, x, f, s->B, s->L, s->D, s->H, s->W, s->D + s->extra, s->D + 2 * s->extra);
    return check_inner(c->weights, c->y, n);
}
static double heads_of_x(const double *x, void *p) { return heads_inner(p, x, ((heads_context *)p)->f); }
static double heads_of_f(const double *f, void *p) { return heads_inner(p, ((heads_context *)p)->x, f); }

static void conv_heads(void **state) {
    (void)state;
    CHECK_EACH_ISA(isa) {
        for (const heads_shape *s = head_shapes; s < head_shapes + CHECK_COUNT(head_shapes); s++) {
            check_trying("conv_heads B=%zu L=%zu D=%zu H=%zu W=%zu extra=%zu", s->B, s->L, s->D, s->H, s->W,
                         s->extra);
            const size_t ldx = s->D + s->extra, ldy = s->D + 2 * s->extra, nx = s->B * s->L * ldx,
                         ny = s->B * s->L * ldy;
            const smx_conv_heads p = {s->B, s->L, s->D, s->H, s->W, ldx, ldy};
            const size_t nf = s->W * s->H * s->H, bytes = smx_conv_heads_scratch_bytes(&p);
            float *x = check_random(nx, -1, 1), *f = check_random(nf, -1, 1), *dy = check_random(ny, -1, 1);
            float *y = check_filled(ny, 0.5f), *dx = check_filled(nx, 0.5f), *df = check_random(nf, -1, 1);
            float *df_only = check_copy(df, nf), *dx_only = check_filled(nx, 0.5f);
            double *xd = check_widen(x, nx), *fd = check_widen(f, nf), *dyd = check_widen(dy, ny);
            double *want_y = check_widen(y, ny), *want_dx = check_widen(dx, nx),
                   *want_df = check_widen(df, nf);
            ref_conv_heads_fwd(want_y, xd, fd, s->B, s->L, s->D, s->H, s->W, ldx, ldy);
            ref_conv_heads_bwd(want_dx, want_df, dyd, xd, fd, s->B, s->L, s->D, s->H, s->W, ldx, ldy);

            smx_conv_heads_fwd(y, x, f, check_scratch(bytes), &p);
            check_close("y", y, want_y, ny, tolerance(s->W * s->H), 0);
            smx_conv_heads_bwd(dx, df, dy, x, f, check_scratch(bytes), &p);
            check_close("dx", dx, want_dx, nx, tolerance(s->W * s->H), 0);
            check_close("df", df, want_df, nf, tolerance(s->B * s->L * s->D / s->H), 0);
            smx_conv_heads_bwd(dx_only, NULL, dy, x, f, check_scratch(bytes), &p);
            check_same("dx without df", dx_only, dx, nx);
            smx_conv_heads_bwd(NULL, df_only, dy, x, f, check_scratch(bytes), &p);
            check_same("df without dx", df_only, df, nf);

            for (size_t i = 0; i < ny; i++)
                if (i % ldy >= s->D) dyd[i] = 0.0;
            for (size_t i = 0; i < nx; i++)
                if (i % ldx >= s->D) dx[i] = 0.0f;
            float *df_zero = check_filled(nf, 0.0f);
            smx_conv_heads_bwd(NULL, df_zero, dy, x, f, check_scratch(bytes), &p);
            heads_context c = {s, xd, fd, dyd, check_doubles(ny)};
            check_direction("dx", heads_of_x, &c, x, dx, nx, 1e-5);
            check_direction("df", heads_of_f, &c, f, df_zero, nf, 1e-4);
            check_done();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv),
        cmocka_unit_test(conv_batch_splits),
        cmocka_unit_test(conv_heads),
    };
    return cmocka_run_group_tests_name("conv", tests, NULL, NULL);
}
