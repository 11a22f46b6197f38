/* SPDX-License-Identifier: MIT */
#include "block_loops.h"

#include <string.h>

const struct block_loops *const block_loops[] = {
#if defined __x86_64__ && defined __GNUC__
    &block_loops_avx512,
    &block_loops_avx2,
#endif
    &block_loops_portable,
    NULL,
};

const struct block_loops *block_loops_find(const char *kernels)
{
    const struct block_loops *const *first = block_loops;
    while (kernels && *first && strcmp((*first)->name, kernels) != 0)
        first++;
    if (!kernels || !*first)
        first = block_loops;
    while (!(*first)->runs_here())
        first++;
    return *first;
}
