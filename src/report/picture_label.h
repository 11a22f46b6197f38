/* SPDX-License-Identifier: MIT */
/* What the rows of pictures are called. */
#ifndef GPUHISTO_PICTURE_LABEL_H
#define GPUHISTO_PICTURE_LABEL_H

#include "rows.h"

#define PICTURE_LABEL (ROW_TEXT + 2)

/* The row's name; of numbers the lower edge, rounded to what people would write: "0.15", "2^-10"
 * where edges are powers of two; and what lies below and above all bins by the edge there. */
void picture_label(const struct histogram *histogram, const struct row *row,
                   char text[PICTURE_LABEL]);

#endif
