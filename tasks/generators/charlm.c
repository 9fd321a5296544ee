// charlm.c: the next byte of a text. Any file: UTF-8 is read as bytes, so bits per character are bits per
// byte.
#include <stdlib.h>

#include "tasks/files/data.h"
#include "tasks/files/text_sample.h"
#include "tasks/util.h"

#define SPLITS(W) W(SPLIT_TENTH, "tenth") W(SPLIT_TEXT8, "text8") W(SPLIT_TEXT8_VALID, "text8_valid")

typedef struct {
    const char *text;
    enum { SPLITS(WORD_NAME) } split;
} charlm_settings;

typedef struct {
    const uint8_t *train, *eval; // inside the file
    size_t train_size, eval_size;
    data_file *file; // NULL: the sample
} text;

static void text_release(void *data) {
    data_close(((text *)data)->file);
    free(data);
}

static int charlm_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const charlm_settings *s = c->task;
    text *t = calloc(1, sizeof *t);
    if (!t) return length_fail(error, length, "there is no memory for the text");
    const char *name = s->text;
    const uint8_t *bytes = (const uint8_t *)text_sample;
    size_t size = sizeof text_sample - 1;
    if (strcmp(name, "sample")) {
        t->file = name[0] ? data_open(name, "text", error) : NULL;
        if (!name[0]) config_fail(error, c, "text", "a file's name, or sample");
        if (!t->file) goto fail;
        bytes = t->file->bytes;
        size = t->file->size;
        in->utf16 = t->file->utf16;
    }
    t->train = bytes;
    t->train_size = size - size / 10;
    t->eval = bytes + t->train_size;
    t->eval_size = size / 10;
    if (s->split != SPLIT_TENTH) { // Mahoney's files: 90, 5 and 5 million bytes
        if (size < 100000000) {
            config_fail(error, c, "split", "tenth for a text of %zu bytes: text8 and enwik8 have 100,000,000",
                        size);
            goto fail;
        }
        t->train_size = 90000000;
        t->eval = bytes + (s->split == SPLIT_TEXT8 ? 95000000 : 90000000);
        t->eval_size = 5000000;
    }
    if (t->eval_size < 2) {
        config_fail(error, c, "text", "a text of at least 20 bytes, and this one has %zu", size);
        goto fail;
    }
    if (length < 1 || t->eval_size < length + 1 || t->train_size < length + 1) {
        length_fail(error, length, "1 to %zu, less than the evaluation part of the text", t->eval_size - 1);
        goto fail;
    }
    in->data = t;
    in->release = text_release;
    answer_tokens(in, length, 256, length);
    return 0;
fail:
    text_release(t);
    return -1;
}

// Training: a window at a random place. Evaluation: window after window, without overlap, and from the start
// again.
static void charlm_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                            smx_task_sample *sample) {
    const text *t = in->data;
    const uint8_t *from;
    if (stream == RNG_EVAL) {
        from = t->eval + index % ((t->eval_size - 1) / in->length) * in->length;
    } else {
        smx_rng rng = rng_open(seed, stream, index);
        from = t->train + rng_below(&rng, (uint32_t)(t->train_size - in->length));
    }
    for (size_t i = 0; i < in->length; i++) {
        sample->tokens[i] = from[i];
        sample->targets[i] = from[i + 1];
    }
}

static const config_key charlm_keys[] = {
    TEXT_KEY("text", charlm_settings, text, "sample",
             "a file (any bytes, .gz too), or sample: the opening of Coriolanus", "task"),
    WORD_KEY(
        "split", charlm_settings, split, SPLITS, "tenth",
        "what is kept for evaluation: the last tenth, or of 100,000,000 bytes the last 5 million or those "
        "before",
        "task", KEY_RARE),
    {0},
};

const smx_task task_charlm = {
    .name = "charlm",
    .title = "Text",
    .help = "Which byte comes next? Judged in bits per character.",
    .source = "Mahoney, Large Text Compression Benchmark (text8, enwik8: 90, 5 and 5 million bytes)",
    .defaults = "length=64&vocab=256&width=64&batch=32",
    .keys = charlm_keys,
    .settings = sizeof(charlm_settings),
    .bytes = 1,
    .open = charlm_open,
    .generate = charlm_generate,
};
