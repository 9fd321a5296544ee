// ahead.h: whether kernels ask for rows before they need them. They do where arrays are too large to stay
// near; what that gives is the processor's affair, so `seqmix bench --variants` times the same rows without.
#ifndef SMX_AHEAD_H
#define SMX_AHEAD_H

#ifdef SMX_ONLY
enum { smx_private_ahead = 1 };
#else
extern int smx_private_ahead; // 0 in that measurement alone, and never while a kernel runs
#endif

#endif
