/* SPDX-License-Identifier: MIT */
#include "line_spans.h"
#include "src/base/byte_masks.h"

#include <string.h>

static const unsigned char invalid[] = {'?', '\n'};

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
                                 .limit = text + len,
                                 .fields_max = SPANS_FIELDS_MAX};
    const bool is_quoted = field->kind == FIELD_CSV && memchr(text, '"', len);
    bool has_expressions = false;
    for (size_t i = 0; i < filter->count; i++)
        has_expressions |= filter->strings[i].regex != NULL;
    spans->has_lines = has_expressions && !is_quoted && !memchr(text, '\r', len);
    if (filter->condition_count > 0 && is_quoted)
        spans->fields_max = 1;
    const struct condition *conditions = filter->conditions;
    const size_t count = filter->condition_count;
    for (size_t i = 0; i < count && strcmp(conditions[i].name, conditions[0].name) == 0; i++)
        spans->goes_on |= condition_goes_on(&conditions[i]);
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
    while (!keeps && spans->at < spans->limit && !*spans->failure.text) {
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
    const unsigned char *begin = spans->at, *end = byte_find(byte, spans->limit, '\n');
    if (spans->field->kind == FIELD_CSV && (!spans->quote || spans->quote < begin))
        spans->quote = byte_find(begin, spans->limit, '"');
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

/* Sets [*from, *to) to the next span of records that the strings keep. False if there is none. */
static bool next_by_strings(struct line_spans *spans, const unsigned char **from,
                            const unsigned char **to)
{
    const struct line_filter *filter = spans->filter;
    const bool has_wanted = filter->count > 0 && !filter->strings[0].is_unwanted;
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

/* Returns where the first record of CSV is that is not empty, from `at` on. */
static const unsigned char *after_empty(const unsigned char *at, const unsigned char *limit)
{
    for (;;) {
        const bool has_return = limit - at > 1 && at[0] == '\r' && at[1] == '\n';
        if (!has_return && (at == limit || *at != '\n'))
            return at;
        at += 1 + has_return;
    }
}

/* Finds fields of the first condition in the next records that the strings keep. False if there are
 * no more. */
static bool find_fields(struct line_spans *spans)
{
    if (spans->search_at == spans->search_end &&
        !next_by_strings(spans, &spans->search_at, &spans->search_end))
        return false;
    if (spans->fields_max == 1)
        spans->search_at = after_empty(spans->search_at, spans->search_end);
    struct record_text text = {spans->search_at, spans->search_at, spans->search_end};
    spans->record = text.at;
    spans->field_count = spans->parser->find_fields(&spans->filter->conditions[0].key.field, &text,
                                                    spans->fields, spans->fields_max);
    spans->field_at = 0;
    spans->search_at = text.at;
    return true;
}

/* True if the conditions on the first one's field hold for it, in a record that ends at `end`. */
static bool hold_in_field(const struct line_spans *spans, const struct key_span *field,
                          const unsigned char *end)
{
    const struct condition *conditions = spans->filter->conditions;
    const size_t count = spans->filter->condition_count;
    for (size_t i = 0; i < count && strcmp(conditions[i].name, conditions[0].name) == 0; i++)
        if (!condition_holds_in(&conditions[i], field->from, field->from + field->len, end))
            return false;
    return true;
}

/* As hold_in_field. Fields of lines that follow each other are often the same. */
static bool hold_as_last(struct line_spans *spans, const struct key_span *field,
                         const unsigned char *end)
{
    const struct key_span *last = &spans->last;
    if (last->from && !spans->goes_on && field->len == last->len &&
        memcmp(field->from, last->from, last->len) == 0)
        return spans->last_holds;
    spans->last = *field;
    return spans->last_holds = hold_in_field(spans, field, end);
}

/* True if the conditions on other fields hold for a record [begin, end). */
static bool others_hold(const struct line_spans *spans, const unsigned char *begin,
                        const unsigned char *end)
{
    const struct condition *conditions = spans->filter->conditions;
    for (size_t i = 1; i < spans->filter->condition_count; i++)
        if (strcmp(conditions[i].name, conditions[0].name) != 0 &&
            !condition_holds(&conditions[i], begin, end))
            return false;
    return true;
}

/* True if the conditions hold for the record that `field` is in: [*from, *to), with its newline. */
static bool hold_in_record(struct line_spans *spans, const struct key_span *field,
                           const unsigned char **from, const unsigned char **to)
{
    const unsigned char *limit = spans->search_end, *end;
    if (!field->from)
        return false;
    if (spans->fields_max == 1) {
        *from = spans->record;
        *to = spans->search_at;
        end = *to - (*to > *from && (*to)[-1] == '\n');
        return hold_as_last(spans, field, end) && others_hold(spans, *from, end);
    }
    end = field->from + field->len;
    if (spans->goes_on)
        end = byte_find(end, limit, '\n');
    if (!hold_as_last(spans, field, end))
        return false;
    const unsigned char *newline =
        memrchr(spans->record, '\n', (size_t)(field->from - spans->record));
    end = byte_find(end, limit, '\n');
    *from = newline ? newline + 1 : spans->record;
    *to = spans->record = end < limit ? end + 1 : end;
    return others_hold(spans, *from, end);
}

/* Sets [*from, *to) to the next record that the strings keep and for which all conditions hold.
 * False if there is none. */
static bool next_by_conditions(struct line_spans *spans, const unsigned char **from,
                               const unsigned char **to)
{
    do {
        while (spans->field_at < spans->field_count)
            if (hold_in_record(spans, &spans->fields[spans->field_at++], from, to))
                return true;
    } while (find_fields(spans));
    return false;
}

bool line_spans_next(struct line_spans *spans, const unsigned char **from, const unsigned char **to)
{
    const bool is_between =
        spans->field_at < spans->field_count || spans->search_at < spans->search_end;
    if (spans->by_definition && !is_between)
        return next_by_definition(spans, from, to);
    if (spans->filter->condition_count > 0)
        return next_by_conditions(spans, from, to);
    return next_by_strings(spans, from, to);
}
