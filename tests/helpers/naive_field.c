/* SPDX-License-Identifier: MIT */
#include "tests/helpers/naive_field.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX (1024 * 1024)
#define TOKEN_MAX 4096

/* The fields of one record, as positions in the text. */
struct list {
    size_t count, cap;
    size_t *from, *to;
};

static void list_add(struct list *list, size_t from, size_t to)
{
    if (list->count == list->cap) {
        list->cap = 2 * list->cap + 16;
        list->from = realloc(list->from, list->cap * sizeof *list->from);
        list->to = realloc(list->to, list->cap * sizeof *list->to);
        if (!list->from || !list->to)
            abort();
    }
    list->from[list->count] = from;
    list->to[list->count++] = to;
}

static void list_free(struct list *list)
{
    free(list->from);
    free(list->to);
}

/* Where CSV's record that begins at `at` ends, by the states of Python's csv module. Adds its
 * fields to the list, if there is one. */
static size_t csv_record(unsigned char separator, const unsigned char *text, size_t at, size_t len,
                         struct list *list)
{
    enum { START, UNQUOTED, QUOTED, QUOTE_IN_QUOTED } state = START;
    size_t from = at;
    for (;; at++) {
        bool at_end = at == len;
        unsigned char c = at_end ? 0 : text[at];
        if (at_end || (state != QUOTED && (c == '\n' || c == separator))) {
            if (list)
                list_add(list, from, at);
            if (at_end || c == '\n')
                return at;
            from = at + 1;
            state = START;
            continue;
        }
        switch (state) {
        case START:
            state = c == '"' ? QUOTED : UNQUOTED;
            break;
        case QUOTED:
            state = c == '"' ? QUOTE_IN_QUOTED : QUOTED;
            break;
        case QUOTE_IN_QUOTED:
            state = c == '"' ? QUOTED : UNQUOTED;
            break;
        default:
            break;
        }
    }
}

static void list_fields(const struct naive_fields *fields, const unsigned char *text, size_t begin,
                        size_t end, struct list *list)
{
    if (fields->way == NAIVE_CSV) {
        csv_record(fields->separator, text, begin, end, list);
        return;
    }
    size_t from = begin;
    for (size_t at = begin; at <= end; at++) {
        bool is_blank = at == end || text[at] == ' ' || text[at] == '\t';
        if (fields->way == NAIVE_BLANKS && is_blank) {
            if (at > from)
                list_add(list, from, at);
            from = at + 1;
        } else if (fields->way == NAIVE_SEPARATED && (at == end || text[at] == fields->separator)) {
            list_add(list, from, at);
            from = at + 1;
        }
    }
}

static bool is_white(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const unsigned char *text, size_t *from, size_t *to)
{
    for (; *from < *to && is_white(text[*from]); ++*from)
        ;
    for (; *from < *to && is_white(text[*to - 1]); --*to)
        ;
}

/* True if a decimal that ends before text[at] may be followed by a space and a unit. */
static bool may_take_unit(const struct naive_fields *fields, const unsigned char *text, size_t at)
{
    return fields->has_units && at > 0 && text[at - 1] && strchr("0123456789.", text[at - 1]) &&
           text[at] == ' ';
}

/* The value of what should be a number, text[from..to). */
static double value_of(const struct naive_fields *fields, const unsigned char *text, size_t from,
                       size_t to)
{
    unsigned char token[TOKEN_MAX];
    size_t len = 0;
    if (to - from > TOKEN_MAX)
        return NAN;
    for (size_t at = from; at < to; at++) {
        if (at > from && may_take_unit(fields, text, at) &&
            naive_is_unit(text + at + 1, to - at - 1))
            continue;
        if (is_white(text[at]))
            return NAN;
        token[len++] = text[at];
    }
    if (len == 0)
        return NAN;
    return fields->has_units ? naive_number_with_units(token, len) : naive_number(token, len);
}

/* The value of a field of CSV that begins with a quote: of its content, by the states of Python's
 * csv module. One whose quote is not closed has none. */
static double value_of_quoted(const struct naive_fields *fields, const unsigned char *text,
                              size_t from, size_t to)
{
    unsigned char *content = malloc(to - from);
    size_t len = 0, begin = 0;
    bool quoted = true;
    if (!content)
        abort();
    for (size_t at = from + 1; at < to; at++) {
        const bool doubled = text[at] == '"' && at + 1 < to && text[at + 1] == '"';
        if (quoted && text[at] == '"' && !doubled)
            quoted = false;
        else
            content[len++] = text[quoted && doubled ? at++ : at];
    }
    trim(content, &begin, &len);
    const double value = quoted ? NAN : value_of(fields, content, begin, len);
    free(content);
    return value;
}

/* True if a byte after a string belongs to what should be a number. */
static bool is_part(const unsigned char *text, size_t at, size_t end)
{
    static const char never[] = "\"'&;:<>|\\)]}", with_digits[] = ",%";
    if (is_white(text[at]) || (text[at] && strchr(never, text[at])))
        return false;
    if (text[at] && strchr(with_digits, text[at]))
        return at + 1 < end && strchr("0123456789", text[at + 1]) && text[at + 1];
    return true;
}

static void look_after(const struct naive_fields *fields, const unsigned char *text,
                       struct naive_record *record, size_t end)
{
    size_t size = strlen(fields->after);
    record->what = NAIVE_MISSING;
    for (size_t at = record->begin; at + size <= end; at++) {
        if (memcmp(text + at, fields->after, size) != 0)
            continue;
        at += size;
        bool quote = false;
        for (; at < end && (text[at] == ' ' || text[at] == '\t' || (text[at] == '"' && !quote));
             at++)
            quote |= text[at] == '"';
        size_t to = at;
        while (to < end && is_part(text, to, end))
            to++;
        to -= to > at && text[to - 1] == '.';
        size_t unit_end = to + 1;
        while (to > at && to < end && unit_end < end && is_part(text, unit_end, end))
            unit_end++;
        unit_end -= to > at && to < end && unit_end > to + 1 && text[unit_end - 1] == '.';
        if (to > at && to < end && may_take_unit(fields, text, to) &&
            naive_is_unit(text + to + 1, unit_end - to - 1))
            to = unit_end;
        if (to > at) {
            record->what = NAIVE_FIELD;
            record->from = at;
            record->to = to;
            record->value = value_of(fields, text, at, to);
        }
        return;
    }
}

static void look_for_field(const struct naive_fields *fields, const unsigned char *text,
                           struct naive_record *record, size_t end)
{
    struct list list = {0};
    list_fields(fields, text, record->begin, end, &list);
    long count = (long)list.count;
    long at = fields->number > 0 ? fields->number - 1 : count + fields->number;
    record->what = count == 0 ? NAIVE_EMPTY : NAIVE_MISSING;
    if (at >= 0 && at < count) {
        record->what = NAIVE_FIELD;
        record->from = list.from[at];
        record->to = list.to[at];
        const bool is_quoted =
            fields->way == NAIVE_CSV && record->from < record->to && text[record->from] == '"';
        if (is_quoted)
            record->value = value_of_quoted(fields, text, record->from, record->to);
        trim(text, &record->from, &record->to);
        if (record->to - record->from >= 2 && text[record->from] == '"' &&
            text[record->to - 1] == '"') {
            record->from++;
            record->to--;
            trim(text, &record->from, &record->to);
        }
        if (!is_quoted)
            record->value = value_of(fields, text, record->from, record->to);
    }
    list_free(&list);
}

bool naive_record(const struct naive_fields *fields, const unsigned char *text, size_t len,
                  size_t *at, struct naive_record *record)
{
    if (*at >= len)
        return false;
    size_t end = *at;
    if (fields->way == NAIVE_CSV)
        end = csv_record(fields->separator, text, end, len, NULL);
    else
        while (end < len && text[end] != '\n')
            end++;
    *record = (struct naive_record){.begin = *at, .end = end, .value = NAN};
    *at = end + 1;
    if (end - record->begin > RECORD_MAX) {
        record->what = NAIVE_TOO_LONG;
        return true;
    }
    if (end > record->begin && text[end - 1] == '\r')
        end--;
    if (end == record->begin)
        record->what = NAIVE_EMPTY;
    else if (fields->way == NAIVE_AFTER)
        look_after(fields, text, record, end);
    else
        look_for_field(fields, text, record, end);
    return true;
}

long naive_column(const struct naive_fields *fields, const unsigned char *text,
                  const struct naive_record *record, const char *name)
{
    struct list list = {0};
    size_t end = record->end, begin = record->begin, size = strlen(name);
    long column = 0;
    end -= end > begin && text[end - 1] == '\r';
    list_fields(fields, text, begin, end, &list);
    for (size_t i = 0; i < list.count && column == 0; i++) {
        size_t from = list.from[i], to = list.to[i];
        trim(text, &from, &to);
        if (to - from >= 2 && text[from] == '"' && text[to - 1] == '"') {
            from++;
            to--;
        }
        if (to - from == size && memcmp(text + from, name, size) == 0)
            column = (long)i + 1;
    }
    list_free(&list);
    return column;
}
