// commands.c: the commands that the program has not on Windows.
#include "cli/cli.h"

#define NOT_HERE(command)                                                                                    \
    static int run_##command(int argc, char **argv) {                                                        \
        (void)argc, (void)argv;                                                                              \
        return cli_fail(#command ": not on Windows; the program for Linux has it, which runs in Windows' "   \
                                 "Subsystem for Linux");                                                     \
    }                                                                                                        \
    const cli_command cli_##command = {.name = #command, .help = "not on Windows", .run = run_##command};
NOT_HERE(bench)
NOT_HERE(grid)
NOT_HERE(job)
NOT_HERE(watch)
NOT_HERE(reproduce)
