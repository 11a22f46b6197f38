/* SPDX-License-Identifier: MIT */
/* Parsers of decimal numbers in text: one for each instruction set, chosen at run time. number.h
 * defines what a number is. */
#ifndef GPUHISTO_NUMBER_PARSER_H
#define GPUHISTO_NUMBER_PARSER_H

#include "number.h"

struct field;
struct line_string;
struct record_text;
struct field_tokens;
struct key_span;

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
    /* Gathers fields from text->at on, where a record begins, until tokens->cap is reached, there
     * is no more room, or the text ends. Moves text->at to the next record. Any thread. */
    void (*tokenize)(const struct field *field, struct record_text *text,
                     struct field_tokens *tokens);
    /* Returns where a string is first in [at, limit), or the limit. Reads nothing else of the text.
     * Any thread. */
    const unsigned char *(*find)(const struct line_string *string, const unsigned char *at,
                                 const unsigned char *limit);
    /* Finds the fields of the records from text->at on that count, `cap` at most, and moves
     * text->at past these. Returns how many. Any thread. */
    size_t (*find_fields)(const struct field *field, struct record_text *text,
                          struct key_span *keys, size_t cap);
};

/* All parsers, fastest first, ended by NULL. The last one runs anywhere. */
extern const struct number_parser *const number_parsers[];

/* Returns the fastest parser that runs here, from `first` of the table on unless that is NULL,
 * after number_prepare. */
const struct number_parser *number_parser_find(const struct number_parser *first);

extern const struct number_parser number_parser_avx512, number_parser_avx2, number_parser_portable;

#endif
