/* SPDX-License-Identifier: MIT */
/* Decimal numbers in text: the rules that all parsers follow, on the CPU (src/cpu/number_*.c) and
 * on the GPU (gpu/count/parse_number.cuh), and what these share. Tokens stand between white space:
 * space, \t, \n, \v, \f, \r.
 *
 * A number is [+-]? (digits [. digits*]? | . digits) ([eE] [+-]? digits)?, or [+-]? inf or infinity
 * in any case. Its value is the one that strtod gives in the C locale: the nearest double, half way
 * the even one, infinity for what is too large. The value of any other token, and of a token longer
 * than NUMBER_MAX bytes, is NaN. */
#ifndef GPUHISTO_NUMBER_H
#define GPUHISTO_NUMBER_H

#include "src/base/byte_word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_MAX 4096

/* Marks functions that a GPU calls too: nvcc compiles them for both. */
#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* Powers of ten that a double holds exactly. */
#define TEN_TO_MAX 22
#define TEN_TO                                                                                     \
    {                                                                                              \
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,      \
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22                                               \
    }

/* Makes the tables that parsers need, once. Any thread. */
void number_prepare(void);

/* Returns the value of the token [begin, end), which is not empty. Bytes up to limit may be read;
 * if end is not limit, white space is there. After number_prepare. Any thread. */
double number_of_token(const unsigned char *begin, const unsigned char *end,
                       const unsigned char *limit);

/* Sets *value to the double nearest to mantissa * 10^power. False, and nothing is set, if that
 * would take more than 128 bits. After number_prepare. */
bool number_to_double(uint64_t mantissa, int64_t power, double *value);

/* Reads up to `cap` tokens from *at on, and moves *at past them. Returns how many values were
 * written. */
size_t numbers_by_token(const unsigned char **at, const unsigned char *limit, double *values,
                        size_t cap);

/* Returns where the token at `at` ends: at white space or at limit. */
const unsigned char *number_token_end(const unsigned char *at, const unsigned char *limit);

/* Finds the first token of text[0..len) that is not a number: text[*at..*at+*token_len). False if
 * there is none. Slow. Any thread. */
bool numbers_find_invalid(const unsigned char *text, size_t len, size_t *at, size_t *token_len);

static inline ON_BOTH bool number_is_space(unsigned char c)
{
    const uint64_t spaces = UINT64_C(1) << ' ' | UINT64_C(0x1f) << '\t';
    return c <= ' ' && (spaces >> c & 1);
}

static inline ON_BOTH bool number_is_digit(unsigned char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline ON_BOTH bool number_is_letter(unsigned char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

#define NUMBER_ESCAPE 0x1b

/* Returns where the colours at `at` end: sequences of ESC, [, digits, semicolons and colons, and m,
 * or K, with which grep clears the rest of a line. */
static inline ON_BOTH const unsigned char *number_colour_end(const unsigned char *at,
                                                             const unsigned char *limit)
{
    while (limit - at > 2 && at[0] == NUMBER_ESCAPE && at[1] == '[') {
        const unsigned char *end = at + 2;
        while (end < limit && (number_is_digit(*end) || *end == ';' || *end == ':'))
            end++;
        if (end == limit || (*end != 'm' && *end != 'K'))
            break;
        at = end + 1;
    }
    return at;
}

/* Returns where the colours begin that end at `end`, not before `begin`. */
static inline ON_BOTH const unsigned char *number_colour_begin(const unsigned char *begin,
                                                               const unsigned char *end)
{
    while (end - begin > 2 && (end[-1] == 'm' || end[-1] == 'K')) {
        const unsigned char *at = end - 1;
        while (at > begin && (number_is_digit(at[-1]) || at[-1] == ';' || at[-1] == ':'))
            at--;
        if (at - begin < 2 || at[-1] != '[' || at[-2] != NUMBER_ESCAPE)
            break;
        end = at - 2;
    }
    return end;
}

/* Returns the number of eight digits, given as values of 0 to 9 in a word, the first one lowest.
 * Neighbours are joined to numbers of two, four and eight digits. */
static inline uint64_t number_of_digits(uint64_t digits)
{
    digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (digits * 10000 + (digits >> 32)) & UINT64_C(0xffffffff);
}

#endif
