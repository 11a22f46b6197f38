/* SPDX-License-Identifier: MIT */
#include "deflate_format.h"

#include <string.h>

#define LITERALS_MAX 286 /* what a dynamic block may have */
#define DISTANCES_MAX 30

/* The number of lengths of the precode, the code in which code lengths are written. */
#define PRECODES 19
#define PRECODE_MAX 7                           /* bits */
#define TYPE_SIZE 3                             /* bits that begin a block */
#define STORED_SIZE 32                          /* bits that say how much is stored */
#define COUNTS_SIZE 14                          /* bits that say how many codes follow */
#define SPACE ((uint32_t)1 << DEFLATE_CODE_MAX) /* what the codes of a complete code fill */

/* The part of SPACE that a code of this length fills. */
static const uint16_t filled[DEFLATE_CODE_MAX + 1] = {
    0,      1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8,
    1 << 7, 1 << 6,  1 << 5,  1 << 4,  1 << 3,  1 << 2,  1 << 1, 1 << 0,
};

/* The precode's decoding table. An entry has all that a code means, so that most of what the finder
 * tries is ruled out without a branch on it:
 *
 *     bits 0-3    bits of the code
 *          4-7    bits of the code and its extra bits
 *          8-11   how many lengths it gives, without the value of the extra bits
 *          12     PRECODE_REPEATS: the length before is given again
 *          16-22  mask of the extra bits
 *          24-27  the length */
struct precode {
    uint32_t table[1 << PRECODE_MAX];
};

#define PRECODE_REPEATS ((uint32_t)1 << 12)
#define LENGTH(length) ((uint32_t)(length) << 24 | 1 << 8)
#define LENGTHS_4(length)                                                                          \
    LENGTH(length), LENGTH((length) + 1), LENGTH((length) + 2), LENGTH((length) + 3)
#define REPEAT(min, extra) ((((uint32_t)1 << (extra)) - 1) << 16 | (min) << 8 | (extra) << 4)

/* Entries of symbols, without the bits of their codes. */
static const uint32_t symbols[PRECODES] = {
    LENGTHS_4(0), LENGTHS_4(4),  LENGTHS_4(8), LENGTHS_4(12), REPEAT(3, 2) | PRECODE_REPEATS,
    REPEAT(3, 3), REPEAT(11, 7),
};

/* Copies the first `size` entries behind themselves. More may be overwritten, which is faster. */
static void precode_double(struct precode *precode, unsigned size)
{
    for (unsigned i = 0; i < size; i += 8) {
        uint32_t entries[8];
        memcpy(entries, precode->table + i, sizeof entries);
        memcpy(precode->table + size + i, entries, sizeof entries);
    }
}

/* Reads `count` lengths of the precode, which begin at `bit`, and makes its table; false if the
 * code is not complete. Codes of n bits are stored while the table has 2^n entries. Then the table
 * is doubled. */
static bool precode_read(const struct deflate_input *input, uint64_t bit, unsigned count,
                         struct precode *precode)
{
    static const uint8_t order[PRECODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint32_t of_length[PRECODE_MAX + 1] = {0}; /* a bit for each symbol */
    uint32_t *table = precode->table;
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
            precode_double(precode, 1u << bits >> 1);
        for (uint32_t left = of_length[bits]; left > 0; left &= left - 1) {
            table[code] = symbols[__builtin_ctz(left)] + (bits << 4 | bits);
            code = deflate_code_after(code, bits);
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
static enum deflate_read read_lengths(struct lengths *lengths, const struct precode *precode,
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
            const uint32_t entry = precode->table[word & ((1 << PRECODE_MAX) - 1)];
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
    struct precode precode;
    const uint64_t word = deflate_bits(input, *bit);
    const unsigned count = (word >> 10 & 15) + 4;
    const uint64_t end = *bit + COUNTS_SIZE + (uint64_t)3 * count;
    codes->literals = (word & 31) + 257;
    codes->distances = (word >> 5 & 31) + 1;
    *bit = end;
    if (end > input->bits)
        return DEFLATE_SHORT;
    if (codes->literals > LITERALS_MAX || codes->distances > DISTANCES_MAX ||
        !precode_read(input, end - (uint64_t)3 * count, count, &precode) ||
        (precode.table[deflate_bits(input, end) & ((1 << PRECODE_MAX) - 1)] & PRECODE_REPEATS))
        return DEFLATE_WRONG;
    struct lengths lengths = {input, end, codes->lengths, 0, codes->literals + codes->distances};
    uint32_t used;
    enum deflate_read read = read_lengths(&lengths, &precode, 0, codes->literals, &used);
    if (read == DEFLATE_READ &&
        (codes->lengths[DEFLATE_END] == 0 || !is_complete(codes->lengths, codes->literals, used)))
        read = DEFLATE_WRONG;
    if (read == DEFLATE_READ)
        read = read_lengths(&lengths, &precode, codes->literals, lengths.total, &used);
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
    uint64_t end = *bit + TYPE_SIZE;
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
