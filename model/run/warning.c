// warning.c: what a user should hear in words about a run that is allowed but may mislead: a mixer that sees ahead on a task
// whose targets stand before the end of the sequence; fast mode where there is none.
#include "run_private.h"

#include <stdio.h>

const char *smx_run_warning(smx_run *r) {
    const smx_task_instance *task = &r->train.task;
    const size_t ahead = mixer_lookahead(r->c, task->length);
    r->warning[0] = 0;
    if (r->c->common.fast && !smx_fast_isa())
        snprintf(r->warning, sizeof r->warning, "fast=1 runs exactly here: %s has no fused multiply-add",
                 smx_isa());
    // A single target a sequence is asked for where everything has been read (at the last row, or of the mean).
    if (ahead && task->per_position && task->max_targets > 1)
        snprintf(
            r->warning, sizeof r->warning,
            "in this mode mixer=%s sees %zu token%s ahead in each block, and task=%s asks before the end: what it learns may be read "
            "off the future; seqmix audit lists the causal modes",
            r->c->of_mixer.name, ahead, ahead == 1 ? "" : "s", r->c->of_task.name);
    return r->warning;
}
