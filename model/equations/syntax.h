// syntax.h: a mixer's text as trees. One equation a line, `#` starts a comment:
//   text     = line { newline line }
//   line     = [ NAME "=" ] sum
//            | "scan" state { "," state } "over" input { "," input } [ "by" ("heads" | "columns" | "one") ]
//            | "repeat" NAME "in" sum
//   state    = NAME { "[" sum "]" }
//   input    = NAME | "shared" NAME | "grouped" "(" NAME "," sum ")"
//   sum      = product { ("+" | "-") product }
//   product  = factor { ("*" | "@" | "/") factor }
//   factor   = "-" factor | plain { ("^" | "**") plain }
//   plain    = NAME { "[" sum "]" } | part { "[" [ sum ] ":" [ sum ] "]" }
//   part     = "(" sum ")" | NUMBER | NAME | NAME "(" [ argument { "," argument } ] ")"
//   argument = [ NAME "=" ] sum
// The lines of a scan or repeat are indented, alike and deeper than it; elsewhere indentation says nothing.
// Nothing is looked up here: what a name means is build.c's business. A text is data: it can name operations
// and weights only.
#ifndef SMX_EQUATION_SYNTAX_H
#define SMX_EQUATION_SYNTAX_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

// What a text may be at most; more is refused with a sentence.
enum {
    EQUATION_TEXT = 8192,
    EQUATION_LINES = 200,
    EQUATION_DEPTH = 32,
    EQUATION_NODES = 2048,
    EQUATION_NAME = 32,
    EQUATION_BODIES = 2 // within each other: a repeat in a scan
};

typedef enum {
    EQUATION_NUMBER,
    EQUATION_WORD,
    EQUATION_CALL,
    EQUATION_ADD,
    EQUATION_SUB,
    EQUATION_MUL,
    EQUATION_MATMUL,
    EQUATION_DIVIDE,
    EQUATION_NEGATE
} equation_kind;
// x[2:6] is a call of the function [:] with x and its ends, x[2:] with x and 2; x^2 is power(x, 2).
typedef struct equation_node {
    equation_kind kind;
    uint16_t line, column;              // where it begins, from 1; of an operator: its sign
    char name[EQUATION_NAME];           // of a word, or of the function that is called
    char key[EQUATION_NAME];            // of an argument given as key=value, else ""
    double number;                      // of a number
    struct equation_node *first, *next; // operands or arguments in order; of a word: the sizes in brackets
} equation_node;
typedef enum { LINE_EQUATION, LINE_SCAN, LINE_REPEAT } equation_line_kind;
typedef enum { BY_HEADS, BY_COLUMNS, BY_ONE } equation_by;
typedef struct {
    char name[EQUATION_NAME]; // assigned, or counts repeats; "": a result without a name
    uint16_t line, column;
    uint8_t kind, by;     // equation_line_kind, of a scan equation_by
    uint8_t depth;        // in how many bodies it stands
    uint16_t end;         // of a scan or repeat: one past the last line of its body
    equation_node *value; // of a scan its states; how many repeats
    equation_node *over;  // of a scan: its inputs; shared b is a call
} equation_line;
typedef struct {
    equation_line lines[EQUATION_LINES];
    size_t n_lines;
    size_t n_nodes;
    equation_node nodes[EQUATION_NODES];
} equations; // about 150 KB: on the heap

// A line such as taps = 3, a number alone: a key of the text, whose value a config may give. *value: the
// text's own.
int equations_key(const equation_line *l, double *value);

// 0; -1 with a sentence that names line, column, the thing and what is allowed. No memory is taken.
int equations_parse(equations *e, const char *text, smx_error *error);
// Always -1: "eq, line 3, column 5: <sentence>".
int equations_fail(smx_error *error, unsigned line, unsigned column, const char *sentence, ...)
    __attribute__((format(printf, 4, 5)));
int equations_vfail(smx_error *error, unsigned line, unsigned column, const char *sentence, va_list list);

#endif
