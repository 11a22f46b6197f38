/* SPDX-License-Identifier: MIT */
#include "line_spans.h"

#include <string.h>

static const unsigned char invalid[] = {'?', '\n'};

static const unsigned char *find_byte(const unsigned char *at, const unsigned char *limit,
                                      unsigned char byte)
{
    const unsigned char *found = memchr(at, byte, (size_t)(limit - at));
    return found ? found : limit;
}

/* True if a record may be too long. Where records are lines, no newline is then among as many bytes
 * as a record may have. */
static bool may_be_too_long(const struct field *field, const unsigned char *at,
                            const unsigned char *limit)
{
    const size_t max = field_record_max(field);
    while ((size_t)(limit - at) > max) {
        const unsigned char *newline = memrchr(at, '\n', max + 1);
        if (!newline || field->kind == FIELD_CSV)
            return true;
        at = newline + 1;
    }
    return false;
}

void line_spans_begin(struct line_spans *spans, const struct line_filter *filter,
                      const struct field *field, bool has_tokens,
                      const struct number_parser *parser, const unsigned char *text, size_t len)
{
    *spans = (struct line_spans){.filter = filter,
                                 .field = field,
                                 .parser = parser,
                                 .has_tokens = has_tokens,
                                 .by_definition = may_be_too_long(field, text, text + len),
                                 .at = text,
                                 .limit = text + len};
    bool has_expressions = false;
    for (size_t i = 0; i < filter->count; i++)
        has_expressions |= filter->strings[i].regex != NULL;
    spans->has_lines = has_expressions && !memchr(text, '\r', len) &&
                       !(field->kind == FIELD_CSV && memchr(text, '"', len));
}

void line_spans_end(struct line_spans *spans)
{
    regex_matcher_close(&spans->matcher);
}

/* Returns where the record after the one that ends at `end` begins. */
static const unsigned char *after_record(const struct line_spans *spans, const unsigned char *end)
{
    return end < spans->limit ? end + 1 : end;
}

static bool next_by_definition(struct line_spans *spans, const unsigned char **from,
                               const unsigned char **to)
{
    bool keeps = false;
    while (!keeps && spans->at < spans->limit) {
        const unsigned char *end = field_record_end(spans->field, spans->at, spans->limit);
        const bool is_too_long = (size_t)(end - spans->at) > field_record_max(spans->field);
        keeps = is_too_long || line_filter_keeps(spans->filter, spans->at, end, &spans->failure);
        *from = spans->at;
        *to = spans->at = after_record(spans, end);
        if (is_too_long && spans->has_tokens) {
            *from = invalid;
            *to = invalid + sizeof invalid;
        }
    }
    return keeps;
}

/* Returns where the first record begins, from spans->at on, that an expression matches; or the
 * limit. Leaves to the definition what cannot be decided. */
static const unsigned char *search_records(struct line_spans *spans,
                                           const struct line_string *string)
{
    const unsigned char *at = spans->at;
    while (at < spans->limit) {
        const unsigned char *end = field_record_end(spans->field, at, spans->limit);
        const enum regex_found found = line_string_match(string, &spans->matcher, at, end);
        if (found == REGEX_FOUND)
            return at;
        spans->by_definition |= found == REGEX_UNDECIDED;
        at = found == REGEX_UNDECIDED ? spans->limit : after_record(spans, end);
    }
    return spans->limit;
}

/* Returns the same, or a later byte of the record, but searches all lines at once. */
static const unsigned char *search_lines(struct line_spans *spans, const struct line_string *string)
{
    const size_t len = (size_t)(spans->limit - spans->at), without = spans->limit[-1] == '\n';
    size_t offset;
    const enum regex_found found =
        regex_search_lines(string->regex, &spans->matcher, spans->at, len - without, &offset);
    spans->by_definition |= found == REGEX_UNDECIDED;
    if (found != REGEX_FOUND)
        return spans->limit;
    return spans->at + (offset < len ? offset : len - 1);
}

static const unsigned char *search_for_string(struct line_spans *spans,
                                              const struct line_string *string)
{
    if (!string->regex)
        return spans->parser->find(string, spans->at, spans->limit);
    return spans->has_lines && regex_searches_lines(string->regex) ? search_lines(spans, string)
                                                                   : search_records(spans, string);
}

/* Returns where the string is next, from spans->at on, or the limit. Of an expression, in that
 * record. */
static const unsigned char *search_for(struct line_spans *spans, size_t string)
{
    const unsigned char **found = &spans->found[string];
    if (!*found || *found < spans->at)
        *found = search_for_string(spans, &spans->filter->strings[string]);
    return *found;
}

/* Returns where the last of the wanted strings is next, or the limit: no record before that has all
 * of them. */
static const unsigned char *search_wanted(struct line_spans *spans)
{
    const struct line_filter *filter = spans->filter;
    const unsigned char *last = spans->at;
    for (size_t i = 0; i < filter->count && last < spans->limit; i++) {
        const unsigned char *found = filter->strings[i].is_unwanted ? last : search_for(spans, i);
        last = found > last ? found : last;
    }
    return last;
}

/* Returns where the first of the unwanted strings is next, or the limit. */
static const unsigned char *search_unwanted(struct line_spans *spans)
{
    const struct line_filter *filter = spans->filter;
    const unsigned char *first = spans->limit;
    for (size_t i = 0; i < filter->count; i++) {
        const unsigned char *found = filter->strings[i].is_unwanted ? search_for(spans, i) : first;
        first = found < first ? found : first;
    }
    return first;
}

/* Returns the beginning of the record that `byte` is in, at or after spans->at, and sets *next to
 * that of the one after it. Without quotes the records of CSV are lines. */
static const unsigned char *find_record(struct line_spans *spans, const unsigned char *byte,
                                        const unsigned char **next)
{
    const unsigned char *begin = spans->at, *end = find_byte(byte, spans->limit, '\n');
    if (spans->field->kind == FIELD_CSV && (!spans->quote || spans->quote < begin))
        spans->quote = find_byte(begin, spans->limit, '"');
    if (spans->field->kind == FIELD_CSV && spans->quote < end) {
        while ((end = field_record_end(spans->field, begin, spans->limit)) < byte)
            begin = end + 1;
    } else {
        const unsigned char *newline = memrchr(begin, '\n', (size_t)(byte - begin));
        begin = newline ? newline + 1 : begin;
    }
    *next = after_record(spans, end);
    return begin;
}

/* Moves to the next record with all strings that are wanted, and sets *next to the one after it.
 * False if there is none. */
static bool find_wanted(struct line_spans *spans, const unsigned char **next)
{
    const unsigned char *last = search_wanted(spans);
    while (last < spans->limit) {
        spans->at = find_record(spans, last, next);
        last = search_wanted(spans);
        if (last < *next)
            return true;
    }
    return false;
}

bool line_spans_next(struct line_spans *spans, const unsigned char **from, const unsigned char **to)
{
    const bool has_wanted = !spans->filter->strings[0].is_unwanted;
    while (spans->at < spans->limit && !spans->by_definition) {
        const unsigned char *next = spans->limit;
        if (has_wanted && !find_wanted(spans, &next))
            break;
        *from = spans->at;
        const unsigned char *unwanted = search_unwanted(spans);
        if (spans->by_definition)
            break;
        if (unwanted < next)
            *to = find_record(spans, unwanted, &spans->at);
        else
            *to = spans->at = next;
        if (*from < *to)
            return true;
    }
    return spans->by_definition && next_by_definition(spans, from, to);
}
