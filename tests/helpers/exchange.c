/* Exchanges two names, again and again, until it is killed: exchange NAME NAME. For tests of what
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
    while (syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], EXCHANGE) == 0)
        ;
    perror("renameat2");
    return 1;
}
