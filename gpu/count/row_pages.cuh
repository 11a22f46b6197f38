// SPDX-License-Identifier: MIT
// Copies the pages of rows in which anything was counted side by side, for a snapshot: row_pages.h.
//
// A warp looks at a page, which is 2 KiB of counts. The first time that it finds a count there, the
// page gets the next place, and keeps it. Blocks of any whole number of warps; no shared memory.
#ifndef GPUHISTO_ROW_PAGES_CUH
#define GPUHISTO_ROW_PAGES_CUH

#include "gpu/count/launch.h"

static __global__ void gather_row_pages(row_pages_args args)
{
    constexpr unsigned each = ROW_PAGE / 32; // counts of a lane
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
    const unsigned page = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    unsigned long long counts[each], any = 0;
    if (page >= args.pages)
        return;
    UNROLL for (unsigned i = 0; i < each; i++)
    {
        counts[i] = args.counts[page * ROW_PAGE + i * 32 + lane];
        any |= counts[i];
    }
    unsigned position = __shfl_sync(all, lane == 0 ? args.positions[page] : 0, 0);
    if (position == 0 && !__any_sync(all, any != 0))
        return;
    if (position == 0) {
        if (lane == 0)
            args.positions[page] = position =
                1 + static_cast<unsigned>(atomicAdd(&args.words[0], 1ull));
        position = __shfl_sync(all, position, 0);
    }
    unsigned long long *const to = args.words + 1 + (position - 1ull) * ROW_PAGE_WORDS;
    if (lane == 0)
        to[0] = page;
    UNROLL for (unsigned i = 0; i < each; i++) to[1 + i * 32 + lane] = counts[i];
}

#endif
