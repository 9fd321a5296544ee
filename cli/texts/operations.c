// operations.c: what is told of an operation of the language: to a terminal, as Markdown, and as JSON for
// programs and the page.
#include "operations.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "model/base/number.h"
#include "model/equations/functions.h"

// A weight's shape in words: D is the width of what stands first, n the size in brackets.
static const char *shape_of(weight_role role) {
    static const char *const words[128] = {
        ['D'] = "[D]",      ['H'] = "[H]",           ['n'] = "[n]",           ['2'] = "[2]",
        ['d'] = "[n or D]", ['t'] = "[n or filter]", ['l'] = "[n or length]", ['s'] = "[n or 16]",
        ['1'] = "[n or 1]", ['3'] = "[D / 3]",       ['4'] = "[D / 4]"};
    static char shape[64];
    size_t n = 0;
    for (const char *c = weight_shapes[role]; *c; c++)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%s", words[(int)*c]);
    return shape;
}

// One argument in words: `filter` [H][n or filter].
static void argument_words(char *to, size_t size, const function_argument *a) {
    char fallback[NUMBER_TEXT], least[NUMBER_TEXT], most[NUMBER_TEXT];
    size_t n = 0;
    switch ((argument_kind)a->kind) {
    case ARGUMENT_TENSOR:
        snprintf(to, size, "%s`%s`", a->optional ? "perhaps " : "", a->name);
        break;
    case ARGUMENT_WEIGHT:
        snprintf(to, size, "%s`%s` %s", a->optional ? "perhaps " : "", a->name,
                 shape_of((weight_role)a->role));
        break;
    case ARGUMENT_NUMBER:
    case ARGUMENT_REAL:
        if (a->kind == ARGUMENT_REAL && a->fallback < 0)
            snprintf(to, size, "perhaps `%s` (%s to %s)", a->name, number_write(least, a->least),
                     number_write(most, a->most));
        else
            snprintf(to, size, "`%s=%s` (%s to %s)", a->name,
                     a->fallback < 0 ? "width / heads" : number_write(fallback, a->fallback),
                     number_write(least, a->least), number_write(most, a->most));
        break;
    case ARGUMENT_WORD:
        n = (size_t)snprintf(to, size, "`%s=`", a->name);
        for (const char *c = a->words; *c && n < size; c++)
            n += (size_t)snprintf(to + n, size - n, *c == '|' ? " or " : "%c", *c);
        break;
    case ARGUMENT_END:
        break;
    }
}
static void arguments_words(char *to, size_t size, const equation_function *f) {
    size_t n = 0;
    for (const function_argument *a = f->arguments; a->kind != ARGUMENT_END; a++) {
        char one[256];
        argument_words(one, sizeof one, a);
        n += (size_t)snprintf(to + n, n < size ? size - n : 0, "%s%s", n ? ", " : "", one);
    }
}

void operations_table(void) {
    puts("| function | arguments | what it computes |\n|---|---|---|");
    for (const equation_function *f = equation_functions; f->name; f++) {
        printf("| `%s` | ", f->name);
        char words[1024];
        arguments_words(words, sizeof words, f);
        printf("%s | %s |\n", words, f->help);
    }
}

// Its lines, indented.
static void print_lines(const char *indent, const char *text) {
    while (*text) {
        const size_t n = strcspn(text, "\n");
        printf("%s%.*s\n", indent, (int)n, text);
        text += n + (text[n] == '\n');
    }
}
static const char *gives(const equation_function *f) { return f->gives ? f->gives : "as its first argument"; }

// What the lines of a scan may call: one of it, or all with `scan`.
static int scan_help(const char *name) {
    static const struct {
        const char *name, *form, *says;
    } functions[] = {
#define SCAN_FUNCTION(name, form, says) {name, form, says},
#include "model/equations/scan_functions.def"
    };
    const int all = !strcmp(name, "scan");
    int found = all;
    if (all)
        puts(
            "scan STATE, ... over TENSOR, ... [by heads|columns|one]: a recurrence, the lines of a row indented "
            "under it\n  (docs/EQUATIONS.md). A line computes with + - * / @ and calls:");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (all || !strcmp(name, functions[i].name)) {
            printf(all ? "  %-25s %s\n" : "%s, in a scan: %s\n", functions[i].form, functions[i].says);
            found = 1;
        }
    return found;
}

int operation_help(const char *name) {
    const equation_function *f = function_find(name);
    char words[1024];
    if (!f) return scan_help(name);
    arguments_words(words, sizeof words, f);
    printf("%s: %s\n  arguments  %s\n  gives      %s\n  formula    %s\n  cost       %s multiply-adds a row\n"
           "  oracle     %s\n  for example\n",
           f->name, f->help, words, gives(f), f->formula, f->cost, f->twin);
    print_lines("    ", f->example);
    scan_help(name);
    return 1;
}

void operations_names(void) {
    for (const equation_function *f = equation_functions; f->name; f++) printf(" %s", f->name);
}

void operations_markdown(void) {
    puts(
        "# Operations\n\nFrom the table of `model/equations/functions.c`: what the equations of a mixer (`docs/EQUATIONS.md`) may "
        "call. D is the\nwidth of what stands first, L the length, H the heads, d = D / H, n the size in brackets; a tensor "
        "is `[L][D]` in each\nsequence. Each example is the whole text of a mixer.\n");
    for (const equation_function *f = equation_functions; f->name; f++) {
        char words[1024];
        arguments_words(words, sizeof words, f);
        printf(
            "<a id=\"%s\"></a>\n\n## %s\n\n%s.\n\n```math\n%s\n```\n\n- **Arguments**: %s\n- **Gives**: %s\n"
            "- **Cost**: %s multiply-adds a row\n- **Oracle**: `%s`\n\n",
            f->name, f->name, f->help, f->formula, words, gives(f), f->cost, f->twin);
        puts("```text");
        print_lines("", f->example);
        puts(f[1].name ? "```\n" : "```");
    }
}

static void json_field(const char *name, const char *text) {
    printf(",\"%s\":", name);
    cli_json_text(text);
}
void operations_json(void) {
    for (const equation_function *f = equation_functions; f->name; f++) {
        char words[1024];
        arguments_words(words, sizeof words, f);
        printf("%s{\"name\":\"%s\"", f == equation_functions ? "[" : ",\n", f->name);
        json_field("help", f->help);
        json_field("arguments", words);
        json_field("gives", gives(f));
        json_field("formula", f->formula);
        json_field("cost", f->cost);
        json_field("twin", f->twin);
        json_field("example", f->example);
        putchar('}');
    }
    puts("]");
}
