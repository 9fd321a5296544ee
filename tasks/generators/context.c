// context.c: task lcat, the random context model (CAT Def. 6): does a landmark find the block that holds the
// copy of the query? Nothing in it can be learnt: it measures landmarks (Props. 1-2), it does not train a
// model.
#include "tasks/util.h"

typedef struct {
    size_t width, block;
    double sigma;
} lcat_settings;

// Rows x_t ~ N(0, sigma^2/d I); the last row is the query, of length 1 in a uniformly random direction, and
// one row of an earlier block is its copy. The answer is that block. (Prop. 1: a box landmark finds it when d
// exceeds about 2 sigma^2 B ln(L/B).)
static int lcat_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const lcat_settings *s = c->task;
    const size_t d = s->width, block = s->block;
    if (length % block || length / block < 2)
        return length_fail(error, length, "a multiple of lcat_block=%zu, two blocks at least", block);
    in->length = length;
    in->vocab = 0;
    in->channels = d;
    in->classes = length / block;
    in->per_position = 0;
    in->max_targets = 1;
    lcat_settings *own = instance_data(in, sizeof *own, length, error);
    if (own) *own = *s;
    return own ? 0 : -1;
}

static void lcat_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                          smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const lcat_settings *s = in->data;
    const size_t d = s->width, block = s->block, length = in->length;
    float *query = sample->values + (length - 1) * d;
    double norm = 0, scale = s->sigma / md_sqrt((double)d);
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
    INT_KEY("lcat_width", lcat_settings, width, "64", 1, 4096, "numbers of a row of the random context",
            "task"),
    INT_KEY("lcat_block", lcat_settings, block, "8", 1, 65536,
            "rows that share a landmark in the random context", "task", KEY_RARE),
    REAL_KEY("lcat_sigma", lcat_settings, sigma, "1", 0, 1000,
             "length of a row of the random context; the query's is 1", "task", KEY_RARE),
    {0},
};

const smx_task task_lcat = {
    .name = "lcat",
    .title = "Random context",
    .help = "Which block of random rows holds a copy of the last row? Measures landmarks; nothing to learn.",
    .source = "Li et al., On the Power of Convolution Augmented Transformer (2025), Def. 6, Props. 1-2",
    .defaults = "length=256&lcat_width=64&lcat_block=8",
    .keys = lcat_keys,
    .settings = sizeof(lcat_settings),
    .open = lcat_open,
    .generate = lcat_generate,
};
