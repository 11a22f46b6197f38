/* SPDX-License-Identifier: MIT */
/* Moments of the numbers of a key, in a twentieth of the memory: exact sums with as many bits as
 * similar numbers need. A key whose numbers are further apart gets a struct moments. */
#ifndef GPUHISTO_KEY_SUMS_H
#define GPUHISTO_KEY_SUMS_H

#include "src/bins/sums.h"

#include <stddef.h>

#define KEY_SUM_WORDS 3     /* of 64 bits */
#define KEY_SQUARES_WORDS 5 /* twice the bits of numbers need twice the width */

/* Exact sums, all zeros before any number. They are whole numbers in words of 64 bits, the lowest
 * first. */
struct key_sums {
    struct moments
        *moments; /* all numbers so far, and nothing below counts; NULL: they are below */
    double min, max;
    uint64_t sum[KEY_SUM_WORDS];         /* times 2^exponent; two's complement */
    uint64_t squares[KEY_SQUARES_WORDS]; /* times 2^(2 * exponent) */
    int exponent;                        /* if has_exponent */
    bool has_exponent;                   /* a number that is not 0 was added */
    bool any;
};

/* Adds a number, which may be infinite. False if memory is short: the number is lost. */
bool key_sums_add(struct key_sums *sums, double value);

/* Adds a whole number of at most 64 bits, of MOMENTS_LARGE at least, and the double nearest to it.
 * False if memory is short. */
bool key_sums_add_large(struct key_sums *sums, double nearest, int128 number);

/* Adds other sums, and makes `from` all zeros. False if memory is short. */
bool key_sums_move(struct key_sums *into, struct key_sums *from);

/* Adds moments. False if memory is short. */
bool key_sums_add_moments(struct key_sums *sums, const struct moments *moments);

/* Adds the sums to moments. */
void key_sums_add_to(const struct key_sums *sums, struct moments *moments);

/* Frees the memory of sums. */
void key_sums_close(struct key_sums *sums);

#endif
