/* SPDX-License-Identifier: MIT */
/* The records of a text that count: their description, which is built from the options once, and
 * the loop that reads them. It leaves out what the filter does, and finds numbers, keys and weights
 * in the rest, a batch at a time. */
#ifndef GPUHISTO_LINES_H
#define GPUHISTO_LINES_H

#include "line_filter.h"

struct number_parser;
struct weight_total;

/* --- their description --- */

/* All zeros: numbers are tokens between white space of all lines. */
struct line_spec {
    struct field field;              /* the number; if records only have keys, that of the first */
    struct key keys[KEY_FIELDS_MAX]; /* what is counted by */
    unsigned key_count;              /* 0: there are no keys */
    bool has_weight;                 /* that of a record is in keys[key_count] */
    struct line_filter filter;       /* the records that count */
};

/* Fields of a description: the number, the keys with the weight, and those of conditions. */
#define LINE_FIELDS_MAX (1 + KEY_FIELDS_MAX + CONDITIONS_MAX)

/* The columns of a file that such fields name, by their numbers. 0: not known, or no name. */
struct line_columns {
    int32_t numbers[LINE_FIELDS_MAX];
};

/* Returns field i of a description, below LINE_FIELDS_MAX; one that is not used has no name. */
const struct field *line_spec_field(const struct line_spec *spec, size_t i);

/* True if a field is a column that has a name. */
bool line_spec_has_names(const struct line_spec *spec);

/* Sets the numbers of the fields whose columns are known. */
void line_spec_set_columns(struct line_spec *spec, const struct line_columns *columns);

/* --- the loop --- */

#define LINES_MAX 1024 /* records of a batch */

/* Records that count, one after the other. Where a field is a list, each sample of it is one; where
 * numbers are tokens, each token is. */
struct line_batch {
    /* Set them: memory for LINES_MAX records each. */
    double *values; /* gets the numbers, NaN for what is none; NULL: they are not wanted */
    struct key_span (*keys)[LINES_MAX]; /* [i][k] gets key i of record k, and behind the keys is
                                         * where its weight is; unused without any */
    uint64_t *weights;                  /* unused without weights */

    size_t count; /* 1 to LINES_MAX */
    const struct line_spec *spec;
};

/* A number as an integer. */
struct listed_number {
    int128 number;
    bool is_whole; /* it is the one that was written, of at most 64 bits */
};

#define GATHERED_SIZE ((size_t)64 << 10)    /* bytes of short spans that are read together */
#define LISTS_MAX 128                       /* records whose lists are found together */
#define LIST_TOKENS_SIZE ((size_t)24 << 10) /* bytes */
#define SPANS_FIELDS_MAX 64                 /* fields of conditions that are found together */

/* The search for the records that a filter (line_filter.h) keeps, as spans of whole records. Each
 * string is searched in all of the text rather than in each record, so records without it cost
 * little more than reading them. So are most expressions; others are matched with each record. In
 * the records that they keep the fields of conditions are found as keys are, and the bounds only of
 * the records that are kept. */
struct line_spans {
    const struct line_spec *spec;
    const struct number_parser *parser;
    bool by_definition; /* a record is too long, or an expression is undecided */
    bool has_lines;     /* expressions may be searched in all lines: these are the records, and none
                         * has a carriage return at its end */
    struct regex_matcher matcher;
    struct error failure; /* why records could not be counted; empty: they could */
    const unsigned char *at, *limit;

    /* Of conditions: */
    size_t on_first; /* how many are on the first one's field; these come first */
    bool goes_on;    /* for one of them, what follows the field matters */
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

/* Memory of a reader for lists, and for what a filter keeps: some pages. */
struct line_buffers {
    struct list list;
    struct key_span lists[LISTS_MAX], list_keys[KEY_PARTS_MAX][LISTS_MAX];
    unsigned char tokens[LIST_TOKENS_SIZE];
    struct line_spans spans;
    const unsigned char *from, *to; /* the last span */
    unsigned char gathered[GATHERED_SIZE];
};

/* A text that is being read. */
struct line_reader {
    const struct line_spec *spec;
    const struct number_parser *parser;
    struct weight_total *weight_total;
    struct line_buffers *buffers;
    struct record_text all, text;   /* all of it; what is read next of records that count */
    struct record_text read;        /* what the last batch was read from, */
    const struct field *read_field; /* and the field of its numbers there */
    size_t list_count, list_at;     /* lists that were found, and the one under way */
    bool is_filtered;
    bool has_span;                           /* the last one was not read yet */
    struct listed_number numbers[LINES_MAX]; /* for line_reader_list */
};

/* Begins with text[0..len), whole records. All that it is given must outlive the reader. `total`
 * gets the weights, if records have some; `buffers` may be NULL without a filter, if the field is
 * no list. line_reader_close is due. */
void line_reader_open(struct line_reader *reader, const struct line_spec *spec,
                      const struct number_parser *parser, struct weight_total *total,
                      struct line_buffers *buffers, const unsigned char *text, size_t len);

/* Reads the next batch. Its keys last until another one is read. False if there is none. */
bool line_reader_next(struct line_reader *reader, struct line_batch *batch);

/* Lists the numbers of the last batch as integers: parsers round those that are too large for a
 * double, such as IDs of 64 bits, to the nearest one. Slow. */
const struct listed_number *line_reader_list(struct line_reader *reader);

/* Frees what the search had. 0; or -1 with the error set if an expression of the filter could not
 * be decided: then the rest of the text was not read. */
int line_reader_close(struct line_reader *reader, struct error *error);

#endif
