// ahead.c: the switch of ahead.h.
#include "ahead.h"

#ifndef SMX_ONLY
int smx_private_ahead = 1;
#endif
