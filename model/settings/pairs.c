// pairs.c: see pairs.h.
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/base/number.h"

enum { MAX_PAIR = 3 * 8192 + 64 }; // the longest value, every byte of it encoded

size_t pairs_runs(const char *text) {
    size_t n = 1;
    for (; *text; text++) n += *text == '~';
    return n;
}

config_span pairs_run(const char *text, size_t i) {
    while (i-- > 0) text = strchr(text, '~') + 1;
    return (config_span){text, strcspn(text, "~")};
}

// Decode %XX in place; -1 when broken or a control character other than the ends of lines and tabs.
static int decode(char *s) {
    char *to = s;
    for (; *s; s++) {
        int ch = (unsigned char)*s;
        if (ch == '%') {
            const int high = number_hex(s[1]), low = high < 0 ? -1 : number_hex(s[2]);
            if (low < 0) return -1;
            ch = 16 * high + low;
            s += 2;
        }
        if ((ch < 32 && ch != '\n' && ch != '\t' && ch != '\r') || ch == 127) return -1;
        *to++ = (char)ch;
    }
    *to = 0;
    return 0;
}

int pairs_visit(config_span run, pairs_each *each, void *arg, smx_error *e) {
    for (size_t at = 0; at < run.n;) {
        size_t len = 0;
        while (at + len < run.n && run.text[at + len] != '&') len++;
        if (len) {
            char pair[MAX_PAIR];
            if (len >= sizeof pair)
                return error_say(e, "'%.40s...' is %zu characters long; at most %d are allowed",
                                 run.text + at, len, MAX_PAIR - 1);
            memcpy(pair, run.text + at, len);
            pair[len] = 0;
            char *value = strchr(pair, '=');
            if (!value || value == pair)
                return error_about(e, "", pair, "key=value", "'%.100s' is not of the form key=value", pair);
            *value++ = 0;
            if (decode(pair) || decode(value))
                return error_about(e, pair, value, "printable text, with %XX for other characters",
                                   "'%.100s' has a broken %%XX or a control character", pair);
            int stop = each(arg, pair, value, e);
            if (stop) return stop;
        }
        at += len + 1;
    }
    return 0;
}

char *pairs_encode(char *to, const char *value) {
    for (; *value; value++)
        to += strchr("&~#%= \"\\", *value) || (unsigned char)*value > 126 || (unsigned char)*value < 32
                  ? sprintf(to, "%%%02X", (unsigned char)*value)
                  : sprintf(to, "%c", *value);
    return to;
}

char *pairs_with_files(const char *text, const char *key, char *(*read)(const char *path)) {
    const size_t n = strlen(key);
    char *all = malloc(strlen(text) + 1), *to = all;
    for (const char *at = text, *end; all && *at; at = end) {
        const int separator = *at == '&' || *at == '~';
        if (separator) *to++ = *at++;
        end = at + strcspn(at, "&~");
        const int is_file = !strncmp(at, key, n) && !strncmp(at + n, "=@", 2);
        char *path = is_file ? calloc((size_t)(end - at), 1) : NULL;
        if (path) memcpy(path, at + n + 2, (size_t)(end - at) - n - 2);
        char *value = path ? read(path) : NULL;
        const size_t done = (size_t)(to - all);
        char *longer = is_file && !value
                           ? NULL
                           : realloc(all, done + 3 * (value ? strlen(value) : 0) + n + 2 + strlen(at));
        if (!longer) free(all);
        all = longer;
        if (all && value)
            to = pairs_encode(all + done + sprintf(all + done, "%s=", key), value);
        else if (all)
            to = (char *)memcpy(all + done, at, (size_t)(end - at)) + (end - at);
        free(path);
        free(value);
    }
    if (all) *to = 0;
    return all;
}
