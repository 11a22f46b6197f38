/* SPDX-License-Identifier: MIT */
/* Memory without which a test cannot go on. */
#ifndef GPUHISTO_TESTS_NEED_H
#define GPUHISTO_TESTS_NEED_H

#include <stdio.h>
#include <stdlib.h>

/* Gives back what an allocation gave; ends the test if that is NULL. */
static inline void *need(void *memory)
{
    if (!memory) {
        fputs("the test is out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

#endif
