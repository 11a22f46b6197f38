/* SPDX-License-Identifier: MIT */
#include "block_loops.h"

#include <string.h>

const struct block_loops *const block_loops[] = {
#if defined __x86_64__ && defined __GNUC__
    &block_loops_avx2,
#endif
    &block_loops_portable,
    NULL,
};

const struct block_loops *block_loops_find(const char *kernels)
{
    const struct block_loops *const *loops = block_loops;
    if (kernels && strcmp(kernels, block_loops_portable.name) == 0)
        return &block_loops_portable;
    while (!(*loops)->runs_here())
        loops++;
    return *loops;
}
