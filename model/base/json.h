// json.h: a small strict JSON reader for manifests and safetensors headers, and how a text
// stands in JSON that others write.
#ifndef SMX_JSON_H
#define SMX_JSON_H

#include <stddef.h>

#include <seqmix/error.h>

typedef enum {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_type;

typedef struct json {
    json_type type;
    const char *key;      // name inside an object, else NULL
    const char *string;   // UTF-8, NUL-terminated (JSON_STRING)
    double number;        // JSON_NUMBER
    size_t count;         // members of an array or object
    struct json *child;   // first member, NULL when empty
    struct json *next;    // next member of the same parent
    struct json **sorted; // members of an object in order of name; NULL where there are fewer than two
} json;

// Reads exactly one value of at most 2^31 bytes. On failure NULL, and `error` holds one sentence with
// the line. Refused besides bad grammar: nesting deeper than 64, a key given twice, numbers outside double,
// \u0000, bad UTF-8. Memory grows with the text (at most about 50 bytes a byte). Free the root (only) with
// json_free.
json *json_parse(const char *text, size_t length, smx_error *error);
// The same for a file of at most max_bytes.
json *json_read(const char *path, size_t max_bytes, smx_error *error);
void json_free(json *root);

// Member of an object, or NULL (also when it is not an object). Takes the logarithm of their number.
const json *json_get(const json *object, const char *key);
// The text of a member, "" where there is none, and its number, NaN.
const char *json_text(const json *object, const char *key);
double json_number(const json *object, const char *key);
// 1 and *out when v is a whole number in 0..2^53, else 0.
int json_size(const json *v, size_t *out);
const char *json_type_name(json_type type);

// The bytes that the first character of a text of n > 0 bytes takes in UTF-8; 0 where it begins with none
// (an overlong form and a surrogate are none).
size_t json_utf8(const char *text, size_t n);
// The first character of a text that is not empty, as it stands inside the quotes of a JSON string; controls
// as \u00XX, a byte that is no UTF-8 as U+FFFD. Returns what follows it.
const char *json_character(char to[8], const char *text);

#endif
