// calls.h: what the public functions are made of: they set the floating-point environment, call the kernel
// that CALLED names and restore it. dispatch.c has them; seqmix.c of `make amalgamation`, too.
#ifndef SMX_CALLS_H
#define SMX_CALLS_H

#include <seqmix/smx.h>

#include <float.h>
#include <string.h>

#if !defined(__wasm__) && (defined(__x86_64__) || defined(_M_X64))
#define SMX_ON_X86 1
#include <xmmintrin.h>
#endif

#if FLT_EVAL_METHOD != 0
#error "float is computed in a wider type here, which gives other bits (32-bit x86: add -msse2 -mfpmath=sse)"
#endif

#define SMX_STRING_(a) #a
#define SMX_STRING(a) SMX_STRING_(a)

#ifdef SMX_ONLY // one copy of the kernels: nothing to choose
const char *smx_isa(void) { return SMX_STRING(SMX_ISA_NAME); }
const char *smx_isa_name(size_t i) { return i ? NULL : smx_isa(); }
int smx_isa_choose(const char *name) { return name && !strcmp(name, smx_isa()) ? 0 : -1; }
const char *smx_fast_isa(void) { return NULL; }
int smx_fast(int on) { return (void)on, 0; }
#endif

#if defined(SMX_ON_X86)
enum { MXCSR_DEFAULT = 0x1f80, MXCSR_FLAGS = 0x3f };
uint64_t smx_fpenv_enter(void) {
    unsigned saved = _mm_getcsr();
    if ((saved & ~(unsigned)MXCSR_FLAGS) != MXCSR_DEFAULT) _mm_setcsr(MXCSR_DEFAULT);
    return saved;
}
void smx_fpenv_leave(uint64_t saved) {
    if ((saved & ~(uint64_t)MXCSR_FLAGS) != MXCSR_DEFAULT) _mm_setcsr((unsigned)saved);
}
#elif defined(__aarch64__)
uint64_t smx_fpenv_enter(void) {
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    if (saved) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return saved;
}
void smx_fpenv_leave(uint64_t saved) {
    if (saved) __asm__ volatile("msr fpcr, %0" : : "r"(saved));
}
#else // WebAssembly has one environment, the right one
uint64_t smx_fpenv_enter(void) { return 0; }
void smx_fpenv_leave(uint64_t saved) { (void)saved; }
#endif

// The public functions. A result type of void cannot be held, so each kind has its own shape.
#define CALL_void(name, arguments)                                                                           \
    uint64_t env = smx_fpenv_enter();                                                                        \
    CALLED(name) arguments;                                                                                  \
    smx_fpenv_leave(env);
#define CALL_VALUE(type, name, arguments)                                                                    \
    uint64_t env = smx_fpenv_enter();                                                                        \
    type result = CALLED(name) arguments;                                                                    \
    smx_fpenv_leave(env);                                                                                    \
    return result;
#define CALL_float(name, arguments) CALL_VALUE(float, name, arguments)
#define CALL_double(name, arguments) CALL_VALUE(double, name, arguments)
#define CALL_size_t(name, arguments) CALL_VALUE(size_t, name, arguments)

#endif
