/* SPDX-License-Identifier: MIT */
/* Numbers as tables show them, whatever the locale, and read back.
 *
 * The digits of a double are found by Raffaello Giulietti's algorithm: "The Schubfach way to render
 * doubles", 2020. It multiplies by the table of powers that parsers use. */
#ifndef GPUHISTO_SHOW_NUMBER_H
#define GPUHISTO_SHOW_NUMBER_H

#include "src/base/int128.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOW_NUMBER 48 /* bytes that are enough for any number, with the end */

/* Writes a double, terminated, with as few digits as read back the same; of several such texts the
 * one nearest to the value. Whole numbers below 1e17 have all their digits. Others are written as a
 * decimal fraction from 0.0001 to below 1e17, and as 1.5e-07 beyond; or as "-0", "inf", "-inf" and
 * "nan". Returns the length, at most 24. Any thread. */
size_t show_double(double value, char *text);

/* Bytes that are enough for a decimal of so many digits and its end: a point, zeros before them, or
 * an exponent of up to ten digits. */
#define SHOW_DECIMAL(digits) ((digits) + 14)

/* Writes 0.DIGITS * 10^exponent, terminated, in the form of show_double, with all of its digits,
 * the first of which is not 0; without any, "0". Returns the length. Any thread. */
size_t show_decimal(const char *digits, int exponent, char *text);

/* Writes an integer, terminated. Returns the length, at most 20. Any thread. */
size_t show_unsigned(uint64_t value, char *text);

/* Writes a whole number of at most 38 digits, terminated. Any thread. */
void show_whole(int128 value, char *text);

/* Reads all of a text as a whole number of at most 38 digits, with a minus sign or without. False
 * if it is not one. */
bool read_shown_whole(const char *text, int128 *value);

/* Reads all of a text as a decimal number, "inf" or "-inf": the nearest double. False if it is not
 * one, or too large. */
bool read_shown_double(const char *text, double *value);

#endif
