/* SPDX-License-Identifier: MIT */
#include "long_power.h"

#include <math.h>
#include <stdlib.h>

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Divides *number by all its factors of two. Returns how many there were. */
static int divide_by_twos(uint64_t *number)
{
    int twos = __builtin_ctzll(*number);
    *number >>= twos;
    return twos;
}

int long_power_open(struct long_power *power, struct decimal base, size_t limbs)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < base.places; i++)
        scale *= 10;
    uint64_t common = greatest_common_divisor(base.digits, scale);
    *power =
        (struct long_power){.up = base.digits / common, .down = scale / common, .limbs = limbs};
    power->shift = divide_by_twos(&power->up) - divide_by_twos(&power->down);
    power->mantissa = calloc(limbs + 2, sizeof *power->mantissa);
    if (!power->mantissa)
        return -1;
    power->mantissa[limbs] = (uint64_t)1 << 63;
    return 0;
}

void long_power_close(struct long_power *power)
{
    free(power->mantissa);
    *power = (struct long_power){0};
}

/* Multiplies the mantissa, which overflows into the spare limb above it. */
static void multiply(struct long_power *power, uint64_t factor)
{
    uint64_t *limb = power->mantissa;
    uint128 carry = 0;
    for (size_t i = 1; i <= power->limbs; i++) {
        carry += (uint128)limb[i] * factor;
        limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    limb[power->limbs + 1] = (uint64_t)carry;
}

/* Divides the mantissa and both spare limbs, rounding down. True if there is a remainder. */
static bool divide(struct long_power *power, uint64_t divisor)
{
    uint64_t *limb = power->mantissa;
    uint128 rest = 0;
    for (size_t i = power->limbs + 2; i-- > 0;) {
        rest = rest << 64 | limb[i];
        limb[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return rest != 0;
}

/* Shifts so that the mantissa's highest bit is set again, and clears the spare limbs. True if bits
 * were lost. */
static bool normalize(struct long_power *power)
{
    uint64_t *limb = power->mantissa, high = limb[power->limbs + 1], lost = limb[0];
    if (high != 0) {
        int right = 64 - __builtin_clzll(high);
        for (size_t i = 0; i <= power->limbs; i++)
            limb[i] = (uint64_t)(((uint128)limb[i + 1] << 64 | limb[i]) >> right);
        lost |= limb[0];
        power->exponent += right;
    } else {
        int left = __builtin_clzll(limb[power->limbs]);
        for (size_t i = power->limbs; i > 0; i--)
            limb[i] = (uint64_t)(((uint128)limb[i] << 64 | limb[i - 1]) << left >> 64);
        lost = limb[0] << left;
        power->exponent -= left;
    }
    limb[0] = limb[power->limbs + 1] = 0;
    return lost != 0;
}

/* As factor and divisor are below 2^60, the quotient's highest bit stays in the mantissa's highest
 * limb or above, so only normalize loses bits. */
static void step(struct long_power *power, uint64_t factor, uint64_t divisor, int shift)
{
    bool lost = false;
    if (factor != 1)
        multiply(power, factor);
    if (divisor != 1)
        lost = divide(power, divisor);
    lost |= normalize(power);
    power->exponent += shift;
    power->lossy += lost || power->lossy > 0;
}

void long_power_raise(struct long_power *power)
{
    step(power, power->up, power->down, power->shift);
}

void long_power_lower(struct long_power *power)
{
    step(power, power->down, power->up, -power->shift);
}

/* Sets *low to the highest 128 bits of the mantissa, and *high to those of a mantissa that the
 * power is below, or exactly at if nothing was lost. False if that one has more bits.
 *
 * Let M be the true mantissa, in units of the last place, so 2^(64 * limbs - 1) and more, and m the
 * one kept. Each step multiplies both by the same number and rounds m down, so (M - m) / M grows by
 * less than 2^-(64 * limbs - 1). After n steps M - m is less than n * M / 2^(64 * limbs - 1), which
 * is at most 2 * n and a rest below 1 that comes from M - m itself. */
static bool highest_bits(const struct long_power *power, uint128 *low, uint128 *high)
{
    const uint64_t *limb = power->mantissa;
    size_t limbs = power->limbs;
    uint128 error = power->lossy ? 2 * (uint128)power->lossy + 1 : 0;
    *low = (uint128)limb[limbs] << 64 | (limbs > 1 ? limb[limbs - 1] : 0);
    if (limbs == 1)
        error <<= 64;
    if (limbs > 2) {
        for (size_t i = 1; i < limbs - 1; i++)
            error = (error + limb[i]) >> 64;
    }
    *high = *low + error;
    return *high >= *low;
}

/* True if a mantissa has a bit set below its highest 128 - `skipped` ones. */
static bool has_bits_below(const struct long_power *power, uint128 highest, int skipped)
{
    bool set = skipped > 0 && (highest << (128 - skipped)) != 0;
    for (size_t i = 1; i + 1 < power->limbs; i++)
        set |= power->mantissa[i] != 0;
    return set;
}

#define DOUBLE_BITS 53
#define DOUBLE_MIN (-1074) /* exponent of the least double over zero */

bool long_power_nearest(const struct long_power *power, double *value)
{
    uint128 low, high;
    int64_t exponent = power->exponent;
    int64_t bits = exponent - DOUBLE_MIN + 1; /* that a double of this size has */
    bits = bits > DOUBLE_BITS ? DOUBLE_BITS : bits;
    if (exponent > 1023 || bits < 0) { /* beyond half the least one, or the largest and a half */
        *value = bits < 0 ? 0 : HUGE_VAL;
        return true;
    }
    if (!highest_bits(power, &low, &high))
        return false;
    /* One more bit than a double has: the one that decides. */
    int skipped = 127 - (int)bits;
    uint64_t kept = (uint64_t)(low >> skipped);
    if (kept != (uint64_t)(high >> skipped))
        return false;
    bool more = power->lossy || has_bits_below(power, low, skipped);
    uint64_t rounded = kept >> 1;
    rounded += (kept & 1) && (more || (rounded & 1));
    *value = ldexp((double)rounded, (int)(exponent - bits + 1));
    return true;
}

bool long_power_round_up(const struct long_power *power, int128 *value)
{
    uint128 low, high;
    if (!highest_bits(power, &low, &high))
        return false;
    int skipped = 127 - (int)power->exponent;
    if (low >> skipped != high >> skipped)
        return false;
    *value = (int128)(low >> skipped);
    *value += power->lossy || has_bits_below(power, low, skipped);
    return true;
}
