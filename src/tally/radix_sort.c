/* SPDX-License-Identifier: MIT */
#include "radix_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11    /* so that all counts fit into a core's first cache */
#define DIGIT_BITS_FEW 8 /* where there would be more counts than numbers */
#define FEW ((size_t)1 << 12)

#define INLINE static inline __attribute__((always_inline))

/* The bits of numbers that are a digit. */
struct digit {
    unsigned shift;
    uint64_t mask;
};

/* Lists are of items of `size` bytes, a constant where this is inlined, which begin with the number
 * by which is sorted. */
INLINE uint64_t key_at(const char *list, size_t i, size_t size)
{
    uint64_t key;
    memcpy(&key, list + i * size, sizeof key);
    return key;
}

/* Copies items in order of a digit. False: it is the same in all, and nothing was copied. */
INLINE bool sort_by(struct digit digit, const char *from, char *to, size_t count, size_t size)
{
    size_t begin[(size_t)1 << DIGIT_BITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        begin[key_at(from, i, size) >> digit.shift & digit.mask]++;
    if (begin[key_at(from, 0, size) >> digit.shift & digit.mask] == count)
        return false;
    for (size_t i = 0; i <= digit.mask; i++) {
        const size_t here = begin[i];
        begin[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        size_t *at = &begin[key_at(from, i, size) >> digit.shift & digit.mask];
        memcpy(to + (*at)++ * size, from + i * size, size);
    }
    return true;
}

/* Returns the bits in which any two keys differ. */
INLINE uint64_t differing(const char *list, size_t count, size_t size)
{
    uint64_t bits = 0;
    for (size_t i = 1; i < count; i++)
        bits |= key_at(list, i, size) ^ key_at(list, 0, size);
    return bits;
}

INLINE char *sort(char *list, char *scratch, size_t count, size_t size)
{
    const uint64_t bits = differing(list, count, size);
    if (bits == 0)
        return list;
    const unsigned lowest = (unsigned)__builtin_ctzll(bits);
    const unsigned end = 64 - (unsigned)__builtin_clzll(bits);
    const unsigned max = count < FEW ? DIGIT_BITS_FEW : DIGIT_BITS;
    const unsigned digits = (end - lowest + max - 1) / max;
    const unsigned width = (end - lowest + digits - 1) / digits;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    for (unsigned shift = lowest; shift < end; shift += width) {
        if (!sort_by((struct digit){shift, mask}, list, scratch, count, size))
            continue;
        char *sorted = scratch;
        scratch = list;
        list = sorted;
    }
    return list;
}

uint64_t *radix_sort(uint64_t *list, uint64_t *scratch, size_t count)
{
    return (uint64_t *)(void *)sort((char *)list, (char *)scratch, count, sizeof *list);
}

struct radix_pair *radix_sort_pairs(struct radix_pair *list, struct radix_pair *scratch,
                                    size_t count)
{
    return (struct radix_pair *)(void *)sort((char *)list, (char *)scratch, count, sizeof *list);
}
