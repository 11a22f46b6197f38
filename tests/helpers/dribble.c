/* SPDX-License-Identifier: MIT */
/* Standard input to standard output in small writes: dribble [-n BYTES] [-u MICROSECONDS]
 * BYTES (1) at a time, with a pause after each. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    size_t size = 1;
    long pause = 0;
    for (int option; (option = getopt(argc, argv, "n:u:")) != -1;) {
        if (option == 'n')
            size = strtoul(optarg, NULL, 10);
        else if (option == 'u')
            pause = atol(optarg);
        else
            return 2;
    }
    if (size < 1 || size > sizeof buffer)
        return 2;
    for (;;) {
        ssize_t got = read(STDIN_FILENO, buffer, size);
        if (got <= 0)
            return got < 0;
        if (write(STDOUT_FILENO, buffer, (size_t)got) != got)
            return 1;
        if (pause)
            nanosleep(&(struct timespec){pause / 1000000, pause % 1000000 * 1000}, NULL);
    }
}
