// labelled.c: classification of what users have in files: cifar (CIFAR-10's images as grey pixels), texts
// (bytes) and speech (sound waves): the Long Range Arena's images and texts (Tay et al. 2021) and SC10/SC35
// (Romero et al. 2021; Gu et al. 2022). The program's alone, not of the WebAssembly modules.
#include <stdlib.h>

#include "tasks/files/labelled.h"
#include "tasks/util.h"

typedef struct {
    const char *folder;
    size_t recordings;
} labelled_settings;

static void labelled_release(void *data) {
    labelled_free(data);
    free(data);
}

typedef int (*reader)(labelled_set *set, const char *path, const labelled_settings *s, smx_error *error);

static int labelled_open(smx_task_instance *in, const config *c, size_t length, reader read,
                         smx_error *error) {
    const labelled_settings *s = c->task;
    char path[4096];
    if (!s->folder[0])
        return config_fail(error, c, "folder", "given: where the files are, as in folder=./data/NAME");
    if (labelled_place(path, sizeof path, s->folder, error)) return -1;
    labelled_set *set = instance_data(in, sizeof *set, length, error);
    if (!set) return -1;
    in->release = labelled_release;
    if (read(set, path, s, error)) {
        labelled_release(set);
        in->data = NULL;
        in->release = NULL;
        return -1;
    }
    in->length = length;
    in->vocab = 0;
    in->channels = 1;
    in->classes = set->classes;
    in->per_position = 0;
    in->max_targets = 1;
    return 0;
}

// Training: every item once a pass, in an order of its own; evaluation in order, and from the start again.
static const labelled_item *item_of(const smx_task_instance *in, uint64_t seed, uint32_t stream,
                                    uint64_t index, smx_task_sample *sample) {
    const labelled_set *set = in->data;
    const labelled_item *item = stream == RNG_EVAL ? set->test + index % set->tests
                                                   : set->train + shuffled(index % set->trains, set->trains,
                                                                           seed, index / set->trains);
    sample->targets[0] = item->label;
    return item;
}

#define FOLDER_KEY                                                                                           \
    TEXT_KEY("folder", labelled_settings, folder, "",                                                        \
             "where the files are: a path, or a name in $SEQMIX_DATA or data", "task")

// ---- cifar

static int read_cifar(labelled_set *set, const char *path, const labelled_settings *s, smx_error *error) {
    (void)s;
    return labelled_cifar(set, path, error);
}
static int cifar_task_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length != CIFAR_PIXELS) return length_fail(error, length, "1024, the 32x32 pixels");
    return labelled_open(in, c, length, read_cifar, error);
}
// Grey as in ITU-R 601, standardised by the training images' mean and deviation as S4's configuration has
// them.
static void cifar_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                           smx_task_sample *sample) {
    const uint8_t *p = item_of(in, seed, stream, index, sample)->bytes;
    for (size_t i = 0; i < CIFAR_PIXELS; i++) {
        const int grey =
            (299 * p[i] + 587 * p[CIFAR_PIXELS + i] + 114 * p[2 * CIFAR_PIXELS + i] + 500) / 1000;
        sample->values[i] = (float)((grey - 122.6) / 61.0);
    }
}
static const config_key cifar_keys[] = {FOLDER_KEY, {0}};
const smx_task task_cifar = {
    .name = "cifar",
    .title = "CIFAR-10, pixel by pixel",
    .help = "Which of ten things does an image of 32x32 grey pixels show, read as a sequence?",
    .source = "Krizhevsky (2009); Tay et al., Long Range Arena (2021)",
    .defaults = "length=1024&width=64&batch=16",
    .keys = cifar_keys,
    .settings = sizeof(labelled_settings),
    .files = 1,
    .open = cifar_task_open,
    .generate = cifar_generate,
};

// ---- texts

static int read_texts(labelled_set *set, const char *path, const labelled_settings *s, smx_error *error) {
    (void)s;
    return labelled_texts(set, path, error);
}
static int texts_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length < 1) return length_fail(error, length, "at least 1");
    if (labelled_open(in, c, length, read_texts, error)) return -1;
    in->vocab = 257; // a byte + 1; 0 fills what is left
    in->channels = 0;
    return 0;
}
static void texts_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                           smx_task_sample *sample) {
    const labelled_item *item = item_of(in, seed, stream, index, sample);
    for (size_t t = 0; t < in->length; t++) sample->tokens[t] = t < item->size ? item->bytes[t] + 1 : 0;
}
const smx_task task_texts = {
    .name = "texts",
    .title = "Labelled texts",
    .help = "Which class is a text of, read byte by byte?",
    .source = "Maas et al. (2011); Tay et al., Long Range Arena (2021)",
    .defaults = "length=1024&width=64&batch=16",
    .keys = cifar_keys,
    .settings = sizeof(labelled_settings),
    .files = 1,
    .open = texts_open,
    .generate = texts_generate,
};

// ---- speech

static int read_speech(labelled_set *set, const char *path, const labelled_settings *s, smx_error *error) {
    return labelled_sounds(set, path, s->recordings, error);
}
static int speech_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length < 1) return length_fail(error, length, "at least 1");
    return labelled_open(in, c, length, read_speech, error);
}
static void speech_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                            smx_task_sample *sample) {
    const labelled_item *item = item_of(in, seed, stream, index, sample);
    for (size_t t = 0; t < in->length; t++) {
        const uint8_t *b = item->bytes + 2 * t;
        sample->values[t] = 2 * t + 1 < item->size ? (float)(int16_t)(b[0] | b[1] << 8) / 32768.0f : 0.0f;
    }
}
static const config_key speech_keys[] = {
    FOLDER_KEY,
    INT_KEY("recordings", labelled_settings, recordings, "0", 0, 1e9,
            "of each class, read into memory; 0: all", "task"),
    {0},
};
const smx_task task_speech = {
    .name = "speech",
    .title = "Spoken words",
    .help = "Which word is spoken in a second of sound, read sample by sample?",
    .source = "Warden, Speech Commands (2018); Romero et al. (2021)",
    .defaults = "length=16000&width=64&batch=4",
    .keys = speech_keys,
    .settings = sizeof(labelled_settings),
    .files = 1,
    .open = speech_open,
    .generate = speech_generate,
};
