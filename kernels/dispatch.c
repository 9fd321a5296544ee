// dispatch.c: one table of kernels per instruction set, chosen once, and the public functions, which call
// through it. Compiled once, for the baseline.
#include "calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// The structs of smx.h have the fields that kernels.txt says. (Its prototypes are held to it by the functions
// at the end.)
#define SMX_FIELD(type, field, place, kind)                                                                  \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((type *)0)->field), kind),                       \
                   "kernels.txt has another kind of " #type "." #field);
#include "build/kernels.def"

#ifndef SMX_ONLY
typedef struct {
    const char *name;
#define SMX_KERNEL(result, name, parameters, arguments) result(*name) parameters;
#include "build/kernels.def"
} kernel_table;

// The build says which copies exist: -DSMX_HAVE_avx2 and so on.

#define SMX_JOIN_(a, b) a##b
#define SMX_JOIN(a, b) SMX_JOIN_(a, b)
#define SMX_FN(name) SMX_JOIN(smx_##name##_, SMX_ISA_NAME)
#ifdef SMX_HAVE_scalar
#define SMX_ISA_NAME scalar
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_sse2
#define SMX_ISA_NAME sse2
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_avx2
#define SMX_ISA_NAME avx2
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_avx512
#define SMX_ISA_NAME avx512
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_avx2fma
#define SMX_ISA_NAME avx2fma
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_avx512fma
#define SMX_ISA_NAME avx512fma
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_neon
#define SMX_ISA_NAME neon
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_wasm
#define SMX_ISA_NAME wasm
#include "dispatch_table.h"
#endif
#ifdef SMX_HAVE_relaxed
#define SMX_ISA_NAME relaxed
#include "dispatch_table.h"
#endif

#if defined(SMX_HAVE_sse2) || defined(SMX_HAVE_neon) || defined(SMX_HAVE_wasm) || defined(SMX_HAVE_scalar)
static int always(void) { return 1; }
#endif
#ifdef SMX_ON_X86 // cpu_supports asks about the operating system too
#ifdef SMX_HAVE_avx2
static int has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#endif
#ifdef SMX_HAVE_avx512
static int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
// AMD's Zen 4 computes 512 bits in two halves. Products of matrices are faster there in registers of 256 bits
// (tile_narrow.h), most else slower: it has the same kernels, with the narrow product
// (docs/OPTIMISATION.md; `seqmix bench --variants`). Family 25 is Zen 3, without AVX-512, and Zen 4.
static int is_zen4(void) { return __builtin_cpu_is("amdfam19h") && has_avx512(); }
static int could_be_zen4(void) { return has_avx512() && !is_zen4(); } // who asks for it by name
#endif
#endif

// The same kernels with fused multiply-add, for fast mode.
#ifdef SMX_HAVE_avx2fma
#define FUSED_avx2 &table_avx2fma
#else
#define FUSED_avx2 NULL
#endif
#ifdef SMX_HAVE_avx512fma
#define FUSED_avx512 &table_avx512fma
#else
#define FUSED_avx512 NULL
#endif
#ifdef SMX_HAVE_relaxed
#define FUSED_wasm &table_relaxed
#else
#define FUSED_wasm NULL
#endif

// Best first.
typedef struct {
    const char *name;
    const kernel_table *table, *fused;
    int (*usable)(void);
    int narrow; // tile_narrow.h: products in registers of 256 bits
} choice;
static const choice choices[] = {
#ifdef SMX_HAVE_avx512
    {"zen4", &table_avx512, FUSED_avx512, is_zen4, 1},
    {"avx512", &table_avx512, FUSED_avx512, has_avx512, 0},
    {"zen4", &table_avx512, FUSED_avx512, could_be_zen4, 1},
#endif
#ifdef SMX_HAVE_avx2
    {"avx2", &table_avx2, FUSED_avx2, has_avx2, 0},
#endif
#ifdef SMX_HAVE_sse2
    {"sse2", &table_sse2, NULL, always, 0},
#endif
#ifdef SMX_HAVE_neon
    {"neon", &table_neon, NULL, always, 0},
#endif
#ifdef SMX_HAVE_wasm
    {"wasm", &table_wasm, FUSED_wasm, always, 0},
#endif
#ifdef SMX_HAVE_scalar
    {"scalar", &table_scalar, NULL, always, 0},
#endif
};
enum { N_CHOICES = sizeof choices / sizeof *choices };

static const choice *_Atomic chosen;            // constants: whoever reads it needs no order beside it
_Atomic int smx_private_narrow;                 // choice.narrow of what is chosen
static _Thread_local const kernel_table *fused; // this thread's, while it is in fast mode

int smx_isa_choose(const char *name) {
    for (size_t i = 0; name && i < N_CHOICES; i++)
        if (!strcmp(choices[i].name, name) && choices[i].usable()) {
            atomic_store_explicit(&chosen, &choices[i], memory_order_relaxed);
            atomic_store_explicit(&smx_private_narrow, choices[i].narrow, memory_order_relaxed);
            return 0;
        }
    return -1;
}

const char *smx_isa_name(size_t i) {
    for (size_t c = 0; c < N_CHOICES; c++)
        if (choices[c].usable() && i-- == 0) return choices[c].name;
    return NULL;
}

static const choice *selected(void) {
    const choice *c = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (c) return c;
#ifndef __wasm__
    // An unknown name falls back to the best; programs that want to complain call smx_isa_choose themselves.
    if (smx_isa_choose(getenv("SMX_ISA")))
#endif
        smx_isa_choose(smx_isa_name(0));
    return atomic_load_explicit(&chosen, memory_order_relaxed);
}
static const kernel_table *kernels(void) { return fused ? fused : selected()->table; }

const char *smx_isa(void) { return selected()->name; }

static const kernel_table *fused_of(const choice *c) {
#ifdef SMX_ON_X86
    return __builtin_cpu_supports("fma") ? c->fused : NULL;
#else
    return c->fused;
#endif
}
const char *smx_fast_isa(void) {
    const kernel_table *t = fused_of(selected());
    return t ? t->name : NULL;
}
int smx_fast(int on) {
    const int before = fused != NULL;
    fused = on ? fused_of(selected()) : NULL;
    return before;
}

#define CALLED(name) kernels()->name
#define SMX_KERNEL(result, name, parameters, arguments)                                                      \
    result smx_##name parameters { CALL_##result(name, arguments) }
#include "build/kernels.def"
#endif
