/* SPDX-License-Identifier: MIT */
/* Runs a command as a shell cannot: with_stdin HOW COMMAND [ARGUMENT]...
 *
 *     nonblock  standard input's O_NONBLOCK is set: reads of an empty pipe give EAGAIN
 *     socket    standard input is a socket that what this program reads is sent to
 *     slow      standard output's O_NONBLOCK is set: writes to a full pipe give EAGAIN
 *     default   no signal is ignored, as a shell ignores SIGINT in the background, and as programs
 *               that run tests ignore others */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char *what)
{
    perror(what);
    return 126;
}

static int set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Never returns: copies standard input to fd. */
static void feed(int fd)
{
    char buffer[4096];
    for (ssize_t got; (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0;)
        if (write(fd, buffer, (size_t)got) != got)
            _exit(1);
    _exit(0);
}

static int use_socket(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        feed(ends[1]);
    }
    close(ends[1]);
    if (child < 0 || dup2(ends[0], STDIN_FILENO) < 0)
        return -1;
    return close(ends[0]);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "nonblock") == 0) {
        if (set_nonblocking(STDIN_FILENO) != 0)
            return fail("fcntl");
    } else if (strcmp(argv[1], "slow") == 0) {
        if (set_nonblocking(STDOUT_FILENO) != 0)
            return fail("fcntl");
    } else if (strcmp(argv[1], "socket") == 0) {
        if (use_socket() != 0)
            return fail("socketpair");
    } else if (strcmp(argv[1], "default") == 0) {
        for (int number = 1; number <= SIGRTMAX; number++)
            signal(number, SIG_DFL);
    } else {
        return 2;
    }
    execvp(argv[2], argv + 2);
    return fail(argv[2]);
}
