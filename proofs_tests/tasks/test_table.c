// test_table.c: tables as text, cell by cell, and the task of windows over them, against what was written
// into the file.
#include "proofs_tests/support/check.h"
#include "proofs_tests/support/edges.h"
#include "model/run/language/language.h"

#include "tasks/files/data.h"
#include "tasks/files/table.h"
#include "kernels/core/philox.h"
#include <seqmix/run.h>
#include "tasks/task.h"

// A text right before a page that nobody may read: who reads past its end ends the test. (For as long as
// that lasts.)
static const uint8_t *at_the_edge(const char *text) {
    const size_t n = strlen(text), page = (size_t)sysconf(_SC_PAGESIZE), room = (n + page - 1) / page * page;
    uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + room, page, PROT_NONE), 0);
    return memcpy(map + room - n, text, n);
}
static table_file opened(const char *text) {
    table_file t;
    smx_error e = {0};
    if (table_open(&t, at_the_edge(text), strlen(text), "it", &e)) fail_msg("%s: %s", text, e.message);
    return t;
}
static void cell_is(const table_file *t, size_t row, size_t column, const char *wanted) {
    char cell[TABLE_CELL];
    table_cell(t, row, column, cell);
    assert_string_equal(cell, wanted);
}

static void cells(void **state) {
    (void)state;
    static const char *const same[] = {
        "a,b\n1,2\n3,4\n",
        ("\xef\xbb\xbf"
         "a,b\r\n1,2\r\n3,4"),
        "\n\na;b\n\n1;2\n3;4\n\n",
        "a\tb\r1\t2\r3\t4",
        " a , b \n 1,\"2\"\n\"3\" , 4 \n",
        "a,b\n1,2\n3,\"4\"",
        "a,b\n1,2\n3,\"4\" ",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        table_file t = opened(same[i]);
        char name[TABLE_CELL];
        assert_int_equal(t.rows, 2);
        assert_int_equal(t.columns, 2);
        table_column(&t, 1, name);
        assert_string_equal(name, "b");
        cell_is(&t, 0, 0, "1");
        cell_is(&t, 0, 1, "2");
        cell_is(&t, 1, 0, "3");
        cell_is(&t, 1, 1, "4");
        assert_int_equal(table_find(&t, "b"), 1);
        assert_int_equal(table_find(&t, "1"), 0);
        assert_int_equal(table_find(&t, "3"), 2);
        assert_int_equal(table_find(&t, ""), 2);
        table_close(&t);
    }
    table_file bare = opened("a,b\n1,  ");
    cell_is(&bare, 0, 1, "");
    table_close(&bare);
    table_file t = opened("\"x, y\",\"say \"\"so\"\"\"\n\"two\nlines\",\n,\"\"\n");
    assert_int_equal(t.line[1], 2);
    assert_int_equal(t.line[2], 4);
    cell_is(&t, 0, 0, "two\nlines");
    cell_is(&t, 0, 1, "");
    cell_is(&t, 1, 0, "");
    cell_is(&t, 1, 1, "");
    assert_int_equal(table_find(&t, "x, y"), 0);
    assert_int_equal(table_find(&t, "say \"so\""), 1);
    table_close(&t);
    double x;
    static const struct {
        const char *text;
        int number, missing;
    } words[] = {{"1", 1, 0},   {"-2.5e3", 1, 0}, {"", 0, 1},      {"NA", 0, 1},
                 {"?", 0, 1},   {"nan", 0, 1},    {"1e999", 1, 0}, {"1x", 0, 0},
                 {"inf", 0, 0}, {"red", 0, 0},    {"0x10", 0, 0},  {"1 2", 0, 0}};
    // (1e999 is a number, too large for a column: who reads it refuses it by its line.)
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(table_number(words[i].text, &x), words[i].number);
        assert_int_equal(table_missing(words[i].text), words[i].missing);
    }
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "a line of names and a row"},
        {"a,b\n", "a line of names and a row"},
        {"a,b\n1,2\n\n3\n", "line 4 has 1 cells where the first has 2"},
        {"a,b\n1,2,3\n", "line 2 has 3 cells where the first has 2"},
        {"a,b\n1,\"2\n3,4\n", "a quote in line 2 stays open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        table_file t;
        smx_error e = {0};
        assert_int_equal(table_open(&t, at_the_edge(cases[i].text), strlen(cases[i].text), "it", &e), -1);
        if (!strstr(e.message, cases[i].words)) fail_msg("%s", e.message);
        if (!strstr(e.allowed, cases[i].words)) fail_msg("%s", e.allowed);
        assert_string_equal(e.key, "file");
        assert_string_equal(e.value, "it");
    }
}

// What is said of a table to who chooses among its columns.
static void summary(void **state) {
    (void)state;
    smx_error e = {0};
    char text[2000] = "a,\"b \"\"\\\",c\n", wanted[2000] = "";
    size_t n = strlen(text), shown = 0;
    for (int i = 0; i < 14; i++) { // numbers; words, of which two are missing; one number
        static const char *const words[] = {"x", "", "y\tz", "NA", "x"};
        const char *word = i % 3 == 1 ? words[i / 3] : "x";
        n += (size_t)sprintf(text + n, "%d,%s,7\n", i, word);
        if (i >= 10) continue; // so many rows are shown
        shown += (size_t)sprintf(wanted + shown, "%s[\"%d\",\"%s\",\"7\"]", i ? "," : "", i,
                                 strchr(word, '\t') ? "y\\u0009z" : word);
    }
    char all[4000];
    snprintf(
        all, sizeof all,
        "{\"columns\":[{\"name\":\"a\",\"numbers\":14,\"words\":0,\"word\":\"\",\"wordLine\":0,\"missing\":0,\"line\":0,\"different\":11},"
        "{\"name\":\"b \\\"\\\\\",\"numbers\":0,\"words\":12,\"word\":\"x\",\"wordLine\":2,\"missing\":2,\"line\":6,\"different\":2},"
        "{\"name\":\"c\",\"numbers\":14,\"words\":0,\"word\":\"\",\"wordLine\":0,\"missing\":0,\"line\":0,\"different\":1}],"
        "\"preview\":[%s],\"rows\":14}",
        wanted);
    char *said = table_summary(at_the_edge(text), n, "it", &e);
    if (!said) fail_msg("%s", e.message);
    assert_string_equal(said, all);
    free(said);
    assert_null(table_summary(at_the_edge("a\n"), 2, "it", &e));
    assert_string_equal(e.message, "it: no table: a line of names and a row are the least");
}

// Whatever is written into cells is read out of them.
static void any_cells(void **state) {
    (void)state;
    static const char letters[] = "ab0.,;\t\"\n\r ";
    static const char *const separators = ",;\t";
    check_seed(5);
    for (int round = 0; round < 300; round++) {
        const size_t columns = 1 + check_next() % 4, rows = 1 + check_next() % 5;
        const char separator = separators[check_next() % 3];
        char text[4096], cell[24][12];
        size_t n = 0;
        for (size_t i = 0; i < (rows + 1) * columns; i++) {
            const size_t size = check_next() % 10;
            size_t k = 0;
            if (i < columns) // names: what separates them is seen by these
                k = (size_t)sprintf(cell[i], "n%zu", i);
            else
                for (; k < size; k++) cell[i][k] = letters[check_next() % (sizeof letters - 1)];
            cell[i][k] = 0;
            const int bare = i < columns || (k && !strpbrk(cell[i], "\"\n\r,;\t ") && check_next() % 2);
            if (!bare) text[n++] = '"';
            for (const char *p = cell[i]; *p; p++) {
                if (*p == '"') text[n++] = '"';
                text[n++] = *p;
            }
            if (!bare) text[n++] = '"';
            if ((i + 1) % columns)
                text[n++] = separator;
            else
                text[n++] = '\n';
        }
        text[n] = 0;
        table_file t = opened(text);
        assert_int_equal(t.rows, rows);
        assert_int_equal(t.columns, columns);
        for (size_t i = columns; i < (rows + 1) * columns; i++)
            cell_is(&t, i / columns - 1, i % columns, cell[i]);
        table_close(&t);
    }
}

// ---- The task ----

typedef struct {
    config *c;
    smx_task_instance in;
} task;
static int try_task(task *o, const char *text, size_t length, smx_error *e) {
    char full[1024];
    snprintf(full, sizeof full, "mixer=cat&task=table&%s", text);
    o->c = config_parse(full, 0, e);
    if (!o->c) return -1;
    o->in = (smx_task_instance){.task = smx_task_of(o->c)};
    if (!o->in.task->open(&o->in, o->c, length ? length : o->c->common.length, e)) return 0;
    config_free(o->c);
    return -1;
}
static task task_of(const char *text) {
    task o;
    smx_error e = {0};
    if (try_task(&o, text, 0, &e)) fail_msg("%s: %s", text, e.message);
    return o;
}
static void close_task(task *o) {
    o->in.release(o->in.data);
    config_free(o->c);
}

enum { ROWS = 100 };
// x: 0, 1, 2, ...; y: 3x + 1; kind: three words; a gap in y where asked.
static void provide(int gaps) {
    char text[ROWS * 40];
    size_t n = (size_t)sprintf(text, "x,kind,y\n");
    static const char *const kinds[] = {"red", "green", "blue"};
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(text + n, "%d,%s,", i, kinds[i % 3]);
        n += (size_t)(gaps && i % 10 == 4 ? sprintf(text + n, "NA\n") : sprintf(text + n, "%d\n", 3 * i + 1));
    }
    smx_error e = {0};
    assert_int_equal(smx_data_provide("rows.csv", text, n, &e), 0);
}
static void forget(void) {
    smx_error e = {0};
    assert_int_equal(smx_data_provide("rows.csv", NULL, 0, &e), 0);
}

// x of the row that a scaled value came from: x is 0..cut-1 where it is trained, mean (cut-1)/2 and variance
// (cut^2-1)/12.
static double row_of(float scaled, double cut) { return scaled * sqrt((cut * cut - 1) / 12) + (cut - 1) / 2; }

static void windows_in_time(void **state) {
    (void)state;
    provide(0);
    task o = task_of("file=rows.csv&inputs=x&length=6&ahead=2");
    assert_int_equal(o.in.channels, 1);
    assert_int_equal(o.in.classes, 0);
    assert_int_equal(o.in.max_targets, 6);
    float values[6], targets[6];
    smx_task_sample s = {.values = values, .target_values = targets};
    double low = ROWS, high = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        o.in.task->generate(&o.in, 1, RNG_TRAIN, i, &s);
        const double from = row_of(values[0], 80);
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(row_of(values[k], 80) - (from + k)) < 1e-4);
            assert_true(fabs(row_of(targets[k], 80) - (from + k + 2)) < 1e-4); // y goes with x
        }
        if (from < low) low = from;
        if (from > high) high = from;
    }
    assert_true(fabs(low) < 1e-4 && fabs(high - 72) < 1e-4); // 72 + 6 + 2 = 80
    for (uint64_t i = 0; i < 7; i++) { // (100 - 80 - 2) / 6 = 3 windows, in order, and again
        o.in.task->generate(&o.in, 9, RNG_EVAL, i, &s);
        assert_true(fabs(row_of(values[0], 80) - (80 + 6 * (double)(i % 3))) < 1e-4);
    }
    close_task(&o);
    o = task_of("file=rows.csv&inputs=1&target=kind&answers=one&length=5"); // column 1 by its number
    assert_int_equal(o.in.classes, 3);
    assert_int_equal(o.in.max_targets, 1);
    int32_t answer;
    s.targets = &answer;
    for (uint64_t i = 0; i < 100; i++) {
        o.in.task->generate(&o.in, 1, RNG_TRAIN, i, &s);
        assert_int_equal(answer, lround(row_of(values[4], 80)) % 3); // that of the last row
    }
    close_task(&o);
    forget();
}

static void windows_at_random(void **state) {
    (void)state;
    provide(0);
    task o = task_of("file=rows.csv&inputs=x&length=4&held=windows&held_share=28");
    float values[4], targets[4];
    smx_task_sample s = {.values = values, .target_values = targets};
    // Values are x scaled by what is trained on: their order tells the rows, the answers have the same scale.
    int seen[2][25] = {{0}};
    float all[25];
    size_t known = 0;
    for (int judged = 0; judged < 2; judged++)
        for (uint64_t i = 0; i < 600; i++) {
            o.in.task->generate(&o.in, 3, judged ? RNG_EVAL : RNG_TRAIN, i, &s);
            size_t w = 0;
            while (w < known && all[w] != values[0]) w++;
            if (w == known) all[known++] = values[0];
            assert_true(known <= 25);
            seen[judged][w]++;
            if (judged && i < 7) assert_int_equal(seen[1][w], 1); // each once before the first comes again
        }
    assert_int_equal(known, 25);
    int trained = 0, held = 0;
    for (int w = 0; w < 25; w++) {
        assert_false(seen[0][w] && seen[1][w]);
        trained += seen[0][w] > 0;
        held += seen[1][w] > 0;
    }
    assert_int_equal(trained, 18);
    assert_int_equal(held, 7);
    // The rows that are trained on have mean 0 and variance 1, those of all have not.
    double sum = 0, squares = 0;
    for (int w = 0; w < 25; w++) {
        if (!seen[0][w]) continue;
        for (int k = 0; k < 4; k++) {
            const double x = all[w] + k * (double)(values[1] - values[0]);
            sum += x;
            squares += x * x;
        }
    }
    assert_true(fabs(sum / 72) < 1e-5 && fabs(squares / 72 - 1) < 1e-4);
    smx_error e = {0};
    task other;
    assert_int_equal(try_task(&other, "file=rows.csv&length=4&held=windows", 8, &e), -1);
    assert_string_equal(e.key, "length");
    close_task(&o);
    forget();
}

static void gaps(void **state) {
    (void)state;
    provide(1);
    smx_error e = {0};
    task o;
    assert_int_equal(try_task(&o, "file=rows.csv&inputs=x,y&target=kind", 0, &e), -1);
    assert_string_equal(e.key, "missing");
    assert_non_null(strstr(e.message, "line 6 has no y"));
    float values[64];
    int32_t targets[16];
    smx_task_sample s = {.values = values, .targets = targets};
    o = task_of("file=rows.csv&inputs=x,y&target=kind&missing=last&length=16");
    for (uint64_t i = 0; i < 200; i++) {
        o.in.task->generate(&o.in, 1, RNG_TRAIN, i, &s);
        for (int k = 1; k < 16; k++)
            if (targets[k] == 1 && lround(row_of(values[2 * k], 80)) % 10 == 4)
                assert_true(values[2 * k + 1] == values[2 * k - 1]);
    }
    close_task(&o);
    o = task_of("file=rows.csv&inputs=x,y&target=kind&missing=mean&length=16");
    int means = 0;
    for (uint64_t i = 0; i < 50; i++) {
        o.in.task->generate(&o.in, 1, RNG_TRAIN, i, &s);
        for (int k = 0; k < 16; k++)
            if (lround(row_of(values[2 * k], 80)) % 10 == 4) {
                assert_true(values[2 * k + 1] == 0);
                means++;
            }
    }
    assert_true(means > 20);
    close_task(&o);
    o = task_of("file=rows.csv&inputs=x,y&target=kind&missing=drop&length=12");
    o.in.task->generate(&o.in, 1, RNG_EVAL, 0, &s); // 90 rows are left, 72 of them trained on
    for (int k = 1; k < 12; k++) assert_true(values[2 * k] > values[2 * k - 2]);
    const float step = values[2] - values[0];
    int jumps = 0;
    for (int k = 1; k < 12; k++) jumps += values[2 * k] - values[2 * k - 2] > 1.5f * step;
    assert_int_equal(jumps, 1);
    close_task(&o);
    forget();
}

static void bad_settings(void **state) {
    (void)state;
    provide(0);
    assert_int_equal(smx_data_provide("two.csv", "x,y\n1,2\n2,3\n", 12, &(smx_error){0}), 0);
    static const struct {
        const char *text, *key, *words;
    } cases[] = {
        {"file=none.csv", "file", "none.csv"},
        {"file=rows.csv&target=z", "target", "names of columns, such as x"},
        {"file=rows.csv&inputs=x,4", "inputs", "1 to 3"},
        {"file=rows.csv&inputs=y&target=y", "inputs", "unless ahead is at least 1"},
        {"file=rows.csv&inputs=kind&length=8", "inputs", "line 2: 'red' in the column kind"},
        {"file=rows.csv&inputs=x&target=kind&predict=number&length=8", "predict",
         "line 2: 'red' in the column kind"},
        {"file=rows.csv&length=21", "length", "1 to 20: the smaller part has 20 rows"},
        {"file=rows.csv&length=1&ahead=20", "ahead", "at most 19: the smaller part has 20 rows"},
        {"file=rows.csv&length=2&ahead=19", "length", "1 to 1: the smaller part has 20 rows"},
        {"file=two.csv", "file", "more rows: 2 leave none"},
        {"file=rows.csv&length=64&held=windows", "length", "two windows"},
        {"file=", "file", "a file's name, or sample"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        task o;
        smx_error e = {0};
        assert_int_equal(try_task(&o, cases[i].text, 0, &e), -1);
        if (strcmp(e.key, cases[i].key) || !strstr(e.message, cases[i].words))
            fail_msg("%s: %s: %s", cases[i].text, e.key, e.message);
    }
    assert_int_equal(smx_data_provide("two.csv", NULL, 0, &(smx_error){0}), 0);
    forget();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),     cmocka_unit_test(refusals),        cmocka_unit_test(summary),
        cmocka_unit_test(any_cells), cmocka_unit_test(windows_in_time), cmocka_unit_test(windows_at_random),
        cmocka_unit_test(gaps),      cmocka_unit_test(bad_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
