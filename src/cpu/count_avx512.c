/* SPDX-License-Identifier: MIT */
/* The kernels with AVX-512: loops of their own for bytes, letters and words, and what those of
 * numbers and characters need. */
#include "count.h"
#include "src/base/cpu_features.h"
#include "src/text/field_parser.h"

#if defined __x86_64__ && defined __GNUC__

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,"              \
                          "avx512vbmi2,avx512bitalg,gfni,popcnt")))
#define INLINE static inline __attribute__((always_inline))
#define SQUARE_BY_FMA
#define SUM_BY_IFMA
#define HAS_QUICK_DIGITS

#include "count_numbers.h"
#include "count_characters.h"

/* --- classes --- */

/* Classes of bytes, a bit of every byte each, are counted by carry-save adders (Harley and Seal):
 * one popcount for 16 vectors. That is enough for letters. */

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

/* Bytes are sorted into four streams by their upper two bits. Within a stream a value has six bits,
 * so a table of 64 finds the classes of eight values at a time. Values that a stream does not have
 * cost next to nothing. (Counting bits by position is Harold Aptroot's way to histograms; the
 * streams are ours.) */

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

/* In up to 256 equal bins a word becomes the byte that is its bin, as bytes are counted fastest.
 * Words outside of all bins are in bin 0 until the end. */

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

/* --- rows of decimal digits --- */

/* The 16 decades from 1e-6 on, whose powers of ten fit in two vectors. A value's decade is looked
 * up by its binary exponent, so the window ends at a power of two. */
#define WINDOW_FIRST (-6)
#define WINDOW_DECADES 16
#define WINDOW_END 0x1p34

/* The powers of ten for these, descending, each the sum of two doubles. */
#define WINDOW_POWER_MAX 10
static const double window_high[20] = {1e10, 1e9,  1e8,  1e7,  1e6,  1e5,  1e4,  1e3,  1e2,  1e1,
                                       1e0,  1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
static const double window_low[20] = {
    [11] = -0x1.999999999999ap-58, -0x1.eb851eb851eb8p-63, -0x1.89374bc6a7efap-66,
    -0x1.6a161e4f765fep-68,        -0x1.ee78183f91e64p-71, 0x1.b5a63f9a49c2cp-75,
    0x1.5e1e99483b023p-78,         -0x1.03023df2d4c94p-82, -0x1.34674bfabb83bp-84};

struct window {
    __m512d high[2], low[2];
    __m512i begin; /* the row of number 0 of a decade */
    __m512d half;  /* half of a value's last bit, relative to its power of two */
};

/* Adding it to a number below 2^51 rounds that to a whole number, which is in the low bits. */
#define ROUNDER 0x1.8p52

/* Returns the numbers of eight values in their decades, and sets *decade. Both are in the low
 * words. */
TARGET INLINE __m512i numbers_of_eight(const struct window *window, __m512d value, __m512i *decade)
{
    const __m512d rounder = _mm512_set1_pd(ROUNDER);
    *decade = _mm512_castpd_si512(_mm512_fmadd_round_pd(
        _mm512_getexp_pd(value), _mm512_set1_pd(0.30102999566398120),
        _mm512_set1_pd(ROUNDER - WINDOW_FIRST), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
    const __m512d high = _mm512_permutex2var_pd(window->high[0], *decade, window->high[1]);
    const __m512d low = _mm512_permutex2var_pd(window->low[0], *decade, window->low[1]);
    const __m512i power_of_two = _mm512_and_si512(
        _mm512_castpd_si512(value), _mm512_set1_epi64((long long)(UINT64_C(0x7ff) << 52)));
    const __m512d half = _mm512_mul_pd(_mm512_castsi512_pd(power_of_two), window->half);
    /* The nearest whole number, unless that is above the middle between the value and the next. */
    const __m512d nearest = _mm512_fmadd_pd(value, high, rounder);
    const __m512d number = _mm512_sub_pd(nearest, rounder);
    __m512d above = _mm512_fnmadd_pd(value, low, _mm512_fnmadd_pd(value, high, number));
    above = _mm512_fnmadd_pd(half, high, above);
    return _mm512_mask_sub_epi64(_mm512_castpd_si512(nearest),
                                 _mm512_cmp_pd_mask(above, _mm512_setzero_pd(), _CMP_GT_OQ),
                                 _mm512_castpd_si512(nearest), _mm512_set1_epi64(1));
}

/* Returns a tenth, rounded down, of numbers below 20 * 10^(digits - 1). */
TARGET INLINE __m512i tenths(__m512i numbers, bool few_digits)
{
    if (few_digits)
        return _mm512_mulhi_epu16(numbers, _mm512_set1_epi32(6554)); /* below 2^14 */
    return _mm512_cvttps_epi32(
        _mm512_fmadd_ps(_mm512_cvtepi32_ps(numbers), _mm512_set1_ps(0.1f), _mm512_set1_ps(0.05f)));
}

/* Returns eight magnitudes. That of a negative value is of the next value towards zero, as negative
 * bins begin with the edge farther from zero. */
TARGET INLINE __m512d magnitudes_of_eight(const double *values, __mmask8 *negative, bool with_signs)
{
    const __m512i bits = _mm512_loadu_si512(values);
    if (!with_signs)
        return _mm512_castsi512_pd(bits);
    *negative = _mm512_movepi64_mask(bits);
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi64(INT64_MAX));
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i before = _mm512_mask_sub_epi64(magnitude, *negative, magnitude, one);
    /* The least negative value would become zero, which has a row of its own. */
    return _mm512_castsi512_pd(_mm512_mask_max_epu64(before, *negative, before, one));
}

/* The constants that a loop over a batch is compiled for. */
enum { FEW_DIGITS = 1, WITH_SIGNS = 2 };

/* Finds the rows of a batch. False if a value is neither in the window nor zero; its row is
 * undefined. */
TARGET INLINE bool digits_of_batch(const struct digits_layout *layout, const struct window *window,
                                   const double *values, uint32_t *rows, unsigned kind)
{
    const bool few_digits = kind & FEW_DIGITS, with_signs = kind & WITH_SIGNS;
    const __m512i low_words =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i end = _mm512_castpd_si512(_mm512_set1_pd(WINDOW_END));
    const __m512i per_decade = _mm512_set1_epi32((int)layout->per_decade);
    const int side = (int)DIGITS_SIDE(layout->per_decade);
    const __m512i zero = _mm512_broadcastd_epi32(_mm512_castsi512_si128(window->begin));
    const __m512i zero_row = _mm512_set1_epi32(side + 2);
    const __m512i mirror = _mm512_set1_epi32(2 * side + 4);
    __mmask8 in_a = 0xff, in_b = 0xff, negative_a = 0, negative_b = 0;
    __mmask16 in = 0xffff;
    for (size_t i = 0; i < BATCH; i += 16) {
        const __m512d a = magnitudes_of_eight(values + i, &negative_a, with_signs);
        const __m512d b = magnitudes_of_eight(values + i + 8, &negative_b, with_signs);
        __m512i decade_a, decade_b;
        const __m512i number_a = numbers_of_eight(window, a, &decade_a);
        const __m512i number_b = numbers_of_eight(window, b, &decade_b);
        const __m512i numbers = _mm512_permutex2var_epi32(number_a, low_words, number_b);
        const __m512i decades = _mm512_permutex2var_epi32(decade_a, low_words, decade_b);
        /* A number of the next decade is a tenth of itself there, which is less. */
        const __m512i next = _mm512_add_epi32(tenths(numbers, few_digits), per_decade);
        const __m512i begins = _mm512_permutexvar_epi32(decades, window->begin);
        __m512i found = _mm512_add_epi32(begins, _mm512_min_epu32(numbers, next));
        /* Zero, whose exponent is -inf, became number 0 of decade 0. */
        found = _mm512_mask_mov_epi32(found, _mm512_cmpeq_epi32_mask(found, zero), zero_row);
        if (with_signs)
            found = _mm512_mask_sub_epi32(found, _mm512_kunpackb(negative_b, negative_a), mirror,
                                          found);
        _mm512_storeu_si512(rows + i, found);
        in = _mm512_mask_cmplt_epu32_mask(in, decades, _mm512_set1_epi32(WINDOW_DECADES));
        in_a = _mm512_mask_cmplt_epu64_mask(in_a, _mm512_castpd_si512(a), end);
        in_b = _mm512_mask_cmplt_epu64_mask(in_b, _mm512_castpd_si512(b), end);
    }
    return (in_a & in_b) == 0xff && in == 0xffff;
}

TARGET INLINE struct window window_of(const struct digits_layout *layout)
{
    const int first = WINDOW_POWER_MAX - ((int)layout->digits - 1 - WINDOW_FIRST);
    const uint32_t before = DIGITS_SIDE(layout->per_decade) + 4 - layout->next / 10 +
                            (WINDOW_FIRST - DECADE_FIRST) * layout->per_decade;
    const __m512i numbered = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i decades =
        _mm512_mullo_epi32(numbered, _mm512_set1_epi32((int)layout->per_decade));
    return (struct window){
        .high = {_mm512_loadu_pd(window_high + first), _mm512_loadu_pd(window_high + first + 8)},
        .low = {_mm512_loadu_pd(window_low + first), _mm512_loadu_pd(window_low + first + 8)},
        .begin = _mm512_add_epi32(decades, _mm512_set1_epi32((int)before)),
        .half = _mm512_set1_pd(0x1p-53),
    };
}

/* Finds the rows of a batch of doubles, most of which have no sign and are in the window. False if
 * some are left to be found. */
TARGET static bool quick_rows_of_digits(const struct digits_layout *layout, const double *values,
                                        uint32_t *rows)
{
    const struct window window = window_of(layout);
    const bool few = layout->digits <= 3;
    return (few ? digits_of_batch(layout, &window, values, rows, FEW_DIGITS)
                : digits_of_batch(layout, &window, values, rows, 0)) ||
           digits_of_batch(layout, &window, values, rows, WITH_SIGNS);
}

/* --- characters --- */

/* 0, 1, 2, ...; and each four times. */
static const uint8_t byte_numbers[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
static const uint8_t byte_quarters[64] = {
    0,  0,  0,  0,  1,  1,  1,  1,  2,  2,  2,  2,  3,  3,  3,  3,  4,  4,  4,  4,  5,  5,
    5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  9,  9,  9,  9,  10, 10, 10, 10,
    11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15};

/* Returns which of 64 bytes are from lo to hi. */
TARGET INLINE uint64_t bytes_from_to(__m512i bytes, unsigned char lo, unsigned char hi)
{
    const __m512i above = _mm512_sub_epi8(bytes, _mm512_set1_epi8((char)lo));
    return _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((char)(hi - lo)));
}

/* Returns the code points of sixteen characters, given four bytes for each; those after a
 * character's own may be any. Sets *wrong to the characters that have another number of bytes than
 * they need. Six bits of each byte are joined, and those of other bytes shifted out; a first byte
 * of three or four leaves some of its own bits in front. */
TARGET INLINE __m512i points_of(__m512i four, __mmask16 *wrong)
{
    /* By the upper half of the first byte. */
    const __m512i shifts = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 12, 6, 0);
    const __m512i masks =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7ff, 0x7ff, 0xffff, 0x1fffff);
    const __m512i leasts =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x80, 0x800, 0x10000);
    const __m512i kind = _mm512_srli_epi32(four, 4);
    const __m512i sixes = _mm512_and_si512(four, _mm512_set1_epi8(0x3f));
    const __m512i twelves = _mm512_maddubs_epi16(sixes, _mm512_set1_epi16(1 << 8 | 64));
    const __m512i all = _mm512_madd_epi16(twelves, _mm512_set1_epi32(1 << 16 | 4096));
    const __m512i shifted = _mm512_srlv_epi32(all, _mm512_permutexvar_epi32(kind, shifts));
    const __m512i points = _mm512_and_si512(shifted, _mm512_permutexvar_epi32(kind, masks));
    const __m512i surrogates = _mm512_sub_epi32(points, _mm512_set1_epi32(0xd800));
    *wrong = _mm512_cmplt_epu32_mask(points, _mm512_permutexvar_epi32(kind, leasts)) |
             _mm512_cmplt_epu32_mask(surrogates, _mm512_set1_epi32(0x800)) |
             _mm512_cmpgt_epu32_mask(points, _mm512_set1_epi32(0x10ffff));
    return points;
}

TARGET INLINE size_t find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                     struct character_bytes *bytes)
{
    const __m512i window = _mm512_loadu_si512(data);
    const uint64_t beyond = _mm512_movepi8_mask(window);
    if (beyond == 0)
        return CHARACTERS_ASCII;
    const uint64_t next = bytes_from_to(window, 0x80, 0xbf);
    const uint64_t of_2 = bytes_from_to(window, 0xc2, 0xdf);
    const uint64_t of_3 = bytes_from_to(window, 0xe0, 0xef);
    const uint64_t of_4 = bytes_from_to(window, 0xf0, 0xf4);
    const uint64_t expected = (of_2 | of_3 | of_4) << 1 | (of_3 | of_4) << 2 | of_4 << 3;
    const uint64_t cut = (of_2 & 1ull << 63) | (of_3 & 3ull << 62) | (of_4 & 7ull << 61);
    if (expected != next || (next | of_2 | of_3 | of_4) != beyond)
        return 0;
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    const uint64_t inside = used < 64 ? (1ull << used) - 1 : UINT64_MAX;
    const uint64_t first = (of_2 | of_3 | of_4) & inside, ascii = ~beyond & inside;
    const unsigned found = (unsigned)__builtin_popcountll(first);
    const __m512i numbered = _mm512_loadu_si512(byte_numbers);
    const __m512i quarters = _mm512_loadu_si512(byte_quarters);
    const __m512i positions = _mm512_maskz_compress_epi8(first, numbered);
    for (unsigned i = 0; i < found; i += 16) {
        const __m512i at = _mm512_add_epi8(quarters, _mm512_set1_epi8((char)i));
        const __m512i which =
            _mm512_add_epi8(_mm512_permutexvar_epi8(at, positions), _mm512_set1_epi32(0x03020100));
        const unsigned there = found - i < 16 ? (1u << (found - i)) - 1 : 0xffff;
        __mmask16 wrong;
        const __m512i points = points_of(_mm512_permutexvar_epi8(which, window), &wrong);
        if (wrong & there)
            return 0;
        _mm512_storeu_si512(rows + *n + i, points);
    }
    _mm512_storeu_si512(bytes->gathered + bytes->len, _mm512_maskz_compress_epi8(ascii, window));
    bytes->len += (unsigned)__builtin_popcountll(ascii);
    *n += found;
    return used;
}

/* --- bytes, letters and words --- */

/* A letter has one class, which is its entry in a table of 128. */
static void prepare_letters(struct count_plan *plan)
{
    struct letter_classes *letters = &plan->letters;
    letters->count = (unsigned)plan->spec->bins;
    for (unsigned bin = 0; bin < letters->count; bin++)
        letters->bin_of[bin] = (uint8_t)bin;
    for (unsigned value = 0; value < 128; value++) {
        unsigned bin = plan->spec->bin_of[value];
        if (bin != NO_BIN)
            letters->table[bin / 8][value] = (uint8_t)(1u << bin % 8);
    }
}

TARGET static void count_letter_group(const uint8_t *table, const unsigned char *data,
                                      size_t rounds, uint64_t *totals)
{
    struct lookup by = {true, {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64)}};
    count_rounds(data, rounds, &by, totals);
}

static void count_letters(const struct count_plan *plan, const unsigned char *data, size_t len,
                          uint64_t *counts)
{
    const struct letter_classes *letters = &plan->letters;
    uint64_t totals[CLASS_GROUPS * 8] = {0};
    while (len >= ROUND) {
        size_t rounds = len / ROUND < ROUNDS_MAX ? len / ROUND : ROUNDS_MAX;
        for (unsigned first = 0; first < letters->count; first += 8)
            count_letter_group(letters->table[first / 8], data, rounds, totals + first);
        data += rounds * ROUND;
        len -= rounds * ROUND;
    }
    for (unsigned kind = 0; kind < letters->count; kind++)
        counts[letters->bin_of[kind]] += totals[kind];
    count_byte_by_byte(plan->spec, data, len, counts);
}

static void count_values_or_words(const struct count_plan *plan, const unsigned char *data,
                                  size_t len, struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    size_t done = 0;
    if (spec->channels <= 1 && spec->type.size == 4 && !spec->type.big_endian &&
        spec->binning.bins <= BYTE_BINS && plan->rows.way == PLAN_OFFSETS &&
        plan->rows.bits == 32 && !tally->moments && !paged)
        done = count_words_in_byte_bins(plan, data, len, tally->counts);
    tally->samples += done / 4;
    count_values(plan, data + done, len - done, tally, paged);
}

/* --- the kernels --- */

static bool avx512_runs_here(void)
{
    return cpu_has(AVX512F, "avx512f") && cpu_has(AVX512BW, "avx512bw") &&
           cpu_has(AVX512_VBMI, "avx512vbmi") && cpu_has(AVX512_VBMI2, "avx512vbmi2") &&
           cpu_has(AVX512_BITALG, "avx512bitalg") && cpu_has(GFNI, "gfni") &&
           cpu_has(AVX512DQ, "avx512dq") && cpu_has(AVX512VL, "avx512vl") &&
           cpu_has(AVX512_IFMA, "avx512ifma") && cpu_has(POPCNT, "popcnt");
}

const struct cpu_kernels cpu_kernels_avx512 = {
    .name = "avx512",
    .about = "AVX-512",
    .runs_here = avx512_runs_here,
    .prepare_letters = prepare_letters,
    .count_letters = count_letters,
    .count_bytes = count_bytes,
    .count_values = count_values_or_words,
    .count_numbers = count_numbers,
    .count_characters = count_characters,
    .parser = &number_parser_avx512,
};

#endif
