// digest_sequences.h: the cases of digest.c for the kernels that run along time: transforms, long convolutions,
// recurrences. Included by digest.c only.

static const struct {
    size_t B, L, D;
} sequences[] = {{1, 1, 1}, {2, 3, 5}, {1, 17, 16}, {3, 64, 20}, {2, 100, 33}};
#define EACH_SEQUENCE(B, L, D)                                                                               \
    for (size_t s_ = 0, B, L, D; s_ < sizeof sequences / sizeof *sequences &&                                \
                                 (B = sequences[s_].B, L = sequences[s_].L, D = sequences[s_].D, r->used = 0, 1); \
         s_++)

static float *fft_table(run *r, size_t N) {
    float *table = blank(r, smx_fft_table_floats(N));
    smx_fft_table(table, N);
    return table;
}
static void run_rfft_fwd(run *r) {
    for (size_t N = 1; N <= 1024; N *= 2) {
        r->used = 0;
        const size_t D = N % 3 == 1 ? 16 : 5, words = (N / 2 + 1) * 2 * D;
        float *x = unit(r, N * D), *table = fft_table(r, N), *spectrum = blank(r, words);
        smx_rfft_fwd(spectrum, x, table, scratch(r, smx_rfft_scratch_bytes(N)), 1, N, D);
        out(r, "spectrum", spectrum, words);
    }
}
static void run_rfft_inv(run *r) {
    for (size_t N = 1; N <= 1024; N *= 2) {
        r->used = 0;
        const size_t D = N % 3 == 1 ? 5 : 16;
        float *spectrum = unit(r, (N / 2 + 1) * 2 * D), *table = fft_table(r, N), *x = blank(r, N * D);
        smx_rfft_inv(x, spectrum, table, scratch(r, smx_rfft_scratch_bytes(N)), 1, N, D);
        out(r, "x", x, N * D);
    }
}
static void longconv(run *r, const int backward) {
    EACH_SEQUENCE(B, L, D) {
        const size_t taps = L > 20 ? L - 3 : L + 2, n = B * L * D;
        const float lambda = L % 2 ? 0.0f : 0.25f;
        float *x = unit(r, n), *k = unit(r, D * taps), *skip = unit(r, D), *table = fft_table(r, smx_longconv_rows(L));
        float *y = blank(r, n), *spectrum = blank(r, smx_longconv_spectrum_floats(L, D));
        void *work = scratch(r, smx_longconv_scratch_bytes(L));
        smx_longconv_fwd(y, spectrum, x, k, skip, table, work, B, L, D, taps, lambda, D);
        if (backward) {
            float *dy = unit(r, n), *dx = blank(r, n), *dk = unit(r, D * taps), *dskip = unit(r, D);
            smx_longconv_bwd(dx, dk, dskip, dy, x, k, skip, spectrum, table, work, B, L, D, taps, lambda, D);
            out(r, "dx", dx, n);
            out(r, "dk", dk, D * taps);
            out(r, "dskip", dskip, D);
        } else {
            out(r, "y", y, n);
        }
    }
}
static void run_longconv_fwd(run *r) { longconv(r, 0); }
static void run_longconv_bwd(run *r) { longconv(r, 1); }
