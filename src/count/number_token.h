/* SPDX-License-Identifier: MIT */
/* What the CPU's parsers share: one token by all the rules of number.h, and eight bytes of it in a
 * word. The GPU's parser takes the powers of ten and the white space. */
#ifndef GPUHISTO_NUMBER_TOKEN_H
#define GPUHISTO_NUMBER_TOKEN_H

#include "src/base/byte_word.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Written before functions that a GPU calls too: nvcc compiles them for both. */
#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* Powers of ten that a double holds exactly, and those that quotients need. */
#define TEN_TO_MAX 22
#define TEN_TO                                                                                     \
    {                                                                                              \
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,      \
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22                                               \
    }

/* The value of the token [begin, end), which is not empty and has no white space; NaN if it is
 * not a number. What follows it may be read, up to limit; if end is not limit, white space is
 * there. */
double number_of_token(const unsigned char *begin, const unsigned char *end,
                       const unsigned char *limit);

/* Sets *value to the double nearest to mantissa * 10^power. False, and nothing is set, if that
 * would take more than 128 bits. After number_prepare. */
bool number_nearest_to(uint64_t mantissa, int64_t power, double *value);

/* Parses the rest of a text, from *at on, a token at a time; *at is moved to where it stopped:
 * after token cap, or at limit. Returns how many values were written. */
size_t numbers_by_token(const unsigned char **at, const unsigned char *limit, double *values,
                        size_t cap);

/* Where the token at `at` ends: at white space or at limit. */
const unsigned char *number_token_end(const unsigned char *at, const unsigned char *limit);

static inline ON_BOTH bool number_is_space(unsigned char c)
{
    const uint64_t spaces = UINT64_C(1) << ' ' | UINT64_C(0x1f) << '\t';
    return c <= ' ' && (spaces >> c & 1);
}

/* The number of eight digits, given as values of 0 to 9 in a word, the first one lowest. Neighbours
 * are joined to numbers of two, four and eight digits. */
static inline uint64_t number_of_digits(uint64_t digits)
{
    digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (digits * 10000 + (digits >> 32)) & UINT64_C(0xffffffff);
}

#endif
