/* SPDX-License-Identifier: MIT */
/* Random fields, and lines of all kinds that have them. One thread. */
#ifndef GPUHISTO_TESTS_FIELD_TEXTS_H
#define GPUHISTO_TESTS_FIELD_TEXTS_H

#include "src/text/field.h"

#include <stddef.h>

#define FIELD_TEXT_SIZE ((size_t)1 << 14)

struct field_text {
    unsigned char bytes[FIELD_TEXT_SIZE];
    size_t len;
};

/* Draws a field of any kind, by its number if it has one. */
void field_draw(struct field *field);

/* Makes the text `len` bytes, FIELD_TEXT_SIZE at most, of lines for that field: numbers, other
 * text, quotes and white space where they belong and where they do not. The last line may be cut.
 */
void field_text_fill(struct field_text *text, const struct field *field, size_t len);

#endif
