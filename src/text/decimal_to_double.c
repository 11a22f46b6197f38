/* SPDX-License-Identifier: MIT */
/* The table of powers of five, from the powers themselves. */
#include "decimal_to_double.h"

static struct power powers[POWER_SHOWN_MAX - POWER_MIN + 1];

/* An integer large enough for 5^324 (753 bits), and for 2^1023 / 5^342 (795 bits less) to have 128
 * bits left. The lowest limb is first. */
#define BIG_LIMBS 32

struct big {
    uint32_t limbs[BIG_LIMBS];
};

static void times_five(struct big *big)
{
    uint64_t carry = 0;
    for (unsigned i = 0; i < BIG_LIMBS; i++) {
        carry += (uint64_t)big->limbs[i] * 5;
        big->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Rounds down. Repeating that is exact, as floor(floor(x / 5) / 5) is floor(x / 25). */
static void divide_by_five(struct big *big)
{
    uint64_t rest = 0;
    for (unsigned i = BIG_LIMBS; i-- > 0;) {
        rest = rest << 32 | big->limbs[i];
        big->limbs[i] = (uint32_t)(rest / 5);
        rest %= 5;
    }
}

/* Returns the first 128 bits, with zeros after them if there are fewer. */
static struct power first_bits(const struct big *big)
{
    unsigned top = BIG_LIMBS;
    while (top > 1 && big->limbs[top - 1] == 0)
        top--;
    uint32_t limbs[5];
    for (unsigned i = 0; i < 5; i++)
        limbs[i] = top > i ? big->limbs[top - 1 - i] : 0;
    unsigned shift = (unsigned)__builtin_clz(limbs[0]);
    for (unsigned i = 0; i < 4; i++)
        limbs[i] = (uint32_t)(((uint64_t)limbs[i] << 32 | limbs[i + 1]) << shift >> 32);
    return (struct power){(uint64_t)limbs[0] << 32 | limbs[1], (uint64_t)limbs[2] << 32 | limbs[3]};
}

static void increment(struct power *bits)
{
    if (++bits->low == 0)
        bits->high++;
}

void decimal_to_double_prepare(void)
{
    struct big big = {{1}};
    for (int power = 0; power <= POWER_SHOWN_MAX; power++) {
        powers[power - POWER_MIN] = first_bits(&big);
        times_five(&big);
    }
    big = (struct big){{0}};
    big.limbs[BIG_LIMBS - 1] = (uint32_t)1 << 31;
    for (int power = -1; power >= POWER_MIN; power--) {
        divide_by_five(&big);
        struct power bits = first_bits(&big);
        if (power >= NUMBER_EXACT_MIN)
            increment(&bits);
        powers[power - POWER_MIN] = bits;
    }
}

const struct power *number_powers(void)
{
    return powers;
}

struct power number_power_above(int power)
{
    struct power bits = powers[power - POWER_MIN];
    if (power < NUMBER_EXACT_MIN || power > POWER_EXACT_MAX)
        increment(&bits);
    return bits;
}
