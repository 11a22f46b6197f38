/* SPDX-License-Identifier: MIT */
/* The loops that decode the literals of a block, for the file of each instruction set, which
 * defines TARGET and INLINE. */
#include "src/base/byte_word.h"

#define CODES_AT_ONCE 5 /* of 11 bits: with up to 7 bits used of a byte they fit into 63 */
#define JUMP_TABLE 6    /* bytes: the sizes of the first three streams */
#define STREAMS_CONTENT_MIN 6
#define STREAMS_SIZE_MIN 10

/* A stream, read from its end to its beginning. The next bits are the highest of `bits`; its lowest
 * bit that is set marks how many of the 64 were used. */
struct stream {
    const unsigned char *at; /* the word that `bits` was */
    uint64_t bits;
};

TARGET INLINE bool stream_begin(struct stream *stream, const unsigned char *in, size_t len)
{
    if (len == 0 || in[len - 1] == 0)
        return false;
    const unsigned padding = (unsigned)__builtin_clz(in[len - 1]) - 23; /* and the end mark */
    stream->at = in + len - 8;
    stream->bits = (byte_word(stream->at) | 1) << padding;
    return true;
}

TARGET INLINE void stream_fill(struct stream *stream)
{
    const unsigned used = (unsigned)__builtin_ctzll(stream->bits);
    stream->at -= used / 8;
    stream->bits = (byte_word(stream->at) | 1) << used % 8;
}

TARGET INLINE bool stream_is_at(const struct stream *stream, const unsigned char *begin)
{
    const unsigned used = (unsigned)__builtin_ctzll(stream->bits);
    return used % 8 == 0 && stream->at + 8 - used / 8 == begin;
}

TARGET INLINE unsigned char stream_code(struct stream *stream, const uint16_t *entries,
                                        unsigned shift)
{
    const uint16_t entry = entries[stream->bits >> shift];
    stream->bits <<= entry >> 8;
    return (unsigned char)entry;
}

TARGET INLINE void read_codes(struct stream *stream, const struct huffman_table *table,
                              unsigned char *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = stream_code(stream, table->entries, 64 - table->log);
        stream_fill(stream);
    }
}

TARGET static bool read_stream(const struct huffman_streams *streams)
{
    struct stream stream;
    if (!stream_begin(&stream, streams->in, streams->len))
        return false;
    read_codes(&stream, streams->table, streams->out, streams->count);
    return stream_is_at(&stream, streams->in);
}

/* Reads the first `count` codes of each of four streams, a multiple of CODES_AT_ONCE. */
TARGET INLINE void read_rounds(struct stream stream[4], const struct huffman_table *table,
                               unsigned char *out, const uint32_t part_and_count[2])
{
    const uint16_t *entries = table->entries;
    const unsigned shift = 64 - table->log;
    const uint32_t part = part_and_count[0], count = part_and_count[1];
    struct stream a = stream[0], b = stream[1], c = stream[2], d = stream[3];
    for (uint32_t i = 0; i < count; i += CODES_AT_ONCE) {
        for (uint32_t k = i; k < i + CODES_AT_ONCE; k++) {
            out[k] = stream_code(&a, entries, shift);
            out[part + k] = stream_code(&b, entries, shift);
            out[2 * part + k] = stream_code(&c, entries, shift);
            out[3 * part + k] = stream_code(&d, entries, shift);
        }
        stream_fill(&a);
        stream_fill(&b);
        stream_fill(&c);
        stream_fill(&d);
    }
    stream[0] = a, stream[1] = b, stream[2] = c, stream[3] = d;
}

TARGET static bool read_streams(const struct huffman_streams *streams)
{
    const unsigned char *in = streams->in, *begins[4];
    struct stream stream[4];
    const uint32_t part = (streams->count + 3) / 4;
    if (streams->len < STREAMS_SIZE_MIN || streams->count < STREAMS_CONTENT_MIN ||
        3 * part > streams->count)
        return false;
    size_t left = streams->len - JUMP_TABLE;
    in += JUMP_TABLE;
    for (int i = 0; i < 4; i++) {
        const unsigned char *size = streams->in + 2 * i;
        const size_t stated = i < 3 ? (size_t)(size[0] | size[1] << 8) : left;
        if (stated > left || !stream_begin(&stream[i], in, stated))
            return false;
        begins[i] = in;
        in += stated;
        left -= stated;
    }
    const uint32_t last = streams->count - 3 * part, rounds = last - last % CODES_AT_ONCE;
    const uint32_t part_and_count[2] = {part, rounds};
    read_rounds(stream, streams->table, streams->out, part_and_count);
    bool is_right = true;
    for (uint32_t i = 0; i < 4; i++) {
        read_codes(&stream[i], streams->table, streams->out + i * part + rounds,
                   (i < 3 ? part : last) - rounds);
        is_right &= stream_is_at(&stream[i], begins[i]);
    }
    return is_right;
}
