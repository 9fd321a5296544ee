// language.c: see language.h; and what run.h says of configs without a run.
#include "language.h"

#include <seqmix/run.h>

#include <stdlib.h>
#include <string.h>

#include "model/base/error.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "recipes.h"
#include "tasks/task.h"

static config_part task_part(size_t i) {
    const smx_task *t = smx_tasks[i];
    return t ? (config_part){.name = t->name, .defaults = t->defaults, .keys = t->keys, .bytes = t->settings}
             : (config_part){0};
}
static config_part mixer_part(size_t i) {
    const mixer *m = mixers[i];
    return m ? (config_part){.name = m->name,
                             .defaults = m->defaults,
                             .keys = m->keys,
                             .bytes = m->settings,
                             .follow_length = m->follow_length}
             : (config_part){0};
}

const config_language language = {.task = task_part,
                                  .mixer = mixer_part,
                                  .bringer = "equations",
                                  .bringing = "eq",
                                  .brings = equations_keys,
                                  .recipes = recipes,
                                  .presets = presets};

config *config_parse(const char *text, size_t which, smx_error *e) {
    return config_read(&language, text, which, e);
}
config *config_change(const char *text, const char *changes, smx_error *e) {
    return config_read_changed(&language, text, changes, e);
}
size_t config_runs(const char *text) { return config_read_runs(&language, text); }

char *smx_config_complete(const char *text, smx_error *e) {
    if (!text) text = "";
    char *all = calloc(1, 1);
    if (!all) error_say(e, "out of memory");
    for (size_t i = 0; all && i < config_runs(text); i++) {
        config *c = config_parse(text, i, e);
        char *one = c ? config_text(c) : NULL;
        char *longer = one ? realloc(all, strlen(all) + strlen(one) + 2) : NULL;
        if (longer) {
            all = longer;
            if (i) strcat(all, "~");
            strcat(all, one);
        } else {
            if (c) error_say(e, "out of memory");
            free(all);
            all = NULL;
        }
        free(one);
        config_free(c);
    }
    return all;
}
