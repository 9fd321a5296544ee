// tasks.c: the list of tasks: one line each, in the order help shows them.
#include <string.h>

#include "task.h"

extern const smx_task task_mqar, task_ar, task_nar, task_mqnar, task_dict_ar, task_induction;
extern const smx_task task_sc, task_sc_unique, task_select, task_cumsum, task_cummax, task_listops;
extern const smx_task task_smnist, task_pmnist, task_charlm, task_lcat, task_own;
extern const smx_task task_mad, task_track, task_table;
#ifndef __wasm__ // these read folders, or would weigh too much
extern const smx_task task_pathfinder, task_cifar, task_texts, task_speech;
#define NATIVE_TASKS &task_pathfinder, &task_cifar, &task_texts, &task_speech,
#else
#define NATIVE_TASKS
#endif

const smx_task *const smx_tasks[] = {
    &task_mqar,    &task_ar,        &task_nar,    &task_mqnar,
    &task_dict_ar, &task_induction, &task_mad,    &task_track,
    &task_sc,      &task_sc_unique, &task_select, &task_cumsum,
    &task_cummax,  &task_listops,   &task_smnist, &task_pmnist,
    &task_charlm,  &task_table,     &task_lcat,   NATIVE_TASKS &task_own,
    NULL,
};

const smx_task *smx_task_find(const char *name) {
    for (size_t i = 0; smx_tasks[i]; i++)
        if (strcmp(smx_tasks[i]->name, name) == 0) return smx_tasks[i];
    return NULL;
}

const smx_task *smx_task_of(const config *c) { return smx_tasks[c->common.task]; }
