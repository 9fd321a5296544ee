// test_labelled.c: tasks of what users have in files (cifar, texts, speech) on small files made here, what is
// said of bad ones; and pathfinder's pictures, whose answer is found again from the pixels.
#include "proofs_tests/support/check.h"
#include "proofs_tests/support/edges.h"

#include <sys/stat.h>
#include <unistd.h>

#include "kernels/core/philox.h"
#include "model/run/language/language.h"
#include "tasks/files/labelled.h"
#include "tasks/task.h"

static char folder[64];

static const char *at(const char *name) {
    static char path[4][200];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}
static void make_folder(const char *name) { assert_int_equal(mkdir(at(name), 0700), 0); }
static void write_bytes(const char *name, const void *bytes, size_t n) {
    FILE *f = fopen(at(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}
static void write_text(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/seqmix-labelled-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}
static int end(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

typedef struct {
    config *c;
    smx_task_instance in;
    smx_error error;
} opened;

static int open_text(opened *o, const char *text) {
    memset(o, 0, sizeof *o);
    o->c = config_parse(text, 0, &o->error);
    if (!o->c) fail_msg("%s: %s", text, o->error.message);
    o->in.task = smx_task_of(o->c);
    const int status = o->in.task->open(&o->in, o->c, o->c->common.length, &o->error);
    if (status) assert_null(o->in.data);
    return status;
}
static void close_task(opened *o) {
    if (o->in.release) o->in.release(o->in.data);
    config_free(o->c);
}
static opened open_task(const char *task, const char *place, const char *more) {
    char text[300];
    opened o;
    snprintf(text, sizeof text, "task=%s&folder=%s%s", task, place, more);
    if (open_text(&o, text)) fail_msg("%s: %s", text, o.error.message);
    return o;
}
static void refuses(const char *task, const char *place, const char *words) {
    char text[300];
    opened o;
    snprintf(text, sizeof text, "task=%s&folder=%s", task, place);
    check_trying("%s", text);
    if (!open_text(&o, text)) check_fail("is accepted");
    if (!strstr(o.error.message, words)) check_fail("says \"%.200s\"", o.error.message);
    assert_string_equal(o.error.key, "folder");
    if (strncmp(o.error.value, place, strlen(place))) check_fail("is about \"%.200s\"", o.error.value);
    close_task(&o);
}

static int tokens[4096], targets[1];
static float values[16384];
static void draw(const opened *o, uint32_t stream, uint64_t index) {
    smx_task_sample s = {tokens, values, targets, NULL};
    o->in.task->generate(&o->in, 5, stream, index, &s);
}
// A pass over the training items: each label as often as it occurs. counts [labels].
static void count_pass(const opened *o, size_t items, int *counts, size_t pass) {
    memset(counts, 0, 16 * sizeof *counts);
    for (size_t i = 0; i < items; i++) {
        draw(o, RNG_TRAIN, pass * items + i);
        assert_in_range(targets[0], 0, 15);
        counts[targets[0]]++;
    }
}

// ---- CIFAR-10

static uint8_t images[30 * 3073];
static void make_images(size_t n, int first) {
    for (size_t i = 0; i < n; i++) {
        images[i * 3073] = (uint8_t)((first + (int)i) % 10);
        for (size_t p = 0; p < 3072; p++)
            images[i * 3073 + 1 + p] = (uint8_t)(7 * i + p % 251 + p / 1024 * 31);
    }
}

static void cifar(void **state) {
    (void)state;
    make_folder("cifar");
    make_images(20, 0);
    write_bytes("cifar/data_batch_1.bin", images, 20 * 3073);
    make_images(3, 7);
    write_bytes("cifar/test_batch.bin", images, 3 * 3073);
    opened o = open_task("cifar", at("cifar"), "");
    assert_true(o.in.channels == 1 && o.in.classes == 10 && !o.in.per_position && o.in.length == 1024);
    for (uint64_t i = 0; i < 6; i++) { // in order, and again
        values[1024] = -77;
        draw(&o, RNG_EVAL, i);
        assert_true(values[1024] == -77); // the next sample's
        const uint8_t *p = images + i % 3 * 3073;
        assert_int_equal(targets[0], p[0]);
        for (int k = 0; k < 1024; k++) {
            const double grey = floor(0.299 * p[1 + k] + 0.587 * p[1025 + k] + 0.114 * p[2049 + k] + 0.5);
            assert_true(fabs(values[k] - (grey - 122.6) / 61) < 1.01 / 61); // (a half may round either way)
        }
    }
    int counts[16];
    for (size_t pass = 0; pass < 3; pass++) {
        count_pass(&o, 20, counts, pass);
        for (int l = 0; l < 10; l++) assert_int_equal(counts[l], 2);
    }
    close_task(&o);
    make_images(20, 0);
    write_bytes("cifar/data_batch_3.bin", images, 10 * 3073); // 2 is not there: 30 images then
    o = open_task("cifar", at("cifar"), "");
    count_pass(&o, 30, counts, 0);
    for (int l = 0; l < 10; l++) assert_int_equal(counts[l], 3);
    close_task(&o);
    refuses("cifar", at("nothing"), "there is no such folder");
    refuses("cifar", "no_such_name", "not found in $SEQMIX_DATA or data");
    refuses("cifar", "", "given: where the files are");
    write_bytes("cifar/test_batch.bin", images, 3073 + 5);
    refuses("cifar", at("cifar"), "3078 bytes, where CIFAR-10's files have a multiple of 3073");
    images[3073] = 10;
    write_bytes("cifar/test_batch.bin", images, 2 * 3073);
    refuses("cifar", at("cifar"), "the label of image 1 is 10");
    unlink(at("cifar/test_batch.bin"));
    refuses("cifar", at("cifar"), "test_batch.bin: cannot be read: No such file");
}

// ---- Texts

static void check_text(const opened *o, uint32_t stream, uint64_t index, int label, const char *text) {
    draw(o, stream, index);
    assert_int_equal(targets[0], label);
    for (size_t t = 0; t < o->in.length; t++)
        assert_int_equal(tokens[t], t < strlen(text) ? (uint8_t)text[t] + 1 : 0);
}

static void texts_of_a_table(void **state) {
    (void)state;
    char all[2000] = "";
    for (int i = 0; i < 30; i++) // an empty line and a carriage return do not matter
        sprintf(all + strlen(all), "%s\tline %d \xc3\xa9\t%s%s", i % 3 ? "bad" : "good", i,
                i == 4 ? "tab" : "", i % 2 ? "\r\n\n" : "\n");
    write_text("table.tsv", all);
    opened o = open_task("texts", at("table.tsv"), "&length=12");
    assert_true(o.in.vocab == 257 && o.in.classes == 2 && o.in.length == 12);
    check_text(&o, RNG_EVAL, 0, 1, "line 9 \xc3\xa9\t"); // line 9 is good: labels in order of name
    check_text(&o, RNG_EVAL, 1, 0, "line 19 \xc3\xa9\t");
    check_text(&o, RNG_EVAL, 2, 0, "line 29 \xc3\xa9\t");
    check_text(&o, RNG_EVAL, 3, 1, "line 9 \xc3\xa9\t");
    int counts[16];
    count_pass(&o, 27, counts, 1);
    assert_true(counts[0] == 18 && counts[1] == 9);
    close_task(&o);
    make_folder("tables");
    write_text("tables/train.tsv", "a\tone\nb\ttwo\nc\tthree\n");
    write_text("tables/test.tsv", "c\tand a long line\nb\t");
    o = open_task("texts", at("tables"), "&length=5");
    assert_int_equal(o.in.classes, 3);
    check_text(&o, RNG_EVAL, 0, 2, "and a");
    check_text(&o, RNG_EVAL, 1, 1, "");
    close_task(&o);
    write_text("tables/test.tsv", "d\tand\n");
    refuses("texts", at("tables"), "line 1 has a label that training lacks");
    write_text("tables/test.tsv", "a\tand\nno tab\n");
    refuses("texts", at("tables"), "test.tsv: line 2 has no label and tab in front of its text");
    write_text("tables/train.tsv", "a\tone\n\tno label\n");
    refuses("texts", at("tables"), "train.tsv: line 2 has no label");
    write_text("tables/train.tsv", "a\tone\na\ttwo\n");
    refuses("texts", at("tables"), "label");
    write_text("table.tsv", "a\tone\nb\ttwo\n");
    refuses("texts", at("table.tsv"), "holds nothing to evaluate on");
    write_text("table.tsv", "a\tone\na\ttwo\n");
    refuses("texts", at("table.tsv"), "holds 1 classes; two at least");
    write_text("table.tsv", "");
    refuses("texts", at("table.tsv"), "holds 0 classes");
}

static void texts_of_folders(void **state) {
    (void)state;
    for (int split = 0; split < 2; split++) {
        char name[64], text[64];
        make_folder(split ? "imdb/test" : "imdb");
        if (!split) make_folder("imdb/train");
        for (int class = 0; class < 2; class ++)
            for (int i = 0; i < 4 && split == 0; i++) {
                snprintf(name, sizeof name, "imdb/train/%s", class ? "pos" : "neg");
                if (!i) make_folder(name);
                snprintf(name, sizeof name, "imdb/train/%s/%d.txt", class ? "pos" : "neg", i);
                snprintf(text, sizeof text, "train %d %d", class, i);
                write_text(name, text);
            }
    }
    make_folder("imdb/test/pos");
    write_text("imdb/test/pos/0.txt", "a test");
    opened o = open_task("texts", at("imdb"), "&length=16");
    assert_int_equal(o.in.classes, 2);
    check_text(&o, RNG_EVAL, 0, 1, "a test");
    int counts[16];
    count_pass(&o, 8, counts, 2);
    assert_true(counts[0] == 4 && counts[1] == 4);
    close_task(&o);
    make_folder("imdb/test/unknown");
    write_text("imdb/test/unknown/0.txt", "a test");
    refuses("texts", at("imdb"), "the class unknown is not among those of training");
    make_folder("imdb/test/hollow");
    make_folder("plain");
    refuses("texts", at("plain"), "holds no folders of classes");
    make_folder("plain/one");
    refuses("texts", at("plain"), "plain/one: holds no files");
}

// ---- Sounds

static size_t wav(uint8_t *to, const int16_t *samples, size_t n, unsigned channels, unsigned bits, int odd) {
    uint8_t *p = to;
#define PUT(x, bytes)                                                                                        \
    for (int k_ = 0; k_ < (bytes); k_++) *p++ = (uint8_t)((x) >> (8 * k_))
    memcpy(p, "RIFF", 4), p += 4;
    PUT(36 + 2 * n, 4);
    memcpy(p, "WAVE", 4), p += 4;
    if (odd) { // a chunk that nobody knows, of an odd size, stands in front
        memcpy(p, "LIST\3\0\0\0abc\0", 12);
        p += 12;
    }
    memcpy(p, "fmt ", 4), p += 4;
    PUT(16u, 4);
    PUT(1u, 2);
    PUT(channels, 2);
    PUT(16000u, 4);
    PUT(32000u, 4);
    PUT(2u, 2);
    PUT(bits, 2);
    memcpy(p, "data", 4), p += 4;
    PUT(2 * n, 4);
    for (size_t i = 0; i < n; i++) PUT((uint16_t)samples[i], 2);
    return (size_t)(p - to);
}

static void speech(void **state) {
    (void)state;
    static uint8_t bytes[4096];
    int16_t samples[64];
    char name[96];
    make_folder("speech");
    make_folder("speech/_background_noise_");
    write_text("speech/_background_noise_/README.md", "no word");
    static const char *const words[] = {"yes", "no", "up"};
    for (int w = 0; w < 3; w++) {
        snprintf(name, sizeof name, "speech/%s", words[w]);
        make_folder(name);
        for (int i = 0; i < 12; i++) {
            for (int k = 0; k < 64; k++) samples[k] = (int16_t)(k * 1000 - 32000 + w * 10 + i);
            snprintf(name, sizeof name, "speech/%s/%02d.wav", words[w], i);
            write_bytes(name, bytes, wav(bytes, samples, 60 + (size_t)(i % 4), 1, 16, i % 2));
        }
    }
    opened o = open_task("speech", at("speech"), "&length=64");
    assert_true(o.in.classes == 3 && o.in.channels == 1);
    for (int i = 0; i < 3; i++) { // the tenth of each: no, up, yes
        draw(&o, RNG_EVAL, (uint64_t)i);
        assert_int_equal(targets[0], i);
        const int w = i == 0 ? 1 : i == 1 ? 2 : 0;
        for (int k = 0; k < 64; k++)
            assert_true(values[k] == (k < 61 ? (float)(k * 1000 - 32000 + w * 10 + 9) / 32768 : 0.0f));
    }
    int counts[16];
    count_pass(&o, 33, counts, 0);
    assert_true(counts[0] == 11 && counts[1] == 11 && counts[2] == 11);
    close_task(&o);
    write_text("speech/testing_list.txt", "yes/00.wav\r\nup/011.wav\nup/11.wav");
    o = open_task("speech", at("speech"), "&length=8");
    draw(&o, RNG_EVAL, 0);
    assert_int_equal(targets[0], 1);
    assert_true(values[0] == (float)(-32000 + 20 + 11) / 32768);
    draw(&o, RNG_EVAL, 1);
    assert_int_equal(targets[0], 2);
    close_task(&o);
    unlink(at("speech/testing_list.txt"));
    o = open_task("speech", at("speech"), "&length=8&recordings=10");
    count_pass(&o, 27, counts, 0);
    assert_true(counts[0] == 9 && counts[2] == 9);
    close_task(&o);
    const char *bad = "speech/yes/00.wav";
    char place[200];
    snprintf(place, sizeof place, "%s", at("speech"));
    const size_t n = wav(bytes, samples, 64, 1, 16, 0);
    write_bytes(bad, bytes, n - 3);
    refuses("speech", place, "00.wav: is cut short: 128 bytes of sound, 125 are there");
    write_bytes(bad, bytes, 30);
    refuses("speech", place, "its header is cut short");
    write_bytes(bad, bytes, 11);
    refuses("speech", place, "is no WAV file");
    write_bytes(bad, bytes, 36);
    refuses("speech", place, "holds no sound");
    write_bytes(bad, bytes, wav(bytes, samples, 64, 2, 16, 0));
    refuses("speech", place, "2 channels and 16 bits");
    write_bytes(bad, bytes, wav(bytes, samples, 64, 1, 8, 0));
    refuses("speech", place, "1 channels and 8 bits");
    memmove(bytes + 12, bytes + 36, 136);
    write_bytes(bad, bytes, 148);
    refuses("speech", place, "its sound stands before its header");
}

// ---- Pathfinder

enum { SIDE = 32 };
// Of the 3x3 squares the brightest, and the brightest that is apart from it: the discs.
static void find_discs(const float *x, int disc[2]) {
    for (int d = 0; d < 2; d++) {
        double best = -100;
        int found = 0;
        for (int r = 1; r < SIDE - 1; r++)
            for (int c = 1; c < SIDE - 1; c++) {
                double sum = 0;
                for (int i = -1; i <= 1; i++)
                    for (int j = -1; j <= 1; j++) sum += (double)x[(r + i) * SIDE + c + j];
                const int dr = r - disc[0] / SIDE, dc = c - disc[0] % SIDE;
                if (sum <= best || (d && dr * dr + dc * dc < 10)) continue;
                best = sum;
                found = r * SIDE + c;
            }
        disc[d] = found;
    }
}
// Whether there is ink all the way from one to the other, corners counting as touching.
static int joined(const float *x, const int disc[2]) {
    int seen[SIDE * SIDE] = {0}, stack[SIDE * SIDE], n = 0;
    seen[stack[n++] = disc[0]] = 1;
    while (n) {
        const int p = stack[--n];
        for (int r = p / SIDE - 1; r <= p / SIDE + 1; r++)
            for (int c = p % SIDE - 1; c <= p % SIDE + 1; c++) {
                if (r < 0 || c < 0 || r >= SIDE || c >= SIDE) continue;
                if (seen[r * SIDE + c] || x[r * SIDE + c] <= -0.5f) continue;
                seen[stack[n++] = r * SIDE + c] = 1;
            }
    }
    return seen[disc[1]];
}

static void pathfinder(void **state) {
    (void)state;
    static const char *const cases[] = {"task=pathfinder", "task=pathfinder&dashes=9&distractors=0",
                                        "task=pathfinder&dashes=3&distractors=20&continuity=100"};
    for (size_t k = 0; k < CHECK_COUNT(cases); k++) {
        opened o;
        assert_int_equal(open_text(&o, cases[k]), 0);
        check_trying("%s", cases[k]);
        int of[2] = {0, 0}, right[2] = {0, 0};
        double ink = 0, far[2] = {0, 0};
        for (uint64_t i = 0; i < 400; i++) {
            int disc[2] = {0, 0};
            draw(&o, RNG_TRAIN, i);
            for (int p = 0; p < SIDE * SIDE; p++) {
                assert_true(values[p] >= -1 && values[p] <= 1);
                ink += (double)values[p] / 2 + 0.5;
            }
            find_discs(values, disc);
            assert_true(targets[0] == 0 || targets[0] == 1);
            of[targets[0]]++;
            far[targets[0]] += hypot(disc[0] / SIDE - disc[1] / SIDE, disc[0] % SIDE - disc[1] % SIDE);
            right[targets[0]] += joined(values, disc) == targets[0];
        }
        // The ends of one curve are always joined; those of two hardly ever look so.
        if (right[1] < 0.99 * of[1] || right[0] < 0.93 * of[0])
            check_fail("%d of %d joined, %d of %d apart", right[1], of[1], right[0], of[0]);
        // The distance of the discs says nothing.
        assert_true(fabs(far[0] / of[0] - far[1] / of[1]) < 1.2);
        assert_true(of[0] > 150 && of[1] > 150 && ink / 400 > 30);
        close_task(&o);
    }
    smx_error error;
    config *c = config_parse("task=pathfinder&length=64", 0, &error);
    smx_task_instance in = {0};
    assert_int_equal(smx_task_of(c)->open(&in, c, 64, &error), -1);
    assert_non_null(strstr(error.message, "1024, the 32x32 pixels"));
    config_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cifar, begin, end),
        cmocka_unit_test_setup_teardown(texts_of_a_table, begin, end),
        cmocka_unit_test_setup_teardown(texts_of_folders, begin, end),
        cmocka_unit_test_setup_teardown(speech, begin, end),
        cmocka_unit_test(pathfinder),
    };
    return cmocka_run_group_tests_name("labelled", tests, NULL, NULL);
}
