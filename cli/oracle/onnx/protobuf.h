// protobuf.h: messages as bytes, as much of it as ONNX's files need.
#ifndef CLI_PROTOBUF_H
#define CLI_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

// A message that is written. It grows; `bad` where memory ran out, and then it is empty. free(at).
typedef struct {
    unsigned char *at;
    size_t n, room;
    int bad;
} protobuf;
void protobuf_number(protobuf *p, unsigned field, uint64_t value);
void protobuf_float(protobuf *p, unsigned field, float value);
void protobuf_bytes(protobuf *p, unsigned field, const void *bytes, size_t n);
void protobuf_text(protobuf *p, unsigned field, const char *text);
void protobuf_inside(protobuf *p, unsigned field, protobuf *message); // which is freed

// A message that is read: its fields in turn.
typedef struct {
    unsigned number;
    unsigned kind; // 0: value; 1, 5: eight and four bytes at `at`; 2: n bytes at `at`
    uint64_t value;
    const unsigned char *at;
    size_t n;
} protobuf_field;
// 1: a field; 0: the end; -1: bytes that are no message. *at moves on.
int protobuf_next(const unsigned char **at, const unsigned char *end, protobuf_field *f);
// The next number of a packed field: 1, 0 at the end, -1.
int protobuf_packed(const unsigned char **at, const unsigned char *end, uint64_t *value);

#endif
