// optimiser.c: the moments of all weights, and a step of all of them, each by its optimiser.
#include "optimiser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/core/mathd.h"
#include "model/base/error.h"

#define ROW(name, word) [name] = &name##_ROW,
static const optimiser *const list[] = {OPTIMISERS(ROW)};

// The optimiser of a weight.
static const optimiser *optimiser_of(const common_settings *k, const param *w) {
    const optimiser *o = list[k->optimizer];
    return o->takes && !o->takes(w) ? &OPTIMISER_ADAMW_ROW : o;
}

const char *moment_name(const common_settings *k, const param *w, size_t which) {
    return w->running ? NULL : optimiser_of(k, w)->moment[which];
}
int moment_is_square(const common_settings *k, const param *w, size_t which) {
    return optimiser_of(k, w)->squares >> which & 1;
}

int moments_open(moments *m, const params *p, const common_settings *k, smx_error *error) {
    const optimiser *of_all = list[k->optimizer];
    if (of_all->refuse) return of_all->refuse(error);
    size_t count = 0, scratch = 0;
    for (size_t i = 0; i < p->count; i++) {
        const param *w = p->list[i];
        const optimiser *o = optimiser_of(k, w);
        while (count < MOMENTS && moment_name(k, w, count)) count++;
        const size_t wants = o->scratch && !w->running ? o->scratch(w) : 0;
        if (wants > scratch) scratch = wants;
    }
    const uint64_t floats = (uint64_t)count * p->total + scratch;
    m->memory = floats > GRAPH_MOST ? NULL : calloc((size_t)floats * sizeof(float) + SMX_ALIGN, 1);
    if (!m->memory) return error_say(error, "out of memory for the moments of %zu weights", p->total);
    m->n_moments = count;
    m->floats = (size_t)floats;
    for (size_t i = 0; i < count; i++) m->moment[i] = aligned(m->memory) + i * p->total;
    m->scratch = aligned(m->memory) + count * p->total;
    return 0;
}

void moments_close(moments *m) {
    free(m->memory);
    memset(m, 0, sizeof *m);
}

static void update(params *p, moments *m, const train_step *s) {
    const float decay = (float)s->settings->decay;
    for (size_t i = 0; i < p->count; i++) {
        const param *w = p->list[i];
        if (w->running) continue;
        train_weight at = {.weight = w,
                           .data = p->data + w->offset,
                           .grad = p->grad + w->offset,
                           .scratch = m->scratch,
                           .decay = w->decays ? decay : 0.0f};
        for (size_t k = 0; k < m->n_moments; k++) at.moment[k] = m->moment[k] + w->offset;
        optimiser_of(s->settings, w)->update(s, &at);
    }
    params_follow(p);
}

// No weight can leave the floats in this step: |w| (1 + rate decay) + rate reach stays far below the
// largest. A look at the weights and the first moments, so that nearly no step needs a copy to go back
// to.
static int stays_finite(const params *p, const moments *m, const train_step *s, double norm) {
    const optimiser *o = list[s->settings->optimizer];
    const double weights = md_sqrt(smx_sumsq(p->data, p->total)),
                 norms = md_sqrt(smx_sumsq(m->moment[0], p->total)) + norm * (double)s->clip;
    const double reach = o->reach ? o->reach(s, norms) : o->takes ? OPTIMISER_ADAMW_ROW.reach(s, norms) : 0.0;
    const double next = weights * (1.0 + s->rate * s->settings->decay) + s->rate * reach;
    return next < 1e37; // false for NaN as well
}

// (The moments are finite: the gradient's squares fit.)
static const char *not_finite(const params *p) {
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->list[i]->n; j++)
            if (!isfinite(p->data[p->list[i]->offset + j])) return p->list[i]->name;
    return NULL;
}

int train_update(params *p, moments *m, const train_step *s, double norm, const char **where) {
    if (stays_finite(p, m, s, norm)) {
        update(p, m, s);
        return 0;
    }
    const size_t bytes = p->total * sizeof(float), all = m->n_moments * bytes;
    char *before = malloc(bytes + all + 1);
    *where = NULL;
    if (!before) return -1;
    memcpy(before, p->data, bytes);
    memcpy(before + bytes, m->moment[0], all);
    update(p, m, s);
    *where = not_finite(p);
    if (*where) {
        memcpy(p->data, before, bytes);
        memcpy(m->moment[0], before + bytes, all);
    }
    free(before);
    return *where ? -1 : 0;
}
