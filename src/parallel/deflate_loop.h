/* SPDX-License-Identifier: MIT */
/* The loop that parses the symbols of a block of deflate to operations, for the file of each
 * instruction set, which defines TARGET and INLINE. */
#include "block_loops.h"

/* Returns how many bits to take, at most 28. */
static inline unsigned entry_bits(uint32_t entry)
{
    return entry & 63;
}

static inline unsigned entry_literals(uint32_t entry)
{
    return entry >> 14 & 3;
}

static inline enum deflate_rare entry_rare(uint32_t entry)
{
    return (enum deflate_rare)(entry >> 8 & 15);
}

/* Returns the value of the extra bits; `bits` are those with which the entry was looked up. */
static inline uint32_t entry_extra(uint32_t entry, uint64_t bits)
{
    const uint32_t all = (uint32_t)(bits & (((uint64_t)1 << (entry & 255)) - 1));
    return all >> (entry >> 8 & 31);
}

static inline uint32_t entry_length(uint32_t entry, uint64_t bits)
{
    return LENGTH_MIN + (entry >> 24) + entry_extra(entry, bits);
}

static inline uint32_t entry_distance(uint32_t entry, uint64_t bits)
{
    return (entry >> 16) + entry_extra(entry, bits);
}

/* Returns the entry in the first table for the bits of a stream. */
static inline uint32_t first_entry(const uint32_t *table, unsigned first_bits, uint64_t bits)
{
    return table[bits & ((1u << first_bits) - 1)];
}

/* Returns the entry itself, or what a link leads to. DEFLATE_CODE_MAX bits must be there. */
static inline uint32_t final_entry(const uint32_t *table, unsigned first_bits, uint32_t entry,
                                   uint64_t bits)
{
    const uint64_t rest = bits >> first_bits & ((1u << (DEFLATE_CODE_MAX - first_bits)) - 1);
    if ((entry & ENTRY_RARE) && entry_rare(entry) == RARE_LINK)
        return table[(entry >> 16) + rest];
    return entry;
}

#define INPUT_MARGIN 16     /* more bytes of input than one round of the fast loop takes */
#define CAPACITY_MARGIN 128 /* more room than what is loaded and one round take */

#define RARELY(condition) __builtin_expect((condition) != 0, 0)

/* Adds the literals of an entry. */
TARGET INLINE void add_literals(struct filling *filling, uint32_t entry)
{
    byte_word_of_2_store(filling->literal, (uint16_t)(entry >> 16));
    filling->literal += entry_literals(entry);
}

/* Adds the literals that are pending, and a match. False: more than two operations were added. How
 * far sources reach back is not recorded: it shows afterwards. */
TARGET INLINE bool add_match(struct filling *filling, uint32_t length, uint32_t distance)
{
    struct operation_writer *writer = &filling->writer;
    const uint32_t literals = pending_literals(filling);
    const uint32_t first = length < COPY_MAX ? length : COPY_MAX, second = length - first;
    filling->added = filling->literal;
    if (RARELY((literals | second) >= COPY_MAX) || RARELY(first > distance)) {
        struct operation_writer copy = *writer; /* whose address may be taken */
        operations_add_long(&copy, literals, length, distance);
        *writer = copy;
        return false;
    }
    writer->content += literals;
    const uint32_t source = writer->content - distance;
    writer->next[0] = operation_of(source, literals, first);
    writer->next[1] = operation_of(source + COPY_MAX, 0, second);
    writer->next += 1 + (length > COPY_MAX);
    writer->content += length;
    return true;
}

/* The next bits of the stream, the first one lowest. */
struct bit_reader {
    uint64_t bits;
    const unsigned char *next; /* what is loaded next */
    unsigned count;            /* its lowest 6 bits: how many bits there are */
};

/* Loads bits, so that at least 56 are there. */
TARGET INLINE void refill_bits(struct bit_reader *reader)
{
    reader->bits |= byte_word(reader->next) << (reader->count & 63);
    reader->next += (63 - (reader->count & 63)) >> 3;
    reader->count |= 56;
}

TARGET INLINE void read_bits(struct bit_reader *reader, uint32_t entry)
{
    reader->bits >>= entry_bits(entry);
    reader->count -= entry;
}

/* Returns up to where the fast loop may load input before there is too little of that or of room.
 * A bit of input makes one literal or operation at most, unless a match needs more than two. */
TARGET INLINE const unsigned char *plenty_until(const struct filling *filling,
                                                const unsigned char *next)
{
    const unsigned char *end = filling->input->bytes + filling->input->bits / 8;
    const ptrdiff_t literals = filling->literals_stop - filling->literal;
    const ptrdiff_t operations = filling->operations_stop - filling->writer.next;
    const ptrdiff_t space = (literals < operations ? literals : operations) - CAPACITY_MARGIN;
    const ptrdiff_t input = end - next - INPUT_MARGIN;
    if (space < 0 || input < 0)
        return next - 1;
    return next + (input < space / 8 ? input : space / 8);
}

/* Parses while there is plenty of input, up to a stop. Ends before the end of the block, and before
 * invalid codes.
 *
 * The next entry is looked up before more bits are loaded, as the load would be waited for. After a
 * length of 20 bits and the 22 of a distance in the first table there are enough bits for it. */
TARGET INLINE void parse_plenty(struct filling *filling)
{
    const struct deflate_tables *tables = filling->tables;
    struct filling to = *filling;
    struct bit_reader reader = {.next = filling->input->bytes + filling->bit / 8};
    refill_bits(&reader);
    read_bits(&reader, filling->bit % 8);
    const unsigned char *stop = plenty_until(&to, reader.next);
    uint32_t entry = first_entry(tables->literals, LITERAL_BITS, reader.bits);
    while (reader.next <= stop) {
        refill_bits(&reader);
        add_literals(&to, entry);
        if (!(entry & ENTRY_LENGTH)) {
            if (RARELY(entry & ENTRY_RARE)) {
                entry = final_entry(tables->literals, LITERAL_BITS, entry, reader.bits);
                if (entry & ENTRY_RARE)
                    break;
                add_literals(&to, entry);
            }
            if (!(entry & ENTRY_LENGTH)) {
                read_bits(&reader, entry);
                entry = first_entry(tables->literals, LITERAL_BITS, reader.bits);
                continue;
            }
        }
        const uint32_t length = entry_length(entry, reader.bits);
        read_bits(&reader, entry);
        uint32_t distance = first_entry(tables->distances, DISTANCE_BITS, reader.bits);
        if (RARELY(distance & ENTRY_RARE)) {
            distance = final_entry(tables->distances, DISTANCE_BITS, distance, reader.bits);
            if (distance & ENTRY_RARE) {
                to.literal -= entry_literals(entry);
                reader.count += entry_bits(entry);
                break;
            }
            refill_bits(&reader);
        }
        const uint64_t bits = reader.bits;
        read_bits(&reader, distance);
        entry = first_entry(tables->literals, LITERAL_BITS, reader.bits);
        if (!add_match(&to, length, entry_distance(distance, bits)))
            stop = plenty_until(&to, reader.next);
    }
    to.bit = 8 * (uint64_t)(reader.next - to.input->bytes) - (reader.count & 63);
    *filling = to;
}

/* Parses one entry after another, up to a stop: then DEFLATE_FULL. */
TARGET INLINE enum deflate_stop parse_rest(struct filling *filling)
{
    const struct deflate_tables *tables = filling->tables;
    for (unsigned taken; filling->literal < filling->literals_stop &&
                         filling->writer.next < filling->operations_stop;
         filling->bit += taken) {
        const uint64_t bits = deflate_bits(filling->input, filling->bit);
        const uint32_t entry = final_entry(tables->literals, LITERAL_BITS,
                                           first_entry(tables->literals, LITERAL_BITS, bits), bits);
        const uint64_t rest = bits >> entry_bits(entry);
        uint32_t distance = 0;
        if (entry & ENTRY_LENGTH)
            distance = final_entry(tables->distances, DISTANCE_BITS,
                                   first_entry(tables->distances, DISTANCE_BITS, rest), rest);
        taken = entry_bits(entry) + entry_bits(distance);
        if (filling->bit + taken > filling->input->bits)
            return DEFLATE_CUT;
        if ((entry & ENTRY_RARE) && entry_rare(entry) == RARE_END) {
            filling->bit += taken;
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

TARGET static inline enum deflate_stop parse_symbols(struct filling *filling)
{
    if (filling->input->bits / 8 >= INPUT_MARGIN)
        parse_plenty(filling);
    return parse_rest(filling);
}
