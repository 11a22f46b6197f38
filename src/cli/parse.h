/* SPDX-License-Identifier: MIT */
/* Numbers and words of the command line. Text has one meaning wherever it stands: numbers are
 * decimal, in the C locale, and neither hexadecimal nor infinite. */
#ifndef GPUHISTO_PARSE_H
#define GPUHISTO_PARSE_H

#include "src/base/error.h"
#include "src/bins/binning.h"
#include "src/tally/statistics.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the number that *text begins with, [+-]? digits, from -2^64 to 2^64, and moves *text past
 * it. Returns false if there is none, or it is out of range. */
bool parse_whole(const char **text, int128 *value);

/* Reads a number as parse_whole does: [+-]? digits with an optional point and exponent. The value
 * is the nearest double, which must be finite. */
bool parse_double(const char **text, double *value);

/* Reads a number as parse_double does, but without a minus sign, and exactly. 10^DECIMAL_DIGITS or
 * more is out of range. */
bool parse_decimal(const char **text, struct decimal *value);

/* Reads a number as parse_double does, from 0 to 1 and exactly. Returns false if it is another one,
 * or has more than PROBABILITY_DIGITS digits, leading and trailing zeros left out. */
bool parse_probability(const char **text, struct probability *value);

/* Reads all of text as a whole number from 0 to max, of digits only. Returns false if it is none.
 */
bool parse_digits(const char *text, uint64_t max, uint64_t *value);

/* Reads the value of an option, a whole number from 1 to max. Returns 0; or -1 with an error that
 * names the option and says what is allowed. */
int parse_count(const char *option, const char *text, unsigned max, unsigned *value,
                struct error *error);

struct size_range {
    uint64_t min, max;
    const char *text; /* "1 to 1G" */
};

/* Reads the value of an option, a size in bytes, with K, M or G. Returns as parse_count does. */
int parse_size(const char *option, const char *text, const struct size_range *range,
               uint64_t *value, struct error *error);

/* Returns the index of text in a list of words that ends with NULL; or -1 with an error that lists
 * the words. */
int parse_word(const char *option, const char *text, const char *const *words, struct error *error);

#endif
