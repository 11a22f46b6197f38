/* SPDX-License-Identifier: MIT */
/* Gathers fields with AVX2. A mask of 64 bytes takes two vectors. */
#include "field_parser.h"
#include "src/base/byte_masks.h"

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

/* A mark with bit 5 set is told by its four low bits, and so is a space. */
TARGET INLINE struct json_bytes json_bytes_at(const unsigned char *at)
{
    const __m256i marks = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0,
                                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0);
    const __m256i spaces = _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', 0, 0, 0, '\r', 0, 0,
                                            ' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', 0, 0, 0, '\r', 0, 0);
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    const __m256i bit = _mm256_set1_epi8(0x20), max = _mm256_set1_epi8(0x1f);
    const __m256i low = half_of(at, 0), high = half_of(at, 1);
    return (struct json_bytes){
        .quotes = mask_of_halves(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote)),
        .backslashes =
            mask_of_halves(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash)),
        .marks = mask_of_halves(
            _mm256_cmpeq_epi8(_mm256_or_si256(low, bit), _mm256_shuffle_epi8(marks, low)),
            _mm256_cmpeq_epi8(_mm256_or_si256(high, bit), _mm256_shuffle_epi8(marks, high))),
        .spaces = mask_of_halves(_mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(spaces, low)),
                                 _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(spaces, high))),
        .controls = mask_of_halves(_mm256_cmpeq_epi8(_mm256_min_epu8(low, max), low),
                                   _mm256_cmpeq_epi8(_mm256_min_epu8(high, max), high))};
}

TARGET INLINE void json_write_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    mask_positions(bits, offset, to);
}

#include "field_tokenizer.h"
#include "find_string.h"

TARGET void fields_tokenize_avx2(const struct field *field, struct record_text *text,
                                 struct field_tokens *tokens)
{
    tokenize_fields(field, text, tokens);
}

TARGET const unsigned char *find_string_avx2(const struct line_string *string,
                                             const unsigned char *at, const unsigned char *limit)
{
    return find_string(string, at, limit);
}

TARGET size_t fields_find_avx2(const struct field *field, struct record_text *text,
                               struct key_span *keys, size_t cap)
{
    return find_fields(field, text, keys, cap);
}

#endif
