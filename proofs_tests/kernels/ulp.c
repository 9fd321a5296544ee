// ulp.c: measures every kernel's largest error (ulp_cases.h) and the vector functions over float32,
// and writes docs/ACCURACY.md.
//   ulp FILE          the table, with the exhaustive figures that FILE already holds
//   ulp --full FILE   the functions of one number over all 2^32 floats as well (minutes, all processors)
#include "ulp_cases.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

// ---- The functions of one number over every float -------------------------------------------------------
typedef double exact(double x);
static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double exact_silu(double x) { return x / (1 + exp(-x)); }
static void sine(float *y, const float *x, size_t n) {
    float c[4096];
    smx_sincos_fwd(y, c, x, n);
}
static void cosine(float *y, const float *x, size_t n) {
    float s[4096];
    smx_sincos_fwd(s, y, x, n);
}
static const struct {
    const char *name;
    void (*kernel)(float *y, const float *x, size_t n);
    exact *truth;
    float low, high; // measured there; outside, the results that smx.h and vmath.h name
    int absolute;    // in units of 2^-24 instead of the result's own last place
    const char *range;
} functions[] = {
    {"exp", smx_exp_fwd, exp, -87.33654f, 88.72283f, 0, "-87.33654 .. 88.72283"},
    {"log", smx_log_fwd, log, 0x1p-149f, 3.40282347e38f, 0, "every positive float"},
    {"tanh", smx_tanh_fwd, tanh, -3.40282347e38f, 3.40282347e38f, 0, "every float"},
    {"sigmoid", smx_sigmoid_fwd, exact_sigmoid, -87.0f, 3.40282347e38f, 0, "-87 and up"},
    {"silu", smx_silu_fwd, exact_silu, -87.0f, 3.40282347e38f, 0, "-87 and up"},
    {"sin", sine, sin, -8192.0f, 8192.0f, 1, "-8192 .. 8192 (of 1)"},
    {"cos", cosine, cos, -8192.0f, 8192.0f, 1, "-8192 .. 8192 (of 1)"},
};
typedef struct {
    double worst[CHECK_COUNT(functions)];
    float at[CHECK_COUNT(functions)];
    uint64_t counted[CHECK_COUNT(functions)];
    uint64_t begin, end;
} sweep;
static double unit_of(double want) { // the last place of the result as a float, denormal ones included
    int e;
    frexp(want, &e);
    return ldexp(1, (e > -125 ? e : -125) - 24);
}
static void *sweep_part(void *argument) {
    sweep *s = argument;
    enum { BLOCK = 4096 };
    float x[BLOCK], y[BLOCK];
    for (uint64_t at = s->begin; at < s->end; at += BLOCK) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            const uint32_t bits = (uint32_t)at + i;
            memcpy(&x[i], &bits, 4);
        }
        for (size_t f = 0; f < CHECK_COUNT(functions); f++) {
            // Words of one block share sign and exponent, so a block is inside the range, outside,
            // or on an end of it.
            if (!(x[0] <= functions[f].high && x[0] >= functions[f].low) &&
                !(x[BLOCK - 1] <= functions[f].high && x[BLOCK - 1] >= functions[f].low))
                continue;
            functions[f].kernel(y, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                if (!(x[i] >= functions[f].low && x[i] <= functions[f].high)) continue;
                const double want = functions[f].truth((double)x[i]);
                double e = fabs((double)y[i] - want) / (functions[f].absolute ? 0x1p-24 : unit_of(want));
                s->counted[f]++;
                if (isnan(e)) e = INFINITY;
                if (e > s->worst[f]) s->worst[f] = e, s->at[f] = x[i];
            }
        }
    }
    return NULL;
}
static void write_sweep(FILE *out) {
    enum { MOST = 64 };
    static sweep parts[MOST];
    pthread_t threads[MOST];
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    count = count < 1 ? 1 : count > MOST ? MOST : count;
    smx_isa(); // chosen before threads start
    for (long i = 0; i < count; i++) {
        parts[i].begin = (1ull << 32) / (uint64_t)count * (uint64_t)i / 4096 * 4096;
        parts[i].end =
            i + 1 == count ? 1ull << 32 : (1ull << 32) / (uint64_t)count * (uint64_t)(i + 1) / 4096 * 4096;
        assert_int_equal(pthread_create(&threads[i], NULL, sweep_part, &parts[i]), 0);
    }
    for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
    fprintf(out, "| function | range | floats | largest error | at |\n|---|---|---|---|---|\n");
    for (size_t f = 0; f < CHECK_COUNT(functions); f++) {
        sweep all = {{0}, {0}, {0}, 0, 0};
        for (long i = 0; i < count; i++) {
            all.counted[f] += parts[i].counted[f];
            if (parts[i].worst[f] > all.worst[f])
                all.worst[f] = parts[i].worst[f], all.at[f] = parts[i].at[f];
        }
        fprintf(out, "| %s | %s | %llu | %.3f %s | %a |\n", functions[f].name, functions[f].range,
                (unsigned long long)all.counted[f], all.worst[f], functions[f].absolute ? "of 2^-24" : "ULP",
                (double)all.at[f]);
    }
}

// ---- The page -------------------------------------------------------------------------------------------
static const char *path, *const mark = "<!-- exhaustive -->\n";
static int full;
static char kept[8192]; // what the page held after the mark
static void write_page(void **state) {
    (void)state;
    FILE *old = fopen(path, "r");
    if (old) {
        static char text[65536];
        const size_t n = fread(text, 1, sizeof text - 1, old);
        text[n] = 0;
        const char *at = strstr(text, mark);
        if (at) snprintf(kept, sizeof kept, "%s", at + strlen(mark));
        fclose(old);
    }
    FILE *out = fopen(path, "w");
    if (!out) fail_msg("%s cannot be written", path);
    fprintf(
        out,
        "# Accuracy\n\nGenerated by `make ulp` (and `make ulp-full` for the second table). The largest error of every kernel against the\n"
        "double-precision oracle, in units of the last place (ULP) of a scale: of the result itself (each), of the sum of the\n"
        "absolute values of what is added (terms), of the array's largest result (array), of a bound of the result (input), of\n"
        "the product of the norms, as a transform mixes all rows (norm). 1 ULP of a scale s is 2^(floor(log2 s) - 23).\n\n"
        "*Random*: uniform in (-1, 1). *Adversarial*: magnitudes over 12 octaves in pairs that cancel but for 2^-18, rows of up to\n"
        "5,000, logits in the thousands. *Edge*: zeros of both signs, denormals, powers of two and their neighbours, tiny sizes.\n"
        "Inputs are the same float32 words for both sides. The largest of %d draws; every instruction set gives the same words.\n"
        "Saturated attention and long products of large numbers condition the problem itself: a logit of some thousand carries\n"
        "its rounding into the weight, which is what the adversarial column of attention shows.\n\n"
        "Ceilings are asserted by `proofs_tests/kernels/test_ulp.c`.\n\n"
        "| kernel | scale | random | adversarial | edge |\n|---|---|---|---|---|\n",
        5);
    for (size_t i = 0; i < CHECK_COUNT(ulp_cases); i++) {
        fprintf(out, "| %s | %s |", ulp_cases[i].name, ulp_cases[i].scale);
        for (int kind = 0; kind < ULP_KINDS; kind++) {
            const double worst = ulp_measure(&ulp_cases[i], kind, 5);
            fprintf(out, " %.3g |", worst);
            print_message("%-20s %-12s %.3g\n", ulp_cases[i].name, ulp_kind_names[kind], worst);
        }
        fprintf(out, "\n");
    }
    fprintf(
        out,
        "\n## Functions of one number, over every float32 of their range\n\nAgainst the C library's double functions.\n\n%s",
        mark);
    if (full)
        write_sweep(out);
    else
        fputs(*kept ? kept : "Not measured yet: `make ulp-full`.\n", out);
    if (fclose(out)) fail_msg("%s cannot be written", path);
}
int main(int argc, char **argv) {
    full = argc == 3 && !strcmp(argv[1], "--full");
    if (argc != 2 + full) {
        fprintf(stderr, "usage: ulp [--full] FILE\n");
        return 2;
    }
    path = argv[argc - 1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(write_page)};
    return cmocka_run_group_tests_name("ulp", tests, NULL, NULL);
}
