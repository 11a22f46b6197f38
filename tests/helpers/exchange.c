/* SPDX-License-Identifier: MIT */
/* Exchanges two names, again and again, until it is killed: exchange NAME NAME. Prints a
 * line when it has begun. For tests of what
 * another user may do to a name while it is looked up. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXCHANGE 2u /* RENAME_EXCHANGE, which not every libc knows */

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (int times = 0; syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], EXCHANGE) == 0;
         times = 1)
        if (times == 0 && write(STDOUT_FILENO, "begun\n", 6) != 6)
            return 1;
    perror("renameat2");
    return 1;
}
