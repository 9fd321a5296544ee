// test_widths.c: widths below, at and beyond each block of columns that inner loops take at a time.
#include "proofs_tests/support/check.h"

#include <seqmix/run.h>

static const float *weight_of(smx_run *r, const char *name, size_t n) {
    smx_error e = {0};
    smx_tensor t;
    if (smx_run_tensor(r, name, &t, &e) || t.rank != 1 || t.shape[0] != n)
        fail_msg("%s: %s", name, e.message);
    return t.data;
}

// What a norm gives outside training, in double from its weights and, of batch norm, its statistics. (The
// text y = x hands it on; the block adds its own input.)
static void norms_of_every_width(void **state) {
    (void)state;
    enum { L = 12, MOST = 130 };
    static const size_t widths[] = {1, 15, 16, 17, 63, 64, 65, 66, MOST};
    static const char *const norms[] = {"layer", "rms", "batch"};
    for (size_t k = 0; k < CHECK_COUNT(norms) * CHECK_COUNT(widths); k++) {
        const char *const kind = norms[k % CHECK_COUNT(norms)];
        const size_t D = widths[k / CHECK_COUNT(norms)];
        char config[256];
        snprintf(
            config, sizeof config,
            "mixer=equations&eq=y = x&task=cumsum&length=%d&batch=3&width=%zu&heads=1&blocks=1&norm=%s&mlp=0"
            "&rate=0.05&warmup=0",
            L, D, kind);
        check_trying("%s", config);
        smx_error e = {0};
        smx_sample sample;
        smx_tensor in, out;
        smx_run *r = smx_run_open(config, &e);
        if (!r || smx_run_step(r, 3, &e)) check_fail("%s", e.message);
        if (smx_run_look(r, SMX_STREAM_EVAL, 1, 0, &sample, &e) || smx_run_tensor(r, "input", &in, &e) ||
            smx_run_tensor(r, "block0.out", &out, &e))
            check_fail("%s", e.message);
        const float *gain = weight_of(r, "block0.norm_1.gain", D),
                    *bias = *kind == 'r' ? NULL : weight_of(r, "block0.norm_1.bias", D),
                    *means = *kind == 'b' ? weight_of(r, "block0.norm_1.mean", D) : NULL,
                    *variances = means ? weight_of(r, "block0.norm_1.variance", D) : NULL;
        double want[L * MOST];
        for (size_t t = 0; t < L; t++) {
            const float *x = in.data + t * D;
            double sum = 0, mean = 0, square = 0;
            for (size_t c = 0; c < D; c++) sum += (double)x[c];
            if (*kind == 'l') mean = sum / (double)D;
            for (size_t c = 0; c < D; c++) square += pow((double)x[c] - mean, 2) / (double)D;
            for (size_t c = 0; c < D; c++)
                want[t * D + c] = (double)x[c] + (bias ? (double)bias[c] : 0) +
                                  (double)gain[c] * ((double)x[c] - (means ? (double)means[c] : mean)) /
                                      sqrt((variances ? (double)variances[c] : square) + 1e-5);
        }
        check_close("the block", out.data, want, L * D, 1e-5, 0);
        smx_run_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(norms_of_every_width)};
    return cmocka_run_group_tests_name("widths", tests, NULL, NULL);
}
