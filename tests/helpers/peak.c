/* SPDX-License-Identifier: MIT */
/* peak FILE COMMAND...: runs the command, writes the most memory that it had (KiB) to FILE, and
 * ends with its exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    struct rusage usage;
    FILE *file = fopen(argv[1], "w");
    if (child < 0 || !file || wait4(child, &status, 0, &usage) != child)
        return 99;
    fprintf(file, "%ld\n", usage.ru_maxrss);
    return fclose(file) == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
