/* SPDX-License-Identifier: MIT */
/* The records of a text that count: their description, which is built from the options once, and
 * the loop that reads them. It leaves out what the filter does, and finds numbers, keys and weights
 * in the rest, a batch at a time. */
#ifndef GPUHISTO_LINES_H
#define GPUHISTO_LINES_H

#include "field.h"
#include "regex.h"
#include "src/base/byte_word.h"
#include "src/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_parser;
struct weight_total;

/* The choice of records that count: those with all strings of --lines-with and none of
 * --lines-without, for which all conditions of --where hold. These functions define it;
 * lines.c finds the same faster.
 *
 * Records are those of field.h; where numbers are tokens, a record is a line. Strings are searched
 * as bytes, before fields are looked for, in the record without its newline. A string between
 * slashes, /REGEX/, is a regular expression, for which a carriage return at the end of a record
 * does not belong to it. */

/* --- conditions --- */

/* Conditions on fields of records, --where='FIELD OP VALUE'. A record without the field, or with
 * one of more than KEY_SIZE_MAX bytes, does not hold, whatever the operator.
 *
 * If the value is a number (number.h), a field that is none does not hold, and others are compared
 * exactly. If one of the two has a unit (units.h), the doubles nearest to them are compared.
 *
 * If it is a clock, h:mm or h:mm:ss, perhaps with a fraction, it is compared with the clock of a
 * field that is a time (time.h) or a clock as written there, perhaps in brackets.
 *
 * If it is a time, in which :ss, or all that follows the date, may be left out, it is compared with
 * a field that is a time: if both have an offset by the moment, otherwise by the clock. Times
 * without a year are compared only with such times. Where blanks separate fields, a time may have
 * several words (field_time_of_words), but a date alone is compared with a date alone.
 *
 * Any other value, and one in double quotes, is text, compared byte by byte with the content of the
 * field: without colours around it, and of CSV and JSON as field_csv_text and json_value_text have
 * it.
 *
 * A field may have modifiers (field.h): then it is what they make of it that is compared, in one of
 * these ways. It does not hold if they make nothing, or if it has more than WHERE_MODIFIED_MAX
 * bytes. */

#define CONDITIONS_MAX 16        /* of a filter */
#define WHERE_VALUE_MAX 255      /* bytes of a value */
#define WHERE_TIME_MAX 512       /* bytes of a field that is a time */
#define WHERE_MODIFIED_MAX 16384 /* bytes of a field with modifiers */

enum comparison {
    COMPARE_EQUAL,
    COMPARE_UNEQUAL,
    COMPARE_LESS,
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER,
    COMPARE_GREATER_EQUAL,
};

enum where_kind {
    WHERE_TEXT,
    WHERE_NUMBER,
    WHERE_CLOCK,
    WHERE_TIME,
};

/* A decimal number, exactly. It refers to the text that it was read from. */
struct exact_decimal {
    int sign;                         /* -1, 0, 1 */
    int64_t magnitude;                /* of its first digit that is not 0; INT64_MAX: infinite */
    const unsigned char *digits, *to; /* from that digit on, perhaps with a point among them */
};

/* What fields are compared with. */
struct where_value {
    enum where_kind kind;
    const char *text; /* of `len` bytes, without blanks and quotes around it */
    size_t len;
    bool has_unit;               /* NUMBER: only `nearest` says what it is */
    struct exact_decimal number; /* NUMBER */
    double nearest;              /* NUMBER */
    struct time time;            /* TIME; CLOCK: its time on some day */
};

struct condition {
    const char *name; /* of the field, with modifiers, as typed */
    struct key key;   /* has_units of its field also says if the value may have units */
    enum comparison comparison;
    struct where_value operand;
};

/* A condition as typed. */
struct typed_condition {
    const char *name; /* of the field, with modifiers, of name_len bytes */
    size_t name_len;
    enum comparison comparison;
    const char *value; /* of value_len bytes, perhaps with quotes around it */
    size_t value_len;
};

enum condition_error {
    CONDITION_READ,     /* there is none */
    CONDITION_PARTS,    /* it is not FIELD OP VALUE */
    CONDITION_OPERATOR, /* there is no such operator */
    CONDITION_LONG,     /* the value has more than WHERE_VALUE_MAX bytes */
    CONDITION_CLOCK,    /* the value looks like a clock, */
    CONDITION_TIME,     /* or like a date, but there is no such time */
    CONDITION_NO_UNITS, /* the value has a unit, and the field has not has_units */
    CONDITION_UNIT,     /* the value has a unit that is not clear */
};

/* Splits FIELD OP VALUE, without blanks around each. FIELD ends before the first operator that is
 * not within quotes in a path or a name. Refers to the text. */
enum condition_error condition_split(const char *text, struct typed_condition *typed);

/* Sets the condition's operand to a value as it was typed, to which it refers. After
 * number_prepare. */
enum condition_error condition_set_value(struct condition *condition, const char *value,
                                         size_t len);

/* Returns an operator as typed. */
const char *comparison_text(enum comparison comparison);

/* True if words after the condition's field may belong to what is compared. */
bool condition_goes_on(const struct condition *condition);

/* True if the condition holds for its field [from, to), as field_find gives it, in a record that
 * ends at `end`. After number_prepare. Any thread. */
bool condition_holds_in(const struct condition *condition, const unsigned char *from,
                        const unsigned char *to, const unsigned char *end);

/* True if the condition holds for the record [begin, end). After number_prepare. Any thread. */
bool condition_holds(const struct condition *condition, const unsigned char *begin,
                     const unsigned char *end);

/* --- filters --- */

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

/* The search for the records that a filter keeps, as spans of whole records. Each
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
