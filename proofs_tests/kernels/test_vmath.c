// test_vmath.c: the bounds that vmath.h states, by a sweep over bit patterns against double libm, and the
// special values; what rocq/Exp.v, Sigmoid.v, Tanh.v, SinCos.v and Log.v prove.
#include "proofs_tests/support/check.h"

// Spacing of floats at y, FLT_MIN's spacing below it.
static double ulp(double y) {
    const double size = fmax(fabs(y), 0x1p-126);
    uint64_t bits; // (by its bits: frexp and ldexp take as long as what is measured)
    memcpy(&bits, &size, sizeof bits);
    bits = ((bits >> 52) - 23) << 52;
    double last;
    memcpy(&last, &bits, sizeof last);
    return last;
}

enum { BLOCK = 4096, STRIDE = 1021 }; // odd: every low bit pattern occurs; 4.2 million floats a sweep
static float x[BLOCK], y[BLOCK], z[BLOCK];

// SEQMIX_FLOATS=all, a part of make test-all: every float, on the best instruction set (all give the same
// bits: digests.txt); without it one in 1,021, on each.
static int every(void) {
    const char *all = getenv("SEQMIX_FLOATS");
    return all && !strcmp(all, "all");
}
#define CHECK_ISAS(name)                                                                                     \
    CHECK_EACH_ISA(name) if (every() && strcmp(name, smx_isa_name(0))) continue;                             \
    else

static double sigmoid(double a) { return 1.0 / (1.0 + exp(-a)); }

// Bit patterns alone would mostly be tiny or huge: those out of range, and half of the tiny ones, become
// points spread evenly over [dense_low, dense_high], where the function bends.
static void sweep(const char *name, void (*kernel)(float *, const float *, size_t), double (*exact)(double),
                  double low, double high, double dense_low, double dense_high, double bound) {
    double worst = 0.0;
    static double want[BLOCK];
    const int all = every();
    const uint64_t stride = all ? 1 : STRIDE;
    for (uint64_t first = 0; first < 1ull << 32; first += BLOCK * stride) {
        size_t inside = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            const uint32_t bits = (uint32_t)(first + i * stride);
            memcpy(x + i, &bits, 4);
            const int is_inside = x[i] >= low && x[i] <= high;
            inside += is_inside;
            if (!is_inside || (!all && fabsf(x[i]) < 0x1p-30f && i % 2))
                x[i] = (float)(dense_low + (dense_high - dense_low) * (bits * 0x1p-32));
        }
        if (all && !inside) continue;
        for (size_t i = 0; i < BLOCK; i++) want[i] = exact(x[i]);
        CHECK_ISAS(isa) {
            kernel(y, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                const double off = fabs(y[i] - want[i]) / ulp(want[i]);
                if (off > worst) worst = off;
                if (!(off <= bound)) {
                    check_trying("%s", name);
                    check_fail("%s(%a) = %a is %.3f ULP off, allowed %.2f", name, x[i], y[i], off, bound);
                }
            }
        }
    }
    print_message("%s: worst %.3f ULP%s, stated %.2f\n", name, worst, all ? " of every float" : "", bound);
}
static void exp_bound(void **state) {
    (void)state, sweep("exp", smx_exp_fwd, exp, -87.33654f, 88.72283f, -87.3, 88.7, 0.95);
}
// elu1 takes the exponential of what is at most 0 by a shorter way: the same bits.
static void exp_below_zero(void **state) {
    (void)state;
    check_trying("elu1 below 0");
    for (uint64_t first = 1ull << 31; first < 1ull << 32; first += (uint64_t)BLOCK * STRIDE) {
        for (size_t i = 0; i < BLOCK; i++) {
            const uint32_t bits =
                (uint32_t)(first + i * STRIDE < UINT32_MAX ? first + i * STRIDE : UINT32_MAX);
            memcpy(x + i, &bits, 4);
            if (i % 2) x[i] = (float)(-90.0 * ((bits - (1u << 31)) * 0x1p-31));
        }
        CHECK_EACH_ISA(isa) {
            smx_exp_fwd(y, x, BLOCK);
            smx_elu1_fwd(z, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++)
                if (isnan(x[i]) ? !isnan(z[i]) : memcmp(y + i, z + i, 4) != 0)
                    check_fail("at %a: %a and %a", x[i], y[i], z[i]);
        }
    }
}
static void log_bound(void **state) {
    (void)state, sweep("log", smx_log_fwd, log, 0x1p-149, 0x1.fffffep127, 0.4, 3.0, 0.85);
}
static void sigmoid_bound(void **state) {
    (void)state, sweep("sigmoid", smx_sigmoid_fwd, sigmoid, -87.0, INFINITY, -20.0, 20.0, 2.6);
}
static void tanh_bound(void **state) {
    (void)state, sweep("tanh", smx_tanh_fwd, tanh, -INFINITY, INFINITY, -3.0, 3.0, 1.4);
}

static void sincos_bound(void **state) {
    (void)state;
    static double sines[BLOCK], cosines[BLOCK];
    double worst = 0.0;
    check_trying("sincos");
    const uint64_t stride = every() ? 1 : STRIDE;
    for (uint64_t first = 0; first < 1ull << 32; first += BLOCK * stride) {
        size_t inside = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            const uint32_t bits = (uint32_t)(first + i * stride);
            memcpy(x + i, &bits, 4);
            inside += fabsf(x[i]) <= 8192.0f;
            // Patterns out of range become points spread evenly over it, most of which no pattern sweep would
            // meet.
            if (!(fabsf(x[i]) <= 8192.0f)) x[i] = (float)((int32_t)bits * (8192.0 / 2147483648.0));
        }
        if (every() && !inside) continue;
        for (size_t i = 0; i < BLOCK; i++) sines[i] = sin(x[i]), cosines[i] = cos(x[i]);
        CHECK_ISAS(isa) {
            smx_sincos_fwd(y, z, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++)
                for (int k = 0; k < 2; k++) {
                    const double got = k ? z[i] : y[i], want = k ? cosines[i] : sines[i],
                                 off = fabs(got - want);
                    if (off > worst) worst = off;
                    if (!(off <= 8e-8) || (fabs(want) > 0x1p-9 && !(off <= 1.6 * ulp(want))))
                        check_fail("%s(%a) = %a is off by %.3g", k ? "cos" : "sin", x[i], got, off);
                }
        }
    }
    print_message("sincos: worst %.3g, stated 8e-08\n", worst);
}

static void special_values(void **state) {
    (void)state;
    const struct {
        const char *name;
        void (*kernel)(float *, const float *, size_t);
        float x, y;
    } cases[] = {
        {"exp", smx_exp_fwd, 0.0f, 1.0f},
        {"exp", smx_exp_fwd, -0.0f, 1.0f},
        {"exp", smx_exp_fwd, INFINITY, INFINITY},
        {"exp", smx_exp_fwd, -INFINITY, 0.0f},
        {"exp", smx_exp_fwd, 88.7229f, INFINITY},
        {"exp", smx_exp_fwd, -87.34f, 0.0f},
        {"exp", smx_exp_fwd, NAN, NAN},
        {"log", smx_log_fwd, 1.0f, 0.0f},
        {"log", smx_log_fwd, 0.0f, -INFINITY},
        {"log", smx_log_fwd, -0.0f, -INFINITY},
        {"log", smx_log_fwd, -0x1p-149f, NAN},
        {"log", smx_log_fwd, -1.0f, NAN},
        {"log", smx_log_fwd, -INFINITY, NAN},
        {"log", smx_log_fwd, INFINITY, INFINITY},
        {"log", smx_log_fwd, NAN, NAN},
        {"sigmoid", smx_sigmoid_fwd, 0.0f, 0.5f},
        {"sigmoid", smx_sigmoid_fwd, 17.4f, 1.0f},
        {"sigmoid", smx_sigmoid_fwd, INFINITY, 1.0f},
        {"sigmoid", smx_sigmoid_fwd, -88.73f, 0.0f},
        {"sigmoid", smx_sigmoid_fwd, -INFINITY, 0.0f},
        {"sigmoid", smx_sigmoid_fwd, NAN, NAN},
        {"tanh", smx_tanh_fwd, 0.0f, 0.0f},
        {"tanh", smx_tanh_fwd, -0.0f, -0.0f},
        {"tanh", smx_tanh_fwd, 0x1p-149f, 0x1p-149f},
        {"tanh", smx_tanh_fwd, 10.0f, 1.0f},
        {"tanh", smx_tanh_fwd, INFINITY, 1.0f},
        {"tanh", smx_tanh_fwd, -INFINITY, -1.0f},
        {"tanh", smx_tanh_fwd, NAN, NAN},
    };
    CHECK_EACH_ISA(isa) {
        for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
            float got;
            cases[i].kernel(&got, &cases[i].x, 1);
            check_trying("%s(%g)", cases[i].name, cases[i].x);
            check_same("result", &got, &cases[i].y, 1);
        }
        const float edges[] = {0.0f, 8192.0f, -8192.0f, 8192.0010f, INFINITY, -INFINITY, NAN};
        const int allowed[] = {1, 1, 1, 0, 0, 0, 0};
        for (size_t i = 0; i < CHECK_COUNT(edges); i++) {
            float s, c;
            smx_sincos_fwd(&s, &c, edges + i, 1);
            check_trying("sincos(%g)", edges[i]);
            if (allowed[i] != !isnan(s) || allowed[i] != !isnan(c)) check_fail("gave %g, %g", s, c);
        }
    }
}

// Whatever a NaN carries: the sanitizers see sums of its bits that do not fit.
static void every_nan(void **state) {
    (void)state;
    const struct {
        const char *name;
        void (*kernel)(float *, const float *, size_t);
    } functions[] = {
        {"exp", smx_exp_fwd},   {"log", smx_log_fwd},   {"sigmoid", smx_sigmoid_fwd},
        {"tanh", smx_tanh_fwd}, {"elu1", smx_elu1_fwd}, {"softplus", smx_softplus_fwd},
        {"silu", smx_silu_fwd}, {"gelu", smx_gelu_fwd},
    };
    const uint32_t words[] = {0x7fffffff, 0xffffffff, 0x7f800001, 0xff800001, 0x7fc00000, 0xffc00000};
    float in[CHECK_COUNT(words)], out[CHECK_COUNT(words)], cosine[CHECK_COUNT(words)];
    CHECK_EACH_ISA(isa) {
        for (size_t f = 0; f <= CHECK_COUNT(functions); f++) {
            const int sincos = f == CHECK_COUNT(functions);
            memcpy(in, words, sizeof in);
            if (sincos)
                smx_sincos_fwd(out, cosine, in, CHECK_COUNT(words));
            else
                functions[f].kernel(out, in, CHECK_COUNT(words));
            check_trying("%s", sincos ? "sincos" : functions[f].name);
            for (size_t i = 0; i < CHECK_COUNT(words); i++)
                if (!isnan(out[i]) || (sincos && !isnan(cosine[i])))
                    check_fail("of %08x it is %g", words[i], (double)out[i]);
        }
    }
}

// The model of a file of rocq/, run on its table of points m 2^e, gives these words: so does the kernel.
static void is_the_model(const char *path, const char *table, size_t count,
                         void (*kernel)(float *, const float *, size_t)) {
    check_trying("%s of %s", table, path);
    FILE *f = fopen(path, "rb");
    if (!f) check_fail("cannot be read");
    char line[256], name[64], head[80];
    size_t found = 0;
    int here = 0;
    snprintf(head, sizeof head, "Definition %s ", table);
    while (fgets(line, sizeof line, f)) {
        int m, e;
        unsigned word;
        if (sscanf(line, "Definition %63s", name) == 1) here = !strncmp(line, head, strlen(head));
        if (!here || sscanf(line, " (%d, %d, 0x%X)", &m, &e, &word) != 3) continue;
        const float point = ldexpf((float)m, e);
        found++;
        CHECK_EACH_ISA(isa) {
            float got;
            uint32_t bits;
            smx_fast(0); // fused sums are not what the model says
            kernel(&got, &point, 1);
            memcpy(&bits, &got, 4);
            if (bits != word) check_fail("at %a: %08X, the model says %08X", point, bits, word);
        }
    }
    fclose(f);
    if (found != count) check_fail("%zu points, not %zu", found, count);
}
// Up to 0 elu1 takes the function that the model is of; above, none.
static void exp_below(float *y, const float *a, size_t n) {
    (*a <= 0.0f ? smx_elu1_fwd : smx_exp_fwd)(y, a, n);
}
static void exp_is_the_model(void **state) {
    (void)state;
    is_the_model("proofs_tests/rocq/Exp.v", "points", 25, smx_exp_fwd);
    is_the_model("proofs_tests/rocq/Exp.v", "points", 25, exp_below);
}
static void sigmoid_and_tanh_are_the_models(void **state) {
    (void)state;
    is_the_model("proofs_tests/rocq/Sigmoid.v", "sigmoid_points", 10, smx_sigmoid_fwd);
    is_the_model("proofs_tests/rocq/Sigmoid.v", "tanh_points", 7, smx_tanh_fwd);
    is_the_model("proofs_tests/rocq/Tanh.v", "small_points", 21, smx_tanh_fwd);
}

static void sine_of(float *y, const float *a, size_t n) { smx_sincos_fwd(y, z, a, n); }
static void cosine_of(float *y, const float *a, size_t n) { smx_sincos_fwd(z, y, a, n); }
static void sincos_is_the_model(void **state) {
    (void)state;
    is_the_model("proofs_tests/rocq/SinCos.v", "sine_points", 21, sine_of);
    is_the_model("proofs_tests/rocq/SinCos.v", "cosine_points", 21, cosine_of);
}

static void log_is_the_model(void **state) {
    (void)state;
    is_the_model("proofs_tests/rocq/Log.v", "log_points", 24, smx_log_fwd);
}

static void enough(const char *name, double worst, double bound) {
    print_message("%s: worst %.4f u, proved %.2f u\n", name, worst, bound);
    if (!(worst >= bound / 2)) check_fail("at most %.4f u of %.2f: the bound says too little", worst, bound);
}
// Evenly spread over a range for which a file of rocq/ proves a bound, in u of the exact value.
static void proved(const char *name, void (*kernel)(float *, const float *, size_t), double (*exact)(double),
                   double low, double high, double bound) {
    enum { BLOCKS = 64 };
    double worst = 0.0;
    check_trying("%s", name);
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < BLOCK; i++)
            x[i] = (float)(low + (high - low) * (double)(b * BLOCK + i) / (BLOCKS * BLOCK - 1));
        CHECK_EACH_ISA(isa) {
            smx_fast(0);
            kernel(y, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                const double want = exact(x[i]),
                             off = y[i] == want ? 0.0 : fabs(y[i] - want) / (fabs(want) * 0x1p-24);
                if (off > worst) worst = off;
                if (!(off <= bound)) check_fail("at %a: %a is %.4f u off", x[i], y[i], off);
            }
        }
    }
    enough(name, worst, bound);
}
// The same of sine and cosine, in u of 1; and in u of the exact value, but for 8.4e-15 |x|. Every other
// number is a float nearest to a multiple of pi/2.
static double beyond(float got, double want, float from) {
    return got == want ? 0.0 : (fabs(got - want) - 8.4e-15 * fabs(from)) / (fabs(want) * 0x1p-24);
}
static void proved_sincos(double limit, double bound, double relative) {
    enum { BLOCKS = 256 };
    static double sines[BLOCK], cosines[BLOCK];
    const double most = floor(limit / 1.5707963267948966);
    double worst = 0.0, worst_relative = 0.0;
    check_trying("sincos up to %g", limit);
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < BLOCK; i++) {
            const double n = (double)(b * BLOCK + i), k = fmod(n, 2.0 * most + 1.0) - most;
            x[i] = (float)(i % 2 ? k * 1.5707963267948966 : limit * (2.0 * n / (BLOCKS * BLOCK - 1) - 1.0));
        }
        for (size_t i = 0; i < BLOCK; i++) sines[i] = sin(x[i]), cosines[i] = cos(x[i]);
        CHECK_EACH_ISA(isa) {
            smx_fast(0);
            smx_sincos_fwd(y, z, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                const double off = fmax(fabs(y[i] - sines[i]), fabs(z[i] - cosines[i])) / 0x1p-24,
                             s = beyond(y[i], sines[i], x[i]), c = beyond(z[i], cosines[i], x[i]);
                worst = fmax(worst, off), worst_relative = fmax(worst_relative, fmax(s, c));
                if (!(off <= bound && s <= relative && c <= relative))
                    check_fail("at %a: %a and %a, %.4f u off, %.4f and %.4f u relatively", x[i], y[i], z[i],
                               off, s, c);
            }
        }
    }
    enough("sincos", worst, bound);
    enough("sincos relatively", worst_relative, relative);
}
// From 43.5 on to the largest float, and infinity: 1 and -1.
static void tanh_saturates(void) {
    check_trying("tanh from 43.5 on");
    uint32_t first, last;
    const float ends[] = {43.5f, INFINITY};
    memcpy(&first, ends, 4), memcpy(&last, ends + 1, 4);
    for (uint64_t from = first; from <= last; from += (uint64_t)BLOCK * STRIDE) {
        for (size_t i = 0; i < BLOCK; i++) {
            const uint64_t bits = from + i * STRIDE;
            const uint32_t word = bits < last ? (uint32_t)bits : last;
            memcpy(x + i, &word, 4);
            if (i % 2) x[i] = -x[i];
        }
        CHECK_EACH_ISA(isa) {
            smx_fast(0);
            smx_tanh_fwd(y, x, BLOCK);
            for (size_t i = 0; i < BLOCK; i++)
                if (y[i] != (i % 2 ? -1.0f : 1.0f)) check_fail("at %a: %a", x[i], y[i]);
        }
    }
}
static void proved_bounds(void **state) {
    (void)state;
    proved("sigmoid", smx_sigmoid_fwd, sigmoid, -87.0, 86.0, 3.49);
    proved("tanh below 5/8", smx_tanh_fwd, tanh, -0x1.3ffffep-1, 0x1.3ffffep-1, 1.51);
    proved("tanh from 5/8 on", smx_tanh_fwd, tanh, 0.625, 43.5, 3.81);
    proved("tanh to -5/8", smx_tanh_fwd, tanh, -43.5, -0.625, 3.81);
    tanh_saturates();
    proved_sincos(8192.0, 1.38, 2.72);
    proved_sincos(4.0, 1.38, 2.72);
    proved("sine near 0", sine_of, sin, -0.785, 0.785, 1.6);
    proved("log beside 1", smx_log_fwd, log, 0.5, 2.0, 1.72);
    proved("log", smx_log_fwd, log, 0x1p-149, 100.0, 1.72);
}

// Every float from -41.5 to -0 within the bound that rocq/Exp.v proves, on the best instruction set (all
// give the same bits: digests.txt). The 855 million between -2^-25 and -0 are 1 + x to 2^-51.
static void exp_of_every_float(void **state) {
    (void)state;
    const uint32_t stride = every() ? 1 : STRIDE;
    uint32_t last;
    const float end = -41.5f;
    memcpy(&last, &end, 4);
    double worst = 0.0;
    float at = 0.0f;
    uint64_t count = 0;
    check_trying("every float from -41.5 to -0");
    smx_isa_choose(smx_isa_name(0)); // the best comes first
    smx_fast(0);
    for (uint64_t first = 1u << 31; first <= last; first += (uint64_t)BLOCK * stride) {
        size_t n = 0;
        for (uint64_t bits = first; n < BLOCK && bits <= last; bits += stride, n++) {
            const uint32_t word = (uint32_t)bits;
            memcpy(x + n, &word, 4);
        }
        smx_exp_fwd(y, x, n);
        for (size_t i = 0; i < n; i++) {
            const double want = x[i] > -0x1p-25f ? 1.0 + (double)x[i] : exp(x[i]),
                         off = fabs(y[i] - want) / (want * 0x1p-24);
            if (off > worst) worst = off, at = x[i];
            if (!(off <= 1.48)) check_fail("exp(%a) = %a is %.4f u off", x[i], y[i], off);
        }
        count += n;
    }
    print_message("exp on %llu floats from -41.5 to -0 (%s): worst %.4f u at %a, proved 1.48 u\n",
                  (unsigned long long)count, smx_isa(), worst, at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_bound),          cmocka_unit_test(exp_below_zero),
        cmocka_unit_test(log_bound),          cmocka_unit_test(sigmoid_bound),
        cmocka_unit_test(tanh_bound),         cmocka_unit_test(sincos_bound),
        cmocka_unit_test(special_values),     cmocka_unit_test(every_nan),
        cmocka_unit_test(exp_is_the_model),   cmocka_unit_test(log_is_the_model),
        cmocka_unit_test(exp_of_every_float), cmocka_unit_test(sigmoid_and_tanh_are_the_models),
        cmocka_unit_test(proved_bounds),      cmocka_unit_test(sincos_is_the_model),
    };
    return cmocka_run_group_tests_name("vmath", tests, NULL, NULL);
}
