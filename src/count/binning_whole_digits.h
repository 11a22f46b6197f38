/* SPDX-License-Identifier: MIT */
/* Bins of so many significant decimal digits for whole values of up to 64 bits, with a sign or
 * without: binning_digits.h has those for doubles. With three digits 0 to 999 are bins of their
 * own, and the next ones are 1000 to 1009, 1010 to 1019 and so on. They are mirrored below zero:
 * -1 has the bin before that of 0, and -1010 to -1001 are one bin. */
#ifndef GPUHISTO_BINNING_WHOLE_DIGITS_H
#define GPUHISTO_BINNING_WHOLE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* Wide enough for any 64-bit value, with or without a sign, and for what lies between two. */
__extension__ typedef __int128 whole;

struct whole_digits {
    unsigned digits;     /* 0: other bins */
    uint32_t own;        /* 10^digits: values from 0 to below that have a bin of their own */
    uint32_t per_decade; /* bins of each decade from there on */
};

/* Lays bins of so many digits, DIGITS_MIN to DIGITS_MAX. */
struct whole_digits whole_digits_of(unsigned digits);

/* How many bins there are. No value is outside of them. */
size_t whole_digits_bins(const struct whole_digits *layout);

/* The bin, from 0, of a value. */
size_t whole_digits_bin(const struct whole_digits *layout, whole value);

/* Edge k, from 0 to the number of bins. */
whole whole_digits_edge(const struct whole_digits *layout, size_t k);

#endif
