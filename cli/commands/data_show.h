// data_show.h: one sample of a task, drawn in the terminal.
#ifndef CLI_DATA_SHOW_H
#define CLI_DATA_SHOW_H

#include "tasks/task.h"

void show_sample(const smx_task_instance *t, const smx_task_sample *s);

#endif
