/* SPDX-License-Identifier: MIT */
/* Gathers fields as tokens and has them parsed. */
#include "field_parser.h"
#include "time.h"
#include "units.h"

#include <string.h>

#define LINES_SIZE 4096 /* bytes */

/* Times that are gathered at once, each of which takes few bytes as a number. */
#define TIMES_MAX (FIELD_TOKENS_SIZE / (TIME_TEXT_MAX + 1))

/* Parses tokens. Those that the parser does not know are read again, with their units. */
static size_t parse_tokens(const struct number_parser *parser, const struct field *field,
                           struct record_text *text, double *values, size_t cap)
{
    const unsigned char *begin = text->at;
    size_t used;
    const size_t count = parser->parse(begin, (size_t)(text->limit - begin), values, cap, &used);
    if (field->has_units)
        numbers_add_units(begin, text->limit, values, count);
    text->at += used;
    return count;
}

/* Gathers the times in fields as numbers. */
static size_t gather_times(const struct number_parser *parser, const struct field *field,
                           struct record_text *text, struct field_tokens *tokens,
                           struct key_span *keys, size_t cap)
{
    struct key_span spans[TIMES_MAX];
    const struct record_text begin = *text;
    const size_t count =
        parser->read_fields(field, text, NULL, spans, cap < TIMES_MAX ? cap : TIMES_MAX);
    for (size_t i = 0; i < count; i++) {
        unsigned char *token = tokens->bytes + tokens->len;
        size_t len = 0;
        if (spans[i].from) {
            const unsigned char *from = spans[i].from, *to = from + spans[i].len, *end = to;
            if (field->kind == FIELD_BLANKS) /* words after it may belong to the time */
                end = memchr(to, '\n', (size_t)(text->limit - to));
            len = field_token(field, &from, &to, end ? end : text->limit, token);
        }
        if (len == 0) /* no number */
            token[len++] = '?';
        token[len] = ' ';
        tokens->len += len + 1;
    }
    if (keys)
        fields_find_keys(parser, field, tokens->key, begin, keys, count);
    return count;
}

size_t fields_gather(const struct number_parser *parser, const struct field *field,
                     struct record_text *text, struct field_tokens *tokens, struct key_span *keys,
                     size_t cap)
{
    tokens->len = 0;
    const size_t count = field->is_time ? gather_times(parser, field, text, tokens, keys, cap)
                                        : parser->read_fields(field, text, tokens, keys, cap);
    if (!field->has_comma)
        return count;
    /* All become numbers with a point. None gets longer. */
    unsigned char *at = tokens->bytes, *to = at, *const limit = at + tokens->len;
    while (at < limit) {
        unsigned char *space = memchr(at, ' ', (size_t)(limit - at));
        const size_t len = number_swap_comma(at, (size_t)(space - at));
        memmove(to, at, len);
        to[len] = ' ';
        to += len + 1;
        at = space + 1;
    }
    tokens->len = (size_t)(to - tokens->bytes);
    return count;
}

/* Parses the fields of records, unless `values` is NULL, and finds their keys, unless `keys` is.
 * Not inlined, as the tokens take some pages of the stack. */
static __attribute__((noinline)) size_t parse_records(const struct number_parser *parser,
                                                      const struct field *field,
                                                      const struct field *key,
                                                      struct record_text *text, double *values,
                                                      struct key_span *keys, size_t cap)
{
    struct field_tokens tokens;
    tokens.key = key;
    size_t count = 0, found;
    for (; count < cap && text->at < text->limit; count += found) {
        struct key_span *next = keys ? keys + count : NULL;
        if (!values) {
            tokens.len = 0;
            found = parser->read_fields(field, text, &tokens, next, cap - count);
            continue;
        }
        found = fields_gather(parser, field, text, &tokens, next, cap - count);
        /* With white space at the end vectors can parse the last tokens too. */
        memset(tokens.bytes + tokens.len, ' ', FIELD_SLACK);
        struct record_text gathered = {tokens.bytes, tokens.bytes,
                                       tokens.bytes + tokens.len + FIELD_SLACK};
        parse_tokens(parser, field, &gathered, values + count, cap - count);
    }
    return count;
}

/* Returns where the lines end that begin within LINES_SIZE bytes at `at` and have no blanks: `at`,
 * if the next one has some, or is long. */
static const unsigned char *lines_without_blanks(const unsigned char *at,
                                                 const unsigned char *limit)
{
    size_t len = limit - at < LINES_SIZE ? (size_t)(limit - at) : LINES_SIZE;
    for (const char *blank = " \t"; *blank && len > 0; blank++) {
        const unsigned char *found = memchr(at, *blank, len);
        len = found ? (size_t)(found - at) : len;
    }
    const unsigned char *newline = len > 0 ? memrchr(at, '\n', len) : NULL;
    return newline ? newline + 1 : at;
}

/* Parses tokens with units. Where a line has nothing else, no words have to be joined. */
static size_t parse_words(const struct number_parser *parser, const struct field *field,
                          struct record_text *text, double *values, size_t cap)
{
    size_t count = 0;
    while (count < cap && text->at < text->limit) {
        const unsigned char *end = lines_without_blanks(text->at, text->limit);
        struct record_text lines = {text->at, text->at, end};
        if (end == text->at) {
            count += parse_records(parser, field, NULL, text, values + count, NULL, cap - count);
            continue;
        }
        count += parse_tokens(parser, field, &lines, values + count, cap - count);
        text->at = lines.at;
    }
    return count;
}

size_t fields_parse(const struct number_parser *parser, const struct field *field,
                    const struct field *key, struct record_text *text, double *values,
                    struct key_span *keys, size_t cap)
{
    if (field->kind == FIELD_NONE)
        return field->has_units ? parse_words(parser, field, text, values, cap)
                                : parse_tokens(parser, field, text, values, cap);
    return parse_records(parser, field, key, text, values, keys, cap);
}

void fields_find_keys(const struct number_parser *parser, const struct field *field,
                      const struct field *key, struct record_text text, struct key_span *keys,
                      size_t n)
{
    if (field->kind != key->kind) {
        parse_records(parser, field, key, &text, NULL, keys, n);
        return;
    }
    for (size_t count = 0; count < n && text.at < text.limit;)
        count += parser->read_fields(key, &text, NULL, keys + count, n - count);
}

/* --- the table --- */

const struct number_parser *const number_parsers[] = {
#if defined __x86_64__ && defined __GNUC__
    &number_parser_avx512,
    &number_parser_avx2,
#endif
    &number_parser_portable,
    NULL,
};

const struct number_parser *number_parser_find(const struct number_parser *first)
{
    const struct number_parser *const *parser = number_parsers;
    while (first && *parser != first)
        parser++;
    while (!(*parser)->runs_here())
        parser++;
    number_prepare();
    return *parser;
}
