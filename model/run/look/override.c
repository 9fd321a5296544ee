// override.c: the caller's numbers in the place of a weight's, for as long as a look or an evaluation lasts.
#include "model/run/run_private.h"

// Backwards on the way back: where two are of the same place, the first one holds the weight's number.
void override_swap(smx_run *r, int back) {
    for (size_t i = 0; i < r->n_overrides; i++) {
        override *o = r->overrides + (back ? r->n_overrides - 1 - i : i);
        const float was = *o->at;
        *o->at = o->number;
        o->number = was;
    }
}
