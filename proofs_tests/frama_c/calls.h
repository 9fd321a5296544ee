// calls.h: what the functions share that Eva follows (calls.c, calls_more.c).
#include <__fc_builtin.h> // Frama-C's own: any bytes, of which all are written
#include <stdlib.h>
#include <seqmix/smx.h>

#define ANY(n, name)                                                                                         \
    float name[n];                                                                                           \
    Frama_C_make_unknown((char *)name, sizeof name)
