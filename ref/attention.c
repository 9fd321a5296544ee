// attention.c: softmax attention on given q, k, v (Vaswani et al. 2017, Eq. 1) with a factor and a bias that
// depend on the distance, chunks, the pooling of [LaS], and maps mixed across heads ([CAT] Table 2). The
// logits are computed anew wherever they are needed, so nothing here takes memory.
#include <seqmix/ref.h>

#include <math.h>

static size_t table_entry(const ref_attention *p, size_t h, size_t i, size_t j) {
    return h * (2 * p->L - 1) + (p->L - 1) + j - i;
}

static size_t row_of(const ref_attention *p, size_t b, size_t h, size_t t) {
    return (b * p->L + t) * p->stride + h * (p->D / p->H);
}

static double logit(const double *q, const double *k, const ref_attention *p, size_t b, size_t h, size_t i,
                    size_t j) {
    double s = p->scale * ref_dot(q + row_of(p, b, h, i), k + row_of(p, b, h, j), p->D / p->H);
    if (p->decay_table) s *= p->decay_table[table_entry(p, h, i, j)];
    if (p->bias) s += p->bias[table_entry(p, h, i, j)];
    return s;
}

// Row i attends to the rows first .. end-1.
static size_t row_first(const ref_attention *p, size_t i) {
    const size_t chunk = p->chunk ? i / p->chunk * p->chunk : 0;
    const size_t window = p->sliding && i + 1 > p->sliding ? i + 1 - p->sliding : 0;
    return window > chunk ? window : chunk;
}

static size_t row_end(const ref_attention *p, size_t i) {
    if (p->causal) return i + 1;
    size_t end = p->chunk ? i / p->chunk * p->chunk + p->chunk : p->L;
    return end < p->L ? end : p->L;
}

static void row_stats(double *max, double *rsum, const double *q, const double *k, const ref_attention *p,
                      size_t b, size_t h, size_t i) {
    double top = -INFINITY, sum = 0;
    for (size_t j = row_first(p, i); j < row_end(p, i); j++) {
        double l = logit(q, k, p, b, h, i, j);
        if (l > top || isnan(l)) top = l;
    }
    if (top == -INFINITY) { // nothing may be attended to
        *max = *rsum = 0;
        return;
    }
    for (size_t j = row_first(p, i); j < row_end(p, i); j++) sum += exp(logit(q, k, p, b, h, i, j) - top);
    *max = top;
    *rsum = 1 / sum;
}

static const double *stats_of(const double *stats, const ref_attention *p, size_t b, size_t h, size_t i) {
    return stats + ((b * p->H + h) * p->L + i) * 2;
}

// A_ij from the saved maximum and sum
static double weight(const double *q, const double *k, const double *stats, const ref_attention *p, size_t b,
                     size_t h, size_t i, size_t j) {
    const double *st = stats_of(stats, p, b, h, i);
    return st[1] == 0 ? 0 : exp(logit(q, k, p, b, h, i, j) - st[0]) * st[1];
}

// The columns near[0] .. near[1] that share the value of column m with it: AP(A)_ij = (1/P) sum over |j - m|
// <= (P-1)/2, then j <= i; without pooling m alone.
static void pooled_columns(size_t near[2], const ref_attention *p, size_t i, size_t m) {
    size_t half = p->pool_window ? p->pool_window / 2 : 0;
    near[0] = m - row_first(p, i) > half ? m - half : row_first(p, i);
    near[1] = m + half < row_end(p, i) ? m + half : row_end(p, i) - 1;
}

void ref_attention_fwd(double *o, double *stats, const double *q, const double *k, const double *v,
                       const ref_attention *p) {
    size_t d = p->D / p->H, near[2];
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                double *out = o + (b * p->L + i) * p->D + h * d;
                double *st = stats + ((b * p->H + h) * p->L + i) * 2;
                row_stats(&st[0], &st[1], q, k, p, b, h, i);
                for (size_t e = 0; e < d; e++) out[e] = 0;
                for (size_t m = row_first(p, i); m < row_end(p, i); m++) {
                    double a =
                        weight(q, k, stats, p, b, h, i, m) / (double)(p->pool_window ? p->pool_window : 1);
                    pooled_columns(near, p, i, m);
                    for (size_t j = near[0]; j <= near[1]; j++) ref_axpy(out, v + row_of(p, b, h, j), a, d);
                }
            }
}

// dA_im = (1/P) sum_j do_i . v_j over the columns that share A_im;
// dl_im = A_im (dA_im - do_i . o_i), since sum_m A_im dA_im = do_i . o_i;  ds_im = scale decay dl_im.
void ref_attention_bwd(double *dq, double *dk, double *dv, const double *dout, const double *q,
                       const double *k, const double *v, const double *o, const double *stats,
                       const ref_attention *p) {
    size_t d = p->D / p->H, near[2];
    for (size_t r = 0; r < p->B * p->L; r++)
        for (size_t c = 0; c < p->D; c++)
            dq[r * p->stride + c] = dk[r * p->stride + c] = dv[r * p->stride + c] = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->L; i++) {
                const double *grad = dout + (b * p->L + i) * p->D + h * d;
                double mean = ref_dot(grad, o + (b * p->L + i) * p->D + h * d, d);
                for (size_t m = row_first(p, i); m < row_end(p, i); m++) {
                    double a = weight(q, k, stats, p, b, h, i, m),
                           share = 1 / (double)(p->pool_window ? p->pool_window : 1);
                    double da = 0;
                    pooled_columns(near, p, i, m);
                    for (size_t j = near[0]; j <= near[1]; j++) {
                        da += share * ref_dot(grad, v + row_of(p, b, h, j), d);
                        ref_axpy(dv + row_of(p, b, h, j), grad, a * share, d);
                    }
                    if (a == 0) continue; // also where nothing may be attended to and the logit is infinite
                    double ds = a * (da - mean) * p->scale;
                    if (p->decay_table) ds *= p->decay_table[table_entry(p, h, i, m)];
                    ref_axpy(dq + row_of(p, b, h, i), k + row_of(p, b, h, m), ds, d);
                    ref_axpy(dk + row_of(p, b, h, m), q + row_of(p, b, h, i), ds, d);
                }
            }
}

void ref_attention_map(double *map, const double *q, const double *k, const ref_attention *p, size_t b,
                       size_t head) {
    for (size_t i = 0; i < p->L; i++) {
        double max, rsum;
        row_stats(&max, &rsum, q, k, p, b, head, i);
        for (size_t j = 0; j < p->L; j++) {
            int allowed = j >= row_first(p, i) && j < row_end(p, i) && rsum != 0;
            map[i * p->L + j] = allowed ? exp(logit(q, k, p, b, head, i, j) - max) * rsum : 0;
        }
    }
}

// Softmax backward: dl_ij = A_ij (dA_ij - sum_m A_im dA_im).
void ref_attention_map_bwd(double *dq, double *dk, const double *dmap, const double *map, const double *q,
                           const double *k, const ref_attention *p, size_t b, size_t head) {
    size_t d = p->D / p->H, L = p->L;
    for (size_t i = 0; i < L; i++) {
        double mean = ref_dot(map + i * L, dmap + i * L, L);
        for (size_t j = row_first(p, i); j < row_end(p, i); j++) {
            double ds = map[i * L + j] * (dmap[i * L + j] - mean) * p->scale;
            if (p->decay_table) ds *= p->decay_table[table_entry(p, head, i, j)];
            ref_axpy(dq + row_of(p, b, head, i), k + row_of(p, b, head, j), ds, d);
            ref_axpy(dk + row_of(p, b, head, j), q + row_of(p, b, head, i), ds, d);
        }
    }
}

// o_h = sum_g M_hg A_g V_h
void ref_attention_maps_fwd(double *o, double *stats, const double *q, const double *k, const double *v,
                            const double *mix, const ref_attention *p) {
    size_t d = p->D / p->H, H = p->H;
    for (size_t b = 0; b < p->B; b++) {
        for (size_t h = 0; h < H; h++)
            for (size_t i = 0; i < p->L; i++) {
                double *st = stats + ((b * H + h) * p->L + i) * 2;
                row_stats(&st[0], &st[1], q, k, p, b, h, i);
            }
        for (size_t h = 0; h < H; h++)
            for (size_t i = 0; i < p->L; i++) {
                double *out = o + (b * p->L + i) * p->D + h * d;
                for (size_t e = 0; e < d; e++) out[e] = 0;
                for (size_t j = row_first(p, i); j < row_end(p, i); j++) {
                    double a = 0;
                    for (size_t g = 0; g < H; g++) a += mix[h * H + g] * weight(q, k, stats, p, b, g, i, j);
                    ref_axpy(out, v + row_of(p, b, h, j), a, d);
                }
            }
    }
}

// dA_g,ij = sum_h M_hg do_h,i . v_h,j
static double mixed_grad(const double *dout, const double *v, const double *mix, const ref_attention *p,
                         size_t b, size_t g, size_t i, size_t j) {
    size_t d = p->D / p->H;
    double da = 0;
    for (size_t h = 0; h < p->H; h++)
        da += mix[h * p->H + g] * ref_dot(dout + (b * p->L + i) * p->D + h * d, v + row_of(p, b, h, j), d);
    return da;
}

void ref_attention_maps_bwd(double *dq, double *dk, double *dv, double *dmix, const double *dout,
                            const double *q, const double *k, const double *v, const double *mix,
                            const double *stats, const ref_attention *p) {
    size_t d = p->D / p->H, H = p->H;
    for (size_t r = 0; r < p->B * p->L; r++)
        for (size_t c = 0; c < p->D; c++)
            dq[r * p->stride + c] = dk[r * p->stride + c] = dv[r * p->stride + c] = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t g = 0; g < H; g++)
            for (size_t i = 0; i < p->L; i++) {
                double mean = 0;
                for (size_t j = row_first(p, i); j < row_end(p, i); j++)
                    mean += weight(q, k, stats, p, b, g, i, j) * mixed_grad(dout, v, mix, p, b, g, i, j);
                for (size_t j = row_first(p, i); j < row_end(p, i); j++) {
                    double a = weight(q, k, stats, p, b, g, i, j);
                    for (size_t h = 0; h < H; h++) {
                        const double *grad = dout + (b * p->L + i) * p->D + h * d;
                        ref_axpy(dv + row_of(p, b, h, j), grad, mix[h * H + g] * a, d);
                        dmix[h * H + g] += a * ref_dot(grad, v + row_of(p, b, h, j), d);
                    }
                    if (a == 0) continue;
                    double ds = a * (mixed_grad(dout, v, mix, p, b, g, i, j) - mean) * p->scale;
                    if (p->decay_table) ds *= p->decay_table[table_entry(p, g, i, j)];
                    ref_axpy(dq + row_of(p, b, g, i), k + row_of(p, b, g, j), ds, d);
                    ref_axpy(dk + row_of(p, b, g, j), q + row_of(p, b, g, i), ds, d);
                }
            }
}
