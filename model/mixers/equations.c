// equations.c: a mixer as text: its equations are the value of the key eq (model/equations,
// docs/EQUATIONS.md).
#include "attention_parts.h"
#include "equations.h"
#include "mixer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/number.h"

typedef struct {
    const char *eq; // NULL: the mixer's own
    size_t taps;
    int residual;
    text_key own[CONFIG_OWN_KEYS]; // of the text, in its order
} equation_settings;

static const config_key keys[] = {
    LINES_KEY("eq", equation_settings, eq,
              "y = attention(conv(x @ w_q, filter_q), conv(x @ w_k, filter_k), x @ w_v) @ w_o",
              "the mixer's equations, one a line; y, or the last, is its output", "mixer"),
    INT_KEY("filter", equation_settings, taps, "3", 1, 65535, "taps of each filter whose text names none (W)",
            "mixer"),
    FLAG_KEY("residual", equation_settings, residual, "1|0", "1",
             "1: the block adds the mixer's output to its input; 0: the text does so itself", "mixer",
             KEY_RARE),
    {0},
};

// What may stand for a key that has words.
static void write_choices(char *to, size_t size, const equation_node *word) {
    size_t n = 0;
    for (*to = 0; word && n < size; word = word->next)
        n += (size_t)snprintf(to + n, size - n, "%s%s", n ? "|" : "", word->name);
}
// The numbers and words of a text are keys. What is wrong with it, check will say.
void equations_keys(const char *text, config_own *own) {
    smx_error error;
    equations *e = malloc(sizeof *e);
    size_t n = 0;
    if (e && !equations_parse(e, text, NULL, &error))
        for (size_t i = 0; i < e->n_lines && n < CONFIG_OWN_KEYS; i++) {
            const equation_line *l = &e->lines[i];
            double value;
            if (!equations_key(l, &value)) continue;
            const int words = l->kind == LINE_CHOICE;
            snprintf(own->name[n], sizeof own->name[n], "%s", l->name);
            if (words) {
                write_choices(own->choices[n], sizeof own->choices[n], l->value);
                snprintf(own->fallback[n], sizeof own->fallback[n], "%s", l->value->name);
            } else {
                number_write(own->fallback[n], value);
            }
            own->keys[n] =
                (config_key){.name = own->name[n],
                             .type = words ? KEY_WORD : KEY_REAL,
                             .fallback = own->fallback[n],
                             .min = words ? 0 : -1e9,
                             .max = words ? 0 : 1e9,
                             .choices = words ? own->choices[n] : NULL,
                             .help = words ? "a word of the text" : "a number of the text",
                             .group = "mixer",
                             .at = (uint16_t)(offsetof(equation_settings, own) + n * sizeof(text_key)),
                             .bytes = words ? sizeof(int) : sizeof(double)};
            n++;
        }
    free(e);
}

// ---- The text of a config -------------------------------------------------------------------------------
static int is_given(const config *c) { return !strcmp(c->of_mixer.name, "equations"); }
static const char *text_of(const config *c, smx_error *error) {
    return is_given(c) ? ((const equation_settings *)c->mixer)->eq : mixer_text(c->of_mixer.name, error);
}
// Values of the text's keys, of words their places.
static void key_values(const config *c, double to[CONFIG_OWN_KEYS]) {
    const equation_settings *s = c->mixer;
    const config_key *rows = !is_given(c) ? c->of_mixer.keys : c->own ? c->own->keys : NULL;
    for (size_t i = 0; rows && rows[i].name && i < CONFIG_OWN_KEYS; i++)
        to[i] = rows[i].type == KEY_REAL  ? s->own[i].real
                : rows[i].type == KEY_INT ? (double)s->own[i].whole
                                          : (double)s->own[i].word;
}
equations *equations_of(const config *c, double keys[CONFIG_OWN_KEYS], smx_error *error) {
    equations *e = malloc(sizeof *e);
    const char *text = text_of(c, error);
    key_values(c, keys);
    if (!e) {
        config_fail(error, c, "eq", "shorter: there is no memory to read it");
        return NULL;
    }
    if (text && !equations_parse(e, text, keys, error)) return e;
    free(e);
    return NULL;
}

int equations_check(const config *c, size_t length, smx_error *error) {
    (void)length;
    double keys_of[CONFIG_OWN_KEYS] = {0};
    equations *e = equations_of(c, keys_of, error);
    free(e);
    return e ? check_heads_without_inner_position(c, error) : -1;
}

static init start(const void *config_of, weight_role role, const uint32_t *shape) {
    const config *c = config_of;
    switch (role) {
    case WEIGHT_MATRIX:
    case WEIGHT_CARRIED_4:
    case WEIGHT_CARRIED_3:
        return start_matrix(c, shape[0], shape[1]);
    case WEIGHT_OUTPUT:
        return start_output(c, shape[0], shape[1]);
    case WEIGHT_FILTER:
        return (init){INIT_IDENTITY, 0.02};
    case WEIGHT_CHANNEL_TAPS:
        return (init){INIT_IDENTITY, 0.1};
    case WEIGHT_HEAD_TAPS:
    case WEIGHT_MAPS:
        return (init){INIT_IDENTITY_HEADS, 0.02};
    case WEIGHT_KERNEL:
        return (init){INIT_LONG, 0.3};
    case WEIGHT_STATES:
    case WEIGHT_STATE_PAIRS:
    case WEIGHT_PAIRS:
        return (init){INIT_NORMAL, 1.0};
    case WEIGHT_RATES:
        return (init){INIT_LOG_COUNT, 1.0};
    case WEIGHT_GAIN:
    case WEIGHT_HEADS:
    case WEIGHT_VALUE:
        return (init){INIT_CONSTANT, 1.0};
    case WEIGHT_BIAS:
    case WEIGHT_SUM_BIAS:
    case WEIGHT_SINKS:
        break;
    }
    return (init){INIT_CONSTANT, 0.0};
}

tensor *equations_mixer(graph *g, const config *c, tensor *x, equation_trace *trace) {
    const equation_settings *s = c->mixer;
    double keys_of[CONFIG_OWN_KEYS] = {0};
    smx_error error;
    equations *e = equations_of(c, keys_of, &error);
    if (!e) { // check has said why already
        graph_fail(g, "%s", error.message);
        return x;
    }
    const equation_surroundings around = {c->common.width, c->common.heads, s->taps, c->common.length,
                                          keys_of,         start,           c,       text_of(c, &error)};
    tensor *y = equations_build(g, e, &around, x, trace);
    free(e);
    return y; // (nothing of a graph looks at the values of keys again)
}
tensor *equations_build_mixer(graph *g, const config *c, tensor *x) { return equations_mixer(g, c, x, NULL); }

// What the operations say of themselves, along the way from the output to x: built once more, without memory.
size_t equations_lookahead(const config *c, size_t length) {
    params p = {.seed = 0};
    graph *g = graph_new(GRAPH_EVAL, &p, 1, length);
    equation_trace *trace = malloc(sizeof *trace);
    size_t ahead = 0;
    if (g && trace) {
        equations_mixer(g, c, op_values(g, c->common.width), trace);
        if (!g->failed) ahead = (size_t)trace->ahead;
    }
    free(trace);
    graph_free(g);
    params_free(&p);
    return ahead;
}
static int has_residual(const config *c) { return !((const equation_settings *)c->mixer)->residual; }

const mixer mixer_equations = {
    .name = "equations",
    .title = "Equations",
    .help = "A mixer written as text: its equations, one a line, over the operations of this laboratory.",
    .source = "docs/EQUATIONS.md",
    .cost = "as the text says",
    .defaults = "residual=1", // (CHELA's key of that name has another)
    .keys = keys,
    .settings = sizeof(equation_settings),
    .check = equations_check,
    .build = equations_build_mixer,
    .lookahead = equations_lookahead,
    .has_residual = has_residual,
};

// ---- Mixers that are texts ------------------------------------------------------------------------------
// (NAME.eq, as scripts/mixers.awk made rows of them; a key's type is the member that it has.)
#define TEXT_KEY_ROW(i, name, kind, member, fallback, traits, min, max, choices, help)                       \
    {name,                                                                                                   \
     kind,                                                                                                   \
     fallback,                                                                                               \
     traits,                                                                                                 \
     min,                                                                                                    \
     max,                                                                                                    \
     choices,                                                                                                \
     help,                                                                                                   \
     "mixer",                                                                                                \
     offsetof(equation_settings, own) + (i) * sizeof(text_key),                                              \
     sizeof(((text_key *)0)->member)},
#ifdef __wasm__
#define NUMBER(number)
#else
#define NUMBER(number) number
#endif
#define TEXT_KEYS(name, rows) static const config_key keys_of_##name[] = {rows{0}};
#define TEXT_MIXER(name_, title_, help_, source_, cost_, defaults_, modes_)                                  \
    const mixer mixer_##name_ = {.name = #name_,                                                             \
                                 .title = title_,                                                            \
                                 .help = help_,                                                              \
                                 .source = source_,                                                          \
                                 .cost = cost_,                                                              \
                                 .defaults = defaults_,                                                      \
                                 .keys = keys_of_##name_,                                                    \
                                 .settings = sizeof(equation_settings),                                      \
                                 .check = equations_check,                                                   \
                                 .build = equations_build_mixer,                                             \
                                 .lookahead = equations_lookahead,                                           \
                                 .modes = MODES(modes_),                                                     \
                                 .is_text = 1};
#define MIXER_TEXT(name, whole, plain)
#include "build/mixer_texts.def"
