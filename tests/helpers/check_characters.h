/* SPDX-License-Identifier: MIT */
/* Compares all that counts characters of UTF-8 with the definition. */
#ifndef GPUHISTO_TESTS_CHECK_CHARACTERS_H
#define GPUHISTO_TESTS_CHECK_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first character of data[0..len), len > 0, or the maximal subpart of one: sets *point to the
 * code point or CHARACTER_INVALID, and returns how many bytes that is. By the definition, slowly.
 */
size_t characters_naive(const unsigned char *data, size_t len, uint32_t *point);

/* Writes a code point as the bits of UTF-8 are laid out; surrogates, and up to 0x1fffff, too, which
 * are invalid then. Returns how many bytes, up to 4. */
size_t characters_put(unsigned char *to, uint32_t point);

/* Fills to[0..len) with characters of all sizes, some of whose bytes are exchanged `errors` times.
 * Returns len. */
size_t characters_make(unsigned char *to, size_t len, unsigned errors);

/* Fills to[0..len) with bytes that are hard for a decoder. */
void characters_make_hard(unsigned char *to, size_t len);

/* True if all kernels that this processor can run counts the characters of data[0..len) right: at
 * once, and in the two parts that a cut at data[cut] makes, both where the beginning of a character
 * is kept and where its end is left to the part before. Otherwise says so on standard error. Not by
 * two threads at a time. */
bool check_characters(const unsigned char *data, size_t len, size_t cut);

/* True if the checks have left no other count behind. Slow: once at the end. */
bool check_characters_end(void);

#endif
