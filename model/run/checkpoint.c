// checkpoint.c: a run as safetensors: weights under their names, the optimiser's moments before theirs
// (adam.m:NAME, adam.v:NAME; model/train says which), the loss of every step under training:loss, config
// and step in __metadata__ (the file's form: model/base/safetensors.h). __metadata__'s checksum is FNV-1a
// over the whole file, its own 16 digits taken as zeros.
#include "run_private.h"
#include "model/run/language/language.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/hash.h"
#include "model/base/error.h"
#include "model/base/number.h"
#include "model/base/safetensors.h"
#include "model/settings/pairs.h"
#include "tasks/files/data.h"

enum { KINDS = 1 + MOMENTS, MAX_HEADER = 1 << 24, DIGITS = 16, MOST_NAME = 96 }; // kind 0: the weight itself
static const char losses_name[] = "training:loss";
static const char format_with_checksum[] = "seqmix2"; // files of format seqmix have none
static const char before_checksum[] = "\"checksum\":\"";

// What a weight's kind is called; NULL: it has none, as what is not trained has no moments.
static const char *kind_name(char to[MOST_NAME], const common_settings *k, size_t kind, const param *p) {
    const char *moment = kind ? moment_name(k, p, kind - 1) : NULL;
    if (kind && !moment) return NULL;
    snprintf(to, MOST_NAME, "%s%s%s", kind ? moment : "", kind ? ":" : "", p->name);
    return to;
}
static float *kind_data(const smx_run *r, size_t kind, const param *p) {
    return (kind ? r->moments.moment[kind - 1] : r->weights.data) + p->offset;
}
// All that a run keeps of its weights, kind by kind.
typedef struct {
    size_t kind, i;
    char name[MOST_NAME];
} kept;
static const param *next_kept(kept *at, const params *w, const common_settings *k, size_t kinds) {
    for (; at->kind < kinds; at->kind++, at->i = 0)
        while (at->i < w->count) {
            const param *p = w->list[at->i++];
            if (kind_name(at->name, k, at->kind, p)) return p;
        }
    return NULL;
}

// Of `size` bytes with the checksum's digits at `digits`.
static void write_checksum(char *to, const char *bytes, size_t size, size_t digits) {
    uint64_t h = HASH_START;
    for (size_t i = 0; i < size; i++) h = hash_bytes(h, i - digits < DIGITS ? "0" : bytes + i, 1);
    for (int i = DIGITS; i-- > 0; h >>= 4) to[i] = "0123456789abcdef"[h & 15];
}

// Where the digits begin, at most at `size` - DIGITS; 0: nowhere.
static size_t find_checksum(const char *bytes, size_t size) {
    const size_t n = sizeof before_checksum - 1;
    for (size_t i = 8; i + n + DIGITS <= size; i++)
        if (!memcmp(bytes + i, before_checksum, n)) return i + n;
    return 0;
}

// ---- Saving ---------------------------------------------------------------------------------------------

// The header into `to`, or only its length when to is NULL.
static size_t write_header(const smx_run *r, char *to, size_t room) {
    size_t n = 0, offset = 0;
#define PUT(...) n += (size_t)snprintf(to ? to + n : NULL, to ? room - n : 0, __VA_ARGS__)
    // config_text encodes as %XX whatever JSON would have to escape and whatever is not ASCII
    PUT("{\"__metadata__\":{\"format\":\"%s\",\"version\":\"%s\",%s%016d\",\"config\":\"%s\",\"step\":\"%llu\"}",
        format_with_checksum, SMX_VERSION, before_checksum, 0, r->text, (unsigned long long)r->step);
    kept at = {0};
    for (const param *p; (p = next_kept(&at, &r->weights, &r->c->common, KINDS));) {
        PUT(",\"%s\":{\"dtype\":\"F32\",\"shape\":[", at.name);
        for (uint32_t d = 0; d < p->rank; d++) PUT(d ? ",%u" : "%u", p->shape[d]);
        PUT("],\"data_offsets\":[%zu,%zu]}", offset, offset + 4 * p->n);
        offset += 4 * p->n;
    }
    if (r->n_losses)
        PUT(",\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}", losses_name,
            r->n_losses, offset, offset + 4 * r->n_losses);
    PUT("}");
#undef PUT
    return n;
}

void *smx_run_save(const smx_run *r, size_t *size, smx_error *error) {
    size_t header = write_header(r, NULL, 0), padded = (header + 7) / 8 * 8, floats = r->n_losses;
    kept each = {0};
    for (const param *p; (p = next_kept(&each, &r->weights, &r->c->common, KINDS));) floats += p->n;
    *size = 8 + padded + 4 * floats;
    char *bytes = malloc(*size + 1);
    if (!bytes) {
        error_say(error, "out of memory for the checkpoint");
        return NULL;
    }
    for (int i = 0; i < 8; i++) bytes[i] = (char)((uint64_t)padded >> (8 * i));
    write_header(r, bytes + 8, header + 1);
    memset(bytes + 8 + header, ' ', padded - header);
    char *at = bytes + 8 + padded;
    each = (kept){0};
    for (const param *p; (p = next_kept(&each, &r->weights, &r->c->common, KINDS)); at += 4 * p->n)
        memcpy(at, kind_data(r, each.kind, p), 4 * p->n);
    if (r->n_losses) memcpy(at, r->losses, 4 * r->n_losses);
    const size_t digits = find_checksum(bytes, *size);
    write_checksum(bytes + digits, bytes, *size, digits);
    return bytes;
}

// ---- Loading --------------------------------------------------------------------------------------------

typedef struct {
    const json *header;
    const char *data;
    size_t size; // of data
} tensors;

// One tensor of the file into `to` (NULL: only looked at); -1 with the error when it is missing, of another
// kind or shape, or holds what no training leaves: numbers that are not finite, squares below 0.
static int read_tensor(const tensors *file, const char *name, const param *p, float *to, int square,
                       smx_error *e) {
    safetensor t;
    int same = !safetensors_find(&t, file->header, name, file->size) && t.rank == p->rank &&
               t.bytes == 4 * p->n && !strcmp(t.dtype, "F32");
    for (uint32_t d = 0; same && d < p->rank; d++) same = t.shape[d] == p->shape[d];
    if (!same)
        return error_say(e,
                         "the checkpoint's tensor %.100s %s: it must be F32 with %zu numbers inside the file",
                         name, json_get(file->header, name) ? "does not fit" : "is missing", p->n);
    if (!to) return 0;
    memcpy(to, file->data + t.from, 4 * p->n);
    for (size_t i = 0; i < p->n; i++)
        if (!isfinite(to[i]) || (square && to[i] < 0.0f))
            return error_say(e, "the checkpoint's tensor %.100s holds %s, which no training leaves", name,
                             isfinite(to[i]) ? "a square below 0" : "NaN or an infinity");
    return 0;
}

// How many kinds of tensors are read: the optimiser's moments are there whole, or not at all (weights from
// elsewhere: it starts afresh).
static size_t kinds_of(const tensors *file, const params *w, const common_settings *k) {
    kept at = {.kind = 1};
    return next_kept(&at, w, k, KINDS) && json_get(file->header, at.name) ? KINDS : 1;
}

static int is_used(const params *w, const common_settings *k, size_t kinds, const char *name) {
    char like[MOST_NAME];
    const char *colon = strchr(name, ':');
    const param *p = params_find(w, colon ? colon + 1 : name);
    for (size_t kind = 0; p && kind < kinds; kind++)
        if (kind_name(like, k, kind, p) && !strcmp(like, name)) return 1;
    return !strcmp(name, "__metadata__") || !strcmp(name, losses_name);
}

// Before the run takes memory, since a short file may hold a config of giant weights: all that it needs is
// there, and nothing that it would drop.
static int check_weights(const params *needed, const common_settings *k, const void *context, smx_error *e) {
    const tensors *file = context;
    const size_t kinds = kinds_of(file, needed, k);
    kept at = {0};
    for (const param *p; (p = next_kept(&at, needed, k, kinds));)
        if (read_tensor(file, at.name, p, NULL, 0, e)) return -1;
    for (const json *t = file->header->child; t; t = t->next)
        if (!is_used(needed, k, kinds, t->key))
            return error_say(e, "nothing in this config uses the checkpoint's tensor %.100s", t->key);
    return 0;
}

static int read_tensors(smx_run *r, const tensors *file, smx_error *e) {
    const common_settings *k = &r->c->common;
    kept at = {0};
    for (const param *p; (p = next_kept(&at, &r->weights, k, kinds_of(file, &r->weights, k)));) {
        const int square = at.kind ? moment_is_square(k, p, at.kind - 1)
                                   : p->running && p->start.scale > 0; // (a variance starts at 1)
        if (read_tensor(file, at.name, p, kind_data(r, at.kind, p), square, e)) return -1;
    }
    return 0;
}

// The losses of the last steps before this one.
static int read_losses(smx_run *r, const tensors *file, smx_error *e) {
    const json *t = json_get(file->header, losses_name), *shape = json_get(t, "shape");
    size_t n;
    if (!t) return 0;
    if (!shape || !json_size(shape->child, &n) || n > r->step) n = (size_t)r->step;
    r->losses = n > file->size / 4 ? NULL : malloc(4 * n + 4);
    if (!r->losses) return error_say(e, "the checkpoint's tensor %s is too large", losses_name);
    r->n_losses = n;
    r->loss_room = n + 1;
    const param like = {.rank = 1, .shape = {(uint32_t)n}, .n = n};
    if (read_tensor(file, losses_name, &like, r->losses, 0, e)) return -1;
    if (n) r->loss = (double)r->losses[n - 1];
    return 0;
}

// Do the changes, one run of "key=value&...", give this key?
static int is_key(void *wanted, const char *key, const char *value, smx_error *error) {
    (void)value, (void)error;
    return !strcmp(key, wanted);
}
static int gives(const char *changes, const char *key) {
    return changes && pairs_visit(pairs_run(changes, 0), is_key, (void *)key, NULL) == 1;
}

// What the changes may not do to a trained model, and what a stranger's file may not do to whoever loads it.
static int check_config(const config *was, const config *is, const char *changes, uint64_t step,
                        smx_error *e) {
    static const char *const fixed[] = {"mixer", "mixers", "task", "optimizer"};
    static const char *const paths[] = {"text", "file", "folder"}; // keys that may name a file on disk
    for (int i = 0; i < 4; i++) {
        const char *value = config_get(was, fixed[i]), *now = config_get(is, fixed[i]);
        if (strcmp(value ? value : "", now ? now : ""))
            return config_fail(e, is, fixed[i], "%s as in the checkpoint", value ? value : "left out");
    }
    // A run may be stepped past its plan, and is loaded as it is.
    if (step > is->common.steps && (is->common.steps != was->common.steps || step > MOST_STEPS))
        return config_fail(e, is, "steps", "at least %llu, where the checkpoint is",
                           (unsigned long long)step);
    for (int i = 0; i < 3; i++) {
        const char *path = config_get(is, paths[i]);
        if (path && data_is_path(path) && !gives(changes, paths[i]))
            return config_fail(e, is, paths[i], "given again by whoever loads the checkpoint, being a path");
    }
    return 0;
}

// 1: the checksum is right; 0: there is none; -1 with the error.
static int check_sum(const json *meta, const char *bytes, size_t size, size_t header, smx_error *e) {
    const json *sum = json_get(meta, "checksum"), *format = json_get(meta, "format");
    const int wanted = format && format->string && !strcmp(format->string, format_with_checksum);
    if (!sum && !wanted) return 0;
    char digits[DIGITS];
    const size_t at = find_checksum(bytes, 8 + header);
    if (at) write_checksum(digits, bytes, size, at);
    if (sum && at && !memcmp(digits, bytes + at, DIGITS)) return 1;
    return error_say(e, "the checkpoint is damaged, or was changed: its checksum does not fit");
}

static config *read_config(const char *text, const char *changes, uint64_t step, smx_error *e) {
    config *was = config_parse(text, 0, e), *is = was ? config_change(text, changes, e) : NULL;
    if (is && check_config(was, is, changes, step, e)) {
        config_free(is);
        is = NULL;
    }
    config_free(was);
    return is;
}

smx_run *smx_run_load(const void *bytes, size_t size, const char *changes, smx_error *error) {
    const size_t header = safetensors_header(bytes, size, MAX_HEADER);
    if (!header) {
        error_say(error, "this is not a checkpoint: a safetensors file starts with the length of its header");
        return NULL;
    }
    const char *text = (const char *)bytes + 8;
    smx_error why;
    json *j = json_parse(text, header, &why);
    if (!j) {
        error_say(error, "the checkpoint's header is broken: %s", why.message);
        return NULL;
    }
    smx_run *r = NULL;
    const uint64_t env = smx_fpenv_enter();
    const json *meta = json_get(j, "__metadata__"), *c = json_get(meta, "config"),
               *s = json_get(meta, "step");
    const int checked = check_sum(meta, bytes, size, header, error);
    if (checked < 0) goto done;
    if (!c || !c->string || !s || !s->string || !*s->string ||
        strspn(s->string, "0123456789") != strlen(s->string) || strlen(s->string) > 15) {
        error_say(error,
                  "the checkpoint has no config and step in its __metadata__: it was not written by seqmix");
        goto done;
    }
    const uint64_t step = (uint64_t)number_read(s->string, NULL); // exact: 15 digits at most
    const tensors file = {j, text + header, size - 8 - header};
    config *full = read_config(c->string, changes, step, error);
    r = full ? run_from_config(full, check_weights, &file, error) : NULL;
    if (!r) goto done;
    r->step = step;
    r->unchecked = !checked;
    if (read_tensors(r, &file, error) || read_losses(r, &file, error)) {
        smx_run_close(r);
        r = NULL;
    }
done:
    smx_fpenv_leave(env);
    json_free(j);
    return r;
}
