// checkpoint.c: a run as safetensors: weights under their names, the optimiser's state under adam.m:NAME and adam.v:NAME,
// config and step in __metadata__. 8 bytes of header length (little-endian), the JSON header, then the float32 words.
#include "run_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language.h"
#include "model/base/error.h"
#include "model/base/json.h"

enum { KINDS = 3, MAX_HEADER = 1 << 24 };
static const char *const kinds[KINDS] = {"", "adam.m:", "adam.v:"};

static float *kind_data(const smx_run *r, int kind, const param *p) {
    float *all[KINDS] = {r->weights.data, r->weights.m, r->weights.v};
    return all[kind] + p->offset;
}

// ---- Saving ---------------------------------------------------------------------------------------------

// The header into `to`, or only its length when to is NULL.
static size_t write_header(const smx_run *r, char *to, size_t room) {
    size_t n = 0, offset = 0;
#define PUT(...) n += (size_t)snprintf(to ? to + n : NULL, to ? room - n : 0, __VA_ARGS__)
    // config_text encodes as %XX whatever JSON would have to escape and whatever is not ASCII
    PUT("{\"__metadata__\":{\"format\":\"seqmix\",\"version\":\"%s\",\"config\":\"%s\",\"step\":\"%llu\"}",
        SMX_VERSION, r->text, (unsigned long long)r->step);
    for (int k = 0; k < KINDS; k++)
        for (size_t i = 0; i < r->weights.count; i++) {
            const param *p = r->weights.list[i];
            PUT(",\"%s%s\":{\"dtype\":\"F32\",\"shape\":[", kinds[k], p->name);
            for (uint32_t d = 0; d < p->rank; d++) PUT(d ? ",%u" : "%u", p->shape[d]);
            PUT("],\"data_offsets\":[%zu,%zu]}", offset, offset + 4 * p->n);
            offset += 4 * p->n;
        }
    PUT("}");
#undef PUT
    return n;
}

void *smx_run_save(const smx_run *r, size_t *size, smx_error *error) {
    size_t header = write_header(r, NULL, 0), padded = (header + 7) / 8 * 8, floats = 0;
    for (size_t i = 0; i < r->weights.count; i++) floats += KINDS * r->weights.list[i]->n;
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
    for (int k = 0; k < KINDS; k++)
        for (size_t i = 0; i < r->weights.count; i++) {
            const param *p = r->weights.list[i];
            memcpy(at, kind_data(r, k, p), 4 * p->n);
            at += 4 * p->n;
        }
    return bytes;
}

// ---- Loading --------------------------------------------------------------------------------------------

typedef struct {
    const json *header;
    const char *data;
    size_t size; // of data
} tensors;

// One tensor of the file into `to` (NULL: only looked at); -1 with the error when it is missing or of another kind or shape.
static int read_tensor(const tensors *file, const char *name, const param *p, float *to, smx_error *e) {
    const json *header = file->header;
    const json *t = json_get(header, name), *dtype = json_get(t, "dtype"), *shape = json_get(t, "shape");
    const json *range = json_get(t, "data_offsets");
    size_t from, end, x;
    int same = shape && shape->count == p->rank;
    const json *dim = same ? shape->child : NULL;
    for (uint32_t d = 0; same && d < p->rank; d++, dim = dim->next)
        same = json_size(dim, &x) && x == p->shape[d];
    if (!same || !dtype || !dtype->string || strcmp(dtype->string, "F32") || !range || range->count != 2 ||
        !json_size(range->child, &from) || !json_size(range->child->next, &end) || end > file->size ||
        from > end || end - from != 4 * p->n)
        return error_say(e,
                         "the checkpoint's tensor %.100s %s: it must be F32 with %zu numbers inside the file",
                         name, t ? "does not fit" : "is missing", p->n);
    if (to) memcpy(to, file->data + from, 4 * p->n);
    return 0;
}

// Before the run takes memory: a short file may hold a config of giant weights.
static int check_weights(const params *needed, const void *file, smx_error *e) {
    for (size_t i = 0; i < needed->count; i++)
        if (read_tensor(file, needed->list[i]->name, needed->list[i], NULL, e)) return -1;
    return 0;
}

static int read_tensors(smx_run *r, const tensors *file, smx_error *e) {
    for (int k = 0; k < KINDS; k++)
        for (size_t i = 0; i < r->weights.count; i++) {
            const param *p = r->weights.list[i];
            char name[96];
            snprintf(name, sizeof name, "%s%s", kinds[k], p->name);
            if (k && !json_get(file->header, name))
                continue; // weights from elsewhere: the optimiser starts afresh
            if (read_tensor(file, name, p, kind_data(r, k, p), e)) return -1;
        }
    return 0;
}

smx_run *smx_run_load(const void *bytes, size_t size, const char *changes, smx_error *error) {
    const unsigned char *b = bytes;
    uint64_t header = 0;
    for (int i = 7; size >= 8 && i >= 0; i--) header = header << 8 | b[i];
    if (size < 10 || header > size - 8 || header > MAX_HEADER) {
        error_say(error, "this is not a checkpoint: a safetensors file starts with the length of its header");
        return NULL;
    }
    const char *text = (const char *)bytes + 8;
    char why[200];
    json *j = json_parse(text, (size_t)header, why, sizeof why);
    if (!j) {
        error_say(error, "the checkpoint's header is broken: %s", why);
        return NULL;
    }
    smx_run *r = NULL;
    const json *meta = json_get(j, "__metadata__"), *c = json_get(meta, "config"),
               *s = json_get(meta, "step");
    if (!c || !c->string || !s || !s->string || !*s->string ||
        strspn(s->string, "0123456789") != strlen(s->string) || strlen(s->string) > 15) {
        error_say(error,
                  "the checkpoint has no config and step in its __metadata__: it was not written by seqmix");
        goto done;
    }
    tensors file = {j, text + header, size - 8 - (size_t)header};
    uint64_t env = smx_fpenv_enter();
    r = run_from_config(config_change(c->string, changes, error), check_weights, &file, error);
    smx_fpenv_leave(env);
    if (r && read_tensors(r, &file, error)) {
        smx_run_close(r);
        r = NULL;
    }
    if (r) r->step = strtoull(s->string, NULL, 10);
done:
    json_free(j);
    return r;
}
