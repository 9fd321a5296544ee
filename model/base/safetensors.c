// safetensors.c: see safetensors.h.
#include "safetensors.h"

#include "kernels/core/sizes.h"

size_t safetensors_header(const unsigned char *bytes, size_t file, size_t most) {
    uint64_t n = 0;
    for (int i = SAFETENSORS_LENGTH; file > SAFETENSORS_LENGTH && i-- > 0;) n = n << 8 | bytes[i];
    return n <= most && n <= file - SAFETENSORS_LENGTH ? (size_t)n : 0;
}

safetensors_wrong safetensors_find(safetensor *t, const json *header, const char *name, size_t data) {
    const json *of = json_get(header, name), *dtype = json_get(of, "dtype"), *shape = json_get(of, "shape"),
               *range = json_get(of, "data_offsets");
    size_t end;
    uint64_t count = 1;
    if (!of) return SAFETENSORS_MISSING;
    t->dtype = dtype && dtype->string ? dtype->string : "";
    t->rank = 0;
    if (!shape || shape->type != JSON_ARRAY || shape->count > SAFETENSORS_DIMS) return SAFETENSORS_SHAPE;
    for (const json *s = shape->child; s; s = s->next) {
        if (!json_size(s, &t->shape[t->rank])) return SAFETENSORS_SHAPE;
        count = size_mul(count, t->shape[t->rank++]);
    }
    if (!range || range->count != 2 || !json_size(range->child, &t->from) ||
        !json_size(range->child->next, &end) || end > data || t->from > end || count > data)
        return SAFETENSORS_PLACE;
    t->count = (size_t)count;
    t->bytes = end - t->from;
    return SAFETENSORS_FOUND;
}
