/* SPDX-License-Identifier: MIT */
/* The loops with AVX2, and with BMI2, which shifts by any register and cuts bits off. */
#include "block_loops.h"
#include "src/base/cpu_features.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE void widen(uint16_t *to, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(from + i));
        _mm_storeu_si128((__m128i *)(void *)(to + i), _mm_cvtepu8_epi16(bytes));
    }
}

/* A sequence moves the last offsets by one shuffle. */
typedef __m128i last_offsets;

TARGET INLINE last_offsets load_offsets(const struct repeat_offsets *repeat_offsets)
{
    return _mm_set_epi32(0, (int)repeat_offsets->offset[2], (int)repeat_offsets->offset[1],
                         (int)repeat_offsets->offset[0]);
}

TARGET INLINE struct repeat_offsets store_offsets(last_offsets last)
{
    return (struct repeat_offsets){{(uint32_t)_mm_extract_epi32(last, 0),
                                    (uint32_t)_mm_extract_epi32(last, 1),
                                    (uint32_t)_mm_extract_epi32(last, 2)}};
}

/* Bytes of a lane. */
#define LANE(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3

TARGET INLINE uint32_t take_offset(last_offsets *last, uint32_t value, bool no_literals)
{
    /* The lane that each of the three comes from; lane 3 has a new offset, or the first less
     * one. */
    static const _Alignas(16) uint8_t moves[5][16] = {{LANE(0), LANE(1), LANE(2), LANE(3)},
                                                      {LANE(1), LANE(0), LANE(2), LANE(3)},
                                                      {LANE(2), LANE(0), LANE(1), LANE(3)},
                                                      {LANE(3), LANE(0), LANE(1), LANE(3)},
                                                      {LANE(3), LANE(0), LANE(1), LANE(3)}};
    static const _Alignas(16) uint32_t is_less[5][4] = {{0}, {0}, {0}, {0, 0, 0, UINT32_MAX}, {0}};
    uint32_t is_new = 0 - (uint32_t)(value > 3);
    __asm__("" : "+r"(is_new)); /* hidden from compilers, which would make a branch of it */
    const uint32_t which = (is_new & 4) | (~is_new & (value - 1 + no_literals));
    const __m128i less = _mm_add_epi32(_mm_shuffle_epi32(*last, 0), _mm_set1_epi32(-1));
    __m128i all = _mm_insert_epi32(*last, (int)(value - 3), 3);
    all = _mm_blendv_epi8(all, less, _mm_load_si128((const __m128i *)(const void *)is_less[which]));
    *last = _mm_shuffle_epi8(all, _mm_load_si128((const __m128i *)(const void *)moves[which]));
    return (uint32_t)_mm_cvtsi128_si32(*last);
}

#include "deflate_loop.h"
#include "execute_loop.h"
#include "zstd_loop.h"

/* --- finding blocks of deflate --- */

#define LANES 32
typedef __m256i lanes;

TARGET INLINE lanes lanes_load(const unsigned char *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

TARGET INLINE void lanes_store(uint8_t *to, lanes from)
{
    _mm256_storeu_si256((__m256i *)(void *)to, from);
}

TARGET INLINE lanes lanes_add(lanes a, lanes b)
{
    return _mm256_adds_epu8(a, b);
}

/* There is no shift of bytes: words are shifted, of even lanes and of odd ones. */
TARGET INLINE lanes lanes_bits(lanes low, lanes high, int n)
{
    const lanes even = _mm256_set1_epi16(255);
    return _mm256_or_si256(_mm256_and_si256(even, _mm256_srli_epi16(low, n)),
                           _mm256_andnot_si256(even, _mm256_slli_epi16(high, 8 - n)));
}

TARGET INLINE lanes lanes_fill(lanes bits)
{
    const lanes fills = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    return _mm256_shuffle_epi8(fills, _mm256_and_si256(bits, _mm256_set1_epi8(7)));
}

TARGET INLINE lanes lanes_choose(lanes no, lanes yes, lanes is)
{
    return _mm256_blendv_epi8(no, yes, is);
}

TARGET INLINE uint64_t lanes_equal(lanes a, uint8_t bits, uint8_t value)
{
    const lanes some = _mm256_and_si256(a, _mm256_set1_epi8((char)bits));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(some, _mm256_set1_epi8((char)value)));
}

#include "search_loop.h"

static bool avx2_runs_here(void)
{
    return cpu_has(AVX2, "avx2") && cpu_has(BMI1, "bmi") && cpu_has(BMI2, "bmi2") &&
           cpu_has(POPCNT, "popcnt");
}

const struct block_loops block_loops_avx2 = {
    .name = "avx2",
    .runs_here = avx2_runs_here,
    .read_stream = read_stream,
    .read_streams = read_streams,
    .parse_sequences = parse_sequences,
    .find_precodes = find_precodes,
    .parse_symbols = parse_symbols,
    .execute = execute,
    .execute_some = execute_some,
    .execute_symbols = execute_symbols,
    .make_list = make_list,
};

static bool avx2_and_avx512_run_here(void)
{
    return avx2_runs_here() && avx512_runs_here();
}

const struct block_loops block_loops_avx512 = {
    .name = "avx512",
    .runs_here = avx2_and_avx512_run_here,
    .read_stream = read_stream,
    .read_streams = read_streams,
    .parse_sequences = parse_sequences,
    .find_precodes = find_precodes_avx512,
    .parse_symbols = parse_symbols,
    .execute = execute,
    .execute_some = execute_some,
    .execute_symbols = execute_symbols,
    .make_list = make_list,
};

#endif
