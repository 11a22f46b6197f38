/* SPDX-License-Identifier: MIT */
/* Numbers in text by the definition alone, a byte at a time and by strtod: what the tests and the
 * fuzzer compare with. */
#ifndef GPUHISTO_TESTS_NAIVE_NUMBER_H
#define GPUHISTO_TESTS_NAIVE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the value of a token, NaN if it is not a number. The locale is C. Any thread. */
double naive_number(const unsigned char *token, size_t len);

/* Returns the value of a token that may have units: seconds or bytes. */
double naive_number_with_units(const unsigned char *token, size_t len);

/* Returns what a message adds about a token that is not a number: a text of our own, or an empty
 * one. */
const char *naive_advice(const unsigned char *token, size_t len);

/* Finds the token of text[0..len) that begins at or after `at`, and sets *begin and *end. False if
 * there is none. */
bool naive_token(const unsigned char *text, size_t len, size_t at, size_t *begin, size_t *end);

/* True if two values are the same to the bit, or both NaN. */
bool naive_same(double a, double b);

#endif
