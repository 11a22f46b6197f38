/* SPDX-License-Identifier: MIT */
#include "deflate_tables.h"

#define LENGTHS 29
#define DISTANCES 30

static const uint16_t length_base[LENGTHS] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                              15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                              67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[LENGTHS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                              2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[DISTANCES] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
static const uint8_t distance_extra[DISTANCES] = {0, 0, 0,  0,  1,  1,  2,  2,  3,  3,
                                                  4, 4, 5,  5,  6,  6,  7,  7,  8,  8,
                                                  9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

static uint32_t rare_entry(enum deflate_rare rare, unsigned bits, uint32_t value)
{
    return value << 16 | ENTRY_RARE | (uint32_t)rare << 8 | bits;
}

static uint32_t literal_entry(unsigned symbol, unsigned bits)
{
    if (symbol < DEFLATE_END)
        return symbol << 16 | 1 << 14 | bits;
    if (symbol == DEFLATE_END)
        return rare_entry(RARE_END, bits, 0);
    symbol -= DEFLATE_END + 1;
    if (symbol >= LENGTHS)
        return rare_entry(RARE_INVALID, bits, 0);
    return (uint32_t)(length_base[symbol] - LENGTH_MIN) << 24 | bits << 8 | ENTRY_LENGTH |
           (bits + length_extra[symbol]);
}

static uint32_t distance_entry(unsigned symbol, unsigned bits)
{
    if (symbol >= DISTANCES)
        return rare_entry(RARE_INVALID, bits, 0);
    return (uint32_t)distance_base[symbol] << 16 | bits << 8 | (bits + distance_extra[symbol]);
}

/* Sets next[] to the first code of each length. */
static void first_codes(const uint8_t *lengths, unsigned count, unsigned next[DEFLATE_CODE_MAX + 1])
{
    unsigned counts[DEFLATE_CODE_MAX + 1] = {0}, code = 0;
    for (unsigned i = 0; i < count; i++)
        counts[lengths[i]]++;
    counts[0] = 0;
    for (unsigned bits = 1; bits <= DEFLATE_CODE_MAX; bits++) {
        code = (code + counts[bits - 1]) << 1;
        next[bits] = code;
    }
}

/* A table under construction. */
struct building {
    uint32_t *table;
    unsigned first_bits;
    unsigned len; /* entries so far, those of second tables included */
};

/* Sets all entries that a code applies to. */
static void add_code(struct building *to, unsigned code, unsigned bits, uint32_t entry)
{
    const unsigned first_size = 1u << to->first_bits, in_stream = deflate_reversed(code, bits);
    if (bits <= to->first_bits) {
        for (unsigned at = in_stream; at < first_size; at += 1u << bits)
            to->table[at] = entry;
        return;
    }
    const unsigned second_size = 1u << (DEFLATE_CODE_MAX - to->first_bits);
    uint32_t *link = &to->table[in_stream & (first_size - 1)];
    if (entry_rare(*link) != RARE_LINK) {
        *link = rare_entry(RARE_LINK, 0, to->len);
        to->len += second_size;
    }
    for (unsigned at = in_stream >> to->first_bits; at < second_size;
         at += 1u << (bits - to->first_bits))
        to->table[(*link >> 16) + at] = entry;
}

/* Makes the table of a code. What no code applies to is invalid, and a bit is taken for it. */
static void build(uint32_t *table, unsigned first_bits, const uint8_t *lengths, unsigned count,
                  uint32_t (*entry_of)(unsigned symbol, unsigned bits))
{
    struct building to = {table, first_bits, 1u << first_bits};
    unsigned next[DEFLATE_CODE_MAX + 1];
    first_codes(lengths, count, next);
    for (unsigned i = 0; i < to.len; i++)
        table[i] = rare_entry(RARE_INVALID, 1, 0);
    for (unsigned symbol = 0; symbol < count; symbol++)
        if (lengths[symbol] > 0)
            add_code(&to, next[lengths[symbol]]++, lengths[symbol],
                     entry_of(symbol, lengths[symbol]));
}

/* True if the entry is one literal and nothing else. */
static bool is_literal(uint32_t entry)
{
    return !(entry & (ENTRY_RARE | ENTRY_LENGTH)) && entry_literals(entry) == 1;
}

/* Joins a literal with the next entry if the bits have the whole code of that, too. Returns the
 * entry for both, or the literal alone. */
static uint32_t join(uint32_t literal, uint32_t next)
{
    const unsigned bits = entry_bits(literal);
    if (is_literal(next) && bits + entry_bits(next) <= LITERAL_BITS)
        return literal + (next & 0xffff) + (next >> 16 << 24);
    if ((next & ENTRY_LENGTH) && bits + entry_code_bits(next) <= LITERAL_BITS)
        return literal + next + (bits << 8);
    return literal;
}

/* The entry after a literal is one before it, or the same one: so the last one is first. */
static void join_literals(uint32_t *table)
{
    for (unsigned at = 1 << LITERAL_BITS; at-- > 0;)
        if (is_literal(table[at]))
            table[at] = join(table[at], table[at >> entry_bits(table[at])]);
}

void deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes)
{
    build(tables->literals, LITERAL_BITS, codes->lengths, codes->literals, literal_entry);
    build(tables->distances, DISTANCE_BITS, codes->lengths + codes->literals, codes->distances,
          distance_entry);
    join_literals(tables->literals);
}
