/* SPDX-License-Identifier: MIT */
/* The search for complete precodes with AVX-512. */
#include "block_loops.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw")))
#define INLINE static inline __attribute__((always_inline))

#define LANES 64
typedef __m512i lanes;
typedef __mmask64 condition;

TARGET INLINE lanes lanes_load(const void *from)
{
    return _mm512_loadu_si512(from);
}

TARGET INLINE void lanes_store(void *to, lanes from)
{
    _mm512_storeu_si512(to, from);
}

TARGET INLINE lanes lanes_add(lanes a, lanes b)
{
    return _mm512_adds_epu8(a, b);
}

/* There is no shift of bytes: words are shifted, of even lanes and of odd ones. */
TARGET INLINE lanes lanes_bits(lanes low, lanes high, unsigned n)
{
    const lanes even = _mm512_set1_epi16(255);
    low = _mm512_srlv_epi16(low, _mm512_set1_epi16((short)n));
    high = _mm512_sllv_epi16(high, _mm512_set1_epi16((short)(8 - n)));
    return _mm512_or_si512(_mm512_and_si512(even, low), _mm512_andnot_si512(even, high));
}

TARGET INLINE lanes lanes_fill(lanes bits)
{
    const lanes fills =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    return _mm512_shuffle_epi8(fills, _mm512_and_si512(bits, _mm512_set1_epi8(7)));
}

TARGET INLINE condition lanes_top(lanes bits)
{
    return _mm512_movepi8_mask(bits);
}

TARGET INLINE lanes lanes_if(condition is, lanes yes, lanes no)
{
    return _mm512_mask_blend_epi8(is, no, yes);
}

TARGET INLINE lanes lanes_add_if(condition is, lanes sum, lanes more)
{
    return _mm512_mask_adds_epu8(sum, is, sum, more);
}

TARGET INLINE lanes lanes_and(lanes a, char bits)
{
    return _mm512_and_si512(a, _mm512_set1_epi8(bits));
}

TARGET INLINE uint64_t lanes_equal(lanes a, uint8_t value)
{
    return _mm512_cmpeq_epi8_mask(a, _mm512_set1_epi8((char)value));
}

#include "deflate_loop.h"

bool avx512_runs_here(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

unsigned find_precodes_avx512(const struct deflate_input *input, uint64_t *from, uint64_t to,
                              uint64_t *found)
{
    return find_in_lanes(input, from, to, found);
}

#endif
