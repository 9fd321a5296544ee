// test_idx.c: MNIST's file format: what is right is read, and everything that is wrong is said in one
// sentence.
#include "proofs_tests/support/check.h"
#include "proofs_tests/support/edges.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tasks/files/data.h"
#include "tasks/files/idx.h"

static uint8_t images[16 + 3 * IDX_PIXELS + 1], labels[8 + 4];
static const char *said; // the last error's message

static void put(uint8_t *at, uint32_t x) {
    at[0] = (uint8_t)(x >> 24), at[1] = (uint8_t)(x >> 16), at[2] = (uint8_t)(x >> 8), at[3] = (uint8_t)x;
}

static int reset(void **state) {
    (void)state;
    put(images, 0x803), put(images + 4, 3), put(images + 8, 28), put(images + 12, 28);
    for (int i = 0; i < 3 * IDX_PIXELS; i++) images[16 + i] = (uint8_t)(i * 7);
    put(labels, 0x801), put(labels + 4, 3);
    labels[8] = 0, labels[9] = 9, labels[10] = 4;
    return 0;
}

static int try_open(idx_set *set, size_t image_bytes, size_t label_bytes) {
    static smx_error error;
    memset(&error, 0, sizeof error);
    // Exactly as many bytes as are given, so that a sanitizer sees any read past them.
    uint8_t *a = malloc(image_bytes + !image_bytes), *b = malloc(label_bytes + !label_bytes);
    assert_true(a && b);
    memcpy(a, images, image_bytes);
    memcpy(b, labels, label_bytes);
    int status = idx_open(set, a, image_bytes, "IMAGES", b, label_bytes, "LABELS", &error);
    if (status == 0) {
        assert_int_equal(set->count, 3);
        assert_memory_equal(set->pixels, images + 16, 3 * IDX_PIXELS);
        assert_memory_equal(set->labels, labels + 8, 3);
    } else {
        assert_string_equal(error.key, "data");
    }
    free(a);
    free(b);
    said = error.message;
    return status;
}

static void refuses(size_t image_bytes, size_t label_bytes, const char *a, const char *b) {
    idx_set set;
    assert_int_equal(try_open(&set, image_bytes, label_bytes), -1);
    if (!strstr(said, a) || !strstr(said, b)) fail_msg("\"%s\" should mention \"%s\" and \"%s\"", said, a, b);
}

enum { GOOD_IMAGES = 16 + 3 * IDX_PIXELS, GOOD_LABELS = 11 };

static void reads_a_good_pair(void **state) {
    (void)state;
    idx_set set;
    assert_int_equal(try_open(&set, GOOD_IMAGES, GOOD_LABELS), 0);
}

static void truncated(void **state) {
    (void)state;
    for (size_t n = 0; n < 16; n++) refuses(n, GOOD_LABELS, "IMAGES", "header of 16");
    refuses(16, GOOD_LABELS, "IMAGES", "cut short");
    refuses(GOOD_IMAGES - 1, GOOD_LABELS, "IMAGES", "cut short");
    for (size_t n = 0; n < 8; n++) refuses(GOOD_IMAGES, n, "LABELS", "header of 8");
    refuses(GOOD_IMAGES, GOOD_LABELS - 1, "LABELS", "cut short");
}

static void oversized(void **state) {
    (void)state;
    refuses(GOOD_IMAGES + 1, GOOD_LABELS, "IMAGES", "too long");
    refuses(GOOD_IMAGES, GOOD_LABELS + 1, "LABELS", "too long");
    put(images + 4, 0xffffffff); // must not wrap round to a size that fits, in 32 bits either
    refuses(GOOD_IMAGES, GOOD_LABELS, "IMAGES", "4294967295 images");
    for (uint32_t n = 1; n; n <<= 1) {
        put(images + 4, n);
        refuses(GOOD_IMAGES, GOOD_LABELS, "IMAGES", "images");
    }
}

static void wrong_magic(void **state) {
    (void)state;
    put(images, 0x801);
    refuses(GOOD_IMAGES, GOOD_LABELS, "IMAGES", "0x00000801");
    reset(NULL);
    put(images, 0x1f8b0803);
    refuses(GOOD_IMAGES, GOOD_LABELS, "IMAGES", "0x1f8b0803");
    reset(NULL);
    put(labels, 0x803);
    refuses(GOOD_IMAGES, GOOD_LABELS, "LABELS", "0x00000803");
}

static void wrong_content(void **state) {
    (void)state;
    put(images + 8, 14);
    refuses(GOOD_IMAGES, GOOD_LABELS, "IMAGES", "14x28");
    reset(NULL);
    labels[9] = 10;
    refuses(GOOD_IMAGES, GOOD_LABELS, "LABELS", "label 1 is 10");
    reset(NULL);
    put(labels + 4, 4);
    refuses(GOOD_IMAGES, GOOD_LABELS + 1, "LABELS", "4 labels for the 3 images");
    put(labels + 4, 0);
    refuses(GOOD_IMAGES, 8, "LABELS", "holds no labels");
}

// ---- gzip and files ----

static const uint8_t packed[] = { // "hello hello hello hello\n", gzip -9n
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9,
    0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00};

static void gunzips(void **state) {
    (void)state;
    smx_error error = {0};
    uint8_t *out, twice[2 * sizeof packed];
    size_t size;
    assert_int_equal(data_gunzip(&out, &size, packed, sizeof packed, "P", &error), 0);
    assert_int_equal(size, 24);
    assert_memory_equal(out, "hello hello hello hello\n", 24);
    free(out);
    memcpy(twice, packed, sizeof packed);
    memcpy(twice + sizeof packed, packed, sizeof packed);
    assert_int_equal(data_gunzip(&out, &size, twice, sizeof twice, "P", &error), 0); // two members
    assert_int_equal(size, 48);
    free(out);
    for (size_t n = 0; n < sizeof packed; n++) { // cut anywhere
        uint8_t *part = malloc(n + !n);
        assert_non_null(part);
        memcpy(part, packed, n);
        memset(&error, 0, sizeof error);
        assert_int_equal(data_gunzip(&out, &size, part, n, "P", &error), -1);
        assert_non_null(strstr(error.message, "P: the compressed file is cut short"));
        free(part);
    }
    uint8_t bad[sizeof packed];
    memcpy(bad, packed, sizeof packed);
    bad[sizeof bad - 6] ^= 1; // checksum
    assert_int_equal(data_gunzip(&out, &size, bad, sizeof bad, "P", &error), -1);
    assert_non_null(strstr(error.message, "damaged"));
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void finds_files(void **state) {
    (void)state;
    char folder[] = "/tmp/seqmix_test_XXXXXX", path[64];
    const char *set = getenv("SEQMIX_DATA");
    char *before = set ? strdup(set) : NULL; // for mnist_itself
    assert_non_null(mkdtemp(folder));
    setenv("SEQMIX_DATA", folder, 1);
    snprintf(path, sizeof path, "%s/one.gz", folder);
    write_file(path, packed, sizeof packed);
    smx_error error = {0};
    data_file *f = data_open("one", "text", &error), *g = data_open("one", "text", &error);
    assert_non_null(f);
    assert_ptr_equal(f, g); // one file, read once
    assert_int_equal(f->size, 24);
    data_close(g);
    assert_memory_equal(f->bytes, "hello", 5);
    data_close(f);
    write_file(path, packed, sizeof packed - 3);
    assert_null(data_open("one", "text", &error));
    assert_non_null(strstr(error.message, "cut short"));
    assert_string_equal(error.key, "text");
    unlink(path);
    assert_null(data_open("one", "text", &error));
    assert_non_null(strstr(error.message, "one: not found in $SEQMIX_DATA"));
    assert_null(data_open("/no/such/file", "text", &error));
    assert_non_null(strstr(error.message, "no such file"));
    // What is there and cannot be read is not said to be missing.
    snprintf(path, sizeof path, "%s/one", folder);
    assert_int_equal(symlink(path, path), 0);
    assert_null(data_open("one", "text", &error));
    assert_non_null(strstr(error.message, "/one: cannot be opened: "));
    assert_string_equal(error.key, "text");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_null(data_open("one", "text", &error));
    assert_non_null(strstr(error.message, "/one: is no regular file"));
    rmdir(path);
    // A text in the current folder is pointed out, as no one looks there; MNIST's files take no other place.
    char back[4096];
    assert_non_null(getcwd(back, sizeof back));
    assert_int_equal(chdir(folder), 0);
    setenv("SEQMIX_DATA", "/no/such/folder", 1);
    write_file("here.txt", "abc", 3);
    assert_null(data_open("here.txt", "text", &error));
    assert_non_null(strstr(error.message, "the one in this folder is ./here.txt"));
    assert_null(data_open("here.txt", "data", &error));
    assert_null(strstr(error.message, "./here.txt"));
    unlink("here.txt");
    // In data, and in no folder beside this one.
    assert_int_equal(mkdir("data", 0700) | mkdir("shared", 0700) | mkdir("shared/data", 0700), 0);
    write_file("data/there", "abcd", 4);
    write_file("shared/data/beside", "abc", 3);
    f = data_open("there", "text", &error);
    assert_true(f && f->size == 4);
    data_close(f);
    assert_int_equal(chdir("data"), 0);
    assert_null(data_open("beside", "text", &error));
    assert_non_null(strstr(error.message, "not found in $SEQMIX_DATA or data"));
    assert_null(strstr(error.message, "make mnist"));
    assert_null(data_open("beside", "data", &error)); // an image of MNIST
    assert_non_null(strstr(error.message, "not found in $SEQMIX_DATA or data; `make mnist` fetches it"));
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(unlink("data/there") | unlink("shared/data/beside"), 0);
    assert_int_equal(rmdir("data") | rmdir("shared/data") | rmdir("shared"), 0);
    assert_int_equal(chdir(back), 0);
    rmdir(folder);
    if (before)
        setenv("SEQMIX_DATA", before, 1);
    else
        unsetenv("SEQMIX_DATA");
    free(before);
}

static void takes_files_from_memory(void **state) {
    (void)state;
    smx_error error = {0};
    uint8_t bytes[] = "abc";
    assert_int_equal(smx_data_provide("memory", bytes, 3, &error), 0);
    bytes[0] = 'x'; // it was copied
    data_file *f = data_open("memory", "text", &error);
    assert_non_null(f);
    assert_memory_equal(f->bytes, "abc", 3);
    assert_int_equal(smx_data_provide("memory", packed, sizeof packed, &error), 0); // replaced while in use
    assert_memory_equal(f->bytes, "abc", 3);
    data_file *g = data_open("memory", "text", &error);
    assert_non_null(g);
    assert_int_equal(g->size, 24);
    data_close(f);
    data_close(g);
    assert_int_equal(smx_data_provide("memory", NULL, 0, &error), 0);
    assert_null(data_open("memory", "text", &error));
    // Too large a size is refused before a byte is read, compressed or not.
    assert_int_equal(smx_data_provide("memory", packed, (size_t)DATA_MOST + 1, &error), -1);
    assert_non_null(strstr(error.message, "at most"));
}

// The real files, where they are at hand.
static void mnist_itself(void **state) {
    (void)state;
    smx_error error = {0};
    data_file *images = data_open("train-images-idx3-ubyte", "data", &error);
    data_file *labels = data_open("train-labels-idx1-ubyte", "data", &error);
    if (!images || !labels) {
        data_close(images);
        data_close(labels);
        print_message("skipped: %s\n", error.message);
        skip();
    }
    idx_set set;
    int status =
        idx_open(&set, images->bytes, images->size, "images", labels->bytes, labels->size, "labels", &error);
    if (status) fail_msg("%s", error.message);
    assert_int_equal(set.count, 60000);
    static const int published[10] = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949};
    int count[10] = {0};
    uint64_t sum = 0;
    for (size_t i = 0; i < set.count; i++) count[set.labels[i]]++;
    for (size_t i = 0; i < set.count * IDX_PIXELS; i++) sum += set.pixels[i];
    assert_memory_equal(count, published, sizeof count);
    assert_true(fabs((double)sum / 255 / 60000 / IDX_PIXELS - 0.1307) < 1e-3);
    data_close(images);
    data_close(labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_a_good_pair, reset),
        cmocka_unit_test_setup(truncated, reset),
        cmocka_unit_test_setup(oversized, reset),
        cmocka_unit_test_setup(wrong_magic, reset),
        cmocka_unit_test_setup(wrong_content, reset),
        cmocka_unit_test(gunzips),
        cmocka_unit_test(finds_files),
        cmocka_unit_test(takes_files_from_memory),
        cmocka_unit_test(mnist_itself),
    };
    return cmocka_run_group_tests_name("IDX files", tests, NULL, NULL);
}
