// manifest.c: see manifest.h.
#include "manifest.h"

#include "kernels/core/hash.h"
#include "model/base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 64 << 20 };
// A set says what is allowed of it, relative to each array's scale, and not that everything is.
static const double F32_MOST = 0.01, HALF_MOST = 0.125;

int manifest_open(manifest *m, const char *path, smx_error *error) {
    memset(m, 0, sizeof *m);
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 1;
    if (n >= sizeof m->folder) {
        error_say(error, "the manifest's path has %zu characters; at most %d are allowed", n,
                  MANIFEST_PATH - 1);
        return -1;
    }
    memcpy(m->folder, slash ? path : ".", n);
    if (slash == path) strcpy(m->folder, "/");
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        return error_say(error, "%s: is a folder; a manifest is a file in JSON, usually %s%smanifest.json",
                         path, path, slash && !slash[1] ? "" : "/");
    m->root = json_read(path, MAX_BYTES, error);
    if (!m->root) return -1;
    const json *tol = json_get(m->root, "f64_tol");
    m->f64_tol = tol && tol->type == JSON_NUMBER ? tol->number : 1e-12;
    m->cases = json_get(m->root, "cases");
    const char *wrong = NULL;
    if (!m->cases || m->cases->type != JSON_ARRAY) wrong = "it needs an array \"cases\"";
    const json *version = json_get(m->root, "version");
    if (version && (version->type != JSON_NUMBER || version->number != 1))
        wrong = "\"version\" must be 1, the only one that this program can read";
    if (!(m->f64_tol > 0 && m->f64_tol <= 1e-6)) wrong = "\"f64_tol\" must be above 0 and at most 1e-6";
    static const char *const parts[] = {"params", "inputs", "outputs", "intermediates", "gradients"};
    for (const json *c = wrong ? NULL : m->cases->child; c && !wrong; c = c->next) {
        if (c->type != JSON_OBJECT) wrong = "every case must be an object";
        for (size_t i = 0; i < sizeof parts / sizeof *parts && !wrong; i++) {
            const json *part = json_get(c, parts[i]);
            if (part && part->type != JSON_OBJECT)
                wrong = "params, inputs, outputs, intermediates and gradients must be objects";
        }
    }
    if (!wrong) return 0;
    error_say(error, "%s: %s", path, wrong);
    manifest_close(m);
    return -1;
}

void manifest_close(manifest *m) {
    json_free(m->root);
    m->root = NULL;
}

static int plain_name(const char *file) {
    for (const unsigned char *c = (const unsigned char *)file; *c; c++)
        if (*c < 0x20 || *c == 0x7f) return 0; // it is printed
    return file[0] && file[0] != '.' && !strpbrk(file, "/\\") && strlen(file) < 256;
}

static double number_or(const json *entry, const char *key, double otherwise) {
    const json *v = json_get(entry, key);
    return v && v->type == JSON_NUMBER ? v->number : otherwise;
}

int manifest_array_of(const manifest *m, const json *entry, const char *folder, char path[MANIFEST_PATH],
                      manifest_array *out, smx_error *error) {
    (void)m;
    const json *file = json_get(entry, "file"), *shape = json_get(entry, "shape"),
               *dtype = json_get(entry, "dtype");
    memset(out, 0, sizeof *out);
    if (!file || file->type != JSON_STRING || !plain_name(file->string)) {
        error_say(error, "%.40s: \"file\" must be the plain name of a file", entry->key);
        return -1;
    }
    out->file = file->string;
    if ((size_t)snprintf(path, MANIFEST_PATH, "%s/%s", folder, file->string) >= MANIFEST_PATH) {
        error_say(error, "%s: the path is too long", file->string);
        return -1;
    }
    int ok = shape && shape->type == JSON_ARRAY && shape->count <= NPY_MAX_DIMS;
    for (const json *s = ok ? shape->child : NULL; s && ok; s = s->next)
        ok = json_size(s, &out->shape[out->ndim++]);
    if (!ok) {
        error_say(error, "%.40s: \"shape\" must be an array of at most %d whole numbers", entry->key,
                  NPY_MAX_DIMS);
        return -1;
    }
    const char *name = dtype && dtype->type == JSON_STRING ? dtype->string : "";
    for (out->dtype = NPY_F8; out->dtype <= NPY_I4; out->dtype++)
        if (strcmp(name, npy_dtype_name(out->dtype)) == 0) break;
    if (out->dtype > NPY_I4) {
        error_say(error, "%.40s: \"dtype\" must be <f8, <f4, <f2 or <i4", entry->key);
        return -1;
    }
    out->scale = number_or(entry, "scale", -1);
    out->f32_tol = number_or(entry, "f32_tol", -1);
    out->f16_tol = number_or(entry, "f16_tol", -1);
    out->bf16_tol = number_or(entry, "bf16_tol", -1);
    if (!isfinite(out->scale)) return error_say(error, "%.40s: \"scale\" must be finite", entry->key);
    if (!(out->f32_tol <= F32_MOST && out->f16_tol <= HALF_MOST && out->bf16_tol <= HALF_MOST))
        return error_say(error,
                         "%.40s: \"f32_tol\" must be at most %g, \"f16_tol\" and \"bf16_tol\" at most %g",
                         entry->key, F32_MOST, HALF_MOST);
    return 0;
}

// The file that the array stands in.
static int stat_array(const char *path, struct stat *st) {
    char file[MANIFEST_PATH], tensor[256];
    return stat(npy_packed(path, file, sizeof file, tensor, sizeof tensor) ? file : path, st);
}

int manifest_other_file(const char *got, const char *ref, smx_error *error) {
    struct stat a, b;
    if (stat_array(got, &a) || stat_array(ref, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) return 0;
    return error_say(error, "%s is the reference's own file: it would agree with itself", got);
}

int manifest_fits(const manifest_array *is, const npy *value, const char *path, smx_error *error) {
    char want[160], got[160];
    if ((is->dtype == NPY_I4) != (value->dtype == NPY_I4)) {
        error_say(error, "%s: holds %s; %s is wanted", path, npy_dtype_name(value->dtype),
                  npy_dtype_name(is->dtype));
        return -1;
    }
    if (is->ndim != value->ndim || memcmp(is->shape, value->shape, is->ndim * sizeof *is->shape)) {
        error_say(error, "%s: has the shape %s; %s is wanted", path,
                  npy_shape_text(got, sizeof got, value->ndim, value->shape),
                  npy_shape_text(want, sizeof want, is->ndim, is->shape));
        return -1;
    }
    return 0;
}

double manifest_tolerance(const manifest *m, const manifest_array *is, const compare_format *format) {
    const compare_format *f32 = compare_format_named("f32");
    if (format == compare_formats) return m->f64_tol;
    const double given = format->digits == 24   ? is->f32_tol
                         : format->digits == 11 ? is->f16_tol
                                                : is->bf16_tol;
    return given > 0 ? given : fmin(HALF_MOST, format->tol * fmax(1, is->f32_tol / f32->tol));
}

const char *manifest_case_name(const json *entry) {
    const json *name = json_get(entry, "name");
    return name && name->type == JSON_STRING ? name->string : "without a name";
}

int manifest_has_outputs(const json *entry, smx_error *error) {
    const json *outputs = json_get(entry, "outputs");
    return outputs && outputs->child ? 0 : error_say(error, "it has no outputs to be judged by");
}

int manifest_judges(const json *entry, const compare_format *format) {
    const json *formats = json_get(entry, "formats");
    int found = !formats || formats->type != JSON_ARRAY;
    for (const json *f = found ? NULL : formats->child; f; f = f->next)
        found |= f->type == JSON_STRING && !strcmp(f->string, format->name);
    return found;
}

static uint64_t hash_text(uint64_t h, const char *text) { return hash_bytes(h, text, strlen(text) + 1); }

static uint64_t hash_json(uint64_t h, const json *v) {
    h = hash_bytes(h, &(char){(char)v->type}, 1);
    if (v->key) h = hash_text(h, v->key);
    if (v->type == JSON_STRING) h = hash_text(h, v->string);
    if (v->type == JSON_NUMBER) h = hash_bytes(h, &v->number, sizeof v->number);
    for (const json *c = v->type >= JSON_ARRAY ? v->child : NULL; c; c = c->next) h = hash_json(h, c);
    return h;
}

int manifest_digest(const manifest *m, uint64_t *digest, smx_error *error) {
    static const char *const said[] = {"mechanism", "mode", "params", "batch"};
    uint64_t h = HASH_START;
    for (const json *c = m->cases->child; c; c = c->next) {
        const json *inputs = json_get(c, "inputs");
        h = hash_text(h, manifest_case_name(c));
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
            if (json_get(c, said[i])) h = hash_json(h, json_get(c, said[i]));
        for (const json *a = inputs ? inputs->child : NULL; a; a = a->next) {
            char path[MANIFEST_PATH];
            manifest_array is;
            npy x;
            if (manifest_array_of(m, a, m->folder, path, &is, error) || npy_read(&x, path, error)) return -1;
            h = hash_text(h, a->key);
            for (size_t d = 0; d < x.ndim; d++) h = hash_bytes(h, &(uint64_t){x.shape[d]}, sizeof(uint64_t));
            for (size_t i = 0; i < x.count; i++)
                h = hash_bytes(h, &(double){npy_value(&x, i)}, sizeof(double));
            npy_free(&x);
        }
    }
    *digest = h;
    return 0;
}
