#include "tests/helpers/guarded.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)

unsigned char *guarded_memory(size_t size)
{
    unsigned char *pages =
        mmap(NULL, size + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, PAGE, PROT_NONE) != 0 ||
        mprotect(pages + PAGE + size, PAGE, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    return pages + PAGE;
}
