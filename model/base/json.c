// json.c: see json.h. The parser keeps its own stack of open containers, so depth costs no C stack. Longer
// than 400 lines: it is one parser.
#include "json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"

enum { MAX_DEPTH = 64, BLOCK_NODES = 256 };

// Nodes live in blocks and all strings in one buffer: decoded text is never longer than its source.
typedef struct block {
    struct block *next;
    size_t used;
    json nodes[BLOCK_NODES];
} block;

// The members of one object in order of name.
typedef struct order {
    struct order *next;
    json *member[];
} order;

typedef struct {
    json root; // first, so that the public pointer is the document
    block *blocks;
    order *orders;
    char *strings;
} document;

typedef struct {
    const char *text, *at, *end;
    char *store; // next free byte of the string buffer
    document *doc;
    smx_error *error;
} parser;

static int fail(parser *p, const char *what) {
    size_t line = 1;
    for (const char *c = p->text; c < p->at && c < p->end; c++) line += *c == '\n';
    error_say(p->error, "JSON, line %zu: %s", line, what);
    return 0;
}

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) p->at++;
}

static json *new_node(parser *p) {
    block *b = p->doc->blocks;
    if (!b || b->used == BLOCK_NODES) {
        b = calloc(1, sizeof *b);
        if (!b) return NULL;
        b->next = p->doc->blocks;
        p->doc->blocks = b;
    }
    return &b->nodes[b->used++];
}

static int hex4(parser *p, unsigned *out) {
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const int digit = p->at == p->end ? -1 : number_hex(*p->at++);
        if (digit < 0) return fail(p, "a \\u escape needs four hexadecimal digits");
        *out = *out * 16 + (unsigned)digit;
    }
    return 1;
}

static void put_utf8(parser *p, unsigned c) {
    char *s = p->store;
    if (c < 0x80) {
        *s++ = (char)c;
    } else if (c < 0x800) {
        *s++ = (char)(0xC0 | c >> 6);
        *s++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *s++ = (char)(0xE0 | c >> 12);
        *s++ = (char)(0x80 | (c >> 6 & 0x3F));
        *s++ = (char)(0x80 | (c & 0x3F));
    } else {
        *s++ = (char)(0xF0 | c >> 18);
        *s++ = (char)(0x80 | (c >> 12 & 0x3F));
        *s++ = (char)(0x80 | (c >> 6 & 0x3F));
        *s++ = (char)(0x80 | (c & 0x3F));
    }
    p->store = s;
}

static int escape(parser *p) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->at == p->end) return fail(p, "the text ends inside a string");
    char c = *p->at++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        *p->store++ = to[known - from];
        return 1;
    }
    unsigned code, low;
    if (c != 'u') return fail(p, "unknown escape in a string");
    if (!hex4(p, &code)) return 0;
    if (code >= 0xD800 && code < 0xDC00) {
        if (p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
            return fail(p, "half a surrogate pair");
        p->at += 2;
        if (!hex4(p, &low)) return 0;
        if (low < 0xDC00 || low > 0xDFFF) return fail(p, "half a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        return fail(p, "half a surrogate pair");
    }
    if (code == 0) return fail(p, "\\u0000 is not accepted in a string");
    put_utf8(p, code);
    return 1;
}

size_t json_utf8(const char *text, size_t n) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    const size_t length = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (s[0] < 0xC2 || n < length) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    const unsigned two = s[0] * 256u + s[1]; // E080 to E09F and F080 to F08F are overlong, EDA0 on surrogates
    return (two & 0xFFE0) == 0xE080 || (two & 0xFFE0) == 0xEDA0 || (two & 0xFFF0) == 0xF080 || two >= 0xF490
               ? 0
               : length;
}

const char *json_character(char to[8], const char *text) {
    const size_t n = json_utf8(text, 4); // it looks at no byte behind the one that ends the text
    const unsigned code = (unsigned char)text[n == 2 && *text == '\xc2'];
    if (n && (code < 0x20 || (code >= 0x7f && code < 0xa0)))
        snprintf(to, 8, "\\u%04x", code);
    else
        snprintf(to, 8, "%s%.*s", code == '"' || code == '\\' ? "\\" : "", n ? (int)n : 3,
                 n ? text : "\xef\xbf\xbd");
    return text + (n ? n : 1);
}

static int string(parser *p, const char **out) {
    *out = p->store;
    p->at++; // the opening quote
    for (;;) {
        if (p->at == p->end) return fail(p, "the text ends inside a string");
        unsigned char c = (unsigned char)*p->at;
        if (c == '"') break;
        if (c < 0x20) return fail(p, "a control character inside a string");
        if (c == '\\') {
            p->at++;
            if (!escape(p)) return 0;
        } else {
            size_t n = json_utf8(p->at, (size_t)(p->end - p->at));
            if (!n) return fail(p, "a string is not valid UTF-8");
            while (n--) *p->store++ = *p->at++;
        }
    }
    p->at++;
    *p->store++ = 0;
    return 1;
}

static int digits(parser *p) {
    const char *start = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
    return p->at > start;
}

static int number(parser *p, double *out) {
    const char *start = p->at;
    char buffer[512];
    if (*p->at == '-') p->at++;
    if (p->at < p->end && *p->at == '0')
        p->at++;
    else if (!digits(p))
        return fail(p, "a value was expected");
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!digits(p)) return fail(p, "a number needs digits after its point");
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        if (!digits(p)) return fail(p, "a number needs digits in its exponent");
    }
    size_t n = (size_t)(p->at - start);
    if (n >= sizeof buffer) return fail(p, "a number of more than 500 characters");
    memcpy(buffer, start, n);
    buffer[n] = 0;
    *out = number_read(buffer, NULL);
    return isfinite(*out) ? 1 : fail(p, "a number is too large for double");
}

static int word(parser *p, const char *text, json *v, json_type type) {
    size_t n = strlen(text);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n)) return fail(p, "a value was expected");
    p->at += n;
    v->type = type;
    return 1;
}

static int scalar(parser *p, json *v) {
    switch (*p->at) {
    case '"':
        v->type = JSON_STRING;
        return string(p, &v->string);
    case 't':
        return word(p, "true", v, JSON_TRUE);
    case 'f':
        return word(p, "false", v, JSON_FALSE);
    case 'n':
        return word(p, "null", v, JSON_NULL);
    default:
        v->type = JSON_NUMBER;
        return number(p, &v->number);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(json *const *)a)->key, (*(json *const *)b)->key);
}

static int sort_members(parser *p, json *object) {
    if (object->count < 2) return 1;
    order *o = malloc(sizeof *o + object->count * sizeof *o->member);
    if (!o) return fail(p, "out of memory");
    o->next = p->doc->orders;
    p->doc->orders = o;
    size_t n = 0;
    for (json *m = object->child; m; m = m->next) o->member[n++] = m;
    qsort(o->member, n, sizeof *o->member, by_name);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(o->member[i - 1]->key, o->member[i]->key))
            return fail(p, "an object has the same key twice");
    object->sorted = o->member;
    return 1;
}

// Reads one value with everything in it. open[] holds the containers that are not yet closed, last[] their
// members' tails.
static int value(parser *p, json *root) {
    json *open[MAX_DEPTH], **tail[MAX_DEPTH], *v = root;
    size_t depth = 0;
    for (;;) { // v is a value about to be read
        skip_space(p);
        if (p->at == p->end) return fail(p, "the text ends where a value was expected");
        if (*p->at == '{' || *p->at == '[') {
            if (depth == MAX_DEPTH) return fail(p, "nested deeper than 64");
            v->type = *p->at++ == '{' ? JSON_OBJECT : JSON_ARRAY;
            open[depth] = v;
            tail[depth++] = &v->child;
        } else if (!scalar(p, v)) {
            return 0;
        }
        for (;;) { // after a value or an opening bracket: close containers until another member follows
            if (depth == 0) return 1;
            json *in = open[depth - 1];
            char close = in->type == JSON_OBJECT ? '}' : ']';
            skip_space(p);
            if (p->at == p->end) return fail(p, "the text ends inside an array or object");
            if (*p->at == close) {
                p->at++;
                if (in->type == JSON_OBJECT && !sort_members(p, in)) return 0;
                depth--;
                continue;
            }
            if (in->count) {
                if (*p->at++ != ',') {
                    p->at--;
                    return fail(p, close == '}' ? "',' or '}' was expected" : "',' or ']' was expected");
                }
                skip_space(p);
                if (p->at == p->end) return fail(p, "the text ends inside an array or object");
            }
            break;
        }
        json *in = open[depth - 1];
        if (!(v = new_node(p))) return fail(p, "out of memory");
        if (in->type == JSON_OBJECT) {
            if (*p->at != '"') return fail(p, "a key in quotes was expected");
            if (!string(p, &v->key)) return 0;
            skip_space(p);
            if (p->at == p->end || *p->at++ != ':') return fail(p, "':' was expected after a key");
        }
        *tail[depth - 1] = v;
        tail[depth - 1] = &v->next;
        in->count++;
    }
}

json *json_parse(const char *text, size_t length, smx_error *error) {
    parser p = {.text = text, .at = text, .end = text + length, .error = error};
    if (length > (size_t)1 << 31) {
        fail(&p, "more than 2^31 bytes");
        return NULL;
    }
    document *doc = calloc(1, sizeof *doc);
    if (doc) doc->strings = malloc(length + 1);
    if (!doc || !doc->strings) {
        fail(&p, "out of memory");
        free(doc);
        return NULL;
    }
    p.doc = doc;
    p.store = doc->strings;
    int ok = value(&p, &doc->root);
    if (ok) {
        skip_space(&p);
        if (p.at < p.end) ok = fail(&p, "something follows the value");
    }
    if (ok) return &doc->root;
    json_free(&doc->root);
    return NULL;
}

json *json_read(const char *path, size_t max_bytes, smx_error *error) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        error_say(error, "%s: cannot be opened", path);
        return NULL;
    }
    char *text = NULL;
    size_t n = 0, room = 0;
    json *root = NULL;
    for (;;) {
        if (n == room) {
            size_t more = room ? room * 2 : 65536;
            char *grown = n > max_bytes ? NULL : realloc(text, more);
            if (!grown) break;
            text = grown;
            room = more;
        }
        size_t got = fread(text + n, 1, room - n, f);
        n += got;
        if (got == 0) break;
    }
    smx_error why;
    if (ferror(f) || n == room) {
        error_say(error, "%s: %s", path, ferror(f) ? "cannot be read" : "is too large or memory is short");
    } else if (n > max_bytes) {
        error_say(error, "%s: is larger than %zu bytes", path, max_bytes);
    } else if (!(root = json_parse(text, n, &why))) {
        error_say(error, "%s: %s", path, why.message);
    }
    free(text);
    fclose(f);
    return root;
}

void json_free(json *root) {
    document *doc = (document *)root;
    if (!doc) return;
    while (doc->blocks) {
        block *next = doc->blocks->next;
        free(doc->blocks);
        doc->blocks = next;
    }
    while (doc->orders) {
        order *next = doc->orders->next;
        free(doc->orders);
        doc->orders = next;
    }
    free(doc->strings);
    free(doc);
}

const json *json_get(const json *object, const char *key) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    if (!object->sorted) return object->count && !strcmp(object->child->key, key) ? object->child : NULL;
    for (size_t low = 0, high = object->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(key, object->sorted[middle]->key);
        if (!order) return object->sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *json_text(const json *object, const char *key) {
    const json *v = json_get(object, key);
    return v && v->type == JSON_STRING ? v->string : "";
}
double json_number(const json *object, const char *key) {
    const json *v = json_get(object, key);
    return v && v->type == JSON_NUMBER ? v->number : NAN;
}

int json_size(const json *v, size_t *out) {
    if (!v || v->type != JSON_NUMBER || v->number < 0 || v->number > 9007199254740992.0 ||
        v->number != floor(v->number) || v->number >= (double)SIZE_MAX)
        return 0;
    *out = (size_t)v->number;
    return 1;
}

const char *json_type_name(json_type type) {
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[type];
}
