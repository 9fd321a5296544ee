// vectors_text.h: `seqmix vectors CONFIG`: a set of test vectors of a text of equations.
#ifndef CLI_VECTORS_TEXT_H
#define CLI_VECTORS_TEXT_H

#include <stddef.h>
#include <stdint.h>

// Writes the set of the config's mixer to the folder: x, weights and states' starts, and in double y, last
// states and gradients. hard: the long and extreme cases instead. length, batch: 0, or that of every case.
// The exit status.
int vectors_of_text(const char *config, const char *out, uint64_t seed, int hard, size_t length,
                    size_t batch);

#endif
