/* Compares all that counts characters of UTF-8 with the definition. */
#ifndef GPUHISTO_TESTS_CHECK_CHARACTERS_H
#define GPUHISTO_TESTS_CHECK_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether every counter that this processor can run counts the characters of data[0..len) right: at
 * once, and in the two parts that a cut at data[cut] makes, both where the beginning of a character
 * is kept and where its end is left to the part before. If not, says so on standard error. Not by
 * two threads at a time. */
bool check_characters(const unsigned char *data, size_t len, size_t cut);

/* Whether what was checked has left no other count behind. Slow: once at the end. */
bool check_characters_end(void);

#endif
