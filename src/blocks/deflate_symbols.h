/* SPDX-License-Identifier: MIT */
/* The symbols of a block of deflate, made into operations. */
#ifndef GPUHISTO_DEFLATE_SYMBOLS_H
#define GPUHISTO_DEFLATE_SYMBOLS_H

#include "deflate_parse.h"

#define INLINE static inline __attribute__((always_inline))

#define INPUT_MARGIN 16      /* more bytes of input than one round of the fast loop takes */
#define LITERALS_MARGIN 16   /* more literals than it writes */
#define OPERATIONS_MARGIN 32 /* more operations than a match takes, and a few literals before it   \
                              */

/* A run that is being filled. It goes from stop to stop, so that the loops have little to compare.
 */
struct filling {
    const struct parsed_run *run;
    struct operation_writer writer;
    unsigned char *literal; /* where the next one goes */
    unsigned char *added;   /* the literals before this one are part of operations */
    /* Stops: there is room for LITERALS_MARGIN or OPERATIONS_MARGIN more. */
    unsigned char *literals_stop;
    operation *operations_stop;
};

/* Returns how many literals are not yet part of an operation. */
INLINE uint32_t pending_literals(const struct filling *filling)
{
    return (uint32_t)(filling->literal - filling->added);
}

INLINE bool is_at_stop(const struct filling *filling)
{
    return filling->literal >= filling->literals_stop ||
           filling->writer.next >= filling->operations_stop;
}

/* Adds the literals of an entry. */
INLINE void add_literals(struct filling *filling, uint32_t entry)
{
    filling->literal[0] = (unsigned char)(entry >> 16);
    filling->literal[1] = (unsigned char)(entry >> 24);
    filling->literal += entry_literals(entry);
}

/* Adds the literals that are pending, and a match. */
INLINE void add_match(struct filling *filling, uint32_t length, uint32_t distance)
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
INLINE void refill(struct bit_reader *reader)
{
    reader->bits |= byte_word(reader->next) << (reader->count & 63);
    reader->next += (63 - (reader->count & 63)) >> 3;
    reader->count |= 56;
}

INLINE void take(struct bit_reader *reader, uint32_t entry)
{
    reader->bits >>= entry_bits(entry);
    reader->count -= entry;
}

INLINE void reader_begin(struct bit_reader *reader, const struct deflate_input *input, uint64_t bit)
{
    *reader = (struct bit_reader){.next = input->bytes + bit / 8};
    refill(reader);
    take(reader, bit % 8);
}

INLINE uint64_t reader_bit(const struct bit_reader *reader, const struct deflate_input *input)
{
    return 8 * (uint64_t)(reader->next - input->bytes) - (reader->count & 63);
}

#define RARELY(condition) __builtin_expect((condition) != 0, 0)

/* Parses while there is plenty of input, up to a stop. Ends before the end of the block, and before
 * what is invalid. A literal, a length and a distance take 48 bits at most. */
INLINE void parse_plenty(const struct deflate_input *input, const struct deflate_tables *tables,
                         uint64_t *bit, struct filling *filling)
{
    struct filling to = *filling;
    struct bit_reader reader;
    const unsigned char *last = input->bytes + input->bits / 8 - INPUT_MARGIN;
    reader_begin(&reader, input, *bit);
    while (reader.next <= last && !is_at_stop(&to)) {
        refill(&reader);
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
                take(&reader, entry);
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
        take(&reader, entry);
        take(&reader, distance);
    }
    *bit = reader_bit(&reader, input);
    *filling = to;
}

/* Parses one entry after another, up to a stop: then DEFLATE_FULL. */
INLINE enum deflate_stop parse_rest(const struct deflate_input *input,
                                    const struct deflate_tables *tables, uint64_t *bit,
                                    struct filling *filling)
{
    for (unsigned taken; !is_at_stop(filling); *bit += taken) {
        const uint64_t bits = deflate_bits(input, *bit);
        const uint32_t entry = final_entry(tables->literals, LITERAL_BITS,
                                           first_entry(tables->literals, LITERAL_BITS, bits), bits);
        const uint64_t rest = bits >> entry_bits(entry);
        uint32_t distance = 0;
        if (entry & ENTRY_LENGTH)
            distance = final_entry(tables->distances, DISTANCE_BITS,
                                   first_entry(tables->distances, DISTANCE_BITS, rest), rest);
        taken = entry_bits(entry) + entry_bits(distance);
        if (*bit + taken > input->bits)
            return DEFLATE_CUT;
        if ((entry & ENTRY_RARE) && entry_rare(entry) == RARE_END) {
            *bit += taken;
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

INLINE enum deflate_stop parse_symbols(const struct deflate_input *input,
                                       const struct deflate_tables *tables, uint64_t *bit,
                                       struct filling *filling)
{
    if (input->bits / 8 >= INPUT_MARGIN)
        parse_plenty(input, tables, bit, filling);
    return parse_rest(input, tables, bit, filling);
}

#endif
