// table_windows.c: windows of rows of a table, and what a column says of them: a class or a number.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/core/mathd.h"
#include "model/base/error.h"
#include "table.h"
#include "tasks/files/data.h"
#include "tasks/files/table.h"
#include "tasks/util.h"

enum { MOST_CLASSES = 256, FEW = 10, SAMPLE_ROWS = 1200, SAMPLE_LAG = 3, SAMPLE_LINE = 40 };

typedef struct {
    size_t rows, channels, span, ahead, cut; // cut: rows or windows that are trained on
    float *input;                            // [rows][channels], mean 0 and variance 1 where it is trained
    int32_t *class;                          // [rows], or NULL:
    float *value;                            // [rows], likewise
    uint32_t *window;                        // [windows], those held out last; NULL: the end is held out
    size_t windows;
} table;

static void table_release(void *data) {
    table *t = data;
    free(t->input);
    free(t->class);
    free(t->value);
    free(t->window);
    free(t);
}

// What is read while a table is opened.
typedef struct {
    const config *c;
    const table_settings *s;
    table_file file;
    size_t column[TABLE_COLUMNS], channels, target;
    size_t *row, rows;        // of the file, those that are kept
    char (*name)[TABLE_CELL]; // [MOST_CLASSES + 1]: the target's different texts
    size_t names;             // MOST_CLASSES + 1: more than can be classes
    int words;                // it holds more than numbers
    double *number;           // [rows] of one column
    uint8_t *held;            // [rows]: not trained on
    smx_error *error;
} opening;

static int no_memory(opening *o) {
    return data_fail(o->error, "file", o->s->file, "there is no memory for it");
}

// The embedded table: hours, a heat that follows them, a load that follows the heat three rows later.
static char *write_sample(size_t *size) {
    char *text = malloc(SAMPLE_ROWS * SAMPLE_LINE), *to = text;
    int heat[SAMPLE_ROWS];
    if (!text) return NULL;
    to += snprintf(to, SAMPLE_LINE, "hour,heat,load\n");
    smx_rng rng = rng_open(1, RNG_START, 0);
    for (int i = 0; i < SAMPLE_ROWS; i++) {
        const int hour = i % 24, day = hour < 12 ? hour : 24 - hour;
        heat[i] = 10 * day + (int)rng_below(&rng, 121) - 60;
        const int before = i < SAMPLE_LAG ? 0 : heat[i - SAMPLE_LAG];
        to += snprintf(to, SAMPLE_LINE, "%d,%d,%d\n", hour, heat[i],
                       200 + 2 * before + (int)rng_below(&rng, 21) - 10);
    }
    *size = (size_t)(to - text);
    return text;
}

// Is the first cell that is there a number?
static int holds_numbers(const table_file *t, size_t column) {
    char cell[TABLE_CELL];
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        table_cell(t, i, column, cell);
        if (!table_missing(cell)) return table_number(cell, &x);
    }
    return 0;
}
static int no_column(opening *o, const char *key) {
    char first[TABLE_CELL];
    table_column(&o->file, 0, first);
    return config_fail(o->error, o->c, key, "names of columns, such as %.60s, or their numbers, 1 to %zu",
                       first, o->file.columns);
}
static int choose_columns(opening *o) {
    const table_file *t = &o->file;
    const char *p = o->s->inputs;
    o->target = *o->s->target ? table_find(t, o->s->target) : t->columns - 1;
    if (o->target == t->columns) return no_column(o, "target");
    for (size_t i = 0; !*p && i < t->columns; i++) // a target of later rows may be read as well
        if ((i != o->target || o->s->ahead) && holds_numbers(t, i)) o->column[o->channels++] = i;
    while (*p) {
        char one[TABLE_CELL];
        const size_t n = strcspn(p, ",");
        snprintf(one, sizeof one, "%.*s", (int)(n < TABLE_CELL ? n : TABLE_CELL - 1), p);
        const size_t found = table_find(t, one);
        if (found == t->columns || o->channels == TABLE_COLUMNS) return no_column(o, "inputs");
        if (found == o->target && !o->s->ahead)
            return config_fail(o->error, o->c, "inputs",
                               "columns without the target, unless ahead is at least 1");
        o->column[o->channels++] = found;
        p += n + (p[n] == ',');
    }
    return o->channels ? 0 : config_fail(o->error, o->c, "inputs", "a column of numbers at least");
}

// Rows that are kept, the target's different texts, and refusals of what is missing.
static int choose_rows(opening *o) {
    const table_file *t = &o->file;
    char cell[TABLE_CELL];
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        int gap = 0;
        for (size_t k = 0; k <= o->channels; k++) {
            const size_t column = k < o->channels ? o->column[k] : o->target;
            table_cell(t, i, column, cell);
            if (table_missing(cell)) {
                gap = 1;
                if (o->s->missing != MISSING_REFUSE) continue;
                char name[TABLE_CELL];
                table_column(t, column, name);
                return config_fail(o->error, o->c, "missing",
                                   "drop (the row), last (the value before) or mean: line %u has no %.60s",
                                   o->file.line[i + 1], name);
            }
            if (k < o->channels) continue;
            size_t known = 0;
            while (known < o->names && o->names <= MOST_CLASSES && strcmp(o->name[known], cell)) known++;
            if (known == o->names && o->names <= MOST_CLASSES) strcpy(o->name[o->names++], cell);
            o->words |= !table_number(cell, &x);
        }
        if (!gap || o->s->missing != MISSING_DROP) o->row[o->rows++] = i;
    }
    return 0;
}

static const double LARGEST = 1e100; // so that squares have room in their sum
static double fabs_of(double x) { return x < 0 ? -x : x; }
// o->number = a column's numbers of the rows that are kept, gaps filled, mean 0 and variance 1 over those
// that are trained on.
static int read_column(opening *o, size_t column, const char *key) {
    char cell[TABLE_CELL], name[TABLE_CELL];
    double sum = 0, squares = 0;
    size_t trained = 0;
    table_column(&o->file, column, name);
    for (size_t i = 0; i < o->rows; i++) {
        table_cell(&o->file, o->row[i], column, cell);
        const int gap = table_missing(cell);
        if (!gap && (!table_number(cell, &o->number[i]) || !(fabs_of(o->number[i]) <= LARGEST)))
            return error_about(o->error, key, config_get(o->c, key), "numbers of at most 1e100",
                               "%s, line %u: '%.60s' in the column %.60s is no number of at most 1e100",
                               o->s->file, o->file.line[o->row[i] + 1], cell, name);
        if (gap) o->number[i] = o->s->missing == MISSING_LAST && i ? o->number[i - 1] : NAN;
        if (o->held[i] || !(o->number[i] == o->number[i])) continue;
        trained++;
        const double way = o->number[i] - sum; // Welford: the mean so far, squares around it
        sum += way / (double)trained;
        squares += way * (o->number[i] - sum);
    }
    const double deviation = trained ? md_sqrt(squares / (double)trained) : 0;
    for (size_t i = 0; i < o->rows; i++) {
        const double x = (o->number[i] - sum) / (deviation > 0 ? deviation : 1);
        o->number[i] = x == x ? x : 0;
    }
    return 0;
}

static int read_classes(opening *o, table *t) {
    char cell[TABLE_CELL];
    if (o->names > MOST_CLASSES)
        return config_fail(o->error, o->c, "predict", "number: the target has more than %d different values",
                           MOST_CLASSES);
    if (o->names < 2)
        return config_fail(o->error, o->c, "target", "a column with two different values at least");
    if (o->s->missing == MISSING_MEAN) {
        for (size_t i = 0; i < o->rows; i++) {
            table_cell(&o->file, o->row[i], o->target, cell);
            if (table_missing(cell))
                return config_fail(o->error, o->c, "missing", "drop or last: classes have no mean");
        }
    }
    t->class = malloc(o->rows * sizeof *t->class);
    if (!t->class) return no_memory(o);
    for (size_t i = 0; i < o->rows; i++) {
        size_t known = 0;
        table_cell(&o->file, o->row[i], o->target, cell);
        while (known < o->names && strcmp(o->name[known], cell)) known++;
        if (known == o->names) { // missing
            if (!i) return config_fail(o->error, o->c, "missing", "drop: the first row has no class");
            known = (size_t)t->class[i - 1];
        }
        t->class[i] = (int32_t)known;
    }
    return 0;
}

// Which rows, or windows, are trained on.
static int divide(opening *o, table *t, size_t length) {
    const size_t share = o->s->held_share;
    t->rows = o->rows;
    t->ahead = o->s->ahead;
    t->span = length + t->ahead;
    if (o->s->held == HELD_END) {
        t->cut = t->rows - t->rows * share / 100;
        const size_t least = t->cut < t->rows - t->cut ? t->cut : t->rows - t->cut;
        if (!least)
            return config_fail(o->error, o->c, "file", "a table with more rows: %zu leave none to hold out",
                               t->rows);
        if (least <= t->ahead)
            return config_fail(o->error, o->c, "ahead", "at most %zu: the smaller part has %zu rows",
                               least - 1, least);
        if (!length || least < t->span)
            return length_fail(o->error, length, "1 to %zu: the smaller part has %zu rows", least - t->ahead,
                               least);
        memset(o->held + t->cut, 1, t->rows - t->cut);
        return 0;
    }
    if (length != o->c->common.length)
        return length_fail(o->error, length, "%zu, with held=windows", o->c->common.length);
    t->windows = t->rows > t->ahead ? (t->rows - t->ahead) / length : 0;
    if (t->windows < 2)
        return length_fail(o->error, length, "less: two windows have to fit into %zu rows", t->rows);
    const size_t held = t->windows * share / 100;
    t->cut = t->windows - (held ? held : 1);
    t->window = malloc(t->windows * sizeof *t->window);
    if (!t->window) return no_memory(o);
    smx_rng rng = rng_open(1, RNG_SHUFFLE, 0); // the same for every seed
    for (uint32_t i = 0; i < t->windows; i++) {
        const uint32_t j = rng_below(&rng, i + 1);
        t->window[i] = t->window[j];
        t->window[j] = i;
    }
    for (size_t i = t->cut; i < t->windows; i++) memset(o->held + t->window[i] * length, 1, length);
    return 0;
}

static int read_table(opening *o, table *t, size_t length) {
    if (choose_columns(o) || choose_rows(o) || divide(o, t, length)) return -1;
    const int classes =
        o->s->predict == PREDICT_CLASS || (o->s->predict == PREDICT_AUTO && (o->words || o->names <= FEW));
    t->channels = o->channels;
    t->input = malloc(o->rows * o->channels * sizeof *t->input);
    if (!t->input) return no_memory(o);
    for (size_t k = 0; k < o->channels; k++) {
        if (read_column(o, o->column[k], "inputs")) return -1;
        for (size_t i = 0; i < o->rows; i++) t->input[i * o->channels + k] = (float)o->number[i];
    }
    if (classes) return read_classes(o, t);
    t->value = malloc(o->rows * sizeof *t->value);
    if (!t->value) return no_memory(o);
    if (read_column(o, o->target, o->s->predict == PREDICT_NUMBER ? "predict" : "target")) return -1;
    for (size_t i = 0; i < o->rows; i++) t->value[i] = (float)o->number[i];
    return 0;
}

int table_task_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const table_settings *s = c->task;
    opening *o = calloc(1, sizeof *o);
    table *t = calloc(1, sizeof *t);
    data_file *file = NULL;
    char *sample = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    int failed = 1;
    if (!o || !t) {
        length_fail(error, length, "less: there is no memory for the table");
        goto end;
    }
    *o = (opening){.c = c, .s = s, .error = error};
    if (!strcmp(s->file, "sample")) {
        bytes = (uint8_t *)(sample = write_sample(&size));
        if (!sample) no_memory(o);
    } else if (!s->file[0]) {
        config_fail(error, c, "file", "a file's name, or sample");
    } else if ((file = data_open(s->file, "file", error))) {
        bytes = file->bytes;
        size = file->size;
        in->utf16 = file->utf16;
    }
    if (!bytes || table_open(&o->file, bytes, size, s->file, error)) goto end;
    o->row = malloc(o->file.rows * sizeof *o->row);
    o->number = malloc(o->file.rows * sizeof *o->number);
    o->held = calloc(o->file.rows, 1);
    o->name = malloc((MOST_CLASSES + 1) * sizeof *o->name);
    failed = o->row && o->number && o->held && o->name ? read_table(o, t, length) : no_memory(o);
    if (failed) goto end;
    in->data = t;
    in->release = table_release;
    in->length = length;
    in->vocab = 0;
    in->channels = t->channels;
    in->classes = t->class ? o->names : 0;
    in->per_position = s->answers == ANSWERS_ROWS;
    in->max_targets = in->per_position ? length : 1;
end:
    if (o) {
        table_close(&o->file);
        free(o->row);
        free(o->number);
        free(o->held);
        free(o->name);
    }
    data_close(file);
    free(sample);
    free(o);
    if (failed && t) table_release(t);
    return failed ? -1 : 0;
}

// Training: a window at a random place, or a random one of the windows. Evaluation: window after window,
// without overlap, and from the first again.
void table_task_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                         smx_task_sample *sample) {
    const table *t = in->data;
    smx_rng rng = rng_open(seed, stream, index);
    const int judged = stream == RNG_EVAL;
    size_t from;
    if (t->window) {
        const size_t held = t->windows - t->cut;
        from = in->length * t->window[judged ? t->cut + index % held : rng_below(&rng, (uint32_t)t->cut)];
    } else if (judged) {
        from = t->cut + index % ((t->rows - t->cut - t->ahead) / in->length) * in->length;
    } else {
        from = rng_below(&rng, (uint32_t)(t->cut - t->span + 1));
    }
    memcpy(sample->values, t->input + from * t->channels, in->length * t->channels * sizeof(float));
    const size_t first = from + t->ahead + (in->per_position ? 0 : in->length - 1);
    if (t->class)
        memcpy(sample->targets, t->class + first, in->max_targets * sizeof(int32_t));
    else
        memcpy(sample->target_values, t->value + first, in->max_targets * sizeof(float));
}
