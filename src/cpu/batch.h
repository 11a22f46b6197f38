/* SPDX-License-Identifier: MIT */
/* What sums by limbs share: a batch of numbers that are multiplied by a power of two. A part of
 * batch_moments.h. */
#ifndef GPUHISTO_BATCH_H
#define GPUHISTO_BATCH_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 2^exponent, for exponents of normal doubles. */
TARGET INLINE double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Whether a number of a batch may lose bits, or become 0, where it is multiplied by 2^-exponent:
 * the look for bits below the unit of limbs would not see what is lost. Only where the greatest
 * number is large do the numbers have to be looked at. */
TARGET static bool batch_may_vanish(const double *values, int exponent)
{
    if (exponent <= 0)
        return false;
    const double normal = power_of_two(exponent - 1022);
    uint64_t tiny = 0;
    for (size_t i = 0; i < BATCH; i++)
        tiny |= (uint64_t)(fabs(values[i]) < normal) & (uint64_t)(values[i] != 0);
    return tiny != 0;
}

#endif
