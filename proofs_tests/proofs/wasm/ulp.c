// ulp.c: every kernel's error in units of the last place (ulp_cases.h), for verify.wasm. The oracle and the
// inputs are those of the native test; the kernels are the ones that were compiled to WebAssembly.
#include "proofs_tests/kernels/ulp_cases.h"

size_t verify_ulp_count(void) { return CHECK_COUNT(ulp_cases); }
const char *verify_ulp_name(size_t i) { return ulp_cases[i].name; }
const char *verify_ulp_scale(size_t i) { return ulp_cases[i].scale; }
const char *verify_ulp_kind(int kind) { return kind < ULP_KINDS ? ulp_kind_names[kind] : ""; }
double verify_ulp_ceiling(size_t i, int kind) { return ulp_cases[i].ceiling[kind]; }
double verify_ulp_measure(size_t i, int kind, int draws) { return ulp_measure(&ulp_cases[i], kind, draws); }
