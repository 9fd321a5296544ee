// test_vectors.c: `seqmix oracle` and `seqmix compare` on sets of test vectors: on proofs_tests/vectors
// (or $SEQMIX_VECTORS), and on a small set made here, whole and damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "model/base/json.h"
#include "cli/arrays/npy.h"

enum { TEXT = 4096 };
static char work[TEXT]; // a folder of its own

static const char *at(const char *folder, const char *name) {
    static char path[4][TEXT];
    static int turn;
    char *to = path[turn++ % 4];
    assert_true(snprintf(to, TEXT, "%s/%s", folder, name) < TEXT);
    return to;
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void remove_all(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        const char *path = at(folder, e->d_name);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            char inner[TEXT];
            strcpy(inner, path);
            remove_all(inner);
        } else {
            remove(path);
        }
    }
    closedir(d);
    rmdir(folder);
}

static int run_oracle(const char *manifest, const char *out) {
    char *argv[] = {"--manifest", (char *)manifest, "--out", (char *)out};
    return cli_oracle.run(4, argv);
}

static int run_compare(const char *manifest, const char *results, const char *option) {
    char *argv[] = {"--manifest", (char *)manifest, (char *)results, (char *)option};
    return cli_compare.run(option ? 4 : 3, argv);
}

static int set_up(void **unused) {
    (void)unused;
    const char *tmp = getenv("TMPDIR");
    snprintf(work, sizeof work, "%s/seqmix-vectors-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(work) ? 0 : -1;
}

static int tear_down(void **unused) {
    (void)unused;
    remove_all(work);
    return 0;
}

// ---- The set of proofs_tests/vectors
static const char *committed_manifest(void) {
    static char path[TEXT];
    const char *folder = getenv("SEQMIX_VECTORS");
    snprintf(path, sizeof path, "%s/manifest.json", folder && *folder ? folder : "proofs_tests/vectors");
    if (access(path, R_OK) == 0) return path;
    print_message("no test vectors: %s is not there (SEQMIX_VECTORS names their folder)\n", path);
    return NULL;
}

static void oracle_agrees_with_the_vectors(void **unused) {
    (void)unused;
    const char *manifest = committed_manifest(), *out = at(work, "committed");
    if (!manifest) skip();
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 0);
}

// The next ring's vectors, where there are any (the set of proofs_tests/vectors has none of them).
static void oracle_agrees_with_the_next_ring(void **unused) {
    (void)unused;
    const char *folder = getenv("SEQMIX_VECTORS_NEXT"), *out = at(work, "next");
    char manifest[TEXT];
    snprintf(manifest, sizeof manifest, "%s/manifest.json", folder ? folder : "");
    if (!folder || !*folder || access(manifest, R_OK)) {
        print_message("SEQMIX_VECTORS_NEXT names no folder of test vectors\n");
        skip();
    }
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 0);
}

// ---- A small set of our own: a layer norm of two rows, its expected values written out
static const char small_manifest[] = "{\"version\":1,\"f64_tol\":1e-12,\"cases\":[{\"name\":\"ln\","
                                     "\"mechanism\":\"layer_norm\",\"mode\":\"affine\","
                                     "\"params\":{\"L\":2,\"D\":2,\"eps\":0.75},\"inputs\":{"
                                     "\"x\":{\"file\":\"ln.x.npy\",\"shape\":[2,2],\"dtype\":\"<f8\"},"
                                     "\"gain\":{\"file\":\"ln.gain.npy\",\"shape\":[2],\"dtype\":\"<f8\"},"
                                     "\"bias\":{\"file\":\"ln.bias.npy\",\"shape\":[2],\"dtype\":\"<f8\"},"
                                     "\"dy\":{\"file\":\"ln.dy.npy\",\"shape\":[2,2],\"dtype\":\"<f8\"}},"
                                     "\"outputs\":{\"y\":{\"file\":\"ln.y.npy\",\"shape\":[2,2],\"dtype\":\"<"
                                     "f8\",\"f32_tol\":2e-5,\"scale\":1.5}},"
                                     "\"intermediates\":{},"
                                     "\"gradients\":{\"bias\":{\"file\":\"ln.d_bias.npy\",\"shape\":[2],"
                                     "\"dtype\":\"<f8\",\"f32_tol\":2e-5,\"scale\":5}}}]}";
// rows of variance 1/4: rstd = 1/sqrt(1/4 + 3/4) = 1
static const double small_x[4] = {1, 2, 5, 4}, small_gain[2] = {1, 2}, small_bias[2] = {0, 0.5},
                    small_dy[4] = {1, 2, 4, 3}, small_y[4] = {-0.5, 1.5, 0.5, -0.5}, small_d_bias[2] = {5, 5};

static void write_array(const char *folder, const char *name, size_t rows, const double *data) {
    smx_error error;
    size_t shape[2] = {rows, 2};
    int status = rows == 1 ? npy_write(at(folder, name), NPY_F8, 1, shape + 1, data, &error)
                           : npy_write(at(folder, name), NPY_F8, 2, shape, data, &error);
    if (status) fail_msg("%s", error.message);
}

// Makes the small set in a new folder of that name and returns the path of its manifest.
static const char *small_set(const char *name, const char *manifest) {
    static char folder[TEXT], path[TEXT];
    strcpy(folder, at(work, name));
    assert_int_equal(mkdir(folder, 0777), 0);
    write_array(folder, "ln.x.npy", 2, small_x);
    write_array(folder, "ln.gain.npy", 1, small_gain);
    write_array(folder, "ln.bias.npy", 1, small_bias);
    write_array(folder, "ln.dy.npy", 2, small_dy);
    write_array(folder, "ln.y.npy", 2, small_y);
    write_array(folder, "ln.d_bias.npy", 1, small_d_bias);
    strcpy(path, at(folder, "manifest.json"));
    write_text(path, manifest);
    return path;
}

static void small_set_passes_and_damage_fails(void **unused) {
    (void)unused;
    const char *manifest = small_set("small", small_manifest);
    char out[TEXT];
    strcpy(out, at(work, "deep/er/out")); // made with the folders above it
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 0);
    double y[4];
    memcpy(y, small_y, sizeof y);
    y[3] += 2e-12; // the tolerance is 1e-12 * 1.5
    write_array(out, "ln.y.npy", 2, y);
    assert_int_equal(run_compare(manifest, out, NULL), 1);
    assert_int_equal(run_compare(manifest, out, "--f32"), 0);
    y[3] = small_y[3] + 1e-12;
    write_array(out, "ln.y.npy", 2, y);
    assert_int_equal(run_compare(manifest, out, NULL), 0);
    y[3] = small_y[3] + 4e-5;
    write_array(out, "ln.y.npy", 2, y);
    assert_int_equal(run_compare(manifest, out, "--f32"), 1);
    y[3] = NAN;
    write_array(out, "ln.y.npy", 2, y);
    assert_int_equal(run_compare(manifest, out, "--f32"), 1);
    write_array(out, "ln.y.npy", 1, small_y); // another shape
    assert_int_equal(run_compare(manifest, out, NULL), 2);
    remove(at(out, "ln.y.npy"));
    assert_int_equal(run_compare(manifest, out, NULL), 2);
}

static void float32_results_are_judged_by_f32(void **unused) {
    (void)unused;
    const char *manifest = small_set("float", small_manifest);
    char out[TEXT];
    smx_error error;
    strcpy(out, at(work, "float-out"));
    assert_int_equal(run_oracle(manifest, out), 0);
    size_t shape[2] = {2, 2};
    float y[4] = {-0.5f, nextafterf(1.5f, 2.0f), 0.5f, -0.5f};
    assert_int_equal(npy_write(at(out, "ln.y.npy"), NPY_F4, 2, shape, y, &error), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 1);
    assert_int_equal(run_compare(manifest, out, "--f32"), 0);
    y[1] = 1.50001f; // within the tolerance, past what is proved of a row of layer norm
    assert_int_equal(npy_write(at(out, "ln.y.npy"), NPY_F4, 2, shape, y, &error), 0);
    assert_int_equal(run_compare(manifest, out, "--f32"), 1);
}

// The small manifest with one piece replaced, run by the oracle.
static int changed(const char *from, const char *to) {
    static int number;
    char text[sizeof small_manifest + 200], name[32], out[TEXT];
    const char *where = strstr(small_manifest, from);
    assert_non_null(where);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(where - small_manifest), small_manifest, to,
             where + strlen(from));
    snprintf(name, sizeof name, "changed-%d", number++);
    strcpy(out, at(work, "changed-out"));
    return run_oracle(small_set(name, text), out);
}

static void what_a_manifest_may_not_say(void **unused) {
    (void)unused;
    assert_int_equal(changed("affine", "affine, still"), 0);          // nothing wrong with that
    assert_int_equal(changed("\"layer_norm\"", "\"layer_nrom\""), 2); // no such mechanism
    assert_int_equal(changed("\"L\":2", "\"L\":3"), 2);               // not the shape of x
    assert_int_equal(changed("\"L\":2", "\"L\":1e12"), 2);
    assert_int_equal(changed("\"L\":2", "\"L\":2.5"), 2);
    assert_int_equal(changed("\"eps\":0.75", "\"eps\":\"small\""), 2);
    assert_int_equal(changed("ln.y.npy", "../ln.y.npy"), 2); // leaves the folder
    assert_int_equal(changed("ln.x.npy", "ln.none.npy"), 2); // no such file
    assert_int_equal(changed("\"gain\":", "\"gian\":"), 2);  // no such input, and gain is missing
    assert_int_equal(changed("\"gradients\":{\"bias\"", "\"gradients\":{\"dy\""), 2);
    assert_int_equal(changed("\"cases\":[", "\"cases\":["), 0);
    assert_int_equal(changed("\"cases\":[", "\"cases\":[3,"), 2);
    assert_int_equal(changed("\"version\":1,", "\"version\":1,,"), 2); // not JSON
    assert_int_equal(changed("\"params\":{", "\"params\":[{"), 2);
    assert_int_equal(run_oracle(at(work, "nowhere.json"), at(work, "out")), 2);
    const char *manifest = small_set("no-folder", small_manifest);
    assert_int_equal(run_oracle(manifest, manifest), 2); // --out is a file
}

static void arguments_are_checked(void **unused) {
    (void)unused;
    char *none[] = {"--manifest"}, *unknown[] = {"--manifest", "a", "--to", "b"},
         *half[] = {"--manifest", "a"};
    char *twice[] = {"--out", "a", "--out", "b"}, *tol[] = {"--manifest", "a", "b", "--tol", "-1"};
    assert_int_equal(cli_oracle.run(0, none), 2);
    assert_int_equal(cli_oracle.run(1, none), 2);
    assert_int_equal(cli_oracle.run(4, unknown), 2);
    assert_int_equal(cli_oracle.run(4, twice), 2);
    assert_int_equal(cli_oracle.run(2, half), 2);
    assert_int_equal(cli_compare.run(1, none), 2);
    assert_int_equal(cli_compare.run(2, half), 2);
    assert_int_equal(cli_compare.run(4, unknown), 2);
    assert_int_equal(cli_compare.run(5, tol), 2);
}

// ---- Malformed arrays
static npy array;
static smx_error why;

static int decode(const char *header, size_t data) {
    static unsigned char bytes[2048];
    size_t n = strlen(header);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)n;
    bytes[9] = (unsigned char)(n >> 8);
    memcpy(bytes + 10, header, n);
    memset(bytes + 10 + n, 0, data);
    int status = npy_decode(&array, bytes, 10 + n + data, "a.npy", &why);
    if (status)
        assert_true(strncmp(why.message, "a.npy: ", 7) == 0 && strlen(why.message) > 20);
    else
        npy_free(&array);
    return status;
}

static void npy_headers(void **unused) {
    (void)unused;
    assert_int_equal(decode("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }  \n", 48), 0);
    assert_true(array.ndim == 2 && array.shape[0] == 2 && array.shape[1] == 3 && array.count == 6);
    assert_int_equal(decode("{\"shape\":(4,),\"fortran_order\":False,\"descr\":\"<i4\"}", 16), 0);
    assert_int_equal(decode("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4), 0);
    assert_true(array.ndim == 0 && array.count == 1);
    assert_int_equal(decode("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5)}", 0), 0);
    static const char *const bad[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2,)}",
        "{'descr': '>f8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} tail",
        "{'descr': '<f8, 'fortran_order': False, 'shape': (2,)}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!decode(bad[i], 16)) fail_msg("accepted: %s", bad[i]);
    static const unsigned char other[] = "\x93NUMPY\x02\x00", text[] = "hello, this is text";
    assert_int_equal(npy_decode(&array, other, sizeof other, "a.npy", &why), -1);
    assert_int_equal(npy_decode(&array, text, sizeof text, "a.npy", &why), -1);
    assert_int_equal(npy_decode(&array, other, 3, "a.npy", &why), -1);
}

// Every prefix of a good file, and every single byte of its header changed: an error or an array, never a
// crash.
static void npy_files_cut_and_changed(void **unused) {
    (void)unused;
    const char *path = at(work, "whole.npy"), *cut = at(work, "cut.npy");
    char p1[TEXT], p2[TEXT];
    strcpy(p1, path);
    strcpy(p2, cut);
    size_t shape[2] = {2, 2};
    assert_int_equal(npy_write(p1, NPY_F8, 2, shape, small_x, &why), 0);
    unsigned char bytes[256];
    FILE *f = fopen(p1, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(n == 128 + 32);
    for (size_t length = 0; length <= n; length++) {
        f = fopen(p2, "wb");
        assert_non_null(f);
        fwrite(bytes, 1, length, f);
        fclose(f);
        assert_int_equal(npy_read(&array, p2, &why), length == n ? 0 : -1);
        if (length == n) npy_free(&array);
        assert_int_equal(npy_decode(&array, bytes, length, "a.npy", &why), length == n ? 0 : -1);
        if (length == n) npy_free(&array);
    }
    for (size_t i = 0; i < 128; i++)
        for (int v = 0; v < 256; v++) {
            unsigned char kept = bytes[i];
            bytes[i] = (unsigned char)v;
            if (npy_decode(&array, bytes, n, "a.npy", &why) == 0) npy_free(&array);
            bytes[i] = kept;
        }
    assert_int_equal(npy_read(&array, work, &why), -1); // a folder
}

// ---- A case as one safetensors file
// Bytes of a file of the tensors x, gain, bias and dy, `of` before each name; data_offsets of x begin at
// `from`.
static size_t packed(unsigned char bytes[1024], const char *of, const char *dtype, int from) {
    char header[512];
    size_t n = (size_t)snprintf(header, sizeof header,
                                "{\"%sx\":{\"dtype\":\"%s\",\"shape\":[2,2],\"data_offsets\":[%d,32]},"
                                "\"%sgain\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[32,48]},"
                                "\"%sbias\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[48,64]},"
                                "\"%sdy\":{\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[64,96]}}",
                                of, dtype, from, of, of, of);
    const struct {
        const void *data;
        size_t size;
    } pieces[] = {{&(uint64_t){n}, 8}, {header, n},      {small_x, 32},
                  {small_gain, 16},    {small_bias, 16}, {small_dy, 32}};
    size_t all = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; all += pieces[i++].size)
        memcpy(bytes + all, pieces[i].data, pieces[i].size);
    return all;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void a_case_in_one_file(void **unused) {
    (void)unused;
    char manifest[TEXT], folder[TEXT], file[TEXT], out[TEXT], path[TEXT + 32];
    strcpy(manifest, small_set("packed", small_manifest));
    strcpy(folder, at(work, "packed"));
    strcpy(file, at(folder, "ln.safetensors"));
    strcpy(out, at(work, "packed-out"));
    static const char *const names[] = {"x", "gain", "bias", "dy"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/ln.%s.npy", folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(run_oracle(manifest, out), 2); // there is neither
    unsigned char bytes[1024];
    const size_t n = packed(bytes, "", "F64", 0), head = n - 96;
    write_bytes(file, bytes, n);
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 0);

    // One file for all cases is read where the case has none, which goes before it.
    char all[TEXT];
    unsigned char shared[1024];
    strcpy(all, at(folder, "arrays.safetensors"));
    const size_t whole = packed(shared, "ln.", "F64", 0);
    write_bytes(all, shared, whole);
    assert_int_equal(remove(file), 0);
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 0);
    shared[whole - 96 + 7] ^= 0x80; // x[0][0]
    write_bytes(all, shared, whole);
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 1);
    write_bytes(file, bytes, n);
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 0);
    assert_int_equal(remove(all), 0);

    // Another x is read from the file, not the array of before.
    bytes[head + 7] ^= 0x80;
    write_bytes(file, bytes, n);
    assert_int_equal(run_oracle(manifest, out), 0);
    assert_int_equal(run_compare(manifest, out, NULL), 1);
    bytes[head + 7] ^= 0x80;

    // An array of that name goes before the tensor.
    snprintf(path, sizeof path, "%s/ln.x.npy", folder);
    write_bytes(file, bytes, n);
    write_array(folder, "ln.x.npy", 2, small_dy);
    assert_int_equal(npy_read(&array, path, &why), 0);
    assert_true(((double *)array.data)[3] == small_dy[3]);
    npy_free(&array);
    assert_int_equal(remove(path), 0);

    // Whatever is cut or changed: a sentence or an array.
    for (size_t length = 0; length <= n; length++) {
        write_bytes(file, bytes, length);
        const int status = npy_read(&array, path, &why);
        if (!status)
            npy_free(&array);
        else
            assert_true(strncmp(why.message, file, strlen(file)) == 0);
        assert_int_equal(status, length < head + 32 ? -1 : 0);
    }
    for (size_t i = 0; i < head; i++)
        for (int v = 0; v < 256; v += 5) {
            const unsigned char kept = bytes[i];
            bytes[i] = (unsigned char)v;
            write_bytes(file, bytes, n);
            if (npy_read(&array, path, &why) == 0) npy_free(&array);
            bytes[i] = kept;
        }
    unsigned char other[1024];
    static const char *const dtypes[] = {"F32", "BF16", "I64"};
    for (size_t i = 0; i < 3; i++) { // x's 32 bytes are no 4 numbers of these
        write_bytes(file, other, packed(other, "", dtypes[i], 0));
        assert_int_equal(npy_read(&array, path, &why), -1);
    }
    write_bytes(file, other, packed(other, "", "F64", 8));
    assert_int_equal(npy_read(&array, path, &why), -1);
    assert_non_null(strstr(why.message, "data_offsets"));
    snprintf(path, sizeof path, "%s/ln.z.npy", folder);
    write_bytes(file, bytes, n);
    assert_int_equal(npy_read(&array, path, &why), -1);
    assert_non_null(strstr(why.message, "tensor z: is not there"));
    // a shape whose product wraps to the 0 bytes that it has
    static const char wraps[] =
        "\10\0\0\0\0\0\0\0{\"z\":{\"dtype\":\"F64\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}12345678";
    memcpy(other, wraps, sizeof wraps);
    other[0] = (unsigned char)(sizeof wraps - 1 - 16);
    write_bytes(file, other, sizeof wraps - 1);
    assert_int_equal(npy_read(&array, path, &why), -1);
    assert_non_null(strstr(why.message, "inside the file"));
    // The set is no result of its own.
    remove(at(folder, "ln.y.npy"));
    assert_int_equal(run_compare(manifest, folder, NULL), 2);
}

// ---- JSON
static int parses(const char *text) {
    json *root = json_parse(text, strlen(text), &why);
    if (!root) assert_true(strncmp(why.message, "JSON, line ", 11) == 0);
    json_free(root);
    return root != NULL;
}

// Code points at every change of their number of bytes; what a backslash stands for.
static void json_escapes(void **unused) {
    (void)unused;
    static const char *const pairs[][2] = {
        {"\\u0001\\u007f", "\x01\x7f"},
        {"\\u0080\\u07ff", "\xc2\x80\xdf\xbf"},
        {"\\u0800\\uffff", "\xe0\xa0\x80\xef\xbf\xbf"},
        {"\\ud800\\udc00", "\xf0\x90\x80\x80"},
        {"\\uDBFF\\uDFFF", "\xf4\x8f\xbf\xbf"},
        {"\\ud7ff\\ue000", "\xed\x9f\xbf\xee\x80\x80"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[80];
        const int n = snprintf(text, sizeof text, "\"%s\"", pairs[i][0]);
        json *root = json_parse(text, (size_t)n, &why);
        if (!root) fail_msg("%s: %s", text, why.message);
        assert_string_equal(root->string, pairs[i][1]);
        json_free(root);
    }
}

static void json_grammar(void **unused) {
    (void)unused;
    static const char *const good[] = {"null",
                                       " [1, -0.5e+3 ,\"\"]\n",
                                       "{\"a\":{\"b\":[]},\"c\":true}",
                                       "\"\\u00e9\\u20ac\\ud83d\\ude00\\n\"",
                                       "\"\xc3\xa9\"",
                                       "0",
                                       "[[],{}]"};
    static const char *const bad[] = {"",
                                      " ",
                                      "nul",
                                      "[1,]",
                                      "{,}",
                                      "{\"a\":1,}",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "{a:1}",
                                      "01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "+1",
                                      "1e999",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud83d\"",
                                      "\"\\ude00\"",
                                      "\"\\u0000\"",
                                      "\"\x01\"",
                                      "\"\xff\"",
                                      "\"\xc3\"",
                                      "\"\xc0\x80\"",
                                      "\"\xed\xa0\x80\"",
                                      "[",
                                      "{",
                                      "[1",
                                      "{\"a\":1",
                                      "1 2",
                                      "{\"a\":1,\"a\":2}",
                                      "NaN",
                                      "[1}",
                                      "'a'",
                                      "[,1]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!parses(good[i])) fail_msg("refused: %s: %s", good[i], why.message);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parses(bad[i])) fail_msg("accepted: %s", bad[i]);
    char deep[100000];
    memset(deep, '[', sizeof deep);
    assert_null(json_parse(deep, sizeof deep, &why));
    json *root = json_parse(good[3], strlen(good[3]), &why);
    assert_string_equal(root->string, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
    json_free(root);
    root = json_parse(small_manifest, strlen(small_manifest), &why);
    size_t length = 0;
    const json *entry = json_get(root, "cases")->child;
    assert_true(json_size(json_get(json_get(entry, "params"), "L"), &length) && length == 2);
    assert_false(json_size(json_get(json_get(entry, "params"), "eps"), &length));
    assert_null(json_get(entry, "none"));
    json_free(root);
}

// Every prefix of a manifest, and every byte of it replaced by a telling one.
static void json_cut_and_changed(void **unused) {
    (void)unused;
    size_t n = strlen(small_manifest);
    char text[sizeof small_manifest];
    for (size_t length = 0; length < n; length++) assert_null(json_parse(small_manifest, length, &why));
    memcpy(text, small_manifest, sizeof text);
    for (size_t i = 0; i < n; i++)
        for (const char *c = "\"\\{}[],:0-e\x80 \n"; *c; c++) {
            text[i] = *c;
            json_free(json_parse(text, n, &why));
            text[i] = small_manifest[i];
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_the_vectors),
        cmocka_unit_test(oracle_agrees_with_the_next_ring),
        cmocka_unit_test(small_set_passes_and_damage_fails),
        cmocka_unit_test(float32_results_are_judged_by_f32),
        cmocka_unit_test(what_a_manifest_may_not_say),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(npy_headers),
        cmocka_unit_test(npy_files_cut_and_changed),
        cmocka_unit_test(a_case_in_one_file),
        cmocka_unit_test(json_escapes),
        cmocka_unit_test(json_grammar),
        cmocka_unit_test(json_cut_and_changed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
