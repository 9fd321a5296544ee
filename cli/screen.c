// screen.c: the terminal.
#include "cli.h"

#include <sys/ioctl.h>
#include <unistd.h>

int cli_columns(void) {
    struct winsize screen = {0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &screen) ? 0 : screen.ws_col;
}
