/* SPDX-License-Identifier: MIT */
/* The kernels with AVX2: the parts that the loops of bytes, letters, numbers and characters need
 * for vectors of 32 bytes. */
#include "count.h"
#include "src/base/byte_word.h"
#include "src/base/cpu_features.h"
#include "src/text/field_parser.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2,fma,popcnt")))
#define INLINE static inline __attribute__((always_inline))
#define VECTOR 32
#define PAIRS_VECTOR 32

/* --- bytes and letters --- */

typedef __m256i vector;

struct lookup {
    vector low, high;
};

TARGET INLINE vector sixteen_twice(const uint8_t *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

TARGET INLINE struct lookup lookup_of(const uint8_t *low, const uint8_t *high)
{
    return (struct lookup){sixteen_twice(low), sixteen_twice(high)};
}

/* A lookup returns 0 for an index with its highest bit set, so what is not ASCII is in no class. */
TARGET INLINE vector classes_at(const unsigned char *data, const struct lookup *by)
{
    vector bytes = _mm256_loadu_si256((const __m256i *)(const void *)data);
    vector high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0f));
    return _mm256_and_si256(_mm256_shuffle_epi8(by->low, bytes),
                            _mm256_shuffle_epi8(by->high, high));
}

TARGET INLINE vector add_two(vector *plane, vector a, vector b)
{
    vector half = _mm256_xor_si256(*plane, a);
    vector carry = _mm256_or_si256(_mm256_and_si256(*plane, a), _mm256_and_si256(half, b));
    *plane = _mm256_xor_si256(half, b);
    return carry;
}

/* The last class's bit is the highest. */
TARGET INLINE void add_plane(uint64_t totals[8], vector plane, unsigned weight)
{
    for (unsigned kind = 8; kind-- > 0; plane = _mm256_add_epi8(plane, plane))
        totals[kind] +=
            weight * (uint64_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(plane));
}

/* True if 64 bytes are all below 128. */
TARGET INLINE bool step_is_ascii(const unsigned char *data)
{
    const __m256i *at = (const __m256i *)(const void *)data;
    return _mm256_movemask_epi8(
               _mm256_or_si256(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1))) == 0;
}

#include "count_letters.h"
#include "count_bytes.h"
#define SQUARE_BY_FMA
#define HAS_QUICK_DIGITS
#include "count_numbers.h"
#include "count_characters.h"

/* --- rows of decimal digits --- */

/* As in count_avx512.c, but a register holds the powers of ten of eight decades: the upper word of
 * a double is enough for 1e0 to 1e9. The batch's first value decides which decades these are. */

#define DIGITS_QUICK_MAX 3 /* layouts with more digits are left to another loop */

#define WINDOW_DECADES 8
#define WINDOW_BEFORE 4 /* decades before that of the first value */

/* floor(log10(2^k)) is (k + DECADE_ADDED) * DECADE_FACTOR >> 16, less DECADE_ZERO, for k from -120
 * to 120. */
#define DECADE_ADDED 196
#define DECADE_FACTOR 19728
#define DECADE_ZERO 59

/* Adding it to a number below 2^51 rounds that to a whole number, which is in the low bits. */
#define ROUNDER 0x1.8p52

/* By the decade in the window. The number of a value is about value * guess. A value is at or above
 * a number if value * exact >= number * unit; one of `exact` and `unit` is 1. */
struct window {
    __m256i guess, unit; /* upper words of doubles */
    __m256i begin;       /* the row of number 0 of the decade */
    __m256i first;       /* the first decade plus DECADE_ZERO */
};

TARGET INLINE __m256d word_of_decade(__m256i words, __m256i decade)
{
    const __m256i upper = _mm256_set1_epi64x((long long)0xffffffff00000000);
    return _mm256_castsi256_pd(_mm256_and_si256(_mm256_permutevar8x32_epi32(words, decade), upper));
}

/* Returns the numbers of four values in their decades, in the lower words, and sets *decade in the
 * upper words. Both are 0 for zero. */
TARGET INLINE __m256i numbers_of_four(const struct window *window, __m256d value, __m256i *decade)
{
    const __m256d rounder = _mm256_set1_pd(ROUNDER);
    const __m256i bits = _mm256_castpd_si256(value);
    const __m256d is_zero = _mm256_cmp_pd(value, _mm256_setzero_pd(), _CMP_EQ_OQ);
    const __m256i exponent =
        _mm256_sub_epi32(_mm256_srli_epi32(bits, 20), _mm256_set1_epi32(1023 - DECADE_ADDED));
    const __m256i any = _mm256_sub_epi32(
        _mm256_mulhi_epu16(exponent, _mm256_set1_epi32(DECADE_FACTOR)), window->first);
    *decade = _mm256_andnot_si256(_mm256_castpd_si256(is_zero), any);
    const __m256d guess = word_of_decade(window->guess, *decade);
    const __m256d unit = word_of_decade(window->unit, *decade);
    const __m256d exact = _mm256_max_pd(guess, _mm256_set1_pd(1));
    const __m256d power_of_two = _mm256_and_pd(
        value, _mm256_castsi256_pd(_mm256_set1_epi64x((long long)(UINT64_C(0x7ff) << 52))));
    const __m256d half = _mm256_mul_pd(power_of_two, _mm256_set1_pd(0x1p-53));
    /* The nearest whole number, unless that is above the middle between the value and the next. */
    const __m256d nearest = _mm256_fmadd_pd(value, guess, rounder);
    const __m256d number = _mm256_sub_pd(nearest, rounder);
    __m256d above = _mm256_fnmadd_pd(value, exact, _mm256_mul_pd(number, unit));
    above = _mm256_fnmadd_pd(half, exact, above);
    const __m256d is_above = _mm256_cmp_pd(above, _mm256_setzero_pd(), _CMP_GT_OQ);
    return _mm256_add_epi64(_mm256_castpd_si256(nearest), _mm256_castpd_si256(is_above));
}

TARGET INLINE __m256i words_of(__m256i a, __m256i b, bool upper)
{
    const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    return _mm256_castps_si256(upper ? _mm256_shuffle_ps(x, y, 0xdd)
                                     : _mm256_shuffle_ps(x, y, 0x88));
}

TARGET INLINE bool all_below(__m256i words, int end)
{
    const __m256i last = _mm256_set1_epi32(end - 1);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(words, last), last)) == -1;
}

/* Finds the rows of a batch. False if a value is neither in the window nor zero; its row is
 * undefined. */
TARGET INLINE bool digits_of_batch(const struct digits_layout *layout, const struct window *window,
                                   const double *values, uint32_t *rows)
{
    const __m256i per_decade = _mm256_set1_epi32((int)layout->per_decade);
    const __m256i zero_row = _mm256_set1_epi32((int)DIGITS_SIDE(layout->per_decade) + 2);
    const __m256i zero = _mm256_broadcastd_epi32(_mm256_castsi256_si128(window->begin));
    __m256i max = _mm256_setzero_si256();
    for (size_t i = 0; i < BATCH; i += 8) {
        __m256i decade_a, decade_b;
        const __m256i a = numbers_of_four(window, _mm256_loadu_pd(values + i), &decade_a);
        const __m256i b = numbers_of_four(window, _mm256_loadu_pd(values + i + 4), &decade_b);
        const __m256i numbers = words_of(a, b, false), decades = words_of(decade_a, decade_b, true);
        /* A number of the next decade is a tenth of itself there, which is less; it is below
         * 2^14. */
        const __m256i tenths = _mm256_mulhi_epu16(numbers, _mm256_set1_epi32(6554));
        const __m256i begins = _mm256_permutevar8x32_epi32(window->begin, decades);
        const __m256i found = _mm256_add_epi32(
            begins, _mm256_min_epu32(numbers, _mm256_add_epi32(tenths, per_decade)));
        /* Zero became number 0 of decade 0. */
        const __m256i all = _mm256_blendv_epi8(found, zero_row, _mm256_cmpeq_epi32(found, zero));
        _mm256_storeu_si256((__m256i *)(void *)(rows + i), _mm256_permute4x64_epi64(all, 0xd8));
        max = _mm256_max_epu32(max, decades);
        if (i % 128 == 0 && !all_below(max, WINDOW_DECADES))
            return false; /* usually because of signs, which are left to another loop */
    }
    return all_below(max, WINDOW_DECADES);
}

/* Returns the upper word of 10^power, for powers from -9 to 9, rounded if the power is not
 * whole. */
static inline uint32_t upper_word_of_ten(int power)
{
    static const double ten_to[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0,
                                    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9};
    uint64_t bits;
    memcpy(&bits, &ten_to[power + 9], sizeof bits);
    return (uint32_t)((bits + (UINT64_C(1) << 31)) >> 32);
}

/* Finds the rows of a batch of doubles. False if some are left to be found. */
TARGET static bool quick_rows_of_digits(const struct digits_layout *layout, const double *values,
                                        uint32_t *rows)
{
    const int digits = (int)layout->digits;
    uint32_t guess[WINDOW_DECADES], unit[WINDOW_DECADES], begin[WINDOW_DECADES];
    uint64_t bits;
    memcpy(&bits, &values[0], sizeof bits);
    int first = digits_decade((int)(bits >> 52 & 0x7ff) - 1023) - WINDOW_BEFORE;
    first = bits == 0 ? -WINDOW_BEFORE : first;
    /* All powers are from -9 to 9. */
    first = first > digits - 10 ? first : digits - 10;
    first = first + WINDOW_DECADES <= digits + 9 ? first : digits + 9 - WINDOW_DECADES;
    for (int i = 0; i < WINDOW_DECADES; i++) {
        const int power = digits - 1 - (first + i);
        guess[i] = upper_word_of_ten(power);
        unit[i] = upper_word_of_ten(power < 0 ? -power : 0);
        begin[i] = DIGITS_SIDE(layout->per_decade) + 4 - layout->next / 10 +
                   (uint32_t)(first + i - DECADE_FIRST) * layout->per_decade;
    }
    const struct window window = {
        .guess = _mm256_loadu_si256((const __m256i *)(const void *)guess),
        .unit = _mm256_loadu_si256((const __m256i *)(const void *)unit),
        .begin = _mm256_loadu_si256((const __m256i *)(const void *)begin),
        .first = _mm256_set1_epi32(first + DECADE_ZERO),
    };
    return digits <= DIGITS_QUICK_MAX && digits_of_batch(layout, &window, values, rows);
}

/* --- characters --- */

/* Above this number of ASCII bytes among 64, all bytes are gathered. */
#define ASCII_MUCH 39

/* Returns which of 64 bytes are from lo to hi, a bit each. */
TARGET INLINE uint64_t bytes_from_to(vector low, vector high, unsigned char lo, unsigned char hi)
{
    const vector first = _mm256_set1_epi8((char)lo), max = _mm256_set1_epi8((char)(hi - lo));
    const vector a = _mm256_sub_epi8(low, first), b = _mm256_sub_epi8(high, first);
    const vector is_a = _mm256_cmpeq_epi8(_mm256_min_epu8(a, max), a);
    const vector is_b = _mm256_cmpeq_epi8(_mm256_min_epu8(b, max), b);
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(is_b) << 32 |
           (uint32_t)_mm256_movemask_epi8(is_a);
}

/* Returns which of eight words are less than others, all below 2^31. */
TARGET INLINE vector words_below(vector words, vector others)
{
    return _mm256_cmpgt_epi32(others, words);
}

/* Widens eight bits to masks of eight bits each. */
TARGET INLINE uint64_t byte_masks(uint64_t bits)
{
    return _pdep_u64(bits & 0xff, EACH_BYTE(1)) * 0xff;
}

/* Returns the places, of eight, that have a bit, in the lowest bytes. */
TARGET INLINE __m128i positions_of(uint64_t bits)
{
    return _mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100u, byte_masks(bits)));
}

/* Gathers the ASCII of 64 bytes, or all of them if that is most. */
TARGET INLINE void gather_ascii(const unsigned char *data, uint64_t ascii,
                                struct character_bytes *bytes)
{
    if (__builtin_popcountll(ascii) > ASCII_MUCH) {
        characters_gather_all(data, bytes);
        return;
    }
    for (unsigned i = 0; i < 64; i += 8, ascii >>= 8) {
        const uint64_t chosen = _pext_u64(byte_word(data + i), byte_masks(ascii));
        memcpy(bytes->gathered + bytes->len, &chosen, sizeof chosen);
        bytes->len += (unsigned)__builtin_popcount((unsigned)(ascii & 0xff));
    }
}

/* Returns the code points of eight characters, given four bytes for each; those after a character's
 * own may be any. Sets *wrong to the characters that have another number of bytes than they need.
 * Six bits of each byte are joined, and those of other bytes shifted out; a first byte of three or
 * four leaves some of its own bits in front. */
TARGET INLINE vector points_of(vector four, unsigned *wrong)
{
    /* By the upper half of the first byte without its highest bit. */
    const vector shifts = _mm256_setr_epi32(0, 0, 0, 0, 12, 12, 6, 0);
    const vector masks = _mm256_setr_epi32(0, 0, 0, 0, 0x7ff, 0x7ff, 0xffff, 0x1fffff);
    const vector leasts = _mm256_setr_epi32(0, 0, 0, 0, 0x80, 0x80, 0x800, 0x10000);
    const vector kind = _mm256_srli_epi32(four, 4);
    const vector sixes = _mm256_and_si256(four, _mm256_set1_epi8(0x3f));
    const vector twelves = _mm256_maddubs_epi16(sixes, _mm256_set1_epi16(1 << 8 | 64));
    const vector all = _mm256_madd_epi16(twelves, _mm256_set1_epi32(1 << 16 | 4096));
    const vector shifted = _mm256_srlv_epi32(all, _mm256_permutevar8x32_epi32(shifts, kind));
    const vector points = _mm256_and_si256(shifted, _mm256_permutevar8x32_epi32(masks, kind));
    const vector surrogates = _mm256_cmpeq_epi32(
        _mm256_and_si256(points, _mm256_set1_epi32(0x1ff800)), _mm256_set1_epi32(0xd800));
    const vector outside =
        _mm256_or_si256(words_below(points, _mm256_permutevar8x32_epi32(leasts, kind)),
                        words_below(_mm256_set1_epi32(0x10ffff), points));
    *wrong =
        (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(surrogates, outside)));
    return points;
}

/* Finds the characters of more than one byte that begin in data[0..16), at the bits of `first`.
 * Reads 24 bytes. Returns how many there are, or -1 if some are wrong. */
TARGET INLINE int find_in_16_bytes(const unsigned char *data, uint64_t first, uint32_t *rows)
{
    const vector spread =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
    const vector steps = _mm256_set1_epi32(0x03020100);
    const unsigned in_low = (unsigned)__builtin_popcount((unsigned)(first & 0xff));
    const unsigned in_high = (unsigned)__builtin_popcount((unsigned)(first >> 8 & 0xff));
    const vector positions = _mm256_set_m128i(positions_of(first >> 8), positions_of(first));
    const vector bytes =
        _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(const void *)(data + 8)),
                         _mm_loadu_si128((const __m128i *)(const void *)data));
    const vector which = _mm256_add_epi8(_mm256_shuffle_epi8(positions, spread), steps);
    unsigned wrong;
    const vector points = points_of(_mm256_shuffle_epi8(bytes, which), &wrong);
    _mm_storeu_si128((__m128i *)(void *)rows, _mm256_castsi256_si128(points));
    _mm_storeu_si128((__m128i *)(void *)(rows + in_low), _mm256_extracti128_si256(points, 1));
    const unsigned there = ((1u << in_low) - 1) | ((1u << in_high) - 1) << 4;
    return wrong & there ? -1 : (int)(in_low + in_high);
}

TARGET INLINE size_t find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                     struct character_bytes *bytes)
{
    const __m256i *at = (const __m256i *)(const void *)data;
    const vector low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
    const uint64_t beyond =
        (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low);
    if (beyond == 0)
        return CHARACTERS_ASCII;
    const uint64_t next = bytes_from_to(low, high, 0x80, 0xbf);
    const uint64_t of_2 = bytes_from_to(low, high, 0xc2, 0xdf);
    const uint64_t of_3 = bytes_from_to(low, high, 0xe0, 0xef);
    const uint64_t of_4 = bytes_from_to(low, high, 0xf0, 0xf4);
    const uint64_t expected = (of_2 | of_3 | of_4) << 1 | (of_3 | of_4) << 2 | of_4 << 3;
    const uint64_t cut = (of_2 & 1ull << 63) | (of_3 & 3ull << 62) | (of_4 & 7ull << 61);
    if (expected != next || (next | of_2 | of_3 | of_4) != beyond)
        return 0;
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    const uint64_t inside = used < 64 ? (1ull << used) - 1 : UINT64_MAX;
    const uint64_t first = (of_2 | of_3 | of_4) & inside;
    size_t found = *n;
    for (unsigned i = 0; i < 64; i += 16) {
        const int more = find_in_16_bytes(data + i, first >> i, rows + found);
        if (more < 0)
            return 0;
        found += (unsigned)more;
    }
    gather_ascii(data, ~beyond & inside, bytes);
    *n = found;
    return used;
}

/* --- the kernels --- */

static bool avx2_runs_here(void)
{
    return cpu_has(AVX2, "avx2") && cpu_has(BMI2, "bmi2") && cpu_has(FMA, "fma") &&
           cpu_has(POPCNT, "popcnt");
}

const struct cpu_kernels cpu_kernels_avx2 = {
    .name = "avx2",
    .about = "AVX2",
    .runs_here = avx2_runs_here,
    .prepare_letters = prepare_letters,
    .count_letters = count_letters,
    .count_bytes = count_in_pieces,
    .count_values = count_values,
    .count_numbers = count_numbers,
    .count_characters = count_characters,
    .parser = &number_parser_avx2,
};

#endif
