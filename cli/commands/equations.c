// equations.c: seqmix equations: the functions of the language in which mixers are written as text
// (docs/EQUATIONS.md), and built-in mixers written in it.
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/texts/operations.h"
#include "cli/texts/texts.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"

// A mixer's equations, or the config that trains them.
static int print_text(const char *config_of, int as_config) {
    smx_error e = {0};
    char text[8192];
    config *c = config_parse(config_of, 0, &e);
    int status = c ? cli_text(text, sizeof text, c, &e) : -1;
    if (!status) cli_note_unread(config_of, config_of);
    if (status) {
        cli_fail("%s", e.message);
    } else if (as_config) {
        const mixer *m = mixer_of(c);
        char *all = cli_text_config(c, text, m->has_residual && m->has_residual(c));
        puts(all ? all : "");
        free(all);
    } else {
        fputs(text, stdout);
    }
    config_free(c);
    return status ? 2 : 0;
}

typedef struct {
    const char *config;
    int as_config, json, markdown;
} options;
static const cli_option table[] = {
    {"--config", NULL, "the complete config that trains the same run, its mixer as text", OPTION_FLAG,
     offsetof(options, as_config), 0, 0},
    {"--json", NULL, "the functions with formulas, shapes, costs and examples, for programs", OPTION_FLAG,
     offsetof(options, json), 0, 0},
    {"--markdown", NULL, "the same as a document, a section each", OPTION_FLAG, offsetof(options, markdown),
     0, 0},
    {0},
};
static int equations_command(int argc, char **argv) {
    options o = {0};
    if (cli_read_options(&cli_equations, argc, argv, &o)) return 2;
    if (o.as_config && !o.config) return cli_usage_error(&cli_equations, "a config beside --config");
    if (o.json) return operations_json(), 0;
    if (o.markdown) return operations_markdown(), 0;
    if (!o.config) return operations_table(), 0;
    return cli_refuse_several("equations", o.config) ? 2 : print_text(o.config, o.as_config);
}

const cli_command cli_equations = {
    .name = "equations",
    .usage = "['CONFIG']",
    .help =
        "the functions that a mixer's equations may use (mixer=equations&eq=...); or a built-in mixer as equations",
    .options = table,
    .plain = offsetof(options, config),
    .most = 1,
    .example = "seqmix equations 'mixer=cat&filters=k'",
    .run = equations_command,
};
