// protobuf.c: see protobuf.h.
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

static void append(protobuf *p, const void *bytes, size_t n) {
    if (p->bad) return;
    if (p->room - p->n < n) {
        const size_t room = 2 * p->room + n + 64;
        unsigned char *more = realloc(p->at, room);
        if (!more) {
            free(p->at);
            *p = (protobuf){.bad = 1};
            return;
        }
        p->at = more;
        p->room = room;
    }
    if (n) memcpy(p->at + p->n, bytes, n);
    p->n += n;
}

static void append_number(protobuf *p, uint64_t x) {
    unsigned char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (unsigned char)((x & 127) | (x > 127 ? 128 : 0));
        x >>= 7;
    } while (x);
    append(p, bytes, n);
}

void protobuf_number(protobuf *p, unsigned field, uint64_t value) {
    append_number(p, (uint64_t)field << 3);
    append_number(p, value);
}

void protobuf_float(protobuf *p, unsigned field, float value) {
    append_number(p, (uint64_t)field << 3 | 5);
    append(p, &value, sizeof value);
}

void protobuf_bytes(protobuf *p, unsigned field, const void *bytes, size_t n) {
    append_number(p, (uint64_t)field << 3 | 2);
    append_number(p, n);
    append(p, bytes, n);
}

void protobuf_text(protobuf *p, unsigned field, const char *text) {
    protobuf_bytes(p, field, text, strlen(text));
}

void protobuf_inside(protobuf *p, unsigned field, protobuf *message) {
    protobuf_bytes(p, field, message->at, message->n);
    if (message->bad) {
        free(p->at);
        *p = (protobuf){.bad = 1};
    }
    free(message->at);
    *message = (protobuf){.at = NULL};
}

int protobuf_packed(const unsigned char **at, const unsigned char *end, uint64_t *value) {
    *value = 0;
    if (*at == end) return 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const unsigned char byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return 1;
    }
    return -1;
}

int protobuf_next(const unsigned char **at, const unsigned char *end, protobuf_field *f) {
    uint64_t key;
    const int found = protobuf_packed(at, end, &key);
    if (found < 1) return found;
    *f = (protobuf_field){.number = (unsigned)(key >> 3 & 0x1fffffff), .kind = (unsigned)(key & 7)};
    if (f->kind == 0) return protobuf_packed(at, end, &f->value) == 1 ? 1 : -1;
    uint64_t n = f->kind == 1 ? 8 : 4;
    if (f->kind == 2 ? protobuf_packed(at, end, &n) != 1 : f->kind != 1 && f->kind != 5) return -1;
    if (n > (uint64_t)(end - *at)) return -1;
    f->at = *at;
    f->n = (size_t)n;
    *at += n;
    return 1;
}
