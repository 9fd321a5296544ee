// copy.c: selective copying: sc (Gu & Dao, Mamba; CAT Def. 4) and sc_unique, where no signal recurs (CAT Thm.
// 3's setting).
#include "tasks/util.h"

#define SLOTS(W) W(SLOTS_BLANK, "blank") W(SLOTS_EMITTED, "emitted")

typedef struct {
    size_t signals, noise;
    enum { SLOTS(WORD_NAME) } slots;
} copy_settings;

typedef struct {
    size_t signals, noise;
    int unique;
} copy;

// Tokens: noise 0..noise-1 | the marker | signal kinds marker+1..vocab-1.
// Rows: C = length - 1 - n rows of noise with the n signals at random places among them | the marker | n
// slots. Answers: signal i at row C + i, so the first at the marker; the last slot asks nothing.
static int sc_open_unique(smx_task_instance *in, const config *c, size_t length, int unique,
                          smx_error *error) {
    const copy_settings *s = c->task;
    const size_t vocab = c->common.vocab, noise = s->noise, n = s->signals;
    if (noise > vocab - 2)
        return config_fail(error, c, "noise",
                           "at most vocab - 2 = %zu: one token marks the end, one must be a signal",
                           vocab - 2);
    const size_t kinds = vocab - noise - 1;
    if (unique && n > kinds)
        return config_fail(error, c, "signals",
                           "at most %zu, the kinds of signal at vocab=%zu and noise=%zu, as none recurs",
                           kinds, vocab, noise);
    if (unique && kinds > TASK_DISTINCT_MAX)
        return config_fail(error, c, "vocab", "at most %zu: noise, the marker and %d kinds of signal",
                           TASK_DISTINCT_MAX + noise + 1, TASK_DISTINCT_MAX);
    if (length < 2 * n + 1) return length_fail(error, length, "at least 2 * signals + 1 = %zu", 2 * n + 1);
    answer_tokens(in, length, vocab, n);
    in->emits = s->slots == SLOTS_EMITTED;
    copy *own = instance_data(in, sizeof *own, length, error);
    if (own) *own = (copy){.signals = s->signals, .noise = s->noise, .unique = unique};
    return own ? 0 : -1;
}

static int sc_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return sc_open_unique(in, c, length, 0, error);
}

static int sc_unique_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return sc_open_unique(in, c, length, 1, error);
}

static void sc_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                        smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const copy *own = in->data;
    const size_t n = own->signals, rows = in->length - 1 - n;
    int32_t marker = (int32_t)own->noise, *x = sample->tokens, *answer = sample->targets + rows;
    uint32_t kinds = (uint32_t)in->vocab - 1 - (uint32_t)marker;
    fill_tokens(sample->targets, -1, in->length);
    if (own->unique)
        draw_distinct(&rng, answer, 1, n, marker + 1, kinds);
    else
        for (size_t i = 0; i < n; i++) answer[i] = marker + 1 + (int32_t)rng_below(&rng, kinds);
    for (size_t t = 0, placed = 0; t < rows;
         t++) // every subset of places equally likely (Knuth's selection sampling)
        if (rng_below(&rng, (uint32_t)(rows - t)) < n - placed)
            x[t] = answer[placed++];
        else
            x[t] = (int32_t)rng_below(&rng, (uint32_t)marker);
    x[rows] = marker;
    for (size_t i = 0; i < n; i++) x[rows + 1 + i] = in->emits ? answer[i] : marker;
}

static const config_key sc_keys[] = {
    INT_KEY("signals", copy_settings, signals, "8", 1, 1 << 19, "tokens to copy", "task"),
    INT_KEY("noise", copy_settings, noise, "4", 1, 1 << 19,
            "kinds of noise token; the kinds of signal are vocab - noise - 1", "task"),
    WORD_KEY("slots", copy_settings, slots, SLOTS, "blank",
             "what stands where the answer is written: the marker, or the signals as they are given out",
             "task", KEY_RARE),
    {0},
};

const smx_task task_sc = {
    .name = "sc",
    .title = "Selective copy",
    .help = "Signals stand scattered among noise; after the marker, give them back in order.",
    .source = "Gu & Dao, Mamba (2023), Sec. 4.1.1; Li et al. (2025), Def. 4",
    .defaults = "length=64&vocab=21&noise=4&signals=8",
    .keys = sc_keys,
    .settings = sizeof(copy_settings),
    .open = sc_open,
    .generate = sc_generate,
};

const smx_task task_sc_unique = {
    .name = "sc_unique",
    .title = "Selective copy, no repeats",
    .help = "Selective copy in which no signal occurs twice in a sequence.",
    .source = "Li et al., On the Power of Convolution Augmented Transformer (2025), Thm. 3",
    .defaults = "length=64&vocab=21&noise=4&signals=8",
    .keys = sc_keys,
    .settings = sizeof(copy_settings),
    .open = sc_unique_open,
    .generate = sc_generate,
};
