// completion.c: seqmix completion bash|zsh|fish: what makes a shell complete the program's words, from the
// tables that `help --json` prints: commands, their options, the words that an option takes, what `help`
// knows by name.
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "model/mixers/mixer.h"
#include "model/run/language/recipes.h"
#include "tasks/task.h"

enum { ZSH, FISH };
#define SHELLS "bash|zsh|fish"

// In single quotes, as the shell reads them.
static void quoted(const char *text, int shell) {
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs(shell == FISH ? "\\'" : "'\\''", stdout);
        else if (*text == '\\' && shell == FISH)
            fputs("\\\\", stdout);
        else
            putchar(*text);
    putchar('\'');
}

static void each_name(void (*put)(const char *name)) {
    for (size_t i = 0; cli_commands[i]; i++) put(cli_commands[i]->name);
    for (size_t i = 0; mixers[i]; i++) put(mixers[i]->name);
    for (size_t i = 0; smx_tasks[i]; i++) put(smx_tasks[i]->name);
    for (const preset *p = presets; p->name; p++) put(p->name);
    for (const config_key *k = common_keys; k->name; k++) put(k->name);
}
static void put_word(const char *name) { printf(" %s", name); }

// The words that may follow an option, separated by |; NULL: a file, or what only the user knows.
static const char *words_of(const cli_option *o) { return o->type == OPTION_WORD ? o->argument : NULL; }
static int takes_file(const cli_option *o) {
    return o->argument && (strstr(o->argument, "FILE") || strstr(o->argument, "DIR"));
}
static void put_words(const char *words) {
    for (; *words; words++) putchar(*words == '|' ? ' ' : *words);
}

// ---- bash

static void bash_values(const cli_command *c) {
    for (const cli_option *o = c->options; o && o->name; o++) {
        if (!o->argument || takes_file(o)) continue;
        printf("    '%s %s') COMPREPLY=($(compgen -W '", c->name, o->name);
        if (words_of(o)) put_words(words_of(o));
        puts("' -- \"$word\")); compopt +o default; return ;;");
    }
}

static void bash(void) {
    printf("# seqmix completion bash: eval \"$(seqmix completion bash)\"\n_seqmix() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then command=; fi\n"
           "    case \"$command ${COMP_WORDS[COMP_CWORD - 1]}\" in\n");
    for (size_t i = 0; cli_commands[i]; i++) bash_values(cli_commands[i]);
    printf("    esac\n    case $command in\n    '') words='");
    for (size_t i = 0; cli_commands[i]; i++) printf("%s%s", i ? " " : "", cli_commands[i]->name);
    puts("' ;;");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("    %s) words='--help", cli_commands[i]->name);
        for (const cli_option *o = cli_commands[i]->options; o && o->name; o++) printf(" %s", o->name);
        puts("' ;;");
    }
    printf("    esac\n    case $command in\n    help) words+='");
    each_name(put_word);
    puts("' ;;\n    ?*) [[ $word == -* ]] || return ;;\n    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o bashdefault -o default -F _seqmix seqmix");
}

// ---- zsh

// In single quotes inside _arguments' own brackets and colons.
static void zsh_spec(const cli_option *o) {
    char text[600];
    size_t n = 0;
    for (const char *at = o->help; *at && n + 3 < sizeof text; at++) {
        if (strchr("[]:\\", *at)) text[n++] = '\\';
        text[n++] = *at;
    }
    text[n] = 0;
    printf(" \\\n            '%s%s[", o->type == OPTION_EACH ? "*" : "", o->name);
    for (const char *at = text; *at; at++) *at == '\'' ? fputs("'\\''", stdout) : putchar(*at);
    printf("]");
    if (words_of(o)) {
        printf(":word:(");
        put_words(words_of(o));
        printf(")");
    } else if (o->argument) {
        printf(":%s:%s", takes_file(o) ? "file" : "value", takes_file(o) ? "_files" : "");
    }
    putchar('\'');
}

static void zsh(void) {
    printf(
        "#compdef seqmix\n# seqmix completion zsh >DIR/_seqmix, DIR one of $fpath; or eval \"$(seqmix completion zsh)\"\n"
        "_seqmix() {\n    local -a commands\n    set -A commands");
    for (size_t i = 0; cli_commands[i]; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s:%s", cli_commands[i]->name, cli_commands[i]->help);
        printf(" \\\n        ");
        quoted(text, ZSH);
    }
    printf("\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
           "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        printf("    %s)\n        _arguments '--help[its options]'", c->name);
        for (const cli_option *o = c->options; o && o->name; o++) zsh_spec(o);
        if (c == &cli_help) {
            printf(" \\\n            '1:name:(");
            each_name(put_word);
            printf(")'");
        } else if (c->most) {
            printf(" \\\n            '*:%s:_files'", "argument");
        }
        puts(" ;;");
    }
    puts(
        "    esac\n}\nif [[ $funcstack[1] == _seqmix ]]; then _seqmix \"$@\"; else compdef _seqmix seqmix; fi");
}

// ---- fish

static void fish_option(const cli_command *c, const cli_option *o) {
    printf("complete -c seqmix -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name + 2);
    if (o->argument) printf(takes_file(o) ? " -r -F" : " -x");
    if (words_of(o)) {
        printf(" -a '");
        put_words(words_of(o));
        putchar('\'');
    }
    printf(" -d ");
    quoted(o->help, FISH);
    putchar('\n');
}

static void fish(void) {
    puts("# seqmix completion fish >~/.config/fish/completions/seqmix.fish");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        printf("complete -c seqmix -n __fish_use_subcommand -f -a %s -d ", c->name);
        quoted(c->help, FISH);
        putchar('\n');
        printf("complete -c seqmix -n '__fish_seen_subcommand_from %s' -l help -d 'its options'\n", c->name);
        for (const cli_option *o = c->options; o && o->name; o++) fish_option(c, o);
    }
    printf("complete -c seqmix -n '__fish_seen_subcommand_from help' -f -a '");
    each_name(put_word);
    puts("'");
}

typedef struct {
    const char *shell;
} options;

static int completion(int argc, char **argv);
const cli_command cli_completion = {
    .name = "completion",
    .usage = SHELLS,
    .help = "what makes a shell complete seqmix's commands and options",
    .plain = offsetof(options, shell),
    .most = 1,
    .example = "eval \"$(seqmix completion bash)\"",
    .run = completion,
};

static int completion(int argc, char **argv) {
    options o = {0};
    if (cli_read_options(&cli_completion, argc, argv, &o)) return 2;
    if (!o.shell) return cli_usage_error(&cli_completion, "a shell: bash, zsh or fish");
    if (!strcmp(o.shell, "bash"))
        bash();
    else if (!strcmp(o.shell, "zsh"))
        zsh();
    else if (!strcmp(o.shell, "fish"))
        fish();
    else
        return cli_fail("completion: there is none for '%.60s'; it must be bash, zsh or fish", o.shell);
    return 0;
}
