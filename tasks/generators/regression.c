// regression.c: select, cumsum, cummax on real numbers (LaS Tab. 7; Gupta, Mehta & Berant, DLR, 2022), judged
// by R^2. Values are standard normal.
#include "tasks/util.h"

typedef struct {
    size_t picks;
} select_settings;

static int sums_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    (void)c;
    if (length < 1) return length_fail(error, length, "at least 1");
    in->length = length;
    in->vocab = in->classes = 0;
    in->channels = 1;
    in->per_position = 1;
    in->max_targets = length;
    return 0;
}

// y_t = (x_0 + ... + x_t) / sqrt(t + 1): every target has variance 1.
static void cumsum_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                            smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    double sum = 0;
    for (size_t t = 0; t < in->length; t++) {
        sample->values[t] = (float)rng_normal(&rng);
        sum += (double)sample->values[t];
        sample->target_values[t] = (float)(sum / md_sqrt((double)(t + 1)));
    }
}

static void cummax_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                            smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    float most = 0;
    for (size_t t = 0; t < in->length; t++) {
        sample->values[t] = (float)rng_normal(&rng);
        if (t == 0 || sample->values[t] > most) most = sample->values[t];
        sample->target_values[t] = most;
    }
}

static int select_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const size_t picks = ((const select_settings *)c->task)->picks;
    if (length < 2 * picks) return length_fail(error, length, "at least 2 * picks = %zu", 2 * picks);
    in->length = length;
    in->vocab = in->classes = 0;
    in->channels = 2;
    in->per_position = 1;
    in->max_targets = picks;
    select_settings *own = instance_data(in, sizeof *own, length, error);
    if (own) own->picks = picks;
    return own ? 0 : -1;
}

// Rows of (value, mark): length - n values, n of them marked 1 and the others 0, then n rows (0, -1) that ask
// for the marked values in order.
static void select_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                            smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const size_t n = ((const select_settings *)in->data)->picks, rows = in->length - n;
    float nan = (float)MD_NAN, *answer = sample->target_values + rows;
    for (size_t t = 0, picked = 0; t < rows; t++) {
        int marked = rng_below(&rng, (uint32_t)(rows - t)) < n - picked;
        sample->values[2 * t] = (float)rng_normal(&rng);
        sample->values[2 * t + 1] = (float)marked;
        sample->target_values[t] = nan;
        if (marked) answer[picked++] = sample->values[2 * t];
    }
    for (size_t t = rows; t < in->length; t++) {
        sample->values[2 * t] = 0;
        sample->values[2 * t + 1] = -1;
    }
}

static const config_key sums_keys[] = {{0}};
static const config_key select_keys[] = {
    INT_KEY("picks", select_settings, picks, "8", 1, 1 << 19, "marked values to give back", "task"),
    {0},
};

const smx_task task_select = {
    .name = "select",
    .title = "Select",
    .help = "Some of the numbers are marked: give them back in order at the end (R^2).",
    .source = "Zimerman & Wolf, LaS (2024), Tab. 7; Gupta, Mehta & Berant, DLR (2022)",
    .defaults = "length=64&picks=8",
    .keys = select_keys,
    .settings = sizeof(select_settings),
    .open = select_open,
    .generate = select_generate,
};

const smx_task task_cumsum = {
    .name = "cumsum",
    .title = "Running sum",
    .help = "The sum of the numbers so far, divided by the root of their count (R^2).",
    .source = "Zimerman & Wolf, LaS (2024), Tab. 7; Gupta, Mehta & Berant, DLR (2022)",
    .defaults = "length=64",
    .keys = sums_keys,
    .open = sums_open,
    .generate = cumsum_generate,
};

const smx_task task_cummax = {
    .name = "cummax",
    .title = "Running maximum",
    .help = "The largest of the numbers so far (R^2).",
    .source = "Zimerman & Wolf, LaS (2024), Tab. 7; Gupta, Mehta & Berant, DLR (2022)",
    .defaults = "length=64",
    .keys = sums_keys,
    .open = sums_open,
    .generate = cummax_generate,
};
