// draw.c: the next token, drawn from a state's last answers (seqmix/state.h). In double precision and by
// counter-based random numbers, so that every machine draws the same.
#include "run_private.h"

#include <math.h>
#include <stdlib.h>

#include <seqmix/state.h>

#include "kernels/core/philox.h"
#include "model/base/error.h"
#include "model/base/number.h"

// Of V logits; odds [V] hold e^{(l - max) / temperature} afterwards, by the kernels' own exponential. Their
// sum.
static double weigh(float *odds, const float *logits, size_t V, float temperature) {
    float most = logits[0];
    double sum = 0.0;
    for (size_t i = 1; i < V; i++)
        if (logits[i] > most) most = logits[i];
    for (size_t i = 0; i < V; i++) odds[i] = (logits[i] - most) / temperature;
    smx_exp_fwd(odds, odds, V);
    for (size_t i = 0; i < V; i++) sum += (double)odds[i];
    return sum;
}

// Marks the likeliest tokens, until there are k or they reach `enough`, by making their odds negative; of
// equals the first. Returns their sum.
static double likeliest(float *odds, size_t V, size_t k, double enough) {
    double sum = 0.0;
    for (size_t n = 0; n < k && sum < enough; n++) {
        size_t best = 0;
        for (size_t i = 1; i < V; i++)
            if (odds[i] > odds[best]) best = i;
        sum += (double)odds[best];
        odds[best] = -odds[best];
    }
    return sum;
}

static int32_t draw_one(float *odds, const float *logits, size_t V, const smx_draw *d, smx_rng *rng) {
    const int greedy = (float)d->temperature == 0.0f;
    const size_t k = greedy ? 1 : d->top_k && d->top_k < V ? d->top_k : V;
    double sum = weigh(odds, logits, V, greedy ? 1.0f : (float)d->temperature);
    if (k == V && d->top_p == 1.0)
        for (size_t i = 0; i < V; i++) odds[i] = -odds[i];
    else
        sum = likeliest(odds, V, k, d->top_p * sum);
    double left = rng_uniform(rng) * sum;
    size_t last = 0;
    for (size_t i = 0; i < V && left >= 0.0; i++)
        if (odds[i] < 0.0f) left += (double)odds[last = i];
    return (int32_t)last;
}

static int check(const smx_run_state *state, smx_state_form *form, smx_error *error) {
    smx_state_look(state, form);
    if (!form->rows) return error_say(error, "nothing has been read yet");
    if (form->answers < 2) return error_say(error, "this model answers with numbers, not with classes");
    const float *x = smx_state_answers(state);
    for (size_t i = 0; i < form->sequences * form->answers; i++)
        if (!(x[i] - x[i] == 0.0f)) return error_say(error, "the answers are not finite");
    return 0;
}

// For a sentence.
static const char *figure(char *to, double x) { return isfinite(x) ? number_write(to, x) : "no number"; }

int smx_state_draw(const smx_run_state *state, const smx_draw *d, int32_t *tokens, smx_error *error) {
    smx_state_form form;
    if (check(state, &form, error)) return -1;
    if (form.vocab != form.answers)
        return error_say(error, "the %zu classes of the answers are not the %zu tokens", form.answers,
                         form.vocab);
    char temperature[NUMBER_TEXT], top_p[NUMBER_TEXT];
    if (!(d->temperature >= 0.0 && d->temperature <= 1e6) || !(d->top_p > 0.0 && d->top_p <= 1.0))
        return error_say(error, "temperature %s, top_p %s: allowed are 0 to 1e6, and above 0 to 1",
                         figure(temperature, d->temperature), figure(top_p, d->top_p));
    const size_t V = form.answers;
    float *odds = malloc(V * sizeof *odds);
    if (!odds) return error_say(error, "out of memory for %zu odds", V);
    for (size_t b = 0; b < form.sequences; b++) {
        smx_rng rng = rng_open(d->seed + b, RNG_DRAW, form.rows);
        tokens[b] = draw_one(odds, smx_state_answers(state) + b * V, V, d, &rng);
    }
    free(odds);
    return 0;
}

int smx_state_odds(const smx_run_state *state, size_t b, float *odds, smx_error *error) {
    smx_state_form form;
    if (check(state, &form, error)) return -1;
    if (b >= form.sequences) return error_say(error, "sequence %zu of %zu", b, form.sequences);
    const size_t V = form.answers;
    const double sum = weigh(odds, smx_state_answers(state) + b * V, V, 1.0f);
    for (size_t i = 0; i < V; i++) odds[i] = (float)((double)odds[i] / sum);
    return 0;
}
