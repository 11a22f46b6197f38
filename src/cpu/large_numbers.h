/* SPDX-License-Identifier: MIT */
/* Whole numbers in text that are too large for a double, such as IDs of 64 bits: parsers round them
 * to the nearest double, by which bins are found, and this adds to the moments what was rounded
 * off. Slow; batch_moments_has_large finds the batches that have such numbers. */
#ifndef GPUHISTO_LARGE_NUMBERS_H
#define GPUHISTO_LARGE_NUMBERS_H

#include "number_parser.h"
#include "src/count/field.h"
#include "src/count/moments.h"

/* Reads the numbers of text[0..len), whole records of a batch, once more, in the fields of lines if
 * there is a field, and adds them by moments_add_large. */
void large_numbers_read(const struct number_parser *parser, const struct field *field,
                        const unsigned char *text, size_t len, struct moments *moments);

#endif
