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
        keeps = is_too_long || line_filter_keeps(spans->filter, spans->at, end);
        *from = spans->at;
        *to = spans->at = after_record(spans, end);
        if (is_too_long && spans->has_tokens) {
            *from = invalid;
            *to = invalid + sizeof invalid;
        }
    }
    return keeps;
}

/* Returns where the string is next, from spans->at on, or the limit. */
static const unsigned char *search_for(struct line_spans *spans, size_t string)
{
    const unsigned char **found = &spans->found[string];
    if (!*found || *found < spans->at)
        *found = spans->parser->find(&spans->filter->strings[string], spans->at, spans->limit);
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
    if (spans->by_definition)
        return next_by_definition(spans, from, to);
    while (spans->at < spans->limit) {
        const unsigned char *next = spans->limit;
        if (has_wanted && !find_wanted(spans, &next))
            return false;
        *from = spans->at;
        const unsigned char *unwanted = search_unwanted(spans);
        if (unwanted < next)
            *to = find_record(spans, unwanted, &spans->at);
        else
            *to = spans->at = next;
        if (*from < *to)
            return true;
    }
    return false;
}
