// native.c: OpenBLAS, oneDNN or FFTW (one per build: -DPEER_OPENBLAS, ...) on the kernels' shapes and
// numbers: prints a sum of what the first call computed, as bench/kernel_rows.c has it, and the processor
// time in ms of the median call. native NAME SECONDS, with NAME a row of `seqmix bench`.
#include <stdint.h>
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
static float value(size_t which, size_t i) { // shared_value of bench/kernel_rows.c
    const uint32_t h = ((uint32_t)i + 0x9e3779b9u * (uint32_t)(which + 1)) * 2654435761u;
    return (float)((double)(h >> 8) / 8388608.0 - 1.0);
}

#if defined(PEER_FFTW)
enum { N = 4096, D = 64 };
static fftwf_plan plan;
static float *x;         // [D][N]
static fftwf_complex *X; // [D][N / 2 + 1]
static int inverse;
static int prepare(const char *name) {
    const int length = N;
    inverse = !strncmp(name, "irfft", 5);
    x = fftwf_malloc(sizeof(float) * D * N);
    X = fftwf_malloc(sizeof(fftwf_complex) * D * (N / 2 + 1));
    if (!x || !X || (!inverse && strncmp(name, "rfft", 4))) return -1;
    plan = inverse
               ? fftwf_plan_many_dft_c2r(1, &length, D, X, NULL, 1, N / 2 + 1, x, NULL, 1, N, FFTW_MEASURE)
               : fftwf_plan_many_dft_r2c(1, &length, D, x, NULL, 1, N, X, NULL, 1, N / 2 + 1, FFTW_MEASURE);
    for (size_t i = 0; i < (size_t)D * N; i++) x[i] = value(1, i);
    for (size_t i = 0; i < (size_t)D * (N + 2); i++) ((float *)X)[i] = value(2, i);
    return plan ? 0 : -1;
}
static void once(void) { fftwf_execute(plan); }
static double check(void) {
    double s = 0.0;
    for (size_t c = 0; c < D; c++)
        for (size_t i = 0; i < (inverse ? N : N + 2); i++) {
            const double a = inverse ? (double)x[c * N + i] / N : (double)((float *)X)[c * (N + 2) + i];
            s += a * a * (double)value(0, inverse ? i : i / 2);
        }
    return s;
}
#else
static float *floats(size_t which, size_t n) {
    float *x = aligned_alloc(64, (n * 4 + 63) / 64 * 64);
    for (size_t i = 0; x && i < n; i++) x[i] = value(which, i);
    return x;
}
static int m, n, k;
static float *a, *b, *c;
static int prepare(const char *name) {
    if (sscanf(name, "sgemm %dx%dx%d", &m, &n, &k) != 3) return -1;
    a = floats(1, (size_t)m * (size_t)k), b = floats(2, (size_t)k * (size_t)n);
    c = floats(0, (size_t)m * (size_t)n);
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
static double check(void) {
    double s = 0.0;
    for (size_t i = 0; i < (size_t)m * (size_t)n; i++) s += (double)c[i] * (double)value(0, i);
    return s;
}
#endif

int main(int argc, char **argv) {
    static double times[MOST];
    size_t count = 0, repeats = 1;
    if (argc != 3 || prepare(argv[1])) return 2;
    double seconds = atof(argv[2]), start = cpu_ms(), t = start;
    once();
    const double computed = check();
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
    printf("{\"check\":%.9g,\"ms\":%.6g}\n", computed, times[count / 2]);
    return 0;
}
