// options.c: see options.h.
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "model/base/names.h"

const cli_command *const *cli_commands;

// The nearest, where one is near; and in any case what there is.
static int unknown(const cli_command *c, const char *given) {
    char all[600] = "";
    const cli_option *nearest = NULL;
    size_t least = strlen(given) < 5 ? 2 : 4;
    for (const cli_option *o = c->options; o && o->name; o++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s%s%s", *all ? ", " : "", o->name,
                 o->argument ? " " : "", o->argument ? o->argument : "");
        if (name_distance(given, o->name) < least) {
            least = name_distance(given, o->name);
            nearest = o;
        }
    }
    if (!*all) return cli_fail("%s: there is no option '%.60s'; it has none", c->name, given);
    if (nearest)
        return cli_fail("%s: there is no option '%.60s'; the nearest is %s (of %s)", c->name, given,
                        nearest->name, all);
    return cli_fail("%s: there is no option '%.60s'; there are %s", c->name, given, all);
}

static int read_number(const cli_command *c, const cli_option *o, const char *text, void *to) {
    char *end;
    errno = 0;
    if (o->type == OPTION_COUNT) {
        const long x = strtol(text, &end, 10);
        *(long *)to = x;
        if (*text && !*end && !errno && (double)x >= o->low && (double)x <= o->high) return 0;
        return cli_fail("%s: %s %.60s is not allowed: it must be a whole number from %.0f to %.0f", c->name,
                        o->name, text, o->low, o->high);
    }
    const double x = strtod(text, &end);
    *(double *)to = x;
    if (*text && !*end && x >= o->low && x <= o->high) return 0;
    return cli_fail("%s: %s '%.60s' is not allowed: it must be a number from %g to %g", c->name, o->name,
                    text, o->low, o->high);
}

// Which of the words "a|b|c"; -1: none.
static int word_of(const char *words, const char *word) {
    for (int i = 0;; i++) {
        const size_t n = strcspn(words, "|");
        if (strlen(word) == n && !strncmp(words, word, n)) return i;
        if (!words[n]) return -1;
        words += n + 1;
    }
}

static int each(const cli_command *c, cli_list *list, const char *option, const char *value) {
    if (list->n == CLI_MOST_EACH)
        return cli_fail("%s takes at most %d of %s", c->name, CLI_MOST_EACH, option);
    list->option[list->n] = option;
    list->value[list->n++] = value;
    return 0;
}

static int read_option(const cli_command *c, const cli_option *o, const char *value, char *to) {
    switch (o->type) {
    case OPTION_FLAG:
        *(int *)to = 1;
        return 0;
    case OPTION_COUNT:
    case OPTION_REAL:
        return read_number(c, o, value, to);
    case OPTION_TEXT:
        *(const char **)to = value;
        if (!strcmp(value, "-") && word_of("DIR|FOLDER", o->argument) >= 0)
            return cli_fail(
                "%s: %s -: standard input and output are no folder: a folder's name is wanted (./- "
                "is one)",
                c->name, o->name);
        return *value ? 0 : cli_fail("%s: %s is empty: it must be %s", c->name, o->name, o->argument);
    case OPTION_WORD:
        *(int *)to = word_of(o->argument, value);
        return *(int *)to >= 0 ? 0
                               : cli_fail("%s: %s %.60s is not allowed: it must be one of %s", c->name,
                                          o->name, value, o->argument);
    default:
        return each(c, (cli_list *)to, o->name, value);
    }
}

static int read_plain(const cli_command *c, const char *value, size_t n, char *to) {
    if (c->most == CLI_MOST_EACH) return each(c, (cli_list *)(to + c->plain), "names", value);
    if (n >= c->most)
        return cli_fail("'%.60s' is too much: %s takes %s", value, c->name,
                        c->most ? c->usage : "options only");
    ((const char **)(to + c->plain))[n] = value;
    return 0;
}

int cli_read_options(const cli_command *c, int argc, char **argv, void *to) {
    unsigned long long seen = 0;
    size_t plain = 0;
    for (int i = 0; i < argc; i++) {
        const cli_option *o = c->options;
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (read_plain(c, argv[i], plain++, to)) return 2;
            continue;
        }
        while (o && o->name && strcmp(o->name, argv[i])) o++;
        if (!o || !o->name) return unknown(c, argv[i]);
        const unsigned long long bit = 1ull << (o - c->options);
        if (seen & bit && o->type != OPTION_EACH && o->type != OPTION_FLAG)
            return cli_fail("%s: %s is given twice", c->name, o->name);
        seen |= bit;
        if (o->type != OPTION_FLAG && i + 1 == argc)
            return cli_fail("%s: %s needs %s after it", c->name, o->name, o->argument);
        if (read_option(c, o, o->type == OPTION_FLAG ? NULL : argv[++i], (char *)to + o->at)) return 2;
    }
    return 0;
}

void cli_usage(const cli_command *c, char *to, size_t size) {
    snprintf(to, size, "%s%s%s", c->name, *c->usage ? " " : "", c->usage);
    for (const cli_option *o = c->options; o && o->name; o++)
        snprintf(to + strlen(to), size - strlen(to), " [%s%s%s]%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "", o->type == OPTION_EACH ? "..." : "");
}

int cli_usage_error(const cli_command *c, const char *wanted) {
    return cli_fail("%s needs %s; seqmix help %s tells more", c->name, wanted, c->name);
}

void cli_print_help(const cli_command *c) {
    char usage[1024];
    cli_usage(c, usage, sizeof usage);
    printf("seqmix %s\n  %s.\n", usage, c->help);
    for (const cli_option *o = c->options; o && o->name; o++) {
        char left[96];
        snprintf(left, sizeof left, "%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-22s %s\n", left, o->help);
    }
    if (c->example) printf("  For example: %s\n", c->example);
}
