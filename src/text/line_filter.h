/* SPDX-License-Identifier: MIT */
/* The choice of records that count: those with all strings of --lines-with and none of
 * --lines-without, for which all conditions of --where hold (where.h). These functions define it;
 * src/text/line_spans.c finds the same faster.
 *
 * Records are those of field.h; where numbers are tokens, a record is a line. Strings are searched
 * as bytes, before fields are looked for, in the record without its newline. A string between
 * slashes, /REGEX/, is a regular expression, for which a carriage return at the end of a record
 * does not belong to it. */
#ifndef GPUHISTO_LINE_FILTER_H
#define GPUHISTO_LINE_FILTER_H

#include "regex.h"
#include "where.h"

#include <stdbool.h>
#include <stddef.h>

#define LINE_STRINGS_MAX 16 /* of a filter */

struct line_string {
    const char *text;    /* without a newline or carriage return */
    size_t len;          /* of it, at least 1 */
    bool is_unwanted;    /* no record that counts has it; otherwise all have */
    struct regex *regex; /* the expression between its slashes; NULL: it is searched as bytes */
};

struct line_failure;

/* A filter. With all zeros, every record counts. */
struct line_filter {
    size_t count;
    struct line_string strings[LINE_STRINGS_MAX]; /* in one order, whatever was typed */
    struct line_failure *failure;                 /* of an expression; NULL if there is none */
    size_t condition_count;
    struct condition conditions[CONDITIONS_MAX]; /* the same */
};

/* True if it may leave records out. */
static inline bool line_filter_is_used(const struct line_filter *filter)
{
    return filter->count > 0 || filter->condition_count > 0;
}

/* Adds a string, which must outlive the filter, unless it is there already. False if the filter is
 * full. */
bool line_filter_add(struct line_filter *filter, const char *text, bool is_unwanted);

/* Compiles the expressions. Before that, and without, they are strings as any. 0, or an error of
 * regex_open with the error set; line_filter_close is due in either case. */
int line_filter_open(struct line_filter *filter, struct error *error);

/* Frees the expressions. */
void line_filter_close(struct line_filter *filter);

/* Adds a condition, unless it is there already; what it refers to must outlive the filter. False if
 * the filter is full. */
bool line_filter_add_condition(struct line_filter *filter, const struct condition *condition);

/* True if a condition is on a column that has a name. */
bool line_filter_has_names(const struct line_filter *filter);

/* Sets the numbers of such columns to those of `columns`, which has one for each condition. */
void line_filter_set_columns(struct line_filter *filter, const int32_t *columns);

/* True if the record [begin, end) counts, of field_record_max bytes at most. A longer one always
 * counts, as an invalid sample: the rest of it may have been dropped. If an expression cannot be
 * decided, sets the failure, unless it is NULL, and returns false. Any thread. */
bool line_filter_keeps(const struct line_filter *filter, const unsigned char *begin,
                       const unsigned char *end, struct error *failure);

/* Searches a record for the expression of a string, without the carriage return at its end. Any
 * thread, each with a matcher of its own. */
enum regex_found line_string_match(const struct line_string *string, struct regex_matcher *matcher,
                                   const unsigned char *begin, const unsigned char *end);

/* Records that records could not be counted, the first time. Any thread. */
void line_filter_fail(const struct line_filter *filter, const struct error *failure);

/* 0; or -1 with the error set once records could not be counted. Any thread; cheap until then. */
int line_filter_check(const struct line_filter *filter, struct error *error);

#endif
