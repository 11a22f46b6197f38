/* SPDX-License-Identifier: MIT */
/* Where what follows the string of --after ends: for CPUs and for GPUs. */
#ifndef GPUHISTO_FIELD_TOKEN_H
#define GPUHISTO_FIELD_TOKEN_H

#include "number.h"

/* True if a token ends before c, whatever comes next. */
static inline ON_BOTH bool field_ends_token(unsigned char c)
{
    const uint64_t low = UINT64_C(1) << '"' | UINT64_C(1) << '&' | UINT64_C(1) << '\'' |
                         UINT64_C(1) << ')' | UINT64_C(1) << ':' | UINT64_C(1) << ';' |
                         UINT64_C(1) << '<' | UINT64_C(1) << '>';
    const uint64_t high = UINT64_C(1) << ('\\' - 64) | UINT64_C(1) << (']' - 64) |
                          UINT64_C(1) << ('|' - 64) | UINT64_C(1) << ('}' - 64);
    return number_is_space(c) || (c < 128 && ((c < 64 ? low : high) >> c % 64 & 1));
}

/* Returns where the token at `at` ends, which should be a number: `at` if there is none. Nothing
 * that could belong to the token is left out, so that 0x1F and 1,234 are no numbers, rather than 0
 * and 1. */
static inline ON_BOTH const unsigned char *field_token_end(const unsigned char *at,
                                                           const unsigned char *limit)
{
    const unsigned char *end = at;
    for (; end < limit; end++) {
        const unsigned char c = *end;
        if (number_is_digit(c))
            continue;
        if (field_ends_token(c))
            break;
        if ((c == ',' || c == '%') && !(limit - end > 1 && number_is_digit(end[1])))
            break;
    }
    return end > at && end[-1] == '.' ? end - 1 : end; /* the end of a sentence */
}

#endif
