/* SPDX-License-Identifier: MIT */
/* read_only [FILE]: reads standard input (a pipe is enlarged to 1 MiB) or FILE to its end, in
 * pieces of 256 KiB, and does nothing else: no filter with one thread can be faster. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char buffer[256 << 10];
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
    (void)fcntl(fd, F_SETPIPE_SZ, 1 << 20);
    unsigned long long bytes = 0;
    ssize_t got;
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        bytes += (unsigned long long)got;
    if (got < 0)
        perror("read_only");
    printf("%llu\n", bytes);
    return got < 0;
}
