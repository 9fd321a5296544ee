// hard.h: `seqmix vectors --hard`: the cases that short, friendly inputs leave untried.
#ifndef CLI_HARD_H
#define CLI_HARD_H

#include <stdint.h>

// Writes the set to the folder. The exit status.
int hard_vectors(const char *out, uint64_t seed, const char *only);

#endif
