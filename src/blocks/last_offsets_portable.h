/* SPDX-License-Identifier: MIT */
/* The last offsets, for sequence_loop.h. take_offset returns the offset of a sequence, which
 * becomes the first of the last ones. Which of these it is cannot be predicted, so the choice takes
 * no branches. */

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
