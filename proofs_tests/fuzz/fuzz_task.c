// fuzz_task.c: libFuzzer target for the tasks: any parameters that the config allows, at any length. A task
// is refused in a sentence, or every sample of it comes to an end, stays inside its arrays, holds what the
// instance says and is the same the second time.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/files/data.h"
#include "model/run/language/language.h"
#include "tasks/files/idx.h"
#include "model/run/language/recipes.h"
#include "kernels/core/philox.h"
#include <seqmix/run.h>
#include "tasks/task.h"

enum { LONGEST = 1 << 12, MOST_NUMBERS = 1 << 14 }; // budgets for one input, not limits of the tasks

static void check_error(const smx_error *e) {
    if (!e->key[0] || !e->message[0] || !memchr(e->message, 0, sizeof e->message)) abort();
}

// Two images and their labels, so that data=mnist opens.
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    static const char *const names[2][2] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                            {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}};
    uint8_t images[16 + 2 * IDX_PIXELS] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28};
    const uint8_t labels[10] = {0, 0, 8, 1, 0, 0, 0, 2, 3, 9};
    for (size_t i = 16; i < sizeof images; i++) images[i] = (uint8_t)(i * 7);
    smx_error e = {0};
    for (int i = 0; i < 2; i++)
        if (smx_data_provide(names[i][0], images, sizeof images, &e) ||
            smx_data_provide(names[i][1], labels, sizeof labels, &e))
            abort();
    return 0;
}

// The next byte; 0 behind the last.
typedef struct {
    const uint8_t *at, *end;
} input;
static unsigned next(input *in) { return in->at < in->end ? *in->at++ : 0; }

// Small numbers mostly, and those at both ends of the range.
static long whole(input *in, double low, double high) {
    const unsigned kind = next(in) % 8, x = next(in);
    const double v = kind < 4 ? low + x : kind < 6 ? low + x * 17 : kind == 6 ? high - x : ldexp(1, x % 20);
    return (long)(v < low ? low : v > high ? high : v);
}

static size_t write_key(char *to, size_t size, const config_key *k, input *in) {
    char word[64];
    if (k->type == KEY_INT) {
        snprintf(word, sizeof word, "%ld", whole(in, k->min, k->max));
    } else if (k->choices) {
        const char *choice = k->choices;
        for (unsigned skip = next(in) % 8; skip; skip--)
            choice = strchr(choice, '|') ? strchr(choice, '|') + 1 : k->choices;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(choice, "|"), choice);
    } else if (k->type == KEY_REAL) {
        snprintf(word, sizeof word, "%.6g", k->min + (k->max - k->min) * next(in) / 255);
    } else {
        snprintf(word, sizeof word, "%s", next(in) % 2 ? "sample" : "bytes");
    }
    return (size_t)snprintf(to, size, "&%s=%s", k->name, word);
}

typedef struct {
    size_t rows, numbers, answers;
    smx_task_sample s;
} room;

static void *exactly(size_t n) { // a block whose end the sanitizer watches
    void *p = malloc(n + !n);
    if (!p) abort();
    memset(p, 0x5a, n);
    return p;
}
static room room_for(const smx_task_instance *t) {
    room r = {
        .rows = t->length, .numbers = t->length * t->channels, .answers = t->per_position ? t->length : 1};
    r.s = (smx_task_sample){exactly(r.rows * 4), exactly(r.numbers * 4), exactly(r.answers * 4),
                            exactly(r.answers * 4)};
    return r;
}
static void release(room *r) {
    free(r->s.tokens);
    free(r->s.values);
    free(r->s.targets);
    free(r->s.target_values);
}

static void check_sample(const smx_task_instance *t, const room *r) {
    size_t asked = 0;
    for (size_t i = 0; t->vocab && i < r->rows; i++)
        if (r->s.tokens[i] < 0 || (size_t)r->s.tokens[i] >= t->vocab) abort();
    for (size_t i = 0; i < r->numbers; i++)
        if (!isfinite(r->s.values[i])) abort();
    for (size_t i = 0; i < r->answers; i++)
        if (t->classes) {
            if (r->s.targets[i] < -1 || r->s.targets[i] >= (int64_t)t->classes) abort();
            asked += r->s.targets[i] >= 0;
        } else {
            if (isinf(r->s.target_values[i])) abort();
            asked += !isnan(r->s.target_values[i]);
        }
    if (asked < 1 || asked > t->max_targets) abort();
}

static void generate(const smx_task_instance *t, uint64_t seed, uint64_t index) {
    room a = room_for(t), b = room_for(t);
    for (uint32_t stream = RNG_TRAIN; stream <= RNG_EVAL; stream++) {
        t->task->generate(t, seed, stream, index, &a.s);
        check_sample(t, &a);
        t->task->generate(t, seed, stream, index, &b.s);
        if ((t->vocab && memcmp(a.s.tokens, b.s.tokens, a.rows * 4)) ||
            memcmp(a.s.values, b.s.values, a.numbers * 4) ||
            (t->classes ? memcmp(a.s.targets, b.s.targets, a.answers * 4)
                        : memcmp(a.s.target_values, b.s.target_values, a.answers * 4)))
            abort();
    }
    release(&a);
    release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, data + size};
    smx_error e = {0};
    size_t tasks = 0, n;
    while (smx_tasks[tasks]) tasks++;
    const smx_task *task = smx_tasks[next(&in) % tasks];
    if (task->files) return 0; // (fuzz_labelled.c)
    char text[2048];
    n = (size_t)snprintf(text, sizeof text, "task=%s&vocab=%ld&length=%ld", task->name,
                         whole(&in, 2, 1 << 20), whole(&in, 1, LONGEST));
    for (const config_key *k = task->keys; k->name; k++) n += write_key(text + n, sizeof text - n, k, &in);
    const size_t elsewhere = next(&in) % 2 ? (size_t)whole(&in, 0, LONGEST) : 0; // length generalisation
    const uint64_t seed = next(&in), index = (uint64_t)next(&in) << (next(&in) % 57);
    if (smx_data_provide("bytes", in.at, (size_t)(in.end - in.at), &e)) check_error(&e);
    config *c = config_parse(text, 0, &e);
    if (!c) {
        check_error(&e);
        return 0;
    }
    smx_task_instance t = {0};
    t.task = task;
    if (task->open(&t, c, elsewhere ? elsewhere : c->common.length, &e)) {
        check_error(&e);
        if (t.data) abort();
    } else {
        if (t.length < 1 || !t.vocab == !t.channels) abort();
        if (t.length * (t.channels + 1) <= MOST_NUMBERS) generate(&t, seed, index);
        if (t.release) t.release(t.data);
    }
    config_free(c);
    return 0;
}
