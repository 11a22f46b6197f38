/* SPDX-License-Identifier: MIT */
/* Shares of a whole, in percent. */
#ifndef GPUHISTO_SHARE_H
#define GPUHISTO_SHARE_H

#include <stdint.h>

#define SHARE_DIGITS_MAX 6
#define SHARE_TEXT 32 /* bytes that are enough for any share, with the end */

/* Writes how many percent of `whole` are `part`, terminated, with `digits` (1 to SHARE_DIGITS_MAX)
 * decimals. It is the exact quotient rounded once, to the nearest decimal and upwards if it is half
 * way: "33.33", "100.00". Of nothing every share is 0. */
void share_show(uint64_t part, uint64_t whole, unsigned digits, char text[SHARE_TEXT]);

#endif
