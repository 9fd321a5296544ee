// text_bind.h: a text of equations in which some names are given from outside: their own lines are dropped,
// and what only those used.
#ifndef CLI_TEXT_BIND_H
#define CLI_TEXT_BIND_H

#include <stddef.h>

#include <seqmix/error.h>

typedef enum { TEXT_ROWS, TEXT_WEIGHT, TEXT_START } text_kind;
typedef struct {
    char name[64];          // of the text
    text_kind kind;         // columns of x; a weight; where a state of that name starts
    size_t column, columns; // TEXT_ROWS
} text_bound;
typedef struct {
    text_bound list[64];
    size_t n;
    int renamed;          // the text's x is among the rows: it is called x_in
    size_t width;         // of x, whose columns hold the rows; 0: x is the text's own
    size_t result, inner; // columns of the output; what `width` in the text stands for
    char output[200];     // an expression of the text: what the output is
    struct {
        char name[64], is[200]; // what a name is made of, of the others
    } made[16];
    size_t n_made;
    double (*number)(const void *context, const char *name); // of a name that nothing assigns; NAN: none
    const void *context;
} text_names;

// What stands in the text for a name, as far as that can be told: is it assigned on a line of its own, is it
// a scan's state, a matrix behind @?
int text_assigns(const char *text, const char *name);
int text_has_state(const char *text, const char *name);
int text_multiplies(const char *text, const char *name);
// The new text into to[size]; 0, or -1 with one sentence.
int text_bind(char *to, size_t size, const char *text, const text_names *names, smx_error *error);

#endif
