// export.c: seqmix export: a checkpoint's model as a PyTorch module: the mixer's equations, a line a step,
// over functions that stand in the same file (cli/export/operations.py); and the model around them
// (cli/export/model.py).
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/texts.h"
#include "model/base/number.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/run/language.h"

// Both files as they are (the Makefile writes them as C strings).
static const char operations_py[] =
#include "export/operations.inc"
    ;
static const char model_py[] =
#include "export/model.inc"
    ;

typedef struct {
    char *text;
    size_t n, room;
    int failed;
} writer;
static void put(writer *w, const char *text, size_t n) {
    if (w->n + n + 1 > w->room) {
        w->room = 2 * (w->n + n) + 4096;
        char *longer = realloc(w->text, w->room);
        if (!longer) {
            w->failed = 1;
            return;
        }
        w->text = longer;
    }
    memcpy(w->text + w->n, text, n);
    w->n += n;
    w->text[w->n] = 0;
}
static void say(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(writer *w, const char *format, ...) {
    char line[10000];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (!w->failed) put(w, line, strlen(line));
}

// ---- The functions that are used
// ---------------------------------------------------------------------------- A definition ends where the
// next begins.
static const char *definition_end(const char *at) {
    const char *next = strstr(at + 1, "\ndef ");
    return next ? next + 1 : at + strlen(at);
}
static void put_functions(writer *w, const equation_trace *t) {
    for (const char *at = operations_py, *end; *at; at = end) {
        char name[64];
        end = definition_end(at);
        if (sscanf(at, "def %63[a-z0-9_](", name) != 1) continue;
        int used = name[0] == '_';
        for (size_t s = 0; s < t->n; s++) used |= !strcmp(t->steps[s].function->name, name);
        if (used) put(w, at, (size_t)(end - at));
    }
}
static int takes_heads(const char *function) {
    char begin[80];
    snprintf(begin, sizeof begin, "def %s(", function);
    const char *at = strstr(operations_py, begin), *heads = at ? strstr(at + strlen(begin), "heads") : NULL;
    return heads && heads < strchr(at, ':');
}

// ---- The steps
// ------------------------------------------------------------------------------------------------ A tensor's
// name in Python: the text's where it has one, once only; else by its number.
static void name_of(char to[40], const equation_trace *t, const tensor *x, const tensor *of) {
    static const char *const words[] = {
        "as",    "in",     "is",    "if",     "or",      "and",      "not",     "for",  "def",    "del",
        "try",   "from",   "with",  "pass",   "None",    "True",     "else",    "elif", "lambda", "while",
        "class", "yield",  "break", "return", "import",  "global",   "assert",  "w",    "x",      "False",
        "raise", "except", "async", "await",  "finally", "continue", "nonlocal"};
    if (of == x) {
        snprintf(to, 40, "x");
        return;
    }
    size_t at = 0, same = 0;
    const char *dot = strrchr(of->name, '.'), *name = dot ? dot + 1 : of->name;
    for (size_t s = 0; s < t->n && t->steps[s].out != of; s++) {
        same += !strcmp(t->steps[s].out->name, of->name);
        at = s + 1;
    }
    int taken = function_find(name) != NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) taken |= !strcmp(words[i], name);
    if (strchr(name, '#'))
        snprintf(to, 40, "step_%zu", at);
    else if (same || taken)
        snprintf(to, 40, "%.20s_%zu", name, at);
    else
        snprintf(to, 40, "%.38s", name);
}
static void put_step(writer *w, const equation_trace *t, const tensor *x, const equation_step *s) {
    char name[40], number[NUMBER_TEXT];
    const equation_function *f = s->function;
    name_of(name, t, x, s->out);
    say(w, "    %s = %s(", name, f->name);
    for (size_t i = 0; i < function_arguments(f); i++) {
        const function_argument *a = &f->arguments[i];
        const tensor *in = s->call.tensor[i];
        const char *word = a->words, *dot = in ? strrchr(in->name, '.') : NULL;
        if (i) say(w, ", ");
        if (a->kind == ARGUMENT_WORD) {
            for (size_t k = 0; k < s->call.number[i]; k++) word = strchr(word, '|') + 1;
            say(w, "'%.*s'", (int)strcspn(word, "|"), word);
        } else if (a->kind == ARGUMENT_NUMBER) {
            say(w, "%zu", s->call.number[i]);
        } else if (a->kind == ARGUMENT_REAL) {
            say(w, "%s", number_write(number, s->call.real[i]));
        } else if (!in) {
            say(w, "None");
        } else if (in->weight) {
            say(w, "w['%s']", dot ? dot + 1 : in->name);
        } else {
            name_of(name, t, x, in);
            say(w, "%s", name);
        }
    }
    say(w, takes_heads(f->name) ? ", heads=%zu)\n" : ")\n", s->call.heads);
}
// The text's lines as comments, each before the steps that it became. A carriage return would end the comment
// for Python, and a stranger's text go on as code.
static void put_mixer(writer *w, const equation_trace *t, const tensor *x, const tensor *y,
                      const char *text) {
    char name[40], raw[8300], shown[4 * sizeof raw];
    say(w, "def mixer(x, w):\n");
    size_t step = 0;
    for (unsigned line = 1; *text; line++) {
        const size_t n = strcspn(text, "\n");
        snprintf(raw, sizeof raw, "%s%.*s", text[0] == '#' ? "" : "# ", (int)n, text);
        cli_printable(shown, sizeof shown, raw);
        put(w, "    ", 4);
        put(w, shown, strlen(shown));
        put(w, "\n", 1);
        for (; step < t->n && t->steps[step].line == line; step++) put_step(w, t, x, &t->steps[step]);
        text += n + (text[n] == '\n');
    }
    name_of(name, t, x, y);
    say(w, "    return %s\n\n\n", name);
}

static void put_names(writer *w, const smx_run *run) {
    say(w, "NAMES = {\n");
    for (size_t i = 0; i < smx_run_tensor_count(run); i++) {
        smx_tensor t;
        if (smx_run_tensor_at(run, i, &t) || !t.is_weight) continue;
        say(w, "    '%s',\n", t.name);
    }
    say(w, "}\n\n\n");
}

// ---- The command
// ------------------------------------------------------------------------------------------------
typedef struct {
    const char *checkpoint, *pytorch;
} options;
static const cli_option table[] = {
    {"--pytorch", "FILE", "where the module goes", OPTION_TEXT, offsetof(options, pytorch), 0, 0},
    {0},
};
static int export(int argc, char **argv);
const cli_command cli_export = {
    .name = "export",
    .usage = "CHECKPOINT",
    .help = "a checkpoint's model as a PyTorch module that needs torch and the checkpoint only",
    .options = table,
    .plain = offsetof(options, checkpoint),
    .most = 1,
    .example = "seqmix export run.safetensors --pytorch model.py",
    .run = export,
};

static int write_module(writer *w, smx_run *run, smx_error *e) {
    char equations[8300];
    config *c = config_parse(smx_run_config(run), 0, e), *told = NULL;
    if (!c || cli_text(equations, sizeof equations, c, e)) {
        config_free(c);
        return -1;
    }
    const mixer *m = mixer_of(c);
    const int own_residual = m->has_residual && m->has_residual(c);
    // A text of one's own brings its keys; a built-in's text stands for itself.
    char *as_text = strcmp(m->name, "equations") ? cli_text_config(c, equations, own_residual) : NULL;
    told = as_text ? config_parse(as_text, 0, e) : c;
    params p = {.seed = 0};
    graph *g = told ? graph_new(GRAPH_EVAL, &p, 1, c->common.length) : NULL;
    equation_trace *t = malloc(sizeof *t);
    int status = -1;
    if (g && t) {
        tensor *x = op_values(g, c->common.width);
        graph_push(g, "mixer");
        tensor *y = equations_mixer(g, told, x, t);
        graph_pop(g);
        if (!g->failed) {
            smx_batch_form form;
            smx_run_batch(run, &form);
            say(w,
                "\"\"\"A model of seqmix: mixer=%s. Model('run.safetensors')(inputs) gives its logits.\"\"\"\n",
                m->name);
            say(w,
                "import json\nimport math\nimport struct\nimport sys\n\nimport torch\nimport torch.nn.functional as F\n\n");
            say(w, "NORM, POSITION, ACTIVATION = '%s', '%s', '%s'\n", config_get(told, "norm"),
                config_get(told, "position"), config_get(told, "activation"));
            say(w, "BLOCKS, RESIDUAL, PER_ROW = %zu, %s, %s\n", c->common.blocks,
                own_residual ? "False" : "True", form.targets > 1 ? "True" : "False");
            say(w, "POOLING = '%s'\n", config_get(told, "pooling"));
            put_names(w, run);
            put_functions(w, t);
            put_mixer(w, t, x, y, equations);
            put(w, model_py, strlen(model_py));
            status = 0;
        } else {
            *e = g->error;
        }
    }
    free(t);
    graph_free(g);
    params_free(&p);
    free(as_text);
    if (told != c) config_free(told);
    config_free(c);
    return status;
}

static int export(int argc, char **argv) {
    options o = {0};
    smx_error e = {.message = "out of memory"};
    if (cli_read_options(&cli_export, argc, argv, &o)) return 2;
    if (!o.checkpoint || !o.pytorch) return cli_usage_error(&cli_export, "a checkpoint and --pytorch FILE");
    smx_run *run = cli_load_run(o.checkpoint, NULL);
    if (!run) return 2;
    writer w = {.text = NULL};
    int status = write_module(&w, run, &e) || w.failed ? cli_fail("%s", e.message) : 0;
    if (!status) status = cli_write_file(o.pytorch, w.text, w.n);
    smx_run_close(run);
    free(w.text);
    return status;
}
