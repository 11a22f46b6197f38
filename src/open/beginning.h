/* SPDX-License-Identifier: MIT */
/* What the content of a file begins with, compressed or not: a header of values, or a line with the
 * names of columns. It is looked at once, when the file is opened; nothing is handed out by that.
 */
#ifndef GPUHISTO_BEGINNING_H
#define GPUHISTO_BEGINNING_H

#include "header.h"
#include "src/base/reason.h"

struct field;
struct peek;

/* Reads the header, if there is one. HEADER_NONE, HEADER_FOUND, or HEADER_WRONG with the reason
 * set.
 */
enum header_status beginning_header(struct peek *peek, struct header *header, struct reason *why);

/* Finds the column that is named in the first record of a text that is not CSV. 0, or -1 with the
 * reason set. */
int beginning_column(struct peek *peek, const struct field *field, int32_t *column,
                     struct reason *why);

#endif
