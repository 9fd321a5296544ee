// equations.c: seqmix equations: the functions of the language in which mixers are written as text
// (docs/EQUATIONS.md), from their table, as Markdown.
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "model/equations/functions.h"

// What a weight's shape is, in the words of the page.
static const char *shape_of(weight_role role) {
    switch (role) {
    case WEIGHT_MATRIX:
    case WEIGHT_OUTPUT:
        return "[D][n or D]";
    case WEIGHT_FILTER:
        return "[H][n or filter]";
    case WEIGHT_CHANNEL_TAPS:
        return "[D][n or filter]";
    case WEIGHT_HEAD_TAPS:
        return "[n or filter][H][H]";
    case WEIGHT_MAPS:
        return "[H][H]";
    case WEIGHT_KERNEL:
        return "[D][n or length]";
    case WEIGHT_STATES:
        return "[D][n or 16]";
    case WEIGHT_STATE_PAIRS:
        return "[D][n or 16][2]";
    case WEIGHT_GAIN:
    case WEIGHT_BIAS:
        break;
    }
    return "[D]";
}

static void print_argument(const function_argument *a) {
    switch (a->kind) {
    case ARGUMENT_TENSOR:
        printf("`%s`", a->name);
        break;
    case ARGUMENT_WEIGHT:
        printf("%s`%s` %s", a->optional ? "perhaps " : "", a->name, shape_of(a->role));
        break;
    case ARGUMENT_NUMBER:
    case ARGUMENT_REAL:
        printf("`%s=%.0f` (%.0f to %.0f)", a->name, a->fallback, a->least, a->most);
        break;
    case ARGUMENT_WORD:
        printf("`%s=`", a->name);
        for (const char *c = a->words; *c; c++) printf(*c == '|' ? " or " : "%c", *c);
        break;
    case ARGUMENT_END:
        break;
    }
}

static int list(int argc, char **argv) {
    const char *none[1];
    if (cli_read_options(&cli_equations, argc, argv, none)) return 2;
    puts("| function | arguments | what it computes |\n|---|---|---|");
    for (const equation_function *f = equation_functions; f->name; f++) {
        printf("| `%s` | ", f->name);
        for (const function_argument *a = f->arguments; a->kind != ARGUMENT_END; a++) {
            if (a != f->arguments) printf(", ");
            print_argument(a);
        }
        printf(" | %s |\n", f->help);
    }
    return 0;
}

const cli_command cli_equations = {
    .name = "equations",
    .usage = "",
    .help = "the functions that a mixer's equations may use (mixer=equations&eq=...)",
    .example = "seqmix equations",
    .run = list,
};
