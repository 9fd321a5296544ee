// warning.c: what a user should hear in words about a run that is allowed but may mislead: a mixer that sees
// ahead on a task whose targets stand before the end of the sequence; fast mode where there is none; a
// checkpoint that nothing vouches for.
#include "run_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(smx_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(smx_run *r, const char *format, ...) {
    size_t n = strlen(r->warning);
    if (n) n += (size_t)snprintf(r->warning + n, sizeof r->warning - n, "; ");
    if (n >= sizeof r->warning) return;
    va_list list;
    va_start(list, format);
    vsnprintf(r->warning + n, sizeof r->warning - n, format, list);
    va_end(list);
}

const char *smx_run_warning(smx_run *r) {
    const smx_task_instance *task = &r->train.task;
    const size_t ahead = mixer_lookahead(r->c, task->length);
    r->warning[0] = 0;
    if (r->c->common.fast && !smx_fast_isa())
        add(r, "fast=1 runs exactly here: %s has no fused multiply-add", smx_isa());
    // A single target a sequence is asked for where everything has been read (at the last row, or of the
    // mean).
    if (ahead && task->per_position && task->max_targets > 1)
        add(r,
            "in this mode mixer=%s sees %zu token%s ahead in each block, and task=%s asks before the end: what it learns may be read "
            "off the future; seqmix audit lists the causal modes",
            r->c->of_mixer.name, ahead, ahead == 1 ? "" : "s", r->c->of_task.name);
    if (r->c->common.norm == NORM_BATCH && task->per_position && task->max_targets > 1)
        add(r,
            "norm=batch sees ahead while training: its statistics are of all rows of the batch; elsewhere it goes by "
            "the running ones");
    if (task->utf16) add(r, "the file was UTF-16: it is read as UTF-8");
    if (r->unchecked) add(r, "this checkpoint carried no checksum: damage to it would go unnoticed");
    return r->warning;
}
