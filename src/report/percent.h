/* SPDX-License-Identifier: MIT */
/* Percents as text. */
#ifndef GPUHISTO_PERCENT_H
#define GPUHISTO_PERCENT_H

#include <stdint.h>

#define PERCENT_DIGITS_MAX 6
#define PERCENT_TEXT 32 /* bytes that are enough, with the end */

/* Writes how many percent of `whole` `part` is, with `digits` (1 to PERCENT_DIGITS_MAX) decimals:
 * "33.33", "100.00". The exact quotient is rounded once, to the nearest decimal and upwards if it
 * is half way. Percents of 0 are 0. */
void percent_show(uint64_t part, uint64_t whole, unsigned digits, char text[PERCENT_TEXT]);

#endif
