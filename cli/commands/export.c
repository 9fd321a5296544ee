// export.c: seqmix export: a checkpoint's model as a PyTorch module: the mixer's equations, a line a step,
// over functions that stand in the same file (cli/export/*.py); and the model around them
// (cli/export/model.py).
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/texts/scan_python.h"
#include "cli/texts/texts.h"
#include "model/base/number.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/run/language/language.h"

// The files as they are (the Makefile writes them as C strings).
static const char operations_py[] =
#include "export/operations.inc"
#include "export/sequences.inc"
#include "export/scan.inc"
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
    if (w->n + n + 1 > w->room && !w->failed) {
        const size_t room = 2 * (w->n + n) + 4096;
        char *longer = realloc(w->text, room);
        if (longer)
            w->text = longer, w->room = room;
        else
            w->failed = 1;
    }
    if (w->failed) return;
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
    put(w, line, strlen(line));
}

// ---- The functions that are used --------------------------------------------------------------------------
// A definition ends where the next begins.
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
        for (size_t s = 0; s < t->n; s++)
            used |=
                !strcmp(t->steps[s].function->name, name) || (t->steps[s].scan && !strncmp(name, "scan_", 5));
        if (used) put(w, at, (size_t)(end - at));
    }
}
static int takes_heads(const char *function) {
    char begin[80];
    snprintf(begin, sizeof begin, "def %s(", function);
    const char *at = strstr(operations_py, begin), *heads = at ? strstr(at + strlen(begin), "heads") : NULL;
    return heads && heads < strchr(at, ':');
}

// ---- The steps --------------------------------------------------------------------------------------------
// Names in Python, one for each step's tensor: the text's where it has one that nobody bears yet, else one
// with the step's number that stands nowhere in the text.
enum { PYTHON_NAME = 40 };
typedef struct {
    const equation_trace *t;
    const tensor *x;
    char (*of)[PYTHON_NAME]; // [t->n]
} python_names;

// What no variable of `mixer` may be called: Python's keywords, its arguments, and the functions it calls.
static int is_reserved(const char *name) {
    static const char *const words[] = {
        "as",      "in",       "is",       "if",        "or",    "and",   "not",    "for",
        "def",     "del",      "try",      "from",      "with",  "pass",  "None",   "True",
        "else",    "elif",     "lambda",   "while",     "class", "yield", "break",  "return",
        "import",  "global",   "assert",   "False",     "raise", "async", "except", "await",
        "finally", "continue", "nonlocal", "__debug__", "w",     "x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], name)) return 1;
    return function_find(name) != NULL;
}
static const char *text_name(const tensor *t) { // as the author wrote it; with a #: it has none
    const char *dot = strrchr(t->name, '.');
    return dot ? dot + 1 : t->name;
}
static int is_taken(const python_names *names, size_t upto, const char *name) {
    int taken = is_reserved(name);
    for (size_t i = 0; i < upto; i++) taken |= !strcmp(names->of[i], name);
    return taken;
}
static int is_written(const equation_trace *t, const char *name) {
    int written = 0;
    for (size_t i = 0; i < t->n; i++) written |= !strcmp(text_name(t->steps[i].out), name);
    return written;
}
static int choose_names(python_names *names, const equation_trace *t, const tensor *x) {
    *names = (python_names){t, x, malloc((t->n + 1) * sizeof *names->of)};
    for (size_t s = 0; s < t->n && names->of; s++) {
        const char *own = text_name(t->steps[s].out);
        const int nameless = strchr(own, '#') != NULL;
        char *to = names->of[s];
        snprintf(to, PYTHON_NAME, "%s", own);
        for (size_t k = s + 1; nameless || is_taken(names, s, to); k += t->n) {
            snprintf(to, PYTHON_NAME, "%.18s_%zu", nameless ? "step" : own, k);
            if (!is_written(t, to) && !is_taken(names, s, to)) break;
        }
    }
    return names->of ? 0 : -1;
}
static const char *name_of(const python_names *names, const tensor *of) {
    for (size_t s = 0; s < names->t->n && of != names->x; s++)
        if (names->t->steps[s].out == of) return names->of[s];
    return "x";
}
// A scan's lines, and what they are called around it.
typedef struct {
    writer *w;
    const python_names *names;
    const equation_scan *s;
} scan_context;
static void scan_say(void *of, const char *text) { put(((scan_context *)of)->w, text, strlen(text)); }
static void scan_input_name(void *of, size_t i, char to[40]) {
    const scan_context *c = of;
    snprintf(to, 40, "%s", name_of(c->names, c->s->inputs[i].t));
}
// The line after which a step is written: of a scan its last.
static unsigned line_of(const equation_step *s) {
    return s->scan ? s->scan->e->lines[s->scan->end - 1].line : s->line;
}
static void put_step(writer *w, const python_names *names, const equation_step *s) {
    char number[NUMBER_TEXT];
    const equation_function *f = s->function;
    if (s->scan) {
        scan_context c = {w, names, s->scan};
        cli_scan_python(s->scan, name_of(names, s->out),
                        &(scan_python_writer){&c, scan_say, scan_input_name});
        return;
    }
    say(w, "    %s = %s(", name_of(names, s->out), f->name);
    for (size_t i = 0; i < function_arguments(f); i++) {
        const function_argument *a = &f->arguments[i];
        const tensor *in = s->call.tensor[i];
        const char *word = a->words;
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
            say(w, "w['%s']", text_name(in));
        } else {
            say(w, "%s", name_of(names, in));
        }
    }
    say(w, takes_heads(f->name) ? ", heads=%zu)\n" : ")\n", s->call.heads);
}
// Python reads a module as UTF-8, and a comment may hold any bytes.
static void ascii(char *text) {
    for (; *text; text++)
        if (*text & 0x80) *text = '?';
}
// The text's lines as comments, each before the steps that it became. A carriage return would end the comment
// for Python, and a stranger's text go on as code.
static void put_mixer(writer *w, const python_names *names, const tensor *y, const char *text) {
    const equation_trace *t = names->t;
    char raw[8300], shown[4 * sizeof raw];
    say(w, "def mixer(x, w):\n");
    size_t step = 0;
    for (unsigned line = 1; *text; line++) {
        const size_t n = strcspn(text, "\n");
        snprintf(raw, sizeof raw, "%s%.*s", text[0] == '#' ? "" : "# ", (int)n, text);
        cli_printable(shown, sizeof shown, raw);
        ascii(shown);
        put(w, "    ", 4);
        put(w, shown, strlen(shown));
        put(w, "\n", 1);
        for (; step < t->n && line_of(&t->steps[step]) <= line; step++) put_step(w, names, &t->steps[step]);
        text += n + (text[n] == '\n');
    }
    say(w, "    return %s\n\n\n", name_of(names, y));
}

static void put_names(writer *w, const smx_run *run) {
    if (!smx_run_tensor_count(run)) w->failed = 1; // every run has weights: there is no memory for their list
    say(w, "NAMES = {\n");
    for (size_t i = 0; i < smx_run_tensor_count(run); i++) {
        smx_tensor t;
        if (smx_run_tensor_at(run, i, &t) || !t.is_weight) continue;
        say(w, "    '%s',\n", t.name);
    }
    say(w, "}\n\n\n");
}

// ---- The command ------------------------------------------------------------------------------------------
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
    const int built_in = strcmp(m->name, "equations") != 0;
    char *as_text = built_in ? cli_text_config(c, equations, own_residual) : NULL;
    told = !built_in ? c : as_text ? config_parse(as_text, 0, e) : NULL;
    params p = {.seed = 0};
    graph *g = told ? graph_new(GRAPH_EVAL, &p, 1, c->common.length) : NULL;
    equation_trace *t = malloc(sizeof *t);
    int status = -1;
    if (g && t) {
        tensor *x = op_values(g, c->common.width);
        graph_push(g, "mixer");
        tensor *y = equations_mixer(g, told, x, t);
        graph_pop(g);
        python_names names = {.of = NULL};
        if (g->failed) {
            *e = g->error;
        } else if (!choose_names(&names, t, x)) {
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
            put_mixer(w, &names, y, equations);
            put(w, model_py, strlen(model_py));
            status = 0;
        }
        free(names.of);
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
