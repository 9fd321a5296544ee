// embedding.c: rows picked from tables (token embedding, gather) and the mean over time.
#include "kernels/core/kernel.h"

SMX_COPY(void, embedding_fwd)
(float *restrict y, const float *table, const int32_t *tokens, size_t N, size_t D, size_t V) {
    for (size_t i = 0; i < N; i++) {
        // A negative token becomes a huge unsigned number: one comparison covers both ends.
        const uint32_t token = (uint32_t)tokens[i];
        if (token < V)
            memcpy(y + i * D, table + (size_t)token * D, D * sizeof *y);
        else
            memset(y + i * D, 0, D * sizeof *y);
    }
}

SMX_COPY(void, embedding_bwd)
(float *restrict dtable, const float *dy, const int32_t *tokens, size_t N, size_t D, size_t V) {
    for (size_t i = 0; i < N; i++) {
        const uint32_t token = (uint32_t)tokens[i];
        if (token >= V) continue;
        float *row = dtable + (size_t)token * D;
        V16_MAP(row, D, v16_add(LOAD(row), LOAD(dy + i * D)));
    }
}

SMX_COPY(void, meanpool_fwd)(float *restrict y, const float *x, size_t B, size_t L, size_t D) {
    const v16 length = v16_set((float)L);
    for (size_t b = 0; b < B; b++) {
        float *row = y + b * D;
        memset(row, 0, D * sizeof *y);
        column_sums(row, x + b * L * D, L, D);
        V16_MAP(row, D, v16_div(LOAD(row), length));
    }
}

SMX_COPY(void, meanpool_bwd)(float *restrict dx, const float *dy, size_t B, size_t L, size_t D) {
    const v16 length = v16_set((float)L);
    for (size_t b = 0; b < B; b++) {
        float *first = dx + b * L * D;
        if (L == 0) continue;
        V16_MAP(first, D, v16_div(LOAD(dy + b * D), length));
        for (size_t t = 1; t < L; t++) memcpy(first + t * D, first, D * sizeof *dx);
    }
}

SMX_COPY(void, gather_fwd)
(float *restrict y, const float *x, const int32_t *rows, size_t M, size_t N, size_t D) {
    SMX_FN(embedding_fwd)(y, x, rows, M, D, N);
}

SMX_COPY(void, gather_bwd)
(float *restrict dx, const float *dy, const int32_t *rows, size_t M, size_t N, size_t D) {
    memset(dx, 0, N * D * sizeof *dx);
    for (size_t m = 0; m < M; m++) {
        const uint32_t row = (uint32_t)rows[m];
        if (row < N) memcpy(dx + (size_t)row * D, dy + m * D, D * sizeof *dx);
    }
}
