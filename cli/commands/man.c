// man.c: seqmix help --man and --man=config: the manual pages seqmix(1) and seqmix-config(5), from the tables
// that the program itself reads.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "model/run/language/recipes.h"
#include "model/mixers/mixer.h"
#include "tasks/task.h"

// Text as roff prints it: no line of it is a request, every hyphen one that can be copied.
static void put(const char *text) {
    for (const char *at = text; *at; at++) {
        int start = at == text || at[-1] == '\n';
        if (start && (*at == '.' || *at == '\'')) fputs("\\&", stdout);
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else
            putchar(*at);
    }
}

static void line(const char *before, const char *text) {
    fputs(before, stdout);
    put(text);
    putchar('\n');
}

static void title(const char *name, int section, const char *what) {
    printf(".TH %s %d \"\" \"seqmix %s\"\n.SH NAME\n", name, section, SMX_VERSION);
    put(name);
    printf(" \\- %s\n", what);
}

void cli_man_program(void) {
    title("seqmix", 1, "train, measure and check sequence-mixing mechanisms");
    printf(".SH SYNOPSIS\n.B seqmix\n.I COMMAND\n[...]\n.SH DESCRIPTION\n");
    line("", "Kernels of LaS attention, CAT, Focus, CHELA and the baselines that they are measured against, "
             "trained on tasks\n"
             "that show what each can do, the same to the last bit on every machine; and a double-precision "
             "oracle to check\n"
             "other implementations against. A CONFIG is key=value&key=value: see seqmix-config(5).");
    printf(".SH COMMANDS\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        char usage[1024];
        cli_usage(c, usage, sizeof usage);
        line(".SS seqmix ", usage);
        line("", c->help);
        for (const cli_option *o = c->options; o && o->name; o++) {
            fputs(".TP\n.BI ", stdout);
            put(o->name);
            if (o->argument) fputs(" \" \" ", stdout), put(o->argument);
            line("\n", o->help);
        }
    }
    printf(".SH EXIT STATUS\n");
    line("", "0: done. 1: a check failed. 2: bad input; one sentence on standard error names it.");
    printf(".SH ENVIRONMENT\n");
    line(
        ".TP\n.B SMX_ISA\n",
        "The instruction set of the kernels: scalar, sse2, avx2, avx512, zen4, neon. Default: the best there is.");
    printf(".SH EXAMPLES\n");
    line(".nf\n", "seqmix train 'mixer=cat&task=mqar&length=64&vocab=64&pairs=8&width=32&seed=1'\n"
                  "seqmix vectors --out vectors\n"
                  "seqmix compare --manifest vectors/manifest.json results --bf16");
    printf(".fi\n.SH SEE ALSO\n.BR seqmix\\-config (5)\n");
}

static void man_keys(const config_key *keys) {
    for (const config_key *k = keys; k && k->name; k++) {
        line(".TP\n.B ", k->name);
        put(k->help);
        fputs(" (", stdout);
        if (k->choices && k->choices[0] != '@')
            put(k->choices);
        else if (k->type == KEY_INT || k->type == KEY_REAL)
            printf("%s from %.10g to %.10g", k->type == KEY_INT ? "whole number" : "number", k->min, k->max);
        else
            printf("name");
        if (k->fallback && *k->fallback) fputs("; default ", stdout), put(k->fallback);
        fputs(")\n", stdout);
    }
}

void cli_man_config(void) {
    title("seqmix-config", 5, "the config language of seqmix");
    printf(".SH DESCRIPTION\n");
    line("", "A config is key=value&key=value; several runs, each with what it changes, are joined by ~. "
             "Keys left out take,\n"
             "later wins, the key's default, the task's, the mixer's, the recipe for both, the preset's.");
    printf(".SH KEYS\n");
    man_keys(common_keys);
    printf(".SH MIXERS\n");
    for (size_t i = 0; mixers[i]; i++) {
        line(".SS ", mixers[i]->name);
        line("", mixers[i]->help);
        line(".br\nSource: ", mixers[i]->source);
        man_keys(mixers[i]->keys);
    }
    printf(".SH TASKS\n");
    for (size_t i = 0; smx_tasks[i]; i++) {
        line(".SS ", smx_tasks[i]->name);
        line("", smx_tasks[i]->help);
        line(".br\nSource: ", smx_tasks[i]->source);
        man_keys(smx_tasks[i]->keys);
    }
    printf(".SH PRESETS\n");
    for (const preset *p = presets; p->name; p++) {
        line(".TP\n.B ", p->name);
        line("", p->lesson);
    }
    printf(".SH SEE ALSO\n.BR seqmix (1)\n");
}
