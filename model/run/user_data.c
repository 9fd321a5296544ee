// user_data.c: see user_data.h.
#include "user_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/base/error.h"

// "token 9 is 16; allowed: 0 to 15, as task=mqar has it"
static int refuse(smx_error *e, const batch_graph *s, const char *key, size_t at, const char *value,
                  const char *allowed) {
    return error_about(e, key, value, allowed, "%.*s %zu is %s; allowed: %s, as task=%s has it",
                       (int)strlen(key) - 1, key, at, value, allowed, s->task.task->name);
}

static int refuse_whole(smx_error *e, const batch_graph *s, const char *key, size_t at, long value,
                        size_t below, const char *more) {
    char text[24], allowed[64];
    snprintf(text, sizeof text, "%ld", value);
    snprintf(allowed, sizeof allowed, "0 to %zu%s", below - 1, more);
    return refuse(e, s, key, at, text, allowed);
}

static int refuse_real(smx_error *e, const batch_graph *s, const char *key, size_t at, float value) {
    return refuse(e, s, key, at,
                  value != value ? "NaN"
                  : value > 0    ? "Infinity"
                                 : "-Infinity",
                  "finite numbers");
}

int user_inputs_check(const batch_graph *s, const int32_t *tokens, const float *values, size_t rows,
                      smx_error *error) {
    const size_t vocab = s->task.vocab, channels = s->task.channels;
    if (vocab ? !tokens || values : !values || tokens)
        return refuse(error, s, "inputs", 0, "of another kind", vocab ? "tokens" : "real numbers");
    for (size_t i = 0; vocab && i < rows; i++)
        if (tokens[i] < 0 || (size_t)tokens[i] >= vocab)
            return refuse_whole(error, s, "tokens", i, tokens[i], vocab, "");
    for (size_t i = 0; i < rows * channels; i++)
        if (!isfinite(values[i])) return refuse_real(error, s, "values", i, values[i]);
    return 0;
}

static int check_targets(const batch_graph *s, const smx_batch *batch, size_t sequences, smx_error *error) {
    const int32_t *ids = batch->targets;
    const float *reals = batch->target_values;
    const size_t classes = s->task.classes, most = s->rows / s->B;
    if (classes ? !ids || reals : !reals || ids)
        return refuse(error, s, "targets", 0, "of another kind", classes ? "classes" : "real numbers");
    for (size_t b = 0; b < sequences; b++) {
        size_t asked = 0;
        for (size_t i = b * s->targets_per; i < (b + 1) * s->targets_per; i++) {
            if (classes && (ids[i] < -1 || (ids[i] >= 0 && (size_t)ids[i] >= classes)))
                return refuse_whole(error, s, "targets", i, ids[i], classes, ", or -1 for none");
            if (reals && isinf(reals[i])) return refuse_real(error, s, "targets", i, reals[i]);
            asked += classes ? ids[i] >= 0 : reals[i] == reals[i];
        }
        if (asked > most) {
            char text[40], allowed[40];
            snprintf(text, sizeof text, "one of %zu in sequence %zu", asked, b);
            snprintf(allowed, sizeof allowed, "at most %zu", most);
            return refuse(error, s, "targets", (b + 1) * s->targets_per - 1, text, allowed);
        }
    }
    return 0;
}

int user_batch_check(const batch_graph *s, const smx_batch *batch, smx_error *error) {
    const size_t n = user_batch_count(s, batch);
    if (n > s->B) {
        char value[24];
        snprintf(value, sizeof value, "%zu", n);
        return error_unfit(error, "sequences", value, "at most batch=%zu", s->B);
    }
    return user_inputs_check(s, batch->tokens, batch->values, n * s->L, error) ||
                   check_targets(s, batch, n, error)
               ? -1
               : 0;
}

int own_samples_check(const batch_graph *s, const config *c, smx_error *error) {
    if (!s->task.task->own) return 0;
    return config_fail(error, c, "task",
                       "one with samples of its own here: these are handed over, batch by batch");
}
