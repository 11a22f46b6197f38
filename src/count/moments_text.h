/* SPDX-License-Identifier: MIT */
/* Moments as text that reads back the very same, for tables that are merged. */
#ifndef GPUHISTO_MOMENTS_TEXT_H
#define GPUHISTO_MOMENTS_TEXT_H

#include "mode.h"
#include "moments.h"

/* Bytes that are enough for an exact sum, with the end: 8 for each digit, a sign and an exponent.
 */
#define EXACT_SUM_TEXT (8 * EXACT_DIGITS + 16)

/* Writes a sum as a whole number times a power of two, "-1f3p-1074": hexadecimal digits in lower
 * case, of which neither the first nor the last is 0, and the exponent. Of nothing "0p0". */
void exact_sum_show(const struct exact_sum *sum, char text[EXACT_SUM_TEXT]);

/* Reads what exact_sum_show writes; false if it is anything else. */
bool exact_sum_read(const char *text, struct exact_sum *sum);

struct moments_text {
    char least[ROW_TEXT], greatest[ROW_TEXT]; /* as a table shows numbers; "nan" before any */
    char sum[EXACT_SUM_TEXT], squares[EXACT_SUM_TEXT];
    char check[17]; /* FNV-1a of all that, and of lowest and highest: 16 hexadecimal digits */
};

/* The moments of whole numbers, or of doubles, as text. */
void moments_show(const struct moments *moments, bool is_whole, struct moments_text *text);

/* Sets moments to the texts; lowest and highest are set already. False if they are anything that
 * moments_show does not write, but for the way in which numbers are written. */
bool moments_read(const struct moments_text *text, bool is_whole, struct moments *moments);

#endif
