/* SPDX-License-Identifier: MIT */
#include "tests/helpers/apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(1);
}

void *apart_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    return memory;
}

void apart(void (*work)(const void *arg), const void *arg)
{
    int status;
    fflush(NULL); /* or the child prints again what is yet to be written */
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        work(arg);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        die("waitpid");
    if (status != 0) {
        fprintf(stderr, "FAIL: a part of the test ended with wait status %#x\n", (unsigned)status);
        exit(1);
    }
}
