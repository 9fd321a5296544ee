// own.c: task own, a form for data of the caller's (model/run/user_data.c): inputs and answers of any kind. Its own samples are noise.
#include "tasks/util.h"

static int own_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length < 1) return length_fail(error, length, "at least 1");
    const size_t channels = (size_t)config_int(c, "channels"), classes = (size_t)config_int(c, "classes");
    if (classes == 1) return config_fail(error, c, "classes", "0, for real numbers, or at least 2");
    in->length = length;
    in->vocab = channels ? 0 : (size_t)config_int(c, "vocab");
    in->channels = channels;
    in->classes = classes;
    in->per_position = config_is(c, "answers", "rows");
    in->max_targets = in->per_position ? length : 1;
    return 0;
}

static void own_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                         smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    for (size_t t = 0; in->vocab && t < in->length; t++)
        sample->tokens[t] = (int32_t)rng_below(&rng, (uint32_t)in->vocab);
    for (size_t i = 0; i < in->length * in->channels; i++) sample->values[i] = (float)rng_normal(&rng);
    for (size_t t = 0; t < in->max_targets; t++)
        if (in->classes)
            sample->targets[t] = (int32_t)rng_below(&rng, (uint32_t)in->classes);
        else
            sample->target_values[t] = (float)rng_normal(&rng);
}

static const config_key own_keys[] = {
    {"channels", KEY_INT, "1", 0, 4096, NULL, "numbers of a row; 0: tokens", "task"},
    {"classes", KEY_INT, "0", 0, 65536, NULL, "classes to answer; 0: one number", "task"},
    {"answers", KEY_WORD, "rows", 0, 0, "rows|one", "an answer for each row, or one", "task"},
    {0},
};

const smx_task task_own = {
    .name = "own",
    .title = "Data of your own",
    .help = "The form of data that a program hands over; without that, noise.",
    .source = "docs/EMBED.md",
    .defaults = "length=64",
    .keys = own_keys,
    .open = own_open,
    .generate = own_generate,
};
