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

/* Returns where CSV's record that begins at `at` ends, by the states of Python's csv module. Adds
 * its fields to the list, if there is one. */
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

/* The bytes of the colour that begins at `at`, or 0. */
static size_t colour_at(const unsigned char *text, size_t at, size_t end)
{
    size_t len = 2;
    if (end - at < 3 || memcmp(text + at, "\033[", 2) != 0)
        return 0;
    while (at + len < end && text[at + len] && strchr("0123456789;:", text[at + len]))
        len++;
    return at + len < end && (text[at + len] == 'm' || text[at + len] == 'K') ? len + 1 : 0;
}

/* Returns the bytes of the colour that ends at `end`, or 0. */
static size_t colour_before(const unsigned char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++)
        if (colour_at(text, at, end) == end - at)
            return end - at;
    return 0;
}

static void trim(const unsigned char *text, size_t *from, size_t *to)
{
    for (size_t more = 1; more > 0 && *from < *to; *from += more)
        more = is_white(text[*from]) ? 1 : colour_at(text, *from, *to);
    for (size_t more = 1; more > 0 && *from < *to; *to -= more)
        more = is_white(text[*to - 1]) ? 1 : colour_before(text, *from, *to);
}

/* The value of what should be a number. */
static double value_of(const unsigned char *text, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++)
        if (is_white(text[at]))
            return NAN;
    return to - from > TOKEN_MAX || to == from ? NAN : naive_number(text + from, to - from);
}

/* The value of a field of CSV that begins with a quote: of its content, by the states of Python's
 * csv module. One whose quote is not closed has none. */
static double value_of_quoted(const unsigned char *text, size_t from, size_t to)
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
    const double value = quoted ? NAN : value_of(content, begin, len);
    free(content);
    return value;
}

/* True if a byte after a string belongs to what should be a number. */
static bool is_part(const unsigned char *text, size_t at, size_t end)
{
    static const char never[] = "\"'&;:<>|\\)]}\033", with_digits[] = ",%";
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
        for (int quotes = 0; quotes < 2; quotes++) {
            while (at < end && (text[at] == ' ' || text[at] == '\t'))
                at++;
            for (size_t more; at < end && (more = colour_at(text, at, end)) > 0;)
                at += more;
            if (quotes == 0 && at < end && text[at] == '"')
                at++;
            else
                break;
        }
        size_t to = at;
        while (to < end && is_part(text, to, end))
            to++;
        to -= to > at && text[to - 1] == '.';
        if (to > at) {
            record->what = NAIVE_FIELD;
            record->from = at;
            record->to = to;
            record->value = value_of(text, at, to);
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
            record->value = value_of_quoted(text, record->from, record->to);
        trim(text, &record->from, &record->to);
        if (record->to - record->from >= 2 && text[record->from] == '"' &&
            text[record->to - 1] == '"') {
            record->from++;
            record->to--;
            trim(text, &record->from, &record->to);
        }
        if (!is_quoted)
            record->value = value_of(text, record->from, record->to);
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
