// table.h: a table as text: CSV (RFC 4180), with commas, semicolons or tabs. The first line names the
// columns.
#ifndef SMX_TABLE_FILE_H
#define SMX_TABLE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/error.h>

typedef struct {
    const uint8_t *bytes; // the caller's, for as long as the table is used
    size_t rows, columns; // without the line of names; both at least 1
    uint32_t *start;      // [(rows + 1) * columns + 1]: where each cell starts, the line of names first
    uint32_t *line;       // [rows + 1]: the line of the file on which each row starts, from 1
} table_file;

enum {
    TABLE_COLUMNS = 4096, // at most
    TABLE_CELL = 256,     // bytes of a cell that are looked at, with the 0 behind them
};

// Finds the cells; of the three separators the one that the first line has most of. A mark of UTF-8 at the
// start, empty lines and the end of the last line may be there or not; lines end in LF, CR LF or CR. Cells in
// double quotes may hold separators, ends of lines and doubled quotes. -1 with an error about the key "file"
// that names the line, where a row has other cells than the first or a quote stays open.
int table_open(table_file *table, const uint8_t *bytes, size_t size, const char *name, smx_error *error);
void table_close(table_file *table); // also of zeros

// to [TABLE_CELL] = the text of a cell, without quotes around it and spaces at its ends; what is longer is
// cut off. Row 0 is the first below the names.
void table_cell(const table_file *table, size_t row, size_t column, char *to);
void table_column(const table_file *table, size_t column, char *to); // its name
// Is it empty, or one of NA, N/A, NaN, null, ?
int table_missing(const char *cell);
// 1: the whole text is a number, and it is *x (1e400: infinite).
int table_number(const char *cell, double *x);
// The column of that name, or with that number, counted from 1, where none has that name; `columns`: none.
size_t table_find(const table_file *table, const char *name);

// {"columns":[{"name","numbers","words","word","wordLine","missing","line","different"}],
// "preview":[["cell",...]],"rows"}: of each column how many cells are numbers, other words or missing, the
// first word and its line, the line of the first that is missing, and how many different values there are, up
// to 11; the first ten rows. malloc'ed; NULL with the error.
char *table_summary(const uint8_t *bytes, size_t size, const char *name, smx_error *error);

#endif
