/* Decimal numbers in text, separated by white space (space, \t, \n, \v, \f, \r).
 *
 * A number is [+-]? (digits [. digits*]? | . digits) ([eE] [+-]? digits)?, or [+-]? inf or infinity
 * in any case; its value is the very one that strtod gives in the C locale: the nearest double,
 * half way the even one, infinity for what is too large. Any other token is no number: its value is
 * NaN. So is a token longer than NUMBER_MAX bytes, whatever is in it. */
#ifndef GPUHISTO_NUMBER_H
#define GPUHISTO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_MAX 4096

/* Parses the tokens of text[0..len); the last one ends at len if no white space follows. Writes a
 * value for each to values until these are cap or the text ends, and returns how many. *used is how
 * many bytes that took: len, or up to the end of the cap-th token, perhaps with white space behind
 * it; the caller goes on there. What is in values beyond the result is lost. Reads nothing outside
 * of text[0..len). May change errno. Any thread. */
size_t numbers_parse(const unsigned char *text, size_t len, double *values, size_t cap,
                     size_t *used);

/* Finds the first token of text[0..len) that is no number, for a message:
 * text[*at..*at+*token_len). False if all of them are numbers. Slow. Any thread. */
bool numbers_find_invalid(const unsigned char *text, size_t len, size_t *at, size_t *token_len);

/* A way of parsing: numbers_parse takes the first that this processor can run. Any thread. */
struct number_parser {
    const char *name;
    bool (*runs_here)(void);
    /* As numbers_parse, after number_prepare. */
    size_t (*parse)(const unsigned char *text, size_t len, double *values, size_t cap,
                    size_t *used);
};

/* Fastest first, the last runs anywhere; ends with NULL. */
extern const struct number_parser *const number_parsers[];

/* Makes the tables that parsers need, once in a process. Any thread. */
void number_prepare(void);

extern const struct number_parser number_parser_avx512, number_parser_avx2, number_parser_portable;

#endif
