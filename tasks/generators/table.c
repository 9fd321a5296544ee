// table.c: the task of a table and its keys; table_windows.c has what it does.
#include "table.h"

static const config_key table_keys[] = {
    TEXT_KEY("file", table_settings, file, "sample",
             "a table: CSV with commas, semicolons or tabs, its first line the names (.gz too), or sample",
             "task"),
    TEXT_KEY("inputs", table_settings, inputs, "",
             "columns that are read, by name or number, with commas; empty: all others that hold numbers",
             "task"),
    TEXT_KEY("target", table_settings, target, "", "the column that is predicted; empty: the last", "task"),
    WORD_KEY("predict", table_settings, predict, PREDICTS, "auto",
             "a class or a number; auto: a class where there are words or at most 10 different values",
             "task"),
    WORD_KEY("answers", table_settings, answers, ANSWERS, "rows", "an answer for each row, or one", "task"),
    INT_KEY("ahead", table_settings, ahead, "0", 0, 1 << 16, "the answer is the target of so many rows later",
            "task"),
    WORD_KEY("held", table_settings, held, HELD, "end",
             "what is kept for evaluation: the last rows, or windows chosen at random", "task"),
    INT_KEY("held_share", table_settings, held_share, "20", 1, 90, "percent of it", "task"),
    WORD_KEY(
        "missing", table_settings, missing, MISSING, "refuse",
        "of an empty cell (NA, NaN, null, ?): refuse the table, drop the row, take the last value or the mean",
        "task"),
    {0},
};

const smx_task task_table = {
    .name = "table",
    .title = "A table",
    .help =
        "What does a column say, of each row or of a window of rows? Numbers are scaled to mean 0 and variance 1.",
    .source = "RFC 4180 (CSV)",
    .defaults = "length=32",
    .keys = table_keys,
    .settings = sizeof(table_settings),
    .open = table_task_open,
    .generate = table_task_generate,
};
