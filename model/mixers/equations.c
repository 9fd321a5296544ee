// equations.c: a mixer as text: its equations are the value of the key eq (model/equations,
// docs/EQUATIONS.md).
#include "attention_parts.h"
#include "equations.h"
#include "mixer.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/number.h"

typedef struct {
    const char *eq;
    size_t taps;
    int residual;
    double own[CONFIG_OWN_KEYS]; // of the text, in its order
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

// The numbers of a text are keys. What is wrong with it, check will say.
void equations_keys(const char *text, config_own *own) {
    smx_error error;
    equations *e = malloc(sizeof *e);
    size_t n = 0;
    if (e && !equations_parse(e, text, &error))
        for (size_t i = 0; i < e->n_lines && n < CONFIG_OWN_KEYS; i++) {
            double value;
            if (!equations_key(&e->lines[i], &value)) continue;
            snprintf(own->name[n], sizeof own->name[n], "%s", e->lines[i].name);
            number_write(own->fallback[n], value);
            own->keys[n] =
                (config_key){.name = own->name[n],
                             .type = KEY_REAL,
                             .fallback = own->fallback[n],
                             .min = -1e9,
                             .max = 1e9,
                             .help = "a number of the text",
                             .group = "mixer",
                             .at = (uint16_t)(offsetof(equation_settings, own) + n * sizeof(double)),
                             .bytes = sizeof(double)};
            n++;
        }
    free(e);
}

// The text as trees, malloc'ed; NULL with the error.
static equations *parsed(const config *c, smx_error *error) {
    const equation_settings *s = c->mixer;
    equations *e = malloc(sizeof *e);
    if (!e) {
        config_fail(error, c, "eq", "shorter: there is no memory to read it");
        return NULL;
    }
    if (!equations_parse(e, s->eq, error)) return e;
    free(e);
    return NULL;
}

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    equations *e = parsed(c, error);
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
    smx_error error;
    equations *e = parsed(c, &error);
    if (!e) { // check has said why already
        graph_fail(g, "%s", error.message);
        return x;
    }
    const equation_surroundings around = {c->common.width, c->common.heads, s->taps, c->common.length,
                                          s->own,          start,           c,       s->eq};
    tensor *y = equations_build(g, e, &around, x, trace);
    free(e);
    return y;
}
static tensor *build(graph *g, const config *c, tensor *x) { return equations_mixer(g, c, x, NULL); }

// What the operations say of themselves, along the way from the output to x: built once more, without memory.
static size_t lookahead(const config *c, size_t length) {
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
    .check = check,
    .build = build,
    .lookahead = lookahead,
    .has_residual = has_residual,
};
