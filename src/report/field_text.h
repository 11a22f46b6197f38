/* SPDX-License-Identifier: MIT */
/* Text as a field of TSV or CSV. */
#ifndef GPUHISTO_FIELD_TEXT_H
#define GPUHISTO_FIELD_TEXT_H

#include "writer.h"

/* Writes a printable text as a field; or as several, between which it has tabs. For ',' a field is
 * one of CSV: in quotes, if its text would end it otherwise. For '\t' it is one of TSV: many
 * readers, such as those of pandas and R, treat a double quote as the beginning of a quoted field,
 * which would extend over tabs and newlines to the next one, so it becomes \x22. */
void field_write(struct writer *out, char separator, const char *text);

#endif
