// SPDX-License-Identifier: MIT
// The stage order of gzip: units that the chain has taken become blocks, in the order of the
// content.
//
// Takes units and the parts that are chained; gives what the stages after it need of each block:
// block, heading and outcome. If the chain refuses the batch, it has one block, which is refused.
//
// A thread takes a unit. No shared memory.
#ifndef GPUHISTO_GZIP_ORDER_CUH
#define GPUHISTO_GZIP_ORDER_CUH

#include "gpu/decode/stages.h"

constexpr unsigned GZIP_ORDER_THREADS = 256;

static inline unsigned gzip_order_grid(const struct decode_batch *batch, unsigned resident)
{
    const unsigned max = batch->gzip.units_max / GZIP_ORDER_THREADS + 1;
    return max < resident ? max : resident;
}

// Makes the index-th block of a unit. The host makes blocks only where stages do not count them, so
// others may not write them.
static __device__ inline void gzip_order_unit(const decode_batch &batch, unsigned index,
                                              unsigned frame, const gzip_unit &unit,
                                              unsigned refusal)
{
    decode_block *const block = const_cast<decode_block *>(batch.block) + index;
    decode_heading *const heading = batch.heading + index;
    decode_outcome *const outcome = batch.outcome + index;
    // The literals of a compressed block are at room_at.
    *block = {0,
              0,
              unit.content,
              unit.literals_at,
              frame,
              unit.is_stored ? unsigned{DECODE_RAW} : unsigned{DECODE_COMPRESSED},
              unit.sequences_at};
    heading->literals_type = unit.is_stored ? DECODE_LITERALS_RAW : DECODE_LITERALS_PACKED;
    heading->literals = unit.literals;
    heading->literals_at = unit.literals_at;
    heading->sequences = unit.sequences;
    outcome->refusal = refusal;
    outcome->content = unit.content;
    outcome->after = {{0, 1, 2}, {0, 0, 0}}; // no offset of deflate is repeated
}

static __global__ void __launch_bounds__(GZIP_ORDER_THREADS) gzip_order(decode_batch batch)
{
    const gzip_batch &gzip = batch.gzip;
    const gzip_counters &counters = *gzip.counters;
    const unsigned thread = blockIdx.x * GZIP_ORDER_THREADS + threadIdx.x;
    if (counters.refusal != DECODE_TAKEN) {
        if (thread == 0)
            gzip_order_unit(batch, 0, 0, {}, counters.refusal);
        return;
    }
    const unsigned units = min(counters.units, gzip.units_max);
    for (unsigned i = thread; i < units; i += gridDim.x * GZIP_ORDER_THREADS) {
        const gzip_unit unit = gzip.units[i];
        const gzip_part &part = gzip.parts[unit.part];
        if (part.is_chained)
            gzip_order_unit(batch, part.first + unit.ordinal, part.frame, unit, DECODE_TAKEN);
    }
}

#endif
