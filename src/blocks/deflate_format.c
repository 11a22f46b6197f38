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
#define REPEAT_LENGTH 16                        /* the last length, 3 to 6 times */
#define REPEAT_ZERO 17                          /* 3 to 10 times */
#define REPEAT_ZERO_LONG 18                     /* 11 to 138 times */
#define SPACE ((uint32_t)1 << DEFLATE_CODE_MAX) /* what the codes of a complete code fill */

/* The part of SPACE that a code of this length fills. */
static const uint16_t filled[DEFLATE_CODE_MAX + 1] = {
    0,      1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8,
    1 << 7, 1 << 6,  1 << 5,  1 << 4,  1 << 3,  1 << 2,  1 << 1, 1 << 0,
};

/* The precode's decoding table. An entry is a symbol << 3 | the bits of its code; 0: no code. */
struct precode {
    uint8_t table[1 << PRECODE_MAX];
};

/* Returns a code of 1 to DEFLATE_CODE_MAX bits in the order of the stream, its highest bit lowest.
 */
static unsigned reversed(unsigned code, unsigned bits)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | code >> 8;
    return code >> (16 - bits);
}

/* Makes the table of a complete precode; false if it is not complete. */
static bool precode_build(const uint8_t lengths[PRECODES], struct precode *precode)
{
    unsigned next[PRECODE_MAX + 1] = {0}, code = 0; /* next: first how many there are */
    for (unsigned symbol = 0; symbol < PRECODES; symbol++)
        next[lengths[symbol]]++;
    next[0] = 0;
    for (unsigned length = 1; length <= PRECODE_MAX; length++) {
        const unsigned count = next[length];
        next[length] = code <<= 1;
        code += count;
    }
    if (code != 1 << PRECODE_MAX)
        return false;
    for (unsigned symbol = 0; symbol < PRECODES; symbol++) {
        const unsigned length = lengths[symbol];
        if (length == 0)
            continue;
        const unsigned first = reversed(next[length]++, length);
        for (unsigned at = first; at < 1 << PRECODE_MAX; at += 1u << length)
            precode->table[at] = (uint8_t)(symbol << 3 | length);
    }
    return true;
}

/* Reads `count` lengths of the precode, which begin at `bit`. */
static bool precode_read(const struct deflate_input *input, uint64_t bit, unsigned count,
                         struct precode *precode)
{
    static const uint8_t order[PRECODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[PRECODES] = {0};
    uint64_t word = deflate_bits(input, bit);
    for (unsigned i = 0; i < count; i++, word >>= 3)
        lengths[order[i]] = word & 7;
    return precode_build(lengths, precode);
}

/* Reads `total` code lengths. Stops early if they fill more than two codes can, as most beginnings
 * that the finder tries do. */
static enum deflate_read read_lengths(const struct deflate_input *input, uint64_t *bit,
                                      const struct precode *precode, uint8_t *lengths,
                                      unsigned total)
{
    uint32_t used = 0;
    for (unsigned count = 0, times; count < total; count += times) {
        uint64_t word = deflate_bits(input, *bit);
        const unsigned entry = precode->table[word & ((1 << PRECODE_MAX) - 1)];
        const unsigned symbol = entry >> 3;
        unsigned value = 0, extra = 0;
        word >>= entry & 7;
        times = 1;
        if (symbol < REPEAT_LENGTH)
            value = symbol;
        else if (symbol == REPEAT_LENGTH && count == 0)
            return DEFLATE_WRONG;
        else if (symbol == REPEAT_LENGTH)
            value = lengths[count - 1], extra = 2, times = 3 + (word & 3);
        else if (symbol == REPEAT_ZERO)
            extra = 3, times = 3 + (word & 7);
        else
            extra = 7, times = 11 + (word & 127);
        *bit += (entry & 7) + extra;
        if (*bit > input->bits)
            return DEFLATE_SHORT;
        used += times * filled[value];
        if (times > total - count || used > 2 * SPACE)
            return DEFLATE_WRONG;
        memset(lengths + count, (int)value, times);
    }
    return DEFLATE_READ;
}

/* True if the codes fill all of SPACE, or if there is one code of one bit. */
static bool is_complete(const uint8_t *lengths, unsigned count)
{
    uint32_t used = 0;
    unsigned codes = 0;
    for (unsigned i = 0; i < count; i++) {
        used += filled[lengths[i]];
        codes += lengths[i] > 0;
    }
    return used == SPACE || (codes == 1 && used == SPACE / 2);
}

static bool has_codes(const uint8_t *lengths, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (lengths[i] > 0)
            return true;
    return false;
}

enum deflate_read deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_codes *codes)
{
    struct precode precode;
    const uint64_t word = deflate_bits(input, *bit);
    const unsigned count = (word >> 10 & 15) + 4;
    uint64_t end = *bit + COUNTS_SIZE + (uint64_t)3 * count;
    codes->literals = (word & 31) + 257;
    codes->distances = (word >> 5 & 31) + 1;
    *bit = end;
    if (end > input->bits)
        return DEFLATE_SHORT;
    if (codes->literals > LITERALS_MAX || codes->distances > DISTANCES_MAX ||
        !precode_read(input, end - (uint64_t)3 * count, count, &precode))
        return DEFLATE_WRONG;
    const enum deflate_read read =
        read_lengths(input, bit, &precode, codes->lengths, codes->literals + codes->distances);
    const uint8_t *distances = codes->lengths + codes->literals;
    if (read != DEFLATE_READ)
        return read;
    if (codes->lengths[DEFLATE_END] == 0 || !is_complete(codes->lengths, codes->literals))
        return DEFLATE_WRONG;
    if (!is_complete(distances, codes->distances) && has_codes(distances, codes->distances))
        return DEFLATE_WRONG;
    return DEFLATE_READ;
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
