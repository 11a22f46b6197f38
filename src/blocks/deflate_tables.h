/* SPDX-License-Identifier: MIT */
/* Decoding tables of a deflate block. A table is looked up with the next bits of the stream; codes
 * that are longer have a second table, looked up with the bits after those. An entry holds all that
 * its codes mean: a distance; or up to two literals; or a length, perhaps with a literal before it.
 *
 *     bits 0-7    bits to take from the stream, extra bits included
 *          8-11   length, distance: bits of the codes, which the extra bits follow
 *                 rare: enum deflate_rare
 *          12     ENTRY_RARE: none of these
 *          13     ENTRY_LENGTH: there is a length
 *          14-15  literals: 0 to 2
 *          16-23  first literal          16-31  distance without extra bits
 *          24-31  second literal                link: where the second table is
 *                 length without extra bits, less LENGTH_MIN
 *
 * Processors shift by the lowest bits of a register. Counts of bits have only zeros above them, so
 * they need not be cut out; 12 is zero where bits of codes are read.
 *
 * Literals are stored and lengths read from an entry whatever it is, as most branches on what comes
 * next would be mispredicted. */
#ifndef GPUHISTO_DEFLATE_TABLES_H
#define GPUHISTO_DEFLATE_TABLES_H

#include "deflate_format.h"

#define LITERAL_BITS 11 /* with which the first tables are looked up */
#define DISTANCE_BITS 9

#define ENTRY_LENGTH ((uint32_t)1 << 13)
#define ENTRY_RARE ((uint32_t)1 << 12)

#define LENGTH_MIN 3
#define LENGTH_MAX 258

enum deflate_rare {
    RARE_LINK,    /* to the second table */
    RARE_END,     /* of the block */
    RARE_INVALID, /* zlib refuses this code, too */
};

/* A first table, and second ones, each of which has at least two codes. */
#define TABLE_SIZE(codes, bits) ((1 << (bits)) + ((codes) / 2 << (DEFLATE_CODE_MAX - (bits))))

struct deflate_tables {
    uint32_t literals[TABLE_SIZE(DEFLATE_LITERALS, LITERAL_BITS)]; /* and lengths */
    uint32_t distances[TABLE_SIZE(DEFLATE_DISTANCES, DISTANCE_BITS)];
};

/* Makes the tables of codes that deflate_read_header returned. */
void deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes);

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

/* Returns how many bits come before the extra bits. */
static inline unsigned entry_code_bits(uint32_t entry)
{
    return entry >> 8 & 15;
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

#endif
