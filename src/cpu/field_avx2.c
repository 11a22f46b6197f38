/* SPDX-License-Identifier: MIT */
/* Gathers fields with AVX2. A mask of 64 bytes takes two vectors. */
#include "field_parser.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,popcnt")))
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE __m256i half_of(const unsigned char *at, unsigned half)
{
    return _mm256_loadu_si256((const void *)(at + 32 * half));
}

TARGET INLINE uint64_t mask_of_halves(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

TARGET INLINE uint64_t bytes_equal(const unsigned char *at, unsigned char byte)
{
    const __m256i all = _mm256_set1_epi8((char)byte);
    return mask_of_halves(_mm256_cmpeq_epi8(half_of(at, 0), all),
                          _mm256_cmpeq_epi8(half_of(at, 1), all));
}

TARGET INLINE uint64_t bytes_low(const unsigned char *at)
{
    const __m256i space = _mm256_set1_epi8(' '), low = half_of(at, 0), high = half_of(at, 1);
    return mask_of_halves(_mm256_cmpeq_epi8(_mm256_min_epu8(low, space), low),
                          _mm256_cmpeq_epi8(_mm256_min_epu8(high, space), high));
}

TARGET INLINE void copy_32(unsigned char *to, const unsigned char *from)
{
    _mm256_storeu_si256((void *)to, half_of(from, 0));
}

#include "field_gather.h"

TARGET void fields_gather_avx2(const struct field *field, struct record_text *text,
                               struct field_tokens *tokens)
{
    gather_fields(field, text, tokens);
}

#endif
