/* SPDX-License-Identifier: MIT */
/* Parsers of decimal numbers in text (number.h says what a number is): one file for each set of
 * instructions, chosen at run time. */
#ifndef GPUHISTO_NUMBER_PARSER_H
#define GPUHISTO_NUMBER_PARSER_H

#include "src/count/number.h"

struct field;
struct field_tokens;

/* Parses the tokens of text[0..len); the last one ends at len if no white space follows. Writes a
 * value for each to values until these are cap or the text ends, and returns how many. *used is how
 * many bytes that took: len, or up to the end of the cap-th token, perhaps with the white space
 * after it; the caller goes on there. What is in values beyond the result is lost. Reads nothing
 * outside of text[0..len). May change errno. Any thread. */
size_t numbers_parse(const unsigned char *text, size_t len, double *values, size_t cap,
                     size_t *used);

/* A way of parsing. Any thread. */
struct number_parser {
    const char *name;
    bool (*runs_here)(void);
    /* As numbers_parse, after number_prepare. */
    size_t (*parse)(const unsigned char *text, size_t len, double *values, size_t cap,
                    size_t *used);
    /* A field_gatherer (field_parser.h) of the same instructions. */
    void (*gather)(const struct field *field, const unsigned char *text, const unsigned char **at,
                   const unsigned char *limit, struct field_tokens *tokens, size_t cap);
};

/* Fastest first, the last runs anywhere; ends with NULL. */
extern const struct number_parser *const number_parsers[];

/* The first that this processor can run, which numbers_parse takes; after number_prepare. */
const struct number_parser *number_parser_find(void);

extern const struct number_parser number_parser_avx512, number_parser_avx2, number_parser_portable;

#endif
