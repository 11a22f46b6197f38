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

/* Bytes that are enough for a decimal of so many digits and its end: a point, zeros before them, or
 * an exponent of up to ten digits. */
#define SHOW_DECIMAL(digits) ((digits) + 14)

/* Writes 0.DIGITS * 10^exponent, terminated, in the form of show_double, with all of its digits,
 * the first of which is not 0; without any, "0". Returns the length. Any thread. */
size_t show_decimal(const char *digits, int exponent, char *text);

/* Writes an integer, terminated. Returns the length, at most 20. Any thread. */
size_t show_unsigned(uint64_t value, char *text);

#endif
