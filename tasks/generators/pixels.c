// pixels.c: a digit's image as a sequence: smnist (raster order) and pmnist (one fixed random order of the
// pixels). Images are MNIST's (data=mnist) or drawn (data=digits, digits.c).
#include <stdio.h>
#include <stdlib.h>

#include "tasks/files/data.h"
#include "digits.h"
#include "tasks/files/idx.h"
#include "tasks/util.h"

#define INPUTS(W)                                                                                            \
    W(INPUT_AUTO, "auto") W(INPUT_ROWS, "rows") W(INPUT_PIXELS, "pixels") W(INPUT_PIXELS14, "pixels14")
#define TRAINED_ON(W) W(TRAIN_DIGITS, "digits") W(TRAIN_MNIST, "mnist")
#define TESTED_ON(W)                                                                                         \
    W(TEST_SAME, "same") W(TEST_DIGITS, "digits") W(TEST_MNIST, "mnist") W(TEST_MNIST_TRAIN, "mnist_train")

typedef struct {
    enum { INPUTS(WORD_NAME) } input;
    enum { TRAINED_ON(WORD_NAME) } data;
    enum { TESTED_ON(WORD_NAME) } test;
    size_t images, permutation;
} pixels_settings;

typedef struct {
    idx_set train, test; // count 0: not loaded
    data_file *file[4];
    uint16_t order[IDX_PIXELS]; // position t shows pixel order[t]
    float level[4 * 255 + 1];   // sum of four pixels (or 4 x one) -> standardised value
    int train_drawn, eval_drawn, eval_on_train, half;
    uint64_t images; // different ones to train on; 0: ever new
} pixels;

static void pixels_release(void *data) {
    pixels *p = data;
    for (int i = 0; i < 4; i++) data_close(p->file[i]);
    free(p);
}

static int load(idx_set *set, data_file **file, const char *images, const char *labels, smx_error *error) {
    if (!(file[0] = data_open(images, "data", error)) || !(file[1] = data_open(labels, "data", error))) {
        if (!error) return -1;
        const size_t n = strlen(error->message);
        snprintf(error->message + n, sizeof error->message - n, " (data=digits needs no files)");
        return -1;
    }
    return idx_open(set, file[0]->bytes, file[0]->size, images, file[1]->bytes, file[1]->size, labels, error);
}

// MNIST's customary mean and standard deviation (Xiao et al. print 0.1307, 0.3081), for drawn digits as well.
static void set_levels(float *level) {
    for (int i = 0; i <= 4 * 255; i++) level[i] = (float)((i / 1020.0 - 0.1307) / 0.3081);
}

// order [n]: the identity, or a random permutation that belongs to `permutation` alone (Fisher & Yates).
static void set_order(uint16_t *order, uint32_t n, int permuted, uint64_t permutation) {
    smx_rng rng = rng_open(permutation, RNG_SHUFFLE, 0);
    for (uint32_t i = 0; i < n; i++) order[i] = (uint16_t)i;
    for (uint32_t i = n - 1; permuted && i > 0; i--) {
        uint32_t j = rng_below(&rng, i + 1);
        uint16_t t = order[i];
        order[i] = order[j], order[j] = t;
    }
}

static int pixels_open(smx_task_instance *in, const config *c, size_t length, int permuted,
                       smx_error *error) {
    const pixels_settings *s = c->task;
    const int by_length = s->input == INPUT_AUTO;
    const int rows = s->input == INPUT_ROWS || (by_length && length == IDX_SIDE);
    const int half = s->input == INPUT_PIXELS14 || (by_length && length == IDX_PIXELS / 4);
    const int full = s->input == INPUT_PIXELS || (by_length && length == IDX_PIXELS);
    size_t right = rows ? IDX_SIDE : half ? IDX_PIXELS / 4 : IDX_PIXELS;
    if (!rows && !half && !full)
        return length_fail(error, length, "28 (rows of pixels), 196 (14x14 pixels) or 784 (28x28 pixels)");
    if (length != right)
        return length_fail(error, length, "%zu, with input=%s", right, config_get(c, "input"));

    pixels *p = calloc(1, sizeof *p);
    if (!p) return length_fail(error, length, "there is no memory for the images");
    const int drawn = s->data == TRAIN_DIGITS, on_train = s->test == TEST_MNIST_TRAIN;
    const int eval_drawn = s->test == TEST_SAME ? drawn : s->test == TEST_DIGITS;
    if ((!drawn || on_train) &&
        load(&p->train, p->file, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", error))
        goto fail;
    if (!eval_drawn && !on_train &&
        load(&p->test, p->file + 2, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", error))
        goto fail;
    if (!drawn && s->images > p->train.count) {
        config_fail(error, c, "images", "at most %zu, the training images (0: all)", p->train.count);
        goto fail;
    }
    set_levels(p->level);
    set_order(p->order, half ? IDX_PIXELS / 4 : IDX_PIXELS, permuted, s->permutation);
    in->data = p;
    in->release = pixels_release;
    in->length = length;
    in->vocab = 0;
    in->channels = rows ? IDX_SIDE : 1;
    in->classes = 10;
    in->per_position = 0;
    in->max_targets = 1;
    p->train_drawn = drawn;
    p->eval_drawn = eval_drawn;
    p->eval_on_train = on_train;
    p->images = s->images ? s->images : drawn ? 0 : p->train.count;
    p->half = half;
    return 0;
fail:
    pixels_release(p);
    return -1;
}

static int smnist_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return pixels_open(in, c, length, 0, error);
}

static int pmnist_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return pixels_open(in, c, length, 1, error);
}

static void pixels_image(const smx_task_instance *in, const uint8_t *image, float *values) {
    const pixels *p = in->data;
    if (!p->half) {
        for (size_t t = 0; t < IDX_PIXELS; t++) values[t] = p->level[4 * image[p->order[t]]];
        return;
    }
    for (size_t t = 0; t < IDX_PIXELS / 4; t++) { // means of 2x2
        const uint8_t *q = image + p->order[t] / 14 * 2 * IDX_SIDE + p->order[t] % 14 * 2;
        values[t] = p->level[q[0] + q[1] + q[IDX_SIDE] + q[IDX_SIDE + 1]];
    }
}

static void pixels_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                            smx_task_sample *sample) {
    const pixels *p = in->data;
    uint8_t drawn[IDX_PIXELS];
    const uint8_t *image = drawn;
    const uint64_t count = p->images;
    int train = stream == RNG_TRAIN;
    if (train ? p->train_drawn : p->eval_drawn) {
        if (train && count) index = shuffled(index % count, count, seed, index / count);
        smx_rng rng = rng_open(seed, stream, index);
        int digit = (int)rng_below(&rng, 10);
        digits_draw(drawn, &rng, digit);
        sample->targets[0] = digit;
    } else {
        const idx_set *set = train || p->eval_on_train ? &p->train : &p->test;
        // After the test images come those of the training set that nothing is trained on: they may choose.
        const uint64_t unseen = set == &p->test && !p->train_drawn ? p->train.count - count : 0;
        uint64_t i =
            train ? shuffled(index % count, count, seed, index / count) : index % (set->count + unseen);
        if (i >= set->count) {
            i = count + (i - set->count);
            set = &p->train;
        }
        image = set->pixels + i * IDX_PIXELS;
        sample->targets[0] = set->labels[i];
    }
    pixels_image(in, image, sample->values);
}

#define KEYS_OF_BOTH                                                                                              \
    WORD_KEY("input", pixels_settings, input, INPUTS, "auto",                                                     \
             "what a step sees: a row of 28 pixels, one pixel, one of 14x14 (2x2 means); auto: by length",        \
             "task"),                                                                                             \
        WORD_KEY("data", pixels_settings, data, TRAINED_ON, "digits",                                             \
                 "images to train on: procedural digits (drawn, no download) or MNIST", "task"),                  \
        WORD_KEY("test", pixels_settings, test, TESTED_ON, "same",                                                \
                 "images to evaluate on; same: newly drawn digits, or MNIST's test images", "task"),              \
        INT_KEY(                                                                                                  \
            "images", pixels_settings, images, "0", 0, 1e9,                                                       \
            "different training images, MNIST's first, the others judge after the test images; 0: all, or drawn", \
            "task", KEY_RARE)

static const config_key smnist_keys[] = {KEYS_OF_BOTH, {0}};
static const config_key pmnist_keys[] = {
    KEYS_OF_BOTH,
    INT_KEY("permutation", pixels_settings, permutation, "1", 0, 1e9,
            "number of the order in which the pixels are shown", "task", KEY_RARE),
    {0},
};

const smx_task task_smnist = {
    .name = "smnist",
    .title = "Sequential digits",
    .help = "Which digit do the pixels show, read as a sequence: 28 rows (length=28), 14x14 pixels (196) or "
            "28x28 (784)?",
    .source = "Le, Jaitly & Hinton (2015); LeCun, Cortes & Burges, MNIST",
    .defaults = "length=28&width=32&batch=32",
    .keys = smnist_keys,
    .settings = sizeof(pixels_settings),
    .open = smnist_open,
    .generate = pixels_generate,
    .image = pixels_image,
};

const smx_task task_pmnist = {
    .name = "pmnist",
    .title = "Permuted digits",
    .help = "Sequential digits, their pixels in one fixed random order.",
    .source = "Le, Jaitly & Hinton (2015); LeCun, Cortes & Burges, MNIST",
    .defaults = "length=196&width=32&batch=32",
    .keys = pmnist_keys,
    .settings = sizeof(pixels_settings),
    .open = pmnist_open,
    .generate = pixels_generate,
    .image = pixels_image,
    .permuted = 1,
};
