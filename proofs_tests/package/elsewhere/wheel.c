// wheel.c: the libraries of Windows' wheel as Python has them: loaded by name, each function asked for by
// name, those of the names on standard input. Trains as the second argument says and prints the digest, then
// what the oracle computes. C11 for any compiler, with the public headers.
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include <seqmix/run.h>

#include "python/native/oracle.h"

static HMODULE load(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    HMODULE library = LoadLibraryA(path);
    if (!library) printf("%s cannot be loaded: %lu\n", path, GetLastError());
    return library;
}

// The function of that name, and of the type that the header gives it.
#define ASK(library, result, name, ...)                                                                      \
    result (*const its_##name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))(void *)GetProcAddress(library, #name)

static int train(HMODULE library, const char *config) {
    ASK(library, smx_run *, smx_run_open, const char *, smx_error *);
    ASK(library, int, smx_run_step, smx_run *, size_t, smx_error *);
    ASK(library, uint64_t, smx_run_digest, const smx_run *);
    ASK(library, void, smx_run_close, smx_run *);
    smx_error error;
    smx_run *run = its_smx_run_open(config, &error);
    if (!run || its_smx_run_step(run, 20, &error)) return printf("%s\n", error.message), 1;
    printf("digest %016llx\n", (unsigned long long)its_smx_run_digest(run));
    its_smx_run_close(run);
    return 0;
}

// One row: attention's output is its value.
static int compute(HMODULE library) {
    ASK(library, smx_oracle *, smx_oracle_open, const char *, const char *, char *, size_t);
    ASK(library, int, smx_oracle_set, smx_oracle *, const char *, int, size_t, const size_t *, const void *);
    ASK(library, int, smx_oracle_run, smx_oracle *);
    ASK(library, int, smx_oracle_get, smx_oracle *, int, const char *, size_t *, size_t *, const double **);
    ASK(library, const char *, smx_oracle_error, const smx_oracle *);
    ASK(library, const char *, smx_oracle_tables, void);
    ASK(library, void, smx_oracle_close, smx_oracle *);
    static const char *const inputs[] = {"q", "k", "v"};
    const double x[] = {0.5, -2.0}, *y;
    const size_t shape[] = {1, 2};
    size_t rank, sizes[8];
    char said[512];
    smx_oracle *o = its_smx_oracle_open("softmax_attention_qkv", "{\"H\":1}", said, sizeof said);
    if (!o) return printf("%s\n", said), 1;
    int bad = 0;
    for (int i = 0; i < 3; i++) bad |= its_smx_oracle_set(o, inputs[i], 0, 2, shape, x);
    if (bad || its_smx_oracle_run(o) || its_smx_oracle_get(o, 'o', "y", &rank, sizes, &y))
        return printf("%s\n", its_smx_oracle_error(o)), 1;
    const char *tables = its_smx_oracle_tables();
    printf("oracle %g %g; its tables begin with %.15s\n", y[0], y[1], tables ? tables : "nothing");
    its_smx_oracle_close(o);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    HMODULE runs = load(argv[1], "libseqmix.dll"), oracle = load(argv[1], "libseqmix_oracle.dll");
    if (!runs || !oracle) return 1;
    char name[200];
    int found = 0;
    for (; scanf("%199s", name) == 1; found++)
        if (!GetProcAddress(runs, name) && !GetProcAddress(oracle, name))
            return printf("there is no %s\n", name), 1;
    printf("%d functions\n", found);
    return train(runs, argv[2]) || compute(oracle);
}
