/* SPDX-License-Identifier: MIT */
/* The records of a text that a filter (line_filter.h) keeps, as spans of whole records.
 * Each string is searched in all of the text rather than in each record, so records without it cost
 * little more than reading them. So are most expressions; others are matched with each record. In
 * the records that they keep the fields of conditions are found as keys are, and the bounds only of
 * the records that are kept. */
#ifndef GPUHISTO_LINE_SPANS_H
#define GPUHISTO_LINE_SPANS_H

#include "field_parser.h"
#include "line_filter.h"

#define SPANS_FIELDS_MAX 64

struct line_spans {
    const struct line_filter *filter;
    const struct field *field;
    const struct number_parser *parser;
    bool has_tokens;    /* each record may have many samples */
    bool by_definition; /* a record is too long, or an expression is undecided */
    bool has_lines;     /* expressions may be searched in all lines: these are the records, and none
                         * has a carriage return at its end */
    struct regex_matcher matcher;
    struct error failure; /* why records could not be counted; empty: they could */
    const unsigned char *at, *limit;

    /* Of conditions: */
    bool goes_on; /* for one on the first one's field, what follows it matters */
    const unsigned char *record, *search_at, *search_end; /* records that strings keep: not before
                                                           * which the next is, up to where fields
                                                           * were found, and the end */
    struct key_span fields[SPANS_FIELDS_MAX];             /* those found: of the first condition */
    size_t field_count, field_at, fields_max;     /* how many, the next, and how many to find
                                                   * at once: 1 if records may have newlines */
    struct key_span last;                         /* the last of them that was compared, */
    bool last_holds;                              /* and whether its conditions hold */
    const unsigned char *found[LINE_STRINGS_MAX]; /* where each string is next, or the limit; of no
                                                   * meaning if that is before `at` */
    const unsigned char *quote;                   /* the same of quotes, of CSV */
};

/* Begins with text[0..len), whole records of `field`, in which numbers are tokens if has_tokens.
 * All that it is given must outlive it. line_spans_end is due. */
void line_spans_begin(struct line_spans *spans, const struct line_filter *filter,
                      const struct field *field, bool has_tokens,
                      const struct number_parser *parser, const unsigned char *text, size_t len);

/* Sets [*from, *to) to the next span, with its last newline. It is in the text; but where numbers
 * are tokens, a record that is too long is replaced by one that is invalid. False if there is none.
 */
bool line_spans_next(struct line_spans *spans, const unsigned char **from,
                     const unsigned char **to);

/* Frees what the search had. */
void line_spans_end(struct line_spans *spans);

#endif
