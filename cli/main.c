// main.c: seqmix, the program: finds the command.
#include "cli.h"
#include "ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "model/settings/pairs.h"

static const cli_command *const commands[] = {
    &cli_train,     &cli_eval,  &cli_generate,  &cli_read,       &cli_data,    &cli_sweep, &cli_presets,
    &cli_selfcheck, &cli_bench, &cli_oracle,    &cli_vectors,    &cli_compare, &cli_judge, &cli_audit,
    &cli_equations, &cli_check, &cli_export,    &cli_import,     &cli_grid,    &cli_job,   &cli_collect,
    &cli_report,    &cli_watch, &cli_reproduce, &cli_completion, &cli_help,    NULL};

static void usage(FILE *to) {
    fprintf(to, "seqmix %s (%s)\n", SMX_VERSION, smx_isa());
    for (size_t i = 0; cli_commands[i]; i++)
        fprintf(to, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->help);
    fprintf(to, "seqmix help COMMAND tells its options, seqmix help the config language.\n"
                "SMX_ISA=NAME forces an instruction set.\n");
}

// A text of equations: bytes without a zero among them; a byte order mark before it is passed over.
static char *read_text(const char *path) {
    size_t size;
    char *bytes = cli_read_file(path, &size);
    if (!bytes) return NULL;
    bytes[size] = 0; // there is room for it
    if (strlen(bytes) == size && size <= 8192) {
        const size_t mark = strncmp(bytes, "\xef\xbb\xbf", 3) ? 0 : 3;
        memmove(bytes, bytes + mark, size + 1 - mark);
        return bytes;
    }
    cli_fail("%s is no text of at most 8192 bytes", path);
    free(bytes);
    return NULL;
}

// A full disk or a closed pipe behind standard output is a failure, too.
static int run_command(const cli_command *c, int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            cli_print_help(c);
            return 0;
        }
    char *with_files[16] = {NULL}; // arguments in which eq=@FILE is written out
    int n = 0, status = 0;
    for (int i = 0; i < argc && !status; i++) {
        if (!strstr(argv[i], "eq=@") || n == 16) continue;
        if ((with_files[n] = pairs_with_files(argv[i], "eq", read_text)))
            argv[i] = with_files[n++];
        else
            status = 2;
    }
    if (!status) status = c->run(argc, argv);
    while (n > 0) free(with_files[--n]);
    if (fflush(stdout) || ferror(stdout))
        return cli_fail("standard output cannot be written: %s", strerror(errno));
    return status;
}

static int find_command(int argc, char **argv) {
    cli_commands = commands;
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
    char names[256] = "";
    for (size_t i = 0; cli_commands[i]; i++) {
        if (!strcmp(argv[1], cli_commands[i]->name)) {
            if (ranks_all() && cli_commands[i] != &cli_train)
                return cli_fail("several processes share a training: only seqmix-mpi train takes them, "
                                "seqmix-mpi %s runs alone",
                                argv[1]);
            return run_command(cli_commands[i], argc - 2, argv + 2);
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 cli_commands[i]->name);
    }
    return cli_fail("there is no command '%.60s'; it must be one of %s", argv[1], names);
}

int main(int argc, char **argv) {
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); // a file that grows past its limit is one that cannot be written, and says so
#endif
    ranks_start(&argc, &argv);
    return ranks_end(find_command(argc, argv));
}
