// landmark.c: landmark attention on given q, k, v and landmark keys ([CAT] LCAT): each query picks one
// earlier block and attends densely to it and to its own. No gradient flows through the choice.
#include <seqmix/ref.h>

#include <math.h>
#include <string.h>

// box: ones(block); else the powers of 1 - forget
void ref_block_filter_fwd(double *y, const double *x, size_t B, size_t L, size_t D, size_t block,
                          double forget) {
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t c = 0; c < D; c++) {
                const double *in = x + b * L * D + c;
                double *out = y + b * L * D + c, sum = 0;
                for (size_t s = t + 1 < block ? 0 : t + 1 - block; s <= t; s++) sum += in[s * D];
                out[t * D] = forget == 0 ? sum : in[t * D] + (t ? (1 - forget) * out[(t - 1) * D] : 0);
            }
}

void ref_block_filter_bwd(double *dx, const double *dy, size_t B, size_t L, size_t D, size_t block,
                          double forget) {
    for (size_t b = 0; b < B; b++)
        for (size_t t = L; t-- > 0;)
            for (size_t c = 0; c < D; c++) {
                const double *in = dy + b * L * D + c;
                double *out = dx + b * L * D + c, sum = 0;
                for (size_t s = t; s < L && s < t + block; s++) sum += in[s * D];
                out[t * D] =
                    forget == 0 ? sum : in[t * D] + (t + 1 < L ? (1 - forget) * out[(t + 1) * D] : 0);
            }
}

static size_t row_of(const ref_landmark *p, size_t b, size_t h, size_t t) {
    return (b * p->L + t) * p->stride + h * (p->D / p->H);
}

// argmax over the complete earlier blocks of mark . q_i, unscaled; the lowest index wins a tie, -1 if there
// is none
static int32_t choose(const double *q, const double *marks, const ref_landmark *p, size_t b, size_t h,
                      size_t i) {
    int32_t best = -1;
    double top = 0;
    for (size_t block = 0; block < i / p->block; block++) {
        size_t last = (block + 1) * p->block - 1;
        double score = ref_dot(marks + row_of(p, b, h, last), q + row_of(p, b, h, i), p->D / p->H);
        if (best < 0 || score > top) {
            best = (int32_t)block;
            top = score;
        }
    }
    return best;
}

double ref_landmark_lead(const double *q, const double *marks, const ref_landmark *p) {
    double lead = INFINITY, squares = 0;
    size_t scores = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                double best = -INFINITY, next = -INFINITY;
                for (size_t block = 0; block < i / p->block; block++) {
                    size_t last = (block + 1) * p->block - 1;
                    double score =
                        ref_dot(q + row_of(p, b, h, i), marks + row_of(p, b, h, last), p->D / p->H);
                    squares += score * score;
                    scores++;
                    next = fmax(next, fmin(score, best));
                    best = fmax(best, score);
                }
                if (isfinite(next)) lead = fmin(lead, best - next);
            }
    return scores ? lead / sqrt(squares / (double)scores) : INFINITY;
}

static int attended(const ref_landmark *p, size_t i, size_t j, int32_t chosen) {
    return j <= i && (j / p->block == i / p->block || (int64_t)(j / p->block) == chosen);
}

static double logit(const double *q, const double *k, const ref_landmark *p, size_t b, size_t h, size_t i,
                    size_t j) {
    return p->scale * ref_dot(q + row_of(p, b, h, i), k + row_of(p, b, h, j), p->D / p->H);
}

void ref_landmark_fwd(double *o, double *stats, int32_t *chosen, const double *q, const double *k,
                      const double *v, const double *marks, const ref_landmark *p) {
    size_t d = p->D / p->H;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                size_t row = (b * p->H + h) * p->L + i;
                double *out = o + (b * p->L + i) * p->D + h * d, top = -INFINITY, sum = 0;
                int32_t block = chosen[row] = choose(q, marks, p, b, h, i);
                for (size_t j = 0; j <= i; j++)
                    if (attended(p, i, j, block)) top = fmax(top, logit(q, k, p, b, h, i, j));
                for (size_t j = 0; j <= i; j++)
                    if (attended(p, i, j, block)) sum += exp(logit(q, k, p, b, h, i, j) - top);
                stats[2 * row] = top;
                stats[2 * row + 1] = 1 / sum;
                for (size_t e = 0; e < d; e++) out[e] = 0;
                for (size_t j = 0; j <= i; j++)
                    if (attended(p, i, j, block))
                        ref_axpy(out, v + row_of(p, b, h, j), exp(logit(q, k, p, b, h, i, j) - top) / sum, d);
            }
}

void ref_landmark_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                      const double *k, const double *v, const double *o, const double *stats,
                      const int32_t *chosen, const ref_landmark *p) {
    size_t d = p->D / p->H;
    for (size_t r = 0; r < p->B * p->L; r++)
        for (size_t c = 0; c < p->D; c++)
            dq[r * p->stride + c] = dk[r * p->stride + c] = dv[r * p->stride + c] = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                size_t row = (b * p->H + h) * p->L + i, qi = row_of(p, b, h, i);
                const double *grad = dout + (b * p->L + i) * p->D + h * d;
                double mean = ref_dot(grad, o + (b * p->L + i) * p->D + h * d, d);
                for (size_t j = 0; j <= i; j++) {
                    if (!attended(p, i, j, chosen[row])) continue;
                    size_t kj = row_of(p, b, h, j);
                    double a = exp(logit(q, k, p, b, h, i, j) - stats[2 * row]) * stats[2 * row + 1];
                    double ds = a * (ref_dot(grad, v + kj, d) - mean) * p->scale;
                    ref_axpy(dv + kj, grad, a, d);
                    ref_axpy(dq + qi, k + kj, ds, d);
                    ref_axpy(dk + kj, q + qi, ds, d);
                }
            }
}
