/* SPDX-License-Identifier: MIT */
/* Gathers fields as tokens and has them parsed. */
#include "field_parser.h"
#include "src/count/number_units.h"

#include <string.h>

void field_tokens_put_invalid(struct field_tokens *tokens)
{
    memcpy(tokens->bytes + tokens->len, "? ", 2);
    tokens->len += 2;
    tokens->count++;
}

void field_tokens_put(struct field_tokens *tokens, const unsigned char *from,
                      const unsigned char *to)
{
    const size_t len = field_token(tokens->field, from, to, tokens->bytes + tokens->len);
    if (len == 0) {
        field_tokens_put_invalid(tokens);
        return;
    }
    tokens->len += len;
    tokens->bytes[tokens->len++] = ' ';
    tokens->count++;
}

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

/* Not inlined, as the tokens take some pages of the stack. */
static __attribute__((noinline)) size_t parse_records(const struct number_parser *parser,
                                                      const struct field *field,
                                                      const struct field *key,
                                                      struct record_text *text, double *values,
                                                      struct key_span *keys, size_t cap)
{
    struct field_tokens tokens;
    size_t count = 0;
    tokens.field = field;
    tokens.key = key;
    while (count < cap && text->at < text->limit) {
        tokens.count = tokens.len = 0;
        tokens.cap = cap - count;
        tokens.keys = keys ? keys + count : NULL;
        parser->gather(field, text, &tokens);
        /* With white space at the end vectors can parse the last tokens too. */
        memset(tokens.bytes + tokens.len, ' ', FIELD_SLACK);
        struct record_text gathered = {tokens.bytes, tokens.bytes,
                                       tokens.bytes + tokens.len + FIELD_SLACK};
        parse_tokens(parser, field, &gathered, values + count, cap - count);
        count += tokens.count;
    }
    return count;
}

size_t fields_parse(const struct number_parser *parser, const struct field *field,
                    struct record_text *text, double *values, size_t cap)
{
    return field->kind == FIELD_NONE ? parse_tokens(parser, field, text, values, cap)
                                     : parse_records(parser, field, NULL, text, values, NULL, cap);
}

size_t fields_parse_keyed(const struct number_parser *parser, const struct field *field,
                          const struct field *key, struct record_text *text, double *values,
                          struct key_span *keys, size_t cap)
{
    return parse_records(parser, field, key, text, values, keys, cap);
}
