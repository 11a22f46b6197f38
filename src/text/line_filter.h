/* SPDX-License-Identifier: MIT */
/* The choice of records that count: those with all strings of --lines-with and none of
 * --lines-without, for which all conditions of --where hold. These functions define it;
 * lines.c finds the same faster.
 *
 * Records are those of field.h; where numbers are tokens, a record is a line. Strings are searched
 * as bytes, before fields are looked for, in the record without its newline. A string between
 * slashes, /REGEX/, is a regular expression, for which a carriage return at the end of a record
 * does not belong to it. */
#ifndef GPUHISTO_LINE_FILTER_H
#define GPUHISTO_LINE_FILTER_H

#include "regex.h"
#include "key.h"

#include <stdbool.h>
#include <stddef.h>

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
 * A field may have modifiers (key.h): then it is what they make of it that is compared, in one of
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

#endif
