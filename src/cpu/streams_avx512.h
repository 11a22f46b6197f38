/* SPDX-License-Identifier: MIT */
/* Counts bytes with AVX-512: a part of count_avx512.c. Bytes are sorted into four streams by their
 * upper two bits. Within a stream a value has six bits, so a table of 64 finds the classes of eight
 * values at a time. Values that a stream does not have cost next to nothing. (Counting bits by
 * position is Harold Aptroot's way to histograms; the streams are ours.) */
#ifndef GPUHISTO_STREAMS_AVX512_H
#define GPUHISTO_STREAMS_AVX512_H

#include "classes_avx512.h"

#include <string.h>

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

#endif
