/* SPDX-License-Identifier: MIT */
/* Gathers fields with AVX-512. */
#include "field_parser.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE uint64_t bytes_equal(const unsigned char *at, unsigned char byte)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8((char)byte));
}

TARGET INLINE uint64_t bytes_low(const unsigned char *at)
{
    return _mm512_cmple_epu8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(' '));
}

TARGET INLINE void copy_32(unsigned char *to, const unsigned char *from)
{
    _mm256_storeu_si256((void *)to, _mm256_loadu_si256((const void *)from));
}

/* A mark with bit 5 set is told by its four low bits, and so is a space. */
TARGET INLINE struct json_bytes json_bytes_at(const unsigned char *at)
{
    const __m512i marks = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0));
    const __m512i spaces = _mm512_broadcast_i32x4(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', 0, 0, 0, '\r', 0, 0));
    const __m512i bytes = _mm512_loadu_si512(at);
    const __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    return (struct json_bytes){
        .quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
        .backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
        .marks = _mm512_cmpeq_epi8_mask(folded, _mm512_shuffle_epi8(marks, bytes)),
        .spaces = _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(spaces, bytes)),
        .controls = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(0x1f))};
}

TARGET INLINE void json_write_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    static const _Alignas(64) uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i positions = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(numbers));
    const __m512i from = _mm512_set1_epi16((short)offset);
    const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(positions));
    const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(positions, 1));
    _mm512_storeu_si512(to, _mm512_add_epi16(low, from));
    _mm512_storeu_si512(to + 32, _mm512_add_epi16(high, from));
}

#include "field_tokenizer.h"
#include "find_string.h"

TARGET void fields_tokenize_avx512(const struct field *field, struct record_text *text,
                                   struct field_tokens *tokens)
{
    tokenize_fields(field, text, tokens);
}

TARGET const unsigned char *find_string_avx512(const struct line_string *string,
                                               const unsigned char *at, const unsigned char *limit)
{
    return find_string(string, at, limit);
}

TARGET size_t fields_find_avx512(const struct field *field, struct record_text *text,
                                 struct key_span *keys, size_t cap)
{
    return find_fields(field, text, keys, cap);
}

#endif
