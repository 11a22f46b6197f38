/* SPDX-License-Identifier: MIT */
/* Reads the headers of deflate's blocks (RFC 1951, section 3.2), and makes decoding tables of their
 * codes. */
#include "deflate.h"

#include <string.h>

#define LITERALS_MAX 286 /* what a dynamic block may have */
#define DISTANCES_MAX 30

/* The number of lengths of the precode, the code in which code lengths are written. */
#define PRECODES 19
#define PRECODE_MAX 7                           /* bits */
#define STORED_SIZE 32                          /* bits that say how much is stored */
#define COUNTS_SIZE 14                          /* bits that say how many codes follow */
#define SPACE ((uint32_t)1 << DEFLATE_CODE_MAX) /* what the codes of a complete code fill */

/* The part of SPACE that a code of this length fills. */
static const uint16_t filled[DEFLATE_CODE_MAX + 1] = {
    0,      1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8,
    1 << 7, 1 << 6,  1 << 5,  1 << 4,  1 << 3,  1 << 2,  1 << 1, 1 << 0,
};

/* Returns the next code of so many bits, in the order of the stream: 1 is added to its highest bit,
 * and carried to lower ones. */
static unsigned code_after(unsigned code, unsigned bits)
{
    const unsigned zeros = ~code & ((1u << bits) - 1);
    if (zeros == 0)
        return 0;
    const unsigned highest = 1u << (31 - __builtin_clz(zeros));
    return (code & (highest - 1)) | highest;
}

/* --- headers --- */

/* The precode's decoding table. An entry has all that a code means, so that most of what the finder
 * tries is ruled out without a branch on it:
 *
 *     bits 0-3    bits of the code
 *          4-7    bits of the code and its extra bits
 *          8-11   how many lengths it gives, without the value of the extra bits
 *          12     PRECODE_REPEATS: the length before is given again
 *          16-22  mask of the extra bits
 *          24-27  the length */
#define PRECODE_TABLE_SIZE (1 << PRECODE_MAX)
#define PRECODE_REPEATS ((uint32_t)1 << 12)
#define PRECODE(length) ((uint32_t)(length) << 24 | 1 << 8)
#define PRECODES_4(length)                                                                         \
    PRECODE(length), PRECODE((length) + 1), PRECODE((length) + 2), PRECODE((length) + 3)
#define PRECODE_REPEAT(min, extra)                                                                 \
    ((((uint32_t)1 << (extra)) - 1) << 16 | (min) << 8 | (extra) << 4)

/* Entries of symbols, without the bits of their codes. */
static const uint32_t precode_symbols[PRECODES] = {
    PRECODES_4(0),
    PRECODES_4(4),
    PRECODES_4(8),
    PRECODES_4(12),
    PRECODE_REPEAT(3, 2) | PRECODE_REPEATS,
    PRECODE_REPEAT(3, 3),
    PRECODE_REPEAT(11, 7),
};

/* Copies the first `size` entries behind themselves. More may be overwritten, which is faster. */
static void precode_double(uint32_t *table, unsigned size)
{
    for (unsigned i = 0; i < size; i += 8) {
        uint32_t entries[8];
        memcpy(entries, table + i, sizeof entries);
        memcpy(table + size + i, entries, sizeof entries);
    }
}

/* Reads `count` lengths of the precode, which begin at `bit`, and makes its table; false if the
 * code is not complete. Codes of n bits are stored while the table has 2^n entries. Then the table
 * is doubled. */
static bool precode_read(const struct deflate_input *input, uint64_t bit, unsigned count,
                         uint32_t *table)
{
    static const uint8_t order[PRECODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint32_t of_length[PRECODE_MAX + 1] = {0}; /* a bit for each symbol */
    uint64_t word = deflate_bits(input, bit) & (((uint64_t)1 << 3 * count) - 1);
    unsigned used = 0, code = 0;
    for (unsigned i = 0; i < PRECODES; i++, word >>= 3) {
        of_length[word & 7] |= (uint32_t)1 << order[i];
        used += 1u << PRECODE_MAX >> (word & 7) & ((1u << PRECODE_MAX) - 1);
    }
    if (used != 1u << PRECODE_MAX)
        return false;
    memset(table, 0, 8 * sizeof *table);
    for (unsigned bits = 1; bits <= PRECODE_MAX; bits++) {
        if (bits > 1)
            precode_double(table, 1u << bits >> 1);
        for (uint32_t left = of_length[bits]; left > 0; left &= left - 1) {
            table[code] = precode_symbols[__builtin_ctz(left)] + (bits << 4 | bits);
            code = code_after(code, bits);
        }
    }
    return true;
}

/* The lengths of a block's codes, as they are read. */
struct lengths {
    const struct deflate_input *input;
    uint64_t bit;          /* the next one */
    uint8_t *all;          /* `total`, and DEFLATE_LENGTHS_SLACK more */
    unsigned count, total; /* count: the last repeat may have begun the next code, too */
};

/* Reads the lengths of the code that ends with `end` lengths. *filled_space is how much of SPACE
 * they fill: more is wrong at once, which rules out most of what the finder tries. */
static enum deflate_read read_lengths(struct lengths *lengths, const uint32_t *precode,
                                      unsigned begin, unsigned end, uint32_t *filled_space)
{
    const struct deflate_input input = *lengths->input;
    const unsigned total = lengths->total;
    enum deflate_read read = DEFLATE_READ;
    uint64_t bit = lengths->bit;
    unsigned count = lengths->count;
    uint32_t value = count > 0 ? lengths->all[count - 1] : 0,
             used = (count - begin) * filled[value];
    while (count < end && read == DEFLATE_READ) {
        uint64_t word = deflate_bits(&input, bit);
        for (unsigned i = 0; i < 4 && count < end; i++) { /* at most 14 bits each */
            const uint32_t entry = precode[word & (PRECODE_TABLE_SIZE - 1)];
            const unsigned times =
                (entry >> 8 & 15) + ((unsigned)(word >> (entry & 15)) & (entry >> 16 & 127));
            const unsigned here = times < end - count ? times : end - count;
            value = (value & (0 - (entry / PRECODE_REPEATS & 1))) | entry >> 24;
            word >>= entry >> 4 & 15;
            bit += entry >> 4 & 15;
            used += here * filled[value];
            if (bit > input.bits || times > total - count || used > SPACE) {
                read = bit > input.bits ? DEFLATE_SHORT : DEFLATE_WRONG;
                break;
            }
            for (unsigned set = 0; set < times; set += DEFLATE_LENGTHS_SLACK)
                memset(lengths->all + count + set, (int)value, DEFLATE_LENGTHS_SLACK);
            count += times;
        }
    }
    lengths->bit = bit;
    lengths->count = count;
    *filled_space = used;
    return read;
}

/* True if the code fills all of SPACE, or if it has one code, of one bit. */
static bool is_complete(const uint8_t *lengths, unsigned count, uint32_t used)
{
    unsigned codes = 0;
    if (used == SPACE / 2)
        for (unsigned i = 0; i < count; i++)
            codes += lengths[i] > 0;
    return used == SPACE || codes == 1;
}

enum deflate_read deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_codes *codes)
{
    uint32_t precode[PRECODE_TABLE_SIZE];
    const uint64_t word = deflate_bits(input, *bit);
    const unsigned count = (word >> 10 & 15) + 4;
    const uint64_t end = *bit + COUNTS_SIZE + (uint64_t)3 * count;
    codes->literals = (word & 31) + 257;
    codes->distances = (word >> 5 & 31) + 1;
    *bit = end;
    if (end > input->bits)
        return DEFLATE_SHORT;
    if (codes->literals > LITERALS_MAX || codes->distances > DISTANCES_MAX ||
        !precode_read(input, end - (uint64_t)3 * count, count, precode) ||
        (precode[deflate_bits(input, end) & (PRECODE_TABLE_SIZE - 1)] & PRECODE_REPEATS))
        return DEFLATE_WRONG;
    struct lengths lengths = {input, end, codes->lengths, 0, codes->literals + codes->distances};
    uint32_t used;
    enum deflate_read read = read_lengths(&lengths, precode, 0, codes->literals, &used);
    if (read == DEFLATE_READ &&
        (codes->lengths[DEFLATE_END] == 0 || !is_complete(codes->lengths, codes->literals, used)))
        read = DEFLATE_WRONG;
    if (read == DEFLATE_READ)
        read = read_lengths(&lengths, precode, codes->literals, lengths.total, &used);
    if (read == DEFLATE_READ && used > 0 &&
        !is_complete(codes->lengths + codes->literals, codes->distances, used))
        read = DEFLATE_WRONG;
    *bit = lengths.bit;
    return read;
}

/* Sets the codes of a fixed block (RFC 1951, section 3.2.6). */
static void fixed_codes(struct deflate_codes *codes)
{
    codes->literals = DEFLATE_LITERALS;
    codes->distances = DEFLATE_DISTANCES;
    memset(codes->lengths, 8, 144);
    memset(codes->lengths + 144, 9, 112);
    memset(codes->lengths + 256, 7, 24);
    memset(codes->lengths + 280, 8, 8);
    memset(codes->lengths + DEFLATE_LITERALS, 5, DEFLATE_DISTANCES);
}

/* Reads the size of a stored block, which begins at the next byte after *bit. */
static enum deflate_read read_stored(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_header *header)
{
    const uint64_t at = (*bit + 7) / 8 * 8;
    if (at + STORED_SIZE > input->bits)
        return DEFLATE_SHORT;
    const uint64_t sizes = deflate_bits(input, at);
    header->size = sizes & 0xffff;
    *bit = at + STORED_SIZE;
    return header->size == (~sizes >> 16 & 0xffff) ? DEFLATE_READ : DEFLATE_WRONG;
}

enum deflate_read deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                      struct deflate_header *header)
{
    enum deflate_read read = DEFLATE_READ;
    uint64_t end = *bit + DEFLATE_TYPE_SIZE;
    if (end > input->bits)
        return DEFLATE_SHORT;
    const uint64_t word = deflate_bits(input, *bit);
    header->is_last = word & 1;
    header->type = (enum deflate_type)(word >> 1 & 3);
    if (header->type == DEFLATE_STORED)
        read = read_stored(input, &end, header);
    else if (header->type == DEFLATE_FIXED)
        fixed_codes(&header->codes);
    else if (header->type == DEFLATE_DYNAMIC)
        read = deflate_read_codes(input, &end, &header->codes);
    else
        read = DEFLATE_WRONG;
    if (read == DEFLATE_READ)
        *bit = end;
    return read;
}

/* --- decoding tables ---
 *
 * Symbols are sorted by the length of their codes. A code of n bits is stored once, while the table
 * has 2^n entries. Then the table is doubled, so all other entries of the code are copies. */

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
};

/* Builds the first table, and the second ones. Entries of the first that no code leads to are
 * invalid, and take one bit. Codes that have a second table are complete, so all of that is set. */
static void build(struct building *to, const uint8_t *lengths, unsigned count)
{
    const unsigned first_bits = to->first_bits, first_size = 1u << first_bits,
                   size = 1u << (DEFLATE_CODE_MAX - first_bits);
    const struct sorted *sorted = &to->sorted;
    uint32_t *table = to->table, *second = table + first_size - size;
    unsigned next = 0, code = 0, last = first_size;
    sort(lengths, count, &to->sorted);
    table[0] = table[1] = RARE(RARE_INVALID) | 1;
    for (unsigned bits = 1; bits <= first_bits; bits++) {
        for (; next < sorted->ends[bits]; next++) {
            table[code] = entry_of(to->symbols[sorted->symbols[next]], bits);
            code = code_after(code, bits);
        }
        if (bits < first_bits)
            memcpy(table + (1u << bits), table, sizeof *table << bits);
    }
    for (unsigned bits = first_bits + 1; bits <= DEFLATE_CODE_MAX; bits++)
        for (; next < sorted->ends[bits]; next++) {
            const unsigned first = code & (first_size - 1);
            const uint32_t entry = entry_of(to->symbols[sorted->symbols[next]], bits);
            if (first != last) {
                second += size;
                table[last = first] = RARE(RARE_LINK) | (uint32_t)(second - table) << 16;
            }
            for (unsigned at = code >> first_bits; at < size; at += 1u << (bits - first_bits))
                second[at] = entry;
            code = code_after(code, bits);
        }
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

/* Joins literals with the symbol after them, if the bits have that one's whole code, too. */
static void join_literals(const struct building *built)
{
    uint32_t seconds[1 << (LITERAL_BITS - 1)], *table = built->table;
    const unsigned *ends = built->sorted.ends;
    unsigned min = 1, code = 0;
    while (ends[min] == 0)
        min++;
    for (unsigned i = 0; i < 1u << (LITERAL_BITS - min); i++)
        seconds[i] = second_of(table[i]);
    for (unsigned bits = min, next = 0; bits <= LITERAL_BITS - min; bits++)
        for (; next < ends[bits]; next++) {
            const uint32_t literal = table[code];
            const unsigned left = LITERAL_BITS - bits;
            for (unsigned i = 0; built->sorted.symbols[next] < DEFLATE_END && i < 1u << left; i++)
                if ((seconds[i] >> 8 & 15) <= left)
                    table[code + (i << bits)] = literal + seconds[i];
            code = code_after(code, bits);
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
