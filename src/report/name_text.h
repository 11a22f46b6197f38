/* SPDX-License-Identifier: MIT */
/* Names of keys, files and columns as tables show them: one printable line that says which bytes a
 * name has. */
#ifndef GPUHISTO_NAME_TEXT_H
#define GPUHISTO_NAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_TEXT_BYTE 4 /* bytes of the text for a byte of the name, at most */

/* Writes a name to text, which has NAME_TEXT_BYTE * len + 1 bytes. A backslash becomes two, and
 * bytes that are not UTF-8, or encode what -c escapes except the space, become \xNN, and if
 * `is_ascii` all that are not ASCII: so two names never have one text. Returns its length. Any
 * thread. */
size_t name_text(const unsigned char *name, size_t len, bool is_ascii, char *text);

/* Shortens a text of name_text to at most `max` bytes: leaves out the middle, but no part of a
 * character or escape, and puts `gap` there, all of it even if it is longer. Does nothing if the
 * text is not longer. */
void name_text_shorten(char *text, size_t max, const char *gap);

#endif
