/* SPDX-License-Identifier: MIT */
/* What a decimal number is: the rules that all parsers follow, on the CPU (src/cpu/number_*.c) and
 * on the GPU (gpu/parse_number.cuh). Numbers stand in text, separated by white space (space, \t,
 * \n, \v, \f, \r).
 *
 * A number is [+-]? (digits [. digits*]? | . digits) ([eE] [+-]? digits)?, or [+-]? inf or infinity
 * in any case; its value is the very one that strtod gives in the C locale: the nearest double,
 * half way the even one, infinity for what is too large. Any other token is not a number: its
 * value is NaN. So is that of a token longer than NUMBER_MAX bytes, whatever is in it. */
#ifndef GPUHISTO_NUMBER_H
#define GPUHISTO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_MAX 4096

/* Finds the first token of text[0..len) that is not a number, for a message:
 * text[*at..*at+*token_len). False if all of them are numbers, or, if has_units, numbers with units
 * (number_units.h). Slow. Any thread. */
bool numbers_find_invalid(const unsigned char *text, size_t len, bool has_units, size_t *at,
                          size_t *token_len);

/* Makes the tables that parsers need, if it has not been done. Any thread. */
void number_prepare(void);

#endif
