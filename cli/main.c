// main.c: seqmix, the program: finds the command.
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

static const cli_command commands[] = {
    {"train", "train 'CONFIG' [--json] [--save FILE] [--load FILE] [--every N] [--eval N]: train one run",
     cli_train},
    {"eval",
     "eval FILE ['CHANGES'] [--length N,N...] [--count N] [--confusion] [--json]: accuracy, R^2 or bits of a saved run, also at other lengths, a line for each",
     cli_eval},
    {"data",
     "data 'CONFIG' --out DIR|--show [--count N] [--first N] [--stream train|eval]: samples of a task as .npy, or drawn in the terminal",
     cli_data},
    {"sweep",
     "sweep 'CONFIG' KEY=A,B... [--seeds N] [--eval N] [--json]: a training for each value and seed, and how good each came out",
     cli_sweep},
    {"presets",
     "presets [NAME] [--fast] [--seeds N] [--json] [--list]: measure every preset's claims again, or list them",
     cli_presets},
    {"selfcheck",
     "selfcheck [--against FILE] [--threads N]: a digest of every kernel and of short trainings, the same everywhere",
     cli_selfcheck},
    {"bench",
     "bench [--json] [--quick] [--seconds S] [NAME...]: time kernels and training steps against this machine's ceilings",
     cli_bench},
    {"oracle",
     "oracle MECHANISM [--mode NAME] [--param NAME=VALUE]... [--layout bld|bhld] --in DIR --out DIR, oracle --list [MECHANISM], or oracle --manifest FILE --out DIR: the double-precision oracle on .npy files",
     cli_oracle},
    {"vectors", "vectors --out DIR [--seed N]: a set of test vectors for judging other implementations",
     cli_vectors},
    {"compare",
     "compare A.npy B.npy or compare --manifest FILE DIR [--only CASE] [--f64|--f32|--f16|--bf16] [--tol X]: judge results against the reference",
     cli_compare},
    {"audit", "audit [CONFIG]: how far ahead each mixer sees in each mode, measured; or one config in detail",
     cli_audit},
    {"help",
     "help [KEY|--json|--man|--man=config]: the config language, its tables as JSON, or a manual page",
     cli_help},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *to) {
    fprintf(to, "seqmix %s (%s)\n", SMX_VERSION, smx_isa());
    for (size_t i = 0; i < N_COMMANDS; i++) fprintf(to, "  seqmix %s\n", commands[i].help);
    fprintf(to, "  seqmix --version\nSMX_ISA=NAME forces an instruction set.\n");
}

// A full disk or a closed pipe behind standard output is a failure, too.
static int run_command(const cli_command *c, int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            printf("seqmix %s\n", c->help);
            return 0;
        }
    const int status = c->run(argc, argv);
    if (fflush(stdout) || ferror(stdout))
        return cli_fail("standard output cannot be written: %s", strerror(errno));
    return status;
}

int main(int argc, char **argv) {
    const char *isa = getenv("SMX_ISA");
    if (isa && *isa && smx_isa_choose(isa)) {
        char names[128] = "";
        for (size_t i = 0; smx_isa_name(i); i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                     smx_isa_name(i));
        return cli_fail("SMX_ISA=%s is not usable here; it must be one of %s", isa, names);
    }
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("seqmix %s\n", SMX_VERSION);
        return 0;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "help") && argc == 3 && !strncmp(argv[2], "--man", 5))
        return cli_man(argv[2], commands, N_COMMANDS);
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) return run_command(&commands[i], argc - 2, argv + 2);
    char names[256] = "";
    for (size_t i = 0; i < N_COMMANDS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 commands[i].name);
    return cli_fail("there is no command '%s'; it must be one of %s", argv[1], names);
}
