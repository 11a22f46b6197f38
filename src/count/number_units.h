/* SPDX-License-Identifier: MIT */
/* Numbers with units (--units): times in seconds, sizes in bytes. A layer over number.h.
 *
 *     [+-]? (decimal unit)+
 *
 * Units of time are d h m s ms us ns, and µs with the micro sign or the Greek letter. Several may
 * follow each other, each smaller than the one before; only the last decimal has a fraction then.
 * Units of size are B and k M G T P (powers of 1000), Ki Mi Gi Ti Pi (powers of 1024), and these
 * with a B; one of them ends the number. Case matters: m are minutes, M millions. A decimal with a
 * single unit may have an exponent.
 *
 * The value is the double nearest to the exact sum of products, half way the even one. */
#ifndef GPUHISTO_NUMBER_UNITS_H
#define GPUHISTO_NUMBER_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the value of the token [begin, end), which is not empty; NaN if it is not a number with
 * units. After number_prepare. Any thread. */
double number_with_units(const unsigned char *begin, const unsigned char *end);

/* True if [begin, end) is a unit. In a field it may follow a number and a space. */
bool number_is_unit(const unsigned char *begin, const unsigned char *end);

/* Reads tokens of [text, limit) whose value is NaN again, as they may have units. `values` has
 * those of the first `count` tokens. After number_prepare. Any thread. */
void numbers_add_units(const unsigned char *text, const unsigned char *limit, double *values,
                       size_t count);

/* True if the token [begin, end) is a number, or has_units and it is a number with units. After
 * number_prepare. Any thread. */
bool number_is_valid(const unsigned char *begin, const unsigned char *end, bool has_units);

/* Finds the first token of text[0..len) that is not valid: text[*at..*at+*token_len). False if
 * there is none. Slow. Any thread. */
bool numbers_find_invalid(const unsigned char *text, size_t len, bool has_units, size_t *at,
                          size_t *token_len);

#endif
