/* SPDX-License-Identifier: MIT */
/* What the modes have in common whose samples are bytes. */
#ifndef GPUHISTO_BYTE_ROWS_H
#define GPUHISTO_BYTE_ROWS_H

#include "histogram.h"

/* As in struct mode: a sample is a byte, and every row a bin. */
size_t byte_sample_size(const struct histogram *histogram);
uint64_t byte_samples_most(const struct histogram *histogram, size_t len);
enum row_kind byte_row_kind(const struct histogram *histogram, size_t row);

/* Sets a label of a bin that holds the byte values from lo to hi, but for its name. */
void byte_label_row(unsigned lo, unsigned hi, struct row_label *label);

/* The byte as it is shown beside its number: itself, or as C writes it. A space would look like
 * nothing. */
void byte_show(unsigned byte, char text[ROW_TEXT]);

#endif
