// matched: one histogram in global memory, to which a warp adds each of its bins once.
//
// For more bins than shared memory holds. The lanes of a warp find out which of them have the same
// bin, and one of these adds for all. However few bins the data have, a warp's 32 samples then are
// at least as many additions to different counters as there are bins among them, so that no counter
// is asked for more than once for 32 samples where it is the only one.
#ifndef GPUHISTO_MATCHED_CUH
#define GPUHISTO_MATCHED_CUH

#include "gpu/counting.cuh"

// Every lane of the warp comes here, those without a sample with no_bin.
static __device__ __forceinline__ void add_matched(const count_args &args, unsigned bin)
{
    const unsigned alike = __match_any_sync(0xffffffffu, bin);
    if (bin != no_bin &&
        static_cast<unsigned>(__ffs(static_cast<int>(alike))) == threadIdx.x % 32 + 1)
        atomicAdd(&args.counts[bin], static_cast<unsigned long long>(__popc(alike)));
}

template <class Samples> __global__ void matched(count_args args)
{
    const vector_span span = vectors_of(args);
    const unsigned lane = threadIdx.x % 32;
    const unsigned stride = static_cast<unsigned>(grid_threads());
    for (unsigned long long warp = grid_thread() - lane; warp < span.vectors; warp += stride) {
        const bool in = warp + lane < span.vectors;
        const uint4 vector = in ? span.body[warp + lane] : make_uint4(0, 0, 0, 0);
        Samples::each(vector, args.map,
                      [&](unsigned bin) { add_matched(args, in ? bin : no_bin); });
    }
    each_outside<Samples>(args, span, grid_thread(),
                          [&](unsigned bin) { atomicAdd(&args.counts[bin], 1ull); });
}

#endif
