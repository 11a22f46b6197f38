/* SPDX-License-Identifier: MIT */
/* Builds decoding tables. Symbols are sorted by the length of their codes. A code of n bits is
 * stored once, while the table has 2^n entries. Then the table is doubled, so all other entries of
 * the code are copies. */
#include "deflate_tables.h"

#include <string.h>

/* Entries of symbols, without the bits of the codes. */
#define RARE(kind) (ENTRY_RARE | (uint32_t)(kind) << 8)
#define LITERAL(symbol) ((uint32_t)(symbol) << 16 | 1 << 14)
#define LITERALS_4(symbol)                                                                         \
    LITERAL(symbol), LITERAL((symbol) + 1), LITERAL((symbol) + 2), LITERAL((symbol) + 3)
#define LITERALS_16(symbol)                                                                        \
    LITERALS_4(symbol), LITERALS_4((symbol) + 4), LITERALS_4((symbol) + 8),                        \
        LITERALS_4((symbol) + 12)
#define LITERALS_64(symbol)                                                                        \
    LITERALS_16(symbol), LITERALS_16((symbol) + 16), LITERALS_16((symbol) + 32),                   \
        LITERALS_16((symbol) + 48)
#define LENGTH(base, extra) ((uint32_t)((base)-LENGTH_MIN) << 24 | ENTRY_LENGTH | (extra))
#define LENGTHS_4(base, extra)                                                                     \
    LENGTH(base, extra), LENGTH((base) + (1 << (extra)), extra),                                   \
        LENGTH((base) + (2 << (extra)), extra), LENGTH((base) + (3 << (extra)), extra)
#define DISTANCE(base, extra) ((uint32_t)(base) << 16 | (extra))
#define DISTANCES_2(base, extra) DISTANCE(base, extra), DISTANCE((base) + (1 << (extra)), extra)

static const uint32_t literals[DEFLATE_LITERALS] = {
    LITERALS_64(0),   LITERALS_64(64),   LITERALS_64(128), LITERALS_64(192),   RARE(RARE_END),
    LENGTHS_4(3, 0),  LENGTHS_4(7, 0),   LENGTHS_4(11, 1), LENGTHS_4(19, 2),   LENGTHS_4(35, 3),
    LENGTHS_4(67, 4), LENGTHS_4(131, 5), LENGTH(258, 0),   RARE(RARE_INVALID), RARE(RARE_INVALID),
};
static const uint32_t distances[DEFLATE_DISTANCES] = {
    DISTANCES_2(1, 0),     DISTANCES_2(3, 0),     DISTANCES_2(5, 1),      DISTANCES_2(9, 2),
    DISTANCES_2(17, 3),    DISTANCES_2(33, 4),    DISTANCES_2(65, 5),     DISTANCES_2(129, 6),
    DISTANCES_2(257, 7),   DISTANCES_2(513, 8),   DISTANCES_2(1025, 9),   DISTANCES_2(2049, 10),
    DISTANCES_2(4097, 11), DISTANCES_2(8193, 12), DISTANCES_2(16385, 13), RARE(RARE_INVALID),
    RARE(RARE_INVALID),
};

/* The symbols of a code in the order of their codes. */
struct sorted {
    uint16_t symbols[DEFLATE_LITERALS];
    unsigned ends[DEFLATE_CODE_MAX + 1]; /* of those whose codes have so many bits, or fewer */
};

static void sort(const uint8_t *lengths, unsigned count, struct sorted *sorted)
{
    unsigned counts[DEFLATE_CODE_MAX + 1] = {0}, next[DEFLATE_CODE_MAX + 1], end = 0;
    uint16_t unused[DEFLATE_LITERALS];
    for (unsigned i = 0; i < count; i++)
        counts[lengths[i]]++;
    counts[0] = next[0] = 0;
    for (unsigned bits = 1; bits <= DEFLATE_CODE_MAX; bits++) {
        next[bits] = end;
        sorted->ends[bits] = end += counts[bits];
    }
    for (unsigned i = 0; i < count; i++) {
        uint16_t *to = lengths[i] > 0 ? sorted->symbols : unused;
        to[next[lengths[i]]++] = (uint16_t)i;
    }
}

static uint32_t entry_of(uint32_t symbol, unsigned bits)
{
    return symbol + bits + (symbol & ENTRY_RARE ? 0 : bits << 8);
}

/* A table under construction. */
struct building {
    uint32_t *table;
    unsigned first_bits;
    const uint32_t *symbols; /* their entries */
    struct sorted sorted;
    unsigned next, code; /* of the symbols, and its code */
};

/* Builds the first table. Entries that no code leads to are invalid, and take one bit. */
static void build_first(struct building *to)
{
    uint32_t *table = to->table;
    table[0] = table[1] = RARE(RARE_INVALID) | 1;
    for (unsigned bits = 1;; bits++) {
        for (; to->next < to->sorted.ends[bits]; to->next++) {
            table[to->code] = entry_of(to->symbols[to->sorted.symbols[to->next]], bits);
            to->code = deflate_code_after(to->code, bits);
        }
        if (bits == to->first_bits)
            break;
        memcpy(table + (1u << bits), table, sizeof *table << bits);
    }
}

/* Adds the second tables. Codes that are so long are complete, so all entries are set. */
static void build_second(struct building *to)
{
    const unsigned first_size = 1u << to->first_bits,
                   size = 1u << (DEFLATE_CODE_MAX - to->first_bits);
    uint32_t *second = to->table + first_size - size;
    for (unsigned bits = to->first_bits + 1, last = first_size; bits <= DEFLATE_CODE_MAX; bits++)
        for (; to->next < to->sorted.ends[bits]; to->next++) {
            const unsigned first = to->code & (first_size - 1);
            const uint32_t entry = entry_of(to->symbols[to->sorted.symbols[to->next]], bits);
            if (first != last) {
                second += size;
                to->table[last = first] = RARE(RARE_LINK) | (uint32_t)(second - to->table) << 16;
            }
            for (unsigned at = to->code >> to->first_bits; at < size;
                 at += 1u << (bits - to->first_bits))
                second[at] = entry;
            to->code = deflate_code_after(to->code, bits);
        }
}

static void build(struct building *to, const uint8_t *lengths, unsigned count)
{
    sort(lengths, count, &to->sorted);
    build_first(to);
    build_second(to);
}

/* Returns what an entry adds to that of a literal before it; if the two cannot be joined, bits that
 * never fit. */
static uint32_t second_of(uint32_t entry)
{
    const uint32_t value = entry & 0xffff0000;
    if (entry & ENTRY_RARE)
        return DEFLATE_CODE_MAX << 8;
    return (entry & 0xffff) | (entry & ENTRY_LENGTH ? value : value << 8);
}

/* Joins the literal of a code with the symbol after it, if the bits have that one's whole code,
 * too. */
static void join(uint32_t *table, unsigned code, unsigned bits, const uint32_t *seconds)
{
    const uint32_t literal = table[code];
    const unsigned left = LITERAL_BITS - bits;
    for (unsigned i = 0; i < 1u << left; i++)
        if (entry_code_bits(seconds[i]) <= left)
            table[code + (i << bits)] = literal + seconds[i];
}

/* Joins all literals that leave room for the shortest code. */
static void join_literals(const struct building *built)
{
    uint32_t seconds[1 << (LITERAL_BITS - 1)];
    const unsigned *ends = built->sorted.ends;
    unsigned min = 1, code = 0;
    while (ends[min] == 0)
        min++;
    for (unsigned i = 0; i < 1u << (LITERAL_BITS - min); i++)
        seconds[i] = second_of(built->table[i]);
    for (unsigned bits = min, next = 0; bits <= LITERAL_BITS - min; bits++)
        for (; next < ends[bits]; next++) {
            if (built->sorted.symbols[next] < DEFLATE_END)
                join(built->table, code, bits, seconds);
            code = deflate_code_after(code, bits);
        }
}

void deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes)
{
    struct building to = {
        .table = tables->literals, .first_bits = LITERAL_BITS, .symbols = literals};
    build(&to, codes->lengths, codes->literals);
    join_literals(&to);
    to = (struct building){
        .table = tables->distances, .first_bits = DISTANCE_BITS, .symbols = distances};
    build(&to, codes->lengths + codes->literals, codes->distances);
}
