/* SPDX-License-Identifier: MIT */
/* The numbers in the fields of lines (src/count/field.h): fields are gathered as tokens, some
 * hundred at a time, and given to a parser of numbers while they are in the L1 cache. */
#ifndef GPUHISTO_FIELD_PARSER_H
#define GPUHISTO_FIELD_PARSER_H

#include "number_parser.h"
#include "src/count/field.h"

/* A vector may write so many bytes beyond what it is to write. */
#define FIELD_SLACK 64

#define FIELD_TOKENS_SIZE (3 * NUMBER_MAX)

/* Tokens, each with a space after it. One stands for every record that counts; if that is invalid,
 * the token is not a number. */
struct field_tokens {
    bool has_units;
    size_t count, len;
    unsigned char bytes[FIELD_TOKENS_SIZE + FIELD_SLACK];
};

/* Whether there is room for one more token of any length. */
static inline bool field_tokens_have_room(const struct field_tokens *tokens)
{
    return tokens->len + NUMBER_MAX + 1 <= FIELD_TOKENS_SIZE;
}

/* Appends the field [from, to) of a record, whatever is in it. */
void field_tokens_put(struct field_tokens *tokens, const unsigned char *from,
                      const unsigned char *to);

/* Appends a token for a record that is invalid. */
void field_tokens_put_invalid(struct field_tokens *tokens);

/* Parses the fields of the records of text[0..len) as numbers_parse parses tokens: a value for each
 * record that counts, NaN if it is invalid. With FIELD_NONE, parses tokens. Reads units if the
 * field has some. */
size_t fields_parse(const struct number_parser *parser, const struct field *field,
                    const unsigned char *text, size_t len, double *values, size_t cap,
                    size_t *used);

/* Gathers fields from *at on, where a record begins, until there are cap tokens, no room, or the
 * text ends at limit; moves *at to the next record. Reads nothing outside of [text, limit). */
typedef void field_gatherer(const struct field *field, const unsigned char *text,
                            const unsigned char **at, const unsigned char *limit,
                            struct field_tokens *tokens, size_t cap);

field_gatherer fields_gather_avx512, fields_gather_avx2, fields_gather_portable;

#endif
