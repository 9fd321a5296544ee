// compare_formats.c: the number formats by which results are judged; docs/ORACLE.md says why by so much.
#include "compare.h"

#include <string.h>

const compare_format compare_formats[] = {
    {"f64", 53, -1022, 1e-12}, {"f32", 24, -126, 2e-5}, {"f16", 11, -14, 0x1p-8}, // 8 u
    {"bf16", 8, -126, 0x1p-5},                                                    // 8 u
    {NULL, 0, 0, 0},
};

const compare_format *compare_format_named(const char *name) {
    for (const compare_format *f = compare_formats; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}
