/* SPDX-License-Identifier: MIT */
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
 * without a year are compared only with such times.
 *
 * Any other value, and one in double quotes, is text, compared byte by byte with the content of the
 * field: without colours around it, and of CSV and JSON as field_csv_text and json_value_text have
 * it.
 *
 * A field may have modifiers (key.h): then it is what they make of it that is compared, in one of
 * these ways. It does not hold if they make nothing, or if it has more than WHERE_MODIFIED_MAX
 * bytes. */
#ifndef GPUHISTO_WHERE_H
#define GPUHISTO_WHERE_H

#include "key.h"
#include "time.h"

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

/* True if the condition holds for its field [from, to), as field_find gives it, in a record that
 * ends at `end`. After number_prepare. Any thread. */
bool condition_holds_in(const struct condition *condition, const unsigned char *from,
                        const unsigned char *to, const unsigned char *end);

/* True if the condition holds for the record [begin, end). After number_prepare. Any thread. */
bool condition_holds(const struct condition *condition, const unsigned char *begin,
                     const unsigned char *end);

#endif
