// manifest.h: the list of a set of test vectors (manifest.json), checked as it is read.
// For oracle.c and compare.c.
#ifndef CLI_MANIFEST_H
#define CLI_MANIFEST_H

#include "model/base/json.h"
#include "cli/arrays/npy.h"
#include "cli/oracle/compare.h"

enum { MANIFEST_PATH = 4096 };

typedef struct {
    json *root;
    const json *cases;          // an array of objects
    double f64_tol;             // of max |got - ref| / scale, for double; at most 1e-6
    char folder[MANIFEST_PATH]; // where the manifest and its arrays are
} manifest;

typedef struct {
    const char *file; // a plain name
    npy_dtype dtype;
    size_t ndim, shape[NPY_MAX_DIMS];
    double scale, f32_tol, f16_tol, bf16_tol; // negative when not given
} manifest_array;

// All return 0, or -1 with one sentence in `error`.
int manifest_open(manifest *m, const char *path, smx_error *error);
void manifest_close(manifest *m);
// One array entry; path becomes folder/file. A file name that leaves the folder is refused.
int manifest_array_of(const manifest *m, const json *entry, const char *folder, char path[MANIFEST_PATH],
                      manifest_array *out, smx_error *error);
// Does what was read have the shape and the kind of number (whole or real) that the manifest says?
int manifest_fits(const manifest_array *is, const npy *value, const char *path, smx_error *error);
// What is allowed in that format, relative to the array's scale. A manifest says how much a format's rounding
// of the inputs moves each array; where it only says so for float32, other formats get their own tolerance,
// widened as far as that of float32 is.
double manifest_tolerance(const manifest *m, const manifest_array *is, const compare_format *format);
// Of all cases the names, parameters and inputs' numbers, which are the same on every machine.
int manifest_digest(const manifest *m, uint64_t *digest, smx_error *error);
const char *manifest_case_name(const json *entry);
// -1: the case has none, and would pass whatever is given.
int manifest_has_outputs(const json *entry, smx_error *error);
// Whether the case is to be judged in that format: where it names "formats", only in those.
int manifest_judges(const json *entry, const compare_format *format);
// Refuses a result that is the reference's own file, by whatever name or link: it would agree with anything.
int manifest_other_file(const char *got, const char *ref, smx_error *error);

#endif
