// constructions_lcat.c: landmarks in the random context of [CAT] Definition 6, for Propositions 1 and 2.
#include "constructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/philox.h"
#include <seqmix/ref.h>
#include <seqmix/smx.h>

double con_landmark_threshold(size_t L, size_t block, double sigma) {
    return 2 * sigma * sigma * (double)block * log((double)L / (double)block);
}

static void ask(double *x, const con_landmark *m, size_t place, const double *query) {
    double square = 0;
    for (size_t c = 0; c < m->D; c++) square += query[c] * query[c];
    for (size_t c = 0; c < m->D; c++)
        x[place * m->D + c] = x[(m->L - 1) * m->D + c] = (float)(query[c] / sqrt(square));
}
// Rows N(0, sigma^2/D I); the last one, the query, of unit length in a random direction, and a copy of it in
// an earlier block at row `place`. Float32 words in both precisions.
static size_t draw(double *x, const con_landmark *m, uint64_t seed, size_t trial) {
    smx_rng rng = rng_open(seed, 4, trial);
    const size_t D = m->D, last = m->L - 1, place = rng_below(&rng, (uint32_t)(m->L - m->block));
    for (size_t i = 0; i < last * D; i++) x[i] = (float)(m->sigma / sqrt((double)D) * rng_normal(&rng));
    for (size_t c = 0; c < D; c++) x[last * D + c] = rng_normal(&rng);
    ask(x, m, place, x + last * D);
    return place;
}

// The block that the last row chooses: queries and keys are the rows themselves.
static long chosen_double(const double *x, double *work, const con_landmark *m) {
    const size_t L = m->L, D = m->D;
    double *taps = work, *filtered = work + L, best = 0;
    long block = -1;
    for (size_t i = 0; i < L; i++) taps[i] = m->rho ? exp(-(double)i / (double)m->block) : i < m->block;
    ref_conv_fwd(filtered, x, taps, 1, L, D, 1, m->rho ? L : m->block, 0, D, D);
    for (size_t b = 0; b < (L - 1) / m->block; b++) {
        const double score = ref_dot(filtered + ((b + 1) * m->block - 1) * D, x + (L - 1) * D, D);
        if (block < 0 || score > best) {
            best = score;
            block = (long)b;
        }
    }
    return block;
}
static long chosen_float(float *work, const double *x, const con_landmark *m) {
    const size_t L = m->L, D = m->D, n = (L * D + 15) / 16 * 16;
    const smx_landmark p = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .block = m->block, .scale = 1};
    float *xf = work, *marks = xf + n, *o = marks + n, *stats = o + n;
    int32_t *chosen = (int32_t *)(stats + (2 * L + 15) / 16 * 16);
    void *scratch = chosen + (L + 15) / 16 * 16;
    for (size_t i = 0; i < L * D; i++) xf[i] = (float)x[i];
    const double forget = m->rho ? -expm1(-1 / (double)m->block) : 0;
    smx_block_filter_fwd(marks, xf, 1, L, D, m->block, (float)forget);
    smx_landmark_fwd(o, stats, chosen, xf, xf, xf, marks, scratch, &p);
    return chosen[L - 1];
}

long con_landmark_trials(const con_landmark *m, uint64_t seed, size_t first, size_t trials, con_precision p) {
    const size_t L = m->L, D = m->D;
    const smx_landmark shape = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .block = m->block, .scale = 1};
    double *x, *work;
    void *memory = ref_carve(&x, L * D, &work, L * D + L, REF_END);
    void *floats = malloc((3 * L * D + 3 * L + 128) * sizeof(float) + smx_landmark_fwd_scratch_bytes(&shape));
    long hits = memory && floats ? 0 : -1;
    float *aligned = (float *)(((uintptr_t)floats + 63) & ~(uintptr_t)63);
    for (size_t t = first; hits >= 0 && t < first + trials; t++) {
        const size_t block = draw(x, m, seed, t) / m->block;
        hits += (p == CON_DOUBLE ? chosen_double(x, work, m) : chosen_float(aligned, x, m)) == (long)block;
    }
    free(memory), free(floats);
    return hits;
}

// The sum of block b's rows but row `but`, in the first n columns.
static void sum_of_block(double *sum, const double *x, const con_landmark *m, size_t b, size_t but,
                         size_t n) {
    memset(sum, 0, n * sizeof *sum);
    for (size_t t = b * m->block; t < (b + 1) * m->block; t++)
        for (size_t c = 0; t != but && c < n; c++) sum[c] += x[t * m->D + c];
}

int con_landmark_hardest(con_landmark_worst *out, const con_landmark *m, size_t dimensions, uint64_t seed,
                         size_t trial, con_precision p) {
    const size_t L = m->L, D = m->D;
    const smx_landmark shape = {.B = 1, .L = L, .D = D, .H = 1, .stride = D, .block = m->block, .scale = 1};
    double *x, *work, *noise, *way, *query;
    void *memory =
        ref_carve(&x, L * D, &work, L * D + L, &noise, dimensions, &way, dimensions, &query, D, REF_END);
    void *floats = malloc((3 * L * D + 3 * L + 128) * sizeof(float) + smx_landmark_fwd_scratch_bytes(&shape));
    if (memory && floats) {
        const size_t place = draw(x, m, seed, trial);
        out->copy = (long)(place / m->block);
        out->excess = 0;
        memset(query, 0, D * sizeof *query);
        sum_of_block(noise, x, m, place / m->block, place, dimensions);
        for (size_t b = 0; b < (L - 1) / m->block; b++) {
            if (b == place / m->block) continue;
            sum_of_block(way, x, m, b, L, dimensions);
            for (size_t c = 0; c < dimensions; c++) way[c] -= noise[c];
            const double length = sqrt(ref_dot(way, way, dimensions));
            if (length <= out->excess) continue;
            out->excess = length;
            memcpy(query, way, dimensions * sizeof *query);
        }
        ask(x, m, place, query);
        out->chosen = p == CON_DOUBLE
                          ? chosen_double(x, work, m)
                          : chosen_float((float *)(((uintptr_t)floats + 63) & ~(uintptr_t)63), x, m);
    }
    const int status = memory && floats ? CON_OK : CON_NO_MEMORY;
    free(memory), free(floats);
    return status;
}
