/* SPDX-License-Identifier: MIT */
/* Text as a field of TSV or CSV. */
#ifndef GPUHISTO_FIELD_TEXT_H
#define GPUHISTO_FIELD_TEXT_H

#include "writer.h"

/* Writes a field of TSV, in which no tabs or newlines are. Many readers of tab-separated text, such
 * as those of pandas and R, take a double quote for the beginning of a quoted field and would go on
 * over tabs and newlines to the next one. It is therefore written as other bytes that cannot be
 * shown. */
void tsv_field(struct writer *out, const char *text);

/* Writes a field of CSV: in quotes, if what is in it would end it otherwise. */
void csv_field(struct writer *out, const char *text);

#endif
