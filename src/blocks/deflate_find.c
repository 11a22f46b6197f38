/* SPDX-License-Identifier: MIT */
/* Most bits are ruled out many at a time: by the block's type and by counts that are too large, one
 * bit of a word for each beginning. For those that are left, one in nine, a table gives how much of
 * the space of codes the precode fills, four lengths at a time. Then the codes are read. */
#include "deflate_find.h"

#define HEADER_SIZE 17 /* bits before the precode: type, and counts of codes */
#define STEP 48        /* beginnings of which a word holds the first bits */
#define PRECODE_SPACE 128

/* The part of PRECODE_SPACE that four lengths of the precode fill: PRECODE_SPACE >> length each. */
#define OF_1(sum)                                                                                  \
    (sum), (sum) + 64, (sum) + 32, (sum) + 16, (sum) + 8, (sum) + 4, (sum) + 2, (sum) + 1
#define OF_2(sum)                                                                                  \
    OF_1(sum), OF_1((sum) + 64), OF_1((sum) + 32), OF_1((sum) + 16), OF_1((sum) + 8),              \
        OF_1((sum) + 4), OF_1((sum) + 2), OF_1((sum) + 1)
#define OF_3(sum)                                                                                  \
    OF_2(sum), OF_2((sum) + 64), OF_2((sum) + 32), OF_2((sum) + 16), OF_2((sum) + 8),              \
        OF_2((sum) + 4), OF_2((sum) + 2), OF_2((sum) + 1)
#define OF_4(sum)                                                                                  \
    OF_3(sum), OF_3((sum) + 64), OF_3((sum) + 32), OF_3((sum) + 16), OF_3((sum) + 8),              \
        OF_3((sum) + 4), OF_3((sum) + 2), OF_3((sum) + 1)
static const uint16_t filled[1 << 12] = {OF_4(0)};

/* Returns a bit for each of STEP beginnings of which the word holds the first bits: 1 if the block
 * is dynamic and not the last, and neither count of codes is too large, 30 or 31. */
static uint64_t may_begin(uint64_t word)
{
    const uint64_t type = ~word & ~(word >> 1) & word >> 2;
    const uint64_t two = word & word >> 1, four = two & two >> 2; /* so many bits that are set */
    return type & ~(four >> 4) & ~(four >> 9) & (((uint64_t)1 << STEP) - 1);
}

/* True if the precode of the block that would begin at `bit` is complete. */
static bool has_precode(const struct deflate_input *input, uint64_t bit, unsigned count)
{
    const uint64_t lengths =
        deflate_bits(input, bit + HEADER_SIZE) & (((uint64_t)1 << 3 * count) - 1);
    return filled[lengths & 4095] + filled[lengths >> 12 & 4095] + filled[lengths >> 24 & 4095] +
               filled[lengths >> 36 & 4095] + filled[lengths >> 48 & 4095] ==
           PRECODE_SPACE;
}

static bool has_codes(const struct deflate_input *input, uint64_t bit, int64_t *budget)
{
    struct deflate_codes codes;
    uint64_t end = bit + 3;
    const enum deflate_read read = deflate_read_codes(input, &end, &codes);
    if (budget)
        *budget -= (int64_t)(end - bit);
    return read == DEFLATE_READ;
}

uint64_t deflate_find(const struct deflate_input *input, uint64_t from, uint64_t to,
                      int64_t *budget)
{
    if (budget && *budget < 0)
        return DEFLATE_NONE;
    to = to < input->bits ? to : input->bits;
    uint64_t left_out = ((uint64_t)1 << from % 8) - 1;
    for (uint64_t at = from / 8 * 8; at < to; at += STEP, left_out = 0) {
        const uint64_t word = byte_word(input->bytes + at / 8);
        for (uint64_t left = may_begin(word) & ~left_out; left > 0; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left), count = (word >> (i + 13) & 15) + 4;
            if (!has_precode(input, at + i, count) || at + i >= to)
                continue;
            if (has_codes(input, at + i, budget))
                return at + i;
            if (budget && *budget < 0)
                return DEFLATE_NONE;
        }
    }
    return DEFLATE_NONE;
}
