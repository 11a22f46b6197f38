/* Numbers and words of the command line. Text has one meaning wherever it stands: numbers are
 * decimal, in the C locale, and neither hexadecimal nor infinite. */
#ifndef GPUHISTO_PARSE_H
#define GPUHISTO_PARSE_H

#include "src/base/reason.h"
#include "src/histogram/binning.h"

#include <stdbool.h>
#include <stdint.h>

/* These three read the number that *text begins with, and move *text past it. False: there is none,
 * or it is out of range. */

/* [+-]? digits, from -2^64 to 2^64. */
bool parse_whole(const char **text, whole *value);

/* [+-]? digits with an optional point and exponent: the nearest double, which must be finite. */
bool parse_double(const char **text, double *value);

/* The same without a minus sign, kept exactly; 10^DECIMAL_DIGITS or more is out of range. */
bool parse_decimal(const char **text, struct decimal *value);

/* These take the value of an option whole: 0; or -1 with a reason that names the option and says
 * what is allowed. */

/* A whole number from 0 to max, digits only. */
bool parse_digits(const char *text, uint64_t max, uint64_t *value);

/* A whole number from 1 to max. */
int parse_count(const char *option, const char *text, unsigned max, unsigned *value,
                struct reason *why);

/* A size in bytes from min to max, with K, M or G; `range` is both as text. */
int parse_size(const char *option, const char *text, uint64_t min, uint64_t max, const char *range,
               uint64_t *value, struct reason *why);

/* The index of text in a list of words that ends with NULL; or -1 with a reason that lists them. */
int parse_word(const char *option, const char *text, const char *const *words, struct reason *why);

#endif
