// own.c: task own, a form for the caller's data (model/run/user_data.c): inputs and answers of any kind. Its
// own samples are noise, there to be looked at, not trained on.
#include "tasks/util.h"

#define ANSWERS(W) W(ANSWERS_ROWS, "rows") W(ANSWERS_ONE, "one")

typedef struct {
    size_t channels, classes;
    enum { ANSWERS(WORD_NAME) } answers;
} own_settings;

static int own_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length < 1) return length_fail(error, length, "at least 1");
    const own_settings *s = c->task;
    const size_t channels = s->channels, classes = s->classes;
    if (classes == 1) return config_fail(error, c, "classes", "0, for real numbers, or at least 2");
    in->length = length;
    in->vocab = channels ? 0 : c->common.vocab;
    in->channels = channels;
    in->classes = classes;
    in->per_position = s->answers == ANSWERS_ROWS;
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
    INT_KEY("channels", own_settings, channels, "1", 0, 4096, "numbers of a row; 0: tokens", "task"),
    INT_KEY("classes", own_settings, classes, "0", 0, 65536, "classes to answer; 0: one number", "task"),
    WORD_KEY("answers", own_settings, answers, ANSWERS, "rows", "an answer for each row, or one", "task"),
    {0},
};

const smx_task task_own = {
    .name = "own",
    .title = "Data of your own",
    .help =
        "The form of data that a program hands over; without that, noise. A classifier that stays at chance: position=learned first "
        "(attention alone knows no order), then mlp=2, blocks=2.",
    .source = "docs/EMBED.md",
    .defaults = "length=64",
    .keys = own_keys,
    .own = 1,
    .settings = sizeof(own_settings),
    .open = own_open,
    .generate = own_generate,
};
