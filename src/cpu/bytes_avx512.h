/* SPDX-License-Identifier: MIT */
/* Counts bytes with AVX-512: a part of count_avx512.c. Classes of bytes are counted by adding bits,
 * which is enough for letters. Bytes are sorted into streams of few classes first, and words become
 * the bytes that are their bins. */
#ifndef GPUHISTO_BYTES_AVX512_H
#define GPUHISTO_BYTES_AVX512_H

#include "count.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- classes --- */

/* Counts classes of bytes with AVX-512, a bit of every byte each, by carry-save adders (Harley and
 * Seal): one popcount for 16 vectors. */

#define VECTOR 64
#define ROUND (16 * VECTOR) /* bytes between two popcounts */

/* Rounds that the bytes of an accumulator can count, at most eight each. */
#define ROUNDS_MAX 31

/* The table that gives a byte's classes, by its lower six bits or by all seven of ASCII. */
struct lookup {
    bool ascii;
    __m512i table[2];
};

/* Counts in planes of weight 1, 2, 4 and 8. */
struct planes {
    __m512i ones, twos, fours, eights;
};

/* 0x7f, which is no letter, stands for all that is not ASCII. */
TARGET INLINE __m512i classes_at(const unsigned char *data, const struct lookup *by)
{
    __m512i bytes = _mm512_loadu_si512(data);
    if (!by->ascii)
        return _mm512_permutexvar_epi8(bytes, by->table[0]);
    bytes = _mm512_min_epu8(bytes, _mm512_set1_epi8(0x7f));
    return _mm512_permutex2var_epi8(by->table[0], bytes, by->table[1]);
}

/* Adds two to a plane and returns the carry. */
TARGET INLINE __m512i add_two(__m512i *plane, __m512i a, __m512i b)
{
    __m512i carry = _mm512_ternarylogic_epi64(*plane, a, b, 0xe8); /* majority */
    *plane = _mm512_ternarylogic_epi64(*plane, a, b, 0x96);        /* parity */
    return carry;
}

TARGET INLINE __m512i add_2(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    return add_two(&planes->ones, classes_at(data, by), classes_at(data + VECTOR, by));
}

TARGET INLINE __m512i add_4(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    __m512i carry = add_2(planes, data, by);
    return add_two(&planes->twos, carry, add_2(planes, data + 2 * VECTOR, by));
}

TARGET INLINE __m512i add_8(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    __m512i carry = add_4(planes, data, by);
    return add_two(&planes->fours, carry, add_4(planes, data + 4 * VECTOR, by));
}

TARGET INLINE __m512i add_16(struct planes *planes, const unsigned char *data,
                             const struct lookup *by)
{
    __m512i carry = add_8(planes, data, by);
    return add_two(&planes->eights, carry, add_8(planes, data + 8 * VECTOR, by));
}

/* Puts into byte k, for each 8 bytes of a plane, how many have the bit of class k: transposes 8 x 8
 * bits by a product of matrices. */
TARGET INLINE __m512i bits_by_class(__m512i plane)
{
    __m512i unit = _mm512_set1_epi64((long long)0x8040201008040201ull);
    return _mm512_popcnt_epi8(_mm512_gf2p8affine_epi64_epi8(unit, plane, 0));
}

/* Returns the eight sums, 64 bits each, of bytes that bits_by_class returned. */
TARGET INLINE __m512i sum_by_class(__m512i bits)
{
    static const uint8_t by_class[64] = {
        0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
        50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
        37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63};
    __m512i sorted = _mm512_permutexvar_epi8(_mm512_loadu_si512(by_class), bits);
    return _mm512_sad_epu8(sorted, _mm512_setzero_si512());
}

/* Adds the classes of whole rounds, ROUNDS_MAX at most, to eight totals. */
TARGET INLINE void count_rounds(const unsigned char *data, size_t rounds, const struct lookup *by,
                                uint64_t *totals)
{
    const __m512i zero = _mm512_setzero_si512();
    struct planes planes = {zero, zero, zero, zero};
    __m512i sixteens = zero;
    for (size_t i = 0; i < rounds; i++)
        sixteens = _mm512_add_epi8(sixteens, bits_by_class(add_16(&planes, data + i * ROUND, by)));
    /* The rest of the planes: at most 8 x 15 in a byte. */
    __m512i rest = _mm512_slli_epi16(bits_by_class(planes.eights), 1);
    rest = _mm512_slli_epi16(_mm512_add_epi8(rest, bits_by_class(planes.fours)), 1);
    rest = _mm512_slli_epi16(_mm512_add_epi8(rest, bits_by_class(planes.twos)), 1);
    rest = _mm512_add_epi8(rest, bits_by_class(planes.ones));
    __m512i sums =
        _mm512_add_epi64(_mm512_slli_epi64(sum_by_class(sixteens), 4), sum_by_class(rest));
    _mm512_storeu_si512(totals, _mm512_add_epi64(_mm512_loadu_si512(totals), sums));
}

/* --- bytes --- */

/* Counts bytes with AVX-512. Bytes are sorted into four streams by their
 * upper two bits. Within a stream a value has six bits, so a table of 64 finds the classes of eight
 * values at a time. Values that a stream does not have cost next to nothing. (Counting bits by
 * position is Harold Aptroot's way to histograms; the streams are ours.) */

/* Prefetch distance, bytes: the hardware prefetcher stops at the end of a page, and sorting and
 * counting alternate. */
#define AHEAD_TO_L2 16384

#define STREAMS 4
#define STREAM_VALUES 64
#define FULL (16 * (size_t)ROUND) /* bytes at which a stream is counted */
#define PIECE 256                 /* bytes that are counted at once if they are all the same */

/* Bytes by their upper two bits, until there are enough. They are read eight times, so no vector
 * may cross a cache line. */
struct streams {
    _Alignas(VECTOR) unsigned char bytes[STREAMS][FULL + ROUND + VECTOR];
    size_t len[STREAMS];
};

/* True if PIECE bytes are all equal. The ends and the middle nearly always decide. */
TARGET INLINE bool piece_is_run(const unsigned char *data)
{
    if (data[0] != data[PIECE - 1] || data[0] != data[PIECE / 2])
        return false;
    __m512i byte = _mm512_set1_epi8((char)data[0]);
    __mmask64 same = ~(__mmask64)0;
    for (size_t i = 0; i < PIECE; i += VECTOR)
        same &= _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(data + i), byte);
    return same == ~(__mmask64)0;
}

/* Appends the bytes of a vector that are `in` a stream, and returns its new end. Stores a whole
 * vector; what is beyond the end is overwritten next. */
TARGET INLINE unsigned char *append_to_stream(unsigned char *end, __m512i bytes, uint64_t in)
{
    _mm512_storeu_si512(end, _mm512_maskz_compress_epi8(in, bytes));
    return end + __builtin_popcountll(in);
}

/* Sorts a piece. The ends of the streams are local, as a store of bytes might change them in
 * memory. */
TARGET INLINE void sort_piece(struct streams *streams, const unsigned char *data)
{
    unsigned char *ends[STREAMS];
    for (unsigned k = 0; k < STREAMS; k++)
        ends[k] = streams->bytes[k] + streams->len[k];
    for (size_t i = 0; i < PIECE; i += VECTOR) {
        _mm_prefetch((const char *)data + i + AHEAD_TO_L2, _MM_HINT_T1);
        __m512i bytes = _mm512_loadu_si512(data + i);
        uint64_t bit7 = _mm512_movepi8_mask(bytes);
        uint64_t bit6 = _mm512_movepi8_mask(_mm512_add_epi8(bytes, bytes));
        ends[0] = append_to_stream(ends[0], bytes, ~bit7 & ~bit6);
        ends[1] = append_to_stream(ends[1], bytes, ~bit7 & bit6);
        if (bit7) {
            ends[2] = append_to_stream(ends[2], bytes, bit7 & ~bit6);
            ends[3] = append_to_stream(ends[3], bytes, bit7 & bit6);
        }
    }
    for (unsigned k = 0; k < STREAMS; k++)
        streams->len[k] = (size_t)(ends[k] - streams->bytes[k]);
}

/* Returns which groups of eight values occur, a bit each. */
TARGET INLINE unsigned groups_in_stream(const unsigned char *data, size_t len)
{
    __m512i group_of = _mm512_set_epi64((long long)0x8080808080808080ull, 0x4040404040404040,
                                        0x2020202020202020, 0x1010101010101010, 0x0808080808080808,
                                        0x0404040404040404, 0x0202020202020202, 0x0101010101010101);
    __m512i seen = _mm512_setzero_si512();
    for (size_t i = 0; i < len; i += VECTOR)
        seen =
            _mm512_or_si512(seen, _mm512_permutexvar_epi8(_mm512_loadu_si512(data + i), group_of));
    uint64_t folded = (uint64_t)_mm512_reduce_or_epi64(seen);
    folded |= folded >> 32;
    folded |= folded >> 16;
    return (unsigned)(folded | folded >> 8) & 0xff;
}

/* Counts whole rounds of a stream into the counts of its 64 values. */
TARGET static void count_stream(const unsigned char *data, size_t rounds, uint64_t *counts)
{
    unsigned groups = groups_in_stream(data, rounds * ROUND);
    for (unsigned group = 0; group < 8; group++) {
        if (!(groups >> group & 1))
            continue;
        struct lookup by = {
            false,
            {_mm512_maskz_set1_epi64((__mmask8)(1u << group), (long long)0x8040201008040201ull)}};
        count_rounds(data, rounds, &by, counts + group * 8);
    }
}

/* Counts the whole rounds of stream k and keeps the rest. */
static void drain_stream(struct streams *streams, unsigned k, uint64_t *counts)
{
    unsigned char *bytes = streams->bytes[k];
    size_t rounds = streams->len[k] / ROUND, done = rounds * ROUND;
    count_stream(bytes, rounds, counts + k * STREAM_VALUES);
    streams->len[k] -= done;
    memcpy(bytes, bytes + done, streams->len[k]);
}

/* Counts all that is left: fills each stream up to a whole round with its lowest value, and
 * subtracts that. */
static void drain_all_streams(struct streams *streams, uint64_t *counts)
{
    for (unsigned k = 0; k < STREAMS; k++) {
        size_t more = (ROUND - streams->len[k] % ROUND) % ROUND;
        memset(streams->bytes[k] + streams->len[k], (int)(k * STREAM_VALUES), more);
        streams->len[k] += more;
        drain_stream(streams, k, counts);
        counts[k * STREAM_VALUES] -= more;
    }
}

/* Sorts a round, and counts the streams that are full. */
TARGET INLINE void sort_round(struct streams *streams, const unsigned char *data, uint64_t *counts)
{
    for (size_t i = 0; i < ROUND; i += PIECE)
        if (piece_is_run(data + i))
            counts[data[i]] += PIECE;
        else
            sort_piece(streams, data + i);
    for (unsigned k = 0; k < STREAMS; k++)
        if (streams->len[k] >= FULL)
            drain_stream(streams, k, counts);
}

TARGET static void count_bytes(const unsigned char *data, size_t len, uint64_t *counts)
{
    struct streams streams;
    memset(streams.len, 0, sizeof streams.len);
    for (; len >= ROUND; data += ROUND, len -= ROUND)
        sort_round(&streams, data, counts);
    drain_all_streams(&streams, counts);
    for (size_t i = 0; i < len; i++)
        counts[data[i]]++;
}

/* --- words --- */

/* Counts words in up to 256 equal bins with AVX-512. A word becomes the
 * byte that is its bin, and bytes are counted fastest. Words outside of all bins are in bin 0 until
 * the end. */

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
