/* SPDX-License-Identifier: MIT */
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
    field_strip(&from, &to);
    const size_t len = field_copy_token(tokens->has_units, from, to, tokens->bytes + tokens->len);
    if (len == 0) {
        field_tokens_put_invalid(tokens);
        return;
    }
    tokens->len += len;
    tokens->bytes[tokens->len++] = ' ';
    tokens->count++;
}

/* Parses tokens; those that the parser does not know are read again, with their units. */
static size_t parse_tokens(const struct number_parser *parser, const struct field *field,
                           const unsigned char *text, size_t len, double *values, size_t cap,
                           size_t *used)
{
    const size_t count = parser->parse(text, len, values, cap, used);
    if (field->has_units)
        numbers_add_units(text, text + len, values, count);
    return count;
}

/* Apart from fields_parse, as the tokens take some pages of the stack. */
static __attribute__((noinline)) size_t parse_records(const struct number_parser *parser,
                                                      const struct field *field,
                                                      const unsigned char *text, size_t len,
                                                      double *values, size_t cap, size_t *used)
{
    struct field_tokens tokens;
    const unsigned char *at = text, *limit = text + len;
    size_t count = 0, unused;
    tokens.has_units = field->has_units;
    while (count < cap && at < limit) {
        tokens.count = tokens.len = 0;
        parser->gather(field, text, &at, limit, &tokens, cap - count);
        /* White space at the end lets vectors take the last tokens too. */
        memset(tokens.bytes + tokens.len, ' ', FIELD_SLACK);
        parse_tokens(parser, field, tokens.bytes, tokens.len + FIELD_SLACK, values + count,
                     cap - count, &unused);
        count += tokens.count;
    }
    *used = (size_t)(at - text);
    return count;
}

size_t fields_parse(const struct number_parser *parser, const struct field *field,
                    const unsigned char *text, size_t len, double *values, size_t cap, size_t *used)
{
    return field->kind == FIELD_NONE ? parse_tokens(parser, field, text, len, values, cap, used)
                                     : parse_records(parser, field, text, len, values, cap, used);
}
