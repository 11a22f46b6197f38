/* SPDX-License-Identifier: MIT */
/* Moments as text that reads back the same, for tables that are merged. */
#ifndef GPUHISTO_MOMENTS_TEXT_H
#define GPUHISTO_MOMENTS_TEXT_H

#include "histogram_spec.h"
#include "src/bins/sums.h"

/* Bytes that are enough for an exact sum, with the end: 8 for each digit, a sign and an exponent.
 */
#define EXACT_SUM_TEXT (8 * EXACT_DIGITS + 16)

/* A sum is a whole number times a power of two, "-1f3p-1074": hexadecimal digits in lower case, of
 * which neither the first nor the last is 0, and the exponent; of nothing "0p0". */
struct moments_text {
    char least[ROW_TEXT], greatest[ROW_TEXT]; /* as a table shows numbers; "nan" before any */
    char sum[EXACT_SUM_TEXT], squares[EXACT_SUM_TEXT];
    char check[17]; /* FNV-1a of these texts, and of lowest and highest: 16 hexadecimal digits */
};

/* Writes the moments of whole numbers, or of doubles. */
void moments_show(const struct moments *moments, bool is_whole, struct moments_text *text);

/* Reads moments, of which lowest and highest are set already. False if moments_show does not write
 * the texts; only numbers may be written in another way. */
bool moments_read(const struct moments_text *text, bool is_whole, struct moments *moments);

#endif
