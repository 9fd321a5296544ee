// native.c: OpenBLAS, oneDNN or FFTW (one per build: -DPEER_OPENBLAS, ...) on the kernels' shapes: prints the processor time in ms
// of the median call. native NAME SECONDS, with NAME a row of `seqmix bench`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(PEER_OPENBLAS)
#include <cblas.h>
void openblas_set_num_threads(int);
#elif defined(PEER_ONEDNN)
#include <dnnl.h>
#elif defined(PEER_FFTW)
#include <fftw3.h>
#endif

enum { MOST = 4000 };

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static float *floats(size_t n) {
    float *x = aligned_alloc(64, (n * 4 + 63) / 64 * 64);
    for (size_t i = 0; x && i < n; i++) x[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    return x;
}

#if defined(PEER_FFTW)
static fftwf_plan plan;
static int prepare(const char *name) {
    int N = 4096, inverse = !strncmp(name, "irfft", 5);
    float *x = fftwf_malloc(sizeof(float) * 64 * (size_t)N);
    fftwf_complex *X = fftwf_malloc(sizeof(fftwf_complex) * 64 * (size_t)(N / 2 + 1));
    if (!x || !X || (!inverse && strncmp(name, "rfft", 4))) return -1;
    plan = inverse ? fftwf_plan_many_dft_c2r(1, &N, 64, X, NULL, 1, N / 2 + 1, x, NULL, 1, N, FFTW_MEASURE)
                   : fftwf_plan_many_dft_r2c(1, &N, 64, x, NULL, 1, N, X, NULL, 1, N / 2 + 1, FFTW_MEASURE);
    memset(x, 0, sizeof(float) * 64 * (size_t)N);
    memset(X, 0, sizeof(fftwf_complex) * 64 * (size_t)(N / 2 + 1));
    return plan ? 0 : -1;
}
static void once(void) { fftwf_execute(plan); }
#else
static int m, n, k;
static float *a, *b, *c;
static int prepare(const char *name) {
    if (sscanf(name, "sgemm %dx%dx%d", &m, &n, &k) != 3) return -1;
    a = floats((size_t)m * (size_t)k), b = floats((size_t)k * (size_t)n), c = floats((size_t)m * (size_t)n);
#if defined(PEER_OPENBLAS)
    openblas_set_num_threads(1);
#endif
    return a && b && c ? 0 : -1;
}
static void once(void) {
#if defined(PEER_OPENBLAS)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
#elif defined(PEER_ONEDNN)
    dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
#endif
}
#endif

int main(int argc, char **argv) {
    static double times[MOST];
    size_t count = 0, repeats = 1;
    if (argc != 3 || prepare(argv[1])) return 2;
    double seconds = atof(argv[2]), start = cpu_ms(), t = start;
    for (int i = 0; i < 20; i++) {
        t = cpu_ms();
        once();
    }
    t = cpu_ms() - t;
    if (t < 2.0) repeats = (size_t)(2.0 / (t > 1e-4 ? t : 1e-4)) + 1;
    start = cpu_ms();
    while (count < MOST && (count < 3 || cpu_ms() - start < seconds * 1e3)) {
        t = cpu_ms();
        for (size_t i = 0; i < repeats; i++) once();
        times[count++] = (cpu_ms() - t) / (double)repeats;
    }
    qsort(times, count, sizeof *times, by_value);
    printf("{\"ms\":%.6g}\n", times[count / 2]);
    return 0;
}
