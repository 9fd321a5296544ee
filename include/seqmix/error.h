// error.h: how a function that can fail says why: one sentence,
// and its parts for whoever shows them beside a field.
#ifndef SMX_ERROR_H
#define SMX_ERROR_H

typedef struct {
    char message[512]; // one sentence: the thing, the value given, what is allowed
    char key[64];      // the config key it is about, or ""
    char value[128];   // the value given, or ""
    char allowed[256]; // what is allowed, or ""
} smx_error;

#endif
