/* SPDX-License-Identifier: MIT */
/* Masks of 64 bytes, with a bit for each, by instructions that every processor of this kind has. */
#ifndef GPUHISTO_BYTE_MASKS_H
#define GPUHISTO_BYTE_MASKS_H

#include "byte_word.h"

/* BYTE_MASKS_BY_WORDS lets a test try what other processors use. */
#if defined __SSE2__ && !defined BYTE_MASKS_BY_WORDS
#include <emmintrin.h>

/* Returns a bit for each of the 64 bytes at `at`: 1 if it equals `byte`. */
static inline uint64_t byte_mask_equal(const unsigned char *at, unsigned char byte)
{
    const __m128i all = _mm_set1_epi8((char)byte);
    uint64_t mask = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const void *)(at + i)), all);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(equal) << i;
    }
    return mask;
}

/* Returns a bit for each of 64 bytes: 1 if it is at most `byte`, which is below 0x80. */
static inline uint64_t byte_mask_up_to(const unsigned char *at, unsigned char byte)
{
    const __m128i all = _mm_set1_epi8((char)byte);
    uint64_t mask = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i bytes = _mm_loadu_si128((const void *)(at + i));
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, all), bytes);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(low) << i;
    }
    return mask;
}

/* Returns bit `bit`, 0 to 7, of each of 64 bytes. */
static inline uint64_t byte_mask_bit(const unsigned char *at, int bit)
{
    uint64_t mask = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i shifted = _mm_slli_epi16(_mm_loadu_si128((const void *)(at + i)), 7 - bit);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(shifted) << i;
    }
    return mask;
}

#elif defined __aarch64__ && defined __ARM_NEON && !defined BYTE_MASKS_BY_WORDS &&                 \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>

/* Returns the bytes of four vectors, each of which is all bits or none, as a mask. */
static inline uint64_t byte_mask_of_vectors(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t low = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
    const uint8x16_t high = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
    const uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline uint64_t byte_mask_equal(const unsigned char *at, unsigned char byte)
{
    const uint8x16_t all = vdupq_n_u8(byte);
    return byte_mask_of_vectors(vceqq_u8(vld1q_u8(at), all), vceqq_u8(vld1q_u8(at + 16), all),
                                vceqq_u8(vld1q_u8(at + 32), all), vceqq_u8(vld1q_u8(at + 48), all));
}

static inline uint64_t byte_mask_up_to(const unsigned char *at, unsigned char byte)
{
    const uint8x16_t all = vdupq_n_u8(byte);
    return byte_mask_of_vectors(vcleq_u8(vld1q_u8(at), all), vcleq_u8(vld1q_u8(at + 16), all),
                                vcleq_u8(vld1q_u8(at + 32), all), vcleq_u8(vld1q_u8(at + 48), all));
}

static inline uint64_t byte_mask_bit(const unsigned char *at, int bit)
{
    const uint8x16_t all = vdupq_n_u8((uint8_t)(1u << bit));
    return byte_mask_of_vectors(vtstq_u8(vld1q_u8(at), all), vtstq_u8(vld1q_u8(at + 16), all),
                                vtstq_u8(vld1q_u8(at + 32), all), vtstq_u8(vld1q_u8(at + 48), all));
}

#else

/* Returns the highest bits of the eight bytes of word i, as part of a mask. */
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

/* The byte is below 0x80. */
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

static inline uint64_t byte_mask_bit(const unsigned char *at, int bit)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++)
        mask |= byte_mask_of_word(byte_word(at + 8 * i) << (7 - bit), i);
    return mask;
}

#endif

/* Returns how many bits are set. Without such an instruction, compilers call a function. */
static inline unsigned mask_count(uint64_t bits)
{
#if defined __POPCNT__ || defined __aarch64__
    return (unsigned)__builtin_popcountll(bits);
#else
    bits -= bits >> 1 & EACH_BYTE(0x55);
    bits = (bits & EACH_BYTE(0x33)) + (bits >> 2 & EACH_BYTE(0x33));
    bits = (bits + (bits >> 4)) & EACH_BYTE(0x0f);
    return (unsigned)(bits * EACH_BYTE(1) >> 56);
#endif
}

/* Returns where a byte is first in [at, end), or end. */
static inline const unsigned char *byte_find(const unsigned char *at, const unsigned char *end,
                                             unsigned char byte)
{
    const unsigned char *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

/* Returns how many of data[0..len) are this byte. */
static inline uint64_t byte_count(const unsigned char *data, size_t len, unsigned char byte)
{
    uint64_t count = 0;
    size_t at = 0;
    for (; len - at >= 64; at += 64)
        count += mask_count(byte_mask_equal(data + at, byte));
    for (; at < len; at++)
        count += data[at] == byte;
    return count;
}

/* Writes the numbers of the bits that are set, each plus `offset`, to to[0..64), in ascending
 * order; what comes after them is overwritten, too. Four at a time, as how many there are cannot be
 * predicted. */
static inline void mask_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    while (bits) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++, bits &= bits - 1)
            to[i] = (uint16_t)(offset + (unsigned)__builtin_ctzll(bits | UINT64_C(1) << 63));
        to += 4;
    }
}

/* Returns the highest bit alone; the lowest bit if none is set. */
static inline uint64_t mask_highest(uint64_t bits)
{
    return UINT64_C(1) << (63 - __builtin_clzll(bits | 1));
}

/* Returns for each bit the parity of the bits up to it. */
static inline uint64_t mask_parity(uint64_t bits)
{
    for (unsigned by = 1; by < 64; by *= 2)
        bits ^= bits << by;
    return bits;
}

#endif
