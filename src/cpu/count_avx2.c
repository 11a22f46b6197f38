/* SPDX-License-Identifier: MIT */
/* The kernels with AVX2. */
#include "count.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi2,fma,popcnt")))
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
#include "digits_avx2.h"
#include "count_values.h"
#include "count_numbers.h"
#include "count_keys.h"
#include "characters_avx2.h"
#include "count_characters.h"

static bool avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
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
    .count_keyed_numbers = count_keyed_numbers,
    .count_characters = count_characters,
    .parser = &number_parser_avx2,
};

#endif
