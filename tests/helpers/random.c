/* SPDX-License-Identifier: MIT */
#include "tests/helpers/random.h"

static uint64_t state = 1;
static const unsigned char *drawn; /* what random_take_from gave, */
static size_t left;                /* so many bytes */

void random_seed(uint64_t seed)
{
    state = seed;
}

void random_take_from(const unsigned char *bytes, size_t size)
{
    drawn = bytes;
    left = size;
}

static uint64_t take_bytes(size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size && left > 0; i++, left--)
        value |= (uint64_t)*drawn++ << 8 * i;
    return value;
}

uint64_t random_word(void)
{
    if (left > 0)
        return take_bytes(8);
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned random_below(unsigned end)
{
    if (left > 0)
        return (unsigned)take_bytes(end <= 1 << 8 ? 1 : end <= 1 << 16 ? 2 : 4) % end;
    return (unsigned)(random_word() >> 32) % end;
}

double random_fraction(void)
{
    return (double)(random_word() >> 11) * 0x1p-53;
}
