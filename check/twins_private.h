// twins_private.h: what the tables of twins.c share.
#ifndef SMX_TWINS_PRIVATE_H
#define SMX_TWINS_PRIVATE_H

#include "twins.h"

#define NUMBERS(c) ((c)->step->call.number)
static inline const tensor *input(const twin_call *c, size_t i) { return c->step->call.tensor[i]; }
static inline size_t last(const tensor *t) { return t->shape[t->rank - 1]; }
static inline size_t count(const twin_call *c) { return c->step->out->n; }
static inline size_t columns(const twin_call *c) { return last(c->step->out); }
static inline size_t rows(const twin_call *c) { return count(c) / columns(c); }

static const double usual_eps = 1e-5; // of norms

// A row of a table: NAME_fwd and NAME_bwd of its file. Tables end with a NULL name.
#define TWIN(NAME, OF)                                                                                       \
    { NAME, OF##_fwd, OF##_bwd }
extern const twin twins_filters[], twins_attention[];

#endif
