/* SPDX-License-Identifier: MIT */
/* From binary to decimal: numbers as text, whatever the locale.
 *
 * The digits of a double are found by Raffaello Giulietti's algorithm: "The Schubfach way to render
 * doubles", 2020. It multiplies by the table of powers that reading text uses. */
#ifndef GPUHISTO_SHOW_NUMBER_H
#define GPUHISTO_SHOW_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define SHOW_NUMBER 48 /* bytes that are enough for any number, with the end */

/* Writes a double, terminated, with as few digits as read back the same; of several such texts the
 * one nearest to the value. Whole numbers below 1e17 have all their digits. Other numbers are
 * written as a decimal fraction from 0.0001 to below 1e17, and as 1.5e-07 beyond. "-0", "inf",
 * "-inf" and "nan" stand for these. Returns the length, at most 24. Any thread. */
size_t show_double(double value, char *text);

/* Writes a share from 0 to 1 in percent, terminated, in the form of show_double: the decimal that
 * this would write, times 100. So shares that differ do so in percent, which 100 times the double
 * may not. Returns the length, at most 24. Any thread. */
size_t show_percentage(double share, char *text);

/* Writes an integer, terminated. Returns the length, at most 20. Any thread. */
size_t show_unsigned(uint64_t value, char *text);

#endif
