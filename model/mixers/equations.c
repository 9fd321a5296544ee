// equations.c: a mixer as text: its equations are the value of the key eq (model/equations,
// docs/EQUATIONS.md).
#include "attention_parts.h"
#include "mixer.h"

#include <stdlib.h>

#include "model/equations/build.h"

typedef struct {
    const char *eq;
    size_t taps;
} equation_settings;

static const config_key keys[] = {
    LINES_KEY("eq", equation_settings, eq,
              "y = attention(conv(x @ w_q, filter_q), conv(x @ w_k, filter_k), x @ w_v) @ w_o",
              "the mixer's equations, one a line; y, or the last, is its output", "mixer"),
    INT_KEY("filter", equation_settings, taps, "3", 1, 65535, "taps of each filter whose text names none (W)",
            "mixer"),
    {0},
};

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
        return (init){INIT_NORMAL, 1.0};
    case WEIGHT_GAIN:
        return (init){INIT_CONSTANT, 1.0};
    case WEIGHT_BIAS:
        break;
    }
    return (init){INIT_CONSTANT, 0.0};
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const equation_settings *s = c->mixer;
    smx_error error;
    equations *e = parsed(c, &error);
    if (!e) { // check has said why already
        graph_fail(g, "%s", error.message);
        return x;
    }
    const equation_surroundings around = {c->common.heads, s->taps, c->common.length, start, c};
    tensor *y = equations_build(g, e, &around, x);
    free(e);
    return y;
}

const mixer mixer_equations = {
    .name = "equations",
    .title = "Equations",
    .help = "A mixer written as text: its equations, one a line, over the operations of this laboratory.",
    .source = "docs/EQUATIONS.md",
    .cost = "as the text says",
    .keys = keys,
    .settings = sizeof(equation_settings),
    .check = check,
    .build = build,
};
