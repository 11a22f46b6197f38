/* SPDX-License-Identifier: MIT */
/* Numbers with units (--units): times in seconds, sizes in bytes.
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
 * units, as are numbers without. After number_prepare. Any thread. */
double number_with_units(const unsigned char *begin, const unsigned char *end);

/* True if [begin, end) is a unit, as it may stand after a number and a space in a field. */
bool number_is_unit(const unsigned char *begin, const unsigned char *end);

/* Reads the tokens of [text, limit) again whose value is NaN: they may have units. There are values
 * for the first `count` tokens. After number_prepare. Any thread. */
void numbers_add_units(const unsigned char *text, const unsigned char *limit, double *values,
                       size_t count);

#endif
