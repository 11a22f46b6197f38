/* SPDX-License-Identifier: MIT */
/* Counts words in up to 256 equal bins with AVX-512: a part of count_avx512.c. A word becomes the
 * byte that is its bin, and bytes are counted fastest. Words outside of all bins are in bin 0 until
 * the end. */
#ifndef GPUHISTO_WORDS_AVX512_H
#define GPUHISTO_WORDS_AVX512_H

#include "count.h"
#include "streams_avx512.h"

#define BYTE_BINS 256
#define AHEAD_TO_L1 (ROUND * 4) /* the next round, while this one is sorted */

struct word_rows {
    __m512i first, last, high, low; /* as in rows_by_32_bits */
    bool by_bits; /* bins are as wide as a power of two, so a bin's number is a field of bits in an
                   * offset */
    __m512i fields; /* where the fields of two offsets begin, alternately */
    bool is_signed;
    uint64_t below, above; /* words so far */
};

/* Returns offset * reciprocal >> 64, for the even words; scale_offsets for all. */
TARGET INLINE __m512i scale_even_offsets(__m512i offset, const struct word_rows *rows)
{
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(offset, rows->low), 32);
    return _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epu32(offset, rows->high), low), 32);
}

TARGET INLINE __m512i scale_offsets(__m512i offset, const struct word_rows *rows)
{
    __m512i even = scale_even_offsets(offset, rows);
    __m512i odd = scale_even_offsets(_mm512_srli_epi64(offset, 32), rows);
    return _mm512_or_si512(even, _mm512_slli_epi64(odd, 32));
}

TARGET INLINE __m512i offsets_at(const unsigned char *data, const struct word_rows *rows)
{
    return _mm512_sub_epi32(_mm512_loadu_si512(data), rows->first);
}

/* Corrects words that may be outside of all bins: these get offset 0. */
TARGET INLINE __m512i offsets_within(__m512i offset, struct word_rows *rows)
{
    __m512i word = _mm512_add_epi32(offset, rows->first);
    __mmask16 outside = _mm512_cmpgt_epu32_mask(offset, rows->last);
    __mmask16 below = rows->is_signed ? _mm512_cmplt_epi32_mask(word, rows->first)
                                      : _mm512_cmplt_epu32_mask(word, rows->first);
    rows->below += (unsigned)__builtin_popcount(below);
    rows->above += (unsigned)__builtin_popcount((unsigned)outside & ~(unsigned)below);
    return _mm512_maskz_mov_epi32((__mmask16)~outside, offset);
}

/* Returns the bins of 64 offsets, in any order: two neighbours of each vector in turn. */
TARGET INLINE __m512i bins_of_fields(const __m512i *offsets, const struct word_rows *rows)
{
    __m512i bins = _mm512_setzero_si512();
    for (unsigned k = 0; k < 4; k++)
        bins = _mm512_mask_multishift_epi64_epi8(bins, 0x0303030303030303ull << 2 * k, rows->fields,
                                                 offsets[k]);
    return bins;
}

/* Finds the bins of 64 words, in any order. */
TARGET INLINE void find_64_bins(const unsigned char *data, struct word_rows *rows,
                                unsigned char *bins)
{
    __m512i offsets[4];
    for (unsigned k = 0; k < 4; k++)
        offsets[k] = offsets_at(data + k * VECTOR, rows);
    __m512i max = _mm512_max_epu32(_mm512_max_epu32(offsets[0], offsets[1]),
                                   _mm512_max_epu32(offsets[2], offsets[3]));
    if (_mm512_cmpgt_epu32_mask(max, rows->last))
        for (unsigned k = 0; k < 4; k++)
            offsets[k] = offsets_within(offsets[k], rows);
    if (rows->by_bits)
        _mm512_storeu_si512(bins, bins_of_fields(offsets, rows));
    else
        for (unsigned k = 0; k < 4; k++)
            _mm_storeu_si128((__m128i *)(void *)(bins + k * 16),
                             _mm512_cvtepi32_epi8(scale_offsets(offsets[k], rows)));
}

/* Finds the bins of ROUND words. */
TARGET INLINE void find_byte_bins(const unsigned char *data, struct word_rows *rows,
                                  unsigned char *bins)
{
    for (size_t i = 0; i < ROUND; i += 64) {
        for (size_t at = i * 4; at < (i + 64) * 4; at += VECTOR) {
            _mm_prefetch((const char *)data + at + AHEAD_TO_L2, _MM_HINT_T1);
            _mm_prefetch((const char *)data + at + AHEAD_TO_L1, _MM_HINT_T0);
        }
        find_64_bins(data + i * 4, rows, bins + i);
    }
}

/* Counts whole rounds of words. Returns how many bytes they are. */
TARGET static size_t count_words_in_byte_bins(const struct count_plan *plan,
                                              const unsigned char *data, size_t len,
                                              uint64_t *counts)
{
    const struct binning *binning = &plan->spec->binning;
    uint64_t width = (uint64_t)binning->span / binning->bins;
    int shift = __builtin_ctzll(width);
    struct word_rows rows = {
        .first = _mm512_set1_epi32((int)(uint32_t)binning->first),
        .last = _mm512_set1_epi32((int)(uint32_t)(binning->span - 1)),
        .high = _mm512_set1_epi64((long long)(binning->reciprocal >> 32)),
        .low = _mm512_set1_epi64((long long)(uint32_t)binning->reciprocal),
        .by_bits = (uint64_t)binning->span == width * binning->bins && width == 1ull << shift &&
                   shift <= 24, /* so that the eight bits are all of one offset */
        .fields = _mm512_set1_epi16((short)(shift | (32 + shift) << 8)),
        .is_signed = plan->spec->type.kind == 'i',
    };
    uint64_t by_byte[BYTE_BINS] = {0};
    unsigned char bins[ROUND];
    struct streams streams;
    memset(streams.len, 0, sizeof streams.len);
    size_t done = 0;
    for (; len - done >= ROUND * 4; done += ROUND * 4) {
        find_byte_bins(data + done, &rows, bins);
        sort_round(&streams, bins, by_byte);
    }
    drain_all_streams(&streams, by_byte);
    by_byte[0] -= rows.below + rows.above;
    for (size_t bin = 0; bin < binning->bins; bin++)
        counts[1 + bin] += by_byte[bin];
    counts[ROW_BELOW] += rows.below;
    counts[ROW_ABOVE(binning)] += rows.above;
    return done;
}

#endif
