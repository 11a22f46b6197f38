// SPDX-License-Identifier: MIT
// Text of any alignment as vectors, the first and the last of which may lie partly outside.
#ifndef GPUHISTO_TEXT_SPAN_CUH
#define GPUHISTO_TEXT_SPAN_CUH

#include "gpu/count/counting.cuh"

// `begin` and `end` are offsets from the first vector.
struct text_span {
    const uint4 *vectors;
    unsigned begin;
    unsigned long long end;
};

static __device__ __forceinline__ text_span span_of(const count_args &args)
{
    const unsigned begin =
        static_cast<unsigned>(reinterpret_cast<unsigned long long>(args.data) % 16);
    return {reinterpret_cast<const uint4 *>(args.data - begin), begin, begin + args.len};
}

// Returns the vector at an offset, with `blank` for each byte that is outside.
static __device__ __forceinline__ uint4 vector_at(const text_span &span, unsigned long long offset,
                                                  unsigned char blank)
{
    if (offset >= span.begin && offset + 16 <= span.end)
        return span.vectors[offset / 16];
    const unsigned char *const bytes = reinterpret_cast<const unsigned char *>(span.vectors);
    unsigned long long halves[2] = {0, 0};
    for (unsigned i = 16; i-- > 0;) {
        const bool inside = offset + i >= span.begin && offset + i < span.end;
        halves[1] = halves[1] << 8 | halves[0] >> 56;
        halves[0] = halves[0] << 8 | (inside ? bytes[offset + i] : blank);
    }
    return make_uint4(static_cast<unsigned>(halves[0]), static_cast<unsigned>(halves[0] >> 32),
                      static_cast<unsigned>(halves[1]), static_cast<unsigned>(halves[1] >> 32));
}

#endif
