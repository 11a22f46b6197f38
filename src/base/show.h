/* SPDX-License-Identifier: MIT */
/* Text of the user's, such as a file's name or a token, as messages show it. */
#ifndef GPUHISTO_SHOW_H
#define GPUHISTO_SHOW_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes text[0..len) to shown[0..size), size at least 16, as one printable line: a byte that is a
 * control character, part of a character that nobody sees, such as a byte order mark, or not part
 * of valid UTF-8, becomes \xNN. What does not fit is left out of
 * the middle, where "..." stands for it. Always terminated. Returns the length. Any thread. */
size_t show_text(const char *text, size_t len, char *shown, size_t size);

#ifdef __cplusplus
}
#endif

#endif
