/* SPDX-License-Identifier: MIT */
/* Parsers of decimal numbers in text: one for each instruction set, chosen at run time. number.h
 * defines what a number is. */
#ifndef GPUHISTO_FIELD_PARSER_H
#define GPUHISTO_FIELD_PARSER_H

#include "number.h"
#include "field.h"

/* The numbers in the fields of lines (src/text/field.h). Fields are gathered as tokens, some
 * hundred at a time, which a parser of numbers reads while they are in the L1 cache. */

/* Bytes that a vector may write beyond what it is to write. */
#define FIELD_SLACK 64

#define FIELD_TOKENS_SIZE (3 * NUMBER_MAX)

/* Tokens, each with a space after it: one for every record that counts. That of an invalid record
 * is not a number. */
struct field_tokens {
    const struct field *key; /* where keys are, if some are wanted */
    size_t len;
    unsigned char bytes[FIELD_TOKENS_SIZE + FIELD_SLACK];
};

/* True if one more token of any length fits. */
static inline bool field_tokens_have_room(const struct field_tokens *tokens)
{
    return tokens->len + NUMBER_MAX + 1 <= FIELD_TOKENS_SIZE;
}

struct line_string;

struct number_parser {
    const char *name;
    bool (*runs_here)(void); /* true if this processor has the instructions */
    /* Parses the tokens of text[0..len), the last of which may end at len, until there are cap
     * values or the text ends. Writes a value for each, NaN for what is not a number, and returns
     * how many. Sets *used to the bytes that were read: len, or up to the end of the last token,
     * with or without the white space after it. May overwrite values up to cap; reads nothing
     * outside of the text; may change errno. After number_prepare. Any thread. */
    size_t (*parse)(const unsigned char *text, size_t len, double *values, size_t cap,
                    size_t *used);
    /* Returns where a string is first in [at, limit), or the limit. Reads nothing else of the text.
     * Any thread. */
    const unsigned char *(*find)(const struct line_string *string, const unsigned char *at,
                                 const unsigned char *limit);
    /* Finds the fields of the records from text->at on that count, `cap` at most, and moves
     * text->at past these. Returns how many. Without tokens, `keys` gets the fields. With tokens,
     * these get the fields, as long as there is room, and `keys`, unless it is NULL, gets the
     * records' keys. FIELD_NONE has tokens, and no keys. Any thread. */
    size_t (*read_fields)(const struct field *field, struct record_text *text,
                          struct field_tokens *tokens, struct key_span *keys, size_t cap);
};

/* All parsers, fastest first, ended by NULL. The last one runs anywhere. */
extern const struct number_parser *const number_parsers[];

/* Returns the fastest parser that runs here, from `first` of the table on unless that is NULL,
 * after number_prepare. */
const struct number_parser *number_parser_find(const struct number_parser *first);

extern const struct number_parser number_parser_avx512, number_parser_avx2, number_parser_portable;

/* A bit for each of 64 bytes of JSON. */
struct json_bytes {
    uint64_t quotes, backslashes;
    uint64_t marks;    /* brackets of both kinds, colons and commas; perhaps controls */
    uint64_t spaces;   /* spaces, tabs and carriage returns */
    uint64_t controls; /* all below a space */
};

/* Empties the tokens and gathers some as the parser's read_fields, with a point before decimals.
 * Returns how many. */
size_t fields_gather(const struct number_parser *parser, const struct field *field,
                     struct record_text *text, struct field_tokens *tokens, struct key_span *keys,
                     size_t cap);

/* Parses the fields of records, with their units if the field has units, or tokens with FIELD_NONE.
 * Writes a value for each record that counts, NaN for an invalid one, and returns how many. Moves
 * text->at to where to go on. Unless `key` is NULL, which it is with FIELD_NONE, also sets the keys
 * of the records. Otherwise as the parser's parse. */
size_t fields_parse(const struct number_parser *parser, const struct field *field,
                    const struct field *key, struct record_text *text, double *values,
                    struct key_span *keys, size_t cap);

/* Finds the keys of the n records from text.at on that count as records of `field`, which the text
 * must have. Any thread. */
void fields_find_keys(const struct number_parser *parser, const struct field *field,
                      const struct field *key, struct record_text text, struct key_span *keys,
                      size_t n);

#endif
