// context.c: task lcat, the random context model (CAT Def. 6): does a landmark find the block that holds the
// copy of the query? Nothing in it can be learnt: it measures landmarks (Props. 1-2), it does not train a
// model.
#include "tasks/util.h"

enum { DIMENSION, BLOCK }; // of instance->n; x[0] is sigma

// Rows x_t ~ N(0, sigma^2/d I); the last row is the query, of length 1 in a uniformly random direction, and
// one row of an earlier block is its copy. The answer is that block. (Prop. 1: a box landmark finds it when d
// exceeds about 2 sigma^2 B ln(L/B).)
static int lcat_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    size_t d = (size_t)config_int(c, "lcat_width"), block = (size_t)config_int(c, "lcat_block");
    if (length % block || length / block < 2)
        return length_fail(error, length, "a multiple of lcat_block=%zu, two blocks at least", block);
    in->length = length;
    in->vocab = 0;
    in->channels = d;
    in->classes = length / block;
    in->per_position = 0;
    in->max_targets = 1;
    in->n[DIMENSION] = (long)d;
    in->n[BLOCK] = (long)block;
    in->x[0] = config_real(c, "lcat_sigma");
    return 0;
}

static void lcat_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                          smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    size_t d = (size_t)in->n[DIMENSION], block = (size_t)in->n[BLOCK], length = in->length;
    float *query = sample->values + (length - 1) * d;
    double norm = 0, scale = in->x[0] / md_sqrt((double)d);
    size_t place = rng_below(&rng, (uint32_t)(length - block));
    for (size_t i = 0; i < (length - 1) * d; i++) sample->values[i] = (float)(scale * rng_normal(&rng));
    for (size_t i = 0; i < d; i++) {
        query[i] = (float)rng_normal(&rng);
        norm += (double)query[i] * (double)query[i];
    }
    norm = norm > 0 ? md_sqrt(norm) : 1;
    for (size_t i = 0; i < d; i++) query[i] = (float)((double)query[i] / norm);
    memcpy(sample->values + place * d, query, d * sizeof *query);
    sample->targets[0] = (int32_t)(place / block);
}

static const config_key lcat_keys[] = {
    {"lcat_width", KEY_INT, "64", 1, 4096, NULL, "numbers of a row of the random context", "task"},
    {"lcat_block", KEY_INT, "8", 1, 65536, NULL, "rows that share a landmark in the random context", "task"},
    {"lcat_sigma", KEY_REAL, "1", 0, 1000, NULL, "length of a row of the random context; the query's is 1",
     "task"},
    {0},
};

const smx_task task_lcat = {
    .name = "lcat",
    .title = "Random context",
    .help = "Which block of random rows holds a copy of the last row? Measures landmarks; nothing to learn.",
    .source = "Li et al., On the Power of Convolution Augmented Transformer (2025), Def. 6, Props. 1-2",
    .defaults = "length=256&lcat_width=64&lcat_block=8",
    .keys = lcat_keys,
    .open = lcat_open,
    .generate = lcat_generate,
};
