// files_digest.h: what the files hold that a config's task reads.
#ifndef CLI_GRID_FILES_DIGEST_H
#define CLI_GRID_FILES_DIGEST_H

#include <stdint.h>

#include "model/settings/config.h"

// Of text=, file=, of every file below folder=, and of MNIST's: *digest, 0 where the task reads no file. 0,
// or -1 with the error: a file cannot be read.
int files_digest(const config *c, uint64_t *digest, smx_error *error);
// The same, read once more: files_digest remembers the last.
int files_digest_now(const config *c, uint64_t *digest, smx_error *error);
int files_are_named_by(const char *key);

#endif
