// loss.c: cross-entropy with ignored targets, and the answer of a row of logits.
#include <seqmix/ref.h>

#include <math.h>

static int counts(int32_t target, size_t V) { return target >= 0 && (size_t)target < V; }

// loss = log sum_v exp(l_v) - l_target, the maximum taken out first
size_t ref_cross_entropy_fwd(double *loss, double *stats, const double *logits, const int32_t *target,
                             size_t N, size_t V) {
    size_t rows = 0;
    for (size_t r = 0; r < N; r++) {
        const double *l = logits + r * V;
        double max = -INFINITY, sum = 0;
        for (size_t c = 0; c < V; c++)
            if (l[c] > max || isnan(l[c])) max = l[c];
        for (size_t c = 0; c < V; c++) sum += exp(l[c] - max);
        stats[2 * r] = max;
        stats[2 * r + 1] = 1 / sum;
        loss[r] = counts(target[r], V) ? log(sum) + max - l[target[r]] : 0;
        rows += (size_t)counts(target[r], V);
    }
    return rows;
}

void ref_cross_entropy_bwd(double *dlogits, const double *logits, const int32_t *target, const double *stats,
                           size_t N, size_t V, double scale) {
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < V; c++) {
            double p = exp(logits[r * V + c] - stats[2 * r]) * stats[2 * r + 1];
            double hot = (int64_t)target[r] == (int64_t)c ? 1 : 0;
            dlogits[r * V + c] = counts(target[r], V) ? scale * (p - hot) : 0;
        }
}

void ref_argmax(int32_t *best, const double *x, size_t N, size_t V) {
    for (size_t r = 0; r < N; r++) {
        size_t at = 0;
        for (size_t c = 1; c < V; c++)
            if (x[r * V + c] > x[r * V + at]) at = c;
        best[r] = (int32_t)at;
    }
}
