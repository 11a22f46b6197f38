/* SPDX-License-Identifier: MIT */
#include "tests/helpers/guarded.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned char *guarded_memory(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
    unsigned char *pages =
        mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, page, PROT_NONE) != 0 ||
        mprotect(pages + page + whole, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    return pages + page + (whole - size);
}
