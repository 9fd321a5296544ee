// mutant.h: included before every file of a tree with random mutants: which of the faults that are compiled
// in is the one that happens. SMX_MUTANT in the environment names it; SMX_MUTANT_SEEN names a folder where
// the process leaves the numbers of those that it came past. (No header of the system is read here: a file
// may still have to say what it wants of them.)
#pragma once
#ifdef __wasm__
// A module has no environment. Nothing is ever placed below 1024: there awake.mjs writes which fault happens,
// counted from 1, and reads which were come past.
#define SMX_M(i) (((volatile unsigned char *)24)[i] = 1, *(volatile int *)16 == (i) + 1)
#else
extern char *getenv(const char *);
extern int atoi(const char *), creat(const char *, unsigned), close(int);
extern int sprintf(char *, const char *, ...), dprintf(int, const char *, ...);

enum { SMX_MUTANTS = 1024 };
__attribute__((weak)) int smx_mutant = -1;
__attribute__((weak)) unsigned char smx_mutants_seen[SMX_MUTANTS];
#define SMX_M(i)                                                                                             \
    (__builtin_expect(smx_mutants_seen[i], 1) ? 0 : (smx_mutant_past(i), 0),                                 \
     __builtin_expect(smx_mutant == (i), 0))

// Said at once: a process may end by a signal, or as a fork that leaves without its exit functions.
__attribute__((weak)) void smx_mutant_past(int i) {
    char path[4096];
    smx_mutants_seen[i] = 1;
    if (!getenv("SMX_MUTANT_SEEN")) return;
    sprintf(path, "%.4000s/%d", getenv("SMX_MUTANT_SEEN"), i);
    const int out = creat(path, 0600);
    dprintf(out, "%d\n", i);
    close(out);
}
__attribute__((weak, constructor)) void smx_mutants_begin(void) {
    static int begun; // this function is in every object's list of constructors
    if (begun++) return;
    if (getenv("SMX_MUTANT")) smx_mutant = atoi(getenv("SMX_MUTANT"));
}
#endif
