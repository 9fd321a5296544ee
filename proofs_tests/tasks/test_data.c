// test_data.c: the files behind the tasks: shared by threads, regular only.
#include "proofs_tests/support/check.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tasks/files/data.h"
#include <seqmix/run.h>

static char folder[64], text[96];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/seqmix-data-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(text, sizeof text, "%s/text", folder);
    FILE *f = fopen(text, "wb");
    if (!f) return -1;
    for (int i = 0; i < 4000; i++) fputc("Brevis esse laboro. "[i % 20], f);
    return fclose(f);
}
static int remove_folder(void **state) {
    (void)state;
    unlink(text);
    return rmdir(folder);
}

// Every thread opens and closes a file that stays, one that is handed over anew all the time, and one of the
// disk, by themselves and under runs. Without a lock around the list of files the first one's users are
// miscounted, and two threads free one file.
enum { THREADS = 8, ROUNDS = 400000, RUNS = 40 };
static void *open_and_close(void *arg) {
    const size_t thread = (size_t)arg;
    char config[220], bytes[600];
    smx_error e = {0};
    for (size_t i = 0; i < ROUNDS; i++) {
        data_close(data_open("kept", "text", &e));
        memset(bytes, 'a' + (int)((thread + i) % 26), sizeof bytes);
        if (i % 7 == thread % 7 && smx_data_provide("handed", bytes, sizeof bytes, &e)) return "provide";
        data_file *f = data_open(i % 64 ? "handed" : text, "text", &e);
        if (!f) return "open";
        if (i % 64 && f->bytes[0] != f->bytes[f->size - 1]) return "other bytes";
        data_close(f);
    }
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(config, sizeof config, "mixer=cat&task=charlm&length=8&width=8&batch=1&text=%s",
                 i % 2 ? "handed" : text);
        smx_run *r = smx_run_open(config, &e);
        if (!r || smx_run_step(r, 1, &e)) return "a run";
        smx_run_close(r);
    }
    return NULL;
}
static void threads_share_files(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    assert_int_equal(smx_data_provide("handed", (char[600]){0}, 600, NULL), 0);
    assert_int_equal(smx_data_provide("kept", (char[600]){0}, 600, NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        if (failed) fail_msg("thread %zu: %s", i, (const char *)failed);
    }
    data_file *kept = data_open("kept", "text", NULL);
    assert_non_null(kept);
    assert_int_equal(kept->users, 2); // the list, and this
    data_close(kept);
    smx_data_provide("kept", NULL, 0, NULL);
    smx_data_provide("handed", NULL, 0, NULL);
}

// A pipe would be waited for, a device may be endless; a folder is neither.
static void only_regular_files(void **state) {
    (void)state;
    char pipe[96], config[3][220];
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    snprintf(config[0], sizeof config[0], "task=charlm&text=%s", pipe);
    snprintf(config[1], sizeof config[1], "task=charlm&text=%s", folder);
    snprintf(config[2], sizeof config[2], "task=charlm&text=/dev/zero"); // only opened for reading
    alarm(20);
    for (size_t i = 0; i < CHECK_COUNT(config); i++) {
        smx_error e = {0};
        if (smx_run_open(config[i], &e)) fail_msg("%s opens", config[i]);
        if (!strstr(e.message, "no regular file")) fail_msg("%s: %s", config[i], e.message);
        assert_string_equal(e.key, "text");
        assert_null(smx_run_open(config[i], NULL));
    }
    alarm(0);
    unlink(pipe);
}

// Both orders of UTF-16, every length in UTF-8 and its edges; halves of a pair alone and a byte left over.
static void utf16_is_read(void **state) {
    (void)state;
    static const struct {
        uint16_t units[2];
        const char *utf8;
    } letters[] = {
        {{1}, "\x01"},
        {{'a'}, "a"},
        {{0x7f}, "\x7f"},
        {{0x80}, "\xc2\x80"},
        {{0x7ff}, "\xdf\xbf"},
        {{0x800}, "\xe0\xa0\x80"},
        {{0xd7ff}, "\xed\x9f\xbf"},
        {{0xe000}, "\xee\x80\x80"},
        {{0xffff}, "\xef\xbf\xbf"},
        {{0xd800, 0xdc00}, "\xf0\x90\x80\x80"},
        {{0xd83d, 0xde00}, "\xf0\x9f\x98\x80"},
        {{0xdbff, 0xdfff}, "\xf4\x8f\xbf\xbf"},
        {{0xdc00}, "\xef\xbf\xbd"},
        {{0xdfff}, "\xef\xbf\xbd"},
        {{0xd800, 'b'},
         "\xef\xbf\xbd"
         "b"},
        {{0xdbff, 0xd800}, "\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (int big = 0; big < 2; big++)
        for (size_t from = 0; from < CHECK_COUNT(letters); from++)
            for (size_t odd = 0; odd < 2; odd++) { // these letters to the last, in front of one of their own
                uint8_t bytes[2 + 4 * CHECK_COUNT(letters) + 1] = {big ? 0xfe : 0xff, big ? 0xff : 0xfe};
                char wanted[8 * CHECK_COUNT(letters)] = "";
                size_t n = 2;
                for (size_t i = from; i < CHECK_COUNT(letters); i++) {
                    for (int u = 0; u < 2 && letters[i].units[u]; u++) {
                        bytes[n + (size_t)!big] = (uint8_t)(letters[i].units[u] >> 8);
                        bytes[n + (size_t)big] = (uint8_t)letters[i].units[u];
                        n += 2;
                    }
                    strcat(wanted, letters[i].utf8);
                }
                bytes[n] = 'x';
                assert_int_equal(smx_data_provide("letters", bytes, n + odd, NULL), 0);
                data_file *f = data_open("letters", "text", NULL);
                assert_non_null(f);
                assert_int_equal(f->utf16, 1);
                assert_int_equal(f->size, strlen(wanted));
                assert_memory_equal(f->bytes, wanted, f->size);
                data_close(f);
            }
    // Without a mark, or with half of one, bytes are bytes.
    static const char *const others[] = {"\xfe\xfe"
                                         "ab",
                                         "\xff\xff"
                                         "ab",
                                         "\xff"
                                         "a",
                                         "\xfe"
                                         "a",
                                         "\xff",
                                         "\xfe",
                                         "\xef\xbb\xbf"
                                         "a"};
    for (size_t i = 0; i < CHECK_COUNT(others); i++) {
        assert_int_equal(smx_data_provide("letters", others[i], strlen(others[i]), NULL), 0);
        data_file *f = data_open("letters", "text", NULL);
        assert_non_null(f);
        assert_true(!f->utf16 && f->size == strlen(others[i]) && !memcmp(f->bytes, others[i], f->size));
        data_close(f);
    }
    smx_data_provide("letters", NULL, 0, NULL);
}

// Two members are one text, what follows them is not looked at; cut anywhere, or with a byte changed, it is
// refused.
static size_t packed(uint8_t *to, size_t room, const uint8_t *from, size_t n) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)from, z.avail_in = (uInt)n;
    z.next_out = to, z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}
static void gzip_is_unpacked(void **state) {
    (void)state;
    enum { FIRST = 1 << 16, ALL = FIRST + 300 }; // the first fills what is allocated at first
    static uint8_t plain[ALL], bytes[ALL];
    for (size_t i = 0; i < ALL; i++) plain[i] = (uint8_t)(i % 251 * (i / 251 + 1));
    const size_t first = packed(bytes, sizeof bytes, plain, FIRST),
                 n = first + packed(bytes + first, sizeof bytes - first, plain + FIRST, ALL - FIRST);
    memcpy(bytes + n, "more", 4);
    smx_error e = {0};
    for (size_t more = 0; more <= 4; more++) {
        uint8_t *out = NULL;
        size_t size = 0;
        if (data_gunzip(&out, &size, bytes, n + more, "it", &e)) fail_msg("%s", e.message);
        assert_int_equal(size, ALL);
        assert_memory_equal(out, plain, ALL);
        free(out);
    }
    for (size_t cut = 3; cut < n; cut += cut + 40 < first || (cut > first + 9 && cut + 40 < n) ? 37 : 1) {
        uint8_t *out = NULL;
        size_t size = 0, said = 0;
        const int whole = cut == first || cut == first + 1; // a byte is no member yet
        if (data_gunzip(&out, &size, bytes, cut, "it", &e) != (whole ? 0 : -1))
            fail_msg("%zu of %zu bytes", cut, n);
        if (whole) assert_true(size == FIRST && !memcmp(out, plain, FIRST));
        free(out);
        if (whole) continue;
        if (sscanf(e.message, "it: the compressed file is cut short (%zu bytes", &said) != 1 ||
            said > (cut < first ? FIRST : ALL))
            fail_msg("%s", e.message);
    }
    for (size_t at = 10; at < n; at += at + 40 < first || at > first + 40 ? 41 : 1) {
        uint8_t *out = NULL;
        size_t size;
        if (at >= first && at < first + 10) continue; // its head: no member
        bytes[at] ^= 0x40;
        if (!data_gunzip(&out, &size, bytes, n, "it", &e)) fail_msg("byte %zu may be anything", at);
        bytes[at] ^= 0x40;
    }
}

// A path in a checkpoint is followed only where whoever loads it says it again.
static void paths_in_checkpoints(void **state) {
    (void)state;
    char config[220], again[160];
    snprintf(again, sizeof again, "text=%s", text);
    snprintf(config, sizeof config, "mixer=cat&task=charlm&length=8&width=8&batch=1&%s", again);
    smx_error e = {0};
    smx_run *r = smx_run_open(config, &e);
    if (!r) fail_msg("%s", e.message);
    size_t size;
    void *bytes = smx_run_save(r, &size, &e);
    assert_non_null(bytes);
    const char *const silent[] = {NULL, "", "steps=301", "steps=301&split=tenth"};
    for (size_t i = 0; i < CHECK_COUNT(silent); i++) {
        assert_null(smx_run_load(bytes, size, silent[i], &e));
        assert_string_equal(e.key, "text");
    }
    smx_run *loaded = smx_run_load(bytes, size, again, &e);
    if (!loaded) fail_msg("%s", e.message);
    smx_run_close(loaded);
    smx_run_close(r);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_files),
                                       cmocka_unit_test(only_regular_files), cmocka_unit_test(utf16_is_read),
                                       cmocka_unit_test(gzip_is_unpacked),
                                       cmocka_unit_test(paths_in_checkpoints)};
    return cmocka_run_group_tests_name("data", tests, make_folder, remove_folder);
}
