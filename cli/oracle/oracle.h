// oracle.h: the parts of `seqmix oracle` and `seqmix vectors`. Each returns the exit status, having said what
// was wrong.
#ifndef CLI_ORACLE_H
#define CLI_ORACLE_H

#include "oracle_cases.h"

// sets/oracle_manifest.c: every case of a set of test vectors.
int oracle_manifest_run(const char *manifest, const char *out);

// [..., L, H*d], [..., H, L, d] and [..., L, H, d]
typedef enum { ORACLE_BLD, ORACLE_BHLD, ORACLE_BLHD } oracle_layout;

// oracle_folder.c: one mechanism on NAME.npy of folder `in`.
typedef struct {
    const oracle_mechanism *mechanism;
    const char *params; // JSON text of an object
    int layout;         // of q, k, v, y and their gradients: an oracle_layout
    const char *in, *out;
} oracle_request;
int oracle_folder_run(const oracle_request *request);

// oracle_list.c: mechanisms with parameters and shapes; of all when `only` is NULL.
void oracle_list(const oracle_mechanism *only);

// Its arrays can be laid out by heads: it works on q, k, v that are given.
int oracle_has_heads(const oracle_mechanism *mechanism);

#endif
