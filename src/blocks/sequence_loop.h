/* SPDX-License-Identifier: MIT */
/* The loop that parses sequences of a block to operations, for the file of each instruction set.
 * That defines TARGET and INLINE, and includes last_offsets_avx2.h or last_offsets_portable.h. */
#include "src/base/byte_word.h"

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
    const struct sequence_table *tables = sequences->tables;
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
        state[kind] = (uint32_t)highest(word, tables[kind].log);
        word <<= tables[kind].log;
        bits.left -= (ptrdiff_t)tables[kind].log;
    }
    for (;;) {
        const sequence_entry entries[SEQUENCE_KINDS] = {
            tables[0].entries[state[0]], tables[1].entries[state[1]], tables[2].entries[state[2]]};
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
