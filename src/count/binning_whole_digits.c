/* SPDX-License-Identifier: MIT */
#include "binning_whole_digits.h"

#define VALUE_DIGITS 20 /* of the greatest value of 64 bits */

static const uint64_t ten_to[VALUE_DIGITS] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

struct whole_digits whole_digits_of(unsigned digits)
{
    const uint32_t own = (uint32_t)ten_to[digits];
    return (struct whole_digits){digits, own, own / 10 * 9};
}

/* The bins on either side of the edge that is 0. */
static size_t side_of(const struct whole_digits *layout)
{
    return layout->own + (size_t)(VALUE_DIGITS - layout->digits) * layout->per_decade;
}

size_t whole_digits_bins(const struct whole_digits *layout)
{
    return 2 * side_of(layout);
}

/* The power of ten that a number over 0 begins with: floor(log10(number)). */
static unsigned power_of(uint64_t number)
{
    /* 1233 / 4096 is a little less than log10(2), so this is the power, or one too many. */
    unsigned power = (unsigned)(64 - __builtin_clzll(number)) * 1233 >> 12;
    return power - (number < ten_to[power]);
}

/* The bin of a value from 0 on, counted from that of 0. */
static size_t bin_from_zero(const struct whole_digits *layout, uint64_t value)
{
    if (value < layout->own)
        return (size_t)value;
    const unsigned decade = power_of(value) - layout->digits + 1; /* from 1 */
    return decade * (size_t)layout->per_decade + (size_t)(value / ten_to[decade]);
}

size_t whole_digits_bin(const struct whole_digits *layout, whole value)
{
    const size_t side = side_of(layout);
    if (value < 0)
        return side - 1 - bin_from_zero(layout, (uint64_t)(-1 - value));
    return side + bin_from_zero(layout, (uint64_t)value);
}

/* The edge that is `k` bins above 0. */
static whole edge_from_zero(const struct whole_digits *layout, size_t k)
{
    if (k < layout->own)
        return (whole)k;
    const size_t beyond = k - layout->own, decade = beyond / layout->per_decade; /* from 0 */
    const whole number = layout->own / 10 + beyond % layout->per_decade;
    return 10 * number * (whole)ten_to[decade];
}

whole whole_digits_edge(const struct whole_digits *layout, size_t k)
{
    const size_t side = side_of(layout);
    return k < side ? -edge_from_zero(layout, side - k) : edge_from_zero(layout, k - side);
}
