/* SPDX-License-Identifier: MIT */
/* The records of a text that count: their description, which is built from the options once, and
 * the loop that reads them. Whoever counts asks it for one batch after the other:
 *
 *     line_reader_open(&reader, spec, parser, total, text, len);
 *     while (line_reader_next(&reader, &batch))
 *         count(&batch);
 *     line_reader_close(&reader, &failure);
 *
 * It leaves out what the filter does, and finds numbers, keys and weights in the rest. */
#ifndef GPUHISTO_LINES_H
#define GPUHISTO_LINES_H

#include "line_spans.h"

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
    /* Memory of the caller's, for LINES_MAX records each: */
    double *values;                     /* gets the numbers, NaN for what is none; or NULL: they
                                         * are not wanted */
    struct key_span (*keys)[LINES_MAX]; /* [i][k] gets key i of record k, and behind the keys is
                                         * where its weight is; unused without any */
    uint64_t *weights;                  /* unused without weights */

    size_t count; /* 1 to LINES_MAX */
    const struct line_spec *spec;
    const struct field *field; /* of the numbers in `text` */
    struct record_text text;   /* the records were read from it. Like the keys it lasts until the
                                * next batch is read */
};

/* A whole number. */
struct listed_number {
    int128 number;
    bool is_whole; /* it is the one that was written, of at most 64 bits */
};

#define GATHERED_SIZE ((size_t)64 << 10)    /* bytes of short spans that are read together */
#define LISTS_MAX 128                       /* records whose lists are found together */
#define LIST_TOKENS_SIZE ((size_t)32 << 10) /* bytes */

/* A text that is being read. Takes some pages, of which a text without a filter and lists uses
 * one. */
struct line_reader {
    const struct line_spec *spec;
    const struct number_parser *parser;
    struct weight_total *weight_total;
    struct record_text all, text; /* what it was opened with; what is read next of records that
                                   * count */

    /* Of lists: the records found, the one under way, and its list */
    size_t list_count, list_at;
    struct list list;
    struct key_span lists[LISTS_MAX], list_keys[KEY_PARTS_MAX][LISTS_MAX];
    unsigned char tokens[LIST_TOKENS_SIZE];

    /* Of a filter: */
    bool is_filtered;
    bool has_span; /* [from, to) is one that was not read yet */
    const unsigned char *from, *to;
    struct line_spans spans;
    unsigned char gathered[GATHERED_SIZE];
};

/* Begins with text[0..len), whole records. All that it is given must outlive the reader. `total`
 * gets the weights, if records have some. line_reader_close is due. */
void line_reader_open(struct line_reader *reader, const struct line_spec *spec,
                      const struct number_parser *parser, struct weight_total *total,
                      const unsigned char *text, size_t len);

/* Reads the next batch. False if there is none. May change errno. */
bool line_reader_next(struct line_reader *reader, struct line_batch *batch);

/* Frees what the search had. 0; or -1 with the error set if an expression of the filter could not
 * be decided: then the rest of the text was not read. */
int line_reader_close(struct line_reader *reader, struct error *error);

/* Lists the numbers of a batch as whole numbers, one for each record: parsers round those that are
 * too large for a double, such as IDs of 64 bits, to the nearest one. Slow. */
void line_reader_list(const struct line_reader *reader, const struct line_batch *batch,
                      struct listed_number *numbers);

#endif
