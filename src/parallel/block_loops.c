/* SPDX-License-Identifier: MIT */
/* The loops in plain C, and the choice of those that run here. */
#include "block_loops.h"

#include <string.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE void widen(uint16_t *to, const unsigned char *from, size_t len)
{
    uint16_t symbols[COPY_MAX];
    for (size_t i = 0; i < len; i++)
        symbols[i] = from[i];
    memcpy(to, symbols, len * sizeof *to);
}

typedef struct repeat_offsets last_offsets;

TARGET INLINE last_offsets load_offsets(const struct repeat_offsets *repeat_offsets)
{
    return *repeat_offsets;
}

TARGET INLINE struct repeat_offsets store_offsets(last_offsets last)
{
    return last;
}

/* Returns a word with all bits set if the condition holds, or 0. */
TARGET INLINE uint32_t all_if(bool condition)
{
    return 0 - (uint32_t)condition;
}

TARGET INLINE uint32_t take_offset(last_offsets *last, uint32_t value, bool no_literals)
{
    const uint32_t first = last->offset[0], second = last->offset[1], third = last->offset[2],
                   which = value > 3 ? 4 : value - 1 + no_literals;
    uint32_t offset = first ^ ((first ^ second) & all_if(which == 1));
    offset ^= ((first ^ third) & all_if(which == 2)) ^
              ((first ^ (first - 1)) & all_if(which == 3)) ^
              ((first ^ (value - 3)) & all_if(which == 4));
    last->offset[0] = offset;
    last->offset[1] = second ^ ((second ^ first) & all_if(which >= 1));
    last->offset[2] = third ^ ((third ^ second) & all_if(which >= 2));
    return offset;
}

#include "deflate_loop.h"
#include "execute_loop.h"
#include "zstd_loop.h"

#define PRECODE_SPACE 128
#define STEP 48 /* bits with which blocks may begin, of which a word holds the first ones */

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

static bool is_complete(const struct deflate_input *input, uint64_t precode, unsigned count)
{
    const uint64_t lengths = deflate_bits(input, precode) & (((uint64_t)1 << 3 * count) - 1);
    return filled[lengths & 4095] + filled[lengths >> 12 & 4095] + filled[lengths >> 24 & 4095] +
               filled[lengths >> 36 & 4095] + filled[lengths >> 48 & 4095] ==
           PRECODE_SPACE;
}

/* may_begin leaves one bit in nine. */
static unsigned find_precodes(const struct deflate_input *input, uint64_t *from, uint64_t to,
                              uint64_t *found)
{
    unsigned count = 0;
    for (; *from < to && count == 0; *from += STEP) {
        const uint64_t word = byte_word(input->bytes + *from / 8);
        for (uint64_t left = may_begin(word); left > 0; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left);
            if (is_complete(input, *from + i + DEFLATE_HEADER_SIZE, (word >> (i + 13) & 15) + 4) &&
                *from + i < to)
                found[count++] = *from + i;
        }
    }
    return count;
}

static bool portable_runs_here(void)
{
    return true;
}

const struct block_loops block_loops_portable = {
    .name = "portable",
    .runs_here = portable_runs_here,
    .read_stream = read_stream,
    .read_streams = read_streams,
    .parse_sequences = parse_sequences,
    .find_precodes = find_precodes,
    .parse_symbols = parse_symbols,
    .execute = execute,
    .execute_some = execute_some,
    .execute_symbols = execute_symbols,
    .make_list = make_list,
};

const struct block_loops *const block_loops[] = {
#if defined __x86_64__ && defined __GNUC__
    &block_loops_avx512,
    &block_loops_avx2,
#endif
    &block_loops_portable,
    NULL,
};

const struct block_loops *block_loops_find(const char *kernels)
{
    const struct block_loops *const *first = block_loops;
    while (kernels && *first && strcmp((*first)->name, kernels) != 0)
        first++;
    if (!kernels || !*first)
        first = block_loops;
    while (!(*first)->runs_here())
        first++;
    return *first;
}
