// hard.h: `seqmix vectors --hard`: the cases that short, friendly inputs leave untried.
#ifndef CLI_HARD_H
#define CLI_HARD_H

#include <stdint.h>

typedef struct {
    const char *mechanism, *name, *params, *without;
    const char *drawn; // cover_drawn's items; NULL: nothing
} hard_case;
extern const hard_case hard_cases[]; // ends with a NULL mechanism

// Writes the set to the folder; where seconds > 0 instead what so many for each mechanism have room for of
// the plan (cover.h); where onnx, the cases of onnx.h, as node tests too. The exit status.
int hard_vectors(const char *out, uint64_t seed, const char *only, double seconds, int onnx);

#endif
