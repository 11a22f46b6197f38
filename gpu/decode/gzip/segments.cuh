// SPDX-License-Identifier: MIT
// The segments of a batch of gzip, after place.cuh.
#ifndef GPUHISTO_GPU_GZIP_SEGMENTS_CUH
#define GPUHISTO_GPU_GZIP_SEGMENTS_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/decode/batch.h"
}

static __device__ inline unsigned gzip_segment_count(const decode_batch &batch)
{
    return batch.outcome[batch.counts->blocks - 1].content_at / GZIP_SEGMENT + 1;
}

// Returns where the content of the index-th segment begins; for the number of segments, where all
// content ends.
static __device__ inline unsigned gzip_segment_begin(const decode_batch &batch, unsigned index,
                                                     unsigned count)
{
    return index < count ? batch.outcome[batch.gzip.segments[index]].content_at
                         : batch.verdict->content;
}

#endif
