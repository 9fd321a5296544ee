// help.c: seqmix help [NAME]: the config language and the commands,
// from the same tables that the parsers read.
#include "cli/cli.h"
#include "cli/texts/operations.h"

#include <stdio.h>
#include <string.h>

#include "model/run/language/recipes.h"
#include "model/mixers/mixer.h"
#include "tasks/task.h"

static void allowed(const config_key *k, char *to, size_t size) {
    if (k->choices && k->choices[0] != '@')
        snprintf(to, size, "%s", k->choices);
    else if (k->choices || k->type == KEY_TEXT)
        snprintf(to, size, "%s", k->type == KEY_TEXT ? "text" : "name");
    else
        snprintf(to, size, "%.10g..%.10g", k->min, k->max);
}

static void print_key(const config_key *k) {
    char range[256];
    allowed(k, range, sizeof range);
    printf("  %-13s %-10s %-28s %s\n", k->name, k->fallback, range, k->help);
}

static void print_keys(const config_key *keys) {
    for (; keys && keys->name; keys++) print_key(keys);
}

static void print_mixer(const mixer *m) {
    printf("%s (%s)\n  %s\n  source: %s; cost: %s\n", m->name, m->title, m->help, m->source, m->cost);
    print_keys(m->keys);
}

static void print_task(const smx_task *t) {
    printf("%s (%s)\n  %s\n  source: %s\n  defaults: %s\n", t->name, t->title, t->help, t->source,
           t->defaults ? t->defaults : "");
    print_keys(t->keys);
}

static void print_preset(const preset *p) {
    printf("%s (%s)\n  %s\n  %s\n  %s\n", p->name, p->title, p->lesson, p->expect, p->config);
}

static int print_named(const char *name) {
    int found = 0;
    for (size_t i = 0; cli_commands[i]; i++)
        if (!strcmp(cli_commands[i]->name, name)) cli_print_help(cli_commands[i]), found = 1;
    const int every_preset = !strcmp(name, "preset") || !strcmp(name, "presets");
    for (const config_key *k = common_keys; k->name; k++)
        if (!strcmp(k->name, name)) print_key(k), found = 1;
    if (!strcmp(name, "mixer") || !strcmp(name, "mixers"))
        for (size_t i = 0; mixers[i]; i++) print_mixer(mixers[i]), found = 1;
    if (!strcmp(name, "task") || !strcmp(name, "tasks"))
        for (size_t i = 0; smx_tasks[i]; i++) print_task(smx_tasks[i]), found = 1;
    for (const preset *p = presets; p->name; p++)
        if (every_preset || !strcmp(p->name, name)) print_preset(p), found = 1;
    if (mixer_find(name)) print_mixer(mixer_find(name)), found = 1;
    if (smx_task_find(name)) print_task(smx_task_find(name)), found = 1;
    for (size_t i = 0; mixers[i]; i++)
        for (const config_key *k = mixers[i]->keys; k && k->name; k++)
            if (!strcmp(k->name, name)) printf("mixer=%s:\n", mixers[i]->name), print_key(k), found = 1;
    for (size_t i = 0; smx_tasks[i]; i++)
        for (const config_key *k = smx_tasks[i]->keys; k && k->name; k++)
            if (!strcmp(k->name, name)) printf("task=%s:\n", smx_tasks[i]->name), print_key(k), found = 1;
    if (operation_help(name)) found = 1;
    return found;
}

// For shells that complete what is typed, among others.
static void print_command(const cli_command *c, int more) {
    printf("%s{\"name\":\"%s\",\"arguments\":", more ? "," : "", c->name);
    cli_json_text(c->usage);
    printf(",\"help\":");
    cli_json_text(c->help);
    printf(",\"options\":[");
    for (const cli_option *o = c->options; o && o->name; o++) {
        printf("%s{\"name\":\"%s\",\"argument\":", o == c->options ? "" : ",", o->name);
        cli_json_text(o->argument);
        printf(",\"help\":");
        cli_json_text(o->help);
        putchar('}');
    }
    printf("]}");
}

// The table that the page reads, and what only the documents need: recipes, and the modes of each mixer.
static void print_json(void) {
    const char *table = smx_config_json();
    printf("%.*s,\"recipes\":[", (int)strlen(table) - 1, table);
    for (const recipe *r = recipes; r->task; r++)
        printf("%s{\"task\":\"%s\",\"mixer\":\"%s\",\"config\":\"%s\"}", r == recipes ? "" : ",", r->task,
               r->mixer, r->config);
    printf("],\"modes\":{");
    for (size_t i = 0; mixers[i]; i++)
        printf("%s\"%s\":\"%s\"", i ? "," : "", mixers[i]->name, mixers[i]->modes ? mixers[i]->modes : "");
    printf("},\"commands\":[");
    for (size_t i = 0; cli_commands[i]; i++) print_command(cli_commands[i], i > 0);
    puts("]}");
}

typedef struct {
    const char *name;
    int json, page, config_page;
} options;
static const cli_option table[] = {
    {"--json", NULL, "the tables of keys, mixers, tasks, presets and commands", OPTION_FLAG,
     offsetof(options, json), 0, 0},
    {"--man", NULL, "the manual page seqmix(1)", OPTION_FLAG, offsetof(options, page), 0, 0},
    {"--man=config", NULL, "the manual page seqmix-config(5)", OPTION_FLAG, offsetof(options, config_page), 0,
     0},
    {0},
};

static int help(int argc, char **argv);
const cli_command cli_help = {
    .name = "help",
    .usage = "[NAME]",
    .help = "the config language; or a command, key, mixer, task, preset or operation",
    .options = table,
    .plain = offsetof(options, name),
    .most = 1,
    .example = "seqmix help filter",
    .run = help,
};

static int help(int argc, char **argv) {
    options o = {0};
    if (cli_read_options(&cli_help, argc, argv, &o)) return 2;
    if (o.json) print_json();
    if (o.page) cli_man_program();
    if (o.config_page) cli_man_config();
    if (o.json || o.page || o.config_page) return 0;
    if (o.name)
        return print_named(o.name)
                   ? 0
                   : cli_fail(
                         "there is no command, key, mixer, task, preset or operation '%.60s'; seqmix help lists them",
                         o.name);
    printf("A config is key=value&key=value, for example\n"
           "  seqmix train 'mixer=cat&task=mqar&length=64&vocab=64&pairs=8&width=32&seed=1'\n"
           "Several runs, each with what it changes: 'mixer=cat&task=mqar~mixer=attention'.\n"
           "Keys left out take the good setting for that task and mixer.\n\n"
           "  key           default    allowed                      meaning\n");
    print_keys(common_keys);
    printf("\nmixers:");
    for (size_t i = 0; mixers[i]; i++) printf(" %s", mixers[i]->name);
    printf("\ntasks: ");
    for (size_t i = 0; smx_tasks[i]; i++) printf(" %s", smx_tasks[i]->name);
    printf("\npresets:");
    for (const preset *p = presets; p->name; p++) printf(" %s", p->name);
    printf("\ncommands:");
    for (size_t i = 0; cli_commands[i]; i++) printf(" %s", cli_commands[i]->name);
    printf("\noperations:");
    operations_names();
    printf(
        "\nseqmix help NAME tells more of a command, key, mixer, task, preset or operation (help mixer, help task, help "
        "preset: of all).\n");
    return 0;
}
