/* SPDX-License-Identifier: MIT */
/* The loops that decode a block's literals, and parse its sequences to operations, for the file of
 * each instruction set. That defines TARGET and INLINE, and
 *
 *     last_offsets                   type: the last three offsets
 *     load_offsets, store_offsets    from and to struct repeat_offsets
 *     take_offset(last, value, no_literals)
 *                                    returns the offset of a sequence, which becomes the first of
 *                                    the last ones. Which of these it is cannot be predicted, so
 *                                    the choice takes no branches. */
#include "block_loops.h"
#include "src/base/byte_word.h"
#include "zstd_blocks.h"

/* --- literals --- */

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
    const uint16_t *entries = streams->table->entries;
    const unsigned shift = 64 - streams->table->log;
    unsigned char *out = streams->out;
    struct stream a = stream[0], b = stream[1], c = stream[2], d = stream[3];
    for (uint32_t i = 0; i < rounds; i += CODES_AT_ONCE) {
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
    bool is_right = true;
    for (uint32_t i = 0; i < 4; i++) {
        read_codes(&stream[i], streams->table, streams->out + i * part + rounds,
                   (i < 3 ? part : last) - rounds);
        is_right &= stream_is_at(&stream[i], begins[i]);
    }
    return is_right;
}

/* --- sequences --- */

/* Bits of a loaded word that are surely of the stream. */
#define WORD_BITS 56

/* The position in a stream, which is read from its end to its beginning. */
struct sequence_bits {
    const unsigned char *in;
    ptrdiff_t left; /* bits; below 0: more were taken than there are */
};

/* Returns the next bits, the first one highest. */
TARGET INLINE uint64_t next_bits(const struct sequence_bits *bits)
{
    return byte_word(bits->in + (bits->left >> 3) - 7) << (8 - (bits->left & 7));
}

/* Returns the highest `count` bits, less than 64. */
TARGET INLINE uint64_t highest(uint64_t word, unsigned count)
{
    return word >> 1 >> ((63 - count) & 63);
}

/* Returns the lowest `count` bits, less than 32. */
TARGET INLINE uint32_t lowest(uint64_t word, unsigned count)
{
    return (uint32_t)word & ((UINT32_C(1) << count) - 1);
}

TARGET INLINE uint32_t fse_base(sequence_entry entry)
{
    return (uint32_t)(entry >> 32);
}

TARGET INLINE uint32_t fse_next(sequence_entry entry)
{
    return (uint32_t)(entry >> 16) & 0xffff;
}

TARGET INLINE unsigned fse_extra(sequence_entry entry)
{
    return (unsigned)(entry >> 8) & 255;
}

TARGET INLINE unsigned fse_bits(sequence_entry entry)
{
    return (unsigned)entry & 255;
}

/* One sequence. */
struct sequence {
    uint32_t literals, match, offset_value;
    uint64_t states; /* bits of the states after it, lowest */
};

/* Takes a sequence whose states are the entries, and `states` bits for those after it. */
TARGET INLINE struct sequence read_sequence(struct sequence_bits *bits,
                                            const sequence_entry entries[3], unsigned extra,
                                            unsigned states)
{
    const sequence_entry literals = entries[KIND_LITERALS], match = entries[KIND_MATCH];
    const unsigned of_literals = fse_extra(literals), of_match = fse_extra(match),
                   of_lengths = of_literals + of_match;
    uint64_t word = next_bits(bits), numbers;
    struct sequence sequence = {.offset_value = fse_base(entries[KIND_OFFSET])};
    if (__builtin_expect(extra + states <= WORD_BITS, 1)) {
        numbers = highest(word, extra);
        sequence.offset_value += (uint32_t)(numbers >> of_lengths);
        sequence.states = highest(word << extra, states);
        bits->left -= (ptrdiff_t)(extra + states);
    } else {
        sequence.offset_value += (uint32_t)highest(word, extra - of_lengths);
        bits->left -= (ptrdiff_t)(extra - of_lengths);
        word = bits->left < 0 ? 0 : next_bits(bits);
        numbers = highest(word, of_lengths);
        bits->left -= (ptrdiff_t)of_lengths;
        word = bits->left < 0 ? 0 : next_bits(bits);
        sequence.states = highest(word, states);
        bits->left -= (ptrdiff_t)states;
    }
    sequence.literals = fse_base(literals) + lowest(numbers, of_literals);
    sequence.match = fse_base(match) + lowest(numbers >> of_literals, of_match);
    return sequence;
}

TARGET static bool parse_sequences(struct sequences *sequences)
{
    const struct sequence_table *const *tables = sequences->tables;
    const uint32_t content_max = sequences->content_max;
    struct sequence_bits bits = {.in = sequences->in};
    struct operation_writer writer = sequences->writer;
    last_offsets last = load_offsets(&sequences->repeat_offsets);
    uint32_t state[SEQUENCE_KINDS], literals = 0, left = sequences->count;
    const size_t len = sequences->len;
    if (len == 0 || bits.in[len - 1] == 0)
        return false;
    bits.left = (ptrdiff_t)(len - 1) * 8 + 31 - __builtin_clz(bits.in[len - 1]);
    uint64_t word = next_bits(&bits);
    for (int kind = 0; kind < SEQUENCE_KINDS; kind++) {
        state[kind] = (uint32_t)highest(word, tables[kind]->log);
        word <<= tables[kind]->log;
        bits.left -= (ptrdiff_t)tables[kind]->log;
    }
    for (;;) {
        const sequence_entry entries[SEQUENCE_KINDS] = {tables[0]->entries[state[0]],
                                                        tables[1]->entries[state[1]],
                                                        tables[2]->entries[state[2]]};
        const sequence_entry sum = entries[0] + entries[1] + entries[2];
        if (bits.left < 0)
            return false;
        left--;
        const struct sequence sequence =
            read_sequence(&bits, entries, fse_extra(sum), left == 0 ? 0 : fse_bits(sum));
        const uint32_t offset = take_offset(&last, sequence.offset_value, sequence.literals == 0);
        if (writer.content + sequence.literals + sequence.match > content_max)
            return false;
        literals += sequence.literals;
        operations_add(&writer, sequence.literals, sequence.match, offset);
        if (left == 0)
            break;
        const unsigned of_offset = fse_bits(entries[KIND_OFFSET]),
                       of_match = fse_bits(entries[KIND_MATCH]);
        state[KIND_OFFSET] = fse_next(entries[KIND_OFFSET]) + lowest(sequence.states, of_offset);
        state[KIND_MATCH] =
            fse_next(entries[KIND_MATCH]) + lowest(sequence.states >> of_offset, of_match);
        state[KIND_LITERALS] = fse_next(entries[KIND_LITERALS]) +
                               (uint32_t)(sequence.states >> (of_offset + of_match));
    }
    sequences->writer = writer;
    sequences->repeat_offsets = store_offsets(last);
    sequences->literals = literals;
    return bits.left == 0;
}
