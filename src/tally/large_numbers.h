/* SPDX-License-Identifier: MIT */
/* Whole numbers in text that are too large for a double, such as IDs of 64 bits. Parsers round them
 * to the nearest double, which has the right bin; this adds to the moments what was rounded off. It
 * is slow: batch_moments_has_large finds the batches that need it. */
#ifndef GPUHISTO_LARGE_NUMBERS_H
#define GPUHISTO_LARGE_NUMBERS_H

#include "src/text/field_parser.h"
#include "src/bins/sums.h"

/* Reads the numbers of a batch once more, in fields if there is a field, and adds them by
 * moments_add_large. */
void large_numbers_read(const struct number_parser *parser, const struct field *field,
                        struct record_text text, struct moments *moments);

struct listed_number {
    int128 number;
    bool is_whole; /* it is the one that was written, of at most 64 bits */
};

/* Lists the numbers of a batch in fields, one for each record that counts. */
void large_numbers_list(const struct number_parser *parser, const struct field *field,
                        struct record_text text, struct listed_number *numbers);

#endif
