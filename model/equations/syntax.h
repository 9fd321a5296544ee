// syntax.h: a mixer's text as trees. One equation a line, `#` starts a comment:
//   text     = line { newline line }
//   line     = [ NAME "=" ] sum
//            | NAME "=" WORD "|" WORD { "|" WORD }
//            | "if" NAME [ "=" WORD ]
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
// The lines of a scan or repeat are indented, alike and deeper than it, those of an if deeper than it;
// elsewhere indentation says nothing. WORD: letters, digits and _. A number alone and a list of words are
// keys; what stands below an if whose key has another value is read and left out.
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
    EQUATION_KEYS = 16,
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
typedef enum { LINE_EQUATION, LINE_CHOICE, LINE_SCAN, LINE_REPEAT } equation_line_kind;
typedef enum { BY_HEADS, BY_COLUMNS, BY_ONE } equation_by;
typedef struct {
    char name[EQUATION_NAME]; // assigned, or counts repeats; "": a result without a name
    uint16_t line, column;
    uint8_t kind, by;     // equation_line_kind, of a scan equation_by
    uint8_t depth;        // in how many bodies it stands
    uint8_t asked;        // of a key: an if asks for it
    uint16_t end;         // of a scan or repeat: one past the last line of its body
    uint16_t deeper;      // bytes of its indentation that an if asked for
    equation_node *value; // of a scan its states; how many repeats; of a choice its words
    equation_node *over;  // of a scan: its inputs; shared b is a call
} equation_line;
typedef struct {
    equation_line lines[EQUATION_LINES];
    size_t n_lines;
    size_t n_nodes;
    equation_node nodes[EQUATION_NODES];
} equations; // about 150 KB: on the heap

// A line such as taps = 3, a number alone, or form = paper | code: a key of the text, whose value a config
// may give. *value: the text's own, of words 0, the place of the first.
int equations_key(const equation_line *l, double *value);

// keys: values of the text's keys in their order, NULL: the text's own. 0; -1 with a sentence that names
// line, column, the thing and what is allowed. No memory is taken.
int equations_parse(equations *e, const char *text, const double *keys, smx_error *error);
// Always -1: "eq, line 3, column 5: <sentence>".
int equations_fail(smx_error *error, unsigned line, unsigned column, const char *sentence, ...)
    __attribute__((format(printf, 4, 5)));
int equations_vfail(smx_error *error, unsigned line, unsigned column, const char *sentence, va_list list);

#endif
