/* SPDX-License-Identifier: MIT */
/* terminal [-c] COLUMNS COMMAND [ARGUMENT]...: runs the command with standard output on a terminal
 * of so many columns, and copies what it shows there to its own standard output, byte for byte. Its
 * exit status is the command's. -c: types Ctrl-C there as soon as something is shown, which
 * interrupts the command and all that it has started. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int terminal_broken(const char *what)
{
    perror(what);
    return 99;
}

/* The descriptor of a new terminal's slave side, or -1. */
static int open_slave(int master, unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    struct termios settings;
    if (grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0 || tcgetattr(slave, &settings) != 0)
        return -1;
    settings.c_oflag &= ~(tcflag_t)OPOST; /* newlines stay as they are */
    settings.c_lflag &= ~(tcflag_t)ECHO;
    if (tcsetattr(slave, TCSANOW, &settings) != 0 || ioctl(slave, TIOCSWINSZ, &size) != 0)
        return -1;
    return slave;
}

/* Copies until the last writer has closed the terminal, which is then an error to read. */
static int copy_screen(int master, bool interrupts)
{
    char bytes[4096];
    ssize_t some;
    while ((some = read(master, bytes, sizeof bytes)) > 0) {
        if (fwrite(bytes, 1, (size_t)some, stdout) != (size_t)some)
            return -1;
        if (interrupts && write(master, "\003", 1) != 1)
            return -1;
        interrupts = false;
    }
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    int status, master = posix_openpt(O_RDWR | O_NOCTTY);
    const bool interrupts = argc > 1 && strcmp(argv[1], "-c") == 0;
    argc -= interrupts;
    argv += interrupts;
    if (argc < 3)
        return 99;
    int slave = master < 0 ? -1 : open_slave(master, (unsigned short)strtoul(argv[1], NULL, 10));
    if (slave < 0)
        return terminal_broken("terminal");
    pid_t child = fork();
    if (child < 0)
        return terminal_broken("fork");
    if (child == 0) {
        if (interrupts && (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) != 0))
            _exit(terminal_broken("a terminal of its own"));
        dup2(slave, STDOUT_FILENO);
        close(slave);
        close(master);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(99);
    }
    close(slave);
    if (copy_screen(master, interrupts) != 0)
        return terminal_broken("standard output");
    if (waitpid(child, &status, 0) != child)
        return terminal_broken("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
