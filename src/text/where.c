/* SPDX-License-Identifier: MIT */
#include "units.h"
#include "lines.h"

#include <math.h>

/* Bytes of a string of JSON that decide any comparison: six may be an escape of one byte. */
#define ESCAPED_MAX (6 * (WHERE_TIME_MAX + 4))

/* --- operators --- */

static const char *const comparisons[] = {
    [COMPARE_EQUAL] = "=",       [COMPARE_UNEQUAL] = "!=", [COMPARE_LESS] = "<",
    [COMPARE_LESS_EQUAL] = "<=", [COMPARE_GREATER] = ">",  [COMPARE_GREATER_EQUAL] = ">=",
};

const char *comparison_text(enum comparison comparison)
{
    return comparisons[comparison];
}

/* True if the comparison holds for an order below, at or above 0. */
static bool holds(enum comparison comparison, int order)
{
    switch (comparison) {
    case COMPARE_EQUAL:
        return order == 0;
    case COMPARE_UNEQUAL:
        return order != 0;
    case COMPARE_LESS:
        return order < 0;
    case COMPARE_LESS_EQUAL:
        return order <= 0;
    case COMPARE_GREATER:
        return order > 0;
    case COMPARE_GREATER_EQUAL:
        break;
    }
    return order >= 0;
}

/* --- exact numbers --- */

/* Reads the number [at, end), as number.h defines it. False if it is none. */
static bool read_exact(const unsigned char *at, const unsigned char *end,
                       struct exact_decimal *number)
{
    const bool is_negative = at < end && *at == '-';
    const unsigned char *point = NULL, *first = NULL;
    int64_t exponent = 0;
    at += at < end && (*at == '-' || *at == '+');
    const unsigned char *begin = at;
    for (; at < end && (number_is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.')
            point = at;
        else if (*at != '0' && !first)
            first = at;
    }
    *number = (struct exact_decimal){.sign = is_negative ? -1 : 1, .digits = first, .to = at};
    if (at == begin) {
        number->magnitude = INT64_MAX;
        number->to = NULL;
        return number_is_infinity(at, end);
    }
    if (at - begin == (point != NULL))
        return false;
    if (at < end) {
        int64_t read; /* so the other one is in a register */
        if (number_exponent_end(at, end, &read) != end)
            return false;
        exponent = read;
    }
    if (!first)
        number->sign = 0;
    else if (!point || first < point)
        number->magnitude = (point ? point : number->to) - first + exponent;
    else
        number->magnitude = point + 1 - first + exponent;
    return true;
}

/* Returns the next digit, 0 after the last one, and moves past it. */
static unsigned char next_digit(const unsigned char **at, const unsigned char *to)
{
    *at += *at < to && **at == '.';
    return *at < to ? *(*at)++ : '0';
}

static int compare_exact(const struct exact_decimal *one, const struct exact_decimal *other)
{
    if (one->sign != other->sign || one->sign == 0)
        return one->sign - other->sign;
    if (one->magnitude != other->magnitude)
        return one->magnitude < other->magnitude ? -one->sign : one->sign;
    const unsigned char *at = one->digits, *other_at = other->digits;
    while (at < one->to || other_at < other->to) {
        const int digit = next_digit(&at, one->to), other_digit = next_digit(&other_at, other->to);
        if (digit != other_digit)
            return one->sign * (digit - other_digit);
    }
    return 0;
}

/* --- numbers in fields --- */

/* Compares the number in a token with the operand. False if it is none. */
static bool compare_number(const struct where_value *operand, struct line_span token,
                           bool has_units, int *order)
{
    struct exact_decimal number;
    const bool is_exact = read_exact(token.from, token.to, &number);
    if (is_exact && !operand->has_unit) {
        *order = compare_exact(&number, &operand->number);
        return true;
    }
    if (!is_exact && !has_units)
        return false;
    const double value = is_exact ? number_of_token(token.from, token.to, token.to)
                                  : number_with_units(token.from, token.to);
    *order = (value > operand->nearest) - (value < operand->nearest);
    return !isnan(value);
}

/* As compare_number, of a field as field_find gives it in a record that ends at `end`. Not inlined,
 * as it takes a page of the stack. */
static __attribute__((noinline)) bool compare_written(const struct where_value *operand,
                                                      const struct field *field,
                                                      struct line_span written,
                                                      const unsigned char *end, int *order)
{
    unsigned char token[NUMBER_MAX];
    size_t len = field_token(field, &written.from, &written.to, end, token);
    if (field->has_comma)
        len = number_swap_comma(token, len);
    return len > 0 &&
           compare_number(operand, (struct line_span){token, token + len}, field->has_units, order);
}

static bool compare_number_field(const struct where_value *operand, const struct field *field,
                                 struct line_span written, const unsigned char *end, int *order)
{
    const bool may_be_plain =
        !field->has_units && !field->has_comma && written.to - written.from <= NUMBER_MAX;
    return (may_be_plain && compare_number(operand, written, false, order)) ||
           compare_written(operand, field, written, end, order);
}

/* --- times --- */

#define CLOCK_DAY "1970-01-01T0" /* what makes a time of h:mm:ss; of hh:mm:ss without the 0 */

/* Reads h:mm or h:mm:ss, as time_read reads the clock of a time. False if it is none. */
static bool read_clock(struct line_span text, struct time *time)
{
    const size_t len = (size_t)(text.to - text.from), day = strlen(CLOCK_DAY);
    unsigned char with_day[sizeof CLOCK_DAY + WHERE_TIME_MAX + 3];
    if (len < 4 || len > WHERE_TIME_MAX)
        return false;
    const size_t hour = text.from[1] == ':' ? 1 : 2, before = day + 1 - hour;
    if (text.from[hour] != ':')
        return false;
    memcpy(with_day, CLOCK_DAY, day);
    memcpy(with_day + before, text.from, len);
    unsigned char *end = with_day + before + len;
    if (len == hour + 3) {
        memcpy(end, ":00", 3);
        end += 3;
    }
    return time_read(with_day, end, time);
}

/* Returns the time of day in nanoseconds. */
static int64_t clock_of(const struct time *time)
{
    const int64_t since = time->local % TIME_DAY;
    return (since < 0 ? since + TIME_DAY : since) * 1000000000 + time->nanoseconds;
}

static bool has_offset(const struct time *time)
{
    return time->zone == TIME_AT_UTC || time->zone == TIME_OFFSET;
}

/* Compares times. False if only one of them has a year. */
static bool compare_times(const struct time *time, const struct time *other, int *order)
{
    const bool are_moments = has_offset(time) && has_offset(other);
    const int64_t seconds = are_moments ? time_moment(time) : time->local;
    const int64_t other_seconds = are_moments ? time_moment(other) : other->local;
    *order = seconds != other_seconds ? (seconds > other_seconds) - (seconds < other_seconds)
                                      : (time->nanoseconds > other->nanoseconds) -
                                            (time->nanoseconds < other->nanoseconds);
    return (time->zone == TIME_OF_A_YEAR) == (other->zone == TIME_OF_A_YEAR);
}

/* Compares a field's content, which is read as a time, with the words after it up to `end`: NULL:
 * there are none. A date alone is compared with a field that is one. False if it is no time. */
static bool compare_time_field(const struct where_value *operand, struct line_span content,
                               const unsigned char *end, int *order)
{
    struct time time;
    const unsigned char *from = content.from;
    if (content.to - from > WHERE_TIME_MAX)
        return false;
    field_strip(&content.from, &content.to);
    struct line_span clock_text = content;
    clock_text.from += content.from < content.to && *content.from == '[';
    clock_text.to -= clock_text.from < content.to && content.to[-1] == ']';
    bool is_whole = operand->kind == WHERE_CLOCK && read_clock(clock_text, &time);
    if (!is_whole && !(end && has_offset(&operand->time)))
        is_whole = time_read(content.from, content.to, &time) &&
                   (!end || time.is_clock || (time_is_date(&time) && time_is_date(&operand->time)));
    const bool is_time = is_whole || (end && field_time_of_words(from, end, &time));
    if (!is_time || operand->kind == WHERE_TIME)
        return is_time && compare_times(&time, &operand->time, order);
    const int64_t clock = clock_of(&time), other = clock_of(&operand->time);
    *order = (clock > other) - (clock < other);
    return true;
}

/* --- conditions --- */

/* Compares a content with the operand, which is no number. False if they cannot be compared. */
static bool compare_content(const struct where_value *operand, struct key_name content,
                            const unsigned char *end, int *order)
{
    const size_t len = content.len;
    if (operand->kind != WHERE_TEXT)
        return compare_time_field(operand, (struct line_span){content.bytes, content.bytes + len},
                                  end, order);
    *order = memcmp(content.bytes, operand->text, len < operand->len ? len : operand->len);
    if (*order == 0)
        *order = (len > operand->len) - (len < operand->len);
    return true;
}

/* Compares what modifiers make of a field. Not inlined, as it takes some pages of the stack. */
static __attribute__((noinline)) bool compare_modified(const struct condition *condition,
                                                       struct line_span field, int *order)
{
    const struct where_value *operand = &condition->operand;
    const struct field made = {.kind = FIELD_LINE, /* nothing beside it belongs to a number */
                               .has_units = condition->key.field.has_units,
                               .has_comma = condition->key.field.has_comma};
    unsigned char scratch[WHERE_MODIFIED_MAX];
    if (field.to - field.from > WHERE_MODIFIED_MAX)
        return false;
    const struct key_name name = key_of_field(&condition->key, field.from, field.to, scratch, NULL);
    if (!name.bytes)
        return false;
    if (operand->kind != WHERE_NUMBER)
        return compare_content(operand, name, NULL, order);
    const struct line_span content = {name.bytes, name.bytes + name.len};
    return compare_number_field(operand, &made, content, content.to, order);
}

/* Compares a field with the operand. False if they cannot be compared. */
static bool compare_field(const struct condition *condition, struct line_span field,
                          const unsigned char *end, int *order)
{
    const struct where_value *operand = &condition->operand;
    unsigned char scratch[ESCAPED_MAX];
    if (condition->key.modifier_count > 0)
        return compare_modified(condition, field, order);
    if (operand->kind == WHERE_NUMBER)
        return compare_number_field(operand, &condition->key.field, field, end, order);
    const struct key_name content =
        key_content(&condition->key.field, field.from, field.to, ESCAPED_MAX, scratch);
    return compare_content(operand, content, condition->key.field.kind == FIELD_BLANKS ? end : NULL,
                           order);
}

bool condition_goes_on(const struct condition *condition)
{
    const enum where_kind kind = condition->operand.kind;
    const struct key *key = &condition->key;
    const bool is_time = kind == WHERE_TIME || kind == WHERE_CLOCK;
    return key->field.has_units ||
           (is_time && key->field.kind == FIELD_BLANKS && key->modifier_count == 0);
}

bool condition_holds_in(const struct condition *condition, const unsigned char *from,
                        const unsigned char *to, const unsigned char *end)
{
    int order;
    return to - from <= (ptrdiff_t)KEY_SIZE_MAX &&
           compare_field(condition, (struct line_span){from, to}, end, &order) &&
           holds(condition->comparison, order);
}

bool condition_holds(const struct condition *condition, const unsigned char *begin,
                     const unsigned char *end)
{
    const unsigned char *from, *to;
    return field_find(&condition->key.field, begin, end, &from, &to) == FIELD_FOUND &&
           condition_holds_in(condition, from, to, end);
}

/* --- what is typed --- */

/* Returns the length without blanks at the end. */
static size_t length_without_blanks(const char *text, size_t len)
{
    while (len > 0 && number_is_blank(text[len - 1]))
        len--;
    return len;
}

enum condition_error condition_split(const char *text, struct typed_condition *typed)
{
    while (number_is_blank(*text))
        text++;
    const bool is_path = *text == '.', has_quotes = is_path || *text == '"';
    const char *found = text;
    for (bool is_quoted = false; *found; found++) {
        if (is_path && is_quoted && *found == '\\' && found[1])
            found++;
        else if (has_quotes && *found == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && (strchr("=<>", *found) || (*found == '!' && found[1] == '=')))
            break;
    }
    *typed = (struct typed_condition){
        .name = text, .name_len = length_without_blanks(text, (size_t)(found - text))};
    if (!*found || typed->name_len == 0)
        return CONDITION_PARTS;
    const bool has_two = *found == '!' || (*found != '=' && found[1] == '=');
    for (int i = COMPARE_EQUAL; i <= COMPARE_GREATER_EQUAL; i++)
        if (strlen(comparisons[i]) == (has_two ? 2 : 1) && *comparisons[i] == *found)
            typed->comparison = (enum comparison)i;
    const char *value = found + (has_two ? 2 : 1);
    const bool is_longer = *value && strchr("=<>!~", *value);
    while (number_is_blank(*value))
        value++;
    typed->value = value;
    typed->value_len = length_without_blanks(value, strlen(value));
    if (is_longer)
        return CONDITION_OPERATOR;
    return typed->value_len == 0 ? CONDITION_PARTS : CONDITION_READ;
}

/* True if the text begins as `form` has it, where 0 stands for any digit and a for any letter. */
static bool begins_as(struct line_span text, const char *form)
{
    for (; *form; form++, text.from++) {
        if (text.from == text.to)
            return false;
        const bool fits = *form == '0'   ? number_is_digit(*text.from)
                          : *form == 'a' ? number_is_letter(*text.from)
                                         : *text.from == (unsigned char)*form;
        if (!fits)
            return false;
    }
    return true;
}

/* Reads a value as a time, whose seconds, or clock after a name of a month, may be left out. False
 * if it is none. */
static bool read_time(struct line_span value, struct time *time)
{
    static const char *const rests[] = {"", ":00", ":00:00:00", " 00:00:00"};
    char text[WHERE_VALUE_MAX + 16];
    const size_t len = (size_t)(value.to - value.from);
    memcpy(text, value.from, len);
    const bool has_name = len > 0 && number_is_letter(*value.from);
    const size_t count = sizeof rests / sizeof rests[0] - !has_name;
    for (size_t i = 0; i < count; i++) {
        char *end = stpcpy(text + len, rests[i]);
        if (time_read((const unsigned char *)text, (const unsigned char *)end, time))
            return true;
    }
    return false;
}

/* Sets the operand to a number. False if the value is none. */
static bool set_number(struct where_value *operand, struct line_span value)
{
    unsigned char token[NUMBER_MAX];
    operand->kind = WHERE_NUMBER;
    if (read_exact(value.from, value.to, &operand->number)) {
        operand->nearest = number_of_token(value.from, value.to, value.to);
        return true;
    }
    const size_t len = number_copy_words(value.from, value.to, token);
    operand->has_unit = true;
    operand->nearest = len > 0 ? number_with_units(token, token + len) : NAN;
    return !isnan(operand->nearest);
}

enum condition_error condition_set_value(struct condition *condition, const char *value, size_t len)
{
    struct where_value *operand = &condition->operand;
    const bool has_quotes = len >= 2 && value[0] == '"' && value[len - 1] == '"';
    *operand = (struct where_value){.text = value + has_quotes, .len = len - (has_quotes ? 2 : 0)};
    const struct line_span text = {(const unsigned char *)operand->text,
                                   (const unsigned char *)operand->text + operand->len};
    if (operand->len > WHERE_VALUE_MAX)
        return CONDITION_LONG;
    if (has_quotes)
        return CONDITION_READ;
    if (begins_as(text, "0:00") || begins_as(text, "00:00")) {
        operand->kind = WHERE_CLOCK;
        return read_clock(text, &operand->time) && operand->time.zone == TIME_NO_ZONE
                   ? CONDITION_READ
                   : CONDITION_CLOCK;
    }
    if (set_number(operand, text))
        return operand->has_unit && !condition->key.field.has_units ? CONDITION_NO_UNITS
                                                                    : CONDITION_READ;
    operand->kind = WHERE_TIME;
    if (read_time(text, &operand->time))
        return CONDITION_READ;
    if (begins_as(text, "0000-00-00") || begins_as(text, "00/aaa/0000"))
        return CONDITION_TIME;
    operand->kind = WHERE_TEXT;
    const unsigned char *unit = text.from;
    while (unit < text.to && (number_is_digit(*unit) || *unit == '.'))
        unit++;
    if (unit == text.from)
        return CONDITION_READ;
    while (unit < text.to && number_is_blank(*unit))
        unit++;
    if (number_unit_kind(unit, text.to) == UNIT_UNCLEAR)
        return CONDITION_UNIT;
    return CONDITION_READ;
}
