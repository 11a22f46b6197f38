/* SPDX-License-Identifier: MIT */
/* The choice of a parser. */
#include "number_parser.h"

const struct number_parser *const number_parsers[] = {
#if defined __x86_64__ && defined __GNUC__
    &number_parser_avx512,
    &number_parser_avx2,
#endif
    &number_parser_portable,
    NULL,
};

const struct number_parser *number_parser_find(void)
{
    const struct number_parser *const *parser = number_parsers;
    while (!(*parser)->runs_here())
        parser++;
    number_prepare();
    return *parser;
}

size_t numbers_parse(const unsigned char *text, size_t len, double *values, size_t cap,
                     size_t *used)
{
    return number_parser_find()->parse(text, len, values, cap, used);
}
