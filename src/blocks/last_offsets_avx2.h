/* SPDX-License-Identifier: MIT */
/* The last offsets, in a vector, with the functions of last_offsets_portable.h: a sequence moves
 * them by one shuffle. */

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
