// options.h: a command and its options as tables. What it takes, what it refuses and what
// `seqmix help COMMAND`, the manual page and `help --json` say all come from them.
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>

typedef enum {
    OPTION_FLAG,  // int: 1 where it stands
    OPTION_COUNT, // long: a whole number in low..high
    OPTION_REAL,  // double: a number in low..high
    OPTION_TEXT,  // const char *: a file, a name
    OPTION_WORD,  // int: which of the words of `argument`, "train|eval"
    OPTION_EACH   // cli_list: may stand several times
} cli_option_type;

typedef struct {
    const char *name, *argument; // "--count", "N"; argument NULL for a flag
    const char *help;
    cli_option_type type;
    size_t at; // offsetof the value in the command's struct of options
    double low, high;
} cli_option;

enum { CLI_MOST_EACH = 64 };
typedef struct {
    size_t n;
    const char *option[CLI_MOST_EACH], *value[CLI_MOST_EACH]; // which option it was, and what stood behind it
} cli_list;

// What stands without a dash goes, in order, into const char *[] at the offset `plain`, at most `most`;
// several: cli_list, and `most` is CLI_MOST_EACH.
typedef struct {
    const char *name, *usage;  // "train", "'CONFIG'": what stands without a dash, as the user reads it
    const char *help;          // what it does
    const cli_option *options; // ends with a NULL name
    size_t plain, most;
    const char *example; // NULL: none
    int (*run)(int argc, char **argv);
} cli_command;

// Reads argv by the command's table into `to`, whose defaults are there already:
// 0, or 2 with the sentence printed.
int cli_read_options(const cli_command *c, int argc, char **argv, void *to);
// "train needs a config: seqmix train 'CONFIG' ...": 2.
int cli_usage_error(const cli_command *c, const char *wanted);
// "train 'CONFIG' [--json] [--save FILE] ..."
void cli_usage(const cli_command *c, char *to, size_t size);
void cli_print_help(const cli_command *c);

#endif
