// key.h: a key of the config language as a row of a table: what may be given, what help says of it, and the
// field of a settings struct that holds its value once a config has been read. The row macros check that
// the field is of the key's type.
#ifndef SMX_KEY_H
#define SMX_KEY_H

#include <stddef.h>
#include <stdint.h>

typedef enum { KEY_INT, KEY_REAL, KEY_WORD, KEY_FLAG, KEY_TEXT, KEY_LINES } key_type;

typedef struct {
    const char *name;
    key_type type;
    const char *fallback; // default, in the config's own spelling
    unsigned traits;      // KEY_RARE | ...
    double min, max;      // of KEY_INT and KEY_REAL
    const char
        *choices; // of KEY_WORD and KEY_FLAG: "none|learned|rope"; "@tasks", "@mixers": the names of those
    const char *help;   // one line
    const char *group;  // "model", "task", "mixer", "training", "run"
    uint16_t at, bytes; // of the field
} config_key;
enum {
    KEY_RARE = 1,  // somebody who is new can leave it alone: shown where all settings are asked for
    KEY_SIZES = 2, // of a key of training: data and sizes hang on it, not only what the optimiser does
    KEY_FITS = 4   // other keys say how much fits: what is larger than max is left to the task to refuse
};

#define KEY_FIELD(S, field) (((S *)0)->field)
#define KEY_ROW(name, type, fallback, min, max, choices, help, group, S, field, at, ...)                     \
    {                                                                                                        \
        name, type, fallback, (__VA_ARGS__ + 0), min, max, choices, help, group, at,                         \
            sizeof KEY_FIELD(S, field)                                                                       \
    }

// A table's rows: ROW("name", struct, field of it, "fallback", ..., "help", "group"), and traits where it has
// some. A table ends with a row of zeros.
#define INT_KEY(name, S, field, fallback, min, max, help, group, ...) /* size_t */                           \
    KEY_ROW(name, KEY_INT, fallback, min, max, NULL, help, group, S, field,                                  \
            _Generic(KEY_FIELD(S, field), size_t                                                             \
                     : offsetof(S, field)),                                                                  \
            __VA_ARGS__)
#define LARGE_INT_KEY(name, S, field, fallback, min, max, help, group, ...) /* uint64_t */                   \
    KEY_ROW(name, KEY_INT, fallback, min, max, NULL, help, group, S, field,                                  \
            _Generic(KEY_FIELD(S, field), uint64_t                                                           \
                     : offsetof(S, field)),                                                                  \
            __VA_ARGS__)
#define REAL_KEY(name, S, field, fallback, min, max, help, group, ...) /* double */                          \
    KEY_ROW(name, KEY_REAL, fallback, min, max, NULL, help, group, S, field,                                 \
            _Generic(KEY_FIELD(S, field), double                                                             \
                     : offsetof(S, field)),                                                                  \
            __VA_ARGS__)
#define TEXT_KEY(name, S, field, fallback, help, group, ...) /* const char *, the config's own copy */       \
    KEY_ROW(name, KEY_TEXT, fallback, 0, 0, NULL, help, group, S, field,                                     \
            _Generic(KEY_FIELD(S, field), const char *: offsetof(S, field)), __VA_ARGS__)
#define LINES_KEY(name, S, field, fallback, help, group,                                                     \
                  ...) /* the same, of several lines and up to 8,192 bytes */                                \
    KEY_ROW(name, KEY_LINES, fallback, 0, 0, NULL, help, group, S, field, _Generic(KEY_FIELD(S, field), const char *: offsetof(S, field)), __VA_ARGS__)
// int, 1 or 0. choices: "0|1" or "1|0", the usual one first.
#define FLAG_KEY(name, S, field, choices, fallback, help, group, ...)                                        \
    KEY_ROW(name, KEY_FLAG, fallback, 0, 0, choices, help, group, S, field,                                  \
            _Generic(KEY_FIELD(S, field), int                                                                \
                     : offsetof(S, field)),                                                                  \
            __VA_ARGS__)
// An enum made of `list`, so that the words and their numbers cannot drift apart:
//   #define NORMS(W) W(NORM_NONE, "none") W(NORM_LAYER, "layer")
//   typedef enum { NORMS(WORD_NAME) } norm_word;
#define WORD_NAME(name, word) name,
#define WORD_TEXT(name, word) "|" word
#define WORD_LIST(list) (&("" list(WORD_TEXT))[1])
#define WORD_KEY(name, S, field, list, fallback, help, group, ...)                                           \
    KEY_ROW(name, KEY_WORD, fallback, 0, 0, WORD_LIST(list), help, group, S, field,                          \
            offsetof(S, field) + 0 * sizeof(char[sizeof KEY_FIELD(S, field) == sizeof(int) ? 1 : -1]),       \
            __VA_ARGS__)

#endif
