/* Masks of 64 bytes, a bit for each, with the instructions that every processor of this kind has.
 */
#ifndef GPUHISTO_BYTE_MASKS_H
#define GPUHISTO_BYTE_MASKS_H

#include "byte_word.h"

/* BYTE_MASKS_BY_WORDS: a test wants what other processors take. */
#if defined __SSE2__ && !defined BYTE_MASKS_BY_WORDS
#include <emmintrin.h>

/* A bit for each of the 64 bytes at `at` that is this one. */
static inline uint64_t byte_mask_equal(const unsigned char *at, unsigned char byte)
{
    const __m128i all = _mm_set1_epi8((char)byte);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const void *)(at + i)), all);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(equal) << i;
    }
    return mask;
}

/* A bit for each of them that is this one or less. */
static inline uint64_t byte_mask_up_to(const unsigned char *at, unsigned char byte)
{
    const __m128i all = _mm_set1_epi8((char)byte);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i bytes = _mm_loadu_si128((const void *)(at + i));
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, all), bytes);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(low) << i;
    }
    return mask;
}

#else

/* The highest bits of the eight bytes of word i, as part of a mask. */
static inline uint64_t byte_mask_of_word(uint64_t bytes, unsigned i)
{
    const uint64_t lowest = (bytes & EACH_BYTE(0x80)) >> 7;
    return (lowest * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
}

static inline uint64_t byte_mask_equal(const unsigned char *at, unsigned char byte)
{
    const uint64_t low = EACH_BYTE(0x7f);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t other = byte_word(at + 8 * i) ^ EACH_BYTE(byte);
        mask |= byte_mask_of_word(~(((other & low) + low) | other), i);
    }
    return mask;
}

/* For a byte below 0x80. */
static inline uint64_t byte_mask_up_to(const unsigned char *at, unsigned char byte)
{
    const uint64_t low = EACH_BYTE(0x7f);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t word = byte_word(at + 8 * i);
        mask |= byte_mask_of_word(~(((word & low) + EACH_BYTE(0x7fu - byte)) | word), i);
    }
    return mask;
}

#endif

/* Each bit is the parity of those up to it. */
static inline uint64_t mask_parity(uint64_t bits)
{
    for (unsigned by = 1; by < 64; by *= 2)
        bits ^= bits << by;
    return bits;
}

#endif
