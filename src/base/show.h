/* SPDX-License-Identifier: MIT */
/* Text of the user's, such as the name of a file or a token, as messages show it. */
#ifndef GPUHISTO_SHOW_H
#define GPUHISTO_SHOW_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOW_TEXT_MIN 16

/* Writes text[0..len) to shown[0..size), size at least SHOW_TEXT_MIN, as one printable line. Bytes
 * of control characters, of invisible characters such as a byte order mark, and of invalid UTF-8
 * become \xNN. What does not fit is left out in the middle and replaced by "...". Always
 * terminated. Returns the length. Any thread. */
size_t show_text(const char *text, size_t len, char *shown, size_t size);

/* Writes the escape of a byte, \xNN, which show_digit reads back. */
#define SHOW_ESCAPE 4
void show_escape(unsigned char byte, char escape[SHOW_ESCAPE]);

/* Returns the value of a hexadecimal digit in lower case; 16 if it is none. */
unsigned show_digit(char digit);

#ifdef __cplusplus
}
#endif

#endif
