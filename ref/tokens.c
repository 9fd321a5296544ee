// tokens.c: what stands before and after the mixers: positions, the token table, pooling over time,
// picking rows.
#include <seqmix/ref.h>

#include <math.h>
#include <string.h>

// Su et al. 2021, Eq. 15: theta_m = base^(-2m/d)
void ref_rope_table(double *cs, size_t L, size_t d, double base) {
    for (size_t t = 0; t < L; t++)
        for (size_t m = 0; m < d / 2; m++) {
            double angle = (double)t * pow(base, -2.0 * (double)m / (double)d);
            cs[(t * (d / 2) + m) * 2] = cos(angle);
            cs[(t * (d / 2) + m) * 2 + 1] = sin(angle);
        }
}

// Pairs (2m, 2m+1) of every head turned by the angle of row t; sign -1 turns back.
static void turn(double *y, const double *x, const double *cs, size_t B, size_t L, size_t D, size_t H,
                 size_t ldx, size_t ldy, double sign) {
    size_t d = D / H;
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t h = 0; h < H; h++)
                for (size_t m = 0; m < d / 2; m++) {
                    double c = cs[(t * (d / 2) + m) * 2], s = sign * cs[(t * (d / 2) + m) * 2 + 1];
                    const double *in = x + (b * L + t) * ldx + h * d + 2 * m;
                    double *out = y + (b * L + t) * ldy + h * d + 2 * m;
                    double u = in[0], v = in[1]; // in place allowed
                    out[0] = u * c - v * s;
                    out[1] = u * s + v * c;
                }
}

void ref_rope_fwd(double *y, const double *x, const double *cs, size_t B, size_t L, size_t D, size_t H,
                  size_t ldx, size_t ldy) {
    turn(y, x, cs, B, L, D, H, ldx, ldy, 1);
}

void ref_rope_bwd(double *dx, const double *dy, const double *cs, size_t B, size_t L, size_t D, size_t H,
                  size_t ldx, size_t ldy) {
    turn(dx, dy, cs, B, L, D, H, ldy, ldx, -1);
}

void ref_sinusoidal(double *y, size_t L, size_t D, double base) {
    for (size_t t = 0; t < L; t++)
        for (size_t c = 0; c < D; c++) {
            double angle = (double)t * pow(base, -(double)(c / 2 * 2) / (double)D);
            y[t * D + c] = c % 2 ? cos(angle) : sin(angle);
        }
}

static int known(int32_t token, size_t V) { return token >= 0 && (size_t)token < V; }

void ref_embedding_fwd(double *y, const double *table, const int32_t *tokens, size_t N, size_t D, size_t V) {
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++)
            y[r * D + c] = known(tokens[r], V) ? table[(size_t)tokens[r] * D + c] : 0;
}

void ref_embedding_bwd(double *dtable, const double *dy, const int32_t *tokens, size_t N, size_t D,
                       size_t V) {
    for (size_t r = 0; r < N; r++)
        if (known(tokens[r], V)) ref_axpy(dtable + (size_t)tokens[r] * D, dy + r * D, 1, D);
}

void ref_meanpool_fwd(double *y, const double *x, size_t B, size_t L, size_t D) {
    memset(y, 0, B * D * sizeof *y);
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++) ref_axpy(y + b * D, x + (b * L + t) * D, 1 / (double)L, D);
}

void ref_meanpool_bwd(double *dx, const double *dy, size_t B, size_t L, size_t D) {
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++) ref_scale(dx + (b * L + t) * D, dy + b * D, 1 / (double)L, D);
}

void ref_gather_fwd(double *y, const double *x, const int32_t *rows, size_t M, size_t N, size_t D) {
    (void)N;
    for (size_t m = 0; m < M; m++)
        if (rows[m] < 0)
            memset(y + m * D, 0, D * sizeof *y);
        else
            memcpy(y + m * D, x + (size_t)rows[m] * D, D * sizeof *y);
}

void ref_gather_bwd(double *dx, const double *dy, const int32_t *rows, size_t M, size_t N, size_t D) {
    memset(dx, 0, N * D * sizeof *dx);
    for (size_t m = 0; m < M; m++)
        if (rows[m] >= 0) memcpy(dx + (size_t)rows[m] * D, dy + m * D, D * sizeof *dx);
}
