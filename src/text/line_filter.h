/* SPDX-License-Identifier: MIT */
/* The choice of records that count: those with all strings of --lines-with and none of
 * --lines-without. These functions define it; src/text/line_spans.c finds the same faster.
 *
 * Records are those of field.h; where numbers are tokens, a record is a line. Strings are searched
 * as bytes, before fields are looked for, in the record without its newline. */
#ifndef GPUHISTO_LINE_FILTER_H
#define GPUHISTO_LINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#define LINE_STRINGS_MAX 16 /* of a filter */

struct line_string {
    const char *text; /* without a newline or carriage return */
    size_t len;       /* of it, at least 1 */
    bool is_unwanted; /* no record that counts has it; otherwise all have */
};

/* A filter. With all zeros, every record counts. */
struct line_filter {
    size_t count;
    struct line_string strings[LINE_STRINGS_MAX]; /* in one order, whatever was typed */
};

/* Adds a string, which must outlive the filter, unless it is there already. False if the filter is
 * full. */
bool line_filter_add(struct line_filter *filter, const char *text, bool is_unwanted);

/* True if the record [begin, end) counts, of field_record_max bytes at most. A longer one always
 * counts, as an invalid sample: the rest of it may have been dropped. Any thread. */
bool line_filter_keeps(const struct line_filter *filter, const unsigned char *begin,
                       const unsigned char *end);

#endif
