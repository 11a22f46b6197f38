/* SPDX-License-Identifier: MIT */
/* Letters and bytes with AVX-512: one bit a class by a lookup, counted by carry-save adders (Harley
 * and Seal), so that a popcount is due once for 16 vectors.
 *
 * Letters: a byte's class is its entry in a table of 128. Bytes: they are first sorted into four
 * streams by their upper two bits; within a stream a value has six bits, so that a table of 64
 * finds those of eight values at a time. Values that a stream does not have cost only a look.
 * (Counting bits by position is Harold Aptroot's way to histograms; the streams are ours.) */
#include "characters_ascii.h"
#include "count.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>
#include <string.h>

#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512bitalg,gfni,popcnt")))
#define INLINE static inline __attribute__((always_inline))

#define VECTOR 64
#define ROUND (16 * VECTOR) /* bytes between two popcounts */

/* How far ahead data are fetched from memory, bytes: a page's end stops the processor's own
 * prefetching, and sorting and counting take turns. Out of the L2 cache it costs nothing. */
#define AHEAD_TO_L2 16384

/* Rounds that the bytes of an accumulator can count: eight a round at most, in each. */
#define ROUNDS_MAX 31

static bool avx512_runs_here(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("popcnt");
}

/* --- eight classes, a bit of every byte each --- */

/* How a byte finds its classes: by the lower six bits, or by all seven of ASCII. */
struct lookup {
    bool ascii;
    __m512i table[2];
};

/* Counts in planes of weight 1, 2, 4 and 8. */
struct planes {
    __m512i ones, twos, fours, eights;
};

/* 0x7f stands for all that is not ASCII; it is not a letter. */
AVX512 INLINE __m512i avx512_classes_at(const unsigned char *data, const struct lookup *by)
{
    __m512i bytes = _mm512_loadu_si512(data);
    if (!by->ascii)
        return _mm512_permutexvar_epi8(bytes, by->table[0]);
    bytes = _mm512_min_epu8(bytes, _mm512_set1_epi8(0x7f));
    return _mm512_permutex2var_epi8(by->table[0], bytes, by->table[1]);
}

/* Adds two to a plane, and gives what carries over to the next. */
AVX512 INLINE __m512i add_two(__m512i *plane, __m512i a, __m512i b)
{
    __m512i carry = _mm512_ternarylogic_epi64(*plane, a, b, 0xe8); /* majority */
    *plane = _mm512_ternarylogic_epi64(*plane, a, b, 0x96);        /* parity */
    return carry;
}

AVX512 INLINE __m512i add_2(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    return add_two(&planes->ones, avx512_classes_at(data, by),
                   avx512_classes_at(data + VECTOR, by));
}

AVX512 INLINE __m512i add_4(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    __m512i carry = add_2(planes, data, by);
    return add_two(&planes->twos, carry, add_2(planes, data + 2 * VECTOR, by));
}

AVX512 INLINE __m512i add_8(struct planes *planes, const unsigned char *data,
                            const struct lookup *by)
{
    __m512i carry = add_4(planes, data, by);
    return add_two(&planes->fours, carry, add_4(planes, data + 4 * VECTOR, by));
}

AVX512 INLINE __m512i add_16(struct planes *planes, const unsigned char *data,
                             const struct lookup *by)
{
    __m512i carry = add_8(planes, data, by);
    return add_two(&planes->eights, carry, add_8(planes, data + 8 * VECTOR, by));
}

/* For every 8 bytes of a plane: how many have the bit of class k, in byte k. Turns each 8 x 8 bits
 * over, as a product of matrices. */
AVX512 INLINE __m512i bits_by_class(__m512i plane)
{
    __m512i unit = _mm512_set1_epi64((long long)0x8040201008040201ull);
    return _mm512_popcnt_epi8(_mm512_gf2p8affine_epi64_epi8(unit, plane, 0));
}

/* The eight sums, 64 bits each, of what bits_by_class gave. */
AVX512 INLINE __m512i sum_by_class(__m512i bits)
{
    static const uint8_t by_class[64] = {
        0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
        50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
        37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63};
    __m512i sorted = _mm512_permutexvar_epi8(_mm512_loadu_si512(by_class), bits);
    return _mm512_sad_epu8(sorted, _mm512_setzero_si512());
}

/* Adds the classes of whole rounds, ROUNDS_MAX at most, to eight totals. */
AVX512 INLINE void count_rounds(const unsigned char *data, size_t rounds, const struct lookup *by,
                                uint64_t *totals)
{
    const __m512i zero = _mm512_setzero_si512();
    struct planes planes = {zero, zero, zero, zero};
    __m512i sixteens = zero;
    for (size_t i = 0; i < rounds; i++)
        sixteens = _mm512_add_epi8(sixteens, bits_by_class(add_16(&planes, data + i * ROUND, by)));
    /* The planes' own: at most 8 x 15 in a byte. */
    __m512i rest = _mm512_slli_epi16(bits_by_class(planes.eights), 1);
    rest = _mm512_slli_epi16(_mm512_add_epi8(rest, bits_by_class(planes.fours)), 1);
    rest = _mm512_slli_epi16(_mm512_add_epi8(rest, bits_by_class(planes.twos)), 1);
    rest = _mm512_add_epi8(rest, bits_by_class(planes.ones));
    __m512i sums =
        _mm512_add_epi64(_mm512_slli_epi64(sum_by_class(sixteens), 4), sum_by_class(rest));
    _mm512_storeu_si512(totals, _mm512_add_epi64(_mm512_loadu_si512(totals), sums));
}

/* --- letters --- */

static void avx512_prepare_letters(struct count_plan *plan)
{
    plan->classes = (unsigned)plan->histogram->bins;
    for (unsigned bin = 0; bin < plan->classes; bin++)
        plan->bin_of_class[bin] = (uint8_t)bin;
    for (unsigned value = 0; value < 128; value++) {
        unsigned bin = plan->histogram->bin_of[value];
        if (bin != NO_BIN)
            plan->table[bin / 8][value] = (uint8_t)(1u << bin % 8);
    }
}

AVX512 static void count_letter_group(const uint8_t *table, const unsigned char *data,
                                      size_t rounds, uint64_t *totals)
{
    struct lookup by = {true, {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64)}};
    count_rounds(data, rounds, &by, totals);
}

AVX512 static void avx512_count_letters(const struct count_plan *plan, const unsigned char *data,
                                        size_t len, uint64_t *counts)
{
    uint64_t totals[CLASS_GROUPS * 8] = {0};
    while (len >= ROUND) {
        size_t rounds = len / ROUND < ROUNDS_MAX ? len / ROUND : ROUNDS_MAX;
        for (unsigned first = 0; first < plan->classes; first += 8)
            count_letter_group(plan->table[first / 8], data, rounds, totals + first);
        data += rounds * ROUND;
        len -= rounds * ROUND;
    }
    for (unsigned kind = 0; kind < plan->classes; kind++)
        counts[plan->bin_of_class[kind]] += totals[kind];
    count_byte_by_byte(plan->histogram, data, len, counts);
}

/* --- bytes --- */

#define STREAMS 4
#define STREAM_VALUES 64
#define FULL (16 * (size_t)ROUND) /* bytes at which a stream is counted */
#define PIECE 256                 /* bytes that are counted at once if they are all the same */

/* Bytes by their upper two bits, waiting to be many enough. They are read eight times, a vector at
 * a time, so no vector is to lie in two lines of the cache. */
struct streams {
    _Alignas(VECTOR) unsigned char bytes[STREAMS][FULL + ROUND + VECTOR];
    size_t len[STREAMS];
};

/* Whether a piece of PIECE bytes is one byte over and over; its ends and middle tell nearly always.
 */
AVX512 INLINE bool piece_is_run(const unsigned char *data)
{
    if (data[0] != data[PIECE - 1] || data[0] != data[PIECE / 2])
        return false;
    __m512i byte = _mm512_set1_epi8((char)data[0]);
    __mmask64 same = ~(__mmask64)0;
    for (size_t i = 0; i < PIECE; i += VECTOR)
        same &= _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(data + i), byte);
    return same == ~(__mmask64)0;
}

/* Appends the bytes of a vector that are `in` a stream, and gives its new end. A compressed vector
 * is stored whole; what lies after its end is overwritten next. */
AVX512 INLINE unsigned char *append_to_stream(unsigned char *end, __m512i bytes, uint64_t in)
{
    _mm512_storeu_si512(end, _mm512_maskz_compress_epi8(in, bytes));
    return end + __builtin_popcountll(in);
}

/* Sorts a piece. The streams' ends are kept at hand: in memory, each store of bytes might be to one
 * of them, for what the compiler knows. */
AVX512 INLINE void sort_piece(struct streams *streams, const unsigned char *data)
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

/* Which groups of eight values there are, a bit each. */
AVX512 INLINE unsigned groups_in_stream(const unsigned char *data, size_t len)
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

/* Counts whole rounds of a stream; counts are those of its 64 values. */
AVX512 static void count_stream(const unsigned char *data, size_t rounds, uint64_t *counts)
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

/* Counts the whole rounds of stream k, and keeps the rest. */
static void drain_stream(struct streams *streams, unsigned k, uint64_t *counts)
{
    unsigned char *bytes = streams->bytes[k];
    size_t rounds = streams->len[k] / ROUND, done = rounds * ROUND;
    count_stream(bytes, rounds, counts + k * STREAM_VALUES);
    streams->len[k] -= done;
    memcpy(bytes, bytes + done, streams->len[k]);
}

/* Counts all that is left: fills each stream up to a whole round with its lowest value, and takes
 * that many off its count. */
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

/* Sorts a round, and counts the streams that are full then. */
AVX512 INLINE void sort_round(struct streams *streams, const unsigned char *data, uint64_t *counts)
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

AVX512 static void avx512_count_bytes(const unsigned char *data, size_t len, uint64_t *counts)
{
    struct streams streams;
    memset(streams.len, 0, sizeof streams.len);
    for (; len >= ROUND; data += ROUND, len -= ROUND)
        sort_round(&streams, data, counts);
    drain_all_streams(&streams, counts);
    for (size_t i = 0; i < len; i++)
        counts[data[i]]++;
}

/* --- values --- */

#define OWN(name) avx512_##name
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")))
#define SQUARE_BY_FMA
#define SUM_BY_IFMA
#include "digits_avx512.h"
#define QUICK_DIGITS avx512_rows_of_digits
#include "count_values.h"

/* Up to 256 equal bins of words: each becomes the byte that is its bin, and bytes are what is
 * counted fastest. Words outside of all bins count as bin 0 until the end. */
#define BYTE_BINS 256
#define AHEAD_TO_L1 (ROUND * 4) /* the next round, while this one is sorted */

struct word_rows {
    __m512i first, last, high, low; /* as in rows_by_32_bits */
    bool by_bits; /* a bin is as wide as a power of two, so that its number are bits of an offset */
    __m512i fields; /* where these begin in two offsets, by turns */
    bool is_signed;
    uint64_t below, above; /* words so far */
};

/* offset * reciprocal >> 64, for the even and for the odd words. */
AVX512 INLINE __m512i scale_even_offsets(__m512i offset, const struct word_rows *rows)
{
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(offset, rows->low), 32);
    return _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epu32(offset, rows->high), low), 32);
}

AVX512 INLINE __m512i scale_offsets(__m512i offset, const struct word_rows *rows)
{
    __m512i even = scale_even_offsets(offset, rows);
    __m512i odd = scale_even_offsets(_mm512_srli_epi64(offset, 32), rows);
    return _mm512_or_si512(even, _mm512_slli_epi64(odd, 32));
}

AVX512 INLINE __m512i offsets_at(const unsigned char *data, const struct word_rows *rows)
{
    return _mm512_sub_epi32(_mm512_loadu_si512(data), rows->first);
}

/* Words that may lie outside of all bins: these get an offset of 0. */
AVX512 INLINE __m512i offsets_within(__m512i offset, struct word_rows *rows)
{
    __m512i word = _mm512_add_epi32(offset, rows->first);
    __mmask16 outside = _mm512_cmpgt_epu32_mask(offset, rows->last);
    __mmask16 below = rows->is_signed ? _mm512_cmplt_epi32_mask(word, rows->first)
                                      : _mm512_cmplt_epu32_mask(word, rows->first);
    rows->below += (unsigned)__builtin_popcount(below);
    rows->above += (unsigned)__builtin_popcount((unsigned)outside & ~(unsigned)below);
    return _mm512_maskz_mov_epi32((__mmask16)~outside, offset);
}

/* The bins of 64 offsets, in whatever order: two neighbours out of each vector in turn. */
AVX512 INLINE __m512i bins_of_fields(const __m512i *offsets, const struct word_rows *rows)
{
    __m512i bins = _mm512_setzero_si512();
    for (unsigned k = 0; k < 4; k++)
        bins = _mm512_mask_multishift_epi64_epi8(bins, 0x0303030303030303ull << 2 * k, rows->fields,
                                                 offsets[k]);
    return bins;
}

/* The bins of 64 words, in any order. */
AVX512 INLINE void find_64_bins(const unsigned char *data, struct word_rows *rows,
                                unsigned char *bins)
{
    __m512i offsets[4];
    for (unsigned k = 0; k < 4; k++)
        offsets[k] = offsets_at(data + k * VECTOR, rows);
    __m512i most = _mm512_max_epu32(_mm512_max_epu32(offsets[0], offsets[1]),
                                    _mm512_max_epu32(offsets[2], offsets[3]));
    if (_mm512_cmpgt_epu32_mask(most, rows->last))
        for (unsigned k = 0; k < 4; k++)
            offsets[k] = offsets_within(offsets[k], rows);
    if (rows->by_bits)
        _mm512_storeu_si512(bins, bins_of_fields(offsets, rows));
    else
        for (unsigned k = 0; k < 4; k++)
            _mm_storeu_si128((__m128i *)(void *)(bins + k * 16),
                             _mm512_cvtepi32_epi8(scale_offsets(offsets[k], rows)));
}

/* Those of ROUND words. */
AVX512 INLINE void find_byte_bins(const unsigned char *data, struct word_rows *rows,
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

/* Counts whole rounds of words, and says how many bytes that were. */
AVX512 static size_t count_words_in_byte_bins(const struct count_plan *plan,
                                              const unsigned char *data, size_t len,
                                              uint64_t *counts)
{
    const struct binning *binning = &plan->histogram->binning;
    uint64_t width = (uint64_t)binning->span / binning->bins;
    int shift = __builtin_ctzll(width);
    struct word_rows rows = {
        .first = _mm512_set1_epi32((int)(uint32_t)binning->first),
        .last = _mm512_set1_epi32((int)(uint32_t)(binning->span - 1)),
        .high = _mm512_set1_epi64((long long)(binning->reciprocal >> 32)),
        .low = _mm512_set1_epi64((long long)(uint32_t)binning->reciprocal),
        .by_bits = (uint64_t)binning->span == width * binning->bins && width == 1ull << shift &&
                   shift <= 24, /* or the eight bits were not one offset's alone */
        .fields = _mm512_set1_epi16((short)(shift | (32 + shift) << 8)),
        .is_signed = plan->histogram->type.kind == 'i',
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

AVX512 static void avx512_count_values_or_words(const struct count_plan *plan,
                                                const unsigned char *data, size_t len,
                                                struct tally *tally, struct paged_counts *paged)
{
    const struct histogram *histogram = plan->histogram;
    size_t done = 0;
    if (histogram->channels <= 1 && histogram->type.size == 4 && !histogram->type.big_endian &&
        histogram->binning.bins <= BYTE_BINS && plan->rows.way == PLAN_OFFSETS &&
        plan->rows.bits == 32 && !tally->moments && !paged)
        done = count_words_in_byte_bins(plan, data, len, tally->counts);
    tally->samples += done / 4;
    avx512_count_values(plan, data + done, len - done, tally, paged);
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

/* Which of 64 bytes lie from lo to hi. */
AVX512 INLINE uint64_t bytes_from_to(__m512i bytes, unsigned char lo, unsigned char hi)
{
    const __m512i above = _mm512_sub_epi8(bytes, _mm512_set1_epi8((char)lo));
    return _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((char)(hi - lo)));
}

/* Sixteen characters, four bytes each of which those after a character's own may be any: their code
 * points. Sets *wrong to which ones are not what the number of their bytes allows. Six bits of each
 * byte are put together, and those of other bytes shifted out; a first byte of three or four
 * leaves some bits of its own in front. */
AVX512 INLINE __m512i points_of(__m512i four, __mmask16 *wrong)
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

AVX512 INLINE size_t avx512_find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
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
    const __m512i places = _mm512_maskz_compress_epi8(first, numbered);
    for (unsigned i = 0; i < found; i += 16) {
        const __m512i at = _mm512_add_epi8(quarters, _mm512_set1_epi8((char)i));
        const __m512i which =
            _mm512_add_epi8(_mm512_permutexvar_epi8(at, places), _mm512_set1_epi32(0x03020100));
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

#undef TARGET
#define TARGET AVX512
#include "count_characters.h"

const struct counter counter_avx512 = {
    .name = "avx512",
    .about = "AVX-512",
    .runs_here = avx512_runs_here,
    .prepare_letters = avx512_prepare_letters,
    .count_letters = avx512_count_letters,
    .count_bytes = avx512_count_bytes,
    .count_values = avx512_count_values_or_words,
    .count_numbers = avx512_count_numbers,
    .count_characters = avx512_count_all_characters,
    .parser = &number_parser_avx512,
};

#endif
