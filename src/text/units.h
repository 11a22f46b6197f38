/* SPDX-License-Identifier: MIT */
/* Numbers with units (--units): times in seconds, sizes in bytes. A layer over number.h.
 *
 *     [+-]? (decimal unit)+ | [+-]? days? clock
 *
 * Units of time are w d h m s ms us ns, and µs with the micro sign or the Greek letter. Several may
 * follow each other, each smaller than the one before; only the last decimal has a fraction then.
 * Units of size are B and k M G T P (powers of 1000), Ki Mi Gi Ti Pi (powers of 1024), and these
 * with a B; one of them ends the number. Case matters: m are minutes, M millions. It does not in
 * words: week, day, hour or hr, minute or min, second or sec, millisecond or msec, microsecond or
 * usec, nanosecond or nsec, and byte, with or without an s. A decimal with a single unit may have
 * an exponent.
 *
 * A clock is h:mm:ss, with or without a fraction, or m:ss with one, as 1:30 alone may be either.
 * The mm and ss are two digits, below 60. Days, or weeks and days, may come before h:mm:ss, as in
 * 1d2:03:04 and 1-02:03:04; but with a '-' before them, some mean it for the days alone.
 *
 * The value is the double nearest to the exact sum of products, half way the even one. */
#ifndef GPUHISTO_UNITS_H
#define GPUHISTO_UNITS_H

#include "number.h"

/* Returns the value of the token [begin, end), which is not empty; NaN if it is not a number with
 * units. After number_prepare. Any thread. */
double number_with_units(const unsigned char *begin, const unsigned char *end);

/* What a word after a number and a space says about that number. */
enum unit_kind {
    UNIT_NONE,
    UNIT_UNCLEAR, /* it is a unit, but which one, or of what, is not clear: KB, months, MB/s, pm */
    UNIT_KNOWN,
};

enum unit_kind number_unit_kind(const unsigned char *begin, const unsigned char *end);

/* Reads the tokens of [text, limit) whose value is NaN again, as they may have units. `values` has
 * the values of the first `count` tokens. After number_prepare. Any thread. */
void numbers_add_units(const unsigned char *text, const unsigned char *limit, double *values,
                       size_t count);

/* --- words --- */

/* Numbers in text may be several words, of which each of these makes a token of 1 to NUMBER_MAX
 * bytes, `token` having room for so many:
 *
 *     decimal unit                        3 min
 *     term ([ ] | [,] [ ] | and) term     1h 30min, 1 hour 30 minutes, 1 day, 2:03:04
 *
 * Blanks before a unit are any number of spaces and tabs, those between terms one space. Colours
 * are skipped (number_colour_end). Of the last word the letters count, whatever follows them; but
 * what may be part of a name does not: in "5 s=3" the s is no unit.
 *
 * A decimal or a clock is no number if a unit that is UNIT_UNCLEAR follows, and neither is a clock
 * that any unit follows, nor days that a clock follows which cannot be added. */

/* False if the first byte after a word that ends with `last` shows that nothing there belongs to
 * it. */
static inline bool number_may_go_on(unsigned char last, const unsigned char *at,
                                    const unsigned char *limit)
{
    while (at < limit && (*at == ' ' || *at == '\t' || *at == ','))
        at++;
    if (at == limit || *at == '\n')
        return false;
    if (number_is_digit(last) || last == '.')
        return *at >= 'A' || *at == NUMBER_ESCAPE;
    return number_is_digit(*at) || *at == '+' || *at == '-' || *at == 'a' || *at == NUMBER_ESCAPE;
}

/* False if the word after a word that ends with `last` does not belong to it; looks at all of that
 * word. */
bool number_goes_on(unsigned char last, const unsigned char *at, const unsigned char *limit);

/* Adds to token[0..len), which has the first word, the words from *at on that belong to it, and
 * moves *at past them. Returns the token's length, or 0 if it is no number because of what is up to
 * *at. */
size_t number_join_words(unsigned char *token, size_t len, const unsigned char **at,
                         const unsigned char *limit);

/* Copies [from, to) as a token if it is one number in one or several words. Returns its length, or
 * 0. */
size_t number_copy_words(const unsigned char *from, const unsigned char *to, unsigned char *token);

/* Adds [from, to), which follows the decimal token[0..len), if that is its unit. Returns the
 * token's length, or 0 if what follows makes it no number. */
size_t number_join_unit(unsigned char *token, size_t len, const unsigned char *from,
                        const unsigned char *to);

#endif
