/* SPDX-License-Identifier: MIT */
/* Symbols of a deflate block to operations, for the file of each instruction set, which defines
 * TARGET and INLINE. */
#include "deflate_filling.h"
#include "src/base/byte_word.h"

#define INPUT_MARGIN 16 /* more bytes of input than one round of the fast loop takes */

TARGET INLINE bool is_at_stop(const struct filling *filling)
{
    return filling->literal >= filling->literals_stop ||
           filling->writer.next >= filling->operations_stop;
}

/* Adds the literals of an entry. */
TARGET INLINE void add_literals(struct filling *filling, uint32_t entry)
{
    filling->literal[0] = (unsigned char)(entry >> 16);
    filling->literal[1] = (unsigned char)(entry >> 24);
    filling->literal += entry_literals(entry);
}

/* Adds the literals that are pending, and a match. */
TARGET INLINE void add_match(struct filling *filling, uint32_t length, uint32_t distance)
{
    operations_add(&filling->writer, pending_literals(filling), length, distance);
    filling->added = filling->literal;
}

/* The next bits of the stream, the first one lowest. */
struct bit_reader {
    uint64_t bits;
    const unsigned char *next; /* what is loaded next */
    unsigned count;            /* its lowest 6 bits: how many bits there are */
};

/* Has at least 56 bits there. */
TARGET INLINE void refill_bits(struct bit_reader *reader)
{
    reader->bits |= byte_word(reader->next) << (reader->count & 63);
    reader->next += (63 - (reader->count & 63)) >> 3;
    reader->count |= 56;
}

TARGET INLINE void take_bits(struct bit_reader *reader, uint32_t entry)
{
    reader->bits >>= entry_bits(entry);
    reader->count -= entry;
}

TARGET INLINE void begin_bits(struct bit_reader *reader, const struct symbols *symbols)
{
    *reader = (struct bit_reader){.next = symbols->input->bytes + symbols->bit / 8};
    refill_bits(reader);
    take_bits(reader, symbols->bit % 8);
}

TARGET INLINE uint64_t place_of_bits(const struct bit_reader *reader, const struct symbols *symbols)
{
    return 8 * (uint64_t)(reader->next - symbols->input->bytes) - (reader->count & 63);
}

#define RARELY(condition) __builtin_expect((condition) != 0, 0)

/* Parses while there is plenty of input, up to a stop. Ends before the end of the block, and before
 * what is invalid. A literal, a length and a distance take 48 bits at most. */
TARGET INLINE void parse_plenty(struct symbols *symbols, struct filling *filling)
{
    const struct deflate_tables *tables = symbols->tables;
    const unsigned char *last = symbols->input->bytes + symbols->input->bits / 8 - INPUT_MARGIN;
    struct filling to = *filling;
    struct bit_reader reader;
    begin_bits(&reader, symbols);
    while (reader.next <= last && !is_at_stop(&to)) {
        refill_bits(&reader);
        uint32_t entry = first_entry(tables->literals, LITERAL_BITS, reader.bits);
        add_literals(&to, entry);
        if (!(entry & ENTRY_LENGTH)) {
            if (RARELY(entry & ENTRY_RARE)) {
                entry = final_entry(tables->literals, LITERAL_BITS, entry, reader.bits);
                if (entry & ENTRY_RARE)
                    break;
                add_literals(&to, entry);
            }
            if (!(entry & ENTRY_LENGTH)) {
                take_bits(&reader, entry);
                continue;
            }
        }
        const uint32_t length = entry_length(entry, reader.bits);
        const uint64_t bits = reader.bits >> entry_bits(entry);
        uint32_t distance = first_entry(tables->distances, DISTANCE_BITS, bits);
        if (RARELY(distance & ENTRY_RARE)) {
            distance = final_entry(tables->distances, DISTANCE_BITS, distance, bits);
            if (distance & ENTRY_RARE) {
                to.literal -= entry_literals(entry);
                break;
            }
        }
        add_match(&to, length, entry_distance(distance, bits));
        take_bits(&reader, entry);
        take_bits(&reader, distance);
    }
    symbols->bit = place_of_bits(&reader, symbols);
    *filling = to;
}

/* Parses one entry after another, up to a stop: then DEFLATE_FULL. */
TARGET INLINE enum deflate_stop parse_rest(struct symbols *symbols, struct filling *filling)
{
    const struct deflate_tables *tables = symbols->tables;
    for (unsigned taken; !is_at_stop(filling); symbols->bit += taken) {
        const uint64_t bits = deflate_bits(symbols->input, symbols->bit);
        const uint32_t entry = final_entry(tables->literals, LITERAL_BITS,
                                           first_entry(tables->literals, LITERAL_BITS, bits), bits);
        const uint64_t rest = bits >> entry_bits(entry);
        uint32_t distance = 0;
        if (entry & ENTRY_LENGTH)
            distance = final_entry(tables->distances, DISTANCE_BITS,
                                   first_entry(tables->distances, DISTANCE_BITS, rest), rest);
        taken = entry_bits(entry) + entry_bits(distance);
        if (symbols->bit + taken > symbols->input->bits)
            return DEFLATE_CUT;
        if ((entry & ENTRY_RARE) && entry_rare(entry) == RARE_END) {
            symbols->bit += taken;
            return DEFLATE_ENDED;
        }
        if ((entry | distance) & ENTRY_RARE)
            return DEFLATE_CORRUPT;
        add_literals(filling, entry);
        if (entry & ENTRY_LENGTH)
            add_match(filling, entry_length(entry, bits), entry_distance(distance, rest));
    }
    return DEFLATE_FULL;
}

TARGET static enum deflate_stop parse_symbols(struct symbols *symbols, struct filling *filling)
{
    if (symbols->input->bits / 8 >= INPUT_MARGIN)
        parse_plenty(symbols, filling);
    return parse_rest(symbols, filling);
}
