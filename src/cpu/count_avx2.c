/* Letters with AVX2; bytes by the same tables as the portable counter, which AVX2 adds up. */
#include "characters_ascii.h"
#include "count.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2,fma,popcnt")))
#define OWN(name) avx2_##name
#define INLINE static inline __attribute__((always_inline))
#define VECTOR 32
#define PAIRS_VECTOR 32

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

/* A lookup gives 0 for an index with its highest bit set: what is not ASCII is in no class. */
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

/* Whether 64 bytes are all below 128. */
TARGET INLINE bool step_is_ascii(const unsigned char *data)
{
    const __m256i *at = (const __m256i *)(const void *)data;
    return _mm256_movemask_epi8(
               _mm256_or_si256(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1))) == 0;
}

#include "count_nibbles.h"
#include "count_pairs.h"
#define SQUARE_BY_FMA
#include "digits_avx2.h"
#define QUICK_DIGITS avx2_rows_of_digits
#include "count_values.h"

/* --- characters --- */

/* Of bytes, a bit each: which ones lie from lo to hi. */
TARGET INLINE uint64_t bytes_from_to(vector low, vector high, unsigned char lo, unsigned char hi)
{
    const vector first = _mm256_set1_epi8((char)lo), most = _mm256_set1_epi8((char)(hi - lo));
    const vector a = _mm256_sub_epi8(low, first), b = _mm256_sub_epi8(high, first);
    const vector is_a = _mm256_cmpeq_epi8(_mm256_min_epu8(a, most), a);
    const vector is_b = _mm256_cmpeq_epi8(_mm256_min_epu8(b, most), b);
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(is_b) << 32 |
           (uint32_t)_mm256_movemask_epi8(is_a);
}

/* Which of eight words are at least this, all of them below 2^31. */
TARGET INLINE vector words_from(vector words, int least)
{
    return _mm256_cmpgt_epi32(words, _mm256_set1_epi32(least - 1));
}

/* Eight bytes from data on as words. */
TARGET INLINE vector words_at(const unsigned char *data)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)data));
}

TARGET INLINE vector low_bits(vector words, int mask)
{
    return _mm256_and_si256(words, _mm256_set1_epi32(mask));
}

/* Finds the code points of the characters that begin at data[0..8), which `first` says, and adds
 * them to rows. Returns which ones are not what the number of their bytes allows. */
TARGET INLINE unsigned find_8_characters(const unsigned char *data, unsigned first, uint32_t *rows)
{
    const vector one = words_at(data), two = low_bits(words_at(data + 1), 0x3f);
    const vector three = low_bits(words_at(data + 2), 0x3f);
    const vector four = low_bits(words_at(data + 3), 0x3f);
    const vector of_2 = words_from(one, 0xc0), of_3 = words_from(one, 0xe0);
    const vector of_4 = words_from(one, 0xf0);
    const vector low_2 = _mm256_or_si256(_mm256_slli_epi32(two, 6), three);
    const vector by_2 = _mm256_or_si256(_mm256_slli_epi32(low_bits(one, 0x1f), 6), two);
    const vector by_3 = _mm256_or_si256(_mm256_slli_epi32(low_bits(one, 0x0f), 12), low_2);
    const vector by_4 = _mm256_or_si256(_mm256_slli_epi32(low_bits(one, 0x07), 18),
                                        _mm256_or_si256(_mm256_slli_epi32(low_2, 6), four));
    vector points = _mm256_blendv_epi8(one, by_2, of_2);
    points = _mm256_blendv_epi8(points, by_3, of_3);
    points = _mm256_blendv_epi8(points, by_4, of_4);
    const vector high = low_bits(points, 0x1ff800);
    vector wrong = _mm256_or_si256(_mm256_cmpeq_epi32(high, _mm256_setzero_si256()),
                                   _mm256_cmpeq_epi32(high, _mm256_set1_epi32(0xd800)));
    wrong = _mm256_and_si256(wrong, of_3);
    const vector fits =
        _mm256_andnot_si256(words_from(points, 0x110000), words_from(points, 0x10000));
    wrong = _mm256_or_si256(wrong, _mm256_andnot_si256(fits, of_4));
    const uint64_t lanes = _pdep_u64(first, 0x0101010101010101u) * 0xff;
    const uint64_t chosen = _pext_u64(0x0706050403020100u, lanes);
    const vector order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)chosen));
    _mm256_storeu_si256((__m256i *)(void *)rows, _mm256_permutevar8x32_epi32(points, order));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(wrong)) & first;
}

TARGET INLINE size_t avx2_find_characters(const unsigned char *data, uint32_t *rows, size_t *n)
{
    const __m256i *at = (const __m256i *)(const void *)data;
    const vector low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
    if (_mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0)
        return CHARACTERS_ASCII;
    const uint64_t next = bytes_from_to(low, high, 0x80, 0xbf);
    const uint64_t of_2 = bytes_from_to(low, high, 0xc2, 0xdf);
    const uint64_t of_3 = bytes_from_to(low, high, 0xe0, 0xef);
    const uint64_t of_4 = bytes_from_to(low, high, 0xf0, 0xf4);
    const uint64_t ascii = bytes_from_to(low, high, 0, 0x7f);
    const uint64_t expected = (of_2 | of_3 | of_4) << 1 | (of_3 | of_4) << 2 | of_4 << 3;
    const uint64_t cut = (of_2 & 1ull << 63) | (of_3 & 3ull << 62) | (of_4 & 7ull << 61);
    if (expected != next || (ascii | next | of_2 | of_3 | of_4) != UINT64_MAX)
        return 0;
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    const uint64_t first = ~next & (used < 64 ? (1ull << used) - 1 : UINT64_MAX);
    /* Bytes after these are none of a character that is whole. */
    _Alignas(32) unsigned char room[96];
    _mm256_store_si256((__m256i *)(void *)room, low);
    _mm256_store_si256((__m256i *)(void *)(room + 32), high);
    _mm256_store_si256((__m256i *)(void *)(room + 64), _mm256_setzero_si256());
    size_t found = *n;
    unsigned wrong = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        const unsigned here = (unsigned)(first >> i & 0xff);
        wrong |= find_8_characters(room + i, here, rows + found);
        found += (unsigned)__builtin_popcount(here);
    }
    if (wrong)
        return 0;
    *n = found;
    return used;
}

#include "count_characters.h"

static bool avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
}

const struct counter counter_avx2 = {
    .name = "avx2",
    .about = "AVX2",
    .runs_here = avx2_runs_here,
    .prepare_letters = avx2_prepare_letters,
    .count_letters = avx2_count_letters,
    .count_bytes = avx2_count_in_pieces,
    .count_values = avx2_count_values,
    .count_numbers = avx2_count_numbers,
    .count_characters = avx2_count_all_characters,
    .parser = &number_parser_avx2,
};

#endif
