/* SPDX-License-Identifier: MIT */
/* The loops with AVX2, and with BMI2, which shifts by any register and cuts bits off. */
#include "block_loops.h"

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

/* --- finding blocks of deflate ---
 *
 * Complete precodes are found at all bits of a stream at once. Lane j of a vector stands for byte
 * j, and each of the eight bits of a byte has a row of lanes, so every bit has a lane. The lane for
 * a later bit is in another row, or some lanes further.
 *
 * A length of n bits fills PRECODE_SPACE >> n. Rows say how much is filled by the length that
 * begins at a bit, by two lengths, by four and by eight. A precode has four lengths, and up to
 * fifteen more: the bits of that number say whether one, two, four and eight of them are there.
 * Sums saturate. */

#define LANES 32
#define PRECODE_SPACE 128
#define ROW 256      /* lanes; the last vector only has what follows the others */
#define ROW_SLACK 64 /* lanes behind it that are read, and do not matter */
#define FIRST_BITS 7 /* of a block: with these it is not the last, and dynamic */
#define FIRST_BITS_ARE 4

typedef __m256i lanes;
typedef uint8_t rows[8][ROW + ROW_SLACK];

/* The rows of a piece of the stream. */
struct precode_rows {
    rows bits;    /* the eight bits that begin at each bit */
    rows sums[4]; /* of one length, two, four and eight */
};

TARGET INLINE lanes lanes_load(const unsigned char *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

TARGET INLINE void lanes_store(uint8_t *to, lanes from)
{
    _mm256_storeu_si256((__m256i *)(void *)to, from);
}

/* Returns lanes from `at` on, for what is `bit` bits behind the first bit of each byte. */
TARGET INLINE lanes lanes_at(const rows of, unsigned bit, size_t at)
{
    return lanes_load(&of[bit % 8][at + bit / 8]);
}

/* Sets `end` lanes of all rows; reads a byte more. */
TARGET INLINE void set_rows(struct precode_rows *to, const unsigned char *bytes, size_t end)
{
    const lanes fills = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    const lanes length = _mm256_set1_epi8(7), even = _mm256_set1_epi16(255);
    for (size_t at = 0; at < end; at += LANES) {
        const lanes low = lanes_load(bytes + at), high = lanes_load(bytes + at + 1);
#pragma GCC unroll 8
        for (int bit = 0; bit < 8; bit++) {
            /* There is no shift of bytes: words are shifted, of even lanes and of odd ones. */
            const lanes bits =
                _mm256_or_si256(_mm256_and_si256(even, _mm256_srli_epi16(low, bit)),
                                _mm256_andnot_si256(even, _mm256_slli_epi16(high, 8 - bit)));
            lanes_store(&to->bits[bit][at], bits);
            lanes_store(&to->sums[0][bit][at],
                        _mm256_shuffle_epi8(fills, _mm256_and_si256(bits, length)));
        }
    }
    for (unsigned i = 0; i < 3; i++)
#pragma GCC unroll 8
        for (unsigned bit = 0; bit < 8; bit++)
            for (size_t at = 0; at < end; at += LANES)
                lanes_store(&to->sums[i + 1][bit][at],
                            _mm256_adds_epu8(lanes_at(to->sums[i], bit, at),
                                             lanes_at(to->sums[i], bit + (3u << i), at)));
}

/* Adds what 1 << i lengths fill, behind those that the lower bits of their number say are there, if
 * is[i] says that these are, too. Of `is` only the highest bit of each lane counts. */
TARGET INLINE lanes add_lengths(lanes sum, const struct precode_rows *of, unsigned i,
                                const lanes *is, unsigned bit, size_t at)
{
    lanes sums[8];
#pragma GCC unroll 8
    for (unsigned before = 0; before < 8; before++) /* of which 1 << i are used */
        sums[before] = lanes_at(of->sums[i], bit + 3 * before, at);
#pragma GCC unroll 3
    for (unsigned chosen = 0; chosen < i; chosen++)
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; j++)
            sums[j] = _mm256_blendv_epi8(sums[2 * j], sums[2 * j + 1], is[chosen]);
    return _mm256_adds_epu8(sum, _mm256_blendv_epi8(_mm256_setzero_si256(), sums[0], is[i]));
}

/* Returns a bit for each lane: a block may begin with this bit of its byte, as far as its type and
 * its precode say. */
TARGET INLINE uint32_t complete_lanes(const struct precode_rows *of, unsigned bit, size_t at)
{
    const unsigned precode = bit + DEFLATE_HEADER_SIZE;
    const lanes first = _mm256_and_si256(lanes_at(of->bits, bit, at), _mm256_set1_epi8(FIRST_BITS));
    lanes is[4], sum = lanes_at(of->sums[2], precode, at);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        is[i] = lanes_at(of->bits, precode - 4 + i - 7, at);
        sum = add_lengths(sum, of, i, is, precode + 3 * 4, at);
    }
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_and_si256(_mm256_cmpeq_epi8(sum, _mm256_set1_epi8((char)PRECODE_SPACE)),
                         _mm256_cmpeq_epi8(first, _mm256_set1_epi8(FIRST_BITS_ARE))));
}

/* Adds the bits of LANES bytes, from bit `from` on, with which blocks may begin. */
TARGET INLINE unsigned add_found(const struct deflate_input *input, const struct precode_rows *in,
                                 size_t at, uint64_t from, uint64_t to, uint64_t *found)
{
    uint32_t complete[8], any = 0;
    unsigned count = 0;
#pragma GCC unroll 8
    for (unsigned bit = 0; bit < 8; bit++)
        any |= complete[bit] = complete_lanes(in, bit, at);
    for (; any > 0; any &= any - 1)
        for (unsigned lane = (unsigned)__builtin_ctz(any), bit = 0; bit < 8; bit++) {
            const uint64_t here = from + 8 * (uint64_t)lane + bit, word = deflate_bits(input, here);
            const bool has_counts = (word >> 4 & 15) < 15 && (word >> 9 & 15) < 15;
            if ((complete[bit] >> lane & 1) && here < to && has_counts)
                found[count++] = here;
        }
    return count;
}

TARGET static unsigned find_precodes(const struct deflate_input *input, uint64_t *from, uint64_t to,
                                     uint64_t *found)
{
    struct precode_rows in;
    unsigned char copy[ROW + LANES] = {0};
    unsigned count = 0;
    while (*from < to && count == 0) {
        const unsigned char *bytes = input->bytes + *from / 8;
        const size_t readable = (size_t)(input->bits - *from) / 8 + DEFLATE_SLACK,
                     tried = (size_t)(to - *from + 7) / 8,
                     end = tried < ROW - LANES ? (tried + LANES - 1) / LANES * LANES : ROW - LANES;
        if (readable <= end + LANES)
            bytes = memcpy(copy, bytes, readable);
        set_rows(&in, bytes, end + LANES);
        for (size_t at = 0; at < end; at += LANES)
            count += add_found(input, &in, at, *from + 8 * at, to, found + count);
        *from += 8 * end;
    }
    return count;
}

static bool avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
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

#endif
